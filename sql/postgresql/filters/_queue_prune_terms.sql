-- calls: _queue_forget_terms, _queue_setting
create or replace function _queue_prune_terms(in_max bigint) returns bigint language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_name constant text := _queue_setting('terms');
    -- many that come new needn't all look at the same
    v_low bigint := coalesce(nullif(current_setting(v_name, true), '')::bigint, (
        select l.low + ((l.high - l.low) * random())::bigint
        from (
            select (select t.entry from queue_term t order by t.entry limit 1) as low,
                (select t.entry from queue_term t order by t.entry desc limit 1) as high) l));
    v_high bigint;
    v_left bigint := in_max;
    v_rows bigint;
    v_gone bigint[];
    v_pruned bigint := 0;
begin
    for v_round in 1 .. case when v_low is null then 0 else 2 end loop
        select max(w.entry), count(*), array_agg(distinct w.entry) filter (where q.entry is null) into v_high, v_rows,
            v_gone
        from (select t.entry from queue_term t where t.entry >= v_low order by t.entry limit v_left) w
            left join lateral ( -- OFFSET: ADR 13
                select m.entry from delayed_queue m where m.entry = w.entry offset 0) q on true;
        if v_gone is not null then
            v_pruned := v_pruned + _queue_forget_terms(v_gone);
        end if;
        exit when v_rows = v_left;
        v_left := v_left - v_rows;
        v_low := -9223372036854775808; -- the end: from the beginning again
        v_high := v_low;
    end loop;
    if v_high is not null then
        perform set_config(v_name, (v_high + 1)::text, false); -- a message goes with all its rows
    end if;
    return v_pruned;
end $$;

comment on function _queue_prune_terms(bigint) is
$$Takes messages that have gone out of the index of filters. Each session goes through it bit by bit, from a place that
chance gave it.
in_max: how many rows to look at.
Result: how many rows went.
Locks: the rows; what others have locked is left.$$;
