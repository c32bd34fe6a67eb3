-- calls: _queue_boolean, _queue_check_dead_letter_kind, _queue_check_name, _queue_check_options, _queue_check_roles,
--     _queue_check_shape, _queue_defaults, _queue_define_filter, _queue_define_limits, _queue_expire, _queue_fail,
--     _queue_integer, _queue_number, _queue_settings, _queue_text, queue_now
-- changes: queue_kind, queue_use
create or replace function queue_define(in_kind text, in_options jsonb default null) returns setof queue_kind
    language plpgsql
    security definer set search_path from current as $$
declare
    v_now constant bigint := queue_now();
    v_kind queue_kind;
    v_roles jsonb;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_options(in_options, '{timeout_seconds, max_attempts, backoff_seconds, backoff_factor,
        backoff_max_seconds, jitter, dead_letter_kind, dedup_seconds, history_seconds, payload_shape, expires_seconds,
        max_reserved, rate_per_second, filter_index, log_seconds, roles}'::text[], 'options');
    lock table queue_kind in share row exclusive mode; -- two that define at once could close a circle of dead letters
    v_kind := _queue_settings(in_kind);
    v_roles := v_kind.roles;
    v_kind := jsonb_populate_record(v_kind, ( -- what is null goes back to its default
        select jsonb_object_agg(d.name, d.value)
        from jsonb_each(to_jsonb(_queue_defaults()) || '{"max_attempts": null}') d (name, value)
        where in_options ? d.name and d.name not in ('max_reserved', 'rate_per_second')));
    v_kind.timeout_seconds := coalesce(
        _queue_number(in_options, 'timeout_seconds', 0.001, 31536000::numeric), v_kind.timeout_seconds);
    v_kind.max_attempts := coalesce(
        _queue_integer(in_options, 'max_attempts', 1::bigint, 1000000000::bigint), v_kind.max_attempts);
    v_kind.backoff_seconds := coalesce(
        _queue_number(in_options, 'backoff_seconds', 0::numeric, 31536000::numeric), v_kind.backoff_seconds);
    v_kind.backoff_factor := coalesce(
        _queue_number(in_options, 'backoff_factor', 1::numeric, 100::numeric), v_kind.backoff_factor);
    v_kind.backoff_max_seconds := coalesce(
        _queue_number(in_options, 'backoff_max_seconds', 0::numeric, 31536000::numeric), v_kind.backoff_max_seconds);
    v_kind.jitter := coalesce(_queue_number(in_options, 'jitter', 0::numeric, 1::numeric), v_kind.jitter);
    v_kind.dedup_seconds := coalesce(
        _queue_number(in_options, 'dedup_seconds', 0::numeric, 315360000::numeric), v_kind.dedup_seconds);
    v_kind.history_seconds := coalesce(
        _queue_number(in_options, 'history_seconds', 0::numeric, 315360000::numeric), v_kind.history_seconds);
    v_kind.payload_shape := coalesce(_queue_check_shape(in_options -> 'payload_shape'), v_kind.payload_shape);
    v_kind.expires_seconds := coalesce(
        _queue_number(in_options, 'expires_seconds', 1::numeric, 315360000::numeric), v_kind.expires_seconds);
    v_kind.filter_index := coalesce(_queue_boolean(in_options, 'filter_index'), v_kind.filter_index);
    v_kind.log_seconds := coalesce(
        _queue_number(in_options, 'log_seconds', 0::numeric, 315360000::numeric), v_kind.log_seconds);
    v_kind.roles := coalesce(nullif(in_options -> 'roles', 'null'), v_kind.roles);
    if in_options ? 'roles' and (jsonb_typeof(v_kind.roles) <> 'array'
        or jsonb_array_length(v_kind.roles) not between 1 and 32
        or exists (select from jsonb_array_elements(v_kind.roles) n (name)
            left join pg_roles r on r.rolname = n.name ->> 0 where r.oid is null))
    then
        perform _queue_fail('PQ002', 'roles', v_kind.roles::text, 'must be an array of 1 to 32 roles that there are');
    end if;
    if in_options ? 'dead_letter_kind' then
        v_kind.dead_letter_kind := _queue_text(in_options, 'dead_letter_kind');
        perform _queue_check_dead_letter_kind(in_kind, v_kind.dead_letter_kind);
        perform _queue_check_roles(array[v_kind.dead_letter_kind]);
    end if;
    insert into queue_kind (p_kind, timeout_seconds, max_attempts, backoff_seconds, backoff_factor, backoff_max_seconds,
        jitter, dead_letter_kind, paused, dedup_seconds, history_seconds, payload_shape, draining, expires_seconds,
        filter_index, log_seconds, roles)
    values (v_kind.p_kind, v_kind.timeout_seconds, v_kind.max_attempts, v_kind.backoff_seconds, v_kind.backoff_factor,
        v_kind.backoff_max_seconds, v_kind.jitter, v_kind.dead_letter_kind, v_kind.paused, v_kind.dedup_seconds,
        v_kind.history_seconds, v_kind.payload_shape, v_kind.draining, v_kind.expires_seconds, v_kind.filter_index,
        v_kind.log_seconds, v_kind.roles)
    on conflict on constraint queue_kind_pkey do update
    set timeout_seconds = excluded.timeout_seconds, max_attempts = excluded.max_attempts,
        backoff_seconds = excluded.backoff_seconds, backoff_factor = excluded.backoff_factor,
        backoff_max_seconds = excluded.backoff_max_seconds, jitter = excluded.jitter,
        dead_letter_kind = excluded.dead_letter_kind, dedup_seconds = excluded.dedup_seconds,
        history_seconds = excluded.history_seconds, payload_shape = excluded.payload_shape,
        expires_seconds = excluded.expires_seconds, filter_index = excluded.filter_index,
        log_seconds = excluded.log_seconds, roles = excluded.roles;
    if v_kind.roles is not null then -- its dead letters aren't for everybody, either
        insert into queue_kind as k (p_kind, roles)
            values (coalesce(v_kind.dead_letter_kind, left(in_kind, 95) || '.dead'), v_kind.roles)
        on conflict on constraint queue_kind_pkey do update set roles = excluded.roles
            where k.roles is null or k.roles = v_roles;
    end if;
    v_kind := _queue_define_limits(v_kind, in_options, v_now);
    perform _queue_define_filter(in_kind, v_kind.filter_index) where in_options ? 'filter_index';
    if v_kind.expires_seconds is not null then
        insert into queue_use (p_kind, used_at) values (in_kind, v_now);
        perform _queue_expire(v_now, 1000::bigint);
    end if;
    return next v_kind;
end $$;

comment on function queue_define(text, jsonb) is
$$Sets how a kind behaves. A kind that nobody has defined works with the defaults.
in_kind: the kind, 1 to 100 characters.
in_options: an option that isn't given stays as it is. An option that is null goes back to its default; max_attempts
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
  returns fewer messages or none. What is being reserved while the first limit is set isn't counted. Below a lowered
  limit nothing is reserved until less is held. An expired hold gives up its place to the reserve that wants it, and
  then can't be extended. Allowed: 1 to 10000. Default: null (any number).
- rate_per_second: how many messages queue_reserve and queue_pop deliver in a second, together and with repeated
  deliveries. What isn't used is saved for a second (one message at the least), and may come at once. Allowed: 0.001
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
into the index; nothing else waits. A limit that changes waits for reserves of the kind that are under way.$$;
