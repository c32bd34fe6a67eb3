-- calls: _queue_put_onto, _queue_wake
-- changes: delayed_queue
create or replace function _queue_put(in_kind text, in_key text, in_payload jsonb, in_payload_bytes bytea,
    in_headers jsonb, in_priority smallint, in_now bigint, in_scheduled_at bigint, in_attempts integer,
    in_max_attempts integer, in_on_duplicate text, out scheduled_at bigint, out outcome text) language plpgsql as $$
begin
    loop
        insert into delayed_queue (p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at)
        values (in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_priority, in_scheduled_at,
            in_scheduled_at, in_now, in_attempts, in_max_attempts,
            case when in_scheduled_at <= in_now then in_scheduled_at end,
            case when in_scheduled_at > in_now then in_scheduled_at end)
        on conflict on constraint delayed_queue_pkey do nothing;
        if found then
            perform _queue_wake(in_kind, in_key);
            scheduled_at := in_scheduled_at;
            outcome := 'created';
            return;
        elsif in_on_duplicate = 'ignore' then
            select q.scheduled_at into scheduled_at from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
            outcome := 'ignored';
            return;
        end if;
        outcome := _queue_put_onto(in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_now, in_scheduled_at,
            in_on_duplicate);
        if outcome is not null then
            select q.scheduled_at into scheduled_at from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
            return;
        end if; -- else it went away in between: it can be put in now
    end loop;
end $$;

comment on function _queue_put(text, text, jsonb, bytea, jsonb, smallint, bigint, bigint, integer, integer, text) is
$$Puts one message into a kind, whose parameters are checked already.
in_now: the time of the call. in_scheduled_at: its delivery time. in_on_duplicate: what to do where the key is taken.
The other parameters are the columns.
Result: scheduled_at of the message that is there now, and outcome: created, ignored, replaced, held.
Locks: the message of that key, where in_on_duplicate changes it; waits for a transaction that is putting the same
key.$$;
