create or replace function _queue_history_row(in_row delayed_queue, in_outcome text, in_to_kind text, in_now bigint)
    returns setof queue_history language sql stable rows 1 as $$
    select in_row.p_kind, in_row.p_key, in_row.entry, in_outcome, in_to_kind, in_row.payload, in_row.payload_bytes,
        in_row.headers, in_row.priority, in_row.scheduled_at_initially, in_row.created_at,
        case when in_outcome = 'popped' then in_now else in_row.reserved_at end, in_now,
        in_row.attempts + case when in_outcome = 'popped' then 1 else 0 end,
        case when in_outcome <> 'popped' then in_row.reserved_by end, in_row.errors, null::jsonb
$$;

comment on function _queue_history_row(delayed_queue, text, text, bigint) is
$$The row of queue_history of a message that ends.
in_row: the message as it was. in_outcome: acked, popped, moved, dead, removed. in_to_kind: where it went, NULL:
nowhere.
in_now: the time of the call.
Result: the row, without a result. It is inlined by the planner.
differs: a row can't be a parameter on MariaDB and MySQL; _queue_end copies it by a statement.$$;
