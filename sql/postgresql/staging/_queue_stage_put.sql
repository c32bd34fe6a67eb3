-- calls: _queue_fail, _queue_integer, _queue_setting, _queue_text
-- changes: queue_inbox, queue_stage, queue_stage_part, queue_write
create or replace function _queue_stage_put(in_parts jsonb, in_query text, in_batch bigint, in_options jsonb,
    in_now bigint, out messages bigint, out pushed bigint, out differing bigint)
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_bad text;
    v_parts bigint[];
    v_expected bigint;
    v_rows bigint;
    v_job constant text := _queue_text(in_options, 'job');
    v_name constant text := _queue_setting('taken_in');
    v_taken bigint[];
begin
    if in_parts is null or jsonb_typeof(in_parts) <> 'array' then
        perform _queue_fail('PQ001', 'parts', in_parts::text, 'must be a JSON array of {part, messages}');
    end if;
    select min(e.part::text) into v_bad from jsonb_array_elements(in_parts) e (part)
    where ((e.part ->> 'part') ~ '^[0-9]{1,18}$' and (e.part ->> 'messages') ~ '^[0-9]{1,18}$') is not true;
    if v_bad is not null then
        perform _queue_fail('PQ001', 'parts', v_bad, 'must have a part of queue_stage_begin and a number of messages');
    end if;
    select coalesce(array_agg(distinct (e.part ->> 'part')::bigint), '{}'),
        coalesce(sum((e.part ->> 'messages')::bigint), 0)
    into v_parts, v_expected from jsonb_array_elements(in_parts) e (part);
    perform p.part from queue_stage_part p where p.part = any (v_parts) order by p.part for update;
    get diagnostics v_rows = row_count;
    if v_rows <> jsonb_array_length(in_parts) then
        perform _queue_fail('PQ004', 'parts', in_parts::text, 'must be staged, and published once');
    end if;
    if v_parts <> '{}' then
        perform set_config(v_name, '', true);
    end if;
    insert into queue_inbox (p_kind, p_key, payload, payload_bytes, headers, priority, delay_seconds, scheduled_at,
        attempts, max_attempts)
    select s.p_kind, s.p_key, s.payload, s.payload_bytes, s.headers, s.priority, s.delay_seconds, s.scheduled_at,
        s.attempts, s.max_attempts
    from queue_stage s where s.part = any (v_parts);
    get diagnostics v_rows = row_count;
    if v_rows <> v_expected then
        perform _queue_fail('PQ004', 'messages', v_rows::text, 'must be the ' || v_expected || ' that were staged');
    end if;
    v_taken := coalesce(nullif(current_setting(v_name, true), '')::bigint[], '{0, 0}');
    messages := case when v_parts = '{}' then v_taken[1] else v_rows end;
    pushed := v_taken[2];
    if pushed = messages then
        differing := 0;
    elsif v_parts <> '{}' then
        select count(*) into differing from queue_stage s
            join delayed_queue q on q.p_kind = s.p_kind and q.p_key = s.p_key
        where s.part = any (v_parts) and (q.payload_bytes is distinct from s.payload_bytes
            or q.payload is distinct from case when s.payload_bytes is null
                then coalesce(s.payload, 'null')::jsonb end);
    end if;
    if coalesce(in_query, v_job) is not null then
        insert into queue_write (query, batch, job, written_at, messages, pushed, differing, refused)
        values (in_query, in_batch, v_job, in_now, messages, pushed, differing,
            coalesce(_queue_integer(in_options, 'refused', 0::bigint, 9223372036854775807), 0));
    end if;
    perform set_config(v_name, '', true);
    delete from queue_stage s where s.part = any (v_parts);
    delete from queue_stage_part p where p.part = any (v_parts);
end $$;

comment on function _queue_stage_put(jsonb, text, bigint, jsonb, bigint) is
$$Pushes what is staged, takes it out of the stage, and notes what came of it where the write has a name.
in_parts: a JSON array of {part, messages}: each what queue_stage_begin answered, and how many messages were staged
under it.
in_query, in_batch: whose batch it is. in_options: job, and refused, of queue_stage_publish. in_now: the time of the
call.
Result: messages, pushed and differing, as in queue_stage_publish.
Errors: PQ001 for parts, PQ004 where one isn't there or has not so many messages; for a message PQ001, PQ002 and PQ003,
naming its row and its key.
Locks: the parts, in their order; else as queue_push_many.$$;
