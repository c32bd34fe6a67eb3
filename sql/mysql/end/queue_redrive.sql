-- calls: _queue_check_count, _queue_check_kind, _queue_check_roles, _queue_redrive, queue_now
drop procedure if exists queue_redrive;
delimiter $$
create procedure queue_redrive(in in_kind text collate exact,
    in in_max_messages bigint)
    comment 'Sends dead letters back to the kinds they came from. Each is a new entry with attempts 0. It keeps its key,
priority, errors, route and semaphores, and stands at the end of the line of its order key. The dead letter has ended by
that: it counts as moved, in history and log too.
in_kind: the dead-letter kind.
in_max_messages: how many to look at, in the order of their keys; NULL: all. Of several that came from the same key
the first in that order goes.
Result: went: how many; stayed: how many whose key is taken where they came from, or where that is drained.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages.
Locks: the dead letters, and the first of the lines. What others hold or have locked stays.'
begin
    declare v_one boolean;
    declare v_now, v_entry bigint;
    declare v_most bigint default coalesce(in_max_messages, 9223372036854775807);
    declare v_went, v_stayed bigint;
    begin atomic
        declare v_done boolean default false;
        declare c cursor for
            select d.entry
            from (
                select q.entry, q.source_key, q.source_kind, q.p_key
                    from delayed_queue q force index (delayed_queue_key)
                where q.p_kind = in_kind and q.source_kind is not null and q.pending is null
                    and (q.reserved_at is null or q.scheduled_at <= v_now)
                order by q.p_kind, q.p_key limit v_most for update skip locked) d
            order by d.source_key, d.source_kind, d.p_key;
        call queue_now(v_now);
        call _queue_check_kind(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        call _queue_check_count(v_most, 'max_messages', 9223372036854775807);
        set v_went = 0, v_stayed = 0;
        open c;
        letters: loop
            begin
                declare continue handler for not found set v_done = true;
                fetch c into v_entry;
            end;
            if v_done then
                leave letters;
            end if;
            call _queue_redrive(v_entry, v_now, v_one);
            set v_went = v_went + v_one;
            set v_stayed = v_stayed + (not v_one);
        end loop;
        close c;
    end atomic;
    select v_went as went, v_stayed as stayed;
end $$
delimiter ;
