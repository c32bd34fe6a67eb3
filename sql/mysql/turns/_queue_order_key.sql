-- calls: _queue_fail, _queue_text
drop procedure if exists _queue_order_key;
delimiter $$
create procedure _queue_order_key(in in_options longtext character set utf8mb4,
    in in_message longtext character set utf8mb4, out out_order varchar(200) collate exact)
    comment 'The order key of a push, checked.
in_options: those of a push; NULL for none. in_message: a message of a batch, whose own order key wins; NULL: there is
no batch.
Result: the order key; NULL: none.
Errors: PQ002.
differs: the result is out_order.'
begin
    declare v_order longtext collate exact;
    call _queue_text(if(json_contains_path(in_message, 'one', '$.order_key'), in_message, in_options), 'order_key',
        v_order);
    if char_length(v_order) not between 1 and 200 then
        call _queue_fail('PQ002', 'order_key', v_order, 'must have 1 to 200 characters');
    end if;
    set out_order = v_order;
end $$
delimiter ;
