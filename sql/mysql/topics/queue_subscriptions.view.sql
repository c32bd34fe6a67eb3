-- A row a subscription, see queue_subscribe.
-- - pattern: which topics.
-- - p_kind: the kind that gets a copy of each message of these topics.
-- - subscribed_at: since when.
-- Times are of UTC.
-- differs: a view has no comment.
create or replace view queue_subscriptions as
select s.pattern, s.p_kind, timestamp '1970-01-01 00:00:00.000000' +
    interval s.subscribed_at microsecond as subscribed_at
from queue_subscription s;
