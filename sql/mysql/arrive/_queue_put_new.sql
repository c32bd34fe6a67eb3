-- calls: _queue_is_remembered, _queue_put
-- changes: delayed_queue
drop procedure if exists _queue_put_new;
delimiter $$
create procedure _queue_put_new(in in_entry bigint, in in_kind text collate exact, in in_key text collate exact,
    in in_payload longtext character set utf8mb4, in in_payload_bytes longblob,
    in in_headers longtext character set utf8mb4, in in_priority smallint, in in_now bigint, in in_scheduled_at bigint,
    in in_attempts int, in in_max_attempts int, in in_on_duplicate varchar(20) character set utf8mb4,
    in in_since bigint, out out_scheduled_at bigint, out out_outcome varchar(10) character set utf8mb4)
    comment 'Puts one message into a kind, unless its key is remembered: what is pushed, but not what is moved or sent
back.
in_since: a key is remembered that has ended after this time, in microseconds; NULL: none is. The other parameters, the
result and the locks are those of _queue_put.
differs: on PostgreSQL the end of a message can become visible while a push waits for it, see _queue_take_back there;
here the memory is read again once the message is in, and by a locking read, which sees what is committed.'
begin
    declare v_remembered boolean default false;
    if in_since is not null then
        call _queue_is_remembered(in_kind, in_key, in_since, v_remembered);
    end if;
    if not v_remembered then
        call _queue_put(in_entry, in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_priority, in_now,
            in_scheduled_at, in_attempts, in_max_attempts, in_on_duplicate, out_scheduled_at, out_outcome);
        if in_since is not null and out_outcome = 'created' then
            call _queue_is_remembered(in_kind, in_key, in_since, v_remembered);
            if v_remembered then
                delete q from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
            end if;
        end if;
    end if;
    if v_remembered then
        set out_scheduled_at = null;
        set out_outcome = 'ignored';
    end if;
end $$
delimiter ;
