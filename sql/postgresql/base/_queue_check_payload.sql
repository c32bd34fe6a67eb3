-- calls: _queue_fail, _queue_is_huge
create or replace function _queue_check_payload(in_payload jsonb, in_name text) returns void
    language plpgsql as $$
begin
    if jsonb_path_exists(in_payload, '$.**{31}') then
        perform _queue_fail('PQ003', in_name, in_payload::text, 'must be at most 31 levels deep');
    elsif _queue_is_huge(in_payload) then
        perform _queue_fail('PQ003', in_name, in_payload::text, 'must have no number beyond 1.8e308');
    end if;
end $$;

comment on function _queue_check_payload(jsonb, text) is
$$Refuses JSON that not every server can hold.
in_payload: the payload; NULL: nothing is refused. in_name: the parameter's name for the message.
Errors: PQ003 where it is deeper than 31 levels (a scalar is one level), or has a number beyond double precision.$$;
