drop procedure if exists queue_define;
delimiter $$
create procedure queue_define(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_options longtext character set utf8mb4)
    comment 'Sets how a kind behaves; what isn''t given stays as it is, and null brings the default back, but for max_attempts.
in_kind: the kind. in_options: timeout_seconds (0.001 to a year; default 300); max_attempts (deliveries, after which
a message is a dead letter; default 25, null: for ever); backoff_seconds (0 to a year, default 1), backoff_factor (1 to 100, default 2),
backoff_max_seconds (default 3600) and jitter (0 to 1, default 0.2): see queue_nack; dead_letter_kind (default <kind>.dead; a circle is refused); dedup_seconds (0 to
10 years, default 0): for how long a push still ignores the key of a message that was acked, popped or moved away;
history_seconds (0 to 10 years, default 0): for how long what has ended stays in queue_history; payload_shape (default null): an object
of required fields and their types, string, number, integer, boolean, object or array, which payloads have to fit; expires_seconds (1 to 10
years, default null: never): the kind goes, with its settings, subscriptions and messages, when it is unused for so long, which
queue_prune sees to and, a little, the next queue_define of such a kind. Used is a kind by queue_define, by queue_reserve and
queue_pop, also where they get nothing (noted every quarter of that time), and by each message that comes in or is delivered; while
messages are held it stays. max_reserved (1 to 10000, default null: any number): how many are held at once at the most, by whomever; a reserve answers fewer, or none. What a reserve
takes that is under way when the first limit is set isn''t counted; below a lowered limit nothing is reserved until less is held. An expired hold gives up its place to the reserve that wants it,
and then can''t be extended. rate_per_second (0.001 to 1000000, default null: any): how many are delivered in a second by queue_reserve and queue_pop together, repeated deliveries too; what isn''t
used is saved for a second (one message at the least) and may come at once. filter_index (true or false, default false): an index for the option where of queue_reserve, at a row a value and push.
Turning it on indexes what the kind has, some hundred messages a second or more; what another transaction has pushed by then and not committed is
indexed by the next queue_define that has it. log_seconds (0 to 10 years, default 0): for how long what comes in and ends stays in the log, see queue_read.
Seconds count as they are set when they are looked at, so that a change concerns what has ended already too.
Result: the settings.
Errors: PQ001 for kind, PQ002 for options, PQ004 for a circle.
Locks: other definitions wait until the transaction ends; nothing else does. A limit that changes waits for reserves of the kind that are under way.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_max_attempts bigint;
    declare v_timeout, v_dedup, v_history decimal(30,6);
    declare v_dead_letter_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_shape longtext character set utf8mb4;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_check_kind(in_kind, 100, 'kind');
            call _queue_check_options(in_options, concat('timeout_seconds,max_attempts,backoff_seconds,backoff_factor,',
                'backoff_max_seconds,jitter,dead_letter_kind,dedup_seconds,history_seconds,payload_shape,expires_seconds,max_reserved,rate_per_second,',
                'filter_index,log_seconds'), 'options');
            call _queue_lock_kinds();
            if in_options is not null then
                call _queue_number(in_options, 'timeout_seconds', 0.001, 31536000, v_timeout);
                call _queue_integer(in_options, 'max_attempts', 1, 1000000000, v_max_attempts);
                call _queue_number(in_options, 'dedup_seconds', 0, 315360000, v_dedup);
                call _queue_number(in_options, 'history_seconds', 0, 315360000, v_history);
                call _queue_check_shape(json_extract(in_options, '$.payload_shape'), v_shape);
                call _queue_text(in_options, 'dead_letter_kind', v_dead_letter_kind);
                if json_contains_path(in_options, 'one', '$.dead_letter_kind') then
                    call _queue_check_dead_letter_kind(in_kind, v_dead_letter_kind);
                end if;
            end if;
            insert into queue_kind (p_kind) values (in_kind) on duplicate key update p_kind = in_kind;
            update queue_kind k
            set k.timeout_seconds = if(json_contains_path(in_options, 'one', '$.timeout_seconds'),
                    coalesce(v_timeout, default(k.timeout_seconds)), k.timeout_seconds),
                k.max_attempts = if(json_contains_path(in_options, 'one', '$.max_attempts'), v_max_attempts, k.max_attempts),
                k.dead_letter_kind = if(json_contains_path(in_options, 'one', '$.dead_letter_kind'), v_dead_letter_kind,
                    k.dead_letter_kind),
                k.dedup_seconds = if(json_contains_path(in_options, 'one', '$.dedup_seconds'),
                    coalesce(v_dedup, default(k.dedup_seconds)), k.dedup_seconds),
                k.history_seconds = if(json_contains_path(in_options, 'one', '$.history_seconds'),
                    coalesce(v_history, default(k.history_seconds)), k.history_seconds),
                k.payload_shape = if(json_contains_path(in_options, 'one', '$.payload_shape'), v_shape, k.payload_shape)
            where k.p_kind = in_kind;
            call _queue_define_backoff(in_kind, in_options);
            call _queue_define_log(in_kind, in_options);
            call _queue_define_expires(in_kind, in_options);
            call _queue_define_limits(in_kind, in_options);
            call _queue_define_filter(in_kind, in_options);
            select k.p_kind, k.timeout_seconds, k.max_attempts, k.backoff_seconds, k.backoff_factor, k.backoff_max_seconds, k.jitter,
                k.dead_letter_kind, k.paused, k.dedup_seconds, k.history_seconds, k.payload_shape, k.draining, k.expires_seconds,
                k.semaphores, k.max_reserved, k.rate_per_second, k.filter_index, k.log_seconds
            from queue_kind k where k.p_kind = in_kind;
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
end $$
delimiter ;
