-- calls: _queue_fail
create procedure _queue_log_open()
    comment 'What comes before each append to the log: a shared lock of the newest epoch, whose floor is a position
before those of this transaction, until it ends.
Locks: that one, which a reader has for a moment.
differs: PostgreSQL has an advisory lock whose number is the floor; here nothing but locks of rows ends with the
transaction.'
begin
    declare v_floor, v_id, v_locked bigint;
    declare continue handler for not found begin end;
    select e.floor, e.id into v_floor, v_id from queue_log_epoch e order by e.floor desc, e.id desc limit 1;
    epochs: loop
        select e.id into v_locked from queue_log_epoch e where e.floor = v_floor and e.id = v_id lock in share mode;
        if v_locked is not null then
            leave epochs;
        elseif v_floor is null or v_floor = 0 then
            call _queue_fail('PQ004', 'queue_log_epoch', v_floor,
                'must have its first row, which somebody has deleted: define the kind again');
        end if;
        -- an old snapshot has epochs that are gone; an older one is as good, and the first one stays
        select e.floor, e.id into v_floor, v_id from queue_log_epoch e
        where e.floor < v_floor or e.floor = v_floor and e.id < v_id order by e.floor desc, e.id desc limit 1;
    end loop;
end;
