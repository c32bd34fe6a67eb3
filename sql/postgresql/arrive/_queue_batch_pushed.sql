-- calls: _queue_enrol, _queue_index, _queue_line_up, _queue_log, _queue_slot_settle, _queue_stand
create or replace function _queue_batch_pushed(in_kind text, in_messages jsonb, in_options jsonb, in_entries bigint[], in_late bigint[],
    in_heads jsonb, in_now bigint) returns void language plpgsql as $$
declare
    v_groups text[];
    v_members bigint[];
begin
    if in_heads is not null then
        perform _queue_stand(array_agg(in_entries[m.n]), array_agg(o.order_key))
        from jsonb_array_elements(in_messages) with ordinality m (message, n),
            lateral (select (case when m.message ? 'order_key' then m.message else in_options end) ->> 'order_key') o (order_key)
        where o.order_key is not null and not in_heads ? o.order_key and in_entries[m.n] <> all (in_late);
    end if;
    perform _queue_index(array_remove(in_entries, null));
    if in_options ? 'group' or in_messages @? '$[*].group' then
        select array_agg(coalesce(m.message ->> 'group', in_options ->> 'group')), array_agg(in_entries[m.n]) into v_groups, v_members
        from jsonb_array_elements(in_messages) with ordinality m (message, n)
        where in_entries[m.n] <> all (in_late) and coalesce(m.message ->> 'group', in_options ->> 'group') is not null;
        perform _queue_enrol(v_groups, v_members);
    end if;
    if in_options ? 'semaphores' or in_messages @? '$[*].semaphores' then
        perform _queue_slot_settle(null::bigint[], _queue_line_up(in_entries), true, in_now);
    end if;
    perform _queue_log(in_entries, 'pushed', in_now);
end $$;

comment on function _queue_batch_pushed(text, jsonb, jsonb, bigint[], bigint[], jsonb, bigint) is
$$What a batch that was put in is part of: lines of order keys, the index of filters, groups, lines for semaphores and the log.
in_kind, in_messages, in_options: as in queue_push_many. in_entries: their entries, NULL for those that were ignored. in_late: of these, those
that went again for dedup_seconds. in_heads: the order keys that somebody is first of, see _queue_line; NULL: the batch has none. in_now:
the time of the call.
Errors: PQ004 for a group that has finished; PQ00A where the batch has to be made again.
Locks: as _queue_stand, _queue_enrol and _queue_slot_settle.$$;
