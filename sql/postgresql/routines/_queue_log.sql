create or replace function _queue_log(in_entries bigint[], in_event text, in_now bigint, in_topic text,
    in_copies boolean) returns void
    language plpgsql as $$
begin
    if not exists (
        select from unnest(in_entries) e (entry), -- OFFSET: ADR 13
            lateral (select m.p_kind from delayed_queue m where m.entry = e.entry offset 0) q
            join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0) then
        return;
    end if;
    perform _queue_log_open();
    insert into queue_log (event, name, topic, p_kind, p_key, entry, payload, payload_bytes, headers, created_at)
    select in_event, case when in_topic is null then o.p_kind when o.place = 1 and not in_copies then in_topic end, in_topic, o.p_kind, o.p_key,
        o.entry, o.payload, o.payload_bytes, o.headers, in_now
    from (
        select q.*, e.n, row_number() over (order by e.n) as place
        from unnest(in_entries) with ordinality e (entry, n),
            lateral (select m.* from delayed_queue m where m.entry = e.entry offset 0) q
        join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0) o
    order by o.n;
end $$;

comment on function _queue_log(bigint[], text, bigint, text, boolean) is
$$Appends messages that came in to the log, where their kinds have log_seconds.
in_entries: the messages, in their order. in_event: pushed, replaced. in_now: the time of the call. in_topic: where they are
copies of what was published, its topic, under which the first of them stands unless
in_copies is true.
Locks: as _queue_log_open.$$;
