-- calls: _queue_check_name, _queue_stream_trim, queue_now
-- changes: queue_stream_part, queue_stream_plan
create procedure queue_stream_plan(in in_source text collate exact)
    comment 'Begins a read of queue_stream_reserve, or begins it anew after whoever read it has gone: from then on only
the parts that were handed out are handed out again, whatever the reader is told to take now, and whoever holds an older
plan is refused. What somebody else has by now, or what has ended, is forgotten. The rest isn''t pruned for another
week.
in_source: what names the read, the same when it is done again, 1 to 200 characters.
Result: plan: a number to hand to queue_stream_reserve; parts: a JSON array of the parts that were handed out, or that
are kept; NULL: none was, and the read is a new one.
Errors: PQ001 for source.
Locks: the row of the read; waits for calls of queue_stream_reserve that are under way.
Where the idea comes from: the fencing tokens of leases.'
begin
    declare v_now, v_plan, v_lost bigint;
    declare v_parts longtext;
    begin atomic
        call _queue_check_name(in_source, 200, 'source');
        call queue_now(v_now);
        insert into queue_stream_plan (source, plan, sealed, begun_at) values (in_source, 1, false, v_now)
        on duplicate key update plan = queue_stream_plan.plan + 1, begun_at = v_now;
        -- whoever was handing out has ended or waits for this row
        select l.plan into v_plan from queue_stream_plan l where l.source = in_source for update;
        select json_arrayagg(s.part) into v_parts
        from (
            select p.part from queue_stream_part p where p.source = in_source
                order by p.part limit 1000000000 lock in share mode) s;
        if v_parts is null then
            select json_arrayagg(s.part) into v_parts
            from (
                select distinct k.part from queue_stream_kept k where k.source = in_source
                    order by k.part limit 1000000000) s;
        end if;
        if v_parts is not null then
            update queue_stream_plan l set l.sealed = true where l.source = in_source;
            call _queue_stream_trim(in_source, null, null, v_lost);
            -- so that none of it is pruned
            update queue_stream_part p set p.begun_at = v_now where p.source = in_source;
        end if;
    end atomic;
    select v_plan as plan, v_parts as parts;
end;
