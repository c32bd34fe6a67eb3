-- written by hand: the change of the tables
-- Order keys
alter table delayed_queue
    add column order_key varchar(200)
        comment 'Messages of the same one come one at a time, in the order of their entries; NULL: it stands in no such line.',
    add column order_waits boolean
        comment 'Whether one before it in the line of its order key is still there: it has no place and no date until then; NULL: none.',
    add column source_order_key varchar(200)
        comment 'A dead letter: the order key it had there.',
    algorithm = instant;
--;
-- The lines of order keys, each with its first message. Whoever puts a message into a line or ends its first locks its row, until
-- the transaction ends; it goes with the last message of the line.
-- differs: on PostgreSQL the messages themselves are locked, and a partial index knows the first of each line.
create table if not exists queue_order (
    p_kind                 varchar(100) not null,
    order_key              varchar(200) not null,
    first                  bigint not null,
    primary key (p_kind, order_key) -- serves: queue_push, queue_ack
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'The first message of each order key; internal.';
--;
-- The messages that wait in the lines of order keys, all but the first of each.
-- differs: on PostgreSQL this is a partial index of the messages; here it would cost all of them.
create table if not exists queue_order_waiting (
    p_kind                 varchar(100) not null,
    order_key              varchar(200) not null,
    entry                  bigint not null,
    primary key (p_kind, order_key, entry) -- serves: queue_ack (who comes next in a line), queue_peek
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Who waits in the lines of order keys; internal.';
