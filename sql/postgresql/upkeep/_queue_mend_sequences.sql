create or replace function _queue_mend_sequences() returns text[] language plpgsql as $$
declare
    v_mended text[] := '{}';
    v_behind record;
begin
    for v_behind in
        -- beyond what a sequence gave last there is nothing to read where all is well
        select s.*
        from (values
            ('delayed_queue_entry_seq'::regclass, 1000000000000::bigint, (select max(q.entry) from delayed_queue q
                where q.entry > (select coalesce(pg_sequence_last_value('delayed_queue_entry_seq'::regclass), 0)))),
            -- a reader's place may lie behind a log that was pruned
            ('queue_log_position_seq'::regclass, 1000000, greatest((select max(l.position) from queue_log l
                where l.position > (select coalesce(pg_sequence_last_value('queue_log_position_seq'::regclass), 0))),
                (select max(n.position) from queue_log_known n), (select max(g.position) from queue_log_gone g),
                (select max(greatest(r.position, r.looked)) from queue_reader r))),
            ('queue_log_known_id_seq'::regclass, 1000000, (select max(n.id) from queue_log_known n)),
            ('queue_cursor_id_seq'::regclass, 1000000, (select max(c.id) from queue_cursor c)),
            ('queue_inbox_id_seq'::regclass, 1000000, (select max(i.id) from queue_inbox i
                where i.id > (select coalesce(pg_sequence_last_value('queue_inbox_id_seq'::regclass), 0))))
            ) s (sequence, step, most)
        where s.most > coalesce(pg_sequence_last_value(s.sequence), 0)
    loop
        -- of two who find it out the second looks again
        perform pg_advisory_xact_lock(hashoid('queue_kind'::regclass), hashoid(v_behind.sequence));
        if v_behind.most > coalesce(pg_sequence_last_value(v_behind.sequence), 0) then
            perform setval(v_behind.sequence, v_behind.most + v_behind.step);
            v_mended := v_mended || format('sequence %s: it was behind its table',
                (select c.relname from pg_class c where c.oid = v_behind.sequence));
        end if;
    end loop;
    return v_mended;
end $$;

comment on function _queue_mend_sequences() is
$$Finds sequences that are behind the numbers in their tables, and sets them far beyond: a logical replication takes the
rows alone to a copy, and who lets the copy take over may forget the sequences. New messages would come before those
that wait, and others end in an error. Numbers of messages are never used again. The sequences of queue_use,
queue_write and queue_stage_part are left alone: their numbers tell apart rows of the same microsecond alone.
Result: what was wrong, in words; empty: nothing.
Locks: an advisory lock of the transaction for each that is behind.
differs: only here. See _queue_epoch.$$;
