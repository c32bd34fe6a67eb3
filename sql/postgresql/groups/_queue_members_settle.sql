-- calls: _queue_group_check, _queue_group_note, _queue_setting
create or replace function _queue_members_settle(in_now bigint) returns void
    language plpgsql as $$
declare
    v_name text; v_noted constant text := _queue_setting('members');
    v_members constant bigint[] := nullif(current_setting(v_noted, true), '')::bigint[];
begin
    if v_members is null then
        return;
    end if;
    -- queue_next: who has a group locked waits for no key any more
    perform set_config(v_noted, '', true), set_config(_queue_setting('permits'), 'locked', true);
    perform s.stripe
    from (select distinct m.group_name, m.stripe from queue_group_member m where m.member = any (v_members)) d
    join queue_group_stripe s on s.group_name between d.group_name and d.group_name and s.stripe = d.stripe
    order by s.stripe, s.group_name for update of s;
    perform _queue_group_note(d.group_name)
    from (select distinct m.group_name from queue_group_member m where m.member = any (v_members)) d;
    for v_name in
        select distinct d.group_name
        from (
            select m.group_name, m.stripe, bool_or(m.outcome = 'dead') as dead
            from (select e.* from queue_group_member e where e.member = any (v_members) offset 0) m -- ADR 13
            group by m.group_name, m.stripe) d
        where d.dead or (
            select o.member from queue_group_member o
            where o.group_name = d.group_name and o.stripe = d.stripe and o.done_at is null limit 1) is null
        order by 1
    loop
        perform _queue_group_check(v_name, in_now);
    end loop;
end $$;

comment on function _queue_members_settle(bigint) is
$$The members that this call has ended, all of them: the last one of a group has it finish. After it a call ends no
message and puts in no key, but that of a continuation; semaphores come next.
in_now: the time of the call.
A snapshot that can't see who else ends one leaves a note, see _queue_group_note.
Locks: their stripes, in order, until the transaction ends: of two that end at the same moment the second one sees the
first. Then as _queue_group_check, in the order of the groups' names.$$;
