create or replace function _queue_tokens(in_kind queue_kind, in_max integer, in_now bigint, in_state bigint[], out state bigint[], out tokens bigint)
    language plpgsql as $$
declare
    v_age constant bigint := in_now - in_state[3];
    v_lease record;
begin
    state := in_state;
    tokens := case when v_age between 0 and 1000000 then state[2] else 0 end;
    if tokens >= in_max then
        return;
    end if;
    v_lease := _queue_lease(in_kind.p_kind, in_kind.rate_per_second, in_max,
        case when v_age between 0 and 250000 then floor(in_kind.rate_per_second / 320)::integer else 0 end, in_now, state[2]);
    if v_lease.got > 0 then
        tokens := v_lease.got;
        state[2] := v_lease.got;
        state[3] := in_now;
    elsif v_lease.back = 0 then
        tokens := 0;
        state[2] := 0;
    end if;
end $$;

comment on function _queue_tokens(queue_kind, integer, bigint, bigint[]) is
$$Tokens for deliveries of a kind with rate_per_second. A session keeps what it has taken ahead for a second: 50 ms of the tokens of a
part of the bucket, 1/320 of the rate, if it took some within the last quarter of a second. What is left of them it gives back when it takes some again.
in_kind: the settings of the kind. in_max: how many. in_now: the time of the call. in_state: see _queue_permit.
Result: state, as it is then; tokens: how many may be used, and are to be taken out of it then; it may be more than in_max.
Locks: as _queue_lease.$$;
