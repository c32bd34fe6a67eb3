-- calls: _queue_begin, _queue_check_name, _queue_check_roles, _queue_commit, _queue_undo, queue_now
create procedure queue_get(in in_kind text collate exact, in in_key text collate exact)
    comment 'Looks at one message and changes nothing.
in_kind: the kind. in_key: the key.
Result: the columns, times in microseconds; state: scheduled, ready, reserved, expired, waiting (in line for something
else than time); and errors, the last ten, the newest last: a JSON array of {at, attempt, by, error}, NULL for none. No
row where there is no message.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key.
Locks: none.'
begin
    declare v_own boolean;
    declare v_now bigint;
    declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
    call _queue_begin(v_own);
    call queue_now(v_now);
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    call _queue_check_name(in_key, 200, 'key');
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
        q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
        case when q.reserved_at is null and q.ready_at is null and q.due_at is null then 'waiting'
            when q.reserved_at is null then if(q.scheduled_at <= v_now, 'ready', 'scheduled')
            else if(q.scheduled_at <= v_now, 'expired', 'reserved') end as state, q.errors
    from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
    call _queue_commit(v_own);
end;
