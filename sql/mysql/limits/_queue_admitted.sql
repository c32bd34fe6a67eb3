-- changes: queue_bucket
create procedure _queue_admitted(in in_kind text collate exact, in in_rate decimal(30,6), in in_number int,
    in in_tokens bigint, in in_part int)
    comment 'Gives back the tokens that were not used.
in_kind: the kind. in_rate: its rate_per_second. in_number: how many messages were delivered. in_tokens: how many tokens
_queue_admit took for them, in_part: from which part.
Locks: a part of the bucket that is locked already.
differs: on PostgreSQL it puts the deliveries in their slots, too.'
begin
    if in_tokens > coalesce(in_number, 0) then
        update queue_bucket b
        set b.spent_at = b.spent_at
            - round(1000000000 * least(greatest(floor(in_rate), 1),
                16) / in_rate * (in_tokens - coalesce(in_number, 0)))
        where b.p_kind = in_kind and b.part = in_part;
    end if;
end;
