-- What every candidate on InnoDB shares. The same text for MariaDB 10.6 and MySQL 8.0.21, and later; sessions have
-- time_zone = '+00:00'. A statement ends with two dollar signs
-- (`delimiter` of the mysql client). No ORDER BY names p_kind: beside a literal, MariaDB 10.11 then sorts the line.
-- A look is `select min(…) into`: a subquery in IF or SET isn't a SELECT to InnoDB, so it locks what it reads, walks all
-- that is dead in front of the range's end, and took 12 ms where this takes 0.1.
drop database if exists storage_common $$
create database storage_common character set utf8mb4 $$
-- The wall clock in microseconds since 1970; SYSDATE, and not NOW, which `set timestamp` moves.
create function storage_common.now_us() returns bigint not deterministic no sql
    return timestampdiff(microsecond, '1970-01-01', sysdate(6)) $$
-- What every message carries: about 120 bytes.
create function storage_common.payload(in_i bigint) returns varchar(200) deterministic no sql
    return concat('{"i": ', in_i, ', "n": 42, "to": "someone@example.org", "subject": "A message of ordinary size"}') $$
create table storage_common.number (n int primary key) $$
insert into storage_common.number (n)
with recursive digit (d) as (select 0 union all select digit.d + 1 from digit where digit.d < 9)
select 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d from digit a, digit b, digit c, digit e $$
-- After a scan from the start, or from the mark: when the next one of its kind may come, so that all of them together
-- take a bounded share of the time. State of the session: @pq_rank and @pq_low, the lane last taken from and the place
-- in it; @pq_mark and @pq_mark_next, the same place 3 to 6 seconds ago; @pq_start, @pq_look, @pq_turn: the times.
create procedure storage_common.remember(in in_now bigint, in in_from bigint, in in_rank bigint)
begin
    declare v_took bigint default storage_common.now_us() - in_now;
    if @pq_turn is null or not in_rank <=> @pq_rank then
        set @pq_mark = 0, @pq_mark_next = 0, @pq_turn = in_now + 3000000, @pq_look = coalesce(@pq_look, in_now);
    end if;
    if in_from = 0 then
        set @pq_start = in_now + 50 * v_took;
    end if;
    if in_now >= @pq_look then
        set @pq_look = in_now + greatest(400000, 30 * v_took);
    end if;
    if in_now >= @pq_turn then
        set @pq_mark = @pq_mark_next, @pq_mark_next = @pq_low, @pq_turn = in_now + 3000000;
    end if;
end $$
