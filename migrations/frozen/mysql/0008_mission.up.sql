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
--;
-- semaphores
alter table delayed_queue
    add column semaphores longtext
        comment 'The semaphores that it needs a slot of to be delivered; NULL: none.',
    algorithm = instant;
--;
-- Semaphores: how many messages that name one may be held at once. Its row is locked while that changes.
-- differs: it isn't written then: a locking read sees what is committed, whatever the snapshot.
create table if not exists queue_semaphore (
    name                   varchar(100) not null,
    capacity               bigint not null,
    primary key (name) -- serves: queue_push, queue_reserve, queue_ack
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Semaphores; look at them through the view queue_semaphores, change them through queue_semaphore.';
--;
-- The slots that are taken: by a message that is held, until its hold ends, or by one that stands in the ready line and was told
-- that there is room (until is the time of that, negated).
create table if not exists queue_semaphore_slot (
    entry                  bigint not null,
    name                   varchar(100) not null,
    until                  bigint,
    primary key (entry, name), -- serves: queue_ack, queue_extend
    key queue_semaphore_slot_name (name, until) -- serves: queue_reserve (how many are taken, whose hold has expired)
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Slots of semaphores that are taken; internal.';
--;
-- Who waits: each stands in the line of one semaphore that it lacks.
create table if not exists queue_semaphore_wait (
    entry                  bigint not null,
    name                   varchar(100) not null,
    p_kind                 varchar(100) not null,
    primary key (entry), -- serves: queue_ack, queue_push
    key queue_semaphore_wait_name (name, entry), -- serves: queue_ack (who is next)
    key queue_semaphore_wait_kind (p_kind, name, entry) -- serves: queue_reserve (what waits in a kind), queue_peek
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Messages in line for a semaphore; internal.';
--;
-- limits
-- Places for the messages that a kind with max_reserved may have held at once. A reserve locks the places that it uses until its
-- transaction ends; in one is the delivery that took it last, as long as its message is held.
-- differs: the delivery stands in the row, because an update is in place here; PostgreSQL has queue_slot and appends to queue_claim.
create table if not exists queue_place (
    p_kind                 varchar(100) not null,
    slot                   int not null,
    entry                  bigint,
    secret                 binary(16),
    primary key (p_kind, slot) -- serves: queue_reserve
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Places for held messages of kinds with max_reserved; internal to queue_reserve.';
--;
-- The tokens of kinds with rate_per_second, in up to 16 parts, so that calls don't wait for one another. A part has a token for
-- each step of time between spent_at and now; to take some is to move spent_at on. Sessions take several ahead where the rate is high, and so
-- a part is updated about 20 times a second at the most.
create table if not exists queue_bucket (
    p_kind                 varchar(100) not null,
    part                   smallint not null,
    spent_at               bigint not null comment 'Until when the tokens of this part are spent, in nanoseconds.',
    primary key (p_kind, part) -- serves: queue_reserve, queue_pop
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Tokens of kinds with rate_per_second; internal to queue_reserve and queue_pop.';
--;
-- filters
-- What the messages of kinds with a filter_index have in them: a row a value of payload or headers, hashed with its path and the kind.
-- A row of a message that has gone means nothing, since an entry number is used once, and is cleared away by whoever finds it: so
-- what ends a message needn't know of this table.
create table if not exists queue_term (
    entry                  bigint not null,
    term                   bigint not null,
    place                  bigint not null,
    primary key (entry, term), -- serves: queue_push (a replacement), queue_prune
    key queue_term_place (term, place, entry) -- serves: queue_reserve, queue_pop (those with a filter)
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'What the messages of kinds with a filter_index have in them, hashed; place is a time before which the message can''t be due. Internal.';
--;
-- streams
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
