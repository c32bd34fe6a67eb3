create procedure _queue_scan_lane(in in_kind text collate exact,
    in in_rank int, in in_from bigint, in in_now bigint, in in_max int, in in_most int,
    out out_entries longtext character set utf8mb4, out out_number int, out out_expired int, out out_ends int,
    out out_last bigint)
    comment 'The next messages of one rank from a place on, locked.
in_rank: the rank, a priority negated. in_from: the place, a time in microseconds. out_last: the place of the last one.
The other parameters, the result and the locks are those of _queue_scan.
differs: see _queue_scan, from which it is apart because it begins at a place, which is a range of the index.'
begin
    declare continue handler for not found begin end;
    set out_entries = null, out_number = 0, out_expired = 0, out_ends = 0, out_last = null;
    if in_max = 1 then -- the most frequent call, without a set
        select concat('[', q.entry, ']'), 1, q.reserved_at is not null,
            q.pending is not null or q.semaphores is not null
            or q.attempts >= coalesce(q.max_attempts, in_most), q.ready_at
        into out_entries, out_number, out_expired, out_ends, out_last
        from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.ready_rank = in_rank and q.ready_at >= in_from and q.scheduled_at <= in_now
        order by q.ready_at, q.entry limit 1 for update skip locked;
    else
        select json_arrayagg(r.entry), count(*), count(r.reserved_at), coalesce(sum(r.ends), 0), max(r.ready_at)
        into out_entries, out_number, out_expired, out_ends, out_last
        from (
            select q.entry, q.reserved_at, q.ready_at, q.pending is not null or q.semaphores is not null
                or q.attempts >= coalesce(q.max_attempts, in_most) as ends
            from delayed_queue q force index (delayed_queue_ready)
            where q.ready_kind = in_kind and q.ready_rank = in_rank and q.ready_at >= in_from
                and q.scheduled_at <= in_now order by q.ready_at, q.entry limit in_max for update skip locked) r;
    end if;
end;
