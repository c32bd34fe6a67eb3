create or replace function _queue_read(in_reader queue_reader, in_max integer, in_until bigint) returns setof queue_log
    language plpgsql as $$
declare
    v_events constant text[] := string_to_array(in_reader.events, ',');
begin
    if in_reader.matcher is not null then
        return query
            select l.* from queue_log l
            where l.position > in_reader.position and l.position <= in_until and l.event = any (v_events)
                and '.' || l.name ~ in_reader.matcher
            order by l.position limit in_max;
    else
        -- rows are compared as a whole, or all that is of any kind might be read in the order of its positions
        return query
            select u.* from (
                (select l.* from queue_log l
                    where (l.p_kind, l.position) > (in_reader.name, in_reader.position)
                        and (l.p_kind, l.position) <= (in_reader.name, in_until) and l.event = any (v_events)
                        and not l.topic_only
                    order by l.p_kind, l.position limit in_max)
                union all
                (select l.* from queue_log l
                    where l.topic = in_reader.name and l.copy_of is null and l.position > in_reader.position
                        and l.position <= in_until and l.p_kind <> in_reader.name and l.event = any (v_events)
                    order by l.topic, l.copy_of, l.position limit in_max)) u
            order by u.position limit in_max;
    end if;
end $$;

comment on function _queue_read(queue_reader, integer, bigint) is
$$What a reader reads next.
in_reader: the reader. in_max: how many rows. in_until: the last position.
Result: the rows of the log, in their order.
Locks: none.$$;
