-- calls: _queue_check_seconds, _queue_extend_with_permits, _queue_receipts, queue_now
-- changes: delayed_queue
create procedure queue_extend_many(in in_receipts longtext, in in_seconds double)
    comment 'Keeps the holds of many messages: queue_extend for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_seconds: 0 to a year (31536000).
Result: a row a receipt, in their order: receipt, outcome: extended, lost; one that stands twice is lost the second
time.
Errors: PQ005 with the first that is no receipt, PQ001 for seconds; then nothing is extended.
Locks: the messages, in the order of their entries.'
begin
    declare v_now, v_until, v_entry bigint;
    declare v_number, v_place int;
    declare v_guarded boolean;
    declare v_list, v_slots longtext;
    declare v_outcomes longtext character set ascii;
    begin atomic
        declare c cursor for
            select q.entry, j.place, q.semaphores is not null
            from deliveries(v_list) q where q.reserved_by is not null
            order by j.entry for update of q;
        call queue_now(v_now);
        call _queue_receipts(in_receipts, v_list, v_number);
        call _queue_check_seconds(in_seconds);
        set v_until = v_now + cast(round(in_seconds * 1000000) as signed);
        set v_outcomes = repeat('l', v_number), v_slots = null;
        for each c into v_entry, v_place, v_guarded do
            if v_guarded then
                set v_slots = json_array_append(coalesce(v_slots, '[]'), '$', json_array(v_entry + 0, v_place));
            else
                update delayed_queue q set q.scheduled_at = v_until where q.entry = v_entry;
                set v_outcomes = insert(v_outcomes, v_place, 1, 'e');
            end if;
        end each;
        if v_slots is not null then
            call _queue_extend_with_permits(v_slots, in_seconds, v_now, v_outcomes);
        end if;
    end atomic;
    select r.receipt, case substr(v_outcomes, r.place, 1) when 'e' then 'extended' else 'lost' end as outcome
    from unnest(in_receipts) r (place for ordinality, receipt varchar(60))
    order by r.place;
end;
