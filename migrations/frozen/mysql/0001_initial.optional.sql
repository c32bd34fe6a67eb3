-- frozen from sql/mysql by tools.freeze; never edited
-- calls: _queue_ack, _queue_members_settle
drop function if exists queue_ack;
--;
create function queue_ack(in_receipt text character set utf8mb4) returns json
    not deterministic modifies sql data
    comment 'The short form of the procedure queue_ack, for clients that only know SELECT.
in_receipt, the errors and the locks: those of the procedure.
Result: a JSON object of its columns.
differs: PostgreSQL''s routine is such a function itself.'
begin
    declare v_outcome varchar(10) character set utf8mb4;
    call _queue_ack(in_receipt, null, v_outcome);
    if @pyqueue_members is not null then
        call _queue_members_settle();
    end if;
    return json_object('receipt', in_receipt, 'outcome', v_outcome);
end;
--;
-- calls: _queue_check_payload, _queue_push
drop function if exists queue_push;
--;
create function queue_push(in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in_payload longtext character set utf8mb4) returns json
    not deterministic modifies sql data
    comment 'The short form of the procedure queue_push, for clients that only know SELECT: without options.
in_kind, in_key, in_payload, the errors and the locks: those of the procedure.
Result: a JSON object of its columns.
What it costs: the locks last as long as the statement''s transaction, as those of the procedure do in a transaction.
differs: PostgreSQL''s routine is such a function itself.'
begin
    declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_scheduled_at bigint;
    declare v_outcome varchar(10) character set utf8mb4;
    call _queue_check_payload(in_payload, 'payload');
    call _queue_push(in_kind, in_key, in_payload, null, null, v_key, v_scheduled_at, v_outcome);
    return json_object('p_kind', in_kind, 'p_key', v_key, 'scheduled_at', v_scheduled_at + 0, 'outcome', v_outcome);
end;
--;
-- calls: _queue_members_settle, _queue_reserve
drop function if exists queue_reserve;
--;
create function queue_reserve(in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */) returns json
    not deterministic modifies sql data
    comment 'The short form of the procedure queue_reserve, for clients that only know SELECT: one message, for the
worker and the time that are the defaults.
in_kind, the errors and the locks: those of the procedure.
Result: a JSON object of its columns, payload_bytes in base64; NULL where nothing is ready or the kind is paused.
What it costs: in a function MySQL ignores SKIP LOCKED, so that a call waits for other consumers'' transactions that
haven''t ended. Use it with autocommit, or the procedure. Several consumers at once meet deadlocks (1213), after which
the call is to be made again: a function can''t begin a transaction of its own, as the procedure does.
differs: PostgreSQL''s routine is such a function itself.'
begin
    declare v_entries longtext character set utf8mb4;
    declare v_seed varchar(64) character set ascii;
    declare v_entry bigint;
    declare v_message json;
    declare continue handler for not found begin end;
    call _queue_reserve(in_kind, null, 1, null, v_entry, v_entries, v_seed);
    if @pyqueue_members is not null then
        call _queue_members_settle();
    end if;
    select json_object('p_kind', q.p_kind collate utf8mb4_bin, 'p_key', q.p_key, 'payload',
        json_extract(q.payload, '$'), 'payload_bytes', replace(to_base64(q.payload_bytes), char(10 using utf8mb4), ''),
        'headers', json_extract(q.headers, '$'), 'priority', q.priority, 'scheduled_at', q.scheduled_at,
        'scheduled_at_initially', q.scheduled_at_initially, 'created_at', q.created_at, 'reserved_at', q.reserved_at,
        'attempts', q.attempts, 'reserved_by', q.reserved_by, 'receipt', concat(q.entry, '-', lower(hex(q.secret))),
        'errors', json_extract(q.errors, '$'))
    into v_message
    from delayed_queue q
    where q.entry = v_entry for update;
    return v_message;
end;
--;
drop function if exists queue_time;
--;
create function queue_time(in_timestamp datetime(6)) returns bigint
    deterministic no sql
    comment 'A timestamp as the queue''s integer.
in_timestamp: any timestamp with time zone.
Result: microseconds since 1970-01-01 UTC; NULL for NULL.
differs: a datetime has no zone: in_timestamp is UTC.'
return timestampdiff(microsecond, '1970-01-01 00:00:00', in_timestamp);
--;
drop function if exists queue_timestamp;
--;
create function queue_timestamp(in_time bigint) returns datetime(6)
    deterministic no sql
    comment 'The queue''s integer as a timestamp.
in_time: microseconds since 1970-01-01 UTC.
Result: a timestamp with time zone; NULL for NULL.
differs: a datetime has no zone: the result is UTC.'
return timestampadd(microsecond, in_time, timestamp '1970-01-01 00:00:00.000000');
--;
-- calls: _queue_check_inbox_row, _queue_entry, _queue_push, queue_now
-- changes: delayed_queue
-- Pushes each row as it comes in; queue_reserve, queue_pop and queue_prune take the rows themselves out.
-- differs: PostgreSQL has a statement trigger, which can name the number of a wrong row; here its key does.
drop trigger if exists queue_inbox;
--;
create trigger queue_inbox before insert on queue_inbox for each row
begin
    declare v_error varchar(128) character set utf8mb4;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_options longtext character set utf8mb4;
    declare v_now, v_due, v_entry, v_special bigint;
    declare exit handler for sqlstate 'PQ001', sqlstate 'PQ002', sqlstate 'PQ003' begin
        get diagnostics condition 1 v_error = message_text;
        set v_error = left(concat('row (key ', coalesce(concat('"', left(new.p_key, 40), '"'), 'NULL'), '): ', v_error),
            128);
        resignal set message_text = v_error;
    end;
    select count(*) into v_special from queue_kind k where k.p_kind = new.p_kind and (k.payload_shape is not null
        or k.dedup_seconds > 0 or k.draining or k.filter_index or k.log_seconds > 0 or k.roles is not null);
    -- what is as messages mostly are needs no more than to be put in
    if (char_length(new.p_kind) between 1 and 95 and char_length(new.p_key) between 1 and 200
and locate(char(0), new.p_kind) = 0 and locate(char(0), new.p_key) = 0
and (length(new.p_kind) + length(new.p_key) = char_length(new.p_kind) + char_length(new.p_key)
or hex(concat(new.p_kind, new.p_key)) not regexp '^(..)*ED[AB]')
and if(new.payload_bytes is not null, new.payload is null,
if(length(new.payload) > 65535
or length(new.payload) - length(replace(replace(new.payload, '{', ''), '[', '')) > 99, false,
json_valid(new.payload) and json_depth(if(json_valid(new.payload), new.payload, 'null')) <= 31)
and (locate('\\', cast(new.payload as binary)) = 0
or replace(new.payload, '\\\\', '') not regexp '\\\\u0000|\\\\[^"/bfnrtu\\\\]')
/*M!100600 and (new.payload not regexp '[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}'
or replace(replace(new.payload, '\\\\', ''), '\\"', '') not regexp concat('"[^"]*+"(*SKIP)(*FAIL)',
'|[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}')) */)
and if(new.headers is null, true, locate('"', new.headers) > 0 and locate('\\', new.headers) = 0
and if(length(new.headers) > 65535 or locate('{', new.headers, 2) > 0 or locate('[', new.headers) > 0, false,
json_type(if(json_valid(new.headers), new.headers, 'null')) = 'OBJECT')
/*M!100600 and new.headers not regexp concat('"[^"]*+"(*SKIP)(*FAIL)',
'|[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}') */)
and coalesce(new.priority between -32768 and 32767, true)
and if(new.scheduled_at is null, coalesce(new.delay_seconds between 0 and 1000000000, true),
new.delay_seconds is null and new.scheduled_at between 100000000000000 and 253402300799999999)
and coalesce(new.attempts between 0 and 1000000000, true)
and coalesce(new.max_attempts between 1 and 1000000000, true)) and v_special = 0 then
        call queue_now(v_now);
        call _queue_entry(v_entry);
        set v_due = coalesce(new.scheduled_at, v_now + cast(coalesce(new.delay_seconds, 0) * 1000000 as signed));
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at)
        values (v_entry, new.p_kind, new.p_key, new.payload, new.payload_bytes, new.headers,
            coalesce(new.priority, 0), v_due, v_due, v_now, coalesce(new.attempts, 0), new.max_attempts,
            if(v_due <= v_now, -coalesce(new.priority, 0), null), if(v_due <= v_now, v_due, null),
            if(v_due > v_now, v_due, null))
        on duplicate key update entry = delayed_queue.entry;
    else
        call _queue_check_inbox_row(new.payload, new.payload_bytes, new.headers, new.priority, new.delay_seconds,
            new.scheduled_at, new.attempts, new.max_attempts, v_options);
        call _queue_push(new.p_kind, new.p_key, new.payload, new.payload_bytes, v_options, v_key, v_due, v_outcome);
    end if;
    -- only its number is needed until somebody takes it out
    set new.taken = true, new.payload = null, new.payload_bytes = null, new.headers = null;
end;
--;
-- Who may do what. Routines run with the rights of their owner; nothing is for anybody else.
--   queue_producer   puts messages in
--   queue_consumer   takes and finishes them
--   queue_operator   looks, and runs the queue: removes, pauses, redrives, defines
--   queue_observer   looks at kinds, keys, states, counters and workers; at no payload, header, result or error's text
--   queue_admin      all of these
-- Roles belong to the server: where they exist already they are used, and where the installer may not create them, the
-- owner of the routines is the only one who may call them until somebody creates the roles and upgrades again. A user
-- has a role's rights once it is set: `set default role` (MySQL: `set default role all to …`).
create role if not exists queue_producer, queue_consumer, queue_operator, queue_observer, queue_admin;
--;
grant queue_producer to queue_admin;
--;
grant queue_consumer to queue_admin;
--;
grant queue_operator to queue_admin;
--;
grant queue_observer to queue_admin;
--;
grant execute on procedure queue_push to queue_producer;
--;
grant execute on procedure queue_push_bytes to queue_producer;
--;
grant execute on procedure queue_push_many to queue_producer;
--;
grant execute on procedure queue_push_into to queue_producer;
--;
grant execute on procedure queue_publish to queue_producer;
--;
grant execute on procedure queue_reserve to queue_consumer;
--;
grant execute on procedure queue_pop to queue_consumer;
--;
grant execute on procedure queue_next to queue_consumer;
--;
grant execute on procedure queue_extend to queue_consumer;
--;
grant execute on procedure queue_extend_many to queue_consumer;
--;
grant execute on procedure queue_ack to queue_consumer;
--;
grant execute on procedure queue_ack_many to queue_consumer;
--;
grant execute on procedure queue_nack to queue_consumer;
--;
grant execute on procedure queue_nack_many to queue_consumer;
--;
grant execute on procedure queue_move to queue_consumer;
--;
grant execute on procedure queue_move_many to queue_consumer;
--;
grant execute on procedure queue_wait to queue_consumer;
--;
grant execute on procedure queue_heartbeat to queue_consumer;
--;
grant execute on procedure queue_reap to queue_consumer, queue_operator;
--;
grant execute on procedure queue_stage_begin to queue_producer;
--;
grant execute on procedure queue_stage_publish to queue_producer;
--;
grant execute on procedure queue_stage_abort to queue_producer;
--;
grant execute on procedure queue_stream_ready to queue_consumer;
--;
grant execute on procedure queue_stream_plan to queue_consumer;
--;
grant execute on procedure queue_stream_reserve to queue_consumer;
--;
grant execute on procedure queue_stream_renew to queue_consumer;
--;
grant execute on procedure queue_stream_extend to queue_consumer;
--;
grant execute on procedure queue_stream_forget to queue_consumer;
--;
grant execute on procedure queue_stream_done to queue_consumer;
--;
grant execute on procedure queue_stream_commit to queue_consumer;
--;
grant execute on procedure queue_get to queue_operator;
--;
grant execute on procedure queue_peek to queue_operator;
--;
grant execute on procedure queue_remove to queue_operator;
--;
grant execute on procedure queue_purge to queue_operator;
--;
grant execute on procedure queue_define to queue_operator;
--;
grant execute on procedure queue_drop to queue_operator;
--;
grant execute on procedure queue_pause to queue_operator;
--;
grant execute on procedure queue_resume to queue_operator;
--;
grant execute on procedure queue_redrive to queue_operator;
--;
grant execute on procedure queue_prune to queue_consumer, queue_operator;
--;
grant execute on procedure queue_group to queue_producer, queue_consumer, queue_operator;
--;
grant execute on procedure queue_read to queue_consumer, queue_operator;
--;
grant execute on procedure queue_read_ack to queue_consumer, queue_operator;
--;
grant execute on procedure queue_read_end to queue_consumer, queue_operator;
--;
grant execute on procedure queue_tick to queue_consumer, queue_operator;
--;
grant execute on procedure queue_subscribe to queue_operator;
--;
grant execute on procedure queue_unsubscribe to queue_operator;
--;
grant execute on procedure queue_schedule to queue_operator;
--;
grant execute on procedure queue_unschedule to queue_operator;
--;
grant execute on procedure queue_drain to queue_operator;
--;
grant execute on procedure queue_replay to queue_operator;
--;
grant execute on procedure queue_semaphore to queue_operator;
--;
grant execute on procedure queue_now to queue_producer, queue_consumer, queue_operator, queue_observer;
--;
grant insert, select on queue_inbox to queue_producer;
--;
-- Spark looks at the columns
grant insert, select on queue_stage to queue_producer;
--;
grant select on queue_messages to queue_operator;
--;
grant select on queue_stats to queue_operator, queue_observer;
--;
grant select on queue_worker to queue_operator, queue_observer;
--;
grant select on queue_workers to queue_operator, queue_observer;
--;
grant select on queue_writes to queue_operator;
--;
grant select on queue_history to queue_operator;
--;
grant select on queue_subscriptions to queue_operator, queue_observer;
--;
grant select on queue_schedules to queue_operator;
--;
grant select on queue_groups to queue_operator, queue_observer;
--;
grant select on queue_semaphores to queue_operator, queue_observer;
--;
grant select on queue_log to queue_operator;
--;
grant select on queue_readers to queue_operator, queue_observer;
--;
-- what a look reads (pyqueue_sql/overview): columns, so that a new one is nobody's until it stands here
grant select (p_kind, p_key, entry, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at, attempts,
    reserved_by, ready_kind, ready_at, due_at, max_attempts, source_kind, source_key, member, order_key)
    on delayed_queue to queue_operator, queue_observer;
--;
grant select (p_kind, paused, draining, dead_letter_kind) on queue_kind to queue_operator, queue_observer;
--;
grant select (name, p_kind, rule, catch_up, paused, until_at, next_at, last_at) on queue_recurring to queue_operator,
    queue_observer;
--;
grant select (group_name, then_kind, then_key, on_dead, fail_kind, expected, closed, created_at, finished_at, failed)
    on queue_group to queue_operator, queue_observer;
--;
grant select (member, group_name, p_kind, p_key, entry, done_at, outcome) on queue_group_member to queue_operator,
    queue_observer;
--;
grant select (payload, payload_bytes, headers, errors) on delayed_queue to queue_operator;
--;
grant select (error) on queue_group_member to queue_operator;
--;
grant select on queue_count to queue_operator, queue_observer;
--;
grant select on queue_semaphore to queue_operator, queue_observer;
--;
grant select on queue_semaphore_permit to queue_operator, queue_observer;
--;
grant select on queue_semaphore_wait to queue_operator, queue_observer;
--;
grant select (p_kind, p_key, state, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at, attempts,
    max_attempts, reserved_by, age, source_kind, source_key, entry) on queue_messages to queue_observer;
--;
grant select (p_kind, p_key, entry, outcome, to_kind, priority, scheduled_at_initially, created_at, reserved_at,
    finished_at, attempts, reserved_by) on queue_history to queue_observer;
--;
grant select (name, p_kind, rule, catch_up, paused, until, next_at, last_at) on queue_schedules to queue_observer;
--;
-- Who may call the short forms, where the server allows functions that write; see grants.sql.
grant execute on function queue_push to queue_producer;
--;
grant execute on function queue_reserve to queue_consumer;
--;
grant execute on function queue_ack to queue_consumer;
--;
grant execute on function queue_time to queue_producer, queue_consumer, queue_operator, queue_observer;
--;
grant execute on function queue_timestamp to queue_producer, queue_consumer, queue_operator, queue_observer;
