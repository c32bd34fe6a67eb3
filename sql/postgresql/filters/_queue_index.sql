-- calls: _queue_terms
-- changes: queue_term
create or replace function _queue_index(in_entries bigint[]) returns void language plpgsql as $$
begin
    delete from queue_term t where t.entry = any (in_entries); -- what it had in it before it was replaced
    insert into queue_term (entry, term, place)
    select q.entry, t.term, coalesce(q.ready_at, q.due_at, q.created_at)
    from (select distinct n.entry from unnest(in_entries) n (entry)) e, -- OFFSET: ADR 13
        lateral (select m.* from delayed_queue m where m.entry = e.entry offset 0) q
        join queue_kind k on k.p_kind = q.p_kind and k.filter_index,
        lateral (select _queue_terms(q.p_kind, q.payload) || _queue_terms(q.p_kind, q.headers) as terms) d,
        lateral (
            select distinct u.term
            from unnest(case when cardinality(d.terms) <= 256 and q.pending is null
                then d.terms else _queue_terms(q.p_kind, '{"": null}'::jsonb) end) u (term)) t
    order by q.entry, t.term;
end $$;

comment on function _queue_index(bigint[]) is
$$Puts messages into the index of filters, those of kinds that have one (filter_index), or anew where they are in it.
in_entries: the messages, just put in or locked. One that has more than 256 terms, or onto which something was pushed
while it was held, gets a single one, by which every filter finds it.
Locks: none but what it changes.$$;
