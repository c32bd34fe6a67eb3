-- calls: _queue_line_up
-- changes: delayed_queue, queue_group_member
create or replace function _queue_carry_route(in_row delayed_queue, in_kind text,
    in_key text) returns bigint language plpgsql as $$
declare
    v_entry bigint;
begin
    update delayed_queue q set route = in_row.route, member = in_row.member, semaphores = in_row.semaphores
    where q.p_kind = in_kind and q.p_key = in_key returning q.entry into v_entry;
    if in_row.semaphores is not null then
        perform _queue_line_up(array[v_entry]);
    end if;
    -- + 0: ADR 13
    update queue_group_member m set entry = v_entry, error = null
        where m.member = in_row.member and m.done_at + 0 is null;
    return v_entry;
end $$;

comment on function _queue_carry_route(delayed_queue, text, text) is
$$A new entry goes the way of the old one: has its route, waits for its semaphores, and is the member that it was.
in_row: the old one. in_kind, in_key: the new one.
Result: the new one's entry, which has no place in the line of an order key yet, see _queue_join_line.$$;
