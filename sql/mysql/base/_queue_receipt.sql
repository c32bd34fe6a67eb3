-- calls: _queue_fail
create procedure _queue_receipt(in in_receipt text, out out_entry bigint, out out_secret binary(16))
    comment 'Takes a receipt apart.
in_receipt: what queue_reserve answered.
Result: the entry it names and the secret of the delivery.
Errors: PQ005 where it has another form.'
begin
    begin
        declare continue handler for sqlexception begin end;
        set out_entry = cast(substring_index(in_receipt, '-', 1) as signed), out_secret = unhex(right(in_receipt, 32));
    end;
    -- written as it was answered, as nearly every one is, it needs no regexp, which takes as long as the ack itself
    if (in_receipt collate utf8mb4_bin = concat(out_entry, '-', lower(hex(out_secret)))) is not true
        and _queue_is_receipt(in_receipt) is not true then
        call _queue_fail('PQ005', 'receipt', in_receipt, 'must be what queue_reserve answered');
    end if;
end;
