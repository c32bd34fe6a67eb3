-- calls: _queue_move
create or replace function _queue_move_many(in_entries bigint[], in_secrets bytea[], in_to_kinds text[],
    in_options jsonb[], in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
begin
    if not exists (
        select from unnest(in_entries) e (entry) join delayed_queue q on q.entry between e.entry and e.entry
            where q.order_key is not null)
    then
        return _queue_move(in_entries, in_secrets, in_to_kinds, in_options, in_now);
    end if;
    for v_try in 1 .. 2147483647 loop
        begin
            return _queue_move(in_entries, in_secrets, in_to_kinds, in_options, in_now);
        exception when sqlstate 'PQ00A' or deadlock_detected then -- all that it did and locked is undone: again
            if sqlstate <> 'PQ00A' and (not v_own or v_try > 20) then raise; end if;
        end;
    end loop;
end $$;

comment on function _queue_move_many(bigint[], bytea[], text[], jsonb[], bigint) is
$$Acks messages, or moves them on, each to a kind of its own.
in_entries, in_secrets: the receipts, taken apart, each once. in_to_kinds: where each goes; NULL: it is acked.
in_options: the options of each, those of queue_move, checked; for an ack result, and next: true where this is the next
step of its route. in_now: the time of the call.
Result: the outcomes, in their order: acked, moved, duplicate, lost.
Errors: those of queue_move; under REPEATABLE READ and SERIALIZABLE 40001.
Locks: as _queue_move.
differs: on MariaDB and MySQL the whole call is made again.$$;
