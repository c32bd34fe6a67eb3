create or replace view queue_readers as
select r.reader, r.name, r.events, r.position, b.behind, m.missed,
    queue_timestamp(r.created_at) as created_at
from queue_reader r
cross join lateral (
    select (select count(*) from queue_log l
            where r.matcher is null and l.p_kind = r.name and not l.topic_only and l.position > r.position
                and l.event = any (e.events))
        + (select count(*) from queue_log l
            where r.matcher is null and l.topic = r.name and l.copy_of is null and l.position > r.position
                and l.p_kind <> r.name
                and l.event = any (e.events))
        + (select count(*) from queue_log l
            where r.matcher is not null and l.position > r.position and '.' || l.name ~ r.matcher
                and l.event = any (e.events)) as behind
    from (select string_to_array(r.events, ',') as events) e) b
cross join lateral (
    select max(g.position) as missed
    from queue_log_gone g
    where g.position > r.position and g.event = any (string_to_array(r.events, ','))
        and case when r.matcher is null then g.p_kind = r.name or g.name = r.name
            else g.name <> '' and '.' || g.name ~ r.matcher end) m;

comment on view queue_readers is
$$A row a reader of the log, see queue_read.
- reader: its name.
- name: the kind, topic or pattern that it reads.
- events: which events it sees.
- position: it is done up to there.
- behind: how many events it is going to see after that. They are looked at one by one to be counted.
- missed: up to which position the log has lost what the reader hasn't read. It acks that to go on. NULL: nothing.
- created_at: when it first read.$$;
