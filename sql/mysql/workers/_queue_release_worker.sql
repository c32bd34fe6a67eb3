-- calls: _queue_add_error, _queue_bury, _queue_defaults, _queue_end, _queue_permits_note
-- changes: delayed_queue, queue_count
create procedure _queue_release_worker(in in_worker varchar(200) collate exact, in in_kinds longtext, in in_now bigint,
    in in_max int, out out_freed int, out out_done boolean)
    comment 'Frees what a worker that is gone holds.
in_worker: the worker. in_kinds: where it holds messages, a JSON array of kinds; NULL: anywhere. in_now: the time of the
call. in_max: how many messages at the most. out_freed: how many those were. out_done: whether that was all.
Locks: the messages, in the order of their entries; what others have locked is left for the next time.'
begin
    declare v_list, v_more, v_errors, v_semaphores longtext;
    declare v_kind varchar(100) collate exact;
    declare v_place int default 0;
    declare v_left int default in_max;
    declare v_entry bigint;
    declare v_pending, v_paused boolean;
    declare v_attempts, v_most, v_own, v_defined int;
    declare v_none decimal(30,6);
    declare v_error longtext default concat('worker ', in_worker, ' is gone');
    declare c cursor for -- dead letters are put in in the order of their keys, as everywhere
        select q.entry from messages(v_list) q order by q.p_key, q.p_kind;
    if in_kinds is null then
        select json_arrayagg(h.entry) into v_list
        from (select q.entry from delayed_queue q where q.reserved_by = in_worker
            and q.scheduled_at > in_now limit in_max) h;
    end if;
    while v_place < json_length(in_kinds) and v_left > 0 do
        set v_kind = json_unquote(json_extract(in_kinds, concat('$[', v_place, ']'))), v_place = v_place + 1;
        select json_arrayagg(h.entry) into v_more
        from (
            select q.entry from delayed_queue q force index (delayed_queue_ready)
            where q.ready_kind = v_kind and q.reserved_by = in_worker and q.scheduled_at > in_now limit v_left) h;
        set v_list = if(v_list is null, v_more, json_merge_preserve(v_list, coalesce(v_more, '[]')));
        set v_left = in_max - coalesce(json_length(v_list), 0);
    end while;
    select count(distinct j.entry) into v_left
    from unnest(coalesce(v_list, '[]')) j (entry bigint);
    -- what was read may have changed since
    select json_arrayagg(l.entry), count(*) into v_list, out_freed
    from (
        select q.entry
        from (select distinct j.entry from unnest(coalesce(v_list, '[]')) j (entry bigint)) d
            straight_join delayed_queue q force index (primary) on q.entry = d.entry
        where q.reserved_by = in_worker and q.scheduled_at > in_now
        order by d.entry limit 1000000000 for update of q skip locked) l;
    set out_done = v_left < in_max and out_freed = v_left;
    if out_freed > 0 then
        insert into queue_count (id, p_kind, expired)
        select uuid_short(), q.p_kind, count(*)
        from messages(v_list) q
        group by q.p_kind;
        for each c into v_entry do
            select q.p_kind, q.attempts, q.max_attempts, q.pending, q.errors, q.semaphores
            into v_kind, v_attempts, v_own, v_pending, v_errors, v_semaphores
            from delayed_queue q where q.entry = v_entry for update;
            select min(k.max_attempts), max(k.paused), count(*) into v_most, v_paused, v_defined
            from queue_kind k where k.p_kind = v_kind;
            if v_defined = 0 then
                call _queue_defaults(v_none, v_most, v_none, v_none, v_none, v_none);
            end if;
            if v_attempts >= coalesce(v_own, v_most) and v_paused is not true then
                call _queue_bury(v_entry, v_error, in_now);
            elseif v_pending is not null then
                call _queue_end(v_entry, null, null, in_now);
            else
                call _queue_add_error(v_errors, in_now, v_attempts, in_worker, v_error, v_errors);
                -- to the end of the line, as _queue_nack: where sessions keep a cursor, its old place is seen by few
                update delayed_queue q
                set q.scheduled_at = in_now, q.ready_rank = -q.priority, q.ready_at = in_now, q.due_at = null,
                    q.reserved_at = null, q.reserved_by = null, q.secret = null, q.errors = v_errors
                where q.entry = v_entry;
                call _queue_permits_note(v_entry, v_semaphores);
            end if;
        end each;
    end if;
end;
