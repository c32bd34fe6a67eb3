-- calls: _queue_check_json, _queue_epoch, _queue_fail, _queue_stage_put_each
-- changes: delayed_queue, queue_stage, queue_stage_part
create procedure _queue_stage_put(in in_parts longtext, in in_held longtext, in in_now bigint, out out_messages bigint,
    out out_pushed bigint, out out_differing bigint, out out_rest longtext)
    comment 'Pushes what is staged, and takes it out of the stage. But what has the key of a message that the caller is
about to end stays there: it is pushed once that message has gone, by a second call for the rest.
in_parts: a JSON array of {part, messages}: each what queue_stage_begin answered, and how many messages were staged
under it. in_held: what the caller holds, and will have ended before a second call, as _queue_stream_held answers it;
NULL: nothing. in_now: the time of the call.
out_messages, out_pushed, out_differing: messages, pushed and differing of queue_stage_publish. out_rest: the parts for
a second call, NULL: none. What stays counts among the messages alone.
Errors: PQ001 for parts, PQ004 where one isn''t there or has not so many messages; for a message PQ001, PQ002 and PQ003,
naming its row and its key.
Locks: the parts, in their order; else as queue_push_many. What a second call puts in waits for nobody: the keys are
those of messages that this transaction has ended.
differs: messages of one time are delivered in the order of their keys.'
begin
    declare v_expected, v_shift, v_first bigint;
    declare v_bad, v_gone longtext;
    declare v_found, v_special int;
    declare v_counted boolean;
    call _queue_check_json(coalesce(in_parts, 'null'), 'PQ003', 'parts');
    if coalesce(json_type(in_parts), 'NULL') <> 'ARRAY' then
        call _queue_fail('PQ001', 'parts', in_parts, 'must be a JSON array of {part, messages}');
    end if;
    select min(j.one), sum(j.messages) into v_bad, v_expected from (
        select p.messages, if(p.part regexp '^[0-9]{1,18}$|^[0-8][0-9]{18}$'
            and p.messages regexp '^[0-9]{1,18}$', null, p.one) as one
        from json_table(in_parts, '$[*]'
            columns (one json path '$', part varchar(40) path '$.part',
            messages varchar(40) path '$.messages')) p) j;
    if v_bad is not null then
        call _queue_fail('PQ001', 'parts', v_bad, 'must have a part of queue_stage_begin and a number of messages');
    end if;
    select count(distinct l.part) into v_found from (
        select p.part from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j
            straight_join queue_stage_part p force index (primary) on p.part = j.part
        order by j.part limit 1000000000 for update of p) l;
    if v_found <> json_length(in_parts) then
        call _queue_fail('PQ004', 'parts', in_parts, 'must be staged, and published once');
    end if;
    -- what is as messages mostly are is pushed by one statement
    select count(*), coalesce(sum((_queue_is_plain_row(s)
        and k.payload_shape is null and coalesce(k.dedup_seconds, 0) = 0 and coalesce(k.log_seconds, 0) = 0
        and coalesce(k.draining, false) = false and coalesce(k.filter_index, false) = false
            and k.roles is null) is not true), 0) > 0
    into out_messages, v_special
    from staged(in_parts) s
        left join queue_kind k force index (primary) on k.p_kind = s.p_kind;
    if out_messages <> coalesce(v_expected, 0) then
        call _queue_fail('PQ004', 'messages', out_messages,
            concat('must be the ', coalesce(v_expected, 0), ' that were staged'));
    end if;
    -- of a client that counts the rows that are found, row_count() of an insert counts keys that are taken as well
    update queue_stage_part p set p.job = p.job where p.part = json_value(in_parts, '$[0].part');
    set v_counted = row_count() = 0;
    call _queue_epoch(v_shift);
    set v_first = ((uuid_short() << 8) & 9223372036854775807) + v_shift;
    if v_special then
        call _queue_stage_put_each(in_parts, out_pushed);
        set v_counted = true;
    else
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at)
        select ((uuid_short() << 8) & 9223372036854775807) + v_shift, m.p_kind, m.p_key, m.payload, m.payload_bytes,
            m.headers, coalesce(m.priority, 0), o.due, o.due, in_now, coalesce(m.attempts, 0), m.max_attempts,
            if(o.due <= in_now, -coalesce(m.priority, 0), null), if(o.due <= in_now, o.due, null),
            if(o.due > in_now, o.due, null)
        from (
            select s.id,
                coalesce(s.scheduled_at, in_now + cast(coalesce(s.delay_seconds, 0) * 1000000 as signed)) as due
            from staged(in_parts) s
            order by s.p_key, s.p_kind, s.id limit 1000000000) o
            straight_join queue_stage m force index (primary) on m.id = o.id
            left join delayed_queue q force index (delayed_queue_key) on q.p_kind = m.p_kind and q.p_key = m.p_key
        where q.entry is null
        on duplicate key update entry = delayed_queue.entry;
        set out_pushed = row_count();
    end if;
    set out_differing = 0, out_rest = null;
    if not v_counted or out_pushed < out_messages then
        -- others have put in higher numbers since, too
        select if(v_counted, out_pushed,
                count(distinct if(q.entry > v_first and q.created_at = in_now, q.entry, null))),
            coalesce(sum(q.entry is not null and h.entry is null
            and not if(s.payload_bytes is not null, q.payload_bytes <=> s.payload_bytes,
                /*!80017 q.payload <=> cast(coalesce(s.payload, 'null') as json) */
                /*M!100600 cast(q.payload as binary) <=> cast(coalesce(s.payload, 'null') as binary) */)), 0),
            -- what has a key of after the snapshot may be held as well
            if(sum(h.entry is not null or q.entry is null and in_held is not null) > 0,
            json_arrayagg(if(h.entry is null and (q.entry is not null or in_held is null), s.id, null)), null)
        into out_pushed, out_differing, v_gone
        from staged(in_parts) s
            left join delayed_queue q force index (delayed_queue_key) on q.p_kind = s.p_kind and q.p_key = s.p_key
            -- by the entry: for a kind and a key no server makes an index of what it lists
            left join (select d.entry from deliveries(in_held) d limit 1000000000 for update of d) h
                on h.entry = q.entry;
    end if;
    if v_gone is null then
        delete s from staged(in_parts) s;
        delete p from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j
            straight_join queue_stage_part p force index (primary) on p.part = j.part;
    else
        delete s from unnest(v_gone) j (id bigint)
            straight_join queue_stage s force index (primary) on s.id = j.id;
        select json_arrayagg(json_object('part', j.part + 0, 'messages', (
            select count(*) from queue_stage s where s.part = j.part))) into out_rest
        from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j;
    end if;
end;
