-- calls: _queue_check_json, _queue_fail
create procedure _queue_receipts(in in_receipts longtext, out out_list longtext, out out_number int)
    comment 'Takes an array of receipts apart.
in_receipts: a JSON array of what queue_reserve answered, at most 10000; NULL: none.
Result: the receipts as they came; entries, secrets and places (from 1, where a receipt stands first), each receipt once
and in the order of the entries, which is the order in which every routine locks rows.
Errors: PQ005 with the first that has another form; PQ003 for JSON that no server could hold.'
begin
    declare v_bad longtext;
    if in_receipts is null or length(in_receipts) < 99 and in_receipts regexp '^[[:space:]]*null[[:space:]]*$' then
        set in_receipts = '[]';
    end if;
    if locate('{', cast(in_receipts as binary)) > 0 or locate('[', cast(in_receipts as binary), 2) > 0 then
        -- no array of receipts has these
        call _queue_check_json(in_receipts, 'PQ003', 'receipts');
    end if;
    if not json_valid(in_receipts) or json_type(in_receipts) <> 'ARRAY' or json_length(in_receipts) > 10000 then
        call _queue_fail('PQ005', 'receipts', in_receipts, 'must be a JSON array of at most 10000 receipts');
    end if;
    set out_number = json_length(in_receipts);
    select substr(min(concat(lpad(r.n, 5, '0'), coalesce(r.receipt, 'null'))), 6) into v_bad
    from unnest(in_receipts) r (n for ordinality, receipt longtext)
    where _queue_is_receipt(r.receipt) is not true;
    if v_bad is not null then
        call _queue_fail('PQ005', 'receipts', v_bad, 'must be what queue_reserve answered');
    end if;
    select coalesce(json_arrayagg(json_array(s.entry, s.secret, s.n)), '[]') into out_list
    from (
        select cast(left(r.receipt, char_length(r.receipt) - 33) as signed) as entry, right(r.receipt, 32) as secret,
            min(r.n) as n
        from unnest(in_receipts) r (n for ordinality, receipt varchar(60))
        group by 1, 2 order by 1 limit 10000) s; -- without a limit MySQL leaves out the order
end;
