-- calls: _queue_ack_many, _queue_batch_done, _queue_boolean, _queue_check_batch, _queue_check_options, _queue_fail,
--     _queue_permits_settle, _queue_setting, _queue_stage_note, _queue_stage_put, _queue_stream_fail,
--     _queue_stream_held, _queue_text, queue_now
-- changes: queue_stream_kept, queue_stream_part, queue_stream_plan
create or replace function queue_stream_commit(in_stream text, in_batch bigint, in_options jsonb default null,
    out outcome text, out acked bigint, out failed bigint, out lost bigint, out published bigint,
    out pushed bigint, out differing bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_held record; v_put record;
    v_whole boolean;
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    perform _queue_check_options(in_options, '{parts, failed, whole, keep, run, job, refused}'::text[], 'options');
    v_whole := coalesce(_queue_boolean(in_options, 'whole'), false);
    outcome := case when _queue_batch_done(in_stream, in_batch, v_now,
        _queue_text(in_options, 'run'), _queue_text(in_options, 'job')) then 'committed' else 'replayed' end;
    select 0, 0, 0, 0, 0, 0 into acked, failed, lost, published, pushed, differing;
    if outcome = 'replayed' then
        return;
    end if;
    v_held := _queue_stream_held(null, in_stream, in_batch);
    perform q.entry from delayed_queue q where q.entry = any (v_held.entries) order by q.entry + 0 for update;
    if _queue_boolean(in_options, 'keep') then
        delete from queue_stream_kept k using queue_stream_part p -- a read of the same name was done before
        where p.stream = in_stream and p.batch = in_batch and k.source = p.source;
        insert into queue_stream_kept
        select p.source, p.part, e.place, in_stream, in_batch, v_now, q.p_kind, q.p_key, q.payload, q.payload_bytes,
            q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts,
            q.reserved_by, e.receipt, q.errors
        from queue_stream_part p, jsonb_array_elements_text(p.receipts) with ordinality e (receipt, place),
            lateral (select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret) r
        join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
        where p.stream = in_stream and p.batch = in_batch;
    end if;
    delete from queue_stream_kept k where k.stream = in_stream and k.batch < in_batch;
    if in_options ? 'parts' then
        v_put := _queue_stage_put(in_options -> 'parts', v_held.secrets);
        select v_put.messages, v_put.pushed, v_put.differing into published, pushed, differing;
    end if;
    if in_options ? 'failed' then
        failed := _queue_stream_fail(in_options -> 'failed', in_stream, in_batch, v_now);
    end if;
    -- all at once, so that semaphores are locked last
    select count(*) filter (where a.outcome <> 'lost'), count(*) filter (where a.outcome = 'lost') - failed into acked,
        lost
    from unnest(_queue_ack_many(v_held.entries, v_held.secrets, null::jsonb, v_now)) a (outcome);
    perform _queue_permits_settle(null::bigint[], null::text[], true, v_now)
        where current_setting(_queue_setting('settle'), true) <> ''; -- of what failed, and no ack has seen to
    if v_whole and lost > 0 then
        perform _queue_fail('PQ004', 'batch', in_batch::text, lost || ' of its messages are no longer held for it');
    end if;
    if in_options ? 'parts' then
        if v_put.rest is not null then -- what has the keys of messages that were there until now
            v_put := _queue_stage_put(v_put.rest, null::bytea[]);
            pushed := pushed + v_put.pushed;
            differing := differing + v_put.differing;
        end if;
        perform _queue_stage_note(in_stream, in_batch, in_options, v_now, published, pushed, differing);
    end if;
    with gone as (delete from queue_stream_part p where p.stream = in_stream and p.batch <= in_batch returning p.source)
    delete from queue_stream_plan l where l.source = any (array(select distinct g.source from gone g));
end $$;

comment on function queue_stream_commit(text, bigint, jsonb) is
$$Ends a batch: it acknowledges what the parts of the batch were handed out. In the same transaction it publishes what
came of it and gives back what failed. What is published under the kind and key of a message of the batch is put in once
that message has ended, as a new message; where it doesn't end, but goes back for another try, its key is taken.
in_stream, in_batch: as in queue_stream_reserve.
in_options: what came of the batch.
- parts: what to publish, as in queue_stage_publish. Allowed: an array of {part, messages}. Default: none.
- failed: what of the batch to give back. Allowed: an array of {receipt, and options of queue_nack}. Default: none.
- whole: refuses the batch where any of its messages is no longer held for it; queue_stream_renew forgets those.
  Allowed: true, false. Default: false.
- keep: keeps what the batch had read, so that its replay reads it again, until queue_stream_forget or the end of the
  next batch. Allowed: true, false. Default: false.
- run: what runs the query. Allowed: a text. Default: none.
- job: the write that does the batch, so that a second write isn't taken for a replay. Allowed: a text. Default: none.
- refused: as in queue_stage_publish. Allowed: 0 or more. Default: 0.
Result: outcome: committed, or replayed where it was committed before, and then nothing happens; acked, failed, lost:
how many messages, where acked counts those too that went on along their route; published: how many were staged; pushed,
differing: how many of these, as in queue_stage_publish.
Errors: PQ001 for stream, batch and parts, PQ002 for options. PQ004 for whole, for parts that aren't there, and where
another job of the same run has ended the batch. PQ005 for what is no receipt in failed, and for one that is held, but
not for the batch; PQ003 for a payload there. For a message that is published the error of a push, naming its key.
Locks: the row of the stream, then the messages, in the order of their entries, then as queue_stage_publish.
Where the idea comes from: a consumer's offsets and a producer's messages in one transaction, as Kafka has it.$$;
