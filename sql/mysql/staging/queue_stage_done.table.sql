-- The last batch of each query that was published or committed, so that a batch which is replayed changes nothing.
create table if not exists queue_stage_done (
    query                  varchar(200) not null,
    batch                  bigint not null,
    run                    varchar(200),
    job                    varchar(200),
    done_at                bigint not null,
    primary key (query), -- serves: queue_stage_publish, queue_stream_commit
    key queue_stage_done_at (done_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate exact
    comment 'The last batch of each query that is done; a row goes when nothing came for a year. (pyqueue_sql)';
