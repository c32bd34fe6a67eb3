-- calls: _queue_move_many
create or replace function _queue_ack_each(in_entries bigint[], in_secrets bytea[], in_options jsonb, in_now bigint)
    returns text[] language sql as $$
select _queue_move_many(in_entries, in_secrets,
    array_agg(coalesce(in_options ->> 'to', case when q.source_kind is null then q.route ->> 0 end) order by r.n),
    array_agg(coalesce(nullif(in_options, 'null'), '{}') - '{to}'::text[] || '{"next": true}' order by r.n), in_now)
from unnest(in_entries, in_secrets) with ordinality r (entry, secret, n)
left join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
$$;

comment on function _queue_ack_each(bigint[], bytea[], jsonb, bigint) is
$$The long way of queue_ack and queue_ack_many: with options, on a route, in a group, or with semaphores.
in_entries, in_secrets: the receipts, taken apart, each once. in_options: those of queue_ack, checked. in_now: the time
of the call.
Result: the outcomes, in the order of the receipts: acked, moved, duplicate, lost.
Locks: as _queue_move_many.$$;
