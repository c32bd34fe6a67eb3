-- calls: _queue_boolean, _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles,
--     _queue_fail, _queue_group_check, _queue_group_note, _queue_integer, _queue_members_end, _queue_members_settle,
--     _queue_number, _queue_permits_settle, _queue_text, queue_now
-- changes: queue_group, queue_group_stripe
create or replace function queue_group(in_group text, in_then_kind text default null,
    in_then_payload jsonb default null, in_options jsonb default null, out group_name text, out state text,
    out members bigint, out done bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_group queue_group;
    v_new boolean;
    v_dead bigint[];
begin
    perform _queue_check_name(in_group, 100, 'group');
    perform _queue_check_name(in_then_kind, 95, 'then_kind') where in_then_kind is not null;
    perform _queue_check_payload(in_then_payload, 'then_payload');
    if jsonb_typeof(in_then_payload) <> 'object' then
        perform _queue_fail('PQ003', 'then_payload', in_then_payload::text, 'must be a JSON object');
    end if;
    perform _queue_check_options(in_options,
        '{close, members, on_dead, fail_kind, key, priority, delay_seconds, keep_seconds}'::text[], 'options');
    perform _queue_boolean(in_options, 'close');
    perform _queue_integer(in_options, 'members', 0::bigint, 1000000000::bigint);
    if _queue_text(in_options, 'on_dead') not in ('wait', 'report', 'fail') then
        perform _queue_fail('PQ002', 'on_dead', in_options ->> 'on_dead', 'must be wait, report or fail');
    end if;
    perform _queue_check_name(in_options ->> 'fail_kind', 95, 'fail_kind')
        where _queue_text(in_options, 'fail_kind') is not null;
    perform _queue_check_name(in_options ->> 'key', 200, 'key') where _queue_text(in_options, 'key') is not null;
    perform _queue_check_roles(array[in_then_kind, in_options ->> 'fail_kind']);
    perform _queue_integer(in_options, 'priority', (-32768)::bigint, 32767::bigint);
    perform _queue_number(in_options, 'delay_seconds', 0::numeric, 31536000::numeric);
    perform _queue_number(in_options, 'keep_seconds', 0::numeric, 3153600000::numeric);
    insert into queue_group (group_name, then_kind, then_payload, then_key, then_priority, then_delay, on_dead, closed,
        keep_seconds, created_at)
    select in_group, in_then_kind, '{}', in_group, 0, 0, 'wait', false, 86400, v_now where in_then_kind is not null
    on conflict on constraint queue_group_pkey do nothing;
    v_new := found;
    -- who ends a member locks it before the group; one that is dying has been told what that does
    perform q.entry from delayed_queue q
    where in_options ->> 'on_dead' <> 'wait' and q.entry = any (array(
        select m.entry
        from queue_group g join queue_group_member m on m.group_name between g.group_name and g.group_name
        where g.group_name = in_group and g.on_dead = 'wait' and m.done_at is null))
    order by q.entry + 0 for update;
    select g.* into v_group from queue_group g where g.group_name = in_group for update;
    if not found then
        perform _queue_check_name(in_then_kind, 95, 'then_kind');
    end if;
    perform _queue_check_roles(array[v_group.then_kind, v_group.fail_kind]); -- what is changed is what they get
    if v_group.finished_at is null then
        if v_new then
            insert into queue_group_stripe (group_name, stripe) select in_group, s.stripe
                from generate_series(0, 31) s (stripe);
        end if;
        update queue_group g
        set then_kind = coalesce(in_then_kind, g.then_kind), then_payload = coalesce(in_then_payload, g.then_payload),
            then_key = coalesce(in_options ->> 'key', g.then_key),
            on_dead = coalesce(in_options ->> 'on_dead', g.on_dead),
            then_priority = coalesce((in_options ->> 'priority')::numeric::smallint, g.then_priority),
            then_delay = coalesce(((in_options ->> 'delay_seconds')::numeric * 1000000)::bigint, g.then_delay),
            fail_kind = coalesce(in_options ->> 'fail_kind', g.fail_kind),
            expected = coalesce((in_options ->> 'members')::numeric::bigint, g.expected),
            closed = g.closed or coalesce((in_options ->> 'close')::boolean, false),
            keep_seconds = coalesce((in_options ->> 'keep_seconds')::numeric, g.keep_seconds)
        where g.group_name = in_group;
        if in_options ->> 'on_dead' <> 'wait' then -- of those that have died, too
            v_dead := array(
                select m.member from queue_group_member m, lateral ( -- OFFSET: ADR 13
                    select q.source_kind from delayed_queue q where q.entry = m.entry offset 0) l
                where m.group_name = in_group and m.done_at is null and l.source_kind is not null);
            perform _queue_members_end(v_dead, 'dead', null::jsonb, v_now) where v_dead <> '{}';
            perform _queue_members_settle(v_now);
        end if;
        perform _queue_group_note(in_group);
        perform _queue_group_check(in_group, v_now);
        perform _queue_permits_settle(null::bigint[], null::text[], true, v_now);
    end if;
    select v.group_name, v.state, v.members, v.done into group_name, state, members, done
    from queue_groups v where v.group_name = in_group;
end $$;

comment on function queue_group(text, text, jsonb, jsonb) is
$$Makes a group, or changes one that has not finished. When all of its members are done, the queue pushes one more
message, once: the continuation. Messages become members by option group of a push. A member is done when it is acked,
or at the end of its route.
in_group: its name, 1 to 100 characters.
in_then_kind: the kind of the continuation, 1 to 95 characters; NULL: as it was.
in_then_payload: a JSON object; NULL: as it was, at first {}. The results are put into it as results: an array, in the
order of the pushes, of {kind, key, outcome, result, error}. kind and key are those of the push, result is what the
ack gave. All together are one payload: 10000 results of 1 kB are 10 MB, and MySQL and MariaDB want max_allowed_packet
to be as large.
in_options: each is kept where it isn't given again.
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
Locks: where on_dead was wait, and is no longer, the members that aren't done, in the order of their entries. Then the
group; waits for pushes of members that haven't committed. Acks of the last members of a group, and of a group of a
few, wait for one another's transactions. Under REPEATABLE READ and SERIALIZABLE the last ack may not see that it is
the last: then whoever next reserves, waits, sends a heartbeat, reaps or prunes finishes the group, and queue_wait and
queue_listen say that then_kind may have something.
Where the idea comes from: Chapman's groups, whose last job starts the next step.$$;
