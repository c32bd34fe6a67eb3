create or replace function queue_remove(in_kind text, in_key text, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_row delayed_queue;
begin
    perform _queue_check_kind(in_kind, 100);
    perform _queue_check_key(in_key);
    select q.* into v_row from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
    if not found then
        outcome := 'absent';
    elsif v_row.reserved_at is not null and v_row.scheduled_at > v_now then
        outcome := 'held';
    else
        delete from delayed_queue q where q.entry = v_row.entry;
        insert into queue_count (p_kind, pushed, reserved)
        values (in_kind, (v_row.source_kind is null)::integer, (v_row.reserved_at is not null)::integer);
        perform _queue_keep(v_row, 'removed', null, v_now);
        if v_row.order_key is not null then
            perform _queue_advance(array[in_kind], array[v_row.order_key], v_now);
        elsif v_row.semaphores is not null then
            perform _queue_slot_settle(array[v_row.entry], v_row.semaphores, true, v_now);
        end if;
        outcome := 'removed';
    end if;
end $$;

comment on function queue_remove(text, text) is
$$Removes a message that nobody holds.
in_kind: the kind. in_key: the key.
Result: outcome: removed, held (it stays), absent.
Errors: PQ001 for kind and key.
Locks: the message, the next in the line of its order key, and its semaphores.$$;
