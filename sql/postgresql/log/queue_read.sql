-- calls: _queue_check_count, _queue_fail, _queue_log_known, _queue_log_missed, _queue_prune_by_the_way, _queue_read,
--     _queue_reader, queue_now
-- changes: queue_reader
create or replace function queue_read(in_name text, in_reader text, in_max_messages integer default null,
    in_options jsonb default null)
    returns table ("position" bigint, event text, topic text, p_kind text, p_key text, entry bigint, payload jsonb,
        payload_bytes bytea, headers jsonb, to_kind text, created_at bigint) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_max constant integer := coalesce(in_max_messages, 1);
    v_reader queue_reader;
    v_known bigint; v_last bigint;
    v_rows integer;
    v_missed bigint;
begin
    perform _queue_check_count(v_max::bigint, 'max_messages', 10000::bigint);
    v_reader := _queue_reader(in_name, in_reader, in_options);
    select l.position into v_last from queue_log l order by l.position desc limit 1; -- ADR 13
    if v_last > v_reader.position then
        v_known := _queue_log_known(v_reader, v_max, v_last);
        return query
            select r.position, r.event, r.topic, r.p_kind, r.p_key, r.entry, r.payload, r.payload_bytes, r.headers,
                r.to_kind, r.created_at
            from _queue_read(v_reader, v_max, v_known) r;
        get diagnostics v_rows = row_count;
        if v_rows = 0 and v_known > v_reader.position + 1000 then
            update queue_reader r set looked = v_known where r.reader = in_reader and r.events = v_reader.events;
        end if;
    end if;
    -- after the rows: what was pruned before they were read is noted by now
    v_missed := _queue_log_missed(v_reader);
    if v_missed is not null then
        perform _queue_fail('PQ004', 'reader', in_reader,
            format('has missed what was pruned, ack %s to go on', v_missed));
    end if;
    if v_known is not null and random() < 0.01 then -- at the end: an error would undo it
        perform _queue_prune_by_the_way(l.p_kind, queue_now(), 1000::bigint)
        from (select o.p_kind from queue_log o order by o.position limit 1) l;
    end if;
end $$;

comment on function queue_read(text, text, integer, jsonb) is
$$Reads the log of the kinds that have log_seconds (see queue_define) from where a reader left off. Any number of
readers each read all of it. They take nothing from a consumer or from one another. The next read begins at the same
place until queue_read_ack.
in_name: a kind; or a topic; or a pattern, as in queue_subscribe. A topic and a pattern stand for what is published to
such topics, of whose copies each comes once, however many of its kinds are logged. A pattern stands for kinds too, as
if their names were topics.
in_reader: whose place it is, 1 to 200 characters; its first read registers it.
in_max_messages: how many events at the most, 1 to 10000; NULL: 1.
in_options: where to begin, and what to see.
- from: where a new reader begins: at the oldest event that is kept, or at the end of the log. Allowed: oldest, now.
  Default: oldest.
- events: what the reader wants to see, for this read and the next ones. pushed, and replaced by a push with
  on_duplicate, are messages. The others have no payload and stand under the name of their kind alone: who reads a
  topic, or a pattern that no defined kind fits, is refused them. Allowed: an array of pushed, replaced, acked,
  popped, moved, dead, removed. Default: pushed and replaced.
Result: a row an event, in the order of the log, which is the same for all: position, for queue_read_ack; event;
topic, where it was published; p_kind, p_key, entry; payload or payload_bytes, headers; to_kind, where it was moved or
buried; created_at, microseconds. The messages of a transaction come when it has committed, in one order for all
readers. Nobody is shown a position before what stands in front of it is committed or undone. So a transaction that
has pushed to a kind with a log and stays open keeps the readers where it began; others don't. In a transaction of
REPEATABLE READ or SERIALIZABLE, where a position was left out by one that was undone, what follows may come a read
later. What vanishes with its kind (queue_drop, expires_seconds) leaves no event.
Errors: PQ007 for a kind that is for others. PQ001 for name, reader and max_messages, PQ002 for options; PQ004 where the
reader reads another name, and where it has fallen behind log_seconds: the error names the position that it acks to go
on with what is kept.
Locks: none, but for a new reader.
Where the idea comes from: the streams of Keuss, the event log of Chapman; the order from Kafka's last stable offset.$$;
