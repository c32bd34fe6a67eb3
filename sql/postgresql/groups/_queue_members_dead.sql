-- calls: _queue_members_end
-- changes: queue_group_member
create or replace function _queue_members_dead(in_members bigint[], in_letters bigint[], in_error text, in_now bigint)
    returns void language plpgsql as $$
declare
    v_ended bigint[];
begin
    update queue_group_member m set entry = u.letter, error = in_error
    -- + 0: ADR 13
    from unnest(in_members, in_letters) u (member, letter)
        where m.member between u.member and u.member and m.done_at + 0 is null;
    v_ended := array(
        select m.member from queue_group_member m join queue_group g
            on g.group_name between m.group_name and m.group_name
        where m.member = any (in_members) and m.done_at + 0 is null and g.on_dead <> 'wait');
    if v_ended <> '{}' then
        perform _queue_members_end(v_ended, 'dead', null::jsonb, in_now);
    end if;
end $$;

comment on function _queue_members_dead(bigint[], bigint[], text, bigint) is
$$Members of groups have died: what that means for a group is its option on_dead.
in_members, in_letters: the members, and the entries of their dead letters. in_error: why. in_now: the time of the call.
Locks: as _queue_members_end.$$;
