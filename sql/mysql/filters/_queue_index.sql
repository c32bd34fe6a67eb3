-- calls: _queue_leaves
-- changes: queue_term
create procedure _queue_index(in in_entries longtext)
    comment 'Puts messages into the index of filters, those of kinds that have one (filter_index), or anew where they
are in it.
in_entries: a JSON array of the messages, just put in or locked. One that has more than 256 terms, or onto which
something was pushed while it was held, gets a single one, by which every filter finds it.
Locks: none but what it changes.
differs: several are taken in parts, since each part is a list of documents here.'
begin
    declare v_headed boolean;
    declare v_part varchar(8000) character set ascii;
    declare v_parts, v_documents, v_leaves, v_more, v_crowded longtext;
    declare c cursor for -- of no longer a type: MariaDB would make a file for it
        select j.part from unnest(coalesce(v_parts, '[]')) j (part varchar(8000) character set ascii);
    if json_length(in_entries) = 1 then
        select json_arrayagg(concat('[', q.entry, ']')) into v_parts
        from messages(in_entries) q straight_join queue_kind k force index (primary) on k.p_kind = q.p_kind
        where k.filter_index;
    else -- as many at a time as make 64 KB; each counts as 200 bytes more, so they are 328 at most
        select json_arrayagg(p.part) into v_parts
        from (
            select concat(json_arrayagg(s.entry), '') as part
            from (
                select n.entry, sum(n.size) over (order by n.entry) as sizes
                from (
                    select distinct q.entry,
                        200 + coalesce(length(q.payload), 0) + coalesce(length(q.headers), 0) as size
                    from messages(in_entries) q straight_join queue_kind k force index (primary) on k.p_kind = q.p_kind
                    where k.filter_index) n) s
            group by floor(s.sizes / 65536)) p;
    end if;
    for each c into v_part do
        select json_objectagg(q.entry, json_object('d', q.entry, 'v',
                if(q.pending, '{"": null}', concat(coalesce(q.payload, '{}'), '') collate exact))),
            max(q.headers is not null)
        into v_documents, v_headed from messages(v_part) q for update of q;
        call _queue_leaves(v_documents, false, v_leaves);
        if v_headed then
            select json_objectagg(q.entry, json_object('d', q.entry, 'v', concat(q.headers, '') collate exact))
            into v_documents from messages(v_part) q where q.headers is not null for update of q;
            call _queue_leaves(v_documents, false, v_more);
            set v_leaves = json_merge_preserve(v_leaves, v_more);
        end if;
        set v_crowded = null;
        if json_length(v_leaves) > 256 then
            select json_arrayagg(m.d) into v_crowded
            from (
                select l.d from leaves(v_leaves) l where l.c not in ('{}', '[]') group by l.d having count(*) > 256) m;
        end if;
        delete t from unnest(v_part) j (entry bigint) -- what it had in it before it was replaced
            straight_join queue_term t force index (primary) on t.entry = j.entry;
        insert into queue_term (entry, term, place)
        select q.entry, cast(conv(left(sha2(concat(q.p_kind,
                if(q.pending or json_contains(v_crowded, concat(q.entry)), '=', concat(l.p, '=', l.c))), 256), 15), 16,
                10) as signed), coalesce(q.ready_at, q.due_at, q.created_at)
        from leaves(v_leaves) l straight_join delayed_queue q force index (primary) on q.entry = l.d
        where l.c not in ('{}', '[]')
        on duplicate key update place = queue_term.place; -- a value that stands twice in an array
    end each;
end;
