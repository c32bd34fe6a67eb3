-- The lines of order keys, each with its first message. Whoever puts a message into a line or ends its first locks its
-- row, until the transaction ends; it goes with the last message of the line.
-- differs: on PostgreSQL the messages themselves are locked, and a partial index knows the first of each line.
create table if not exists queue_order (
    p_kind                 varchar(100) not null,
    order_key              varchar(200) not null,
    first                  bigint not null,
    primary key (p_kind, order_key) -- serves: queue_push, queue_ack
) engine = innodb row_format = dynamic collate exact
    comment 'The first message of each order key; internal. (pyqueue_sql)';
