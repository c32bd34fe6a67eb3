-- calls: _queue_check_kind, _queue_group_check, _queue_group_note, _queue_group_options, _queue_members_end,
--     queue_group, queue_now
-- changes: queue_group, queue_group_slot
drop procedure if exists _queue_group;
delimiter $$
create procedure _queue_group(in in_group text collate exact, in in_then_kind text collate exact,
    in in_then_payload longtext character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'queue_group without its transaction and its result.
in_group, in_then_kind, in_then_payload, in_options, the errors and the locks: those of queue_group.
differs: on PostgreSQL it is a part of queue_group.'
begin
    declare v_now, v_new, v_expected, v_priority, v_finished_at bigint;
    declare v_found varchar(100) collate exact;
    declare v_delay, v_keep decimal(30,6);
    declare v_close boolean;
    declare v_dead longtext character set utf8mb4;
    declare v_key, v_on_dead, v_fail_kind longtext collate exact;
    declare continue handler for not found begin end;
    call queue_now(v_now);
    call _queue_check_kind(in_group, 100, 'group');
    call _queue_group_options(in_then_kind, in_then_payload, in_options, v_close, v_expected, v_on_dead, v_fail_kind,
        v_key, v_priority, v_delay, v_keep);
    if in_then_kind is not null then
        insert into queue_group (group_name, then_kind, then_payload, then_key, then_priority, then_delay, on_dead,
            closed, keep_seconds, created_at)
        values (in_group, in_then_kind, '{}', in_group, 0, 0, 'wait', false, 86400, v_now)
        on duplicate key update group_name = queue_group.group_name;
    end if;
    select g.group_name, g.finished_at into v_found, v_finished_at from queue_group g
        where g.group_name = in_group for update;
    if v_found is null then
        call _queue_check_kind(in_then_kind, 95, 'then_kind');
    elseif v_finished_at is null then
        select count(*) = 0 into v_new from queue_group_slot s where s.group_name = in_group;
        if v_new then
            insert into queue_group_slot (group_name, slot)
            select in_group, a.n * 8 + b.n
            from json_table('[0, 1, 2, 3]', '$[*]' columns (n int path '$')) a
                join json_table('[0, 1, 2, 3, 4, 5, 6, 7]', '$[*]' columns (n int path '$')) b
            order by 2;
        end if;
        update queue_group g
        set g.then_kind = coalesce(in_then_kind, g.then_kind),
            g.then_payload = coalesce(in_then_payload, g.then_payload), g.then_key = coalesce(v_key, g.then_key),
            g.on_dead = coalesce(v_on_dead, g.on_dead), g.then_priority = coalesce(v_priority, g.then_priority),
            g.then_delay = coalesce(v_delay * 1000000, g.then_delay), g.fail_kind = coalesce(v_fail_kind, g.fail_kind),
            g.expected = coalesce(v_expected, g.expected), g.closed = g.closed
            or coalesce(v_close, false), g.keep_seconds = coalesce(v_keep, g.keep_seconds)
        where g.group_name = in_group;
        if v_on_dead <> 'wait' then -- of those that have died, too
            /*M!100600 set statement group_concat_max_len = 1000000000 for */
            select json_arrayagg(m.member) into v_dead
            from queue_group_member m straight_join delayed_queue q force index (primary) on q.entry = m.entry
            where m.group_name = in_group and m.done_at is null and q.source_kind is not null;
            if v_dead is not null then
                call _queue_members_end(v_dead, 'dead', null, v_now);
            end if;
        end if;
        call _queue_group_note(in_group);
        call _queue_group_check(in_group, v_now);
    end if;
end $$
delimiter ;
