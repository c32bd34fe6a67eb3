-- calls: _queue_index, _queue_line_up
-- changes: delayed_queue
create procedure _queue_put_onto(in in_kind text collate exact, in in_key text collate exact, in in_payload longtext,
    in in_payload_bytes longblob, in in_headers longtext, in in_now bigint, in in_scheduled_at bigint,
    in in_on_duplicate varchar(20), out out_entry bigint, out out_outcome varchar(10))
    comment 'A push onto a key that is taken.
in_on_duplicate: replace (content and time), keep_time (content only) or push_back (time only); content is the payload
with its headers. The other parameters are as in _queue_put.
Result: replaced; held, where somebody holds the message: the newest is kept beside it and delivered once the present
delivery is done; NULL where the message has gone. out_entry: the message.
Locks: the message.
differs: the result is out_outcome.'
begin
    declare v_content boolean default in_on_duplicate in ('replace', 'keep_time');
    declare v_time boolean default in_on_duplicate in ('replace', 'push_back');
    declare v_seen, v_reserved_at, v_scheduled_at, v_pending_at, v_at, v_ready_at bigint;
    declare v_rank int;
    declare v_newer, v_placed, v_guarded boolean;
    declare continue handler for not found begin end;
    -- by its entry, since who locks the key first waits crosswise with an ack; by its key where an old snapshot has
    -- another entry
    select q.entry into v_seen from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
    select q.entry into out_entry from delayed_queue q where q.entry = v_seen for update;
    if out_entry is null then
        select q.entry into out_entry from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
    end if;
    select q.reserved_at, q.scheduled_at, q.pending_at, q.pending_payload is not null or q.pending_bytes is not null,
        q.order_waits is not true, q.semaphores is not null, q.ready_rank, q.ready_at
    into v_reserved_at, v_scheduled_at, v_pending_at, v_newer, v_placed, v_guarded, v_rank, v_ready_at
    from delayed_queue q where q.entry = out_entry for update;
    if out_entry is null then
        set out_outcome = null;
    elseif v_reserved_at is not null and v_scheduled_at > in_now then
        update delayed_queue q
        set q.pending = true,
            q.pending_payload = case when v_content then in_payload else q.pending_payload end,
            q.pending_bytes = case when v_content then in_payload_bytes else q.pending_bytes end,
            q.pending_headers = case when v_content then in_headers else q.pending_headers end,
            q.pending_at = case when v_time then in_scheduled_at else q.pending_at end
        where q.entry = out_entry;
        if v_content then
            call _queue_index(json_array(out_entry + 0));
        end if;
        set out_outcome = 'held';
    else
        -- a reserve locks the place first and then the row: the victim of a deadlock is to be a read, for MariaDB calls
        -- no handler where an update is one
        select q.entry into v_seen from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.ready_rank = v_rank and q.ready_at = v_ready_at and q.entry = out_entry
        for update;
        -- what nobody holds changes at once; an expired hold ends here, so that its late ack can't remove what is new
        set v_at = case when v_time then in_scheduled_at when v_reserved_at is null then v_scheduled_at
            else greatest(coalesce(v_pending_at, in_now), in_now) end;
        update delayed_queue q
        set q.payload = case when v_content then in_payload when v_newer then q.pending_payload else q.payload end,
            q.payload_bytes = case when v_content then in_payload_bytes when v_newer then q.pending_bytes
            else q.payload_bytes end, q.headers = case when v_content then in_headers
                when v_newer then q.pending_headers else q.headers end,
            q.pending = null, q.pending_payload = null, q.pending_bytes = null, q.pending_headers = null,
                q.pending_at = null,
            q.scheduled_at = v_at,
            -- what waits in a line goes on waiting
            q.ready_rank = if(v_at <= in_now and v_placed, -q.priority, null),
            q.ready_at = if(v_at <= in_now and v_placed, v_at, null),
            q.due_at = if(v_at > in_now and v_placed, v_at, null),
            -- a message that was sent to wait after its hold has its secret still
            q.attempts = if(q.secret is null, q.attempts, 0),
            q.reserved_at = null, q.reserved_by = null, q.secret = null
        where q.entry = out_entry;
        if v_guarded then
            call _queue_line_up(json_array(out_entry + 0));
        end if;
        set out_outcome = 'replaced';
    end if;
end;
