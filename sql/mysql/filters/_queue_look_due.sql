create procedure _queue_look_due(in in_kind text collate exact, in in_now bigint, in in_many int,
    in in_path longtext collate exact, in in_text longtext collate exact, in in_number double,
    inout out_place bigint, inout out_entry bigint, out out_entries longtext character set utf8mb4, out out_rows int)
    comment 'Looks through the timetable for messages that a filter may match, without a lock.
in_kind: the kind. in_now: what is due later than that is passed over. in_many: how many. in_path, in_text, in_number:
see _queue_first_of.
out_place, out_entry: from behind which date on, and that of the last one found. out_entries: a JSON array of entries,
by their dates; NULL for none. out_rows: how many. Whether all of the filter matches see _queue_matches.
differs: on PostgreSQL it is a part of _queue_take_where.'
begin
    select json_arrayagg(c.entry), count(*), json_extract(json_arrayagg(c.due_at), concat('$[', count(*) - 1, ']')),
        json_extract(json_arrayagg(c.entry), concat('$[', count(*) - 1, ']'))
    into out_entries, out_rows, out_place, out_entry
    from (
        select q.entry, q.due_at from delayed_queue q force index (delayed_queue_due)
        where q.p_kind = in_kind and q.due_at between out_place and in_now
            and (q.due_at > out_place or q.entry > out_entry)
            and (in_path is null or /*M!100600 if(locate('\\', q.payload) > 0, true, */ if(in_number is null,
                json_unquote(json_extract(q.payload, in_path)) = in_text,
                if(json_type(json_extract(q.payload, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'),
                json_extract(q.payload, in_path) + 0e0 = in_number, false)) /*M!100600 ) */
            or /*M!100600 if(locate('\\', q.headers) > 0, true, */ if(in_number is null,
                json_unquote(json_extract(q.headers, in_path)) = in_text,
                if(json_type(json_extract(q.headers, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'),
                json_extract(q.headers, in_path) + 0e0 = in_number, false)) /*M!100600 ) */)
        order by q.due_at, q.entry limit in_many) c;
end;
