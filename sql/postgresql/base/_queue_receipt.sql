-- calls: _queue_fail, _queue_is_receipt
create or replace function _queue_receipt(in_receipt text, out entry bigint, out secret bytea) language plpgsql as $$
begin
    if _queue_is_receipt(in_receipt) is not true then
        perform _queue_fail('PQ005', 'receipt', in_receipt, 'must be what queue_reserve answered');
    end if;
    entry := left(in_receipt, -33)::bigint;
    secret := decode(right(in_receipt, 32), 'hex');
end $$;

comment on function _queue_receipt(text) is
$$Takes a receipt apart.
in_receipt: what queue_reserve answered.
Result: the entry it names and the secret of the delivery.
Errors: PQ005 where it has another form.$$;
