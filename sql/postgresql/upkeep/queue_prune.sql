-- calls: _queue_check_count, _queue_expire, _queue_fold_counts, _queue_intruders, _queue_mend_sequences,
--     _queue_permits_sweep, _queue_prune_groups, _queue_prune_kind, _queue_prune_terms, _queue_stage_prune, queue_now
-- changes: queue_inbox
create or replace function queue_prune(in_max_rows bigint default null, out pruned bigint)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
declare
    v_now constant bigint := queue_now();
    v_most bigint := coalesce(in_max_rows, 10000);
    v_kind text := '';
    v_id bigint;
    v_found record;
    v_mended text;
begin
    perform _queue_check_count(v_most, 'max_rows', 1000000::bigint);
    foreach v_mended in array _queue_mend_sequences() loop
        raise warning using message = v_mended, hint = 'Its numbers go on behind them now; see docs/replication.md.';
    end loop;
    pruned := _queue_fold_counts(v_most);
    v_most := v_most + pruned; -- that isn't counted
    pruned := pruned + _queue_stage_prune(v_now, v_most - pruned);
    pruned := pruned + _queue_expire(v_now, greatest(v_most - pruned, 1));
    pruned := pruned + _queue_prune_groups(v_now, greatest(v_most - pruned, 1));
    pruned := pruned + _queue_prune_terms(greatest(v_most - pruned, 1));
    loop
        v_kind := least( -- ADR 13
            (select h.p_kind from queue_history h where h.p_kind > v_kind order by h.p_kind limit 1),
            (select d.p_kind from queue_dedup d where d.p_kind > v_kind order by d.p_kind limit 1),
            (select l.p_kind from queue_log l where l.p_kind > v_kind order by l.p_kind limit 1));
        exit when v_kind is null or v_most <= pruned;
        pruned := pruned + _queue_prune_kind(v_kind, v_now, v_most - pruned);
    end loop;
    perform _queue_permits_sweep(v_now);
    -- what came into the inbox while its trigger was off: while it was disabled, or for what a subscription brings
    for v_id in select b.id from queue_inbox b order by b.id limit 1000 for update skip locked loop
        begin
            with g as (delete from queue_inbox b where b.id = v_id returning b.*)
            insert into queue_inbox (p_kind, p_key, payload, payload_bytes, headers, priority, delay_seconds,
                scheduled_at, attempts, max_attempts)
            select g.p_kind, g.p_key, g.payload, g.payload_bytes, g.headers, g.priority, g.delay_seconds,
                g.scheduled_at, g.attempts, g.max_attempts
            from g;
        exception when sqlstate 'PQ001' or sqlstate 'PQ002' or sqlstate 'PQ003' or sqlstate 'PQ004'
            or sqlstate 'PQ007' then
            raise warning 'the row % of queue_inbox stays there: %', v_id, sqlerrm;
        end;
    end loop;
    for v_found in
        select i.fault, i.remedy from pg_class c, lateral _queue_intruders(c.relnamespace) i
        where c.oid = 'delayed_queue'::regclass and i.fault is not null
        union all -- they run with the rights of their owner, so anybody could take messages and drop queues
        select format('anybody may execute routines of the queue (%s), such as %s', count(*),
                min(p.oid::regprocedure::text)),
            'pyqueue upgrade takes that back; a restore without rights (pg_restore --no-acl) gives it'
        from pg_class c join pg_proc p on p.pronamespace = c.relnamespace
        where c.oid = 'delayed_queue'::regclass and p.prosecdef and p.proname ~ '^_?queue_' and exists (
            select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                where a.grantee = 0 and a.privilege_type = 'EXECUTE')
        having count(*) > 0
    loop
        raise warning using message = v_found.fault, hint = v_found.remedy;
    end loop;
end $$;

comment on function queue_prune(bigint) is
$$Clears away what is past its time, in chunks. That is history, remembered keys and the log, older than
history_seconds, dedup_seconds and log_seconds of their kind say now; what was staged and never published; kinds that
are unused for longer than their expires_seconds; groups past their keep_seconds. It also removes messages that have
gone from the index of filters (each call looks at a part of it), and folds counters. Permits of semaphores whose holds
have expired go to who waits for them. Any number of sessions may call it at any time. queue_reserve and queue_pop do
a little of it by the way, so a kind that is in use needs nobody who calls it.
in_max_rows: how many rows to look at, 1 to 1000000; NULL: 10000.
Result: pruned: how many rows went; 0 when there is nothing left to do.
Errors: PQ001 for max_rows. On PostgreSQL there may be a warning: others may create in the schema of the queue, or
have; or anybody may execute its routines. It says what to do about it. Another warning says that a sequence was
behind its table, and has been set.
Locks: the rows; what others have locked is left.$$;
