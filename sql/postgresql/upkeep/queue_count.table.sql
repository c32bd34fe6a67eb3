-- What happened so far, by kind: calls append rows and queue_prune folds them, because one row that all calls
-- update would serialise them. What can be seen of a message while it is there, that it was pushed and is reserved, is
-- counted from it, and here when that ends. No index: it is read whole.
create table queue_count (
    p_kind   text collate "C" not null,
    pushed   bigint,
    reserved bigint,
    popped   bigint,
    acked    bigint,
    nacked   bigint,
    moved    bigint,
    dead     bigint,
    expired  bigint,
    lost     bigint
);
comment on table queue_count is 'Counters, appended by the routines and folded by queue_prune; read them through queue_stats. (pyqueue_sql)';
-- Without a primary key a table of a publication refuses to be deleted from.
alter table queue_count replica identity full;
