-- calls: _queue_ack_each, _queue_advance_each, _queue_check_ack, _queue_end, _queue_receipts, queue_now
-- changes: delayed_queue, queue_count
drop procedure if exists _queue_ack_many;
delimiter $$
create procedure _queue_ack_many(in in_receipts longtext character set utf8mb4,
    in in_options longtext character set utf8mb4, out out_outcomes longtext character set ascii)
    comment 'queue_ack_many without its transaction.
in_receipts, in_options, and the errors: those of queue_ack_many. out_outcomes: a letter a receipt, in their order: a
for acked, m for moved, d for duplicate, l for lost.
differs: on PostgreSQL queue_ack_many is called itself: a function needs no transaction of its own.'
begin
    declare v_now, v_entry bigint;
    declare v_number, v_place, v_held int;
    declare v_keeps, v_each, v_ordered, v_guarded, v_done boolean default false;
    declare v_list, v_found, v_lines, v_slots longtext character set utf8mb4;
    declare c cursor for
        select j.entry, j.place from json_table(v_found, '$[*]'
            columns (entry bigint path '$[0]', place int path '$[1]')) j
        order by j.entry;
    call _queue_receipts(in_receipts, v_list, v_number);
    if in_options is not null then
        call _queue_check_ack(in_options);
    end if;
    call queue_now(v_now);
    set out_outcomes = repeat('l', v_number);
    /*M!100600 set statement group_concat_max_len = 1000000000 for */
    select json_arrayagg(json_array(d.entry, d.place)), count(*), coalesce(max(d.keeps), false), max(d.routed),
        max(d.ordered), max(d.slotted)
    into v_found, v_held, v_keeps, v_each, v_ordered, v_guarded
    from (
        -- not a join, whose row of the kind MariaDB would lock as well
        select q.entry, r.place, q.route is not null or q.member is not null as routed,
            q.order_key is not null as ordered, q.semaphores is not null as slotted, q.pending is not null
            or (select k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0 from queue_kind k
                where k.p_kind = q.p_kind) as keeps
        from json_table(v_list, '$[*]'
            columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]',
            place int path '$[2]')) r
            straight_join delayed_queue q force index (primary) on q.entry = r.entry and q.secret = unhex(r.secret)
        order by r.entry for update /*!80000 of q */) d;
    if v_each or in_options is not null then
        call _queue_ack_each(v_list, in_options, v_now, v_number, out_outcomes);
    elseif v_found is not null then
        if v_ordered and not v_keeps then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */
            select json_arrayagg(json_array(q.p_kind, q.order_key, q.entry)) into v_lines
            from json_table(v_found, '$[*]' columns (entry bigint path '$[0]')) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.order_key is not null;
        end if;
        if not v_keeps then
            if v_guarded then
                /*M!100600 set statement group_concat_max_len = 1000000000 for */
                select json_arrayagg(q.entry) into v_slots
                from json_table(v_found, '$[*]' columns (entry bigint path '$[0]')) j
                    straight_join delayed_queue q force index (primary) on q.entry = j.entry
                        and q.semaphores is not null;
                -- as _queue_permits_note; their permits say which semaphores they have
                set @pyqueue_permit_entries = json_merge_preserve(convert(coalesce(@pyqueue_permit_entries,
                    '[]') using utf8mb4), v_slots),
                    @pyqueue_permit_names = convert(coalesce(@pyqueue_permit_names, '[]') using utf8mb4);
            end if;
            insert into queue_count (id, p_kind, pushed, reserved, acked)
            select uuid_short(), q.p_kind, sum(q.source_kind is null), sum(q.deliveries), count(*)
            from json_table(v_found, '$[*]' columns (entry bigint path '$[0]')) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry
            group by q.p_kind;
            /*M!100600 set statement sql_safe_updates = 0 for */
            delete q from json_table(v_found, '$[*]' columns (entry bigint path '$[0]')) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry;
        end if;
        if v_lines is not null then
            call _queue_advance_each(v_lines, v_now);
        end if;
        if v_held = v_number and not v_keeps then -- the most frequent call, without a loop
            set out_outcomes = repeat('a', v_number);
        else
            open c;
            messages: loop
                begin
                    declare continue handler for not found set v_done = true;
                    fetch c into v_entry, v_place;
                end;
                if v_done then
                    leave messages;
                end if;
                set out_outcomes = insert(out_outcomes, v_place, 1, 'a');
                if v_keeps then
                    call _queue_end(v_entry, 'acked', null, v_now);
                end if;
            end loop;
            close c;
        end if;
    end if;
end $$
delimiter ;
