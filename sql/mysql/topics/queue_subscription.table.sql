-- Which kinds get a copy of what is published. A pattern is found by its words before the first wildcard (head) and by
-- its last word (tail, empty where that is a wildcard), so that a publish looks at a few of them; of these LIKE finds
-- most that don't fit (sketch), since to read a regular expression takes long, and that decides (matcher).
create table if not exists queue_subscription (
    pattern                varchar(255) not null,
    p_kind                 varchar(100) not null,
    head                   varchar(255) not null,
    tail                   varchar(255) not null,
    sketch                 varchar(600) not null,
    matcher                varchar(3000) not null,
    subscribed_at          bigint not null,
    primary key (pattern, p_kind), -- serves: queue_subscribe, queue_unsubscribe
    key queue_subscription_words (head, tail), -- serves: queue_publish
    key queue_subscription_kind (p_kind) -- serves: queue_drop
) engine = innodb row_format = dynamic collate exact
    comment 'Which kinds get a copy of what is published; look at it through the view queue_subscriptions. (pyqueue_sql)';
