create procedure _queue_log_missed(in in_name text collate exact, in in_matcher text collate exact,
    in in_events text collate exact, in in_place bigint, out out_missed bigint)
    comment 'Up to which position the log has no longer what a reader hasn''t read.
in_name, in_matcher, in_events, in_place: the reader.
Result: the position; NULL where nothing is missing.
Locks: none.
differs: the result is out_missed.'
begin
    if in_matcher is not null then
        select max(g.position) into out_missed from queue_log_gone g
        where g.position > in_place and find_in_set(g.event, in_events) and g.name <> ''
            and concat('.', g.name) regexp in_matcher;
    else
        select max(u.position) into out_missed
        from (
            select max(g.position) as position from queue_log_gone g
            where g.p_kind = in_name and g.position > in_place and find_in_set(g.event, in_events)
            union all
            select max(g.position) from queue_log_gone g
            where g.name = in_name and g.position > in_place and find_in_set(g.event, in_events)) u;
    end if;
end;
