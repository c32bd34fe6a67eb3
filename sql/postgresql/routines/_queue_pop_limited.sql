create or replace function _queue_pop_limited(in_kind queue_kind, in_max integer, in_now bigint, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, errors jsonb) language plpgsql as $$
declare
    v_name text := _queue_limits_name(in_kind.p_kind);
    v_state bigint[] := coalesce(nullif(current_setting(v_name, true), '')::bigint[], '{0, 0, 0}');
    v_tokens record;
    v_rows integer := 0;
begin
    v_tokens := _queue_tokens(in_kind, in_max, in_now, v_state);
    v_state := v_tokens.state;
    if v_tokens.tokens > 0 then
        return query select m.* from _queue_pop_some(in_kind, least(in_max, v_tokens.tokens)::integer, in_now, in_where) m;
        get diagnostics v_rows = row_count;
    end if;
    v_state[2] := v_state[2] - v_rows;
    v_name := set_config(v_name, v_state::text, false);
end $$;

comment on function _queue_pop_limited(queue_kind, integer, bigint, jsonb) is
$$What queue_pop does with a kind that has rate_per_second: as many as there are tokens for.
in_kind: the settings of the kind. in_max: how many messages. in_now: the time of the call. in_where: what they must match, see _queue_where;
NULL: anything.
Result and locks: those of queue_pop; before the messages as _queue_lease.$$;
