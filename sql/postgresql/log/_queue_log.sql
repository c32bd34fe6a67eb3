-- calls: _queue_log_open
-- changes: queue_log
create or replace function _queue_log(in_entries bigint[], in_event text,
    in_now bigint) returns void language plpgsql as $$
begin
    if not exists (
        select from unnest(in_entries) e (entry), -- OFFSET: ADR 13
            lateral (select m.p_kind from delayed_queue m where m.entry = e.entry offset 0) q
            join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0) then
        return;
    end if;
    perform _queue_log_open();
    insert into queue_log (event, name, p_kind, p_key, entry, payload, payload_bytes, headers, created_at)
    select in_event, q.p_kind, q.p_kind, q.p_key, q.entry, q.payload, q.payload_bytes, q.headers, in_now
    from unnest(in_entries) with ordinality e (entry, n),
        lateral (select m.* from delayed_queue m where m.entry = e.entry offset 0) q
    join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0
    order by e.n;
end $$;

comment on function _queue_log(bigint[], text, bigint) is
$$Appends messages that came in to the log, where their kinds have log_seconds.
in_entries: the messages, in their order. in_event: pushed, replaced. in_now: the time of the call.
Locks: as _queue_log_open.$$;
