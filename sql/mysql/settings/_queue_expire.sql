-- calls: _queue_end
-- changes: queue_bucket, queue_kind, queue_slot, queue_subscription, queue_use
create procedure _queue_expire(in in_now bigint, in in_max bigint, out out_gone bigint)
    comment 'Removes kinds that are unused for longer than their expires_seconds: their messages, then their
subscriptions and settings. One that is the dead_letter_kind of another stays.
in_now: the time of the call. in_max: how many messages at the most; a kind that has more goes in several calls.
Result: how many rows went.
Locks: the settings of these kinds, and their messages in the order of their entries; what others have locked is left.
differs: the result is out_gone.'
begin
    declare v_kind varchar(100) collate exact;
    declare v_since, v_used, v_left, v_entry bigint;
    declare v_entries longtext;
    declare c cursor for
        select k.p_kind, in_now - k.expires_seconds * 1000000 from queue_kind k
        where k.expires_seconds is not null
            and (
                select u.id from queue_use u where u.p_kind = k.p_kind
                    and u.used_at > in_now - k.expires_seconds * 1000000 limit 1) is null
            and (select o.p_kind from queue_kind o where o.dead_letter_kind = k.p_kind limit 1) is null
        order by k.p_kind;
    declare m cursor for
        select j.entry from unnest(v_entries) j (entry bigint) order by j.entry;
    declare continue handler for not found begin end;
    set out_gone = 0;
    kinds: for each c into v_kind, v_since do
        if out_gone >= in_max then
            leave kinds;
        end if;
        set v_left = null, v_used = null;
        select k.expires_seconds into v_left from queue_kind k where k.p_kind = v_kind for update skip locked;
        if v_left is null then
            iterate kinds;
        end if;
        delete u from queue_use u where u.p_kind = v_kind;
        select max(if(q.reserved_at is not null and q.scheduled_at > in_now, in_now,
            greatest(q.created_at, coalesce(q.reserved_at, 0))))
        into v_used from delayed_queue q force index (delayed_queue_key) where q.p_kind = v_kind;
        if v_used > v_since then
            insert into queue_use (id, p_kind, used_at) values (uuid_short(), v_kind, v_used);
            iterate kinds;
        end if;
        set v_left = in_max - out_gone, v_entries = null;
        select json_arrayagg(o.entry) into v_entries
        from (
            select q.entry from delayed_queue q force index (delayed_queue_key)
            where q.p_kind = v_kind and greatest(q.created_at, coalesce(q.reserved_at, 0)) <= v_since
                and (q.reserved_at is null or q.scheduled_at <= in_now)
            order by q.entry limit v_left for update skip locked) o;
        if v_entries is not null then
            for each m into v_entry do
                call _queue_end(v_entry, 'dropped', null, in_now);
            end each;
            set out_gone = out_gone + json_length(v_entries);
        end if;
        set v_used = null;
        select min(q.entry) into v_used from delayed_queue q force index (delayed_queue_key) where q.p_kind = v_kind;
        if v_used is null then
            delete s from queue_subscription s where s.p_kind = v_kind;
            delete l from queue_slot l where l.p_kind = v_kind;
            delete b from queue_bucket b where b.p_kind = v_kind;
            delete k from queue_kind k where k.p_kind = v_kind;
            set out_gone = out_gone + 1;
        end if;
    end each;
end;
