-- changes: queue_log_epoch, queue_log_known
create procedure _queue_log_horizon(in in_now bigint, out out_horizon bigint)
    comment 'The position up to which whoever has drawn one has ended: what is read later in this transaction has all of
that. The open transactions count that have appended, no others.
in_now: the time of the call. The transaction is the call''s own.
Result: the position.
Locks: epochs and notes; those that others have locked are left. An epoch that nobody holds any more goes, but for the
newest.
differs: the result is out_horizon. An epoch that is held, by others than readers, ends it; then a new one is made, for
those who come later. The result is noted, once a second at the most, and older notes go; on PostgreSQL only who keeps a
snapshot makes notes.'
begin
    declare v_last, v_floor, v_id, v_newest, v_locked, v_found, v_noted, v_noted_at bigint;
    declare v_old longtext;
    declare v_tries int default 0;
    declare c cursor for select e.floor, e.id from queue_log_epoch e order by e.floor, e.id;
    declare continue handler for not found begin end;
    select coalesce(max(l.position), 0) into v_last from queue_log l;
    select e.id into v_newest from queue_log_epoch e order by e.floor desc, e.id desc limit 1;
    set out_horizon = v_last;
    epochs: for each c into v_floor, v_id do
        set v_locked = null, v_found = 1, v_tries = 0;
        while v_locked is null and v_found > 0 and v_tries < 6 do -- another reader has it for a moment
            select max(e.id) into v_locked from (
                select o.id from queue_log_epoch o where o.floor = v_floor and o.id = v_id for update skip locked) e;
            if v_locked is null then
                select count(*) into v_found from queue_log_epoch e where e.floor = v_floor and e.id = v_id;
                do sleep(rand() * 0.0005 * v_tries);
                set v_tries = v_tries + 1;
            end if;
        end while;
        if v_locked is not null and v_id not in (0, v_newest) then
            delete e from queue_log_epoch e where e.floor = v_floor and e.id = v_id;
        elseif v_locked is null and v_found > 0 then
            set out_horizon = least(v_floor, v_last);
            if v_id = v_newest and v_last > v_floor then
                insert into queue_log_epoch (floor, id) values (v_last, uuid_short() & 9223372036854775807);
            end if;
            leave epochs;
        end if;
    end each;
    select n.position, n.noted_at into v_noted, v_noted_at from queue_log_known n order by n.position desc limit 1;
    if out_horizon > coalesce(v_noted, 0) and coalesce(v_noted_at not between in_now - 1000000 and in_now, true) then
        select json_arrayagg(json_array(o.position, o.id)) into v_old
        from (select n.position, n.id from queue_log_known n order by n.position limit 100 for update skip locked) o;
        insert into queue_log_known (position, id, noted_at)
            values (out_horizon, uuid_short() & 9223372036854775807, in_now);
        delete n from unnest(coalesce(v_old, '[]')) j (position bigint, id bigint)
            straight_join queue_log_known n force index (primary) on n.position = j.position and n.id = j.id;
    end if;
end;
