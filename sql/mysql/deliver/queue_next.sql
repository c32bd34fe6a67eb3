-- calls: _queue_ack, _queue_ack_many, _queue_answer, _queue_check_options, _queue_fail, _queue_members_settle,
--     _queue_permits_end, _queue_reserve, _queue_text
-- changes: queue_count
create procedure queue_next(in in_receipts longtext, in in_kind text collate exact, in in_worker text collate exact,
    in in_max_messages int, in in_options longtext)
    comment 'The loop of a consumer in one call: it acks what is done, as queue_ack_many does, and takes the next
messages, as queue_reserve does, in one transaction. What is acked first goes on along its route, finishes its group,
and gives its turn to who is next in the line of its order key, at its semaphores and under max_reserved. So the same
call may take what it has freed.
in_receipts: a JSON array of at most 10000 receipts, of whatever kinds; NULL: none.
in_kind, in_worker, in_max_messages: those of queue_reserve.
in_options: those of queue_reserve, and lost.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
- lost: fails the call where a receipt is lost. Allowed: error. Default: a lost receipt is counted, no more.
Result: that of queue_reserve. No row where nothing is ready or the kind is paused; what is acked is acked all the
same. A receipt that is lost, see queue_ack_many, changes nothing and is counted for in_kind, see queue_stats.
Errors: PQ007 for a kind that is for others. PQ006 with the receipts that are lost, see option lost; PQ005 for receipts,
PQ001 for kind, worker and max_messages, PQ002 for options, PQ003 for JSON that not every server can hold, PQ004 where
the next kind of a route is drained. After each of them nothing is acked, and nothing taken.
Locks: those of queue_ack_many, then those of queue_reserve. Where the first are groups or semaphores, messages whose
semaphores others have locked are left to the next call, and so are those that it would make dead letters.'
begin
    declare v_entries longtext;
    declare v_entry bigint;
    declare v_seed varchar(64) character set ascii;
    begin atomic
        declare v_options, v_lost, v_names longtext;
        declare v_outcomes longtext character set ascii;
        declare v_outcome varchar(10);
        declare v_number int default 0;
        set v_entry = null, v_entries = null, v_seed = null;
        if in_options is not null then
            call _queue_check_options(in_options, 'timeout_seconds,where,lost', 'options');
            call _queue_text(in_options, 'lost', v_lost);
            if v_lost <> 'error' then
                call _queue_fail('PQ002', 'lost', v_lost, 'must be error');
            end if;
            set v_options = if(json_type(in_options) = 'OBJECT', json_remove(in_options, '$.lost'), null);
            if json_length(v_options) = 0 then
                set v_options = null;
            end if;
        end if;
        if in_receipts collate utf8mb4_bin regexp '^\\["[0-9]{1,18}-[0-9a-f]{32}"\\]\\z' then -- most calls
            call _queue_ack(substr(in_receipts, 3, char_length(in_receipts) - 4), null, v_outcome);
            set v_number = v_outcome = 'lost', v_outcomes = if(v_number, 'l', 'a');
        elseif in_receipts is not null then
            call _queue_ack_many(in_receipts, null, v_outcomes);
            set v_number = length(v_outcomes) - length(replace(v_outcomes, 'l', ''));
        end if;
        if v_number > 0 and v_lost is not null then
            select group_concat(l.receipt order by l.place separator ', ') into v_names
            from (
                select r.place, r.receipt
                from unnest(in_receipts) r (place for ordinality, receipt varchar(60))
                where substr(v_outcomes, r.place, 1) = 'l' order by r.place limit 5) l; -- an error has no room for more
            call _queue_fail('PQ006', 'receipts', v_names, 'lost, so nothing was done');
        end if;
        if coalesce(@pyqueue_members, @pyqueue_permit_names) is not null then
            if @pyqueue_members is not null then
                call _queue_members_settle();
            end if;
            if @pyqueue_permit_names is not null then
                call _queue_permits_end();
            end if;
            set @pyqueue_permit_held = true; -- to wait for others now could be a deadlock
        end if;
        call _queue_reserve(in_kind, in_worker, in_max_messages, v_options, v_entry, v_entries, v_seed);
        if v_number > 0 then
            insert into queue_count (id, p_kind, lost) values (uuid_short(), in_kind, v_number);
        end if;
    end atomic;
    call _queue_answer(v_entry, v_entries, v_seed);
end;
