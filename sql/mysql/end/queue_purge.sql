-- calls: _queue_check_count, _queue_check_name, _queue_check_roles, _queue_end, queue_now
create procedure queue_purge(in in_kind text collate exact, in in_max_messages bigint)
    comment 'Removes the messages of a kind that nobody holds.
in_kind: the kind. in_max_messages: how many at the most, NULL: all.
Result: purged: how many.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages.
Locks: the messages; what others have locked is left. Then the next in the lines of their order keys, and their
semaphores.'
begin
    declare v_now, v_entry, v_purged bigint;
    declare v_most bigint default coalesce(in_max_messages, 9223372036854775807);
    declare continue handler for not found begin end;
    begin atomic
        declare c cursor for
            select q.entry from delayed_queue q force index (delayed_queue_key)
            where q.p_kind = in_kind and (q.reserved_at is null or q.scheduled_at <= v_now)
            order by q.p_kind, q.p_key limit v_most for update skip locked;
        call queue_now(v_now);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        call _queue_check_count(v_most, 'max_messages', 9223372036854775807);
        set v_purged = 0;
        for each c into v_entry do
            call _queue_end(v_entry, 'removed', null, v_now);
            set v_purged = v_purged + 1;
        end each;
    end atomic;
    select v_purged as purged;
end;
