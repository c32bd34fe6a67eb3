-- calls: _queue_forget_terms, _queue_look_terms, _queue_take_candidates
create procedure _queue_find_terms(in in_kind text collate exact, in in_max int, in in_now bigint, in in_most int,
    in in_where longtext character set utf8mb4, in in_path longtext collate exact, in in_text longtext collate exact,
    in in_number double, inout out_entries longtext character set utf8mb4, inout out_number int, inout out_expired int,
    inout out_ends int)
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
    declare v_list, v_gone longtext character set utf8mb4;
    select json_arrayagg(h.term) into v_list
    from (
        select cast(conv(left(sha2(concat(in_kind, w.p, '=', w.c), 256), 15), 16, 10) as signed) as term
        from json_table(in_where, '$[*]'
            columns (p longtext collate exact path '$.p', c longtext collate exact path '$.c')) w
            where w.c not in ('{}', '[]')) h;
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
        call _queue_look_terms(in_kind, in_now, v_term, v_other, in_path, in_text, in_number, v_place, v_entry, v_list,
            v_rows, v_gone);
        if v_gone is not null then
            call _queue_forget_terms(v_gone, v_gone_rows);
        end if;
        call _queue_take_candidates(in_kind, v_list, in_max, in_now, in_most, in_where, out_entries, out_number,
            out_expired, out_ends);
    end while;
end;
