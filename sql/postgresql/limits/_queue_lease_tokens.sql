-- changes: queue_bucket
create or replace function _queue_lease_tokens(in_kind text, in_rate numeric, in_need integer, in_more integer,
    in_now bigint, in_back bigint, out back bigint, out got bigint) language plpgsql as $$
declare
    v_parts constant integer := least(greatest(floor(in_rate), 1), 16);
    v_step constant numeric := 1000000000.0 * v_parts / in_rate;
    v_now constant bigint := in_now * 1000;
    v_least constant numeric := v_now - greatest(1000000000, 1.5 * v_step); -- so far back the tokens are saved
    v_first constant integer := floor(random() * v_parts);
    v_low integer := v_first;
    v_high integer := v_parts - 1;
    v_part integer;
    v_spent numeric;
    v_given bigint;
    v_taken bigint;
begin
    got := 0;
    back := in_back;
    loop
        select b.part, case when b.spent_at > v_now + 1000000000 then v_now else b.spent_at end into v_part, v_spent
        from queue_bucket b
        where b.p_kind = in_kind and b.part between v_low and v_high
            and (b.spent_at <= v_now - v_step * (1 - back) or b.spent_at > v_now + 1000000000)
        order by b.p_kind, b.part limit 1 for update skip locked;
        if found then
            v_given := least(back, greatest(floor((v_spent - v_least + 1) / v_step), 0)); -- what it has room for
            v_spent := greatest(v_spent - v_step * v_given, v_least);
            v_taken := least(floor((v_now - v_spent) / v_step), in_need + in_more - got);
            update queue_bucket b set spent_at = v_spent + v_step * v_taken
                where b.p_kind = in_kind and b.part = v_part;
            got := got + v_taken;
            back := back - v_given;
            exit when got >= in_need and back = 0;
            v_low := v_part + 1;
        elsif v_high >= v_first and v_first > 0 then
            v_low := 0;
            v_high := v_first - 1;
        else
            exit;
        end if;
    end loop;
end $$;

comment on function _queue_lease_tokens(text, numeric, integer, integer, bigint, bigint) is
$$Takes tokens of a kind with rate_per_second.
in_kind: the kind. in_rate: its rate. in_need: how many are needed, in_more: how many may be taken ahead. in_now: the
time of the call.
in_back: how many, taken before, are given back, to as many parts as it takes: none saves more than it may.
Result: got: how many; back: those for which there was no part to give them to.
A part saves a second of its tokens, or one and a half where that is more. Where the clock was set back it begins anew.
Locks: the parts it takes from; those that others have locked are passed over.$$;
