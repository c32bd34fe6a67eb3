-- calls: _queue_check_count, _queue_check_name, _queue_check_roles, _queue_end, _queue_permits_settle, queue_now
create or replace function queue_purge(in_kind text, in_max_messages bigint default null, out purged bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_gone record;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_count(coalesce(in_max_messages, 1), 'max_messages', 9223372036854775807);
    v_gone := _queue_end(array(
        select p.entry from delayed_queue p
        where p.p_kind = in_kind and (p.reserved_at is null or p.scheduled_at <= v_now)
        limit in_max_messages for update skip locked), null::bytea[], 'removed', null::text, v_now);
    purged := cardinality(v_gone.places);
    perform _queue_permits_settle(v_gone.guarded, null::text[], true, v_now) where v_gone.guarded is not null;
end $$;

comment on function queue_purge(text, bigint) is
$$Removes the messages of a kind that nobody holds.
in_kind: the kind. in_max_messages: how many at the most, NULL: all.
Result: purged: how many.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages.
Locks: the messages; what others have locked is left. Then the next in the lines of their order keys, and their
semaphores.$$;
