-- A row a subscription: pattern, the kind that gets a copy of what is published to a topic of it, and since when (of UTC).
-- differs: a view has no comment.
create or replace view queue_subscriptions as
select s.pattern, s.p_kind, timestamp '1970-01-01 00:00:00.000000' + interval s.subscribed_at microsecond as subscribed_at
from queue_subscription s;
