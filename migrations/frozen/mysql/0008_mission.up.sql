-- written by hand: the change of the tables
-- streams
alter table queue_kind
    add column log_seconds decimal(20,6) not null default 0,
    algorithm = instant;
--;
-- What happened in the kinds that have log_seconds, in the order of its positions. Only ever appended, and pruned by age. Who appends
-- has locked a row of queue_log_epoch before, by which readers know how far all is committed.
create table if not exists queue_log (
    position               bigint not null auto_increment,
    event                  varchar(10) not null,
    name                   varchar(255)
        comment 'What a pattern is compared with: the topic, or the kind of what was not published; NULL: a copy of what stands before it under the topic.',
    topic                  varchar(255),
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    entry                  bigint not null,
    to_kind                varchar(100),
    payload                json,
    payload_bytes          longblob,
    headers                json,
    created_at             bigint not null,
    primary key (position), -- serves: queue_read (of a pattern)
    key queue_log_kind (p_kind, position), -- serves: queue_read (of a kind), queue_prune
    key queue_log_topic (topic, position) -- serves: queue_read (of a topic)
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'The event log, see queue_read. Times are microseconds since 1970-01-01 UTC.';
--;
-- What transactions that append to the log hold a shared lock of, until they end: of the newest row that they see. All of their
-- positions come after its floor. The first one comes with the first kind that has a log, and stays.
-- differs: PostgreSQL has advisory locks for it.
create table if not exists queue_log_epoch (
    floor                  bigint not null,
    id                     bigint not null,
    primary key (floor, id) -- serves: queue_push, queue_read
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Up to where open transactions have not appended to the log; internal.';
--;
-- Up to which position the log was pruned, for each kind, name and event: appended by queue_prune, and folded. So a reader is told of
-- what it will never see.
create table if not exists queue_log_gone (
    p_kind                 varchar(100) not null,
    name                   varchar(255) not null,
    event                  varchar(10) not null,
    position               bigint not null,
    primary key (p_kind, name, event, position), -- serves: queue_read (of a kind)
    key queue_log_gone_name (name) -- serves: queue_read (of a topic)
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'What the log has no longer; internal.';
--;
-- Positions up to which all was known to be committed or undone, for those who can't find it out themselves: a snapshot that has this
-- row has all of that too. Appended, and folded.
create table if not exists queue_log_known (
    position               bigint not null,
    id                     bigint not null,
    noted_at               bigint not null,
    primary key (position, id) -- serves: queue_read
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'How far the log is complete; internal.';
--;
-- Who reads the log, what, and up to where it is done.
create table if not exists queue_reader (
    reader                 varchar(200) not null,
    name                   varchar(255) not null,
    matcher                varchar(3000),
    events                 varchar(100) not null,
    position               bigint not null,
    created_at             bigint not null,
    primary key (reader) -- serves: queue_read, queue_read_ack
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Readers of the log; look at it through the view queue_readers.';
