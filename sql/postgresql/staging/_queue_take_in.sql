-- calls: _queue_index, _queue_landed, _queue_log, _queue_take_back, _queue_wake, queue_now
-- changes: delayed_queue, queue_inbox
create or replace function _queue_take_in() returns trigger
    language plpgsql
    security definer set search_path from current
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_asks constant boolean := exists (select from queue_kind k where k.payload_shape is not null or k.draining);
    v_keeps constant boolean := exists (select from queue_kind k where k.dedup_seconds > 0 or k.log_seconds > 0 or k.filter_index);
    v_row record;
    v_entries bigint[];
    v_ids record;
    v_pushed bigint;
begin
    begin -- nothing is written in this block, so that it costs no transaction number
        select min(l.id) as first, max(l.id) as last, count(*) as number, count(case when (not (v_asks and coalesce((
            select k.payload_shape is not null or k.draining from queue_kind k where k.p_kind = l.p_kind), false))
            and char_length(l.p_kind) between 1 and 95 and char_length(l.p_key) between 1 and 200
            and l.headers is null and l.payload_bytes is null
            and l.payload::jsonb is not null -- whose depth is at most the number of brackets, and one
            and (2 * octet_length(l.payload) - octet_length(replace(l.payload, '{', '')) - octet_length(replace(l.payload, '[', '')) < 31
                or not jsonb_path_exists(l.payload::jsonb, '$.**{31}'))
            and coalesce(l.priority between -32768 and 32767, true)
            and case when l.scheduled_at is null then coalesce(l.delay_seconds between 0 and 1000000000, true)
                else l.delay_seconds is null and l.scheduled_at between 100000000000000 and 253402300799999999 end
            and coalesce(l.attempts between 0 and 1000000000, true)
            and coalesce(l.max_attempts between 1 and 1000000000, true)) is not true
            then _queue_landed(row(l.*)::queue_inbox, v_now) end) as checked
        into v_ids from landed l;
    exception when others then
        for v_row in
            select row(l.*)::queue_inbox as message, row_number() over (order by l.id) as n from landed l order by l.id
        loop
            begin
                perform _queue_landed(v_row.message, v_now);
            exception when others then
                raise exception using errcode = case when sqlstate like 'PQ%' then sqlstate else 'PQ003' end,
                    message = 'row ' || v_row.n || ' (key '
                        || coalesce('"' || left((v_row.message).p_key, 40) || '"', 'NULL') || '): ' || sqlerrm;
            end;
        end loop;
        raise;
    end;
    with i as (
        insert into delayed_queue as q (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at)
        select l.entry, l.p_kind, l.p_key, l.payload, l.payload_bytes, l.headers, l.priority, l.scheduled_at, l.scheduled_at, v_now,
            l.attempts, l.max_attempts, case when l.scheduled_at <= v_now then l.scheduled_at end,
            case when l.scheduled_at > v_now then l.scheduled_at end
        from (
            select nextval('delayed_queue_entry_seq'::regclass) as entry, o.p_kind, coalesce(r.p_key, o.p_key) as p_key,
                case when o.payload_bytes is null then coalesce(o.payload, 'null')::jsonb end as payload, o.payload_bytes, r.headers,
                coalesce(o.priority, 0) as priority,
                coalesce(o.scheduled_at, v_now + (o.delay_seconds * 1000000)::bigint, v_now) as scheduled_at,
                coalesce(o.attempts, 0) as attempts, o.max_attempts
            from landed o,
                _queue_landed(case when o.p_key is null or o.headers is not null then row(o.*)::queue_inbox end, v_now) r
            offset 0) l -- numbered before they are sorted
        where not v_keeps or coalesce(( -- not EXISTS: that may be planned as a hash of the whole memory
            select d.ended_at from queue_dedup d where d.p_kind = l.p_kind and d.p_key = l.p_key) <= v_now - (
            select k.dedup_seconds * 1000000 from queue_kind k where k.p_kind = l.p_kind), true)
        order by l.p_key, l.p_kind, l.entry
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry)
    select array_agg(i.entry order by i.entry) filter (where v_keeps), count(*) into v_entries, v_pushed from i;
    if v_keeps then
        perform _queue_take_back(coalesce(v_entries, '{}'), v_now);
        perform _queue_index(coalesce(v_entries, '{}'));
        perform _queue_log(v_entries, 'pushed', v_now);
    end if;
    perform _queue_wake(k.p_kind, null) from (select distinct l.p_kind from landed l) k;
    -- for queue_stage_publish in the same transaction: how many have landed, and how many are new
    perform set_config('pyqueue_sql.taken_in', array[coalesce(t.n[1], 0) + v_ids.number, coalesce(t.n[2], 0) + v_pushed]::text, true)
    from (select nullif(current_setting('pyqueue_sql.taken_in', true), '')::bigint[] as n) t;
    delete from queue_inbox b where b.id between v_ids.first and v_ids.last; -- nobody else's can be seen
    return null;
end $$;

comment on function _queue_take_in() is
$$The trigger of queue_inbox: pushes the rows of a statement, in their order, and takes them out of the inbox. A key that is
taken or remembered is ignored.
Errors: those of queue_push, naming the row, from 1, and its key; then nothing of the statement is kept.
Locks: as queue_push_many.$$;
