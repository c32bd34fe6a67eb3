-- calls: _queue_lock
create procedure _queue_lock_keys(in in_kind text collate exact, in in_messages longtext, out out_last bigint)
    comment 'Locks the messages of a kind whose keys a batch has, before any of them changes.
in_kind: the kind. in_messages: those of queue_push_many, an array.
Result: the last of their entries; 0: there are none.
Locks: as said, in the order of their entries.
differs: the result is out_last. On PostgreSQL it is a part of _queue_line.'
begin
    declare v_list longtext;
    select coalesce(max(q.entry), 0), json_arrayagg(json_array(q.entry + 0)) into out_last, v_list
    from json_table(in_messages, '$[*]' columns (p_key varchar(200) collate exact path '$.key')) r
        straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = in_kind and q.p_key = r.p_key;
    call _queue_lock(coalesce(v_list, '[]'));
end;
