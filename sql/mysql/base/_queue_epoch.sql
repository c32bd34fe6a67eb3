-- calls: queue_now
-- changes: queue_epoch
create procedure _queue_epoch(out out_shift bigint)
    comment 'Answers what makes the number of an entry out of UUID_SHORT(): ((uuid_short() << 8) & 9223372036854775807)
+ out_shift. UUID_SHORT() alone begins with the server''s id and the time of its start, so numbers would fall with
another server or a clock set back. Here an epoch stands in front instead. Whoever finds that the newest epoch isn''t
that of this server, this run of it and this million of numbers begins the next one. The last 8 bits are the server''s
id, so that two servers never give the same number.
out_shift: what to add. It is good for this call.
Locks: none: the rows of sessions that begin the same epoch differ in their id.
differs: only here. PostgreSQL has sequences; why not AUTO_INCREMENT: docs/adr/0015.'
begin
    declare v_origin bigint default uuid_short() >> 20;
    declare v_epoch, v_newest, v_began_at, v_now, v_own bigint;
    declare continue handler for not found begin end;
    select e.epoch, e.origin, e.began_at into v_epoch, v_newest, v_began_at
    from queue_epoch e order by e.epoch desc, e.id desc limit 1;
    if not v_newest <=> v_origin then
        call queue_now(v_now);
        if abs(v_now - v_began_at) < 1000000 then
            -- two servers that are written to at once take turns once a second, so that there are epochs enough
            select max(e.epoch) into v_own from queue_epoch e where e.origin = v_origin;
        end if;
        if v_own is null then
            -- the same for all who find it out at the same time, and for a snapshot that is a few millions old
            set v_epoch = coalesce(v_epoch, 0) + if(v_origin - v_newest between 1 and 4096, v_origin - v_newest, 1);
            insert into queue_epoch (epoch, id, origin, began_at)
            values (v_epoch, uuid_short() & 9223372036854775807, v_origin, v_now);
        else
            set v_epoch = v_own;
        end if;
    end if;
    set out_shift = v_epoch * 4294967296 + cast(v_origin >> 36 as signed)
        - cast((v_origin << 28) & 9223372036854775807 as signed);
end;
