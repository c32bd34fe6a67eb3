-- calls: _queue_members_settle, _queue_reserve
create function queue_reserve(in_kind text collate exact) returns json
    not deterministic modifies sql data
    comment 'The short form of the procedure queue_reserve, for clients that only know SELECT: one message, for the
worker and the time that are the defaults.
in_kind, the errors and the locks: those of the procedure.
Result: a JSON object of its columns, payload_bytes in base64; NULL where nothing is ready or the kind is paused.
What it costs: in a function MySQL ignores SKIP LOCKED, so that a call waits for other consumers'' transactions that
haven''t ended. Use it with autocommit, or the procedure. Several consumers at once meet deadlocks (1213), after which
the call is to be made again: a function can''t begin a transaction of its own, as the procedure does.
differs: PostgreSQL''s routine is such a function itself.'
begin
    declare v_entries longtext;
    declare v_seed varchar(64) character set ascii;
    declare v_entry bigint;
    declare v_message json;
    declare continue handler for not found begin end;
    call _queue_reserve(in_kind, null, 1, null, v_entry, v_entries, v_seed);
    if @pyqueue_members is not null then
        call _queue_members_settle();
    end if;
    select json_object('p_kind', q.p_kind collate utf8mb4_bin, 'p_key', q.p_key, 'payload',
        json_extract(q.payload, '$'), 'payload_bytes', replace(to_base64(q.payload_bytes), char(10 using utf8mb4), ''),
        'headers', json_extract(q.headers, '$'), 'priority', q.priority, 'scheduled_at', q.scheduled_at,
        'scheduled_at_initially', q.scheduled_at_initially, 'created_at', q.created_at, 'reserved_at', q.reserved_at,
        'attempts', q.attempts, 'reserved_by', q.reserved_by, 'receipt', concat(q.entry, '-', lower(hex(q.secret))),
        'errors', json_extract(q.errors, '$'))
    into v_message
    from delayed_queue q
    where q.entry = v_entry for update;
    return v_message;
end;
