-- What has ended, for the kinds that keep it (history_seconds). Only ever appended, and pruned by age; a result is
-- added in the transaction that appends.
-- differs: result is a text, because MariaDB copies the table to add a column of JSON.
create table if not exists queue_history (
    p_kind                 varchar(100) not null
        comment 'The kind it was in.',
    p_key                  varchar(200) not null
        comment 'The key it had.',
    entry                  bigint not null
        comment 'Entry number; each entry ends once.',
    outcome                varchar(10) not null
        comment 'How it ended: acked, popped, moved, dead, removed.',
    to_kind                varchar(100)
        comment 'Where it went: the target of a move, the kind of its dead letter.',
    payload                json
        comment 'The payload where it is JSON, as last delivered.',
    payload_bytes          longblob
        comment 'The payload where it is binary.',
    headers                json
        comment 'Its headers.',
    priority               smallint not null
        comment 'Its priority.',
    scheduled_at_initially bigint not null
        comment 'Delivery time as first asked for.',
    created_at             bigint not null
        comment 'When it came into the kind.',
    reserved_at            bigint
        comment 'When its last delivery began; NULL where it was never delivered.',
    finished_at            bigint not null
        comment 'When it ended.',
    attempts               int not null
        comment 'Deliveries that it had.',
    reserved_by            varchar(200)
        comment 'The worker that held it last; NULL where nobody did when it ended.',
    errors                 json
        comment 'Its last ten errors: [{at, attempt, by, error}].',
    result                 longtext
        comment 'What its ack gave as its result.',
    primary key (p_kind, finished_at, entry), -- serves: queue_prune
    key queue_history_key (p_kind, p_key) -- serves: queue_history (looking back by key)
) engine = innodb row_format = dynamic collate exact
    comment 'Messages that have ended, for as long as history_seconds of their kind says. Times are microseconds since 1970-01-01 UTC; queue_timestamp() makes them readable. Select from it as queue_operator. (pyqueue_sql)';
