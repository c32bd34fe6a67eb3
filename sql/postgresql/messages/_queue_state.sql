create or replace function _queue_state(in_ready_at bigint, in_due_at bigint, in_reserved_at bigint,
    in_scheduled_at bigint, in_now bigint) returns text language sql immutable
    return case when num_nonnulls(in_ready_at, in_due_at, in_reserved_at) = 0 then 'waiting'
        when in_reserved_at is null then case when in_scheduled_at <= in_now then 'ready' else 'scheduled' end
        when in_scheduled_at <= in_now then 'expired' else 'reserved' end;

comment on function _queue_state(bigint, bigint, bigint, bigint, bigint) is
$$The state of a message.
in_ready_at, in_due_at, in_reserved_at, in_scheduled_at: its columns. in_now: the time of the call.
Result: waiting (in a line), scheduled, ready, reserved, or expired: the timeout passed, anyone may have it, its late
ack still counts until then.
differs: on MariaDB and MySQL it is an expression: a function can't be created on every server.$$;
