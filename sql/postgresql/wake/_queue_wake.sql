-- calls: _queue_is_heard, _queue_ticks
create or replace function _queue_wake(in_kind text, in_key text) returns void language plpgsql as $$
declare
    v_slot constant integer := hashtext(in_kind) & 15;
    v_late constant boolean := statement_timestamp() > transaction_timestamp() + interval '5 ms';
    v_event regclass;
    v_time bigint;
    v_mark bigint;
    v_own bigint;
    v_writer bigint;
    v_status text;
begin
    if not _queue_is_heard(in_kind) then
        if v_late then
            perform pg_try_advisory_xact_lock_shared(hashoid('delayed_queue'::regclass), 16 + v_slot);
        end if;
        return;
    elsif not v_late then
        v_event := (array[
            'queue_event_0'::regclass, 'queue_event_1'::regclass, 'queue_event_2'::regclass, 'queue_event_3'::regclass,
            'queue_event_4'::regclass, 'queue_event_5'::regclass, 'queue_event_6'::regclass, 'queue_event_7'::regclass,
            'queue_event_8'::regclass, 'queue_event_9'::regclass, 'queue_event_10'::regclass,
            'queue_event_11'::regclass, 'queue_event_12'::regclass, 'queue_event_13'::regclass,
            'queue_event_14'::regclass, 'queue_event_15'::regclass])[v_slot + 1];
        v_time := _queue_ticks() / 1000;
        v_mark := pg_sequence_last_value(v_event);
        if v_mark >> 21 between v_time - 49 and v_time then
            v_own := pg_current_xact_id()::text::bigint;
            v_writer := v_own + ((v_mark - v_own + 1048576) & 2097151) - 1048576;
            for i in 1 .. 10 loop
                v_status := pg_xact_status(v_writer::text::xid8);
                -- from there on it may be our own
                exit when v_status is distinct from 'in progress' or v_writer >= v_own;
                perform pg_sleep(0.0005);
            end loop;
            if v_status = 'committed'
                and pg_try_advisory_xact_lock_shared(hashoid('delayed_queue'::regclass), 16 + v_slot) then
                return;
            end if;
        else
            perform setval(v_event, (v_time << 21) + (q.xmin::text::bigint & 2097151))
            from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
        end if;
    end if;
    perform pg_notify('pyqueue_' || v_slot, in_kind);
end $$;

comment on function _queue_wake(text, text) is
$$Notifies the sessions that wait for a kind, if there are any, that something may be taken or falls due earlier than
they know. All that changes that calls it.
in_kind: the kind. in_key: a message of it that this transaction wrote; NULL: none is known, and others rely on no event
of this one.

NOTIFY makes commits wait for one another, so there is one in 50 ms a channel where that is enough: where another has
committed in that time, its event reached all who wait, and each of them looks again 50 ms later. So that nothing waits
for a poll because its event was left out: the mark of an event (queue_event) counts once the transaction that wrote it,
or its part up to a savepoint, has committed, which those that come later wait for, 6 ms at the most; and who leaves an
event out holds a shared advisory lock until it ends, by which queue_listen knows that something may yet come. A
transaction that has been going on (over 5 ms) always notifies, since its commit may be far; where nobody listens it
holds that lock, for those who begin to. PostgreSQL itself drops duplicates within a transaction.
Locks: advisory ones, for which it doesn't wait; one of them until the transaction ends.
Where the idea comes from: the signaller of Keuss, which thins its events to one in 50 ms.
differs: only here. MariaDB and MySQL have no NOTIFY; queue_wait looks.$$;
