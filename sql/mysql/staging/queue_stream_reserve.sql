-- calls: _queue_boolean, _queue_check_batch, _queue_check_roles, _queue_fail, _queue_integer, _queue_receipts,
--     _queue_reserve, _queue_text, queue_now
-- changes: queue_stream_part
create procedure queue_stream_reserve(in in_stream text collate exact, in in_batch bigint, in in_part int,
    in in_kind text collate exact, in in_max_messages int, in in_options longtext)
    comment 'queue_reserve for one part of a batch. Who asks again for the same part gets the same messages, as far as
they are still held for it, and no others, whatever it wants to take now. So a task that fails is run again, and a batch
is replayed. queue_stream_commit ends the batch.
in_stream: what names the reader, 1 to 200 characters; its first 160 and the batch and the part are the worker.
in_batch: the number of the batch, they only go up.
in_part: the part of it, from 0.
in_kind and in_max_messages: those of queue_reserve.
in_options: those of queue_reserve, and four more.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
- source: what names the read, where a batch has several. Allowed: 1 to 230 characters. Default: the stream and the
  batch, with / between.
- plan: what queue_stream_plan returned for it. The call is refused where the read was planned again since. Allowed: a
  number. Default: none.
- follows: a part that goes on where the one before it was full, and is empty where it wasn''t. Allowed: true, false.
  Default: false.
- adopt: what an earlier run was handed out for another stream or batch is of these from now on. Allowed: true, false.
  Default: false.
Result: that of queue_reserve; where the batch is committed already what it has kept, see queue_stream_commit.
Errors: PQ007 for a kind that is for others. PQ001 for stream, batch, part, kind and max_messages, PQ002 for options,
PQ004 for plan.
Locks: as queue_reserve; the plan, shared; a second call for the same part waits for the first.
Where the idea comes from: the offsets of a log, for a queue that has none.'
begin
    declare v_list longtext;
    declare v_source text collate exact;
    begin atomic
        declare v_now, v_entry, v_plan, v_newest bigint;
        declare v_number int;
        declare v_sealed, v_follows, v_adopts, v_new, v_done, v_wanted boolean default false;
        declare v_options, v_receipts, v_entries, v_kinds longtext;
        declare v_seed varchar(64) character set ascii;
        declare continue handler for not found begin end;
        set v_source = null, v_list = null;
        call _queue_check_batch('stream', in_stream, in_batch);
        if in_part >= 0 is not true then
            call _queue_fail('PQ001', 'part', in_part, 'must be 0 or more');
        end if;
        if json_type(if(json_valid(in_options), in_options, 'null')) = 'OBJECT' then
            call _queue_text(in_options, 'source', v_source);
            call _queue_integer(in_options, 'plan', 1, 9223372036854775807, v_plan);
            call _queue_boolean(in_options, 'follows', v_follows);
            call _queue_boolean(in_options, 'adopt', v_adopts);
            set v_options = json_remove(in_options, '$.source', '$.plan', '$.follows', '$.adopt');
        else
            set v_options = in_options;
        end if;
        set v_source = coalesce(v_source, concat(in_stream, '/', in_batch));
        if char_length(v_source) between 1 and 230 is not true then
            call _queue_fail('PQ002', 'source', v_source, 'must have 1 to 230 characters');
        end if;
        call queue_now(v_now);
        -- what it handed out before, too: a source may have been of another kind then
        select json_arrayagg(s.p_kind) into v_kinds
        from (
            select in_kind as p_kind
            union select k.p_kind from queue_stream_kept k where k.source = v_source and k.part = in_part
            union select q.p_kind
            from queue_stream_part p
                join json_table(p.receipts, '$[*]' columns (receipt varchar(60) path '$')) e
                straight_join delayed_queue q force index (primary)
                    on q.entry = cast(substring_index(e.receipt, '-', 1) as signed)
            where p.source = v_source and p.part = in_part) s;
        call _queue_check_roles(v_kinds);
        set v_list = null;
        -- EXISTS in an IF would lock what it reads, here and below
        select exists (select 1 from queue_stage_done d where d.query = in_stream and d.batch >= in_batch) into v_done;
        if v_plan is not null and not v_done then
            select l.plan, l.sealed into v_newest, v_sealed from queue_stream_plan l
                where l.source = v_source lock in share mode;
            if not v_newest <=> v_plan then
                call _queue_fail('PQ004', 'plan', v_plan,
                    'must be the newest of its source: another run reads it now');
            end if;
            -- what has parts and none that is held was ended for another stream
            select v_sealed and not exists (select 1 from queue_stream_part p where p.source = v_source) into v_done;
        end if;
        if not v_done then
            select not v_sealed and (coalesce(v_follows, false) = false or exists (
                select 1 from queue_stream_part b where b.source = v_source and b.part = in_part - 1
                    and b.handed >= b.wanted)) into v_wanted;
            if v_wanted then
                insert into queue_stream_part (source, part, stream, batch, wanted, begun_at)
                values (v_source, in_part, in_stream, in_batch, coalesce(in_max_messages, 1), v_now)
                on duplicate key update part = queue_stream_part.part;
                select p.receipts is null into v_new from queue_stream_part p -- which is locked by now
                    where p.source = v_source and p.part = in_part;
            end if;
            if v_new then
                call _queue_reserve(in_kind, concat(left(in_stream, 160), '/', in_batch, '/', in_part), in_max_messages,
                    v_options, v_entry, v_entries, v_seed);
                set v_entries = coalesce(v_entries, json_array(v_entry + 0));
                select coalesce(json_arrayagg(s.receipt), '[]') into v_receipts
                from (
                    select concat(q.entry, '-', lower(hex(q.secret))) as receipt
                    from messages(v_entries) with ordinality q order by j.place limit 1000000000) s;
                update queue_stream_part p set p.receipts = v_receipts, p.handed = json_length(v_receipts)
                where p.source = v_source and p.part = in_part;
            else
                if v_adopts then
                    update queue_stream_part p set p.stream = in_stream, p.batch = in_batch
                    where p.source = v_source and p.part = in_part;
                end if;
                -- what somebody else has by now isn't handed out; it stays written down, since an earlier try may have
                -- had it
                select p.receipts into v_receipts from queue_stream_part p
                    where p.source = v_source and p.part = in_part;
            end if;
            call _queue_receipts(coalesce(v_receipts, '[]'), v_list, v_number);
        end if;
    end atomic;
    if v_list is null then
        select k.p_kind, k.p_key, k.payload, k.payload_bytes, k.headers, k.priority, k.scheduled_at,
            k.scheduled_at_initially, k.created_at, k.reserved_at, k.attempts, k.reserved_by, k.receipt, k.errors
        from queue_stream_kept k where k.source = v_source and k.part = in_part order by k.place;
    else
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            concat(q.entry, '-', lower(hex(q.secret))) as receipt, q.errors
        from deliveries(v_list) q order by j.place;
    end if;
end;
