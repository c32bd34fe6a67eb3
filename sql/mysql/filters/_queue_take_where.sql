-- calls: _queue_find_terms, _queue_first_of, _queue_look_where, _queue_take_candidates
create procedure _queue_take_where(in in_kind text collate exact, in in_max int, in in_now bigint, in in_most int,
    in in_where longtext, out out_entries longtext, out out_number int, out out_expired int, out out_ends int)
    comment 'The next messages of a kind that a filter matches, in the order of delivery, locked: what _queue_take does
for calls without one. It neither uses nor changes the cursor of the session.
in_kind: the kind. in_max: how many. in_now: the time of the call. in_most: how many deliveries a message of the kind
may have. in_where: the filter, see _queue_where.
Result: see _queue_scan.
Without a filter_index, or where the filter has nothing but empty objects and arrays, the ready line is read from its
beginning until in_max match, and all that has come due: as many messages as stand before them. With it see
_queue_find_terms.
What was pushed onto a hold that has expired may match: such a message is taken, to be ended and make room for that.
Locks: the messages; what others have locked is passed over.
differs: looks first, and locks what it found, see _queue_take_candidates.'
begin
    declare v_path, v_text longtext collate exact;
    declare v_number double;
    declare v_rank int;
    declare v_place, v_entry bigint default 0;
    declare v_rows, v_many int;
    declare v_list, v_due longtext;
    declare v_filter boolean default false;
    declare v_one, v_two, v_three int default 0;
    declare continue handler for not found begin end;
    set out_entries = '[]', out_number = 0, out_expired = 0, out_ends = 0;
    select k.filter_index into v_filter from queue_kind k where k.p_kind = in_kind;
    call _queue_first_of(in_where, v_path, v_text, v_number);
    if v_filter and exists (select 1
        from leaves(in_where) w
        where w.c not in ('{}', '[]')) then
        call _queue_find_terms(in_kind, in_max, in_now, in_most, in_where, v_path, v_text, v_number, out_entries,
            out_number, out_expired, out_ends);
    else
        -- what has come due and is asked for, and as much of it, goes into the line first
        set v_due = '[]', v_rows = 1000;
        while v_rows = 1000 and v_one < in_max do
            call _queue_look_where(in_kind, in_now, 1000, v_path, v_text, v_number, v_rank, v_place, v_entry, v_list,
                v_rows);
            if v_rows > 0 then
                select json_arrayagg(c.entry) into v_list
                from (
                    select q.entry from messages(v_list) q order by q.priority desc, q.due_at, q.entry limit 1000) c;
                call _queue_take_candidates(in_kind, v_list, in_max, in_now, in_most, in_where, v_due, v_one, v_two,
                    v_three);
            end if;
        end while;
        set v_many = greatest(in_max, 20), v_rows = v_many, v_rank = -32768, v_place = 0, v_entry = 0;
        while v_rows > 0 and out_number < in_max do
            call _queue_look_where(in_kind, in_now, v_many, v_path, v_text, v_number, v_rank, v_place, v_entry, v_list,
                v_rows);
            call _queue_take_candidates(in_kind, v_list, in_max, in_now, in_most, in_where, out_entries, out_number,
                out_expired, out_ends);
            set v_many = least(4 * v_many, greatest(in_max, 5000));
        end while;
    end if;
    set out_entries = nullif(out_entries, '[]');
end;
