-- calls: _queue_fail, _queue_misfit
create or replace function _queue_check_fit(in_shape jsonb, in_payload jsonb, in_name text) returns void
    language plpgsql as $$
declare
    v_misfit constant text := _queue_misfit(in_shape, in_payload);
begin
    if v_misfit is not null then
        perform _queue_fail('PQ003', in_name, in_payload::text, v_misfit);
    end if;
end $$;

comment on function _queue_check_fit(jsonb, jsonb, text) is
$$Refuses a payload that is not of its kind.
in_shape: payload_shape of the kind, not NULL. in_payload: the payload; NULL: it is binary. in_name: the parameter's
name for the message.
Errors: PQ003.$$;
