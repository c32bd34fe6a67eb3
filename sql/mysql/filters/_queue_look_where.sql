create procedure _queue_look_where(in in_kind text collate exact, in in_now bigint, in in_many int,
    in in_path longtext collate exact, in in_text longtext collate exact, in in_number double, inout out_rank int,
    inout out_place bigint, inout out_entry bigint, out out_entries longtext, out out_rows int)
    comment 'Looks through the ready line, or through the timetable, for messages that a filter may match, without a
lock. Whether all of the filter matches see _queue_matches.
in_kind: the kind. in_now: what is scheduled or due later than that is passed over. in_many: how many. in_path, in_text,
in_number: see _queue_first_of.
out_rank, out_place, out_entry: from behind which place on, and that of the last one found; out_rank NULL: the
timetable, where the place is a date.
out_entries: a JSON array of entries, in the order of delivery, or by their dates; NULL for none. out_rows: how many, 0
once there are no more.
differs: on PostgreSQL it is a part of _queue_take_where.'
begin
    declare v_rank int;
    declare v_place, v_entry bigint;
    -- a path finds the first of a name that stands twice, on MariaDB
    declare v_name longblob default concat('"', substring_index(in_path, '."', -1));
    if out_rank is null then
        select json_arrayagg(c.entry), count(*), json_extract(json_arrayagg(c.due_at), concat('$[', count(*) - 1, ']')),
            json_extract(json_arrayagg(c.entry), concat('$[', count(*) - 1, ']'))
        into out_entries, out_rows, v_place, v_entry
        from (
            select q.entry, q.due_at from delayed_queue q force index (delayed_queue_due)
            where q.p_kind = in_kind and q.due_at between out_place and in_now
                and (q.due_at > out_place or q.entry > out_entry)
                and (in_path is null or may match(q))
            order by q.due_at, q.entry limit in_many) c;
    else
        select json_arrayagg(c.entry), count(*),
            json_extract(json_arrayagg(c.ready_rank), concat('$[', count(*) - 1, ']')),
            json_extract(json_arrayagg(c.ready_at), concat('$[', count(*) - 1, ']')),
            json_extract(json_arrayagg(c.entry), concat('$[', count(*) - 1, ']'))
        into out_entries, out_rows, v_rank, v_place, v_entry
        from (
            select q.entry, q.ready_rank, q.ready_at from delayed_queue q force index (delayed_queue_ready)
            where q.ready_kind = in_kind and (q.ready_rank = out_rank and q.ready_at = out_place and q.entry > out_entry
                    or q.ready_rank = out_rank and q.ready_at > out_place or q.ready_rank > out_rank)
                and q.scheduled_at <= in_now and (in_path is null or q.pending or may match(q))
            order by q.ready_rank, q.ready_at, q.entry limit in_many) c;
    end if;
    if out_rows > 0 then
        set out_rank = v_rank, out_place = v_place, out_entry = v_entry;
    end if;
end;
