-- calls: _queue_check_kind, _queue_check_roles, _queue_wake
-- changes: queue_kind
create or replace function _queue_set_paused(in_kind text, in_paused boolean) returns boolean language plpgsql as $$
declare
    v_changed boolean;
begin
    perform _queue_check_kind(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    if not in_paused then
        update queue_kind k set paused = false, draining = false where k.p_kind = in_kind and (k.paused or k.draining);
    else
        insert into queue_kind as k (p_kind, paused) values (in_kind, true)
        on conflict on constraint queue_kind_pkey do update set paused = true where not k.paused;
    end if;
    v_changed := found;
    if v_changed then
        perform _queue_wake(in_kind, null);
    end if;
    return v_changed;
end $$;

comment on function _queue_set_paused(text, boolean) is
$$Pauses a kind, or ends its pause and its draining.
in_kind: the kind. in_paused: which of the two.
Result: whether that changed anything.
Errors: PQ001 for kind.
Locks: the settings of the kind.$$;
