-- calls: _queue_check_kinds, _queue_ready, queue_now
create or replace function queue_listen(in_kinds jsonb)
    returns table (p_kind text, channel text, ready boolean, next_at bigint, next_seconds numeric)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_class constant integer := hashoid('delayed_queue'::regclass);
    v_slot integer;
    v_pending boolean;
begin
    foreach p_kind in array _queue_check_kinds(in_kinds) loop
        v_slot := hashtext(p_kind) & 15;
        channel := 'pyqueue_' || v_slot;
        for i in 1 .. 100 loop -- only a push that asks at this instant is in the way
            exit when pg_try_advisory_lock_shared(v_class, v_slot);
            perform pg_sleep(0.001);
        end loop;
        -- before the look: what is committed by now, it sees
        v_pending := not (pg_try_advisory_lock(v_class, 16 + v_slot) and pg_advisory_unlock(v_class, 16 + v_slot));
        select r.ready, r.next_at into ready, next_at from _queue_ready(p_kind, v_now) r;
        if v_pending then
            next_at := least(next_at, v_now + 1000000);
        end if;
        next_seconds := (next_at - v_now) / 1000000.0;
        return next;
    end loop;
end $$;

comment on function queue_listen(jsonb) is
$$Marks this session as one that listens to kinds, so that pushes to them notify, and says what may be taken now.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
Result: a row a kind: p_kind; channel: what to LISTEN on; ready: something may be taken, unless others are about to;
next_at, in microseconds: when to look again at the latest, whatever comes. That is when the next delayed message
falls due or a hold ends. It is within a second where a transaction that is still open may have pushed something.
NULL: nothing is known of. next_seconds: the same from now. A paused kind is never ready, and going on with it is an
event. How to wait: call this, LISTEN on the channels, and then look: call this again, and reserve what is ready.
Where nothing is, wait for an event on any of the channels, whatever it says, no longer than next_seconds and your own
poll. Look again 50, 250 and 1250 ms after the wait began, and after each event: an event is sent at most once in 50
ms a channel, and a push may have been committing. What was ready and then couldn't be reserved counts as not ready.
Without LISTEN, or behind a pooler that shares sessions, don't call this: poll. The mark lasts as long as the session,
or until pg_advisory_unlock_all().
Errors: PQ001 for kinds.
Locks: a shared advisory lock of the session for each channel, 16 at the most; it waits for none of them.
Where the idea comes from: LISTEN and NOTIFY, as Keuss uses its signaller.
differs: only here. MariaDB and MySQL have no LISTEN; queue_wait looks.$$;
