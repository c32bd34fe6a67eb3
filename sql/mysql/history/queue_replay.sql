-- calls: _queue_check_name, _queue_check_options, _queue_check_roles, _queue_epoch, _queue_fail, _queue_index,
--     _queue_instant, _queue_integer, _queue_log_entries, _queue_text, queue_now
-- changes: delayed_queue
create procedure queue_replay(in in_kind text collate exact, in in_filter longtext)
    comment 'Puts what a kind keeps in queue_history back, as new entries with attempts 0 that are ready now, in the
order in which they had ended.
in_kind: the kind whose history it is.
in_filter: which of it, all conditions together.
- outcome: how it ended. Allowed: acked, popped, moved, dead, removed. Default: any.
- p_key: its key. Allowed: 1 to 200 characters. Default: any.
- from: when it ended, from this time on. Allowed: as scheduled_at of queue_push. Default: the oldest.
- to: when it ended, before this time. Allowed: as scheduled_at of queue_push. Default: the newest.
- limit: how many, the oldest first. For more go on by from and to. Allowed: 1 to 10000. Default: 1000.
- to_kind: where it goes. Allowed: a kind, 1 to 100 characters. Default: the kind itself.
Result: went: how many; stayed: how many whose key is taken there, or that a newer one of their key went instead of. A
key that is only remembered (dedup_seconds) doesn''t hinder it. What isn''t of the payload_shape there is dead at the
next reserve.
Errors: PQ007 for a kind that is for others. PQ001 for kind and to_kind, PQ002 for filter, PQ004 where the target is
drained.
Locks: none; keys are put in in their order.'
begin
    declare v_went, v_looked bigint;
    begin atomic
        declare v_shift, v_now, v_from, v_to, v_limit bigint;
        declare v_outcome, v_key, v_to_kind text collate exact;
        declare v_list longtext;
        declare v_draining, v_filter, v_logs boolean;
        declare continue handler for not found begin end;
        set v_went = null, v_looked = null;
        call queue_now(v_now);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_options(in_filter, 'outcome,p_key,from,to,limit,to_kind', 'filter');
        call _queue_text(in_filter, 'outcome', v_outcome);
        call _queue_text(in_filter, 'p_key', v_key);
        call _queue_instant(in_filter, 'from', v_from);
        call _queue_instant(in_filter, 'to', v_to);
        call _queue_integer(in_filter, 'limit', 1, 10000, v_limit);
        call _queue_text(in_filter, 'to_kind', v_to_kind);
        set v_to_kind = coalesce(v_to_kind, in_kind), v_limit = coalesce(v_limit, 1000), v_from = coalesce(v_from, 0),
            v_to = coalesce(v_to, 9223372036854775807);
        call _queue_check_name(v_to_kind, 100, 'to_kind');
        call _queue_check_roles(json_array(in_kind, v_to_kind));
        if v_outcome not in ('acked', 'popped', 'moved', 'dead', 'removed') then
            call _queue_fail('PQ002', 'outcome', v_outcome, 'must be acked, popped, moved, dead or removed');
        end if;
        select k.draining, k.filter_index, k.log_seconds > 0 into v_draining, v_filter, v_logs from queue_kind k
            where k.p_kind = v_to_kind;
        if v_draining then
            call _queue_fail('PQ004', 'to_kind', v_to_kind, 'takes in nothing while it is drained');
        end if;
        call _queue_epoch(v_shift);
        -- numbered in the order in which they ended, though put in in the order of the keys; of one key the newest
        select json_arrayagg(json_array(s.entry, s.finished_at, s.old)) into v_list
        from (
            select n.entry, n.finished_at, n.old
            from (
                select ((uuid_short() << 8) & 9223372036854775807) + v_shift as entry, d.p_key, d.finished_at, d.old
                from (
                    (select h.p_key, h.finished_at, h.entry as old from queue_history h force index (primary)
                        where v_key is null and h.p_kind = in_kind and h.finished_at >= v_from and h.finished_at < v_to
                            and h.outcome = coalesce(v_outcome, h.outcome)
                        order by h.finished_at, h.entry limit v_limit)
                    union all
                    (select h.p_key, h.finished_at, h.entry from queue_history h force index (queue_history_key)
                        where h.p_kind = in_kind and h.p_key = v_key and h.finished_at >= v_from
                            and h.finished_at < v_to
                            and h.outcome = coalesce(v_outcome, h.outcome)
                        order by h.finished_at, h.entry limit v_limit)) d
                limit 1000000000) n
            order by n.p_key, n.finished_at desc, n.old desc limit 1000000000) s;
        set v_looked = coalesce(json_length(v_list), 0), v_list = coalesce(v_list, '[]');
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, ready_rank, ready_at)
        select j.entry, v_to_kind, h.p_key, h.payload, h.payload_bytes, h.headers, h.priority, v_now, v_now, v_now,
            -h.priority, v_now
        from unnest(v_list) j (entry bigint, finished_at bigint, old bigint)
            straight_join queue_history h force index (primary)
                on h.p_kind = in_kind and h.finished_at = j.finished_at and h.entry = j.old
            left join delayed_queue q force index (delayed_queue_key) on q.p_kind = v_to_kind and q.p_key = h.p_key
        where q.entry is null or @pyqueue_own is not true
        on duplicate key update entry = delayed_queue.entry;
        select count(*) into v_went
        from json_table(v_list, '$[*]' columns (entry bigint path '$[0]')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry;
        if v_filter then
            call _queue_index(json_extract(v_list, '$[*][0]'));
        end if;
        if v_logs then
            select json_arrayagg(json_array(s.entry + 0, 'pushed')) into v_list
            from (select j.entry from json_table(v_list, '$[*]' columns (entry bigint path '$[0]')) j
                order by j.entry limit 1000000000) s;
            call _queue_log_entries(coalesce(v_list, '[]'), null, v_now);
        end if;
    end atomic;
    select v_went as went, v_looked - v_went as stayed;
end;
