-- calls: _queue_key
create procedure _queue_add_keys(inout out_messages longtext character set utf8mb4, in in_now bigint)
    comment 'A key for each message of a batch that came without, one behind another in the order of the batch.
out_messages: those of queue_push_many, an array. in_now: the time of the call.
Result: the messages; what is no object is left as it is.
Where the idea comes from: RFC 9562, section 6.2, method 2.
differs: the result is out_messages, which is the messages before, too.'
begin
    declare v_key text collate exact;
    declare v_first bigint;
    call _queue_key(in_now, v_key);
    set v_first = conv(right(v_key, 12), 16, 10);
    select json_arrayagg(if(json_type(m.message) = 'OBJECT' and coalesce(json_type(json_extract(m.message, '$.key')),
        'NULL') = 'NULL', json_set(m.message, '$.key', m.p_key), json_extract(m.message, '$')))
    into out_messages
    from (
        select j.message, concat(left(v_key, 24), lpad(lower(hex((v_first + j.place) % 281474976710656)), 12, '0'))
            as p_key
        from json_table(out_messages, '$[*]' columns (place for ordinality, message json path '$')) j
        limit 1000000000) m;
end;
