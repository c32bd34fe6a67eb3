create or replace view queue_subscriptions as
select s.pattern, s.p_kind, queue_timestamp(s.subscribed_at) as subscribed_at
from queue_subscription s;

comment on view queue_subscriptions is
$$A row a subscription: pattern, the kind that gets a copy of what is published to a topic of it, and since when.$$;
