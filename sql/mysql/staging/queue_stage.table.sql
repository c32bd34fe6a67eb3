-- Messages that are staged, as plain rows like those of queue_inbox, until queue_stage_publish pushes them. No check
-- here: a row that is wrong names itself when it is published.
-- differs: a row has a number, so that what is sorted by key to be pushed is small.
create table if not exists queue_stage (
    id                     bigint not null auto_increment,
    part                   bigint not null,
    p_kind                 varchar(300),
    p_key                  varchar(300),
    payload                longtext,
    payload_bytes          longblob,
    headers                longtext,
    priority               int,
    delay_seconds          decimal(30,6),
    scheduled_at           bigint,
    attempts               int,
    max_attempts           int,
    primary key (id),
    key queue_stage_of_part (part) -- serves: queue_stage_publish, queue_stage_abort
) engine = innodb row_format = dynamic collate exact
    comment 'INSERT or LOAD DATA messages into it under a part of queue_stage_begin; the other columns are those of queue_inbox. They are no messages until queue_stage_publish has pushed them. (pyqueue_sql)';
