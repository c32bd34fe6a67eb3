-- calls: _queue_check_fit, _queue_check_name, _queue_check_payload, _queue_check_roles, _queue_fail, _queue_key,
--     _queue_push_options
create or replace function _queue_check_inbox_row(in_row queue_inbox, in_now bigint,
    out p_key text, out payload jsonb, out headers jsonb, out priority smallint, out scheduled_at bigint,
    out attempts integer, out max_attempts integer) language plpgsql strict as $$
declare
    v_shape jsonb;
    v_draining boolean;
    v_restricted boolean;
    v_options record;
begin
    perform _queue_check_name(in_row.p_kind, 95, 'kind');
    p_key := coalesce(in_row.p_key, _queue_key(in_now));
    perform _queue_check_name(p_key, 200, 'key');
    if in_row.payload_bytes is null then
        payload := coalesce(in_row.payload, 'null')::jsonb;
        perform _queue_check_payload(payload, 'payload');
    elsif in_row.payload is not null then
        perform _queue_fail('PQ003', 'payload', in_row.payload, 'must not stand beside payload_bytes');
    end if;
    select k.payload_shape, k.draining, k.roles is not null into v_shape, v_draining, v_restricted from queue_kind k
        where k.p_kind = in_row.p_kind;
    if v_restricted then
        perform _queue_check_roles(array[in_row.p_kind]);
    end if;
    if v_draining then
        perform _queue_fail('PQ004', 'kind', in_row.p_kind, 'takes in nothing while it is drained');
    elsif v_shape is not null then
        perform _queue_check_fit(v_shape, payload, 'payload');
    end if;
    v_options := _queue_push_options(jsonb_strip_nulls(jsonb_build_object('delay_seconds', in_row.delay_seconds,
        'scheduled_at', in_row.scheduled_at, 'priority', in_row.priority, 'attempts', in_row.attempts,
        'max_attempts', in_row.max_attempts)) || case when in_row.headers is null then '{}'
        else jsonb_build_object('headers', in_row.headers::jsonb) end, in_now);
    headers := v_options.headers;
    priority := v_options.priority;
    scheduled_at := v_options.scheduled_at;
    attempts := v_options.attempts;
    max_attempts := v_options.max_attempts;
end $$;

comment on function _queue_check_inbox_row(queue_inbox, bigint) is
$$One row of the inbox, checked.
in_row: the row; NULL: nothing is done. in_now: the time of the call.
Result: its key (made where it has none), its payload where that is JSON, and each option, or its default.
Errors: PQ001, PQ002, PQ003, PQ004, and the server's own where a text is no JSON.
differs: on MariaDB and MySQL the rest of it is left to _queue_push.$$;
