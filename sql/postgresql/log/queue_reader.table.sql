-- Who reads the log, what, and up to where it is done; looked: up to where there is none of its events behind that.
create table queue_reader (
    reader     text collate "C" constraint queue_reader_pkey primary key,  -- serves: queue_read, queue_read_ack
    name       text collate "C" not null,
    matcher    text collate "C",
    events     text collate "C" not null,
    position   bigint not null,
    looked     bigint not null default 0,
    created_at bigint not null
);
comment on table queue_reader is 'Readers of the log; look at it through the view queue_readers. (pyqueue_sql)';
