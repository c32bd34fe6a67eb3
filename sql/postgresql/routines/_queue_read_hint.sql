create or replace function _queue_read_hint(in_kind text, in_now bigint) returns bigint[] language plpgsql as $$
declare
    v_bounds bigint[];
begin
    select h.bounds into v_bounds from queue_hint h where h.p_kind = in_kind order by h.id desc limit 1;
    if (cardinality(v_bounds) - 12) % 7 <> 0 then -- of an older schema
        return null;
    end if;
    for i in 13 .. coalesce(cardinality(v_bounds), 0) by 7 loop
        if v_bounds[i + 1] > in_now then
            return null;
        end if;
    end loop;
    return v_bounds;
end $$;

comment on function _queue_read_hint(text, bigint) is
$$The bounds that another session left for those that have none.
in_kind: the kind. in_now: the time of the call.
Result: bounds, see _queue_take; NULL where there are none, or they are of the future.$$;
