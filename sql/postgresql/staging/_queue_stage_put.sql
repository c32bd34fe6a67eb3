-- calls: _queue_fail, _queue_setting
-- changes: queue_inbox, queue_stage, queue_stage_part
create or replace function _queue_stage_put(in_parts jsonb, in_secrets bytea[],
    out messages bigint, out pushed bigint, out differing bigint, out rest jsonb)
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_bad text;
    v_parts bigint[];
    v_expected bigint;
    v_rows bigint;
    v_name constant text := _queue_setting('taken_in');
    v_taken bigint[];
    v_left tid[];
begin
    if in_parts is null or jsonb_typeof(in_parts) <> 'array' then
        perform _queue_fail('PQ001', 'parts', in_parts::text, 'must be a JSON array of {part, messages}');
    end if;
    select min(e.part::text) into v_bad from jsonb_array_elements(in_parts) e (part)
    where ((e.part ->> 'part') ~ '^[0-9]{1,18}$|^[0-8][0-9]{18}$'
        and (e.part ->> 'messages') ~ '^[0-9]{1,18}$') is not true;
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
    perform set_config(v_name, '', true);
    differing := 0;
    if pushed < messages and v_parts <> '{}' then
        select count(*) filter (where d.differs and d.held is not true),
            array_agg(d.tid) filter (where d.held) into differing, v_left
        from (
            select s.ctid as tid, q.payload_bytes is distinct from s.payload_bytes
                or q.payload is distinct from case when s.payload_bytes is null
                    then coalesce(s.payload, 'null')::jsonb end as differs,
                -- CASE, so that it is hashed, and no join
                case when q.secret is not null then q.secret in (select unnest(in_secrets)) end as held
            from queue_stage s, lateral ( -- OFFSET, so that each is looked up, and not the kind read in its order
                select o.payload, o.payload_bytes, o.secret from delayed_queue o
                where o.p_kind = s.p_kind and o.p_key = s.p_key offset 0) q
            where s.part = any (v_parts)) d;
    end if;
    if v_left is null then
        delete from queue_stage s where s.part = any (v_parts);
        delete from queue_stage_part p where p.part = any (v_parts);
    else
        delete from queue_stage s where s.part = any (v_parts) and s.ctid not in (select unnest(v_left));
        select jsonb_agg(jsonb_build_object('part', p.part, 'messages', (
            select count(*) from queue_stage s where s.part = p.part))) into rest from unnest(v_parts) p (part);
    end if;
end $$;

comment on function _queue_stage_put(jsonb, bytea[]) is
$$Pushes what is staged, and takes it out of the stage. But what has the key of a message that the caller is about to
end stays there: it is pushed once that message has gone, by a second call for the rest.
in_parts: a JSON array of {part, messages}: each what queue_stage_begin answered, and how many messages were staged
under it. in_secrets: those of what the caller holds, and will have ended before a second call; NULL: nothing.
Result: messages, pushed and differing, as in queue_stage_publish; rest: the parts for a second call, NULL: none. What
stays counts among the messages alone.
Errors: PQ001 for parts, PQ004 where one isn't there or has not so many messages; for a message PQ001, PQ002 and PQ003,
naming its row and its key.
Locks: the parts, in their order; else as queue_push_many. What a second call puts in waits for nobody: the keys are
those of messages that this transaction has ended.$$;
