-- calls: _queue_leaves
create procedure _queue_matches(in in_entry bigint, in in_where longtext, out out_matches boolean,
    out out_payload longtext, out out_headers longtext)
    comment 'Whether a filter matches a message.
in_entry: the message. in_where: the filter, see _queue_where.
out_matches: whether it does, or what was pushed onto it while it was held, where that has content. out_payload,
out_headers: what was looked at, so that a caller who then locks the message
sees whether that has changed.
differs: on PostgreSQL it is an operator.'
begin
    declare v_document, v_next, v_leaves longtext;
    declare v_lacks int;
    declare continue handler for not found begin end;
    set out_matches = false, out_payload = null, out_headers = null;
    select concat(if(q.pending_payload is null and q.pending_bytes is null, q.payload, q.pending_payload), ''),
        concat(if(q.pending_payload is null and q.pending_bytes is null, q.headers, q.pending_headers), '')
    into out_payload, out_headers from delayed_queue q where q.entry = in_entry;
    set v_document = coalesce(out_payload, out_headers), v_next = if(out_payload is null, null, out_headers);
    while v_document is not null do
        call _queue_leaves(json_object('', json_object('d', 0, 'v', v_document)), false, v_leaves);
        select count(*) into v_lacks from leaves(in_where) w
        where not exists (select 1
            from leaves(v_leaves) l where l.p = w.p and l.c = w.c);
        set out_matches = v_lacks = 0, v_document = if(out_matches, null, v_next), v_next = null;
    end while;
end;
