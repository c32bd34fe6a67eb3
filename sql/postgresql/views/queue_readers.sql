create or replace view queue_readers as
select r.reader, r.name, r.events, r.position, greatest(l.last - r.position, 0) as behind, m.missed,
    queue_timestamp(r.created_at) as created_at
from queue_reader r
cross join (select coalesce((select o.position from queue_log o order by o.position desc limit 1), 0) as last) l
cross join lateral (
    select max(g.position) as missed
    from queue_log_gone g
    where g.position > r.position and g.event = any (string_to_array(r.events, ','))
        and case when r.matcher is null then g.p_kind = r.name or g.name = r.name
            else g.name <> '' and '.' || g.name ~ r.matcher end) m;

comment on view queue_readers is
$$A row a reader of the log: what it reads, which events; position: it is done up to there; behind: how many positions have been
drawn since, of all kinds, so that its events are at most so many; missed: up to which position the log has lost what it hasn't read, which
it acks to go on, NULL: nothing; when it first read.$$;
