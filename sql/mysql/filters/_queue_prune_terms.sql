-- calls: _queue_forget_terms
create procedure _queue_prune_terms(in in_max bigint, out out_pruned bigint)
    comment 'Takes messages that have gone out of the index of filters. Each session goes through it bit by bit, from a
place that chance gave it.
in_max: how many rows to look at.
Result: how many rows went.
Locks: the rows; what others have locked is left.
differs: the result is out_pruned.'
begin
    declare v_low bigint default @pyqueue_terms;
    declare v_high, v_rows, v_gone_rows bigint;
    declare v_left bigint default in_max;
    declare v_gone longtext;
    declare v_round int default 0;
    set out_pruned = 0;
    if v_low is null then -- many that come new needn't all look at the same
        select min(t.entry) + floor((max(t.entry) - min(t.entry)) * rand()) into v_low from queue_term t;
    end if;
    while v_low is not null and v_round < 2 do
        select max(w.entry), count(*), json_arrayagg(if(q.entry is null, w.entry, null)),
            sum(q.entry is null) into v_high, v_rows, v_gone, v_gone_rows
        from (select t.entry from queue_term t force index (primary) where t.entry >= v_low
            order by t.entry limit v_left) w
            left join delayed_queue q force index (primary) on q.entry = w.entry;
        if v_gone_rows > 0 then
            select json_arrayagg(g.entry) into v_gone
            from (select distinct j.entry from unnest(v_gone) j (entry bigint)
                where j.entry is not null) g;
            call _queue_forget_terms(v_gone, v_gone_rows);
            set out_pruned = out_pruned + v_gone_rows;
        end if;
        set v_round = v_round + 1, v_left = v_left - v_rows;
        if v_left = 0 then
            set v_round = 2;
        else
            set v_low = -9223372036854775808, v_high = v_low; -- the end: from the beginning again
        end if;
    end while;
    set @pyqueue_terms = v_high + 1; -- a message goes with all its rows
end;
