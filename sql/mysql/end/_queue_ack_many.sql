-- calls: _queue_check_ack, _queue_end_many, _queue_move_many, _queue_receipts, queue_now
-- changes: delayed_queue, queue_count
create procedure _queue_ack_many(in in_receipts longtext, in in_options longtext,
    out out_outcomes longtext character set ascii)
    comment 'queue_ack_many without its transaction.
in_receipts, in_options, and the errors: those of queue_ack_many. out_outcomes: a letter a receipt, in their order: a
for acked, m for moved, d for duplicate, l for lost.
differs: on PostgreSQL it is the long way alone; queue_ack_many is called itself, for a function needs no transaction of
its own.'
begin
    declare v_now bigint;
    declare v_number, v_place, v_held, v_pushed, v_reserved int;
    declare v_keeps, v_each, v_turns boolean;
    declare v_kind varchar(100) collate exact;
    declare v_list, v_entries, v_places longtext;
    declare c cursor for select j.place from unnest(v_places) j (place int);
    if in_options is null and json_valid(in_receipts) and json_type(in_receipts) = 'ARRAY' then
        set v_number = json_length(in_receipts);
    end if;
    if v_number <= 10000 then
        select json_arrayagg(d.entry), json_arrayagg(d.place), count(*), sum(d.source_kind is null), sum(d.deliveries),
            min(d.p_kind), min(d.p_kind) < max(d.p_kind) or max(d.pending), max(d.routed), max(d.turns)
        into v_entries, v_places, v_held, v_pushed, v_reserved, v_kind, v_keeps, v_each, v_turns
        from (
            select q.entry, j.place, q.p_kind, q.source_kind, q.deliveries, q.pending is not null as pending,
                coalesce(q.route, q.member) is not null as routed,
                coalesce(q.order_key, q.semaphores) is not null as turns
            from (
                select cast(left(r.receipt, char_length(r.receipt) - 33) as signed) as entry,
                    right(r.receipt, 32) as secret, min(r.place) as place
                from unnest(in_receipts) r (place for ordinality, receipt varchar(60))
                where _queue_is_receipt(r.receipt) group by 1, 2 order by 1 limit 10000) j
                straight_join delayed_queue q force index (primary)
                    on q.entry = j.entry and q.secret = unhex(j.secret)
            for update of q) d;
        -- not in a join, whose row of the kind MariaDB would lock as well
        select v_keeps or max(k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0) into v_keeps
        from queue_kind k where k.p_kind = v_kind;
    end if;
    if (v_held = v_number and not v_each) is not true then -- one is none, is lost, stands twice or goes on
        call _queue_receipts(in_receipts, v_list, v_number);
    end if;
    set out_outcomes = repeat('l', v_number);
    if in_options is not null then
        call _queue_check_ack(in_options);
    end if;
    call queue_now(v_now);
    if v_each or in_options is not null then
        call _queue_move_many(v_list, v_number, null, in_options, v_now, out_outcomes);
    elseif v_held > 0 then
        if v_keeps or v_turns then
            call _queue_end_many(v_entries, v_keeps, 'acked', v_now);
        else -- as there, most often
            delete q from messages(v_entries) q;
            insert into queue_count (id, p_kind, pushed, reserved, acked)
            values (uuid_short(), v_kind, v_pushed, v_reserved, v_held);
        end if;
        if v_held = v_number then
            set out_outcomes = repeat('a', v_number);
        else
            for each c into v_place do
                set out_outcomes = insert(out_outcomes, v_place, 1, 'a');
            end each;
        end if;
    end if;
end;
