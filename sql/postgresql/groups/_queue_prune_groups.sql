-- calls: _queue_group_check, _queue_groups_due, _queue_members_end, _queue_members_settle
-- changes: queue_group, queue_group_member, queue_group_stripe
create or replace function _queue_prune_groups(in_now bigint, in_max bigint) returns bigint language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_left bigint := in_max;
    v_pruned bigint := 0;
    v_rows bigint;
    v_last bigint;
    v_some bigint[];
    v_gone bigint[] := '{}';
    v_names text[] := '{}';
    v_places bigint[] := '{}';
    v_group record;
begin
    for v_group in
        select g.group_name, g.checked_to from queue_group g where g.finished_at is null
            order by g.checked_at limit in_max
    loop
        select count(*), max(o.member),
            array_agg(o.member) filter (where o.done_at is null
            and (select q.entry from delayed_queue q where q.entry = o.entry) is null)
        into v_rows, v_last, v_some
        from (
            select m.member, m.entry, m.done_at from queue_group_member m
            where m.group_name = v_group.group_name and m.member > v_group.checked_to order by m.member limit v_left) o;
        v_gone := v_gone || v_some;
        v_names := v_names || v_group.group_name;
        v_places := v_places || case when v_rows < v_left then 0 else v_last end;
        v_left := v_left - greatest(v_rows, 1);
        exit when v_left <= 0;
    end loop;
    -- of all groups at once, before one is locked: a stripe that is waited for may be of who wants that next
    v_gone := array( -- another prune may have found the same
        select m.member from queue_group_member m
        where m.member = any (v_gone) order by m.member + 0 for update skip locked);
    perform _queue_members_end(v_gone, 'gone', null::jsonb, in_now) where v_gone <> '{}';
    perform _queue_members_settle(in_now);
    perform _queue_groups_due(in_now);
    for v_group in
        select n.group_name, n.place from unnest(v_names, v_places) n (group_name, place)
    loop
        perform from queue_group g where g.group_name = v_group.group_name for no key update skip locked;
        if found then
            perform _queue_group_check(v_group.group_name, in_now) where not exists (
                select from queue_group_member m where m.group_name = v_group.group_name and m.done_at is null);
            update queue_group g set checked_at = in_now, checked_to = v_group.place
            where g.group_name = v_group.group_name;
        end if;
    end loop;
    -- last, because who waits for one of their stripes may have others
    for v_group in
        select g.group_name from queue_group g where g.forget_at <= in_now
            order by g.forget_at limit in_max for update skip locked
    loop
        continue when ( -- who ends a member late, of a group that has failed, wants the group next
            select count(*) from queue_group_stripe s where s.group_name = v_group.group_name) > (
            select count(*) from (
                select s.stripe from queue_group_stripe s
                where s.group_name = v_group.group_name for update skip locked) l);
        delete from queue_group_member m
        where m.member = any (array(
            select o.member from queue_group_member o where o.group_name = v_group.group_name
            limit in_max - v_pruned for update skip locked));
        get diagnostics v_rows = row_count;
        v_pruned := v_pruned + v_rows;
        exit when v_pruned >= in_max;
        continue when exists (select from queue_group_member m where m.group_name = v_group.group_name);
        delete from queue_group_stripe s where s.group_name = v_group.group_name;
        delete from queue_group g where g.group_name = v_group.group_name;
        v_pruned := v_pruned + 1;
    end loop;
    return v_pruned;
end $$;

comment on function _queue_prune_groups(bigint, bigint) is
$$Forgets groups that have finished and are past their keep_seconds. Of the others it ends members whose message has
gone without an ack, and finishes those where nobody saw that all is done: those first that it has not looked at for
longest.
in_now: the time of the call. in_max: how many rows to look at, of each sort.
Result: how many were forgotten.
Locks: as _queue_members_settle. Then the groups that are forgotten; what others have locked is left.$$;
