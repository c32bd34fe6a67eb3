-- What stands in front of the numbers that a run of a server gives out: see _queue_epoch. A row a run, and one for each
-- million of its numbers; only ever appended, and folded by queue_prune.
-- differs: PostgreSQL has sequences.
create table if not exists queue_epoch (
    epoch                  bigint not null
        comment 'The first part of the entry numbers; each is greater than all before it.',
    id                     bigint not null
        comment 'So that sessions that find out the same at the same time don''t wait for one another.',
    origin                 bigint not null
        comment 'UUID_SHORT() without its last 20 bits: the server''s id, when it was started, and which million.',
    began_at               bigint not null,
    primary key (epoch, id) -- serves: queue_push
) engine = innodb row_format = dynamic collate exact
    comment 'Which epoch the numbers of a server belong to; internal to _queue_epoch. (pyqueue_sql)';
