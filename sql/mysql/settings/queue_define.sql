-- calls: _queue_check_dead_letter_kind, _queue_check_name, _queue_check_options, _queue_check_roles,
--     _queue_check_shape, _queue_define_filter, _queue_define_limits, _queue_expire, _queue_fail, _queue_integer,
--     _queue_number, _queue_text, queue_now
-- changes: queue_kind, queue_log_epoch, queue_use
create procedure queue_define(in in_kind text collate exact, in in_options longtext)
    comment 'Sets how a kind behaves. A kind that nobody has defined works with the defaults.
in_kind: the kind, 1 to 100 characters.
in_options: an option that isn''t given stays as it is. An option that is null goes back to its default; max_attempts
becomes null, for ever.
- timeout_seconds: how long a hold lasts. Allowed: 0.001 to 31536000 (a year). Default: 300.
- max_attempts: how many deliveries a message may have. After the last one it becomes a dead letter. Allowed: 1 to
  1000000000, null for any number. Default: 25.
- backoff_seconds: how long a message waits after its first failure, see queue_nack. Allowed: 0 to 31536000 (a year).
  Default: 1.
- backoff_factor: by how much the wait grows with each failure. Allowed: 1 to 100. Default: 2.
- backoff_max_seconds: the longest wait after a failure. Allowed: 0 to 31536000 (a year). Default: 3600.
- jitter: which share of the wait is taken off at random, at most. Allowed: 0 to 1. Default: 0.2.
- dead_letter_kind: where dead letters go. A circle of kinds is refused. Allowed: a kind, 1 to 100 characters.
  Default: <kind>.dead.
- dedup_seconds: for how long a push still ignores the key of a message that was acked, popped or moved away. Allowed:
  0 to 315360000 (10 years). Default: 0.
- history_seconds: for how long a message that has ended stays in queue_history. Allowed: 0 to 315360000 (10 years).
  Default: 0.
- payload_shape: the fields that a payload must have, and their types. Allowed: an object of names and types, which
  are string, number, integer, boolean, object and array. Default: null.
- expires_seconds: how long the kind may be unused. After that it goes, with its settings, subscriptions and messages,
  at the next queue_prune or the next queue_define of such a kind. Who defines a kind, takes from it or asks whether
  there is something uses it, even in vain (queue_reserve, queue_pop, queue_wait, queue_listen, queue_stream_ready; it
  is noted every quarter of that time). So does each message that comes in or is delivered. While messages are held,
  the kind stays. Allowed: 1 to 315360000 (10 years). Default: null (never).
- max_reserved: how many messages of the kind are held at once, by all consumers together. At the limit a reserve
  returns fewer messages or none. What is being reserved while the first limit is set isn''t counted. Below a lowered
  limit nothing is reserved until less is held. An expired hold gives up its place to the reserve that wants it, and
  then can''t be extended. Allowed: 1 to 10000. Default: null (any number).
- rate_per_second: how many messages queue_reserve and queue_pop deliver in a second, together and with repeated
  deliveries. What isn''t used is saved for a second (one message at the least), and may come at once. Allowed: 0.001
  to 1000000. Default: null (any rate).
- filter_index: keeps an index for the option where of queue_reserve. Each push then writes one row more for each
  value. Turning it on indexes the messages of the kind, some hundred a second or more. A message that another
  transaction has pushed by then and not committed is indexed by the next queue_define with this option. Allowed:
  true, false. Default: false.
- log_seconds: for how long the log keeps what comes in and what ends, see queue_read. Allowed: 0 to 315360000 (10
  years). Default: 0.
- roles: who may use the kind: put messages in, also by a topic, a route, a move, a group or a schedule, take them, look
  at them, and change the kind. A login may that is one of them or, on PostgreSQL, a member of one. The owner of the
  queue always may. Dead letters are for the same ones. Allowed: an array of 1 to 32 names of roles, on MariaDB and
  MySQL of accounts, without a host. Default: null (all).
A time in seconds counts as it is set when it is looked at. So a change also concerns what has ended already.
Result: the settings.
Errors: PQ001 for kind, PQ002 for options, PQ004 for a circle, PQ007 for who may not use the kind.
Locks: other definitions wait until the transaction ends. With filter_index so does who changes a message that is put
into the index; nothing else waits. A limit that changes waits for reserves of the kind that are under way.'
begin
    declare v_max_attempts, v_now, v_gone bigint;
    declare v_there int;
    declare v_timeout, v_backoff, v_factor, v_longest, v_jitter, v_dedup, v_history, v_expires, v_log decimal(30,6);
    declare v_dead_letter_kind text collate exact;
    declare v_shape, v_roles, v_before longtext;
    begin atomic
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        call _queue_check_options(in_options, concat('timeout_seconds,max_attempts,backoff_seconds,backoff_factor,',
            'backoff_max_seconds,jitter,dead_letter_kind,dedup_seconds,history_seconds,payload_shape,expires_seconds,',
            'max_reserved,rate_per_second,filter_index,log_seconds,roles'), 'options');
        -- two that define at once could close a circle of dead letters. The row, which is no kind, stays: where one
        -- that is waited for goes away, InnoDB lets those who wait deadlock
        insert into queue_kind (p_kind) values ('') on duplicate key update p_kind = '';
        call queue_now(v_now);
        call _queue_number(in_options, 'timeout_seconds', 0.001, 31536000, v_timeout);
        call _queue_integer(in_options, 'max_attempts', 1, 1000000000, v_max_attempts);
        call _queue_number(in_options, 'dedup_seconds', 0, 315360000, v_dedup);
        call _queue_number(in_options, 'history_seconds', 0, 315360000, v_history);
        call _queue_number(in_options, 'backoff_seconds', 0, 31536000, v_backoff);
        call _queue_number(in_options, 'backoff_factor', 1, 100, v_factor);
        call _queue_number(in_options, 'backoff_max_seconds', 0, 31536000, v_longest);
        call _queue_number(in_options, 'jitter', 0, 1, v_jitter);
        call _queue_number(in_options, 'expires_seconds', 1, 315360000, v_expires);
        call _queue_number(in_options, 'log_seconds', 0, 315360000, v_log);
        call _queue_check_shape(in_options -> 'payload_shape', v_shape);
        set v_roles = in_options -> 'roles';
        if json_type(v_roles) <> 'NULL' then
            begin
                declare exit handler for 1142, 1143
                    call _queue_fail('PQ002', 'roles', v_roles,
                        'needs that the owner of the queue may read mysql.user');
                if json_type(v_roles) <> 'ARRAY' or json_length(v_roles) not between 1 and 32 or exists (
                    select 1 from unnest(v_roles) n (name json)
                    where json_type(n.name) <> 'STRING' or char_length(json_unquote(n.name)) not between 1 and 80)
                        then
                    call _queue_fail('PQ002', 'roles', v_roles, 'must be an array of 1 to 32 names of accounts');
                elseif exists (select 1 from mysql.user u where u.user = '') then
                    call _queue_fail('PQ002', 'roles', v_roles,
                        'refused while the server has an account without a name');
                end if;
            end;
        end if;
        call _queue_text(in_options, 'dead_letter_kind', v_dead_letter_kind);
        if in_options ? 'dead_letter_kind' then
            call _queue_check_dead_letter_kind(in_kind, v_dead_letter_kind);
            call _queue_check_roles(json_array(v_dead_letter_kind));
        end if;
        insert into queue_kind (p_kind) values (in_kind) on duplicate key update p_kind = in_kind;
        select k.roles into v_before from queue_kind k where k.p_kind = in_kind;
        update queue_kind k
        set k.timeout_seconds = if(in_options ? 'timeout_seconds', coalesce(v_timeout, default(k.timeout_seconds)),
                k.timeout_seconds),
            k.max_attempts = if(in_options ? 'max_attempts', v_max_attempts, k.max_attempts),
            k.dead_letter_kind = if(in_options ? 'dead_letter_kind', v_dead_letter_kind, k.dead_letter_kind),
            k.dedup_seconds = if(in_options ? 'dedup_seconds', coalesce(v_dedup, default(k.dedup_seconds)),
                k.dedup_seconds),
            k.history_seconds = if(in_options ? 'history_seconds', coalesce(v_history, default(k.history_seconds)),
                k.history_seconds),
            k.payload_shape = if(in_options ? 'payload_shape', v_shape, k.payload_shape),
            k.backoff_seconds = if(in_options ? 'backoff_seconds', coalesce(v_backoff, default(k.backoff_seconds)),
                k.backoff_seconds),
            k.backoff_factor = if(in_options ? 'backoff_factor', coalesce(v_factor, default(k.backoff_factor)),
                k.backoff_factor),
            k.backoff_max_seconds = if(in_options ? 'backoff_max_seconds',
                coalesce(v_longest, default(k.backoff_max_seconds)), k.backoff_max_seconds),
            k.jitter = if(in_options ? 'jitter', coalesce(v_jitter, default(k.jitter)), k.jitter),
            k.expires_seconds = if(in_options ? 'expires_seconds', v_expires, k.expires_seconds),
            k.log_seconds = if(in_options ? 'log_seconds', coalesce(v_log, 0), k.log_seconds),
            k.roles = if(in_options ? 'roles', nullif(v_roles, 'null'), k.roles)
        where k.p_kind = in_kind;
        insert into queue_kind (p_kind, roles)
        select coalesce(k.dead_letter_kind, concat(left(k.p_kind, 95), '.dead')), k.roles from queue_kind k
        where k.p_kind = in_kind and k.roles is not null
        on duplicate key update roles = if(queue_kind.roles is null
            or cast(queue_kind.roles as char) <=> v_before, k.roles, queue_kind.roles);
        select count(*) into v_there from queue_log_epoch e where e.floor = 0 and e.id = 0;
        if v_log > 0 and v_there = 0 then -- the first epoch of the log
            insert into queue_log_epoch (floor, id) values (0, 0) on duplicate key update floor = 0;
        end if;
        select max(k.expires_seconds) into v_expires from queue_kind k where k.p_kind = in_kind;
        if v_expires is not null then -- it is used, and a few others that are not go
            insert into queue_use (id, p_kind, used_at) values (uuid_short(), in_kind, v_now);
            call _queue_expire(v_now, 1000, v_gone);
        end if;
        call _queue_define_limits(in_kind, in_options, v_now);
        call _queue_define_filter(in_kind, in_options);
        select k.* from queue_kind k where k.p_kind = in_kind;
    end atomic;
end;
