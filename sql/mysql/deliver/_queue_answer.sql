create procedure _queue_answer(in in_entry bigint, in in_entries longtext, in in_seed varchar(64) character set ascii)
    comment 'Sends what queue_reserve and queue_next answer, once that is committed.
in_entry, in_entries, in_seed: what _queue_reserve answered.
differs: a function of PostgreSQL answers its rows itself.'
begin
    -- by its secret: what was held for a millisecond may be somebody else's now
    if in_entry is null and in_entries is not null then
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            concat(q.entry, '-', lower(hex(q.secret))) as receipt, q.errors
        from messages(in_entries) with ordinality q
        where q.secret = unhex(left(sha2(concat(in_seed, q.entry), 256), 32))
        order by j.place;
    else -- the most frequent call, without a set
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            concat(q.entry, '-', lower(hex(q.secret))) as receipt, q.errors
        from delayed_queue q
        where q.entry = in_entry and q.secret = unhex(left(in_seed, 32));
    end if;
end;
