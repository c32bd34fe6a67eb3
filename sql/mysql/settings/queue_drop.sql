-- calls: _queue_check_dead_letter_kind, _queue_check_name, _queue_check_roles, _queue_end, _queue_fail, queue_now
-- changes: queue_bucket, queue_kind, queue_slot, queue_subscription, queue_use
create procedure queue_drop(in in_kind text collate exact)
    comment 'Removes a kind: its messages, its settings and its subscriptions. Schedules of it stay,
so do semaphores, groups and the places of readers. Its history, the keys that it remembers and its log go with the next
queue_prune.
in_kind: the kind.
Result: the settings it had.
Errors: PQ007 for a kind that is for others. PQ001 for kind, PQ004 while messages are held, and where the default
dead-letter kind would close a circle; then nothing is removed.
Locks: the messages, in the order of their entries; other definitions wait until the transaction ends.'
begin
    declare v_now, v_entry, v_free, v_held bigint;
    declare v_dead_letter_kind varchar(100) collate exact;
    declare continue handler for not found begin end;
    begin atomic
        declare c cursor for
            select q.entry from delayed_queue q force index (delayed_queue_key) where q.p_kind = in_kind
                order by q.entry;
        call queue_now(v_now);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        insert into queue_kind (p_kind) values ('') on duplicate key update p_kind = ''; -- as queue_define
        for each c into v_entry do
            set v_free = null;
            select q.entry into v_free from delayed_queue q
            where q.entry = v_entry and (q.reserved_at is null or q.scheduled_at <= v_now) for update;
            if v_free is not null then
                call _queue_end(v_free, 'dropped', null, v_now);
            end if;
        end each;
        select min(q.entry) into v_held from delayed_queue q force index (delayed_queue_key)
        where q.p_kind = in_kind and q.reserved_at is not null and q.scheduled_at > v_now lock in share mode;
        if v_held is not null then
            call _queue_fail('PQ004', 'kind', in_kind, 'refused while messages are held');
        end if;
        select k.dead_letter_kind into v_dead_letter_kind from queue_kind k where k.p_kind = in_kind;
        if v_dead_letter_kind is not null then
            call _queue_check_dead_letter_kind(in_kind, null);
        end if;
        -- so that it has settings to show
        insert into queue_kind (p_kind) values (in_kind) on duplicate key update p_kind = in_kind;
        select k.* from queue_kind k where k.p_kind = in_kind;
        delete k from queue_kind k where k.p_kind = in_kind;
        delete s from queue_subscription s where s.p_kind = in_kind;
        delete u from queue_use u where u.p_kind = in_kind;
        delete l from queue_slot l where l.p_kind = in_kind;
        delete b from queue_bucket b where b.p_kind = in_kind;
    end atomic;
end;
