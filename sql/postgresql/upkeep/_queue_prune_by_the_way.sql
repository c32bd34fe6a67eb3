-- calls: _queue_prune_kind, _queue_setting, _queue_ticks
create or replace function _queue_prune_by_the_way(in_kind text, in_now bigint,
    in_max bigint) returns void language plpgsql as $$
declare
    v_start constant bigint := _queue_ticks();
    v_name constant text := _queue_setting('prune');
    v_next constant bigint := nullif(current_setting(v_name, true), '')::bigint;
    v_took bigint;
begin
    if v_start < v_next and v_next < v_start + 3600000000 then
        return;
    end if;
    perform _queue_prune_kind(in_kind, in_now, in_max);
    v_took := _queue_ticks() - v_start;
    if v_took > 1000 + 20 * in_max then
        perform set_config(v_name, (v_start + 50 * v_took)::text, false);
    end if;
end $$;

comment on function _queue_prune_by_the_way(text, bigint, bigint) is
$$A little of what queue_prune does, for one kind, from within queue_reserve and queue_pop. Where that is slow, because
a snapshot keeps the dead rows before the living ones, the session leaves it for 50 times as long as it took: 2% of the
time at most.
in_kind: the kind. in_now: the time of the call. in_max: how many rows at the most.$$;
