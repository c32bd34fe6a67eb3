-- calls: _queue_log_put
create or replace function _queue_log_batch(in_kind text, in_messages jsonb, in_options jsonb, in_keys text[],
    in_outcomes text[], in_now bigint) returns void language plpgsql as $$
begin
    perform _queue_log_put(in_kind, in_keys[m.n], in_outcomes[m.n],
        coalesce(m.message ->> 'on_duplicate', in_options ->> 'on_duplicate'), in_now)
    from jsonb_array_elements(in_messages) with ordinality m (message, n);
end $$;

comment on function _queue_log_batch(text, jsonb, jsonb, text[], text[], bigint) is
$$Appends what a queue_push_many did to the log, in the order of the batch.
in_kind, in_messages, in_options: those of queue_push_many. in_keys, in_outcomes: of its messages. in_now: the time of
the call.
Locks: as _queue_log_open.$$;
