-- calls: _queue_check_name, _queue_fail
-- changes: queue_reader
create or replace function queue_read_ack(in_reader text, in_position bigint, out reader text, out "position" bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off as $$
declare
    v_position bigint;
begin
    perform _queue_check_name(in_reader, 200, 'reader');
    select r.position into v_position from queue_reader r where r.reader = in_reader for update;
    if not found then
        perform _queue_fail('PQ004', 'reader', in_reader, 'has read nothing yet');
    end if;
    if (in_position >= 0) is not true or in_position > v_position and in_position > greatest(v_position,
        (select l.position from queue_log l order by l.position desc limit 1), -- ADR 13
        (select max(g.position) from queue_log_gone g)) then
        perform _queue_fail('PQ001', 'position', in_position::text, 'must be one that queue_read has shown');
    end if;
    reader := in_reader;
    position := greatest(in_position, v_position);
    if in_position > v_position then
        update queue_reader r set position = in_position where r.reader = in_reader;
    end if;
end $$;

comment on function queue_read_ack(text, bigint) is
$$A reader is done with the log up to a position: its next read begins after it.
in_reader: the reader. in_position: the last position that it is done with, as queue_read has shown it; one that is
behind its place leaves that as it is, so that an ack may come twice or late.
Result: reader, position: its place now.
Errors: PQ001 for reader and position, PQ004 for a reader that has never read.
Locks: the reader.$$;
