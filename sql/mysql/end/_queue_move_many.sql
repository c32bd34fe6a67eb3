-- calls: _queue_end, _queue_lock_moves, _queue_members_end, _queue_merge_options, _queue_move, _queue_text
-- changes: queue_history
create procedure _queue_move_many(in in_list longtext, in in_number int, in in_moves longtext, in in_options longtext,
    in in_now bigint, out out_outcomes longtext character set ascii)
    comment 'Acks messages, or moves them on, each to a kind of its own.
in_list, in_number: the receipts, taken apart, see _queue_receipts, and how many there are. in_moves: where each goes,
with options of its own, as in queue_move_many; NULL: they are acked, or go where their routes or option to say.
in_options: those for all, checked: of queue_move, or of queue_ack where they are acked. in_now: the time of the call.
Result: the outcomes, in their order: acked, moved, duplicate, lost.
Errors: those of queue_move.
Locks: as _queue_lock_moves; then as _queue_end and the keys of the targets; then as _queue_members_settle; their
semaphores at the end of the call, see _queue_permits_note.
differs: the result is out_outcomes, a letter each. On PostgreSQL it makes all again after a deadlock, which here the
call does.'
begin
    declare v_entry, v_member bigint;
    declare v_secret binary(16);
    declare v_place int;
    declare v_kind, v_to_kind varchar(100) collate exact;
    declare v_to, v_key text collate exact;
    declare v_outcome varchar(10);
    declare v_move, v_options, v_members longtext;
    declare c cursor for -- in the order in which keys are put in everywhere
        select o.entry, o.secret, o.place, o.p_kind, o.to_kind, o.member, m.move
        from (
            select s.entry, s.secret, j.place, s.p_kind, s.member, coalesce(k.p_key, v_key, s.p_key) as p_key,
                coalesce(k.to_kind, v_to, if(s.source_kind is null,
                    convert(json_value(s.route, '$[0]') using utf8mb4) collate exact, null)) as to_kind
            from deliveries(in_list) s
                left join (
                    select t.place, t.to_kind, t.p_key
                    from json_table(in_moves, '$[*]' columns (place for ordinality,
                        to_kind varchar(100) path '$.to_kind',
                        p_key varchar(200) path '$.key')) t
                    limit 10000) k on k.place = j.place
            limit 10000 for update of s) o
            -- apart, so that what is sorted is small: MySQL has no memory for long texts in a sort
            left join (
                select t.place, t.move
                from unnest(in_moves) t (place for ordinality, move json)
                limit 10000) m on m.place = o.place
        order by o.p_key collate exact, o.to_kind collate exact, o.entry;
    set out_outcomes = repeat('l', in_number);
    call _queue_text(in_options, 'to', v_to);
    call _queue_text(in_options, 'key', v_key);
    if in_moves is null then
        set v_options = json_set(json_remove(coalesce(nullif(in_options, 'null'), '{}'), '$.to'), '$.next', true);
    end if;
    call _queue_lock_moves(in_list, in_moves, v_to, v_key);
    for each c into v_entry, v_secret, v_place, v_kind, v_to_kind, v_member, v_move do
        if v_move is not null then
            call _queue_merge_options(in_options, json_remove(v_move, '$.receipt', '$.to_kind'), v_options);
        end if;
        if v_to_kind is null then
            set v_outcome = 'acked';
            call _queue_end(v_entry, 'acked', null, in_now);
            set v_members = nullif(concat_ws(',', v_members, v_member), '');
        else
            call _queue_move(v_entry, v_secret, v_to_kind, v_options, in_now, v_outcome);
        end if;
        set out_outcomes = insert(out_outcomes, v_place, 1, convert(left(v_outcome, 1) using ascii));
        if in_options ? 'result' then
            update queue_history h set h.result = in_options -> 'result'
            where h.p_kind = v_kind and h.finished_at = in_now and h.entry = v_entry;
        end if;
    end each;
    if v_members is not null then
        call _queue_members_end(concat('[', v_members, ']'), 'acked', in_options -> 'result', in_now);
    end if;
end;
