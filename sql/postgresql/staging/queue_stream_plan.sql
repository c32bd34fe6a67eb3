-- calls: _queue_check_name, _queue_stream_trim, queue_now
-- changes: queue_stream_part, queue_stream_plan
create or replace function queue_stream_plan(in_source text, out plan bigint, out parts jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off as $$
declare
    v_now constant bigint := queue_now();
begin
    perform _queue_check_name(in_source, 200, 'source');
    insert into queue_stream_plan as l (source, plan, sealed, begun_at) values (in_source, 1, false, v_now)
    on conflict on constraint queue_stream_plan_pkey do update set plan = l.plan + 1, begun_at = v_now
    returning l.plan into queue_stream_plan.plan;
    -- whoever was handing out has ended or waits for this row
    select jsonb_agg(p.part order by p.part) into parts from queue_stream_part p where p.source = in_source;
    if parts is null then
        select jsonb_agg(k.part order by k.part) into parts
            from (select distinct o.part from queue_stream_kept o where o.source = in_source) k;
    end if;
    if parts is not null then
        update queue_stream_plan l set sealed = true where l.source = in_source;
        perform _queue_stream_trim(in_source, null, null::bigint);
        update queue_stream_part p set begun_at = v_now where p.source = in_source; -- so that none of it is pruned
    end if;
end $$;

comment on function queue_stream_plan(text) is
$$Begins a read of queue_stream_reserve, or begins it anew after whoever read it has gone: from then on only the parts
that were handed out are handed out again, whatever the reader is told to take now, and whoever holds an older plan is
refused. What somebody else has by now, or what has ended, is forgotten. The rest isn't pruned for another week.
in_source: what names the read, the same when it is done again, 1 to 200 characters.
Result: plan: a number to hand to queue_stream_reserve; parts: a JSON array of the parts that were handed out, or that
are kept; NULL: none was, and the read is a new one.
Errors: PQ001 for source.
Locks: the row of the read; waits for calls of queue_stream_reserve that are under way.
Where the idea comes from: the fencing tokens of leases.$$;
