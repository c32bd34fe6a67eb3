-- calls: _queue_epoch
-- changes: delayed_queue
drop procedure if exists _queue_push_plain;
delimiter $$
create procedure _queue_push_plain(in in_kind text collate exact, in in_messages longtext character set utf8mb4,
    in in_now bigint, in in_scheduled_at bigint, in in_priority smallint, in in_headers longtext character set utf8mb4,
    in in_attempts int, in in_max_attempts int, out out_outcomes longtext character set ascii)
    comment 'queue_push_many for messages that are a key and a payload each, in a few statements for all of them; taken
keys are left alone.
A payload must be small beside sort_buffer_size: MySQL sorts it with its key, and fails where it can''t.
in_kind, in_messages: those of queue_push_many, an array. in_now: the time of the call. The other parameters are the
columns, the same for all.
out_outcomes: a letter a message, in their order: c for created, i for ignored; NULL where one of them is something
else, which is left to _queue_push_batch.
Locks: keys are put in in their order; a key that is there already is seen without a lock, as in _queue_put.
differs: on PostgreSQL it is a part of queue_push_many.'
begin
    declare v_entries longtext character set ascii;
    declare v_odd int;
    declare v_shift bigint;
    call _queue_epoch(v_shift);
    -- the numbers of the entries, of 19 digits each, in the order of the batch; regexp_replace took longer than all the
    -- rest
    /*M!100600 set statement group_concat_max_len = 1000000000 for */
    select replace(replace(replace(replace(json_arrayagg(m.entry), '[', ''), '"', ''), ',', ''), ' ', ''),
        sum(not m.plain)
    into v_entries, v_odd
    from (
        select lpad(((uuid_short() << 8) & 9223372036854775807) + v_shift, 19, '0') as entry,
            (json_length(j.message) = 2 and json_type(j.name) = 'STRING'
            and char_length(j.p_key) between 1 and 200
                and length(j.payload) <= @@sort_buffer_size div 16) is true as plain
        from json_table(in_messages, '$[*]' columns (message json path '$', name json path '$.key',
            p_key varchar(201) character set utf8mb4 path '$.key', payload json path '$.payload')) j
            limit 1000000000) m;
    set out_outcomes = null;
    if v_odd = 0 then
        insert into delayed_queue (entry, p_kind, p_key, payload, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at)
        select cast(substr(v_entries, 19 * r.place - 18, 19) as signed), in_kind, r.p_key, r.payload, in_headers,
            in_priority, in_scheduled_at, in_scheduled_at, in_now, in_attempts, in_max_attempts,
            if(in_scheduled_at <= in_now, -in_priority, null), if(in_scheduled_at <= in_now, in_scheduled_at, null),
            if(in_scheduled_at > in_now, in_scheduled_at, null)
        from json_table(in_messages, '$[*]' columns (place for ordinality,
                p_key varchar(200) collate exact path '$.key', payload json path '$.payload')) r
            left join delayed_queue q force index (delayed_queue_key) on q.p_kind = in_kind and q.p_key = r.p_key
        where q.entry is null
        order by r.p_key, r.place
        on duplicate key update entry = delayed_queue.entry;
        -- looked at, as in _queue_put
        /*M!100600 set statement group_concat_max_len = 1000000000 for */
        select replace(replace(replace(replace(json_arrayagg(s.letter), '[', ''), '"', ''), ',', ''), ' ',
            '') into out_outcomes
        from (
            select if(q.entry is null, 'i', 'c') as letter
            from json_table(in_messages, '$[*]' columns (place for ordinality)) r
                left join delayed_queue q force index (primary)
                    on q.entry = cast(substr(v_entries, 19 * r.place - 18, 19) as signed)
            order by r.place limit 1000000000) s;
    end if;
end $$
delimiter ;
