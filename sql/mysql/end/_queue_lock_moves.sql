-- calls: _queue_lock
create procedure _queue_lock_moves(in in_list longtext, in in_moves longtext, in in_to text collate exact,
    in in_key text collate exact)
    comment 'Locks what moves need, sources and the messages that have the keys of the targets, in the order of their
entries, so that moves in opposite directions don''t deadlock.
in_list: their receipts, as _queue_receipts answers them. in_moves: the moves, as in queue_move_many; their places are
those of the list. NULL: all go to in_to; where that is NULL, too, each goes on along its route. in_key: what they are
called there where a move says nothing; NULL: what they are called now.
Locks: as said.
differs: it locks only; the cursor of _queue_move_many has the order in which the moves are made.'
begin
    declare v_targets longtext;
    -- keys of an entry never change: a plain read will do
    select json_arrayagg(json_array(t.entry)) into v_targets
    from deliveries(in_list) s
        left join (
            select m.place, m.to_kind, m.p_key
            from json_table(in_moves, '$[*]'
                columns (place for ordinality, to_kind varchar(100) path '$.to_kind',
                p_key varchar(200) path '$.key')) m limit 10000) m on m.place = j.place
        straight_join delayed_queue t force index (delayed_queue_key) on t.p_key = coalesce(m.p_key, in_key, s.p_key)
            and t.p_kind = coalesce(m.to_kind, in_to, if(s.source_kind is null,
                convert(json_value(s.route, '$[0]') using utf8mb4) collate exact, null));
    if json_length(in_list) > 1 or v_targets is not null then
        call _queue_lock(json_merge_preserve(in_list, coalesce(v_targets, '[]')));
    end if;
end;
