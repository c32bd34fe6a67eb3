-- calls: _queue_check_options, _queue_fail, _queue_is_receipt, _queue_setting, _queue_text, queue_ack,
--     queue_ack_many, queue_reserve
-- changes: queue_count
create or replace function queue_next(in_receipts jsonb, in_kind text, in_worker text default null,
    in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_options jsonb;
    v_timeout constant text := current_setting('lock_timeout');
    v_lost text[];
    v_permits text;
    v_tries integer := 0;
begin
    if in_options is not null then
        perform _queue_check_options(in_options, '{timeout_seconds, where, lost}'::text[], 'options');
        if _queue_text(in_options, 'lost') <> 'error' then
            perform _queue_fail('PQ002', 'lost', in_options ->> 'lost', 'must be error');
        end if;
        v_options := nullif(nullif(in_options, 'null') - 'lost'::text, '{}');
    end if;
    if in_receipts is not null then
        if (case jsonb_typeof(in_receipts) when 'array' then
            jsonb_array_length(in_receipts) = 1 and _queue_is_receipt(in_receipts ->> 0) end) then -- most calls
            v_lost := case (queue_ack(in_receipts ->> 0)).outcome when 'lost' then array[in_receipts ->> 0] end;
        else
            v_lost := array(select a.receipt from queue_ack_many(in_receipts) a where a.outcome = 'lost');
        end if;
        if v_lost <> '{}' and in_options ->> 'lost' is not null then
            perform _queue_fail('PQ006', 'receipts', array_to_string(v_lost, ', '), 'lost, so nothing was done');
        end if;
        v_permits := _queue_setting('permits');
        if current_setting(v_permits, true) = 'locked' then -- to wait for others now could be a deadlock
            perform set_config(v_permits, 'held', true);
            v_tries := 3;
        end if;
    end if;
    <<taking>>
    begin
        for v_try in 1 .. v_tries loop
            begin
                -- SKIP LOCKED may wait, see queue_reserve: for somebody who waits for a semaphore that is locked here
                perform set_config('lock_timeout', '10', true);
                return query select m.* from queue_reserve(in_kind, in_worker, in_max_messages, v_options) m;
                perform set_config('lock_timeout', v_timeout, true);
                exit taking;
            exception when lock_not_available or deadlock_detected then
            end;
        end loop;
        return query select m.* from queue_reserve(in_kind, in_worker, in_max_messages, v_options) m;
    end taking;
    if current_setting(v_permits, true) = 'held' then
        perform set_config(v_permits, 'locked', true);
    end if;
    if v_lost <> '{}' then
        insert into queue_count (p_kind, lost) values (in_kind, cardinality(v_lost));
    end if;
end $$;

comment on function queue_next(jsonb, text, text, integer, jsonb) is
$$The loop of a consumer in one call: it acks what is done, as queue_ack_many does, and takes the next messages, as
queue_reserve does, in one transaction. What is acked first goes on along its route, finishes its group, and gives its
turn to who is next in the line of its order key, at its semaphores and under max_reserved. So the same call may take
what it has freed.
in_receipts: a JSON array of at most 10000 receipts, of whatever kinds; NULL: none.
in_kind, in_worker, in_max_messages: those of queue_reserve.
in_options: those of queue_reserve, and lost.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
- lost: fails the call where a receipt is lost. Allowed: error. Default: a lost receipt is counted, no more.
Result: that of queue_reserve. No row where nothing is ready or the kind is paused; what is acked is acked all the
same. A receipt that is lost, see queue_ack_many, changes nothing and is counted for in_kind, see queue_stats.
Errors: PQ007 for a kind that is for others. PQ006 with the receipts that are lost, see option lost; PQ005 for receipts,
PQ001 for kind, worker and max_messages, PQ002 for options, PQ003 for JSON that not every server can hold, PQ004 where
the next kind of a route is drained. After each of them nothing is acked, and nothing taken.
Locks: those of queue_ack_many, then those of queue_reserve. Where the first are groups or semaphores, messages whose
semaphores others have locked are left to the next call, and so are those that it would make dead letters.$$;
