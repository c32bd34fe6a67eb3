-- calls: _queue_add_error, _queue_bury, _queue_check_fit, _queue_end, _queue_index, _queue_line_up, _queue_settings,
--     _queue_wake
-- changes: delayed_queue, queue_count
create or replace function _queue_nack(in_entry bigint, in_secret bytea, in_options jsonb, in_now bigint) returns text
    language plpgsql as $$
declare
    v_counts constant boolean := coalesce((in_options ->> 'count')::boolean, true);
    v_error constant text := in_options ->> 'error';
    v_row delayed_queue;
    v_kind queue_kind;
    v_delay numeric;
    v_at bigint;
begin
    select q.* into v_row from delayed_queue q where q.entry = in_entry and q.secret = in_secret for update;
    if not found then
        return 'lost';
    end if;
    v_kind := _queue_settings(v_row.p_kind);
    insert into queue_count (p_kind, nacked, reserved)
        values (v_row.p_kind, 1, (v_row.reserved_at is not null)::integer);
    if in_options ? 'payload' then
        perform _queue_check_fit(v_kind.payload_shape, in_options -> 'payload', 'payload')
            where v_kind.payload_shape is not null;
        update delayed_queue q set payload = in_options -> 'payload', payload_bytes = null where q.entry = in_entry;
        perform _queue_index(array[in_entry]) where v_kind.filter_index;
    end if;
    if coalesce((in_options ->> 'final')::boolean, false)
        or v_counts and v_row.attempts >= coalesce(v_row.max_attempts, v_kind.max_attempts, 2147483647) then
        perform _queue_bury(in_entry, coalesce(v_error, 'nacked'), in_now);
        return 'dead';
    elsif v_row.pending is not null then
        perform _queue_end(array[in_entry], null::bytea[], null::text, null::text, in_now);
        return 'retry';
    end if;
    v_delay := coalesce((in_options ->> 'delay_seconds')::numeric, case when v_counts and v_error is not null then
        least(v_kind.backoff_seconds * v_kind.backoff_factor ^ least(v_row.attempts - 1, 100),
            v_kind.backoff_max_seconds)
        * (1 - v_kind.jitter * random()::numeric) end, 0);
    v_at := in_now + v_delay * 1000000;
    update delayed_queue q
    set scheduled_at = v_at, ready_at = case when v_at <= in_now then v_at end, due_at = case
        when v_at > in_now then v_at end, reserved_at = null, reserved_by = null, secret = null,
        attempts = q.attempts - case when v_counts then 0 else 1 end,
        errors = _queue_add_error(q.errors, in_now, q.attempts, q.reserved_by, v_error)
    where q.entry = in_entry;
    if v_row.semaphores is not null then
        perform _queue_line_up(array[in_entry]);
    end if;
    perform _queue_wake(v_row.p_kind, v_row.p_key);
    return 'retry';
end $$;

comment on function _queue_nack(bigint, bytea, jsonb, bigint) is
$$Gives one message back.
in_entry, in_secret: its receipt, taken apart. in_options: those of queue_nack, checked. in_now: the time of the call.
Result: the outcome: retry, dead, lost.
Locks: the message; as _queue_bury where it dies.$$;
