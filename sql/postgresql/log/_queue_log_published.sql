-- calls: _queue_log_open
-- changes: queue_log
create or replace function _queue_log_published(in_kinds text[], in_made bigint[], in_onto jsonb, in_key text,
    in_on_duplicate text, in_topic text, in_now bigint) returns void language plpgsql as $$
declare
    v_onto constant bigint[] := array(
        select q.entry from delayed_queue q
        where q.p_kind = any (in_kinds) and q.p_key = in_key and q.entry <> all (in_made)
            and in_onto ->> q.p_kind = 'replaced' and in_on_duplicate in ('replace', 'keep_time'));
    v_entries bigint[];
begin
    v_entries := array(
        select e.entry from unnest(in_made || v_onto) e (entry), -- OFFSET: ADR 13
            lateral (select m.p_kind from delayed_queue m where m.entry = e.entry offset 0) q
            join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0
        order by e.entry = any (v_onto), q.p_kind);
    if v_entries = '{}' then
        return;
    end if;
    perform _queue_log_open();
    with m as materialized (
        select q.*, case when q.entry = any (v_onto) then 'replaced' else 'pushed' end as event, e.n
        from unnest(v_entries) with ordinality e (entry, n),
            lateral (select o.* from delayed_queue o where o.entry = e.entry offset 0) q),
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

comment on function _queue_log_published(text[], bigint[], jsonb, text, text, text, bigint) is
$$Appends what a publish did to the log, for those of its kinds that have log_seconds: the first of them stands under
the topic, the others are its copies.
in_kinds: the kinds. in_made: the entries that it put in. in_onto: see _queue_publish_onto, NULL: none. in_on_duplicate:
its option. The other parameters are those of queue_publish. in_now: the time of the call.
Locks: as _queue_log_open.$$;
