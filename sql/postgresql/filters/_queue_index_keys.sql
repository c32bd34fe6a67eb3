-- calls: _queue_index
create or replace function _queue_index_keys(in_kind text, in_keys text[],
    in_outcomes text[]) returns void language plpgsql as $$
begin
    perform _queue_index(array(
        select q.entry from unnest(in_keys, in_outcomes) r (p_key, outcome), lateral ( -- OFFSET: ADR 13
            select m.entry from delayed_queue m where m.p_kind = in_kind and m.p_key = r.p_key offset 0) q
        where r.outcome in ('created', 'replaced')));
end $$;

comment on function _queue_index_keys(text, text[], text[]) is
$$Puts what a batch has pushed into the index of filters, see _queue_index.
in_kind: the kind. in_keys, in_outcomes: of each message of the batch.
Locks: none but what it changes.$$;
