-- The floor: what an application would write itself, on a table with nothing but id, payload and time.
drop schema if exists floor cascade;
create schema floor;
create table floor.queue (
    id bigint generated always as identity primary key,
    payload jsonb not null,
    vt bigint not null
);
create index on floor.queue (vt);
create function floor.push(in_n integer, in_priority integer, in_delay bigint) returns void language sql as $$
    insert into floor.queue (payload, vt)
    select common.payload(i), common.now_us() + in_delay from generate_series(1, in_n) i
$$;
