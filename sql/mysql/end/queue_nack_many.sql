-- calls: _queue_check_nack, _queue_lock, _queue_nack, _queue_receipts, queue_now
create procedure queue_nack_many(in in_receipts longtext, in in_options longtext)
    comment 'Gives many messages back: queue_nack for each, in one call.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: those of queue_nack, for all.
Result: a row a receipt, in their order: receipt, outcome: retry, dead, lost; one that stands twice is lost the second
time.
Errors: PQ005 with the first that is no receipt, PQ002 for options, PQ003 for the payload; then nothing is given back.
Locks: as queue_nack, in the order of the entries.'
begin
    declare v_now, v_entry bigint;
    declare v_secret binary(16);
    declare v_number, v_place int;
    declare v_list longtext;
    declare v_outcome varchar(10);
    declare v_outcomes longtext character set ascii;
    begin atomic
        declare c cursor for -- dead letters are put in in the order of their keys, as everywhere
            select q.entry, q.secret, j.place
            from deliveries(v_list) q order by q.p_key, q.p_kind for update of q;
        call queue_now(v_now);
        call _queue_receipts(in_receipts, v_list, v_number);
        call _queue_check_nack(in_options);
        set v_outcomes = repeat('l', v_number);
        call _queue_lock(v_list);
        for each c into v_entry, v_secret, v_place do
            call _queue_nack(v_entry, v_secret, in_options, v_now, v_outcome);
            set v_outcomes = insert(v_outcomes, v_place, 1, left(v_outcome, 1));
        end each;
    end atomic;
    select r.receipt, case substr(v_outcomes, r.place, 1) when 'r' then 'retry' when 'd' then 'dead'
        else 'lost' end as outcome
    from unnest(in_receipts) r (place for ordinality, receipt varchar(60)) order by r.place;
end;
