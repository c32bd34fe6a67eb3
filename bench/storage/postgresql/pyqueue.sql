-- The product itself, installed into a schema of its own by `pyqueue upgrade`.
create or replace function pyqueue.push(in_n integer, in_priority integer, in_delay bigint) returns bigint language sql as $$
    select count(*) from pyqueue.queue_push_many('k',
        (select jsonb_agg(jsonb_build_object('key', gen_random_uuid(), 'payload', common.payload(i))) from generate_series(1, in_n) i),
        jsonb_build_object('priority', in_priority, 'delay_seconds', in_delay / 1000000))
$$;
