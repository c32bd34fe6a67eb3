create or replace function _queue_receipt(in_receipt text, out entry bigint, out secret uuid) language plpgsql as $$
begin
    if in_receipt is null or in_receipt !~ '^[1-9][0-9]{0,17}-[0-9a-f]{32}$' then
        perform _queue_fail('PQ005', 'receipt', in_receipt, 'must be what queue_reserve answered');
    end if;
    entry := split_part(in_receipt, '-', 1)::bigint;
    secret := split_part(in_receipt, '-', 2)::uuid;
end $$;

comment on function _queue_receipt(text) is
$$Takes a receipt apart.
in_receipt: what queue_reserve answered.
Result: the entry it names and the secret of the delivery.
Errors: PQ005 where it has another form.$$;
