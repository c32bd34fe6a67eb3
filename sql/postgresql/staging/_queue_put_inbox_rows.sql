-- calls: _queue_key_behind
-- changes: delayed_queue
create or replace function _queue_put_inbox_rows(in_first bigint, in_last bigint, in_key text, in_now bigint,
    in_keeps boolean, in_sorted boolean, out entries bigint[], out pushed bigint) language plpgsql as $$
begin
    with i as (
        insert into delayed_queue as q (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at)
        select l.entry, l.p_kind, l.p_key, l.payload, l.payload_bytes, l.headers, l.priority, l.scheduled_at,
            l.scheduled_at, in_now, l.attempts, l.max_attempts, case
            when l.scheduled_at <= in_now then l.scheduled_at end, case
                when l.scheduled_at > in_now then l.scheduled_at end
        from (
            select nextval('delayed_queue_entry_seq'::regclass) as entry, o.p_kind,
                coalesce(o.p_key, _queue_key_behind(in_key, o.id - in_first)) as p_key,
                case when o.payload_bytes is null then coalesce(o.payload, 'null')::jsonb end as payload,
                o.payload_bytes, nullif(nullif(o.headers::jsonb, 'null'), '{}') as headers,
                coalesce(o.priority, 0) as priority,
                coalesce(o.scheduled_at, in_now + (o.delay_seconds * 1000000)::bigint, in_now) as scheduled_at,
                coalesce(o.attempts, 0) as attempts, o.max_attempts
            from queue_inbox o
            where o.id between in_first and in_last -- nobody else's can be seen
            order by o.id offset 0) l -- numbered before they are sorted
        where not in_keeps or coalesce(( -- not EXISTS: that may be planned as a hash of the whole memory
            select d.ended_at from queue_dedup d where d.p_kind = l.p_kind and d.p_key = l.p_key) <= in_now - (
            select nullif(k.dedup_seconds, 0) * 1000000 from queue_kind k where k.p_kind = l.p_kind), true)
        order by case when in_sorted then l.p_key end, case when in_sorted then l.p_kind end, l.entry
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry)
    select coalesce(array_agg(i.entry order by i.entry) filter (where in_keeps), '{}'), count(*) into entries, pushed
        from i;
end $$;

comment on function _queue_put_inbox_rows(bigint, bigint, text, bigint, boolean, boolean) is
$$Puts rows of the inbox into their kinds; a key that is taken or remembered is ignored.
in_first, in_last: the rows, checked. in_key: what _queue_key has made for those without. in_now: the time of the call.
in_keeps: whether a kind of theirs remembers keys, logs or indexes. in_sorted: whether in the order of their keys; else
in their own.
Result: entries, with in_keeps those of what was put in, in order, else none; pushed, how many there are.
Locks: waits for other transactions that are putting one of the keys.
differs: on MariaDB and MySQL _queue_push puts in one row after another.$$;
