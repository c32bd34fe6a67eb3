-- calls: _queue_check_count, _queue_fail, _queue_log_known, _queue_log_missed, _queue_read, _queue_reader, queue_now
-- changes: queue_reader
create procedure queue_read(in in_name text collate exact, in in_reader text collate exact, in in_max_messages int,
    in in_options longtext)
    comment 'Reads the log of the kinds that have log_seconds (see queue_define) from where a reader left off. Any
number of readers each read all of it. They take nothing from a consumer or from one another. The next read begins at
the same place until queue_read_ack.
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
has pushed to a kind with a log and stays open keeps the readers where it began; others don''t. In a transaction of
REPEATABLE READ or SERIALIZABLE, where a position was left out by one that was undone, what follows may come a read
later. What vanishes with its kind (queue_drop, expires_seconds) leaves no event.
Errors: PQ007 for a kind that is for others. PQ001 for name, reader and max_messages, PQ002 for options; PQ004 where the
reader reads another name, and where it has fallen behind log_seconds: the error names the position that it acks to go
on with what is kept.
Locks: none, but for a new reader.
Where the idea comes from: the streams of Keuss, the event log of Chapman; the order from Kafka''s last stable offset.
differs: in a transaction of the caller''s it is always as in REPEATABLE READ. What follows a position that was left out
comes once a call outside of a transaction has noted that it is safe: a queue_read, a queue_prune.'
begin
    declare v_max int default coalesce(in_max_messages, 1);
    declare v_matcher, v_events text collate exact;
    declare v_now, v_place, v_last, v_known, v_rows, v_missed bigint;
    begin atomic
        call queue_now(v_now);
        call _queue_check_count(v_max, 'max_messages', 10000);
        set v_matcher = null, v_known = -1, v_rows = 0;
        call _queue_reader(v_own, v_now, in_name, in_reader, in_options, v_matcher, v_events, v_place);
        select max(l.position) into v_last from queue_log l;
        if v_last > v_place then
            call _queue_log_known(v_own, v_now, in_name, v_matcher, v_events, v_place, v_max, v_last, v_known);
            call _queue_read(in_name, v_matcher, v_events, v_place, v_max, v_known, v_rows, v_last);
            set v_known = coalesce(v_last, v_known);
            if v_rows = 0 and v_known > v_place + 1000 then
                update queue_reader r set r.looked = v_known where r.reader = in_reader and r.events = v_events;
            end if;
        end if;
        call _queue_log_missed(in_name, v_matcher, v_events, v_place, v_missed);
        if v_missed is not null then
            call _queue_fail('PQ004', 'reader', in_reader,
                concat('has missed what was pruned, ack ', v_missed, ' to go on'));
        end if;
        set v_known = if(v_rows = 0, v_place, v_known);
        -- none of them, where some were pruned since: it is told so by its next read
        if v_matcher is not null then
            select l.position, l.event, l.topic, l.p_kind, l.p_key, l.entry, l.payload, l.payload_bytes, l.headers,
                l.to_kind, l.created_at
            from queue_log l force index (primary)
            where l.position > v_place and l.position <= v_known and find_in_set(l.event, v_events)
                and concat('.', l.name) regexp v_matcher
                and not exists (select 1 from queue_log_gone g where g.position > v_place and g.position <= v_known
                    and find_in_set(g.event, v_events) and g.name <> '' and concat('.', g.name) regexp v_matcher)
            order by l.position;
        else
            select u.* from (
                select l.position, l.event, l.topic, l.p_kind, l.p_key, l.entry, l.payload, l.payload_bytes, l.headers,
                    l.to_kind, l.created_at
                from queue_log l force index (queue_log_kind)
                where l.p_kind = in_name and not l.topic_only and l.position > v_place and l.position <= v_known
                    and find_in_set(l.event, v_events)
                union all
                select l.position, l.event, l.topic, l.p_kind, l.p_key, l.entry, l.payload, l.payload_bytes, l.headers,
                    l.to_kind, l.created_at
                from queue_log l force index (queue_log_topic)
                where l.topic = in_name and l.copy_of is null and l.p_kind <> in_name and l.position > v_place
                    and l.position <= v_known
                    and find_in_set(l.event, v_events)) u
            where not exists (select 1 from queue_log_gone g where g.position > v_place and g.position <= v_known
                and find_in_set(g.event, v_events) and (g.p_kind = in_name or g.name = in_name))
            order by u.position;
        end if;
    end atomic;
end;
