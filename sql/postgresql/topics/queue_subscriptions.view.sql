create or replace view queue_subscriptions as
select s.pattern, s.p_kind, queue_timestamp(s.subscribed_at) as subscribed_at
from queue_subscription s;

comment on view queue_subscriptions is
$$A row a subscription, see queue_subscribe.
- pattern: which topics.
- p_kind: the kind that gets a copy of each message of these topics.
- subscribed_at: since when.$$;
