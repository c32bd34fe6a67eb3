-- calls: _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles, _queue_fail, _queue_text
create or replace function _queue_check_ack(in_options jsonb) returns void language plpgsql as $$
begin
    perform _queue_check_options(in_options, '{result, to, payload}'::text[], 'options');
    perform _queue_check_payload(in_options -> 'result', 'result');
    if jsonb_path_exists(in_options -> 'result', '$.**{28}') then
        perform _queue_fail('PQ003', 'result', (in_options -> 'result')::text, 'must be at most 28 levels deep');
    end if;
    perform _queue_check_payload(in_options -> 'payload', 'payload') where in_options ? 'payload';
    if _queue_text(in_options, 'to') is not null then
        perform _queue_check_name(in_options ->> 'to', 95, 'to');
        perform _queue_check_roles(array[in_options ->> 'to']);
    end if;
end $$;

comment on function _queue_check_ack(jsonb) is
$$Refuses options that queue_ack doesn't know.
in_options: those of queue_ack.
Errors: PQ001, PQ002, PQ003.$$;
