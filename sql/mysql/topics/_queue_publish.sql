-- calls: _queue_check_options, _queue_index, _queue_lock, _queue_push_options, _queue_put
-- changes: delayed_queue
create procedure _queue_publish(in in_list longtext character set utf8mb4, in in_key text collate exact,
    in in_payload longtext character set utf8mb4, in in_options longtext character set utf8mb4, in in_now bigint,
    out out_answer longtext character set utf8mb4)
    comment 'queue_publish without its transaction and its checks.
in_list: the kinds, see _queue_subscribed. in_now: the time of the call. The other parameters and the locks are those of
queue_publish.
out_answer: a JSON array of arrays: kind, scheduled_at, outcome, and the entry where it is created or replaced.
differs: on PostgreSQL it is a part of queue_publish.'
begin
    declare v_at, v_one_at, v_entry, v_since bigint;
    declare v_headers, v_taken, v_none longtext character set utf8mb4;
    declare v_priority smallint;
    declare v_attempts, v_max_attempts int;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_kind text collate exact;
    declare v_remembers boolean default false;
    declare c cursor for
        select j.entry, j.p_kind, in_now - nullif(k.dedup_seconds, 0) * 1000000
        from json_table(in_list, '$[*]'
            columns (place for ordinality, entry bigint path '$[0]', p_kind varchar(100) collate exact path '$[1]')) j
            left join queue_kind k on k.p_kind = j.p_kind
        order by j.place;
    call _queue_check_options(in_options,
        'delay_seconds,scheduled_at,priority,headers,attempts,max_attempts,on_duplicate', 'options');
    call _queue_push_options(in_options, in_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
        v_on_duplicate, v_none, v_none, v_none);
    select count(*) > 0 into v_remembers
    from json_table(in_list, '$[*]' columns (p_kind varchar(100) collate exact path '$[1]')) j
        straight_join queue_kind k on k.p_kind = j.p_kind and (k.dedup_seconds > 0 or k.filter_index);
    if v_on_duplicate = 'ignore' and not v_remembers then
        insert into delayed_queue (entry, p_kind, p_key, payload, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at)
        select j.entry, j.p_kind, in_key, in_payload, v_headers, v_priority, v_at, v_at, in_now, v_attempts,
            v_max_attempts, if(v_at <= in_now, -v_priority, null), if(v_at <= in_now, v_at, null),
            if(v_at > in_now, v_at, null)
        from json_table(in_list, '$[*]'
            columns (entry bigint path '$[0]', p_kind varchar(100) collate exact path '$[1]')) j
            left join delayed_queue q force index (delayed_queue_key) on q.p_kind = j.p_kind and q.p_key = in_key
        where q.entry is null or @pyqueue_own is not true
        on duplicate key update entry = delayed_queue.entry;
        -- looked at, as in _queue_put
        select json_arrayagg(json_array(s.p_kind, s.scheduled_at, s.outcome, s.entry)) into out_answer
        from (
            select j.p_kind, coalesce(n.scheduled_at, q.scheduled_at) as scheduled_at,
                if(n.entry is null, 'ignored', 'created') as outcome, j.entry
            from json_table(in_list, '$[*]'
                columns (place for ordinality, entry bigint path '$[0]',
                p_kind varchar(100) collate exact path '$[1]')) j
                left join delayed_queue n force index (primary) on n.entry = j.entry
                left join delayed_queue q force index (delayed_queue_key)
                    on q.p_kind = if(n.entry is null, j.p_kind, null) and q.p_key = in_key
            order by j.place limit 1000000000) s;
    else
        select json_arrayagg(json_array(q.entry)) into v_taken
        from json_table(in_list, '$[*]' columns (p_kind varchar(100) collate exact path '$[1]')) j
            straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = j.p_kind and q.p_key = in_key
        where v_on_duplicate <> 'ignore';
        call _queue_lock(coalesce(v_taken, '[]'));
        set out_answer = json_array();
        for each c into v_entry, v_kind, v_since do
            call _queue_put(v_entry, v_kind, in_key, in_payload, null, v_headers, v_priority, in_now, v_at, v_attempts,
                v_max_attempts, v_on_duplicate, v_since, null, null, null, null, null, v_one_at, v_outcome);
            if v_outcome in ('created', 'replaced') then
                call _queue_index(json_array(v_entry + 0));
            end if;
            set out_answer = json_array_append(out_answer, '$', json_array(v_kind, v_one_at + 0, v_outcome,
                v_entry + 0));
        end each;
    end if;
end;
