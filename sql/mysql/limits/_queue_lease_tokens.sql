-- changes: queue_bucket
create procedure _queue_lease_tokens(in in_kind text collate exact, in in_rate decimal(30,6), in in_need int,
    in in_now bigint, in in_back bigint, out out_got bigint)
    comment 'Takes tokens of a kind with rate_per_second.
in_kind: the kind. in_rate: its rate. in_need: how many are needed. in_now: the time of the call.
in_back: how many, taken before, are given back, to as many parts as it takes: none saves more than it may.
Result: out_got: how many.
A part saves a second of its tokens, or one and a half where that is more. Where the clock was set back it begins anew.
Locks: the parts it takes from; those that others have locked are passed over.
differs: on PostgreSQL a session takes some ahead (in_more), see _queue_admit.'
begin
    declare v_parts int default least(greatest(floor(in_rate), 1), 16);
    declare v_step decimal(40,6) default 1000000000 * v_parts / in_rate;
    declare v_now bigint default in_now * 1000;
    declare v_least decimal(40,6) default v_now - greatest(1000000000, 1.5 * v_step);
    declare v_first, v_low int default floor(rand() * v_parts);
    declare v_high, v_part int default v_parts - 1;
    declare v_spent decimal(40,6);
    declare v_given, v_taken bigint;
    declare continue handler for not found begin end;
    set out_got = 0, v_low = v_first;
    parts: loop
        set v_part = null;
        select b.part, if(b.spent_at > v_now + 1000000000, v_now, b.spent_at) into v_part, v_spent
        from queue_bucket b force index (primary)
        where b.p_kind = in_kind and b.part between v_low and v_high
            and (b.spent_at <= v_now - v_step * (1 - in_back) or b.spent_at > v_now + 1000000000)
        order by b.part limit 1 for update skip locked;
        if v_part is not null then
            set v_given = least(in_back, greatest(floor((v_spent - v_least + 1) / v_step), 0)); -- what it has room for
            set v_spent = greatest(v_spent - v_step * v_given, v_least);
            set v_taken = least(floor((v_now - v_spent) / v_step), in_need - out_got);
            update queue_bucket b set b.spent_at = round(v_spent + v_step * v_taken)
                where b.p_kind = in_kind and b.part = v_part;
            set out_got = out_got + v_taken, in_back = in_back - v_given, v_low = v_part + 1;
            if out_got >= in_need and in_back = 0 then
                leave parts;
            end if;
        elseif v_high >= v_first and v_first > 0 then
            set v_low = 0, v_high = v_first - 1;
        else
            leave parts;
        end if;
    end loop;
end;
