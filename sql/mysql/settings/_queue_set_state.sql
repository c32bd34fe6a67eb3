-- calls: _queue_check_name, _queue_check_roles
-- changes: queue_kind
create procedure _queue_set_state(in in_kind text collate exact, in in_state varchar(10), out out_changed boolean)
    comment 'Pauses a kind, drains it, or ends both.
in_kind: the kind. in_state: paused, draining; NULL: neither.
Result: whether that changed anything.
Errors: PQ001 for kind.
Locks: the settings of the kind.
differs: the result is a parameter, out_changed.'
begin
    declare v_paused, v_draining boolean;
    declare continue handler for not found begin end;
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    insert into queue_kind (p_kind) values ('') on duplicate key update p_kind = ''; -- as queue_define
    if in_state is not null then
        insert into queue_kind (p_kind) values (in_kind) on duplicate key update p_kind = in_kind;
    end if;
    select k.paused, k.draining into v_paused, v_draining from queue_kind k where k.p_kind = in_kind for update;
    set out_changed = coalesce(case in_state when 'paused' then not v_paused when 'draining' then not v_draining
        else v_paused or v_draining end, false);
    if out_changed then
        update queue_kind k
        set k.paused = in_state is not null and (v_paused or in_state = 'paused'),
            k.draining = in_state is not null and (v_draining or in_state = 'draining')
        where k.p_kind = in_kind;
    end if;
end;
