-- Pushes each row as it comes in; queue_reserve, queue_pop and queue_prune take the rows themselves out.
-- differs: PostgreSQL has a statement trigger, which can name the number of a wrong row; here its key does.
drop trigger if exists queue_inbox;
delimiter $$
create trigger queue_inbox before insert on queue_inbox for each row
begin
    declare v_error varchar(128) character set utf8mb4;
    declare exit handler for sqlstate 'PQ001' begin
        get diagnostics condition 1 v_error = message_text;
        set v_error = left(concat('row (key ', coalesce(concat('"', left(new.p_key, 40), '"'), 'NULL'), '): ', v_error), 128);
        signal sqlstate 'PQ001' set message_text = v_error, mysql_errno = 31001;
    end;
    declare exit handler for sqlstate 'PQ002' begin
        get diagnostics condition 1 v_error = message_text;
        set v_error = left(concat('row (key ', coalesce(concat('"', left(new.p_key, 40), '"'), 'NULL'), '): ', v_error), 128);
        signal sqlstate 'PQ002' set message_text = v_error, mysql_errno = 31002;
    end;
    declare exit handler for sqlstate 'PQ003' begin
        get diagnostics condition 1 v_error = message_text;
        set v_error = left(concat('row (key ', coalesce(concat('"', left(new.p_key, 40), '"'), 'NULL'), '): ', v_error), 128);
        signal sqlstate 'PQ003' set message_text = v_error, mysql_errno = 31003;
    end;
    call _queue_land(new.p_kind, new.p_key, new.payload, new.payload_bytes, new.headers, new.priority, new.delay_seconds,
        new.scheduled_at, new.attempts, new.max_attempts);
    -- only its number is needed until somebody takes it out
    set new.taken = true, new.payload = null, new.payload_bytes = null, new.headers = null;
end $$
delimiter ;
