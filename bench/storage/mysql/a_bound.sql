-- A with a lower bound in the session. Delayed messages stand in the same index, so every priority in use is a probe
-- and a scan. One lane of the session has a bound: that is enough to judge the idea.
drop database if exists storage_a_bound $$
create database storage_a_bound character set utf8mb4
    -- differs: the collation that is binary and doesn't pad has another name on each server
    collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ $$
create table storage_a_bound.queue (
    entry bigint auto_increment primary key,
    p_kind varchar(100) not null, p_key varchar(200) not null, payload json, line_rank smallint not null,
    scheduled_at bigint not null, attempts int not null default 0, reserved_at bigint, reserved_by varchar(200),
    secret bigint,
    unique key queue_key (p_kind, p_key),
    key queue_line (p_kind, line_rank, scheduled_at, entry)
) $$
create procedure storage_a_bound.push(in in_n int, in in_priority int, in in_delay bigint)
    insert into storage_a_bound.queue (p_kind, p_key, payload, line_rank, scheduled_at)
    select 'k', concat(hex(storage_common.now_us()), '-', hex(uuid_short())), storage_common.payload(i.n), -in_priority,
        storage_common.now_us() + in_delay
    from storage_common.number i where i.n <= in_n $$
create procedure storage_a_bound._take(in in_rank int, in in_from bigint, in in_now bigint, in in_n int, out out_took int)
begin
    update (select q.entry, q.line_rank, q.scheduled_at from storage_a_bound.queue q force index (queue_line)
            where q.p_kind = 'k' and q.line_rank = in_rank and q.scheduled_at between in_from and in_now
            order by q.line_rank, q.scheduled_at, q.entry limit in_n for update skip locked) d
        straight_join storage_a_bound.queue t on t.entry = d.entry
    set t.scheduled_at = in_now + 30000000, t.attempts = t.attempts + 1, t.reserved_at = in_now, t.secret = 4711,
        t.reserved_by = if(concat(@pq_ids := concat(@pq_ids, ',', d.entry), @pq_rank := d.line_rank,
            @pq_low := d.scheduled_at) is null, '', 'w');
    set out_took = row_count();
end $$
-- A loose scan over the ranks in use; the lane with the bound is entered without a look at what is dead at its head.
create procedure storage_a_bound._scan(in in_from bigint, in in_now bigint, in in_n int)
begin
    declare v_rank, v_next int default -32769;
    declare v_lane int default if(in_from > 0, @pq_rank, null);
    declare v_took, v_left int default in_n;
    lanes: loop
        select min(q.line_rank) into v_next from storage_a_bound.queue q force index (queue_line)
        where q.p_kind = 'k' and q.line_rank between v_rank + 1 and if(v_rank < v_lane, v_lane - 1, 32767);
        if v_next is null and v_rank < v_lane then
            set v_next = v_lane;
        end if;
        if v_next is null then
            leave lanes;
        end if;
        call storage_a_bound._take(v_next, if(v_next = v_lane, in_from, 0), in_now, v_left, v_took);
        set v_left = v_left - v_took, v_rank = v_next;
        if v_left <= 0 then
            leave lanes;
        end if;
    end loop;
end $$
create procedure storage_a_bound.reserve(in in_n int)
begin
    declare v_now bigint default storage_common.now_us();
    declare v_rank int default @pq_rank;
    declare v_from bigint default case when v_rank is null or v_now >= @pq_start then 0
        when v_now >= @pq_look then @pq_mark else @pq_low end;
    set @pq_ids = '';
    call storage_a_bound._scan(v_from, v_now, in_n);
    if @pq_ids = '' and v_from > 0 and @pq_start < v_now + 500000 then
        set v_from = 0;
        call storage_a_bound._scan(0, v_now, in_n);
    end if;
    if v_from = 0 or v_now >= least(@pq_look, @pq_turn) or v_rank <> @pq_rank then
        call storage_common.remember(v_now, v_from, v_rank);
    end if;
    select q.entry, q.payload
    from json_table(concat('[', substr(@pq_ids, 2), ']'), '$[*]' columns (entry bigint path '$')) j
        straight_join storage_a_bound.queue q on q.entry = j.entry;
end $$
create procedure storage_a_bound.ack(in in_entries text)
    delete q from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
        straight_join storage_a_bound.queue q on q.entry = j.entry $$
