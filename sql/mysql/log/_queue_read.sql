create procedure _queue_read(in in_name text collate exact, in in_matcher text collate exact,
    in in_events text collate exact, in in_place bigint, in in_max int, in in_until bigint, out out_rows bigint,
    out out_last bigint)
    comment 'How far a reader reads next.
in_name, in_matcher, in_events, in_place: the reader. in_max: how many rows. in_until: the last position.
Result: how many rows of the log that are, and the last of them.
Locks: none.
differs: on PostgreSQL it answers the rows; here that is a part of queue_read.'
begin
    if in_matcher is not null then
        select count(*), max(u.position) into out_rows, out_last
        from (select l.position from queue_log l force index (primary)
            where l.position > in_place and l.position <= in_until and find_in_set(l.event, in_events)
                and concat('.', l.name) regexp in_matcher
            order by l.position limit in_max) u;
    else
        select count(*), max(v.position) into out_rows, out_last
        from (select u.position from (
            (select l.position from queue_log l force index (queue_log_kind)
                where l.p_kind = in_name and l.position > in_place and l.position <= in_until
                    and find_in_set(l.event, in_events)
                    and not l.topic_only
                order by l.position limit in_max)
            union all
            (select l.position from queue_log l force index (queue_log_topic)
                where l.topic = in_name and l.copy_of is null and l.p_kind <> in_name and l.position > in_place
                    and l.position <= in_until and find_in_set(l.event, in_events)
                order by l.position limit in_max)) u
            order by u.position limit in_max) v;
    end if;
end;
