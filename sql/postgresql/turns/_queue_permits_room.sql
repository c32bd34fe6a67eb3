-- changes: queue_semaphore, queue_semaphore_permit
create or replace function _queue_permits_room(in_name text, in_all boolean,
    in_now bigint) returns bigint language plpgsql as $$
declare
    v_permit record;
    v_held bigint;
    v_room bigint;
    v_lowered boolean;
begin
    for v_permit in
        select h.entry from queue_semaphore_permit h
        where h.name = in_name and h.until between 0 and in_now order by h.name, h.until limit 100
    loop
        select case when q.reserved_at is not null then q.scheduled_at else 0 end into v_held
        from delayed_queue q where q.entry = v_permit.entry for update skip locked;
        if v_held > in_now then
            update queue_semaphore_permit h set until = v_held where h.entry = v_permit.entry and h.name = in_name;
        elsif v_held is not null or not exists (select from delayed_queue q where q.entry = v_permit.entry) then
            delete from queue_semaphore_permit h where h.entry = v_permit.entry and h.name = in_name;
        end if;
    end loop;
    select s.capacity - (select count(*) from queue_semaphore_permit h where h.name = in_name), s.lowered
    into v_room, v_lowered from queue_semaphore s where s.name = in_name;
    if v_lowered and v_room >= 0 then
        update queue_semaphore s set lowered = false where s.name = in_name;
    end if;
    if v_room <= 0 and not in_all then
        -- taken back, not passed over: who takes such a message by its promise does so without the lock of the
        -- semaphore
        with o as (
            select h.entry from queue_semaphore_permit h
            where h.name = in_name and h.until < 0 and abs(h.until + in_now) >= 1000000 limit 100
            for update skip locked),
        d as (
            delete from queue_semaphore_permit h using o where h.entry = o.entry and h.name = in_name
            returning h.entry)
        select v_room + count(*) into v_room from d;
    end if;
    return v_room;
end $$;

comment on function _queue_permits_room(text, boolean, bigint) is
$$How many permits of a semaphore are free; those of holds that have expired, or whose message has gone, are freed, 100
at the most.
in_name: the semaphore, locked already. in_all: whether all those count that were told that there is room, and that
nobody holds yet; false: in the last second, or the next one where the clock was set back, where there is no room
otherwise.
in_now: the time of the call.
Result: the number, which may be negative; NULL where there is no such semaphore: then it keeps nobody waiting.
Locks: the messages whose holds have expired; what others have locked is left.$$;
