-- calls: _queue_check_name, _queue_check_options, _queue_check_roles, _queue_fail, _queue_index, _queue_instant,
--     _queue_integer, _queue_log, _queue_text, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_replay(in_kind text, in_filter jsonb default null, out went bigint, out stayed bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_outcome constant text := _queue_text(in_filter, 'outcome');
    v_key constant text := _queue_text(in_filter, 'p_key');
    v_from constant bigint := coalesce(_queue_instant(in_filter, 'from'), 0);
    v_to constant bigint := coalesce(_queue_instant(in_filter, 'to'), 9223372036854775807);
    v_limit constant bigint := coalesce(_queue_integer(in_filter, 'limit', 1::bigint, 10000::bigint), 1000);
    v_to_kind constant text := coalesce(_queue_text(in_filter, 'to_kind'), in_kind);
    v_entries bigint[];
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_options(in_filter, '{outcome, p_key, from, to, limit, to_kind}'::text[], 'filter');
    perform _queue_check_name(v_to_kind, 100, 'to_kind');
    perform _queue_check_roles(array[in_kind, v_to_kind]);
    if v_outcome not in ('acked', 'popped', 'moved', 'dead', 'removed') then
        perform _queue_fail('PQ002', 'outcome', v_outcome, 'must be acked, popped, moved, dead or removed');
    elsif exists (select from queue_kind k where k.p_kind = v_to_kind and k.draining) then
        perform _queue_fail('PQ004', 'to_kind', v_to_kind, 'takes in nothing while it is drained');
    end if;
    with h as materialized (
        select nextval('delayed_queue_entry_seq'::regclass) as entry, o.*
        from (
            (select e.* from queue_history e
                where v_key is null and e.p_kind = in_kind and e.finished_at >= v_from and e.finished_at < v_to
                    and e.outcome = coalesce(v_outcome, e.outcome)
                order by e.p_kind, e.finished_at, e.entry limit v_limit)
            union all
            (select e.* from queue_history e
                where e.p_kind = in_kind and e.p_key = v_key and e.finished_at >= v_from and e.finished_at < v_to
                    and e.outcome = coalesce(v_outcome, e.outcome)
                order by e.finished_at + 0, e.entry limit v_limit) -- + 0: ADR 13
            ) o (p_kind, p_key, old)),
    i as (
        insert into delayed_queue as q (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, ready_at)
        select h.entry, v_to_kind, h.p_key, h.payload, h.payload_bytes, h.headers, h.priority, v_now, v_now, v_now,
            v_now
        from h order by h.p_key, h.finished_at desc, h.entry desc -- of one key the newest
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry)
    select array(select i.entry from i order by i.entry), (select count(*) from h) into v_entries, stayed;
    went := cardinality(v_entries);
    stayed := stayed - went;
    if went > 0 then
        perform _queue_index(v_entries);
        perform _queue_wake(v_to_kind, null);
        perform _queue_log(v_entries, null::text[], null::text, v_now);
    end if;
end $$;

comment on function queue_replay(text, jsonb) is
$$Puts what a kind keeps in queue_history back, as new entries with attempts 0 that are ready now, in the order in which
they had ended.
in_kind: the kind whose history it is.
in_filter: which of it, all conditions together.
- outcome: how it ended. Allowed: acked, popped, moved, dead, removed. Default: any.
- p_key: its key. Allowed: 1 to 200 characters. Default: any.
- from: when it ended, from this time on. Allowed: as scheduled_at of queue_push. Default: the oldest.
- to: when it ended, before this time. Allowed: as scheduled_at of queue_push. Default: the newest.
- limit: how many, the oldest first. For more go on by from and to. Allowed: 1 to 10000. Default: 1000.
- to_kind: where it goes. Allowed: a kind, 1 to 100 characters. Default: the kind itself.
Result: went: how many; stayed: how many whose key is taken there, or that a newer one of their key went instead of. A
key that is only remembered (dedup_seconds) doesn't hinder it. What isn't of the payload_shape there is dead at the
next reserve.
Errors: PQ007 for a kind that is for others. PQ001 for kind and to_kind, PQ002 for filter, PQ004 where the target is
drained.
Locks: none; keys are put in in their order.$$;
