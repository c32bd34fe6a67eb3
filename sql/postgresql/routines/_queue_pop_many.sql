create or replace function _queue_pop_many(in_kind queue_kind, in_max integer, in_now bigint)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, errors jsonb) language sql as $$
    select m.* from _queue_pop_some(in_kind, in_max, in_now, null::jsonb) m
$$;

comment on function _queue_pop_many(queue_kind, integer, bigint) is
$$What a queue_pop goes on with that began before an upgrade to this release; the next one has it no more.
The parameters, the result and the locks are those of _queue_pop_some.$$;
