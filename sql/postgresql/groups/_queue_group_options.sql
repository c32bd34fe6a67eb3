-- calls: _queue_boolean, _queue_check_key, _queue_check_kind, _queue_check_options, _queue_check_payload,
--     _queue_check_roles, _queue_fail, _queue_integer, _queue_number, _queue_text
create or replace function _queue_group_options(in_then_kind text, in_then_payload jsonb, in_options jsonb) returns void
    language plpgsql as $$
begin
    if in_then_kind is not null then
        perform _queue_check_kind(in_then_kind, 95, 'then_kind');
    end if;
    if in_then_payload is not null then
        perform _queue_check_payload(in_then_payload, 'then_payload');
        if jsonb_typeof(in_then_payload) <> 'object' then
            perform _queue_fail('PQ003', 'then_payload', in_then_payload::text, 'must be a JSON object');
        end if;
    end if;
    perform _queue_check_options(in_options,
        '{close, members, on_dead, fail_kind, key, priority, delay_seconds, keep_seconds}'::text[], 'options');
    perform _queue_boolean(in_options, 'close');
    perform _queue_integer(in_options, 'members', 0::bigint, 1000000000::bigint);
    if _queue_text(in_options, 'on_dead') not in ('wait', 'report', 'fail') then
        perform _queue_fail('PQ002', 'on_dead', in_options ->> 'on_dead', 'must be wait, report or fail');
    end if;
    if _queue_text(in_options, 'fail_kind') is not null then
        perform _queue_check_kind(in_options ->> 'fail_kind', 95, 'fail_kind');
    end if;
    if _queue_text(in_options, 'key') is not null then
        perform _queue_check_key(in_options ->> 'key', 'key');
    end if;
    perform _queue_check_roles(array[in_then_kind, in_options ->> 'fail_kind']);
    perform _queue_integer(in_options, 'priority', (-32768)::bigint, 32767::bigint);
    perform _queue_number(in_options, 'delay_seconds', 0::numeric, 31536000::numeric);
    perform _queue_number(in_options, 'keep_seconds', 0::numeric, 3153600000::numeric);
end $$;

comment on function _queue_group_options(text, jsonb, jsonb) is
$$Refuses what queue_group doesn't know.
in_then_kind, in_then_payload, in_options: those of queue_group.
Errors: PQ001, PQ002, PQ003.$$;
