-- calls: _queue_fail
create or replace function _queue_check_roles(in_kinds text[]) returns void language plpgsql as $$
declare
    v_kind record;
begin
    -- session_user, since any session may set its role to one that it is a member of, and no other
    select k.p_kind, k.roles into v_kind from queue_kind k
    where k.p_kind = any (in_kinds) and k.roles is not null and session_user <> current_user and not exists (
        select from jsonb_array_elements_text(k.roles) n (name) join pg_roles r on r.rolname = n.name::name
        where pg_has_role(session_user, r.oid, 'member'))
    order by k.p_kind limit 1;
    if found then
        perform _queue_fail('PQ007', 'kind', v_kind.p_kind,
            'is for ' || v_kind.roles::text || ', not for ' || session_user);
    end if;
end $$;

comment on function _queue_check_roles(text[]) is
$$Refuses a session that may not use a kind, see the option roles of queue_define. The owner of the queue may use all.
in_kinds: the kinds; NULL or one that nobody has restricted: anybody may.
Errors: PQ007 for the first kind that isn't for the login of the session.$$;
