-- calls: _queue_check_fit, _queue_check_headers, _queue_end, _queue_fail, _queue_members_end, _queue_put
create or replace function _queue_move(in_entry bigint, in_to_kind text, in_options jsonb, in_now bigint,
    out outcome text, out created bigint)
    language plpgsql as $$
declare
    v_row delayed_queue;
    v_shape jsonb;
    v_draining boolean;
    v_put record;
begin
    v_row := _queue_end(in_entry, 'moved', in_to_kind, in_now);
    if in_options ? 'payload' then
        v_row.payload := in_options -> 'payload';
        v_row.payload_bytes := null;
    end if;
    select k.payload_shape, k.draining and in_to_kind <> v_row.p_kind into v_shape, v_draining
    from queue_kind k where k.p_kind = in_to_kind;
    if v_draining then
        perform _queue_fail('PQ004', format('to_kind of "%s"', left(v_row.p_key, 40)), in_to_kind,
            'takes in nothing while it is drained');
    elsif v_shape is not null then
        perform _queue_check_fit(v_shape, v_row.payload, format('payload of "%s"', left(v_row.p_key, 40)));
    end if;
    v_row.p_kind := in_to_kind;
    v_row.p_key := coalesce(in_options ->> 'key', v_row.p_key);
    if in_options ? 'headers' then
        v_row.headers := _queue_check_headers(in_options -> 'headers', 'headers');
    end if;
    v_row.priority := coalesce((in_options ->> 'priority')::numeric::smallint, v_row.priority);
    v_row.scheduled_at := in_now + (coalesce((in_options ->> 'delay_seconds')::numeric, 0) * 1000000)::bigint;
    v_row.attempts := 0;
    v_row.max_attempts := null;
    if (in_options ->> 'next')::boolean then
        v_row.route := nullif(v_row.route - 0, '[]');
    end if;
    v_put := _queue_put(v_row, coalesce(in_options ->> 'on_duplicate', 'ignore'), null::bigint, in_now);
    if v_put.outcome = 'created' then
        created := v_put.entry;
    elsif v_row.member is not null then
        perform _queue_members_end(array[v_row.member], 'duplicate', in_options -> 'result', in_now);
    end if;
    outcome := case v_put.outcome when 'ignored' then 'duplicate' else 'moved' end;
end $$;

comment on function _queue_move(bigint, text, jsonb, bigint) is
$$Moves one message, which the caller has locked.
in_entry: the message. in_to_kind, in_options, in_now: as in _queue_move_many.
Result: outcome: moved, duplicate; created: the new entry, NULL where there is none; it has no place in the line of an
order key yet, see _queue_join_line.
Locks: the next in its line, and its key in the target.$$;
