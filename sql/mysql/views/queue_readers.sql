-- A row a reader of the log: what it reads, which events; position: it is done up to there; behind: how many positions have been
-- drawn since, of all kinds, so that its events are at most so many; missed: up to which position the log has lost what it hasn't read, which
-- it acks to go on, NULL: nothing; when it first read, a time of UTC.
-- differs: a view has no comment.
create or replace view queue_readers as
select r.reader, r.name, r.events, r.position,
    greatest(coalesce((select max(l.position) from queue_log l), 0) - r.position, 0) as behind,
    (select max(g.position) from queue_log_gone g
        where g.position > r.position and find_in_set(g.event, r.events)
            and if(r.matcher is null, g.p_kind = r.name or g.name = r.name,
                g.name <> '' and concat('.', g.name) regexp coalesce(r.matcher, 'x'))) as missed,
    timestamp '1970-01-01 00:00:00.000000' + interval r.created_at microsecond as created_at
from queue_reader r;
