-- calls: _queue_log_open
-- changes: queue_log
create or replace function _queue_log(in_entries bigint[], in_events text[], in_topic text, in_now bigint) returns void
    language plpgsql as $$
begin
    if not exists (
        select from unnest(in_entries) e (entry), -- OFFSET: ADR 13
            lateral (select m.p_kind from delayed_queue m where m.entry = e.entry offset 0) q
            join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0) then
        return;
    end if;
    perform _queue_log_open();
    if in_topic is null then
        insert into queue_log (event, name, p_kind, p_key, entry, payload, payload_bytes, headers, created_at)
        select coalesce(e.event, 'pushed'), q.p_kind, q.p_kind, q.p_key, q.entry, q.payload, q.payload_bytes, q.headers,
            in_now
        from unnest(in_entries, in_events) with ordinality e (entry, event, n),
            lateral (select m.* from delayed_queue m where m.entry = e.entry offset 0) q
        join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0
        order by e.n;
        return;
    end if;
    with m as materialized (
        select q.*, coalesce(e.event, 'pushed') as event, row_number() over (order by e.n) as n
        from unnest(in_entries, in_events) with ordinality e (entry, event, n),
            lateral (select o.* from delayed_queue o where o.entry = e.entry offset 0) q
        join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0),
    f as (
        insert into queue_log (event, name, topic, p_kind, p_key, entry, payload, payload_bytes, headers, created_at)
        select m.event, in_topic, in_topic, m.p_kind, m.p_key, m.entry, m.payload, m.payload_bytes, m.headers, in_now
        from m where m.n = 1
        returning position)
    insert into queue_log (event, topic, copy_of, p_kind, p_key, entry, payload, payload_bytes, headers, created_at)
    select m.event, in_topic, f.position, m.p_kind, m.p_key, m.entry, m.payload, m.payload_bytes, m.headers, in_now
    from m cross join f where m.n > 1
    order by m.n;
end $$;

comment on function _queue_log(bigint[], text[], text, bigint) is
$$Appends messages that came in to the log, where their kinds have log_seconds.
in_entries: the messages, in their order. in_events: of each, pushed or replaced; NULL: pushed. in_topic: what was
published: the first of them stands under it, the others are its copies; NULL: each stands under its kind. in_now: the
time of the call.
Locks: as _queue_log_open.$$;
