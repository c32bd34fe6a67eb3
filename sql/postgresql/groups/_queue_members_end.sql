-- calls: _queue_group_check, _queue_group_note
-- changes: queue_group_member
create or replace function _queue_members_end(in_members bigint[], in_outcome text, in_result jsonb,
    in_now bigint) returns void
    language plpgsql as $$
declare
    v_name text;
begin
    perform s.stripe
    from (
        select distinct m.group_name, m.stripe from queue_group_member m
        where m.member = any (in_members) and m.done_at + 0 is null) d -- + 0: ADR 13
    join queue_group_stripe s on s.group_name between d.group_name and d.group_name and s.stripe = d.stripe
    order by s.stripe, s.group_name for update of s;
    update queue_group_member m
    set done_at = in_now, outcome = in_outcome, result = in_result, error = case
        when in_outcome = 'dead' then m.error end
    where m.member = any (in_members) and m.done_at + 0 is null;
    perform _queue_group_note(d.group_name)
    from (select distinct m.group_name from queue_group_member m where m.member = any (in_members)) d;
    for v_name in
        select distinct d.group_name
        from (select distinct m.group_name, m.stripe from queue_group_member m where m.member = any (in_members)) d
        where in_outcome = 'dead' or (
            select o.member from queue_group_member o
            where o.group_name = d.group_name and o.stripe = d.stripe and o.done_at is null limit 1) is null
        order by 1
    loop
        perform _queue_group_check(v_name, in_now);
    end loop;
end $$;

comment on function _queue_members_end(bigint[], text, jsonb, bigint) is
$$Members of groups are done; the last one of a group has it finish.
in_members: the members; those that are done already stay as they are. in_outcome: acked, duplicate, dead, gone.
in_result: of each of them, NULL: none. in_now: the time of the call.
A snapshot that can't see who else ends one leaves a note, see _queue_group_note.
Locks: their stripes, in order, until the transaction ends: of two that end at the same moment the second one sees the
first. Then as _queue_group_check, in the order of the groups' names.$$;
