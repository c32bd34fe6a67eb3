-- Messages that are staged, as plain rows like those of queue_inbox, until queue_stage_publish pushes them. No check
-- here: a row that is wrong names itself when it is published.
create unlogged table queue_stage (
    part          bigint not null,
    p_kind        text collate "C",
    p_key         text collate "C",
    payload       text,
    payload_bytes bytea,
    headers       text,
    priority      integer,
    delay_seconds numeric,
    scheduled_at  bigint,
    attempts      integer,
    max_attempts  integer
);
-- serves: queue_stage_publish, queue_stage_abort
create index queue_stage_of_part on queue_stage (part);
comment on table queue_stage is 'INSERT or COPY messages into it under a part of queue_stage_begin; the other columns are those of queue_inbox. They are no messages until queue_stage_publish has pushed them. (pyqueue_sql)';
-- Without a primary key a table of a publication refuses to be deleted from.
alter table queue_stage replica identity full;
