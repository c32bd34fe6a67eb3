-- calls: _queue_check_ack, _queue_end_many, _queue_move_many, _queue_receipts, queue_now
create procedure _queue_ack_many(in in_receipts longtext, in in_options longtext,
    out out_outcomes longtext character set ascii)
    comment 'queue_ack_many without its transaction.
in_receipts, in_options, and the errors: those of queue_ack_many. out_outcomes: a letter a receipt, in their order: a
for acked, m for moved, d for duplicate, l for lost.
differs: on PostgreSQL it is the long way alone; queue_ack_many is called itself, for a function needs no transaction of
its own.'
begin
    declare v_now bigint;
    declare v_number, v_place, v_held int;
    declare v_keeps, v_each boolean default false;
    declare v_list, v_entries, v_places longtext;
    declare c cursor for select j.place from unnest(v_places) j (place int);
    call _queue_receipts(in_receipts, v_list, v_number);
    if in_options is not null then
        call _queue_check_ack(in_options);
    end if;
    call queue_now(v_now);
    set out_outcomes = repeat('l', v_number);
    select json_arrayagg(d.entry), json_arrayagg(d.place), count(*), coalesce(max(d.keeps), false), max(d.routed)
    into v_entries, v_places, v_held, v_keeps, v_each
    from (
        -- not a join, whose row of the kind MariaDB would lock as well
        select q.entry, j.place, q.route is not null or q.member is not null as routed, q.pending is not null
            or (select k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0 from queue_kind k
                where k.p_kind = q.p_kind) as keeps
        from deliveries(v_list) q order by j.entry for update of q) d;
    if v_each or in_options is not null then
        call _queue_move_many(v_list, v_number, null, in_options, v_now, out_outcomes);
    elseif v_entries is not null then
        call _queue_end_many(v_entries, v_keeps, 'acked', v_now);
        if v_held = v_number then -- the most frequent call, without a loop
            set out_outcomes = repeat('a', v_number);
        else
            for each c into v_place do
                set out_outcomes = insert(out_outcomes, v_place, 1, 'a');
            end each;
        end if;
    end if;
end;
