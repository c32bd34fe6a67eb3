-- calls: _queue_leaves
-- changes: queue_term
create procedure _queue_index(in in_entries longtext)
    comment 'Puts messages into the index of filters, those of kinds that have one (filter_index), or anew where they
are in it.
in_entries: a JSON array of the messages, just put in or locked. One that has more than 256 terms, or onto which
something was pushed while it was held, gets a single one, by which every filter finds it.
Locks: none but what it changes.'
begin
    declare v_entry, v_place bigint;
    declare v_kind varchar(100) collate exact;
    declare v_pending boolean;
    declare v_payload, v_headers, v_leaves, v_more longtext;
    declare c cursor for
        select distinct q.entry from messages(in_entries) q
            straight_join queue_kind k force index (primary) on k.p_kind = q.p_kind
        where k.filter_index order by q.entry;
    declare continue handler for not found begin end;
    for each c into v_entry do
        select q.p_kind, concat(q.payload, ''), concat(q.headers, ''), coalesce(q.ready_at, q.due_at, q.created_at),
            q.pending
        into v_kind, v_payload, v_headers, v_place, v_pending from delayed_queue q where q.entry = v_entry for update;
        delete t from queue_term t where t.entry = v_entry; -- what it had in it before it was replaced
        call _queue_leaves(coalesce(v_payload, '{}'), false, v_leaves);
        if v_headers is not null then
            call _queue_leaves(v_headers, false, v_more);
            set v_leaves = json_merge_preserve(v_leaves, v_more);
        end if;
        if json_length(v_leaves) > 256 or v_pending then
            set v_leaves = '[{"p": "", "c": ""}]';
        end if;
        insert into queue_term (entry, term, place)
        select distinct v_entry, cast(conv(left(sha2(concat(v_kind, l.p, '=', l.c), 256), 15), 16, 10) as signed),
            v_place
        from leaves(v_leaves) l
        where l.c not in ('{}', '[]')
        order by 2;
    end each;
end;
