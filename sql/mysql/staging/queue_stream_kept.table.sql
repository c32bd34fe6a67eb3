-- What the last batch of a query had read when it was committed, until the query has noted that itself: a batch that is
-- replayed reads it again, so that state which is computed anew in between is what it was.
create table if not exists queue_stream_kept (
    source                 varchar(230) not null,
    part                   int not null,
    place                  int not null,
    stream                 varchar(200) not null,
    batch                  bigint not null,
    kept_at                bigint not null,
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    payload                json,
    payload_bytes          longblob,
    headers                json,
    priority               smallint not null,
    scheduled_at           bigint not null,
    scheduled_at_initially bigint not null,
    created_at             bigint not null,
    reserved_at            bigint,
    attempts               int not null,
    reserved_by            varchar(200),
    receipt                varchar(60) not null,
    errors                 json,
    primary key (source, part, place), -- serves: queue_stream_reserve, queue_stream_forget
    key queue_stream_kept_batch (stream, batch), -- serves: queue_stream_commit
    key queue_stream_kept_at (kept_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate exact
    comment 'Messages of committed batches that may be replayed; those older than a week are pruned. (pyqueue_sql)';
