-- frozen from sql/mysql by pyqueue_sql.freeze; never edited
-- The settings of the kinds that somebody defined or paused; every other kind works with the defaults.
create table if not exists queue_kind (
    p_kind                 varchar(100) not null,
    timeout_seconds        decimal(20,6) not null default 300,
    max_attempts           int,
    backoff_seconds        decimal(20,6) not null default 0,
    backoff_factor         decimal(20,6) not null default 2,
    backoff_max_seconds    decimal(20,6) not null default 3600,
    jitter                 decimal(20,6) not null default 0,
    dead_letter_kind       varchar(100),
    paused                 boolean not null default false,
    dedup_seconds          decimal(20,6) not null default 0,
    history_seconds        decimal(20,6) not null default 0,
    payload_shape          json,
    primary key (p_kind) -- serves: every routine
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Settings of kinds, written by queue_define, queue_pause and queue_resume.';
--;
-- The messages. A row is keyed by (p_kind, p_key); scheduled_at is its delivery time and its lock.
--
-- What says where a message stands is kept apart from the lock, as in PostgreSQL (docs/adr/0001-storage.md): a message that
-- may be taken has a place in the ready line (ready_rank, ready_at), one that has to wait has a date in the timetable (due_at)
-- and no rank, so that it stands outside of the range that a reserve reads. A reserve changes no indexed column.
-- differs: ready_rank stands for PostgreSQL's partial index; it is the priority, negated, of what is in the ready line.
-- differs: what is pending has columns of its own, because a payload of 31 levels inside of another JSON is too deep for MariaDB.
-- differs: the entry is the primary key, because InnoDB copies that into every other index; it is a number of 8 bytes.
create table if not exists delayed_queue (
    entry                  bigint not null
        comment 'Entry number: settles ties in the order of delivery, and is the first part of a receipt.',
    p_kind                 varchar(100) not null
        comment 'The queue it waits in and the type of its payload, 1 to 95 characters (a dead-letter kind: 100).',
    p_key                  varchar(200) not null
        comment 'What makes it that message: 1 to 200 characters.',
    payload                json
        comment 'The payload where it is JSON.',
    payload_bytes          longblob
        comment 'The payload where it is binary; exactly one of the two is set.',
    headers                json
        comment 'String keys, scalar values; NULL for none.',
    priority               smallint not null default 0
        comment 'Higher first.',
    scheduled_at           bigint not null
        comment 'Delivery time, and the lock: while somebody holds it, when the hold ends.',
    scheduled_at_initially bigint not null
        comment 'Delivery time as first asked for; for people, never for logic.',
    created_at             bigint not null
        comment 'When this entry came to be.',
    reserved_at            bigint
        comment 'When the present delivery began; NULL where nobody holds it.',
    attempts               int not null default 0
        comment 'Deliveries so far.',
    deliveries             int not null default 0
        comment 'How often queue_reserve has taken this entry, for queue_stats.',
    reserved_by            varchar(200)
        comment 'The worker that holds it; NULL where nobody does.',
    secret                 binary(16)
        comment 'Secret of the present delivery, the second part of its receipt; NULL where there is none.',
    ready_rank             int
        comment 'The priority, negated, of what is in the ready line; NULL while it waits.',
    ready_at               bigint
        comment 'Place in the ready line; NULL while it waits. Never changed by a reserve.',
    due_at                 bigint
        comment 'Date in the timetable, its delivery time, while it waits; NULL once it is in the ready line.',
    max_attempts           int
        comment 'Deliveries it may have, where that differs from its kind.',
    pending                boolean
        comment 'Whether something was pushed onto it while it was held, to be delivered once the present delivery is done.',
    pending_payload        json
        comment 'The payload of that push, where it brought one and that is JSON.',
    pending_bytes          longblob
        comment 'The payload of that push, where it brought one and that is binary.',
    pending_headers        json
        comment 'The headers of that push.',
    pending_at             bigint
        comment 'The delivery time of that push; NULL where it brought none.',
    errors                 json
        comment 'The last ten errors: [{at, attempt, by, error}].',
    source_kind            varchar(100)
        comment 'A dead letter: the kind it came from.',
    source_key             varchar(200)
        comment 'A dead letter: the key it had there.',
    source_priority        smallint
        comment 'A dead letter: the priority it had there.',
    primary key (entry), -- serves: queue_ack, queue_extend, queue_nack, queue_move
    unique key delayed_queue_key (p_kind, p_key), -- serves: queue_push, queue_get, queue_remove
    key delayed_queue_ready (p_kind, ready_rank, ready_at, entry), -- serves: queue_reserve, queue_pop, queue_peek
    key delayed_queue_due (p_kind, due_at), -- serves: queue_reserve (what has come due), queue_peek
    constraint delayed_queue_one_payload check ((payload is null) <> (payload_bytes is null))
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Messages that wait, are ready or are held, keyed by (p_kind, p_key). Times are microseconds since 1970-01-01 UTC. Look at it through the view queue_messages; change it through the routines queue_….';
--;
-- What happened so far, by kind: every call appends a row and queue_prune folds them, because one row that all calls
-- update would serialise them. It is read whole.
-- differs: what was pushed and reserved comes here when a message ends; until then it is read off the message, so that neither
-- a push nor a reserve writes a second row.
-- differs: the number, UUID_SHORT(), is there because group replication wants a primary key.
create table if not exists queue_count (
    id                     bigint unsigned not null,
    p_kind                 varchar(100) not null,
    pushed                 bigint,
    reserved               bigint,
    popped                 bigint,
    acked                  bigint,
    nacked                 bigint,
    moved                  bigint,
    dead                   bigint,
    expired                bigint,
    primary key (id)
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Counters, appended by the routines and folded by queue_prune; read them through queue_stats.';
--;
-- Where a session without bounds of its own may begin to scan a kind, left by sessions to which the scan from the start
-- had become slow. Only ever appended and deleted; the newest row counts.
create table if not exists queue_hint (
    id                     bigint unsigned not null,
    p_kind                 varchar(100) not null,
    bounds                 json not null,
    primary key (id),
    key queue_hint_kind (p_kind, id) -- serves: queue_reserve
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Bounds of the scan for sessions that have none yet; internal to queue_reserve and queue_pop.';
--;
-- What has ended, for the kinds that keep it (history_seconds). Only ever appended, and pruned by age.
create table if not exists queue_history (
    p_kind                 varchar(100) not null
        comment 'The kind it was in.',
    p_key                  varchar(200) not null
        comment 'The key it had.',
    entry                  bigint not null
        comment 'Entry number; each entry ends once.',
    outcome                varchar(10) not null
        comment 'How it ended: acked, popped, moved, dead, removed.',
    to_kind                varchar(100)
        comment 'Where it went: the target of a move, the kind of its dead letter.',
    payload                json
        comment 'The payload where it is JSON, as last delivered.',
    payload_bytes          longblob
        comment 'The payload where it is binary.',
    headers                json
        comment 'Its headers.',
    priority               smallint not null
        comment 'Its priority.',
    scheduled_at_initially bigint not null
        comment 'Delivery time as first asked for.',
    created_at             bigint not null
        comment 'When it came into the kind.',
    reserved_at            bigint
        comment 'When its last delivery began; NULL where it was never delivered.',
    finished_at            bigint not null
        comment 'When it ended.',
    attempts               int not null
        comment 'Deliveries that it had.',
    reserved_by            varchar(200)
        comment 'The worker that held it last; NULL where nobody did when it ended.',
    errors                 json
        comment 'Its last ten errors: [{at, attempt, by, error}].',
    primary key (p_kind, finished_at, entry), -- serves: queue_prune
    key queue_history_key (p_kind, p_key) -- serves: queue_history (looking back by key)
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Messages that have ended, for as long as history_seconds of their kind says. Times are microseconds since 1970-01-01 UTC; queue_timestamp() makes them readable. Select from it as queue_operator.';
--;
-- Keys of messages that were acked, popped or moved away, for the kinds that remember them (dedup_seconds).
create table if not exists queue_dedup (
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    ended_at               bigint not null,
    primary key (p_kind, p_key), -- serves: queue_push
    key queue_dedup_ended (p_kind, ended_at) -- serves: queue_prune
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Keys that a push still ignores although their messages have ended; see dedup_seconds of queue_define.';
--;
-- Messages as plain rows, for INSERT, LOAD DATA and writers that know nothing of routines. Where the server allows a trigger,
-- it pushes each row as it comes in; else the next queue_reserve, queue_pop or queue_prune does. These also take the rows out,
-- and what they can't push becomes a dead letter, but for what the constraints refuse at once.
-- differs: a key may be longer than a key can be, so that it is refused and not cut where the session isn't strict.
-- differs: rows stay for a moment, because a trigger can't delete from the table that it is for.
create table if not exists queue_inbox (
    id                     bigint not null auto_increment
        comment 'The row; never given.',
    p_kind                 varchar(100)
        comment 'The kind, 1 to 95 characters.',
    p_key                  varchar(300)
        comment 'The key, 1 to 200 characters; NULL: a time-ordered UUID.',
    payload                longtext
        comment 'The payload as JSON text.',
    payload_bytes          longblob
        comment 'The payload where it is binary; exactly one of the two is set.',
    headers                longtext
        comment 'The headers as JSON text; NULL for none.',
    priority               int
        comment 'Higher first; NULL: 0.',
    delay_seconds          decimal(30,6)
        comment 'Deliver so many seconds from now; NULL: at once.',
    scheduled_at           bigint
        comment 'Deliver at this time, in microseconds since 1970-01-01 UTC; not with delay_seconds.',
    attempts               int
        comment 'Deliveries that are behind it already; NULL: 0.',
    max_attempts           int
        comment 'Deliveries it may have; NULL: as its kind says.',
    taken                  boolean not null default false
        comment 'Whether its message was pushed as it came in, by a trigger; never given.',
    primary key (id), -- serves: _queue_take_in
    constraint queue_inbox_kind check (p_kind is not null and char_length(p_kind) between 1 and 95),
    constraint queue_inbox_key check (char_length(p_key) between 1 and 200),
    constraint queue_inbox_payload check (taken or payload_bytes is not null and payload is null or json_valid(payload))
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'INSERT or LOAD DATA messages into it. They are pushed at once where the server allows a trigger, else by the next queue_reserve, queue_pop or queue_prune. A key that is taken is ignored, a row that is wrong names itself.';
--;
-- Every call reads this table first and so holds its metadata lock until it ends: whoever has it under LOCK TABLES … WRITE can
-- replace routines while no call is between two of them, and calls wait instead of failing.
-- differs: PostgreSQL replaces a routine in a transaction.
create table if not exists queue_gate (
    id int not null,
    primary key (id)
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Empty, for its metadata lock: calls pass it, an upgrade closes it while it replaces routines.';
