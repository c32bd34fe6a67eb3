-- calls: _queue_fail
create procedure _queue_check_roles(in in_kinds longtext)
    comment 'Refuses a session that may not use a kind, see the option roles of queue_define. The owner of the queue may
use all.
in_kinds: a JSON array of the kinds; NULL or one that nobody has restricted: anybody may.
Errors: PQ007 for the first kind that isn''t for the login of the session.
differs: the login is the name in user(), which the session can''t change; a routine that runs as its owner can''t ask
for the roles of its caller.'
begin
    declare v_user varchar(300) collate exact default left(user(), char_length(user()) - locate('@', reverse(user())));
    declare v_owner varchar(300) collate exact
        default left(current_user(), char_length(current_user()) - locate('@', reverse(current_user())));
    declare v_kind varchar(100) collate exact;
    declare v_roles longtext;
    declare continue handler for not found begin end;
    if v_user <> v_owner then
        select k.p_kind, k.roles into v_kind, v_roles
        from unnest(in_kinds) j (p_kind varchar(100) collate exact) straight_join queue_kind k on k.p_kind = j.p_kind
        where k.roles is not null and not json_contains(k.roles, json_quote(v_user))
        order by k.p_kind limit 1;
    end if;
    if v_kind is not null then
        call _queue_fail('PQ007', 'kind', v_kind,
            concat('is for ', left(v_roles, 300), ', not for ', left(v_user, 80)));
    end if;
end;
