-- The floor: what an application would write itself, on a table with nothing but id, payload and time; its five
-- statements are in bench/storage_innodb.py.
drop database if exists storage_floor $$
create database storage_floor character set utf8mb4 $$
create table storage_floor.queue (
    entry bigint auto_increment primary key,
    payload json not null,
    vt bigint not null,
    key queue_vt (vt)
) $$
create procedure storage_floor.push(in in_n int, in in_priority int, in in_delay bigint)
    insert into storage_floor.queue (payload, vt)
    select storage_common.payload(i.n), storage_common.now_us() + in_delay from storage_common.number i where i.n <= in_n $$
