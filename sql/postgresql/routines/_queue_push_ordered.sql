create or replace function _queue_push_ordered(in_kind text, in_messages jsonb, in_options jsonb, in_now bigint)
    returns table (p_key text, outcome text) language plpgsql as $$
declare
    v_keys text[];
    v_outcomes text[];
    v_index text;
begin
    loop
        begin
            select array_agg(b.p_key), array_agg(b.outcome) into v_keys, v_outcomes
            from _queue_push_batch(in_kind, in_messages, in_options, in_now) b;
            exit;
        exception when unique_violation then
            get stacked diagnostics v_index = constraint_name;
            if v_index <> 'delayed_queue_first' then
                raise;
            elsif current_setting('transaction_isolation') <> 'read committed' then
                raise serialization_failure using message = 'could not serialize access due to a concurrent push of the same order key';
            end if; -- else another was put in first: all that this did and locked is undone, again
        end;
    end loop;
    return query select r.p_key, r.outcome from unnest(v_keys, v_outcomes) r (p_key, outcome);
end $$;

comment on function _queue_push_ordered(text, jsonb, jsonb, bigint) is
$$_queue_push_batch where any of the messages has an order key.
in_kind, in_messages, in_options: as in queue_push_many. in_now: the time of the call.
Result: that of _queue_push_batch.
Errors: under REPEATABLE READ and SERIALIZABLE 40001.
Locks: as _queue_line, before the keys; waits for another transaction that is putting a first one of the same line.$$;
