-- calls: _queue_advance
-- changes: queue_order
drop procedure if exists _queue_advance_each;
delimiter $$
create procedure _queue_advance_each(in in_list longtext character set utf8mb4, in in_now bigint)
    comment 'Messages of several lines have ended, in this transaction: _queue_advance for each, in one go where nobody
waits behind them.
in_list: a JSON array of [kind, order key, entry]. in_now: the time of the call.
Locks: the lines, in their order, and the next of each, until the transaction ends.
differs: PostgreSQL has _queue_advance alone.'
begin
    declare v_kind varchar(100) collate exact;
    declare v_order varchar(200) collate exact;
    declare v_entry, v_waiting bigint;
    declare v_done boolean default false;
    declare c cursor for
        select j.p_kind, j.order_key, j.entry
        from json_table(in_list, '$[*]' columns (p_kind varchar(100) collate exact path '$[0]',
            order_key varchar(200) collate exact path '$[1]', entry bigint path '$[2]')) j
        order by j.p_kind, j.order_key, j.entry;
    declare continue handler for not found set v_done = true;
    select count(*) into v_waiting
    from (
        select o.first
        from json_table(in_list, '$[*]' columns (p_kind varchar(100) collate exact path '$[0]',
            order_key varchar(200) collate exact path '$[1]', entry bigint path '$[2]')) j
            straight_join queue_order o force index (primary) on o.p_kind = j.p_kind and o.order_key = j.order_key
        order by j.p_kind, j.order_key limit 1000000000 for update /*!80000 of o */) l;
    -- not in the same statement: what it reads is as old as its beginning
    select count(*) into v_waiting
    from json_table(in_list, '$[*]' columns (p_kind varchar(100) collate exact path '$[0]',
            order_key varchar(200) collate exact path '$[1]', entry bigint path '$[2]')) j
        straight_join queue_order_waiting w force index (primary) on w.p_kind = j.p_kind and w.order_key = j.order_key
    for update /*!80000 of w */;
    if v_waiting = 0 then
        /*M!100600 set statement sql_safe_updates = 0 for */
        delete o from json_table(in_list, '$[*]' columns (p_kind varchar(100) collate exact path '$[0]',
            order_key varchar(200) collate exact path '$[1]', entry bigint path '$[2]')) j
            straight_join queue_order o force index (primary) on o.p_kind = j.p_kind and o.order_key = j.order_key
                and o.first = j.entry;
    else
        open c;
        messages: loop
            fetch c into v_kind, v_order, v_entry;
            if v_done then
                leave messages;
            end if;
            call _queue_advance(v_kind, v_order, v_entry, in_now);
        end loop;
        close c;
    end if;
end $$
delimiter ;
