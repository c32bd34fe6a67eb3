-- calls: _queue_end, _queue_lock, _queue_members_end, _queue_move, _queue_text
-- changes: queue_history
create procedure _queue_ack_each(in in_list longtext character set utf8mb4,
    in in_options longtext character set utf8mb4, in in_now bigint, in in_number int,
    out out_outcomes longtext character set ascii)
    comment 'The long way of queue_ack and queue_ack_many: with options, on a route, in a group, or with semaphores.
in_list: the receipts, taken apart, see _queue_receipts. in_options: those of queue_ack, checked. in_now: the time of
the call. in_number: how many receipts there are.
Result: the outcomes, in the order of the receipts: acked, moved, duplicate, lost.
Locks: the messages, and those that have their keys where they go, in the order of their entries; then
as _queue_members_end; their semaphores at the end of the call, see _queue_permits_note.
differs: the result is out_outcomes, a letter each.'
begin
    declare v_entry, v_member bigint;
    declare v_secret binary(16);
    declare v_place int;
    declare v_kind, v_to_kind varchar(100) collate exact;
    declare v_to longtext collate exact;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_targets, v_move, v_members longtext character set utf8mb4;
    declare c cursor for -- in the order in which keys are put in everywhere
        select o.entry, o.secret, o.place, o.p_kind, o.to_kind, o.member
        from (
            select s.entry, s.secret, r.place, s.p_kind, s.p_key, s.member, coalesce(v_to, if(s.source_kind is null,
                convert(json_value(s.route, '$[0]') using utf8mb4) collate exact, null)) as to_kind
            from json_table(in_list, '$[*]'
                columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]',
                    place int path '$[2]')) r
                straight_join delayed_queue s force index (primary) on s.entry = r.entry and s.secret = unhex(r.secret)
            limit 10000 for update /*!80000 of s */) o
        order by o.p_key, o.to_kind;
    set out_outcomes = repeat('l', in_number);
    if json_contains_path(in_options, 'one', '$.to') then
        call _queue_text(in_options, 'to', v_to);
    end if;
    select json_arrayagg(json_array(t.entry)) into v_targets
    from json_table(in_list, '$[*]'
        columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]')) r
        straight_join delayed_queue s force index (primary) on s.entry = r.entry and s.secret = unhex(r.secret)
        straight_join delayed_queue t force index (delayed_queue_key) on t.p_key = s.p_key and t.p_kind = coalesce(v_to,
            if(s.source_kind is null, convert(json_value(s.route, '$[0]') using utf8mb4) collate exact, null));
    if in_number > 1 or v_targets is not null then
        call _queue_lock(json_merge_preserve(in_list, coalesce(v_targets, '[]')));
    end if;
    set v_move = json_set(json_remove(coalesce(nullif(in_options, 'null'), '{}'), '$.to'), '$.next', true);
    for each c into v_entry, v_secret, v_place, v_kind, v_to_kind, v_member do
        if v_to_kind is null then
            set v_outcome = 'acked';
            call _queue_end(v_entry, 'acked', null, in_now);
            set v_members = nullif(concat_ws(',', v_members, v_member), '');
        else
            call _queue_move(v_entry, v_secret, v_to_kind, v_move, in_now, v_outcome);
        end if;
        set out_outcomes = insert(out_outcomes, v_place, 1, convert(left(v_outcome, 1) using ascii));
        if json_contains_path(in_options, 'one', '$.result') then
            update queue_history h set h.result = json_extract(in_options, '$.result')
            where h.p_kind = v_kind and h.finished_at = in_now and h.entry = v_entry;
        end if;
    end each;
    if v_members is not null then
        call _queue_members_end(concat('[', v_members, ']'), 'acked', json_extract(in_options, '$.result'), in_now);
    end if;
end;
