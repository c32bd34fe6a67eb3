-- calls: _queue_log_open
-- changes: queue_log
create or replace function _queue_log_ended(in_kinds text[], in_keys text[], in_entries bigint[], in_event text,
    in_to_kind text, in_now bigint) returns void language plpgsql as $$
begin
    if not exists (select from queue_kind k where k.p_kind = any (in_kinds) and k.log_seconds > 0) then
        return;
    end if;
    perform _queue_log_open();
    insert into queue_log (event, name, p_kind, p_key, entry, to_kind, created_at)
    select in_event, e.p_kind, e.p_kind, e.p_key, e.entry, in_to_kind, in_now
    from unnest(in_kinds, in_keys, in_entries) with ordinality e (p_kind, p_key, entry, n)
    join queue_kind k on k.p_kind = e.p_kind and k.log_seconds > 0
    order by e.n;
end $$;

comment on function _queue_log_ended(text[], text[], bigint[], text, text, bigint) is
$$Appends the ends of messages to the log, where their kinds have log_seconds.
in_kinds, in_keys, in_entries: the messages, removed already or about to be. in_event: acked, popped, moved, dead,
removed. in_to_kind: where they went, NULL: nowhere. in_now: the time of the call.
Locks: as _queue_log_open.
differs: on MariaDB and MySQL _queue_end logs what it ends.$$;
