-- pgmq itself, from the PyPI package of that name; bench/storage.py loads its SQL first.
drop schema if exists peer_pgmq cascade;
create schema peer_pgmq;
select pgmq.create('storage');
create function peer_pgmq.push(in_n integer, in_priority integer, in_delay bigint) returns void language sql as $$
    select pgmq.send_batch('storage', array(select common.payload(i) from generate_series(1, in_n) i),
        (in_delay / 1000000)::integer)
$$;
