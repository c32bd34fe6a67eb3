-- calls: _queue_begin, _queue_check_count, _queue_check_name, _queue_check_options, _queue_check_roles,
--     _queue_commit, _queue_first_of, _queue_look_where, _queue_matches, _queue_undo, _queue_where, queue_now
create procedure queue_peek(in in_kind text collate exact, in in_max_messages int, in in_options longtext)
    comment 'Looks at messages of a kind and changes nothing.
in_kind: the kind.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: which ones.
- where: shows only messages that contain this object, as in queue_reserve. The call reads what stands before them,
  whatever index the kind has. Allowed: an object of at most 16 values. Default: all messages.
Result: the columns, times in microseconds, state and errors (see queue_get), in the order of delivery: first what is
ready or held in its place, then what waits for its time, then what waits in the lines of order keys and semaphores.
Where more waits in lines than is asked for, the lines decide which of it is shown.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages, PQ002 for options.
Locks: none.
differs: with where, what waits in lines isn''t shown.'
begin
    declare v_own boolean;
    declare v_now bigint;
    declare v_where, v_entries, v_list, v_payload, v_headers longtext;
    declare v_most int default coalesce(in_max_messages, 1);
    declare v_path, v_text longtext collate exact;
    declare v_number double;
    declare v_rank int default -32768;
    declare v_place, v_entry, v_one bigint default 0;
    declare v_rows, v_found int;
    declare v_matches boolean;
    declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
    call _queue_begin(v_own);
    call queue_now(v_now);
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    call _queue_check_count(v_most, 'max_messages', 10000);
    call _queue_check_options(in_options, 'where', 'options');
    call _queue_where(in_options, v_where);
    if v_where is not null then
        set v_entries = '[]';
        call _queue_first_of(v_where, v_path, v_text, v_number);
        parts: loop -- as many of the ready line, and then of the timetable
            set v_found = 0, v_rows = 1000;
            while v_rows > 0 and v_found < v_most do
                call _queue_look_where(in_kind, 9223372036854775807, 1000, v_path, v_text, v_number, v_rank, v_place,
                    v_entry, v_list, v_rows);
                set v_one = 0;
                while v_one < v_rows and v_found < v_most do
                    call _queue_matches(json_extract(v_list, concat('$[', v_one, ']')), v_where, v_matches, v_payload,
                        v_headers);
                    if v_matches then
                        set v_entries = json_array_append(v_entries, '$',
                            json_extract(v_list, concat('$[', v_one, ']'))), v_found = v_found + 1;
                    end if;
                    set v_one = v_one + 1;
                end while;
            end while;
            if v_rank is null then
                leave parts;
            end if;
            set v_rank = null, v_place = 0, v_entry = 0;
        end loop;
    end if;
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
        q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
        case when q.reserved_at is null and q.ready_at is null and q.due_at is null then 'waiting'
            when q.reserved_at is null then if(q.scheduled_at <= v_now, 'ready', 'scheduled')
            else if(q.scheduled_at <= v_now, 'expired', 'reserved') end as state, q.errors
    from (
        (select e.entry, if(e.ready_rank is not null or e.scheduled_at <= v_now, 1, 2) as part,
                if(e.ready_rank is not null or e.scheduled_at <= v_now, -e.priority, null) as turn,
                coalesce(e.ready_at, e.due_at) as place
            from messages(v_entries) e)
        union all
        (select l.entry, 1 as part, l.ready_rank as turn, l.ready_at as place
            from delayed_queue l force index (delayed_queue_ready)
            where l.ready_kind = in_kind and v_where is null order by l.ready_rank, l.ready_at, l.entry limit v_most)
        union all
        (select t.entry, if(t.scheduled_at <= v_now, 1, 2), if(t.scheduled_at <= v_now, -t.priority, null), t.due_at
            from delayed_queue t force index (delayed_queue_due)
            where t.p_kind = in_kind and t.due_at is not null and v_where is null
            order by t.p_kind, t.due_at limit v_most)
        union all
        (select w.entry, 3, null, w.entry from queue_order_waiting w
            where w.p_kind = in_kind and v_where is null
            order by w.p_kind, w.order_key, w.entry limit v_most)
        union all
        (select w.entry, 3, null, w.entry from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
            where w.p_kind = in_kind and v_where is null order by w.p_kind, w.name, w.entry limit v_most)) p
        straight_join delayed_queue q force index (primary) on q.entry = p.entry
    order by p.part, p.turn, p.place, p.entry limit v_most;
    call _queue_commit(v_own);
end;
