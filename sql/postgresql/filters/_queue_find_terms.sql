-- calls: _queue_forget_terms, _queue_terms
create or replace function _queue_find_terms(in_kind text, in_max integer, in_now bigint, in_where jsonb,
    in_terms bigint[])
    returns tid[] language plpgsql as $$
declare
    v_terms bigint[] := in_terms[:1];
    v_found bigint[];
    v_gone bigint[];
    v_rows bigint;
    v_place bigint := -1;
    v_entry bigint := 0;
    v_tids tid[] := '{}';
begin
    if cardinality(in_terms) > 1 then -- the rarest
        v_terms := array(
            select t.term
            from unnest(in_terms) t (term), lateral (
                select count(*) as n from (
                    select from queue_term x where x.term = t.term and x.place <= in_now limit 1000) c) c
            order by c.n limit 1);
    end if;
    v_terms := v_terms || _queue_terms(in_kind, '{"": null}'::jsonb); -- see _queue_index
    loop
        with w as materialized (
            select x.entry, x.place
            from unnest(v_terms) t (term), lateral (
                select y.entry, y.place from queue_term y
                where y.term = t.term and (y.place, y.entry) > (v_place, v_entry) and y.place <= in_now
                order by y.term, y.place, y.entry limit 1000) x
            order by x.place, x.entry limit 1000),
        m as (
            select w.entry, q.p_kind, -q.priority::integer as rank, coalesce(q.ready_at, q.due_at) as place,
                (q.scheduled_at <= in_now
                and (q.ready_at is not null or q.due_at <= in_now)
                    and case when q.pending ? 'content' then q.pending -> 'payload' @> in_where
                        or q.pending -> 'headers' @> in_where
                        else q.payload @> in_where or q.headers @> in_where end) as fits
            from w left join delayed_queue q on q.entry between w.entry and w.entry)
        select (select count(*) from w), (select max(w.place) from w),
            (select max(w.entry) from w where w.place = (select max(o.place) from w o)),
            array_agg(m.entry order by m.rank, m.place, m.entry) filter (where m.fits and m.p_kind = in_kind),
            array_agg(m.entry) filter (where m.p_kind is null)
        into v_rows, v_place, v_entry, v_found, v_gone from m;
        perform _queue_forget_terms(v_gone) where v_gone is not null;
        v_tids := v_tids || array( -- the kind isn't asked for again, or it might be read as a whole
            select q.ctid from unnest(v_found) with ordinality c (entry, n)
                join delayed_queue q on q.entry between c.entry and c.entry
            where q.scheduled_at <= in_now and (q.ready_at is not null or q.due_at <= in_now)
                and case when q.pending ? 'content' then q.pending -> 'payload' @> in_where
                    or q.pending -> 'headers' @> in_where else q.payload @> in_where or q.headers @> in_where end
                and q.ctid <> all (v_tids)
            order by c.n limit in_max - cardinality(v_tids) for update of q skip locked);
        exit when v_rows < 1000 or cardinality(v_tids) >= in_max;
    end loop;
    return v_tids;
end $$;

comment on function _queue_find_terms(text, integer, bigint, jsonb, bigint[]) is
$$The next messages of a kind that a filter matches, locked, by the index that queue_term is: those that have the rarest
value of the filter (the rarest of those that fewer than 1000 have, else any), 1000 at a time, by when they came due; of
these in the order of delivery. So priorities are exact among 1000, and the cost is that of as many messages as have
that value and stand before the last one taken, those that are held and those given back for later among them.
in_kind: the kind. in_max: how many. in_now: the time of the call. in_where: the filter. in_terms: its terms, one at the
least.
Result: row identifiers; what has come due may be in the timetable still.
Locks: the messages; what others have locked is passed over.$$;
