-- calls: _queue_line_up, _queue_permits_settle
-- changes: delayed_queue
create or replace function _queue_permits_pushed(in_kind text, in_keys text[], in_semaphores text[], in_new boolean,
    in_now bigint) returns void
    language plpgsql as $$
declare
    v_entries bigint[];
begin
    v_entries := array(
        select q.entry from unnest(in_keys) n (name), lateral ( -- OFFSET: ADR 13
            select m.entry, m.semaphores from delayed_queue m where m.p_kind = in_kind and m.p_key = n.name offset 0) q
        where in_new or q.semaphores is not null);
    if in_new then
        update delayed_queue q set semaphores = in_semaphores where q.entry = any (v_entries);
    end if;
    if v_entries <> '{}' then
        perform _queue_permits_settle(v_entries, _queue_line_up(v_entries), true, in_now);
    end if;
end $$;

comment on function _queue_permits_pushed(text, text[], text[], boolean, bigint) is
$$Has messages that were pushed wait in line for their semaphores, and wakes them where there is room.
in_kind, in_keys: the messages. in_semaphores, in_new: what the new ones name. in_now: the time of the call.
Locks: those of _queue_permits_settle.
differs: on MariaDB and MySQL _queue_carry_semaphores does it for each message.$$;
