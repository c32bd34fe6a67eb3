drop procedure if exists _queue_permit_used;
delimiter $$
create procedure _queue_permit_used(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_rate decimal(30,6), in in_number int)
    comment 'Counts the tokens that were used.
in_kind: the kind. in_rate: its rate_per_second. in_number: how many messages were delivered.
Locks: a part of the bucket that is locked already.
differs: on PostgreSQL it puts the deliveries in their places, too. In a caller''s transaction what is left is given back at once: if it is undone, the tokens are as they were.'
begin
    declare v_path longtext character set ascii default concat('$.k', hex(concat(database(), '.', in_kind)));
    declare v_tokens bigint default coalesce(json_extract(@pyqueue_limits, concat(v_path, '[1]')), 0) - coalesce(in_number, 0);
    declare v_part int default json_extract(@pyqueue_limits, concat(v_path, '[3]'));
    if v_tokens > 0 and not @pyqueue_own then
        update queue_bucket b
        set b.spent_at = b.spent_at - round(1000000000 * least(greatest(floor(in_rate), 1), 16) / in_rate * v_tokens)
        where b.p_kind = in_kind and b.part = v_part;
        set v_tokens = 0;
    end if;
    set @pyqueue_limits = json_set(@pyqueue_limits, concat(v_path, '[1]'), v_tokens + 0);
end $$
delimiter ;
