-- calls: _queue_check_name, _queue_check_payload, _queue_fail, _queue_push_options
create or replace function _queue_message(in_message jsonb, in_number bigint, in_defaults jsonb, in_now bigint,
    out p_key text, out scheduled_at bigint, out priority smallint, out headers jsonb, out attempts integer,
    out max_attempts integer, out on_duplicate text, out route jsonb, out order_key text, out semaphores text[])
    language plpgsql as $$
declare
    v_place constant text := 'messages[' || in_number - 1 || ']';
    v_own jsonb;
    v_options record;
begin
    if jsonb_typeof(in_message) <> 'object' then
        perform _queue_fail('PQ001', v_place, in_message::text, 'must be an object {key, payload, and push options}');
    elsif jsonb_typeof(in_message -> 'key') <> 'string' then
        perform _queue_fail('PQ001', v_place || '.key', in_message ->> 'key', 'must be a string');
    end if;
    p_key := in_message ->> 'key';
    perform _queue_check_name(p_key, 200, v_place || '.key');
    perform _queue_check_payload(in_message -> 'payload', v_place || '.payload');
    v_own := in_message - '{key,payload}'::text[];
    if v_own ?| '{delay_seconds,scheduled_at}' then
        in_defaults := in_defaults - '{delay_seconds,scheduled_at}'::text[];
    end if;
    v_options := _queue_push_options(coalesce(in_defaults, '{}') || v_own, in_now);
    scheduled_at := v_options.scheduled_at;
    priority := v_options.priority;
    headers := v_options.headers;
    attempts := v_options.attempts;
    max_attempts := v_options.max_attempts;
    on_duplicate := v_options.on_duplicate;
    route := v_options.route;
    order_key := v_options.order_key;
    semaphores := v_options.semaphores;
end $$;

comment on function _queue_message(jsonb, bigint, jsonb, bigint) is
$$One message of a batch, checked.
in_message: {key, payload, and push options}. in_number: its place, from 1. in_defaults: the options of the batch; those
of the message win. in_now: the time of the call.
Result: its key, and each option, or its default.
Errors: PQ001, PQ002, PQ003, naming the place as messages[0], messages[1], ….$$;
