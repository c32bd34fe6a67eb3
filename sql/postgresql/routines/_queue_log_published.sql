create or replace function _queue_log_published(in_kinds text[], in_made bigint[], in_onto jsonb, in_key text, in_on_duplicate text,
    in_topic text, in_now bigint) returns void language plpgsql as $$
declare
    v_onto bigint[];
begin
    v_onto := array(
        select q.entry from delayed_queue q
        where q.p_kind = any (in_kinds) and q.p_key = in_key and q.entry <> all (in_made)
            and in_onto ->> q.p_kind = 'replaced' and in_on_duplicate in ('replace', 'keep_time')
        order by q.p_kind || ''); -- || '': ADR 13
    perform _queue_log(array(
        select q.entry from delayed_queue q where q.entry = any (in_made) order by q.p_kind || ''), 'pushed', in_now, in_topic, false);
    perform _queue_log(v_onto, 'replaced', in_now, in_topic, exists (
        select from unnest(in_made) e (entry), -- OFFSET: ADR 13
            lateral (select m.p_kind from delayed_queue m where m.entry = e.entry offset 0) q
            join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0));
end $$;

comment on function _queue_log_published(text[], bigint[], jsonb, text, text, text, bigint) is
$$Appends what a publish did to the log, for those of its kinds that have log_seconds.
in_kinds: the kinds. in_made: the entries that it put in. in_onto: see _queue_publish_onto, NULL: none. in_on_duplicate: its option. The
other parameters are those of queue_publish. in_now: the time of the call.
Locks: as _queue_log_open.$$;
