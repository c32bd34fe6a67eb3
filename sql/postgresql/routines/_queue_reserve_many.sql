create or replace function _queue_reserve_many(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint, in_worker text,
    in_seed bytea)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language sql as $$
    select m.* from _queue_reserve_some(in_kind, in_max, in_now, in_until, in_worker, in_seed, null::jsonb) m
$$;

comment on function _queue_reserve_many(queue_kind, integer, bigint, bigint, text, bytea) is
$$What a queue_reserve goes on with that began before an upgrade to this release; the next one has it no more.
The parameters, the result and the locks are those of _queue_reserve_some.$$;
