-- calls: _queue_end_undeliverable, _queue_members_settle, _queue_misfit, _queue_permits_lock, _queue_permits_room,
--     _queue_permits_settle, _queue_setting
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create or replace function _queue_permits_take(in_tids tid[], in_kind queue_kind, in_until bigint, in_held boolean,
    in_now bigint, out tids tid[], out ended bigint[], out expired bigint, out held boolean,
    out passed tid[], out named boolean) language plpgsql as $$
declare
    v_ended tid[];
    v_entries bigint[]; v_names text[]; v_locked text[];
    v_left bigint[] := '{}';
    v_rows bigint;
    v_rooms jsonb;
    v_row record; v_lacks text;
begin
    held := in_held;
    select array_agg(q.ctid) filter (where f.fits), coalesce(array_agg(q.ctid) filter (where not f.fits), '{}'),
        coalesce(array_agg(q.entry) filter (where not f.fits), '{}'),
        count(q.reserved_at) filter (where f.fits or not in_held),
        coalesce(bool_or(q.semaphores is not null and q.source_kind is null), false)
    into tids, v_ended, ended, expired, named
    from delayed_queue q, lateral (
        select q.pending is null and q.attempts < coalesce(q.max_attempts, in_kind.max_attempts, 2147483647)
            and (in_kind.payload_shape is null
                or _queue_misfit(in_kind.payload_shape, q.payload) is null) as fits offset 0) f
    where q.ctid = any (in_tids) and q.scheduled_at <= in_now;
    passed := '{}';
    if held then -- a key may be waited for, which nobody does who has locked a semaphore: the next call ends them
        passed := v_ended;
        ended := '{}';
    elsif v_ended <> '{}' then
        perform _queue_end_undeliverable(v_ended, in_now);
    end if;
    if not named then
        return;
    end if;
    v_names := array(
        select distinct a.name from delayed_queue q, unnest(q.semaphores) a (name)
        where q.ctid = any (tids) and q.source_kind is null);
    v_entries := array(select q.entry from delayed_queue q where q.ctid = any (tids));
    if v_names = '{}' then
        return;
    elsif not in_held and not exists (select from queue_semaphore s where s.name = any (v_names) and s.lowered) then
        -- all that are promised: nothing is given or freed, so no semaphore needs to be locked; who wants a permit that
        -- was promised takes the promise back, see _queue_permits_room
        update queue_semaphore_permit h set until = in_until where h.entry = any (v_entries) and h.until < 0;
        get diagnostics v_rows = row_count;
        if v_rows = (
            select sum(cardinality(q.semaphores)) from delayed_queue q
            where q.entry = any (v_entries) and q.source_kind is null) then
            return;
        end if;
    end if;
    -- of what was ended; from now on nothing is
    perform _queue_members_settle(in_now) where current_setting(_queue_setting('members'), true) <> '';
    held := true;
    v_locked := _queue_permits_lock(v_names, not in_held);
    delete from queue_semaphore_permit h where h.name = any (v_locked) and h.entry = any (v_entries);
    select jsonb_object_agg(n.name, _queue_permits_room(n.name, false, in_now)) into v_rooms
        from unnest(v_locked) n (name);
    if (v_names <@ v_locked or not in_held) and not exists ( -- most calls: all are locked, and have room for all
        select from (
            select a.name, count(*) as wanted from delayed_queue q, unnest(q.semaphores) a (name)
            where q.ctid = any (tids) and q.source_kind is null group by 1) w
        where (v_rooms ->> w.name)::bigint < w.wanted)
    then
        insert into queue_semaphore_permit (entry, name, until)
        select q.entry, a.name, in_until from delayed_queue q, unnest(q.semaphores) a (name)
        where q.ctid = any (tids) and q.source_kind is null and a.name = any (v_locked);
        return;
    end if;
    for v_row in
        select q.ctid as tid, q.entry, q.reserved_at,
            array(select s.name from queue_semaphore s where s.name = any (q.semaphores) order by s.name) as names
        from delayed_queue q where q.ctid = any (tids) and q.semaphores is not null and q.source_kind is null
        order by -q.priority::integer, q.ready_at, q.entry
    loop
        v_lacks := (select n.name from unnest(v_row.names) n (name) where (v_rooms ->> n.name)::bigint <= 0 limit 1);
        if v_row.names <@ v_locked and v_lacks is null then
            insert into queue_semaphore_permit (entry, name, until) select v_row.entry, n.name, in_until
                from unnest(v_row.names) n (name);
            v_rooms := v_rooms || coalesce((
                select jsonb_object_agg(n.name, (v_rooms ->> n.name)::bigint - 1) from unnest(v_row.names) n (name)),
                    '{}');
            continue;
        end if;
        tids := array_remove(tids, v_row.tid);
        if v_lacks is null then
            passed := passed || v_row.tid;
            expired := expired - (v_row.reserved_at is not null)::integer;
            continue;
        end if;
        v_left := v_left || v_row.entry;
        update delayed_queue q set ready_at = null, reserved_at = null, reserved_by = null where q.ctid = v_row.tid;
        insert into queue_semaphore_wait (entry, name, p_kind) values (v_row.entry, v_lacks, in_kind.p_kind)
        on conflict on constraint queue_semaphore_wait_pkey do update set name = excluded.name;
    end loop;
    perform _queue_permits_settle(v_left, v_names, false, in_now) where v_left <> '{}';
end $$;

comment on function _queue_permits_take(tid[], queue_kind, bigint, boolean, bigint) is
$$Of messages that were taken from the ready line, those that can be delivered, each with a permit of all of its
semaphores; one that lacks any goes to wait in line, with none. What can't be delivered for other reasons is ended.
in_tids: row identifiers, locked already. in_kind: the settings of their kind. in_until: when the holds end. in_held:
whether the call has locked a semaphore before. in_now: the time of the call.
Result: tids: those that can be delivered; ended: the entries of those that were ended, which the caller settles at its
end; expired: how many holds ended with this; held: whether the call has locked a semaphore by now; passed: those that
are left as they are, and that to take more finds again; named: whether any names semaphores.
Locks: the permits where all were promised before; else the semaphores, in the order of their names; where it isn't the
first time, what others have locked is left.$$;
