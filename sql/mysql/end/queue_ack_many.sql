-- calls: _queue_ack_many
create procedure queue_ack_many(in in_receipts longtext, in in_options longtext)
    comment 'The work of many messages is done: queue_ack for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: as in queue_ack, for each of them.
Result: a row a receipt, in their order: receipt, outcome: acked, moved, duplicate, lost; a receipt that stands twice is
lost the second time.
Errors: PQ005 with the first that is no receipt, and those of queue_ack; then nothing is acked.
Locks: as queue_ack, all in the order of their entries.'
begin
    declare v_outcomes longtext character set ascii;
    begin atomic
        call _queue_ack_many(in_receipts, in_options, v_outcomes);
    end atomic;
    select r.receipt, case substr(v_outcomes, r.place, 1) when 'a' then 'acked' when 'm' then 'moved'
        when 'd' then 'duplicate' else 'lost' end
        as outcome
    from unnest(in_receipts) r (place for ordinality, receipt varchar(60)) order by r.place;
end;
