-- calls: _queue_index, _queue_line_up, _queue_newest, _queue_wake
-- changes: delayed_queue, queue_count
create or replace function _queue_put_onto(in_row delayed_queue, in_on_duplicate text, in_now bigint,
    out entry bigint, out scheduled_at bigint, out outcome text, out waits_for text[]) language plpgsql as $$
declare
    v_content constant boolean := in_on_duplicate in ('replace', 'keep_time');
    v_time constant boolean := in_on_duplicate in ('replace', 'push_back');
    v_old delayed_queue;
    v_at bigint;
begin
    select q.* into v_old from delayed_queue q
    where q.p_kind = in_row.p_kind and q.p_key = in_row.p_key for update;
    if not found then
        return;
    end if;
    entry := v_old.entry;
    if v_old.reserved_at is not null and v_old.scheduled_at > in_now then
        update delayed_queue q
        set pending = coalesce(q.pending, '{}')
                || case when v_content then jsonb_build_object('content', true, 'payload', in_row.payload, 'headers',
                    in_row.headers)
                    else '{}' end
                || case when v_time then jsonb_build_object('scheduled_at', in_row.scheduled_at) else '{}' end,
            pending_bytes = case when v_content then in_row.payload_bytes else q.pending_bytes end
        where q.entry = v_old.entry;
        perform _queue_index(array[v_old.entry]) where v_content;
        scheduled_at := v_old.scheduled_at;
        outcome := 'held';
        return;
    end if;
    -- what nobody holds changes at once; an expired hold ends here, so that its late ack can't remove what is new
    if v_old.reserved_at is not null then
        insert into queue_count (p_kind, reserved) values (in_row.p_kind, 1);
    end if;
    v_at := case when v_time then in_row.scheduled_at when v_old.reserved_at is null then v_old.scheduled_at
        else greatest((v_old.pending ->> 'scheduled_at')::bigint, in_now) end;
    v_old := _queue_newest(v_old);
    update delayed_queue q
    set payload = case when v_content then in_row.payload else v_old.payload end,
        payload_bytes = case when v_content then in_row.payload_bytes else v_old.payload_bytes end,
        headers = case when v_content then in_row.headers else v_old.headers end,
        pending = null, pending_bytes = null,
        scheduled_at = v_at,
        -- what waits in a line goes on waiting
        ready_at = case when v_at <= in_now and q.order_waits is null then v_at end,
        due_at = case when v_at > in_now and q.order_waits is null then v_at end,
        -- a message that was sent to wait after its hold has its secret still
        attempts = case when q.secret is null then q.attempts else 0 end,
        reserved_at = null, reserved_by = null, secret = null
    where q.entry = v_old.entry;
    if v_old.semaphores is not null then
        waits_for := coalesce(_queue_line_up(array[v_old.entry]), '{}');
    end if;
    perform _queue_wake(in_row.p_kind, in_row.p_key);
    scheduled_at := v_at;
    outcome := 'replaced';
end $$;

comment on function _queue_put_onto(delayed_queue, text, bigint) is
$$A push onto a key that is taken.
in_row: what is pushed, as in _queue_put: p_kind, p_key, payload, payload_bytes, headers and scheduled_at count.
in_on_duplicate: replace (content and time), keep_time (content only) or push_back (time only); content is the payload
with its headers. in_now: the time of the call.
Result: as of _queue_put. outcome: replaced; held, where somebody holds the message: the newest is kept beside it and
delivered once the present delivery is done; NULL where the message has gone.
Locks: the message.$$;
