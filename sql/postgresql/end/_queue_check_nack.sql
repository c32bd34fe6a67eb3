-- calls: _queue_boolean, _queue_check_options, _queue_check_payload, _queue_number, _queue_text
create or replace function _queue_check_nack(in_options jsonb) returns void language plpgsql as $$
begin
    if in_options is not null then
        perform _queue_check_options(in_options, '{delay_seconds, error, payload, final, count}'::text[], 'options');
        perform _queue_number(in_options, 'delay_seconds', 0::numeric, 31536000::numeric);
        perform _queue_text(in_options, 'error');
        perform _queue_boolean(in_options, 'final');
        perform _queue_boolean(in_options, 'count');
        perform _queue_check_payload(in_options -> 'payload', 'payload') where in_options ? 'payload';
    end if;
end $$;

comment on function _queue_check_nack(jsonb) is
$$Refuses options that queue_nack doesn't know.
in_options: the options.
Errors: PQ002, and PQ003 for the payload.$$;
