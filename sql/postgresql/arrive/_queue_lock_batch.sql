-- calls: _queue_line, _queue_order_key
create or replace function _queue_lock_batch(in_kind text, in_messages jsonb, in_options jsonb) returns void language plpgsql as $$
begin
    if in_options ->> 'order_key' is not null or in_messages @? '$[*].order_key' then
        perform _queue_line(in_kind, array_agg(_queue_order_key(in_options, m.message)), array_agg(m.message ->> 'key'), true, false)
        from jsonb_array_elements(in_messages) m (message) where jsonb_typeof(m.message) = 'object';
    end if;
    -- rows are locked in the order of their entries everywhere
    perform q.entry from delayed_queue q
    where q.entry = any (array(
        select k.entry from jsonb_array_elements(in_messages) m (message), lateral ( -- OFFSET: ADR 13
            select o.entry from delayed_queue o where o.p_kind = in_kind and o.p_key = m.message ->> 'key' offset 0) k
        where jsonb_typeof(m.message) = 'object'))
    order by q.entry + 0 for update; -- + 0: ADR 13
end $$;

comment on function _queue_lock_batch(text, jsonb, jsonb) is
$$Locks what a batch with on_duplicate may change, and the lines of its order keys.
in_kind, in_messages, in_options: as in queue_push_many.
Locks: the messages whose keys are taken, and as _queue_line, in the order of their entries.$$;
