-- calls: _queue_fail, _queue_is_receipt
create or replace function _queue_receipts(in_receipts jsonb, out receipts text[], out entries bigint[],
    out secrets bytea[], out places bigint[]) language plpgsql as $$
declare
    v_bad bigint;
begin
    in_receipts := coalesce(nullif(in_receipts, 'null'), '[]');
    if jsonb_typeof(in_receipts) <> 'array' or jsonb_array_length(in_receipts) > 10000 then
        perform _queue_fail('PQ005', 'receipts', in_receipts::text, 'must be a JSON array of at most 10000 receipts');
    end if;
    select coalesce(array_agg(e.receipt), '{}'),
        min(e.n) filter (where _queue_is_receipt(e.receipt) is not true) into receipts, v_bad
    from jsonb_array_elements_text(in_receipts) with ordinality e (receipt, n);
    if v_bad is not null then
        perform _queue_fail('PQ005', 'receipts', coalesce(receipts[v_bad], 'null'),
            'must be what queue_reserve answered');
    end if;
    select coalesce(array_agg(s.entry), '{}'), coalesce(array_agg(s.secret), '{}'), coalesce(array_agg(s.n), '{}')
    into entries, secrets, places
    from (
        select distinct on (1, 2) left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret,
            e.n
        from unnest(receipts) with ordinality e (receipt, n) order by 1, 2, 3) s;
end $$;

comment on function _queue_receipts(jsonb) is
$$Takes an array of receipts apart.
in_receipts: a JSON array of what queue_reserve answered, at most 10000; NULL: none.
Result: the receipts as they came; entries, secrets and places (from 1, where a receipt stands first), each receipt once
and in the order of the entries, which is the order in which every routine locks rows.
Errors: PQ005 with the first that has another form.$$;
