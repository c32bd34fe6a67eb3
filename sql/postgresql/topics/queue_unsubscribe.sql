-- calls: _queue_check_name, _queue_check_roles, _queue_check_topic
-- changes: queue_subscription
create or replace function queue_unsubscribe(in_pattern text, in_kind text, out changed boolean)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
begin
    perform _queue_check_topic(in_pattern, 'pattern');
    perform _queue_check_name(in_kind, 95, 'kind');
    perform _queue_check_roles(array[in_kind]);
    delete from queue_subscription s where s.pattern = in_pattern and s.p_kind = in_kind;
    changed := found;
end $$;

comment on function queue_unsubscribe(text, text) is
$$Ends a subscription. What the kind has got stays there.
in_pattern: the pattern, as it was subscribed. in_kind: the kind.
Result: changed: false where that kind didn't have that pattern.
Errors: PQ007 for a kind that is for others. PQ001 for pattern and kind.
Locks: the subscription.$$;
