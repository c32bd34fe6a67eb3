-- changes: queue_stage, queue_stage_part
create or replace function _queue_stage_remove(in_part bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off as $$
declare
    v_rows bigint;
begin
    delete from queue_stage s where s.ctid = any (array(
        select o.ctid from queue_stage o where o.part = in_part limit in_max));
    get diagnostics v_rows = row_count;
    if v_rows < in_max then
        delete from queue_stage_part p where p.part = in_part;
    end if;
    return v_rows;
end $$;

comment on function _queue_stage_remove(bigint, bigint) is
$$Removes what was staged under a part, and the part once that is all.
in_part: the part, locked. in_max: how many messages at the most.
Result: how many messages.$$;
