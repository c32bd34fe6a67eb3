-- Which kinds get a copy of what is published. A pattern is found by its words before the first wildcard (head) and by
-- its last word (tail, empty where that is a wildcard), so that a publish looks at a few of them; of these LIKE finds
-- most that don't fit (sketch), since to read a regular expression takes long, and that decides (matcher).
create table queue_subscription (
    pattern       text collate "C" not null,
    p_kind        text collate "C" not null,
    head          text collate "C" not null,
    tail          text collate "C" not null,
    sketch        text collate "C" not null,
    matcher       text collate "C" not null,
    subscribed_at bigint not null,
    constraint queue_subscription_pkey primary key (pattern, p_kind)  -- serves: queue_subscribe, queue_unsubscribe
);
-- serves: queue_publish
create index queue_subscription_words on queue_subscription (head, tail);
-- serves: queue_drop
create index queue_subscription_kind on queue_subscription (p_kind);
comment on table queue_subscription is 'Which kinds get a copy of what is published; look at it through the view queue_subscriptions. (pyqueue_sql)';
