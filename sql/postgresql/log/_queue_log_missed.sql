create or replace function _queue_log_missed(in_reader queue_reader) returns bigint language plpgsql
    set enable_seqscan = off as $$
declare
    v_events constant text[] := string_to_array(in_reader.events, ',');
begin
    if in_reader.matcher is not null then
        return (
            select max(g.position) from queue_log_gone g
            where g.position > in_reader.position and g.event = any (v_events) and g.name <> ''
                and '.' || g.name ~ in_reader.matcher);
    end if;
    return greatest(
        (select max(g.position) from queue_log_gone g
            where g.p_kind = in_reader.name and g.position > in_reader.position and g.event = any (v_events)),
        (select max(g.position) from queue_log_gone g
            where g.name = in_reader.name and g.position > in_reader.position and g.event = any (v_events)));
end $$;

comment on function _queue_log_missed(queue_reader) is
$$Up to which position the log has no longer what a reader hasn't read.
in_reader: the reader.
Result: the position; NULL where nothing is missing.
Locks: none.$$;
