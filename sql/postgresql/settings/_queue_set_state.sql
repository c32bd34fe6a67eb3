-- calls: _queue_check_name, _queue_check_roles, _queue_wake
-- changes: queue_kind
create or replace function _queue_set_state(in_kind text, in_state text) returns boolean language plpgsql as $$
declare
    v_changed boolean;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    if in_state is null then
        update queue_kind k set paused = false, draining = false where k.p_kind = in_kind and (k.paused or k.draining);
    else
        insert into queue_kind as k (p_kind, paused, draining)
            values (in_kind, in_state = 'paused', in_state = 'draining')
        on conflict on constraint queue_kind_pkey do update
        set paused = k.paused or excluded.paused, draining = k.draining or excluded.draining
        where excluded.paused and not k.paused or excluded.draining and not k.draining;
    end if;
    v_changed := found;
    if v_changed and in_state is distinct from 'draining' then
        perform _queue_wake(in_kind, null);
    end if;
    return v_changed;
end $$;

comment on function _queue_set_state(text, text) is
$$Pauses a kind, drains it, or ends both.
in_kind: the kind. in_state: paused, draining; NULL: neither.
Result: whether that changed anything.
Errors: PQ001 for kind.
Locks: the settings of the kind.$$;
