-- calls: _queue_log_open
-- changes: queue_log
create procedure _queue_log(in in_entry bigint, in in_event varchar(10), in in_to_kind text collate exact,
    in in_topic text collate exact, in in_copy_of bigint, in in_now bigint)
    comment 'Appends an event of a message to the log. Its kind has log_seconds.
in_entry: the message, which is there. in_event: pushed, replaced; or acked, popped, moved, dead, removed, which have no
payload. in_to_kind: where it went, NULL: nowhere. in_topic: of what was published, else NULL. in_copy_of: the position
of what stands under that topic, NULL: this does. in_now: the time of the call.
Locks: as _queue_log_open.
differs: PostgreSQL appends many in one statement. Here that would leave gaps between the positions, after which readers
in a transaction have to wait. LAST_INSERT_ID() stays that of the caller.'
begin
    declare v_id bigint unsigned default last_insert_id();
    declare v_content boolean default in_event in ('pushed', 'replaced');
    call _queue_log_open();
    insert into queue_log (event, name, topic, copy_of, p_kind, p_key, entry, to_kind, payload, payload_bytes, headers,
        created_at)
    select in_event, case when in_topic is null then q.p_kind
        when in_copy_of is null then in_topic end, in_topic, in_copy_of, q.p_kind, q.p_key, q.entry,
        in_to_kind, if(v_content, q.payload, null), if(v_content, q.payload_bytes, null),
        if(v_content, q.headers, null), in_now
    from delayed_queue q where q.entry = in_entry;
    do last_insert_id(v_id);
end;
