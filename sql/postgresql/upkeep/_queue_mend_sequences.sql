-- calls: _queue_mend_sequence
create or replace function _queue_mend_sequences() returns text[] language plpgsql as $$
declare
    v_mended text[] := '{}';
    v_last bigint;
    v_most bigint;
begin
    -- beyond what a sequence gave last there is nothing to read where all is well
    v_last := coalesce(pg_sequence_last_value('delayed_queue_entry_seq'::regclass), 0);
    select max(q.entry) into v_most from delayed_queue q where q.entry > v_last;
    v_mended := v_mended || _queue_mend_sequence('delayed_queue_entry_seq'::regclass, v_most, 1000000000000::bigint);
    -- a reader's place may lie behind a log that was pruned
    v_last := coalesce(pg_sequence_last_value('queue_log_position_seq'::regclass), 0);
    v_most := greatest((select max(l.position) from queue_log l where l.position > v_last),
        (select max(n.position) from queue_log_known n), (select max(g.position) from queue_log_gone g),
        (select max(r.position) from queue_reader r));
    v_mended := v_mended || _queue_mend_sequence('queue_log_position_seq'::regclass, v_most, 1000000::bigint);
    select max(n.id) into v_most from queue_log_known n;
    v_mended := v_mended || _queue_mend_sequence('queue_log_known_id_seq'::regclass, v_most, 1000000::bigint);
    select max(c.id) into v_most from queue_cursor c;
    v_mended := v_mended || _queue_mend_sequence('queue_cursor_id_seq'::regclass, v_most, 1000000::bigint);
    v_last := coalesce(pg_sequence_last_value('queue_inbox_id_seq'::regclass), 0);
    select max(i.id) into v_most from queue_inbox i where i.id > v_last;
    v_mended := v_mended || _queue_mend_sequence('queue_inbox_id_seq'::regclass, v_most, 1000000::bigint);
    v_last := coalesce(pg_sequence_last_value('queue_stage_part_part_seq'::regclass), 0);
    select max(p.part) into v_most from queue_stage_part p where p.part > v_last;
    return v_mended || _queue_mend_sequence('queue_stage_part_part_seq'::regclass, v_most, 1000000::bigint);
end $$;

comment on function _queue_mend_sequences() is
$$Finds sequences that are behind the numbers in their tables, and sets them: a logical replication takes the rows alone
to a copy, and who lets the copy take over may forget the sequences. New messages would come before those that wait, and
others end in an error. Those of queue_use and queue_write are left alone: their numbers tell apart rows of the same
microsecond alone.
Result: what was wrong, in words; empty: nothing.
Locks: those of _queue_mend_sequence.
differs: only here. See _queue_epoch.$$;
