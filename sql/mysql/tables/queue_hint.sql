-- Where a session without bounds of its own may begin to scan a kind, left by sessions to which the scan from the start
-- had become slow. Only ever appended and deleted; the newest row counts.
create table if not exists queue_hint (
    id                     bigint unsigned not null,
    p_kind                 varchar(100) not null,
    bounds                 json not null,
    primary key (id),
    key queue_hint_kind (p_kind, id) -- serves: queue_reserve
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Bounds of the scan for sessions that have none yet; internal to queue_reserve and queue_pop. (pyqueue_sql)';
