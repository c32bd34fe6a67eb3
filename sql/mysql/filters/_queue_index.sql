drop procedure if exists _queue_index;
delimiter $$
create procedure _queue_index(in in_entry bigint, in in_kind text collate exact, in in_key text collate exact)
    comment 'Puts a message into the index of filters where its kind has one (filter_index), or anew where it is in it.
in_entry: the message, just put in or locked; NULL: that of in_kind and in_key. One that has more than 256 terms gets a
single one, by which every filter finds it.
Locks: none but what it changes.
differs: one message, because a procedure has no arrays.'
index_one: begin
    declare v_entry, v_place bigint;
    declare v_kind varchar(100) collate exact;
    declare v_payload, v_headers, v_leaves, v_more longtext character set utf8mb4;
    declare continue handler for not found begin end;
    if in_entry is null then
        select q.entry into v_entry from queue_kind k straight_join delayed_queue q force index (delayed_queue_key)
            on q.p_kind = k.p_kind and q.p_key = in_key
        where k.p_kind = in_kind and k.filter_index for update;
    else
        select q.entry into v_entry from delayed_queue q
            straight_join queue_kind k force index (primary) on k.p_kind = q.p_kind
        where q.entry = in_entry and k.filter_index;
    end if;
    if v_entry is null then
        leave index_one;
    end if;
    select q.p_kind, concat(q.payload, ''), concat(q.headers, ''), coalesce(q.ready_at, q.due_at, q.created_at)
    into v_kind, v_payload, v_headers, v_place from delayed_queue q where q.entry = v_entry for update;
    delete t from queue_term t where t.entry = v_entry; -- what it had in it before it was replaced
    call _queue_leaves(coalesce(v_payload, '{}'), false, v_leaves);
    if v_headers is not null then
        call _queue_leaves(v_headers, false, v_more);
        set v_leaves = json_merge_preserve(v_leaves, v_more);
    end if;
    if json_length(v_leaves) > 256 then
        set v_leaves = '[{"p": "", "c": ""}]';
    end if;
    insert into queue_term (entry, term, place)
    select distinct v_entry, cast(conv(left(sha2(concat(v_kind, l.p, '=', l.c), 256), 15), 16, 10) as signed), v_place
    from json_table(v_leaves, '$[*]'
        columns (p longtext collate exact path '$.p', c longtext collate exact path '$.c')) l
    where l.c not in ('{}', '[]')
    order by 2;
end $$
delimiter ;
