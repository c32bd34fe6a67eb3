-- calls: _queue_first_of, _queue_look_due, _queue_look_line, _queue_matches
create procedure _queue_peek_where(in in_kind text collate exact, in in_most int,
    in in_where longtext character set utf8mb4, in in_now bigint, out out_entries longtext character set utf8mb4)
    comment 'The messages that queue_peek with a filter shows, and perhaps a few more.
in_where: the filter, see _queue_where. in_now: the time of the call. The other parameters are those of queue_peek.
out_entries: a JSON array of entries, in no order.
differs: on PostgreSQL it is a part of queue_peek.'
begin
    declare v_path, v_text longtext collate exact;
    declare v_number double;
    declare v_rank int default -32768;
    declare v_place, v_entry, v_one bigint default 0;
    declare v_rows, v_found int;
    declare v_matches, v_line boolean default true;
    declare v_list, v_payload, v_headers longtext character set utf8mb4;
    set out_entries = '[]';
    call _queue_first_of(in_where, v_path, v_text, v_number);
    parts: loop
        set v_found = 0, v_rows = 1000;
        while v_rows > 0 and v_found < in_most do
            if v_line then
                call _queue_look_line(in_kind, 9223372036854775807, 1000, v_path, v_text, v_number, v_rank, v_place,
                    v_entry, v_list, v_rows);
            else
                call _queue_look_due(in_kind, 9223372036854775807, 1000, v_path, v_text, v_number, v_place, v_entry,
                    v_list, v_rows);
            end if;
            set v_one = 0;
            while v_one < v_rows and v_found < in_most do
                call _queue_matches(json_extract(v_list, concat('$[', v_one, ']')), in_where, v_matches, v_payload,
                    v_headers);
                if v_matches then
                    set out_entries = json_array_append(out_entries, '$',
                        json_extract(v_list, concat('$[', v_one, ']'))), v_found = v_found + 1;
                end if;
                set v_one = v_one + 1;
            end while;
        end while;
        if not v_line then
            leave parts;
        end if;
        set v_line = false, v_place = 0, v_entry = 0;
    end loop;
end;
