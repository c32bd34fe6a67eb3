-- calls: _queue_join_line, _queue_line, _queue_put
create or replace function _queue_put_in_line(in_kind text, in_key text, in_payload jsonb, in_payload_bytes bytea,
    in_headers jsonb, in_priority smallint, in_now bigint, in_scheduled_at bigint, in_attempts integer,
    in_max_attempts integer, in_on_duplicate text, in_order text, out scheduled_at bigint,
    out outcome text) language plpgsql as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
    v_put record;
begin
    for v_try in 1 .. 2147483647 loop
        begin
            -- rows are locked before keys are put in, everywhere
            perform _queue_line(in_kind, array[in_order], array[in_key], in_on_duplicate <> 'ignore', false);
            v_put := _queue_put(in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_priority, in_now,
                in_scheduled_at, in_attempts, in_max_attempts, in_on_duplicate);
            if v_put.outcome = 'created' then
                perform _queue_join_line(array(
                    select q.entry from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key),
                        array[in_order]);
            end if;
            scheduled_at := v_put.scheduled_at;
            outcome := v_put.outcome;
            return;
        exception when sqlstate 'PQ00A' or deadlock_detected then -- all that it did and locked is undone: again
            if sqlstate <> 'PQ00A' and (not v_own or v_try > 20) then raise; end if;
        end;
    end loop;
end $$;

comment on function _queue_put_in_line(text, text, jsonb, bytea, jsonb, smallint, bigint, bigint, integer, integer,
text, text) is $$_queue_put for a message with an order key, which gets to the end of its line.
in_order: the order key. The other parameters and the result are those of _queue_put.
Errors: under REPEATABLE READ and SERIALIZABLE 40001.
Locks: as _queue_line, before the key; waits for another transaction that is putting a first one of the same line.
differs: on MariaDB and MySQL _queue_join_line has a message wait once it is in.$$;
