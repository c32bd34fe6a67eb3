-- calls: _queue_check_name, _queue_check_roles, _queue_end, _queue_permits_settle, queue_now
create or replace function queue_remove(in_kind text, in_key text, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_row delayed_queue;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_name(in_key, 200, 'key');
    select q.* into v_row from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
    if not found then
        outcome := 'absent';
    elsif v_row.reserved_at is not null and v_row.scheduled_at > v_now then
        outcome := 'held';
    else
        perform _queue_end(array[v_row.entry], null::bytea[], 'removed', null::text, v_now);
        perform _queue_permits_settle(array[v_row.entry], v_row.semaphores, true, v_now)
            where v_row.semaphores is not null;
        outcome := 'removed';
    end if;
end $$;

comment on function queue_remove(text, text) is
$$Removes a message that nobody holds.
in_kind: the kind. in_key: the key.
Result: outcome: removed, held (it stays), absent.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key.
Locks: the message, the next in the line of its order key, and its semaphores.$$;
