-- calls: _queue_lease_tokens
create procedure _queue_admitted(in in_kind text collate exact, in in_rate decimal(30,6), in in_number int,
    in in_tokens bigint, in in_now bigint)
    comment 'Gives back the tokens that were not used.
in_kind: the kind. in_rate: its rate_per_second. in_number: how many messages were delivered. in_tokens: how many tokens
_queue_admit took for them. in_now: the time of the call.
Locks: as _queue_lease_tokens.
differs: on PostgreSQL it puts the deliveries in their slots, too.'
begin
    declare v_got bigint;
    if in_tokens > coalesce(in_number, 0) then
        call _queue_lease_tokens(in_kind, in_rate, 0, in_now, in_tokens - coalesce(in_number, 0), v_got);
    end if;
end;
