-- calls: _queue_forget_terms, _queue_take_candidates
create procedure _queue_find_terms(in in_kind text collate exact, in in_max int, in in_now bigint, in in_most int,
    in in_where longtext, in in_path longtext collate exact, in in_text longtext collate exact, in in_number double,
    inout out_entries longtext, inout out_number int, inout out_expired int, inout out_ends int)
    comment 'The next messages of a kind that a filter matches, locked, by the index that queue_term is: those that have
the rarest value of the filter (the rarest of those that fewer than 1000 have, else any), 1000 at a time, by when they
came due; of these in the order of delivery. So priorities are exact among 1000, and the cost is that of as many
messages as have that value and stand before the last one taken, those that are held and those given back for later
among them.
in_path, in_text, in_number: see _queue_first_of. The other parameters are those of _queue_take_where; to out_entries
and the counts what is taken is added.
Locks: the messages; what others have locked is passed over.'
begin
    declare v_term, v_one, v_gone_rows bigint;
    declare v_at, v_many int default 0;
    declare v_least int default 1001;
    declare v_other bigint default cast(conv(left(sha2(concat(in_kind, '', '=', ''), 256), 15), 16, 10) as signed);
    declare v_place, v_entry bigint default 0;
    declare v_rows int default 1000;
    declare v_list, v_found, v_gone longtext;
    declare v_name longblob default concat('"', substring_index(in_path, '."', -1)); -- see _queue_look_where
    select json_arrayagg(h.term) into v_list
    from (
        select cast(conv(left(sha2(concat(in_kind, w.p, '=', w.c), 256), 15), 16, 10) as signed) as term
        from leaves(in_where) w where w.c not in ('{}', '[]')) h;
    while v_at < json_length(v_list) do -- the rarest
        set v_one = json_extract(v_list, concat('$[', v_at, ']')), v_at = v_at + 1;
        if json_length(v_list) > 1 then
            select count(*) into v_many from (
                select 1 from queue_term t force index (queue_term_place)
                    where t.term = v_one and t.place <= in_now limit 1000) c;
        end if;
        if v_many < v_least then
            set v_term = v_one, v_least = v_many;
        end if;
    end while;
    while v_rows = 1000 and out_number < in_max do
        select json_arrayagg(json_array(w.entry, w.place)), count(*) into v_found, v_rows
        from (
            select r.entry, r.place from (
                (select t.entry, t.place from queue_term t force index (queue_term_place)
                    where t.term = v_term and t.place between v_place and in_now
                        and (t.place > v_place or t.entry > v_entry)
                    order by t.place, t.entry limit 1000)
                union all
                (select o.entry, o.place from queue_term o force index (queue_term_place)
                    where o.term = v_other and o.place between v_place and in_now
                        and (o.place > v_place or o.entry > v_entry)
                    order by o.place, o.entry limit 1000)) r
            order by r.place, r.entry limit 1000) w;
        set v_entry = json_extract(v_found, concat('$[', v_rows - 1, '][0]')),
            v_place = json_extract(v_found, concat('$[', v_rows - 1, '][1]'));
        if v_rows > 0 then
            select json_arrayagg(g.entry) into v_gone
            from (
                select j.entry from json_table(v_found, '$[*]' columns (entry bigint path '$[0]')) j
                    left join delayed_queue q force index (primary) on q.entry = j.entry where q.entry is null) g;
            select json_arrayagg(c.entry) into v_list
            from (
                select q.entry
                from json_table(v_found, '$[*]' columns (entry bigint path '$[0]')) j
                    straight_join delayed_queue q force index (primary) on q.entry = j.entry
                where q.p_kind = in_kind and q.scheduled_at <= in_now
                    and (q.ready_rank is not null or q.due_at <= in_now)
                    and (in_path is null or q.pending or may match(q))
                order by -q.priority, coalesce(q.ready_at, q.due_at), q.entry limit 1000) c;
            if v_gone is not null then
                call _queue_forget_terms(v_gone, v_gone_rows);
            end if;
            call _queue_take_candidates(in_kind, v_list, in_max, in_now, in_most, in_where, out_entries, out_number,
                out_expired, out_ends);
        end if;
    end while;
end;
