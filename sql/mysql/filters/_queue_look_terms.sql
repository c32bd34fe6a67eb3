create procedure _queue_look_terms(in in_kind text collate exact, in in_now bigint, in in_term bigint,
    in in_other bigint, in in_path longtext collate exact, in in_text longtext collate exact, in in_number double,
    inout out_place bigint, inout out_entry bigint, out out_entries longtext character set utf8mb4, out out_rows int,
    out out_gone longtext character set utf8mb4)
    comment 'Looks through the index of filters for messages that a filter may match, without a lock, 1000 rows at a
time.
in_kind: the kind. in_now: the time of the call. in_term, in_other: the terms to look for. in_path, in_text, in_number:
see _queue_first_of.
out_place, out_entry: from behind which row on, and the last one. out_entries: a JSON array of entries, in the order of
delivery; NULL for none.
out_rows: how many rows were looked at. out_gone: entries of messages that have gone.
differs: on PostgreSQL it is a part of _queue_find_terms.'
begin
    declare v_rows longtext character set utf8mb4;
    select json_arrayagg(json_array(w.entry, w.place)), count(*) into v_rows, out_rows
    from (
        select r.entry, r.place from (
            (select t.entry, t.place from queue_term t force index (queue_term_place)
                where t.term = in_term and t.place between out_place and in_now
                    and (t.place > out_place or t.entry > out_entry)
                order by t.place, t.entry limit 1000)
            union all
            (select o.entry, o.place from queue_term o force index (queue_term_place)
                where o.term = in_other and o.place between out_place and in_now
                    and (o.place > out_place or o.entry > out_entry)
                order by o.place, o.entry limit 1000)) r
        order by r.place, r.entry limit 1000) w;
    set out_entry = json_extract(v_rows, concat('$[', out_rows - 1, '][0]')),
        out_place = json_extract(v_rows, concat('$[', out_rows - 1, '][1]')), out_entries = null, out_gone = null;
    if out_rows > 0 then
        select json_arrayagg(g.entry) into out_gone
        from (
            select j.entry from json_table(v_rows, '$[*]' columns (entry bigint path '$[0]')) j
                left join delayed_queue q force index (primary) on q.entry = j.entry where q.entry is null) g;
        select json_arrayagg(c.entry) into out_entries
        from (
            select q.entry
            from json_table(v_rows, '$[*]' columns (entry bigint path '$[0]')) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry
            where q.p_kind = in_kind and q.scheduled_at <= in_now and (q.ready_rank is not null or q.due_at <= in_now)
                and (in_path is null or /*M!100600 if(locate('\\', q.payload) > 0, true, */ if(in_number is null,
                    json_unquote(json_extract(q.payload, in_path)) = in_text,
                    if(json_type(json_extract(q.payload, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE',
                    'DECIMAL'), json_extract(q.payload, in_path) + 0e0 = in_number, false)) /*M!100600 ) */
                or /*M!100600 if(locate('\\', q.headers) > 0, true, */ if(in_number is null,
                    json_unquote(json_extract(q.headers, in_path)) = in_text,
                    if(json_type(json_extract(q.headers, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE',
                    'DECIMAL'), json_extract(q.headers, in_path) + 0e0 = in_number, false)) /*M!100600 ) */)
            order by -q.priority, coalesce(q.ready_at, q.due_at), q.entry limit 1000) c;
    end if;
end;
