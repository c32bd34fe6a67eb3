-- A row a reader of the log, see queue_read.
-- - reader: its name.
-- - name: the kind, topic or pattern that it reads.
-- - events: which events it sees.
-- - position: it is done up to there.
-- - behind: how many events it is going to see after that. They are looked at one by one to be counted.
-- - missed: up to which position the log has lost what the reader hasn't read. It acks that to go on. NULL: nothing.
-- - created_at: when it first read.
-- Times are of UTC.
-- differs: a view has no comment.
create or replace view queue_readers as
select r.reader, r.name, r.events, r.position,
    (select count(*) from queue_log l
        where r.matcher is null and l.p_kind = r.name and not l.topic_only and l.position > r.position
            and find_in_set(l.event, r.events))
    + (select count(*) from queue_log l
        where r.matcher is null and l.topic = r.name and l.copy_of is null and l.position > r.position
            and l.p_kind <> r.name
            and find_in_set(l.event, r.events))
    + (select count(*) from queue_log l
        where r.matcher is not null and l.position > r.position and concat('.', l.name) regexp coalesce(r.matcher, 'x')
            and find_in_set(l.event, r.events)) as behind,
    (select max(g.position) from queue_log_gone g
        where g.position > r.position and find_in_set(g.event, r.events)
            and if(r.matcher is null, g.p_kind = r.name or g.name = r.name,
                g.name <> '' and concat('.', g.name) regexp coalesce(r.matcher, 'x'))) as missed,
    timestamp '1970-01-01 00:00:00.000000' + interval r.created_at microsecond as created_at
from queue_reader r;
