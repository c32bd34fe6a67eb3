-- calls: _queue_fail
-- changes: delayed_queue, queue_group_member
create or replace function _queue_enrol(in_groups text[], in_entries bigint[]) returns void language plpgsql as $$
declare
    v_name text;
    v_finished_at bigint;
begin
    for v_name in select distinct u.name collate "C" from unnest(in_groups) u (name) order by 1 loop
        select g.finished_at into v_finished_at from queue_group g where g.group_name = v_name for share;
        if not found then
            perform _queue_fail('PQ002', 'group', v_name, 'must be there: queue_group makes it');
        elsif v_finished_at is not null then
            perform _queue_fail('PQ004', 'group', v_name, 'takes in nothing, it has finished');
        end if;
    end loop;
    insert into queue_group_member (member, group_name, stripe, p_kind, p_key, entry)
    select q.entry, u.name, q.entry % 32, q.p_kind, q.p_key, q.entry
    from unnest(in_groups, in_entries) u (name, entry) join delayed_queue q on q.entry between u.entry and u.entry;
    update delayed_queue q set member = q.entry where q.entry = any (in_entries);
end $$;

comment on function _queue_enrol(text[], bigint[]) is
$$Makes messages members of groups.
in_groups: the group of each. in_entries: the messages, just put in.
Errors: PQ002 for a group that isn't there, PQ004 for one that has finished.
Locks: the groups, shared, in the order of their names: they can't finish before the transaction ends. Waits for one
that is finishing.$$;
