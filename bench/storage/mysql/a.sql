-- A: one table, scheduled_at indexed; each reserve moves the index entry. One UPDATE over a derived table with SKIP
-- LOCKED, because each statement of a procedure is a transaction of its own under autocommit; the assignments in it
-- take the place of RETURNING.
drop database if exists storage_a $$
create database storage_a character set utf8mb4
    -- differs: the collation that is binary and doesn't pad has another name on each server
    collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ $$
create table storage_a.queue (
    entry bigint auto_increment primary key,
    p_kind varchar(100) not null, p_key varchar(200) not null, payload json, line_rank smallint not null,
    scheduled_at bigint not null, attempts int not null default 0, reserved_at bigint, reserved_by varchar(200),
    secret bigint,
    unique key queue_key (p_kind, p_key),
    key queue_line (p_kind, line_rank, scheduled_at, entry)
) $$
create procedure storage_a.push(in in_n int, in in_priority int, in in_delay bigint)
    insert into storage_a.queue (p_kind, p_key, payload, line_rank, scheduled_at)
    select 'k', concat(hex(storage_common.now_us()), '-', hex(uuid_short())), storage_common.payload(i.n), -in_priority,
        storage_common.now_us() + in_delay
    from storage_common.number i where i.n <= in_n $$
create procedure storage_a.reserve(in in_n int)
begin
    declare v_now bigint default storage_common.now_us();
    set @pq_ids = '';
    update (select q.entry from storage_a.queue q force index (queue_line)
            where q.p_kind = 'k' and q.scheduled_at <= v_now
            order by q.line_rank, q.scheduled_at, q.entry limit in_n for update skip locked) d
        straight_join storage_a.queue t on t.entry = d.entry
    set t.scheduled_at = v_now + 30000000, t.attempts = t.attempts + 1, t.reserved_at = v_now, t.secret = 4711,
        t.reserved_by = if((@pq_ids := concat(@pq_ids, ',', d.entry)) is null, '', 'w');
    select q.entry, q.payload
    from json_table(concat('[', substr(@pq_ids, 2), ']'), '$[*]' columns (entry bigint path '$')) j
        straight_join storage_a.queue q on q.entry = j.entry;
end $$
create procedure storage_a.ack(in in_entries text)
    delete q from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
        straight_join storage_a.queue q on q.entry = j.entry $$
