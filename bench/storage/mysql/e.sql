-- E: the lock (scheduled_at, not indexed) apart from the place, and what waits apart from what is ready. `ready_at` is
-- the place in the ready line, `due_at` the entry in the timetable; a message stands in one of the two, and a reserve
-- touches neither. MySQL has no partial index: what waits has a NULL rank, which sorts before every rank in use and so
-- outside the range that a reserve reads. A lower bound in the session.
drop database if exists storage_e $$
create database storage_e character set utf8mb4
    -- differs: the collation that is binary and doesn't pad has another name on each server
    collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ $$
create table storage_e.queue (
    entry bigint auto_increment primary key,
    p_kind varchar(100) not null, p_key varchar(200) not null, payload json, priority smallint not null,
    ready_rank smallint, ready_at bigint, due_at bigint,
    scheduled_at bigint not null, attempts int not null default 0, reserved_at bigint, reserved_by varchar(200),
    secret bigint,
    unique key queue_key (p_kind, p_key),
    key queue_ready (p_kind, ready_rank, ready_at, entry),
    key queue_due (p_kind, due_at)
) $$
create procedure storage_e.push(in in_n int, in in_priority int, in in_delay bigint)
    insert into storage_e.queue (p_kind, p_key, payload, priority, ready_rank, ready_at, due_at, scheduled_at)
    select 'k', concat(hex(t.at), '-', hex(uuid_short())), storage_common.payload(t.n), in_priority,
        if(in_delay > 0, null, -in_priority), if(in_delay > 0, null, t.at), if(in_delay > 0, t.at, null), t.at
    from (select i.n, storage_common.now_us() + in_delay as at from storage_common.number i where i.n <= in_n) t $$
-- What has come due moves from the timetable into the ready line.
create procedure storage_e._promote(in in_from bigint, in in_now bigint)
    update (select q.entry from storage_e.queue q force index (queue_due)
            where q.p_kind = 'k' and q.due_at between in_from and in_now
            order by q.due_at limit 1000 for update skip locked) d
        straight_join storage_e.queue t on t.entry = d.entry
    set t.ready_rank = if((@pq_due := t.due_at) is null, null, -t.priority), t.ready_at = t.due_at, t.due_at = null $$
-- From in_low to in_high are the ranks; a place to start from goes with one rank only.
create procedure storage_e._take(in in_low int, in in_high int, in in_from bigint, in in_now bigint, in in_n int)
begin
    if in_from > 0 then
        update (select q.entry, q.ready_rank, q.ready_at from storage_e.queue q force index (queue_ready)
                where q.p_kind = 'k' and q.ready_rank = in_low and q.ready_at >= in_from and q.scheduled_at <= in_now
                order by q.ready_rank, q.ready_at, q.entry limit in_n for update skip locked) d
            straight_join storage_e.queue t on t.entry = d.entry
        set t.scheduled_at = in_now + 30000000, t.attempts = t.attempts + 1, t.reserved_at = in_now, t.secret = 4711,
            t.reserved_by = if(concat(@pq_ids := concat(@pq_ids, ',', d.entry), @pq_rank := d.ready_rank,
                @pq_low := d.ready_at) is null, '', 'w');
    else
        update (select q.entry, q.ready_rank, q.ready_at from storage_e.queue q force index (queue_ready)
                where q.p_kind = 'k' and q.ready_rank between in_low and in_high and q.scheduled_at <= in_now
                order by q.ready_rank, q.ready_at, q.entry limit in_n for update skip locked) d
            straight_join storage_e.queue t on t.entry = d.entry
        set t.scheduled_at = in_now + 30000000, t.attempts = t.attempts + 1, t.reserved_at = in_now, t.secret = 4711,
            t.reserved_by = if(concat(@pq_ids := concat(@pq_ids, ',', d.entry), @pq_rank := d.ready_rank,
                @pq_low := d.ready_at) is null, '', 'w');
    end if;
end $$
create procedure storage_e.reserve(in in_n int)
begin
    declare v_now bigint default storage_common.now_us();
    declare v_rank int default @pq_rank;
    declare v_from bigint default case when v_rank is null or v_now >= @pq_start then 0
        when v_now >= @pq_look then @pq_mark else @pq_low end;
    declare v_due bigint default if(v_from > 0, coalesce(@pq_due, 0), 0);
    declare v_next, v_above bigint;
    set @pq_ids = '';
    select min(q.due_at) into v_next from storage_e.queue q force index (queue_due)
    where q.p_kind = 'k' and q.due_at between v_due and v_now;
    if v_next is not null then
        call storage_e._promote(v_due, v_now);
        set v_from = 0;
    elseif v_from > 0 then
        select max(q.ready_rank) into v_above from storage_e.queue q force index (queue_ready)
        where q.p_kind = 'k' and q.ready_rank between -32768 and v_rank - 1;
        set v_from = if(v_above is null, v_from, 0);
    end if;
    call storage_e._take(if(v_from > 0, v_rank, -32768), 32767, v_from, v_now, in_n);
    if @pq_ids = '' and v_from > 0 and @pq_start < v_now + 500000 then
        set v_from = 0;
        call storage_e._take(-32768, 32767, 0, v_now, in_n);
    end if;
    if v_from = 0 or v_now >= least(@pq_look, @pq_turn) or v_rank <> @pq_rank then
        call storage_common.remember(v_now, v_from, v_rank);
    end if;
    select q.entry, q.payload
    from json_table(concat('[', substr(@pq_ids, 2), ']'), '$[*]' columns (entry bigint path '$')) j
        straight_join storage_e.queue q on q.entry = j.entry;
end $$
create procedure storage_e.ack(in in_entries text)
    delete q from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
        straight_join storage_e.queue q on q.entry = j.entry $$
