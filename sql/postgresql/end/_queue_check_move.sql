-- calls: _queue_check_name, _queue_check_options, _queue_check_payload, _queue_push_options, _queue_text
create or replace function _queue_check_move(in_to_kind text, in_options jsonb, in_now bigint, in_place text)
    returns void language plpgsql as $$
begin
    perform _queue_check_name(in_to_kind, 95, in_place || 'to_kind');
    if coalesce(in_options, 'null') = 'null' then
        return;
    end if;
    perform _queue_check_options(in_options, '{payload, headers, key, delay_seconds, priority, on_duplicate}'::text[],
        in_place || 'options');
    perform _queue_push_options(in_options - '{payload, key}'::text[], in_now);
    perform _queue_check_payload(in_options -> 'payload', in_place || 'payload') where in_options ? 'payload';
    perform _queue_check_name(in_options ->> 'key', 200, in_place || 'key')
        where _queue_text(in_options, 'key') is not null;
end $$;

comment on function _queue_check_move(text, jsonb, bigint, text) is
$$Refuses a target and options that queue_move doesn't know.
in_to_kind, in_options: those of queue_move. in_now: the time of the call. in_place: what stands before the names in
errors.
Errors: PQ001, PQ002, PQ003.$$;
