-- calls: _queue_admitted, _queue_lease_tokens, _queue_slots
create procedure _queue_admit(in in_kind text collate exact, in in_most int, in in_rate decimal(30,6), in in_now bigint,
    inout out_max int, out out_slots longtext character set ascii, out out_tokens bigint)
    comment 'For how many messages of a kind with max_reserved or rate_per_second there are slots and tokens.
in_kind: the kind. in_most, in_rate: its max_reserved and its rate_per_second, NULL: without. in_now: the time of the
call. out_max: how many are wanted; answers how many may be taken. out_slots: the slots for them. out_tokens: how many
tokens were taken.
Locks: as _queue_lease_tokens and _queue_slots.
@pyqueue_slots, by kind, as in @pyqueue_cursors: the slot that the session had last, which is free once it has acked.
differs: on PostgreSQL the tokens are a part of it there, and a session keeps some for a while; here it could write down
any number of them.'
begin
    declare v_path longtext character set ascii default concat('$.k', hex(concat(database(), '.', in_kind)));
    declare v_place longtext default json_extract(@pyqueue_slots, v_path);
    declare v_first int default if(v_place regexp '^[0-9]{1,9}$', v_place, 0);
    set out_tokens = 0;
    if in_rate is not null then
        call _queue_lease_tokens(in_kind, in_rate, out_max, in_now, 0, out_tokens);
        set out_max = least(out_max, out_tokens);
    end if;
    if in_most is not null and out_max > 0 then
        call _queue_slots(in_kind, in_most, v_first, out_max, in_now, out_slots);
        set out_max = json_length(out_slots), v_first = coalesce(json_extract(out_slots, '$[0]'), 0);
        if out_max = 0 then
            call _queue_admitted(in_kind, in_rate, 0, out_tokens, null, null, null, in_now);
        end if;
        set @pyqueue_slots = json_set(@pyqueue_slots, v_path, v_first + 0);
    end if;
end;
