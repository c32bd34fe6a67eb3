-- calls: _queue_setting
-- changes: queue_group_member
create or replace function _queue_members_end(in_members bigint[], in_outcome text, in_result jsonb,
    in_now bigint) returns void
    language plpgsql as $$
declare
    v_ended bigint[];
begin
    with d as (
        update queue_group_member m
        set done_at = in_now, outcome = in_outcome, result = in_result, error = case
            when in_outcome = 'dead' then m.error end
        where m.member = any (in_members) and m.done_at + 0 is null -- + 0: ADR 13
        returning m.member)
    select array_agg(d.member) into v_ended from d;
    perform set_config(t.name,
        (coalesce(nullif(current_setting(t.name, true), '')::bigint[], '{}') || v_ended)::text, true)
    from _queue_setting('members') t (name) where v_ended is not null;
end $$;

comment on function _queue_members_end(bigint[], text, jsonb, bigint) is
$$Members of groups are done. They are noted for _queue_members_settle, so that a call locks the stripes of all that it
ends before it locks a group.
in_members: the members; those that are done already stay as they are. in_outcome: acked, duplicate, dead, gone.
in_result: of each of them, NULL: none. in_now: the time of the call.
Locks: none that others want, since who ends a member has its message.$$;
