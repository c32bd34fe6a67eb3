-- changes: queue_hold
create or replace function _queue_find_expired(in_kind text, in_low bigint, in_now bigint, in_max integer,
    out tids tid[], out low bigint) language plpgsql as $$
declare
    v_hold record;
    v_end bigint[];
    v_found tid[];
begin
    low := in_low;
    for v_hold in
        select h.ctid as tid, h.until, h.entries, h.line from queue_hold h
        where h.p_kind = in_kind and h.until between in_low and in_now order by h.p_kind, h.until limit 100
    loop
        if v_hold.line is not null then -- what is held from this place of the ready line to the next one noted
            v_end := (
                select n.line[2:] from queue_hold n
                where n.p_kind = in_kind and n.until >= v_hold.until and n.line > v_hold.line
                    and n.line[1] = v_hold.line[1]
                order by n.p_kind, n.until limit 1);
            if v_end is null then -- the newest: as far as messages were taken
                select array[q.ready_at, q.entry] into v_end from delayed_queue q
                where q.p_kind = in_kind and -q.priority::integer = v_hold.line[1] and q.ready_at is not null
                    and (q.ready_at, q.entry) >= (v_hold.line[2], v_hold.line[3]) and q.reserved_at is null
                    and q.scheduled_at <= in_now
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1;
            end if;
            v_hold.entries := array(
                select q.entry from delayed_queue q
                where q.p_kind = in_kind and -q.priority::integer = v_hold.line[1] and q.ready_at is not null
                    and (q.ready_at, q.entry) >= (v_hold.line[2], v_hold.line[3])
                    and (q.ready_at, q.entry) < (coalesce(v_end[1], 9223372036854775807), coalesce(v_end[2], 0))
                    and q.reserved_at is not null);
        end if;
        v_found := array(
            select q.ctid from delayed_queue q
            where q.entry = any (v_hold.entries) and q.p_kind || '' = in_kind and q.reserved_at is not null
                and q.scheduled_at <= in_now
            order by q.entry + 0 limit in_max for update skip locked);
        if v_found <> '{}' then -- there may be more of this call: the note stays
            tids := v_found;
            return;
        end if;
        insert into queue_hold (p_kind, until, entries) -- what was extended is looked at again
        select in_kind, min(q.scheduled_at), array_agg(q.entry) from delayed_queue q
        where q.entry = any (v_hold.entries) and q.p_kind || '' = in_kind and q.scheduled_at > in_now
            and q.reserved_at is not null
        having count(*) > 0;
        delete from queue_hold h
        where h.ctid = any (array(select o.ctid from queue_hold o where o.ctid = v_hold.tid for update skip locked));
        low := v_hold.until;
    end loop;
end $$;

comment on function _queue_find_expired(text, bigint, bigint, integer) is
$$Holds that have expired, by what queue_reserve noted of their ends.
in_kind: the kind. in_low: where to begin, a time in microseconds. in_now: the time of the call. in_max: how many.
Result: tids, row identifiers (NULL for none), and low, where to begin the next time.
Locks: the messages, and the notes that are done with; what others have locked is left out.
differs: only here. InnoDB takes entries that died out of an index soon, so looks from the start find expired holds.$$;
