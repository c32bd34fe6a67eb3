-- calls: _queue_boolean, _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles,
--     _queue_fail, _queue_group_check, _queue_group_note, _queue_integer, _queue_lock, _queue_members_end,
--     _queue_members_settle, _queue_number, _queue_text, queue_now
-- changes: queue_group, queue_group_stripe
create procedure queue_group(in in_group text collate exact, in in_then_kind text collate exact,
    in in_then_payload longtext, in in_options longtext)
    comment 'Makes a group, or changes one that has not finished. When all of its members are done, the queue pushes one
more message, once: the continuation. Messages become members by option group of a push. A member is done when it is
acked, or at the end of its route.
in_group: its name, 1 to 100 characters.
in_then_kind: the kind of the continuation, 1 to 95 characters; NULL: as it was.
in_then_payload: a JSON object; NULL: as it was, at first {}. The results are put into it as results: an array, in the
order of the pushes, of {kind, key, outcome, result, error}. kind and key are those of the push, result is what the
ack gave. All together are one payload: 10000 results of 1 kB are 10 MB, and MySQL and MariaDB want max_allowed_packet
to be as large.
in_options: each is kept where it isn''t given again.
- close: says that all members are known. Allowed: true, false. Default: false.
- members: how many members there will be. Allowed: 0 to 1000000000. Default: not known.
- on_dead: what a dead member does. wait: the group waits until that is redriven and acked, or acked as a dead letter.
  report: the member is done, and its error is with the results. fail: the group has failed at once. Allowed: wait,
  report, fail. Default: wait.
- fail_kind: where the continuation of a group that has failed goes, with the results so far. Allowed: a kind, 1 to 95
  characters. Default: nothing is pushed.
- key: the key of the continuation. Where it is taken, that message is replaced as by a push with on_duplicate.
  Allowed: 1 to 200 characters. Default: the name of the group.
- priority: the priority of the continuation. Allowed: -32768 to 32767. Default: 0.
- delay_seconds: how long the continuation waits. Allowed: 0 to 31536000 (a year). Default: 0.
- keep_seconds: how long a group that has finished is remembered. Allowed: 0 to 3153600000 (100 years). Default: 86400
  (a day).
A group finishes once it is closed, or has as many members as it was to have, and all of them are done. One that is
closed without any member finishes at once. Until it has finished more may be added, also by a member that is held;
after that it is an error. What is pushed onto a message that is there already is no member. A member that moves, dies
or is redriven stays one. One whose key is taken where it goes is done: outcome duplicate. One that is popped,
removed, purged, dropped or goes with its kind is done: outcome gone, from the next queue_prune on. The continuation
is put in even where its kind is drained.
Result: group_name; state: open, closed, done, failed; members, done: how many. A group that has finished stays as it
is.
Errors: PQ007 for a kind that is for others. PQ001 for group and then_kind, PQ002 for options, PQ003 for then_payload.
Locks: where on_dead was wait, and is no longer, the members that aren''t done, in the order of their entries. Then the
group; waits for pushes of members that haven''t committed. Acks of the last members of a group, and of a group of a
few, wait for one another''s transactions. Under REPEATABLE READ and SERIALIZABLE the last ack may not see that it is
the last: then whoever next reserves, waits, sends a heartbeat, reaps or prunes finishes the group, and queue_wait and
queue_listen say that then_kind may have something.
Where the idea comes from: Chapman''s groups, whose last job starts the next step.'
begin
    begin atomic
        declare v_now, v_new, v_expected, v_priority, v_finished_at bigint;
        declare v_found varchar(100) collate exact;
        declare v_delay, v_keep decimal(30,6);
        declare v_close boolean;
        declare v_dead longtext;
        declare v_key, v_on_dead, v_fail_kind longtext collate exact;
        declare continue handler for not found begin end;
        call queue_now(v_now);
        call _queue_check_name(in_group, 100, 'group');
        if in_then_kind is not null then
            call _queue_check_name(in_then_kind, 95, 'then_kind');
        end if;
        call _queue_check_payload(in_then_payload, 'then_payload');
        if json_type(in_then_payload) <> 'OBJECT' then
            call _queue_fail('PQ003', 'then_payload', in_then_payload, 'must be a JSON object');
        end if;
        call _queue_check_options(in_options,
            'close,members,on_dead,fail_kind,key,priority,delay_seconds,keep_seconds', 'options');
        call _queue_boolean(in_options, 'close', v_close);
        call _queue_integer(in_options, 'members', 0, 1000000000, v_expected);
        call _queue_text(in_options, 'on_dead', v_on_dead);
        if v_on_dead not in ('wait', 'report', 'fail') then
            call _queue_fail('PQ002', 'on_dead', v_on_dead, 'must be wait, report or fail');
        end if;
        call _queue_text(in_options, 'fail_kind', v_fail_kind);
        if v_fail_kind is not null then
            call _queue_check_name(v_fail_kind, 95, 'fail_kind');
        end if;
        call _queue_text(in_options, 'key', v_key);
        if v_key is not null then
            call _queue_check_name(left(v_key, 201), 200, 'key');
        end if;
        call _queue_check_roles(json_array(in_then_kind, v_fail_kind));
        call _queue_integer(in_options, 'priority', -32768, 32767, v_priority);
        call _queue_number(in_options, 'delay_seconds', 0, 31536000, v_delay);
        call _queue_number(in_options, 'keep_seconds', 0, 3153600000, v_keep);
        if v_on_dead <> 'wait' then
            -- who ends a member locks it before the group; one that is dying has been told what that does
            select json_arrayagg(json_array(m.entry)) into v_dead
            from queue_group g straight_join queue_group_member m on m.group_name = g.group_name
            where g.group_name = in_group and g.on_dead = 'wait' and m.done_at is null;
            call _queue_lock(coalesce(v_dead, '[]'));
        end if;
        if in_then_kind is not null then
            insert into queue_group (group_name, then_kind, then_payload, then_key, then_priority, then_delay, on_dead,
                closed, keep_seconds, created_at)
            values (in_group, in_then_kind, '{}', in_group, 0, 0, 'wait', false, 86400, v_now)
            on duplicate key update group_name = queue_group.group_name;
        end if;
        select g.group_name, g.finished_at, json_array(g.then_kind, g.fail_kind) into v_found, v_finished_at, v_dead
        from queue_group g where g.group_name = in_group for update;
        call _queue_check_roles(v_dead); -- what is changed is what they get
        set v_dead = null;
        if v_found is null then
            call _queue_check_name(in_then_kind, 95, 'then_kind');
        elseif v_finished_at is null then
            select count(*) = 0 into v_new from queue_group_stripe s where s.group_name = in_group;
            if v_new then
                insert into queue_group_stripe (group_name, stripe)
                select in_group, a.n * 8 + b.n
                from unnest('[0, 1, 2, 3]') a (n int)
                    join unnest('[0, 1, 2, 3, 4, 5, 6, 7]') b (n int)
                order by 2 on duplicate key update stripe = queue_group_stripe.stripe; -- unseen by an old snapshot
            end if;
            update queue_group g
            set g.then_kind = coalesce(in_then_kind, g.then_kind),
                g.then_payload = coalesce(in_then_payload, g.then_payload), g.then_key = coalesce(v_key, g.then_key),
                g.on_dead = coalesce(v_on_dead, g.on_dead), g.then_priority = coalesce(v_priority, g.then_priority),
                g.then_delay = coalesce(v_delay * 1000000, g.then_delay),
                g.fail_kind = coalesce(v_fail_kind, g.fail_kind), g.expected = coalesce(v_expected, g.expected),
                g.closed = g.closed or coalesce(v_close, false), g.keep_seconds = coalesce(v_keep, g.keep_seconds)
            where g.group_name = in_group;
            if v_on_dead <> 'wait' then -- of those that have died, too
                select json_arrayagg(m.member) into v_dead
                from queue_group_member m straight_join delayed_queue q force index (primary) on q.entry = m.entry
                where m.group_name = in_group and m.done_at is null and q.source_kind is not null;
                if v_dead is not null then
                    call _queue_members_end(v_dead, 'dead', null, v_now);
                    call _queue_members_settle();
                end if;
            end if;
            call _queue_group_note(in_group);
            call _queue_group_check(in_group, v_now);
        end if;
        select v.group_name, v.state, v.members, v.done from queue_groups v where v.group_name = in_group;
    end atomic;
end;
