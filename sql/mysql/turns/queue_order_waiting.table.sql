-- The messages that wait in the lines of order keys, all but the first of each.
-- differs: on PostgreSQL this is a partial index of the messages; here it would cost all of them.
create table if not exists queue_order_waiting (
    p_kind                 varchar(100) not null,
    order_key              varchar(200) not null,
    entry                  bigint not null,
    primary key (p_kind, order_key, entry) -- serves: queue_ack (who comes next in a line), queue_peek
) engine = innodb row_format = dynamic collate exact
    comment 'Who waits in the lines of order keys; internal. (pyqueue_sql)';
