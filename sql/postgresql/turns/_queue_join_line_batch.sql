-- calls: _queue_join_line, _queue_order_key
create or replace function _queue_join_line_batch(in_kind text, in_messages jsonb, in_options jsonb, in_keys text[],
    in_outcomes text[])
    returns void language plpgsql as $$
begin
    if in_options ->> 'order_key' is not null or in_messages @? '$[*].order_key' then
        perform _queue_join_line(array_agg(q.entry), array_agg(o.order_key))
        from jsonb_array_elements(in_messages) with ordinality m (message, n)
        cross join _queue_order_key(in_options, m.message) o (order_key)
        cross join lateral ( -- OFFSET: ADR 13
            select k.entry from delayed_queue k where k.p_kind = in_kind and k.p_key = in_keys[m.n] offset 0) q
        where in_outcomes[m.n] = 'created' and o.order_key is not null;
    end if;
end $$;

comment on function _queue_join_line_batch(text, jsonb, jsonb, text[], text[]) is
$$The messages of a batch take their places in the lines of their order keys, line by line, so that batches that overlap
don't deadlock.
in_kind, in_messages, in_options: those of queue_push_many. in_keys, in_outcomes: what it answers.
Errors: PQ00A where it has to be made again.
Locks: as _queue_join_line.$$;
