create or replace function _queue_mend_sequence(in_sequence regclass, in_most bigint,
    in_step bigint) returns text[] language plpgsql as $$
begin
    if in_most > coalesce(pg_sequence_last_value(in_sequence), 0) then
        -- of two who find it out the second looks again
        perform pg_advisory_xact_lock(hashoid('queue_kind'::regclass), hashoid(in_sequence));
        if in_most > coalesce(pg_sequence_last_value(in_sequence), 0) then
            perform setval(in_sequence, in_most + in_step);
            return array[format('sequence %s: it was behind its table',
                (select c.relname from pg_class c where c.oid = in_sequence))];
        end if;
    end if;
    return '{}';
end $$;

comment on function _queue_mend_sequence(regclass, bigint, bigint) is
$$Sets a sequence that is behind.
in_sequence: it. in_most: the greatest number that was seen, NULL: none. in_step: how far beyond that it goes on: there
may be greater ones, and numbers of messages are never used again.
Result: what was wrong, in words; empty: nothing.
Locks: an advisory lock of the transaction, where it is behind.
differs: only here. See _queue_epoch.$$;
