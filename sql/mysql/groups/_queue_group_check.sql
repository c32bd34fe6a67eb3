-- calls: _queue_put
-- changes: queue_group
create procedure _queue_group_check(in in_group text collate exact, in in_now bigint)
    comment 'Finishes a group where all is done, or where it has failed: pushes what follows it.
in_group: the group. in_now: the time of the call.
Locks: the group, and where it finishes its members and the message that has the key of the continuation.'
finishing: begin
    declare v_closed, v_fails, v_failed, v_ends boolean;
    declare v_open, v_dead, v_members, v_expected, v_delay, v_at, v_entry bigint;
    declare v_kind, v_fail_kind varchar(100) collate exact;
    declare v_key varchar(200) collate exact;
    declare v_payload, v_results longtext;
    declare v_priority smallint;
    declare v_outcome varchar(10);
    declare continue handler for not found begin end;
    select g.closed, g.on_dead = 'fail', g.expected, g.then_kind, g.fail_kind, g.then_key, g.then_payload,
        g.then_priority, g.then_delay
    into v_closed, v_fails, v_expected, v_kind, v_fail_kind, v_key, v_payload, v_priority, v_delay
    from queue_group g where g.group_name = in_group and g.finished_at is null for update;
    if v_closed is null then
        leave finishing;
    end if;
    select count(*), count(*) - count(m.done_at), count(if(m.outcome = 'dead', 1, null)) into v_members, v_open, v_dead
    from queue_group_member m force index (queue_group_member_group) where m.group_name = in_group;
    set v_failed = v_fails and v_dead > 0,
        v_ends = v_failed or v_open = 0 and (v_closed or coalesce(v_expected <= v_members, false));
    if v_ends and not v_failed then -- an old snapshot may not have all of them
        select count(*) = count(l.done_at) into v_ends
        from (select m.done_at from queue_group_member m force index (queue_group_member_group)
            where m.group_name = in_group for update skip locked) l;
    end if;
    if not v_ends then
        -- of two nodes of a cluster that look at the same time, one is to look again
        update queue_group g set g.turn = g.turn + 1 where g.group_name = in_group;
        leave finishing;
    end if;
    update queue_group g set g.finished_at = in_now, g.failed = v_failed,
        g.forget_at = in_now + g.keep_seconds * 1000000
    where g.group_name = in_group;
    set v_kind = if(v_failed, v_fail_kind, v_kind);
    if v_kind is not null then
        select json_arrayagg(json_merge_preserve(json_object('kind', r.p_kind, 'key', r.p_key, 'outcome', r.outcome),
            if(r.result is null, '{}', concat('{"result": ', r.result, '}')),
            if(r.error is null, '{}', json_object('error', r.error))))
        into v_results
        from (
            select m.p_kind, m.p_key, m.outcome, m.result, m.error
            from queue_group_member m force index (queue_group_member_group)
            where m.group_name = in_group and m.done_at is not null order by m.member limit 1000000000
            for update) r;
        set v_payload = json_merge_preserve(json_remove(v_payload, '$.results'),
            concat('{"results": ', coalesce(v_results, '[]'), '}'));
        call _queue_put(v_entry, v_kind, v_key, v_payload, null, null, v_priority, in_now, in_now + v_delay, 0, null,
            'replace', null, null, null, null, null, null, v_at, v_outcome);
    end if;
end;
