-- What the last batch of a query had read when it was committed, until the query has noted that itself: a batch that is
-- replayed reads it again, so that state which is computed anew in between is what it was.
create table queue_stream_kept (
    source                 text collate "C" not null,
    part                   integer not null,
    place                  bigint not null,
    stream                 text collate "C" not null,
    batch                  bigint not null,
    kept_at                bigint not null,
    p_kind                 text collate "C" not null,
    p_key                  text collate "C" not null,
    payload                jsonb,
    payload_bytes          bytea,
    headers                jsonb,
    priority               smallint not null,
    scheduled_at           bigint not null,
    scheduled_at_initially bigint not null,
    created_at             bigint not null,
    reserved_at            bigint,
    attempts               integer not null,
    reserved_by            text,
    receipt                text not null,
    errors                 jsonb,
    constraint queue_stream_kept_pkey primary key (source, part, place)    -- serves: queue_stream_reserve, queue_stream_forget
);
-- serves: queue_stream_commit
create index queue_stream_kept_batch on queue_stream_kept (stream, batch);
-- serves: queue_prune
create index queue_stream_kept_at on queue_stream_kept (kept_at);
comment on table queue_stream_kept is 'Messages of committed batches that may be replayed; those older than a week are pruned. (pyqueue_sql)';
comment on column queue_stream_kept.place is 'In the part, from 1.';
