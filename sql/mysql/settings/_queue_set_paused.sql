-- calls: _queue_check_kind, _queue_check_roles, _queue_lock_kinds
-- changes: queue_kind
create procedure _queue_set_paused(in in_kind text collate exact,
    in in_paused boolean,
    out out_changed boolean)
    comment 'Pauses a kind, or ends its pause and its draining.
in_kind: the kind. in_paused: which of the two.
Result: whether that changed anything.
Errors: PQ001 for kind.
Locks: the settings of the kind.
differs: the result is a parameter, out_changed.'
begin
    declare v_changed boolean;
    declare continue handler for not found begin end;
    call _queue_check_kind(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    call _queue_lock_kinds();
    if in_paused then
        insert into queue_kind (p_kind) values (in_kind) on duplicate key update p_kind = in_kind;
    end if;
    select if(in_paused, not k.paused, k.paused or k.draining) into v_changed from queue_kind k
        where k.p_kind = in_kind for update;
    set out_changed = coalesce(v_changed, false);
    if out_changed then
        update queue_kind k set k.paused = in_paused, k.draining = k.draining and in_paused where k.p_kind = in_kind;
    end if;
end;
