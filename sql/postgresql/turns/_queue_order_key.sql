-- calls: _queue_fail, _queue_text
create or replace function _queue_order_key(in_options jsonb, in_message jsonb) returns text language plpgsql as $$
declare
    v_order constant text := _queue_text(case when in_message ? 'order_key' then in_message
        else in_options end, 'order_key');
begin
    if char_length(v_order) not between 1 and 200 then
        perform _queue_fail('PQ002', 'order_key', v_order, 'must have 1 to 200 characters');
    end if;
    return v_order;
end $$;

comment on function _queue_order_key(jsonb, jsonb) is
$$The order key of a push, checked.
in_options: those of a push; NULL for none. in_message: a message of a batch, whose own order key wins; NULL: there is
no batch.
Result: the order key; NULL: none.
Errors: PQ002.$$;
