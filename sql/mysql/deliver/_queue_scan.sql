create procedure _queue_scan(in in_kind varchar(100) collate exact, in in_rank int, in in_from bigint,
    in in_entry bigint, in in_now bigint, in in_max int, in in_most int, out out_entries longtext, out out_number int,
    out out_expired int, out out_ends int, out out_last bigint)
    comment 'The next messages of the ready line, locked.
in_kind: the kind. in_rank: of one rank, a priority negated; NULL: of all, from the start. in_from: from which place on,
a time in microseconds. in_entry: from which entry on at that place. in_now: the time of the call. in_max: how many.
in_most: how many deliveries a message of the kind may have.
out_entries: their entries, a JSON array, in the order of delivery; NULL for none. out_number: how many. out_expired:
how many of them are expired holds. out_ends: how many can''t be delivered, see _queue_end_undeliverable. out_last: with
in_rank, the place of the last one.
Locks: the messages; what others have locked is passed over.
MariaDB looks first, without a lock, where the line begins: under READ COMMITTED a scan that locks goes from each entry
that has died to its row, until the server has cleaned it away.
differs: PostgreSQL''s takes all parts of the line in one statement.'
begin
    declare v_rank int default in_rank;
    declare v_none boolean default false;
    declare continue handler for not found set v_none = true;
    set out_entries = null, out_number = 0, out_expired = 0, out_ends = 0, out_last = null;
    /*M!100600 if @pyqueue_own then
        select q.ready_rank, q.ready_at, q.entry into v_rank, in_from, in_entry
        from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.scheduled_at <= in_now and (v_rank is null
            or q.ready_rank = v_rank and q.ready_at = in_from and q.entry >= in_entry
            or q.ready_rank = v_rank and q.ready_at > in_from or q.ready_rank > v_rank and in_rank is null)
        order by q.ready_rank, q.ready_at, q.entry limit 1;
    end if; */
    if not v_none then
        select json_arrayagg(r.entry), count(*), count(r.reserved_at), coalesce(sum(r.ends), 0), max(r.ready_at)
        into out_entries, out_number, out_expired, out_ends, out_last
        from (
            select q.entry, q.reserved_at, q.ready_at, q.pending is not null or q.semaphores is not null
                or q.attempts >= coalesce(q.max_attempts, in_most) as ends
            from delayed_queue q force index (delayed_queue_ready)
            where q.ready_kind = in_kind and q.scheduled_at <= in_now and (v_rank is null
                or q.ready_rank = v_rank and q.ready_at = in_from and q.entry >= in_entry
                or q.ready_rank = v_rank and q.ready_at > in_from or q.ready_rank > v_rank and in_rank is null)
            order by q.ready_rank, q.ready_at, q.entry limit in_max for update skip locked) r;
    end if;
end;
