-- Where a scan of a kind begins, see _queue_take. A session to which the scan from the start has become slow keeps a
-- cursor of its own, in @pyqueue_cursors; here stand those that it leaves for sessions that have none. Only ever
-- appended and deleted; the newest row counts.
-- differs: the fields are one JSON object, as the session keeps it.
create table if not exists queue_cursor (
    id                     bigint unsigned not null,
    p_kind                 varchar(100) not null,
    fields                 json not null,
    primary key (id),
    key queue_cursor_kind (p_kind, id) -- serves: queue_reserve
) engine = innodb row_format = dynamic collate exact
    comment 'Where the scan of a kind begins, for sessions that have no cursor yet; internal to queue_reserve and queue_pop. (pyqueue_sql)';
