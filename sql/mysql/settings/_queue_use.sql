-- changes: queue_use
create procedure _queue_use(in in_kind text collate exact, in in_expires decimal(20,6), in in_now bigint)
    comment 'Notes that a kind with expires_seconds is used, once in a quarter of that time, and removes notes that are
past it.
in_kind: the kind. in_expires: its expires_seconds. in_now: the time of the call.
Locks: none that anybody waits for.'
begin
    declare v_used bigint;
    select max(u.used_at) into v_used from queue_use u where u.p_kind = in_kind;
    if coalesce(v_used <= in_now - in_expires * 250000, true) then
        insert into queue_use (id, p_kind, used_at) values (uuid_short(), in_kind, in_now);
        delete u from queue_use u force index (queue_use_newest)
        where u.p_kind = in_kind and u.used_at <= in_now - in_expires * 1000000 order by u.used_at limit 100
        skip locked by (id bigint unsigned);
    end if;
end;
