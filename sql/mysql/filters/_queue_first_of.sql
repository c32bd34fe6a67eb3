create procedure _queue_first_of(in in_where longtext, out out_path longtext collate exact,
    out out_text longtext collate exact, out out_number double)
    comment 'The value of a filter that is looked for first: the longest one that stands in no array.
in_where: the filter, see _queue_where.
out_path: where it stands, a JSON path; NULL: there is none. out_text: what it is, without its quotes. out_number: the
same where it is a number.
differs: PostgreSQL has an operator for the whole filter.'
begin
    declare v_value longtext collate exact;
    declare continue handler for not found begin end;
    set out_path = null, out_text = null, out_number = null;
    select concat('$', w.p), w.c into out_path, v_value from leaves(in_where) w
    where right(w.p, 2) <> '[]' and w.c not in ('{}', '[]')
        /*M!100600 and locate('."-', w.p) = 0 */ -- no path finds a name that begins so
        order by w.c in ('true', 'false', 'null'), char_length(json_unquote(w.c)) desc, w.p limit 1;
    if v_value regexp '^[-0-9]' then
        set out_number = v_value + 0e0;
    else
        set out_text = json_unquote(v_value);
    end if;
end;
