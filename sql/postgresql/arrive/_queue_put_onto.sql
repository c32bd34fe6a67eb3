-- calls: _queue_line_up, _queue_newest, _queue_wake
-- changes: delayed_queue, queue_count
create or replace function _queue_put_onto(in_kind text, in_key text, in_payload jsonb, in_payload_bytes bytea,
    in_headers jsonb, in_now bigint, in_scheduled_at bigint, in_on_duplicate text) returns text language plpgsql as $$
declare
    v_content constant boolean := in_on_duplicate in ('replace', 'keep_time');
    v_time constant boolean := in_on_duplicate in ('replace', 'push_back');
    v_old delayed_queue;
    v_at bigint;
begin
    select q.* into v_old from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
    if not found then
        return null;
    end if;
    if v_old.reserved_at is not null and v_old.scheduled_at > in_now then
        update delayed_queue q
        set pending = coalesce(q.pending, '{}')
                || case when v_content then jsonb_build_object('content', true, 'payload', in_payload, 'headers',
                    in_headers)
                    else '{}' end
                || case when v_time then jsonb_build_object('scheduled_at', in_scheduled_at) else '{}' end,
            pending_bytes = case when v_content then in_payload_bytes else q.pending_bytes end
        where q.entry = v_old.entry;
        return 'held';
    end if;
    -- what nobody holds changes at once; an expired hold ends here, so that its late ack can't remove what is new
    if v_old.reserved_at is not null then
        insert into queue_count (p_kind, reserved) values (in_kind, 1);
    end if;
    v_at := case when v_time then in_scheduled_at when v_old.reserved_at is null then v_old.scheduled_at
        else greatest((v_old.pending ->> 'scheduled_at')::bigint, in_now) end;
    v_old := _queue_newest(v_old);
    update delayed_queue q
    set payload = case when v_content then in_payload else v_old.payload end,
        payload_bytes = case when v_content then in_payload_bytes else v_old.payload_bytes end,
        headers = case when v_content then in_headers else v_old.headers end,
        pending = null, pending_bytes = null,
        scheduled_at = v_at,
        -- what waits in a line goes on waiting
        ready_at = case when v_at <= in_now and q.order_waits is null then v_at end,
        due_at = case when v_at > in_now and q.order_waits is null then v_at end,
        attempts = case when v_old.reserved_at is null then q.attempts else 0 end,
        reserved_at = null, reserved_by = null, secret = null
    where q.entry = v_old.entry;
    if v_old.semaphores is not null then
        perform _queue_line_up(array[v_old.entry]);
    end if;
    perform _queue_wake(in_kind, in_key);
    return 'replaced';
end $$;

comment on function _queue_put_onto(text, text, jsonb, bytea, jsonb, bigint, bigint, text) is
$$A push onto a key that is taken.
in_on_duplicate: replace (content and time), keep_time (content only) or push_back (time only); content is the payload
with its headers. The other parameters are as in _queue_put.
Result: replaced; held, where somebody holds the message: the newest is kept beside it and delivered once the present
delivery is done; NULL where the message has gone.
Locks: the message.$$;
