-- calls: _queue_push_batch, _queue_wake
create or replace function _queue_push_ordered(in_kind text, in_messages jsonb, in_options jsonb, in_now bigint)
    returns table (p_key text, outcome text) language plpgsql as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
    v_keys text[];
    v_outcomes text[];
begin
    for v_try in 1 .. 2147483647 loop
        begin
            select array_agg(b.p_key), array_agg(b.outcome) into v_keys, v_outcomes
            from _queue_push_batch(in_kind, in_messages, in_options, in_now) b;
            perform _queue_wake(in_kind, null);
            return query select r.p_key, r.outcome from unnest(v_keys, v_outcomes) r (p_key, outcome);
            return;
        exception when sqlstate 'PQ00A' or deadlock_detected then -- all that it did and locked is undone: again
            if sqlstate <> 'PQ00A' and (not v_own or v_try > 20) then raise; end if;
        end;
    end loop;
end $$;

comment on function _queue_push_ordered(text, jsonb, jsonb, bigint) is
$$_queue_push_batch where any of the messages has an order key.
in_kind, in_messages, in_options: as in queue_push_many. in_now: the time of the call.
Result: that of _queue_push_batch.
Errors: under REPEATABLE READ and SERIALIZABLE 40001.
Locks: as _queue_line, before the keys; waits for another transaction that is putting a first one of the same line.$$;
