-- calls: _queue_check_fit, _queue_check_name, _queue_check_payload, _queue_check_roles, _queue_fail,
--     _queue_push_options
create or replace function _queue_check_inbox_row(in_row queue_inbox, in_now bigint) returns boolean
    language plpgsql as $$
declare
    v_payload jsonb; v_shape jsonb;
    v_draining boolean; v_restricted boolean;
begin
    perform _queue_check_name(in_row.p_kind, 95, 'kind');
    if in_row.p_key is not null then
        perform _queue_check_name(in_row.p_key, 200, 'key');
    end if;
    if in_row.payload_bytes is null then
        v_payload := coalesce(in_row.payload, 'null')::jsonb;
        perform _queue_check_payload(v_payload, 'payload');
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
        perform _queue_check_fit(v_shape, v_payload, 'payload');
    end if;
    perform _queue_push_options(jsonb_strip_nulls(jsonb_build_object('delay_seconds', in_row.delay_seconds,
        'scheduled_at', in_row.scheduled_at, 'priority', in_row.priority, 'attempts', in_row.attempts,
        'max_attempts', in_row.max_attempts)) || case when in_row.headers is null then '{}'
        else jsonb_build_object('headers', in_row.headers::jsonb) end, in_now);
    return true;
end $$;

comment on function _queue_check_inbox_row(queue_inbox, bigint) is
$$One row of the inbox, checked.
in_row: the row. in_now: the time of the call.
Result: true.
Errors: PQ001, PQ002, PQ003, PQ004, and the server's own where a text is no JSON.
differs: on MariaDB and MySQL the rest of it is left to _queue_push.$$;
