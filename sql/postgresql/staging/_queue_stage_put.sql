-- calls: _queue_fail
-- changes: queue_inbox, queue_stage, queue_stage_part
create or replace function _queue_stage_put(in_parts jsonb) returns bigint
    language plpgsql
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_bad text;
    v_parts bigint[];
    v_expected bigint;
    v_rows bigint;
begin
    if in_parts is null or jsonb_typeof(in_parts) <> 'array' then
        perform _queue_fail('PQ001', 'parts', in_parts::text, 'must be a JSON array of {part, messages}');
    end if;
    select min(e.part::text) into v_bad from jsonb_array_elements(in_parts) e (part)
    where ((e.part ->> 'part') ~ '^[0-9]{1,18}$' and (e.part ->> 'messages') ~ '^[0-9]{1,18}$') is not true;
    if v_bad is not null then
        perform _queue_fail('PQ001', 'parts', v_bad, 'must have a part of queue_stage_begin and a number of messages');
    end if;
    select coalesce(array_agg(distinct (e.part ->> 'part')::bigint), '{}'), coalesce(sum((e.part ->> 'messages')::bigint), 0)
    into v_parts, v_expected from jsonb_array_elements(in_parts) e (part);
    perform p.part from queue_stage_part p where p.part = any (v_parts) order by p.part for update;
    get diagnostics v_rows = row_count;
    if v_rows <> jsonb_array_length(in_parts) then
        perform _queue_fail('PQ004', 'parts', in_parts::text, 'must be staged, and published once');
    end if;
    insert into queue_inbox (p_kind, p_key, payload, payload_bytes, headers, priority, delay_seconds, scheduled_at, attempts, max_attempts)
    select s.p_kind, s.p_key, s.payload, s.payload_bytes, s.headers, s.priority, s.delay_seconds, s.scheduled_at, s.attempts, s.max_attempts
    from queue_stage s where s.part = any (v_parts);
    get diagnostics v_rows = row_count;
    if v_rows <> v_expected then
        perform _queue_fail('PQ004', 'messages', v_rows::text, 'must be the ' || v_expected || ' that were staged');
    end if;
    delete from queue_stage s where s.part = any (v_parts);
    delete from queue_stage_part p where p.part = any (v_parts);
    return v_rows;
end $$;

comment on function _queue_stage_put(jsonb) is
$$Pushes what is staged and takes it out of the stage.
in_parts: a JSON array of {part, messages}: each what queue_stage_begin answered, and how many messages were staged under it.
Result: how many messages they are, those whose keys are taken among them.
Errors: PQ001 for parts, PQ004 where one isn't there or has not so many messages; for a message PQ001, PQ002 and PQ003, naming its row and its key.
Locks: the parts, in their order; else as queue_push_many.$$;
