-- calls: _queue_epoch
-- changes: delayed_queue
create procedure _queue_push_plain(in in_kind text collate exact, in in_messages longtext, in in_now bigint,
    in in_scheduled_at bigint, in in_priority smallint, in in_headers longtext, in in_attempts int,
    in in_max_attempts int, in in_since bigint, in in_route longtext, in in_order varchar(200) collate exact,
    in in_semaphores longtext, out out_follows boolean, out out_entries longtext character set ascii,
    out out_outcomes longtext character set ascii)
    comment 'queue_push_many for messages that are a key and a payload each, perhaps with a time, a priority, headers,
attempts, a group and an order key or a semaphore of their own, in a few statements for all of them; taken keys are left
alone. Payload and headers must be small beside sort_buffer_size: MySQL sorts them with the key, and fails where it
can''t.
in_kind, in_messages: those of queue_push_many, an array. in_now: the time of the call. in_since: see _queue_put.
The other parameters are the columns, of all messages that don''t say otherwise.
out_follows: whether one has a group, an order key or a semaphore of its own, to which _queue_push_batch sees;
NULL: none.
out_entries: the numbers of those that are put in, 19 digits a message, in their order.
out_outcomes: a letter a message, in their order: c for created, i for ignored; NULL where one of them is something
else, or has what may be wrong, which is left to that, too.
Locks: keys are put in in their order; a key that is there already is seen without a lock, as in _queue_put.
differs: on PostgreSQL it is a part of _queue_push_batch.'
begin
    declare v_list, v_own longtext character set ascii;
    declare v_odd, v_more int;
    declare v_turns boolean default false;
    declare v_shift, v_first bigint;
    call _queue_epoch(v_shift);
    -- the numbers of the entries, of 19 digits each, in the order of the batch
    select json_arrayagg(m.entry), sum(not m.plain), sum(m.more) into v_list, v_odd, v_more
    from (
        select lpad(((uuid_short() << 8) & 9223372036854775807) + v_shift, 19, '0') as entry,
            (json_type(j.name) = 'STRING' and char_length(json_unquote(j.name)) between 1 and 200
                and length(j.payload) <= @@sort_buffer_size div 16) is true as plain,
            json_length(j.message) <> 2 as more
        from json_table(in_messages, '$[*]' columns (message json path '$', name json path '$.key',
            payload json path '$.payload')) j
            limit 1000000000) m;
    -- regexp_replace took longer than all the rest
    set out_entries = replace(replace(replace(replace(v_list, '[', ''), '"', ''), ',', ''), ' ', '');
    if v_odd = 0 and v_more > 0 then
        -- the times and the priorities
        select replace(replace(replace(replace(json_arrayagg(m.own), '[', ''), '"', ''), ',', ''), ' ', ''),
            sum(not m.plain), max(m.turns), max(m.turns or m.crowds)
        into v_own, v_odd, v_turns, out_follows
        from (
            select concat(lpad(r.at, 18, '0'), lpad(32768e0 + r.grade, 5, '0')) as own,
                (json_length(r.message) = 2 + (r.delay is not null) + (r.time is not null) + (r.priority is not null)
                    + (r.headers is not null) + (r.most is not null) + (r.crowd is not null) + (r.line is not null)
                    + (r.names is not null)
                and locate('\\', json_keys(r.message)) = 0
                and r.at between 100000000000000 and 253402300799999999 and r.grade between -32768 and 32767
                and (r.time like r.at) is not false and (r.priority like r.grade) is not false
                and (r.delay is null or r.time is null and json_type(r.delay) in ('INTEGER', 'UNSIGNED INTEGER',
                    'DOUBLE') and r.delay + 0e0 >= 0)
                and (r.headers is null or json_type(r.headers) = 'OBJECT' and json_length(r.headers) > 0
                    and locate('[', r.headers) = 0 and locate('{', r.headers, 2) = 0
                    and length(r.message) <= @@sort_buffer_size div 16)
                and (r.most is null or r.most regexp '^[0-9]{1,10}$' and r.most + 0e0 between 1 and 1000000000)
                and (r.crowd is null or json_type(r.crowd) = 'STRING'
                    and char_length(json_unquote(r.crowd)) between 1 and 100)
                and (r.line is null or json_type(r.line) = 'STRING'
                    and char_length(json_unquote(r.line)) between 1 and 200 and r.names is null
                    and in_semaphores is null)
                and (r.names is null or in_order is null and json_type(r.names) = 'ARRAY' and json_length(r.names) = 1
                    and json_type(json_extract(r.names, '$[0]')) = 'STRING' and locate('\\', r.names) = 0
                    and (select count(*) from queue_semaphore s
                        where s.name = convert(json_value(r.names, '$[0]') using utf8mb4) collate exact) > 0))
                is true as plain,
                r.line is not null or r.names is not null as turns, r.crowd is not null as crowds
            from (
                select j.*, coalesce(cast(j.priority as signed), in_priority) as grade,
                    coalesce(cast(j.time as signed), cast(in_now + round(cast(concat(j.delay) as decimal(60,30)), 6)
                        * 1000000 as signed), in_scheduled_at) as at
                from json_table(in_messages, '$[*]' columns (message json path '$', priority json path '$.priority',
                    delay json path '$.delay_seconds', time json path '$.scheduled_at',
                    headers json path '$.headers', most json path '$.max_attempts', crowd json path '$.group',
                    line json path '$.order_key', names json path '$.semaphores')) j) r
            limit 1000000000) m;
    end if;
    if v_odd = 0 then
        insert into delayed_queue (entry, p_kind, p_key, payload, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at, route, order_key,
            semaphores)
        select cast(substr(out_entries, 19 * r.place - 18, 19) as signed), in_kind, r.p_key, r.payload,
            coalesce(json_extract(r.headers, '$'), in_headers), r.priority, r.at, r.at, in_now, in_attempts,
            coalesce(r.max_attempts, in_max_attempts), if(r.at <= in_now and in_semaphores is null, -r.priority, null),
            if(r.at <= in_now and in_semaphores is null, r.at, null), if(r.at > in_now, r.at, null), in_route, in_order,
            in_semaphores
        from (
            select j.*, if(v_own is null, in_scheduled_at, cast(substr(v_own, 23 * j.place - 22, 18) as signed)) as at,
                if(v_own is null, in_priority, cast(substr(v_own, 23 * j.place - 4, 5) as signed) - 32768) as priority
            from json_table(in_messages, '$[*]' columns (place for ordinality, p_key varchar(200) collate exact
                path '$.key', payload json path '$.payload', headers json path '$.headers',
                max_attempts int path '$.max_attempts')) j) r
            left join delayed_queue q force index (delayed_queue_key) -- in the caller's transaction it would be locked
                on q.p_kind = if(@pyqueue_own, in_kind, null) and q.p_key = r.p_key
            left join queue_dedup d force index (primary)
                on d.p_kind = if(in_since is null, null, in_kind) and d.p_key = r.p_key
        where q.entry is null and (d.ended_at <= in_since) is not false
        order by r.p_key, r.place
        on duplicate key update entry = delayed_queue.entry;
        if row_count() = length(out_entries) div 19 and in_since is null then
            select max(q.entry) into v_first from delayed_queue q where q.entry = cast(left(out_entries, 19) as signed);
        end if;
        if v_first is not null then
            -- of a client that counts the rows that are found, row_count() of the insert counts taken keys as well
            update delayed_queue q set q.created_at = q.created_at where q.entry = v_first;
            if row_count() = 0 then
                set out_outcomes = repeat('c', length(out_entries) div 19);
            end if;
        end if;
        if in_since is not null then -- what was held until just now, as in _queue_put
            delete q from messages(v_list) q
                straight_join queue_dedup d force index (primary) on d.p_kind = in_kind and d.p_key = q.p_key
            where d.ended_at > in_since;
        end if;
        if v_turns then -- apart: all others would pay for it
            update json_table(in_messages, '$[*]' columns (place for ordinality,
                order_key varchar(200) collate exact path '$.order_key', semaphores json path '$.semaphores')) j
                straight_join delayed_queue q force index (primary)
                    on q.entry = cast(substr(out_entries, 19 * j.place - 18, 19) as signed)
            set q.order_key = coalesce(j.order_key, in_order),
                q.semaphores = coalesce(json_extract(j.semaphores, '$'), in_semaphores);
        end if;
        if out_outcomes is null then -- looked at, as in _queue_put
            select replace(replace(replace(replace(json_arrayagg(s.letter), '[', ''), '"', ''), ',', ''), ' ',
                '') into out_outcomes
            from (
                select if(q.entry is null, 'i', 'c') as letter
                from unnest(v_list) r (place for ordinality, entry bigint)
                    left join delayed_queue q force index (primary) on q.entry = r.entry
                order by r.place limit 1000000000) s;
        end if;
    end if;
end;
