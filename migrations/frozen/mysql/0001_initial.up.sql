-- frozen from sql/mysql by tools.freeze; never edited
-- The settings of the kinds that somebody defined, paused or drains; every other kind works with the defaults, see
-- _queue_defaults.
create table if not exists queue_kind (
    p_kind                 varchar(100) not null,
    timeout_seconds        decimal(20,6) not null default 300,
    max_attempts           int default 25,
    backoff_seconds        decimal(20,6) not null default 1,
    backoff_factor         decimal(20,6) not null default 2,
    backoff_max_seconds    decimal(20,6) not null default 3600,
    jitter                 decimal(20,6) not null default 0.2,
    dead_letter_kind       varchar(100),
    paused                 boolean not null default false,
    dedup_seconds          decimal(20,6) not null default 0,
    history_seconds        decimal(20,6) not null default 0,
    payload_shape          json,
    draining               boolean not null default false,
    expires_seconds        decimal(20,6),
    semaphores             boolean not null default false,
    max_reserved           int,
    rate_per_second        decimal(20,6),
    filter_index           boolean not null default false,
    log_seconds            decimal(20,6) not null default 0,
    roles                  json,
    primary key (p_kind) -- serves: every routine
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Settings of kinds, written by queue_define, queue_pause, queue_drain and queue_resume. (pyqueue_sql)';
--;
-- The messages. A row is keyed by (p_kind, p_key); scheduled_at is its delivery time and its lock.
--
-- What says where a message stands is kept apart from the lock, as in PostgreSQL (docs/adr/0001-storage.md): a message
-- that may be taken has a place in the ready line (ready_rank, ready_at), one that has to wait has a date in the
-- timetable (due_at) and no rank, so that no reserve reads it. A reserve changes no indexed column.
-- differs: ready_kind stands for PostgreSQL's partial index; a range of ranks would be locked beyond its end, where the
-- next kind begins. ready_rank is the priority, negated.
-- differs: what is pending has columns of its own, because a payload of 31 levels inside of another JSON is too deep
-- for MariaDB.
-- differs: route is a text, because MariaDB copies the table to add a column of JSON.
-- differs: room stands for PostgreSQL's fillfactor: rows grow with their first reserve, which would split their page.
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
    ready_kind             varchar(100) as (if(ready_rank is null, null, p_kind)) stored
        comment 'The kind, of what is in the ready line; NULL while it waits.',
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
    route                  longtext
        comment 'The kinds that it goes to yet, one with each ack; NULL: the next ack ends it.',
    member                 bigint
        comment 'Its number as a member of a group; NULL: of none.',
    order_key              varchar(200)
        comment 'Messages of the same one come one at a time, in the order of their entries; NULL: it stands in no such line.',
    order_waits            boolean
        comment 'Whether one before it in the line of its order key is still there: it has no place and no date until then; NULL: none.',
    source_order_key       varchar(200)
        comment 'A dead letter: the order key it had there.',
    semaphores             longtext
        comment 'The semaphores that it needs a permit of to be delivered, in order; NULL: none.',
    room                   binary(64) default ''
        comment 'Room in its page for what the first reserve writes, which gives it up; NULL since then.',
    primary key (entry), -- serves: queue_ack, queue_extend, queue_nack, queue_move
    unique key delayed_queue_key (p_kind, p_key), -- serves: queue_push, queue_get, queue_remove
    key delayed_queue_ready (ready_kind, ready_rank, ready_at, entry), -- serves: queue_reserve, queue_pop, queue_peek
    key delayed_queue_due (p_kind, due_at), -- serves: queue_reserve (what has come due), queue_peek
    constraint delayed_queue_one_payload check ((payload is null) <> (payload_bytes is null))
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Messages that wait, are ready or are held, keyed by (p_kind, p_key). Times are microseconds since 1970-01-01 UTC. Look at it through the view queue_messages; change it through the routines queue_…. (pyqueue_sql)';
--;
-- What happened so far, by kind: every call appends a row and queue_prune folds them, because one row that all calls
-- update would serialise them. It is read whole.
-- differs: what was pushed and reserved comes here when a message ends; until then it is read off the message, so that
-- neither a push nor a reserve writes a second row.
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
    lost                   bigint,
    primary key (id)
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Counters, appended by the routines and folded by queue_prune; read them through queue_stats. (pyqueue_sql)';
--;
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
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Where the scan of a kind begins, for sessions that have no cursor yet; internal to queue_reserve and queue_pop. (pyqueue_sql)';
--;
-- What has ended, for the kinds that keep it (history_seconds). Only ever appended, and pruned by age; a result is
-- added in the transaction that appends.
-- differs: result is a text, because MariaDB copies the table to add a column of JSON.
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
    result                 longtext
        comment 'What its ack gave as its result.',
    primary key (p_kind, finished_at, entry), -- serves: queue_prune
    key queue_history_key (p_kind, p_key) -- serves: queue_history (looking back by key)
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Messages that have ended, for as long as history_seconds of their kind says. Times are microseconds since 1970-01-01 UTC; queue_timestamp() makes them readable. Select from it as queue_operator. (pyqueue_sql)';
--;
-- Keys of messages that were acked, popped or moved away, for the kinds that remember them (dedup_seconds).
create table if not exists queue_dedup (
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    ended_at               bigint not null,
    primary key (p_kind, p_key), -- serves: queue_push
    key queue_dedup_ended (p_kind, ended_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Keys that a push still ignores although their messages have ended; see dedup_seconds of queue_define. (pyqueue_sql)';
--;
-- Messages as plain rows, for INSERT, LOAD DATA and writers that know nothing of routines. Where the server allows a
-- trigger, it pushes each row as it comes in; else the next queue_reserve, queue_pop or queue_prune does. These also
-- take the rows out, and what they can't push becomes a dead letter, but for what the constraints refuse at once.
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
        comment 'The payload where it is binary; both NULL: a payload of JSON null.',
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
    primary key (id), -- serves: _queue_drain_inbox
    constraint queue_inbox_kind check (p_kind is not null and char_length(p_kind) between 1 and 95),
    constraint queue_inbox_key check (char_length(p_key) between 1 and 200),
    constraint queue_inbox_payload check (taken or payload_bytes is not null and payload is null or json_valid(payload))
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'INSERT or LOAD DATA messages into it. They are pushed at once where the server allows a trigger, else by the next queue_reserve, queue_pop or queue_prune. A key that is taken is ignored, a row that is wrong names itself. (pyqueue_sql)';
--;
-- Workers that said that they are there: queue_heartbeat. What others hold is left to the timeout. server_run names the
-- run of the server in which one was last heard of; 0: it is judged by its heartbeat alone.
-- differs: session_lock is the name of a lock, session_id a connection's number.
create table if not exists queue_worker (
    worker                 varchar(200) not null,
    kinds                  json,
    info                   json,
    started_at             bigint not null,
    heartbeat_at           bigint not null,
    timeout_seconds        decimal(20,6) not null,
    session_lock           varchar(64),
    session_id             bigint unsigned,
    reconnect_seconds      decimal(20,6) not null default 0,
    upkeep                 boolean not null default true,
    server_run             bigint not null default 0,
    primary key (worker) -- serves: queue_heartbeat, queue_reap
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Registered workers, written by queue_heartbeat and queue_reap; look at them through the view queue_workers. (pyqueue_sql)';
--;
-- What somebody has staged, to be published by queue_stage_publish: one row a writer that has committed.
create table if not exists queue_stage_part (
    part                   bigint not null,
    job                    varchar(200) not null,
    query                  varchar(200),
    batch                  bigint,
    run                    varchar(200),
    begun_at               bigint not null,
    primary key (part), -- serves: queue_stage_publish
    key queue_stage_part_job (job), -- serves: queue_stage_abort
    key queue_stage_part_run (query, run), -- serves: queue_stage_begin
    key queue_stage_part_batch (query, batch), -- serves: queue_prune
    key queue_stage_part_begun (begun_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Parts of jobs that are staged and not yet published; those older than a day are pruned. (pyqueue_sql)';
--;
-- Messages that are staged, as plain rows like those of queue_inbox, until queue_stage_publish pushes them. No check
-- here: a row that is wrong names itself when it is published.
-- differs: a row has a number, so that what is sorted by key to be pushed is small.
create table if not exists queue_stage (
    id                     bigint not null auto_increment,
    part                   bigint not null,
    p_kind                 varchar(300),
    p_key                  varchar(300),
    payload                longtext,
    payload_bytes          longblob,
    headers                longtext,
    priority               int,
    delay_seconds          decimal(30,6),
    scheduled_at           bigint,
    attempts               int,
    max_attempts           int,
    primary key (id),
    key queue_stage_of_part (part) -- serves: queue_stage_publish, queue_stage_abort
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'INSERT or LOAD DATA messages into it under a part of queue_stage_begin; the other columns are those of queue_inbox. They are no messages until queue_stage_publish has pushed them. (pyqueue_sql)';
--;
-- The last batch of each query that was published or committed, so that a batch which is replayed changes nothing.
create table if not exists queue_stage_done (
    query                  varchar(200) not null,
    batch                  bigint not null,
    run                    varchar(200),
    job                    varchar(200),
    done_at                bigint not null,
    primary key (query), -- serves: queue_stage_publish, queue_stream_commit
    key queue_stage_done_at (done_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'The last batch of each query that is done; a row goes when nothing came for a year. (pyqueue_sql)';
--;
-- What came of each batch that was published, so that it can be seen afterwards.
create table if not exists queue_write (
    id                     bigint not null auto_increment,
    query                  varchar(200),
    batch                  bigint,
    job                    varchar(200),
    written_at             bigint not null,
    messages               bigint not null,
    pushed                 bigint not null,
    differing              bigint,
    refused                bigint not null,
    primary key (id),
    key queue_write_at (written_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'What came of batches that were published; a row goes after a week. The view queue_writes shows it. (pyqueue_sql)';
--;
-- What each part of a read was handed out, so that a task that runs again gets the same messages, a batch that is
-- replayed has what it had, and one call ends them all.
create table if not exists queue_stream_part (
    source                 varchar(230) not null,
    part                   int not null,
    stream                 varchar(200) not null,
    batch                  bigint not null,
    wanted                 int not null,
    handed                 int not null default 0,
    receipts               json,
    begun_at               bigint not null,
    primary key (source, part), -- serves: queue_stream_reserve, queue_stream_plan
    key queue_stream_part_batch (stream, batch), -- serves: queue_stream_commit
    key queue_stream_part_begun (begun_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Receipts of batches that are not yet committed, by part; those older than a week are pruned. (pyqueue_sql)';
--;
-- Who may hand out parts of a read: whoever planned it last, so that tasks of a driver that is gone add nothing to it.
create table if not exists queue_stream_plan (
    source                 varchar(230) not null,
    plan                   bigint not null,
    sealed                 boolean not null,
    begun_at               bigint not null,
    primary key (source), -- serves: queue_stream_plan, queue_stream_reserve
    key queue_stream_plan_begun (begun_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Reads that are not yet committed; those older than a week are pruned. (pyqueue_sql)';
--;
-- What the last batch of a query had read when it was committed, until the query has noted that itself: a batch that is
-- replayed reads it again, so that state which is computed anew in between is what it was.
create table if not exists queue_stream_kept (
    source                 varchar(230) not null,
    part                   int not null,
    place                  int not null,
    stream                 varchar(200) not null,
    batch                  bigint not null,
    kept_at                bigint not null,
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    payload                json,
    payload_bytes          longblob,
    headers                json,
    priority               smallint not null,
    scheduled_at           bigint not null,
    scheduled_at_initially bigint not null,
    created_at             bigint not null,
    reserved_at            bigint,
    attempts               int not null,
    reserved_by            varchar(200),
    receipt                varchar(60) not null,
    errors                 json,
    primary key (source, part, place), -- serves: queue_stream_reserve, queue_stream_forget
    key queue_stream_kept_batch (stream, batch), -- serves: queue_stream_commit
    key queue_stream_kept_at (kept_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Messages of committed batches that may be replayed; those older than a week are pruned. (pyqueue_sql)';
--;
-- When kinds with expires_seconds were last used. Only ever appended, so that nobody waits for anybody; who
-- appends removes what is too old to count.
-- differs: the number, UUID_SHORT(), is there because group replication wants a primary key.
create table if not exists queue_use (
    id                     bigint unsigned not null,
    p_kind                 varchar(100) not null,
    used_at                bigint not null,
    primary key (id),
    key queue_use_newest (p_kind, used_at) -- serves: queue_reserve, queue_prune
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'When kinds that go when unused were last used; see expires_seconds of queue_define. (pyqueue_sql)';
--;
-- Which kinds get a copy of what is published. A pattern is found by its words before the first wildcard (head) and by
-- its last word (tail, empty where that is a wildcard), so that a publish looks at a few of them; of these LIKE finds
-- most that don't fit (sketch), since to read a regular expression takes long, and that decides (matcher).
create table if not exists queue_subscription (
    pattern                varchar(255) not null,
    p_kind                 varchar(100) not null,
    head                   varchar(255) not null,
    tail                   varchar(255) not null,
    sketch                 varchar(600) not null,
    matcher                varchar(3000) not null,
    subscribed_at          bigint not null,
    primary key (pattern, p_kind), -- serves: queue_subscribe, queue_unsubscribe
    key queue_subscription_words (head, tail), -- serves: queue_publish
    key queue_subscription_kind (p_kind) -- serves: queue_drop
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Which kinds get a copy of what is published; look at it through the view queue_subscriptions. (pyqueue_sql)';
--;
-- What is pushed again and again. A rule is a number of microseconds (every), or sets of the parts of a local time,
-- each a mask with a bit a value, and the zone that this is the time of: by name, or at so many seconds from UTC.
create table if not exists queue_recurring (
    name                   varchar(100) not null,
    p_kind                 varchar(100) not null,
    payload                json not null,
    push_options           json not null,
    rule                   json not null,
    every                  bigint,
    seconds                bigint,
    minutes                bigint,
    hours                  bigint,
    days                   bigint,
    months                 bigint,
    weekdays               bigint,
    either_day             boolean,
    zone                   varchar(64),
    zone_seconds           int,
    catch_up               varchar(10) not null,
    until_at               bigint,
    paused                 boolean not null,
    next_at                bigint,
    last_at                bigint,
    primary key (name), -- serves: queue_schedule, queue_unschedule
    key queue_recurring_next (paused, next_at) -- serves: queue_tick
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'What is pushed again and again; look at it through the view queue_schedules. (pyqueue_sql)';
--;
-- Groups: what is pushed once all of their members are done. Nothing here is updated by every call.
-- differs: turn is PostgreSQL's lock.
create table if not exists queue_group (
    group_name             varchar(100) not null,
    then_kind              varchar(100) not null,
    then_payload           json not null,
    then_key               varchar(200) not null,
    then_priority          smallint not null,
    then_delay             bigint not null,
    on_dead                varchar(10) not null,
    fail_kind              varchar(100),
    expected               bigint,
    closed                 boolean not null,
    keep_seconds           decimal(20,6) not null,
    created_at             bigint not null,
    finished_at            bigint,
    failed                 boolean not null default false,
    forget_at              bigint,
    checked_at             bigint not null default 0,
    checked_to             bigint not null default 0,
    turn                   bigint not null default 0
        comment 'As that of queue_group_stripe.',
    primary key (group_name), -- serves: queue_group, queue_push
    key queue_group_forget (forget_at), -- serves: queue_prune (what is past its time)
    key queue_group_checked (finished_at, checked_at) -- serves: queue_prune (members whose message has gone)
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Groups, and what follows them; look at it through the view queue_groups. (pyqueue_sql)';
--;
-- Whoever ends a member locks the stripe of it, one of 32, until its transaction ends. So the last one of a stripe sees
-- that it is, and only those look at the group as a whole. They stay until the group is forgotten: whoever finishes
-- a group has it locked, and others wait for that with a stripe of it in hand.
-- differs: turn is written to, so that nodes of a Galera cluster exclude one another: they don't see locks.
create table if not exists queue_group_stripe (
    group_name             varchar(100) not null,
    stripe                   smallint not null,
    turn                   bigint not null default 0
        comment 'Counted up, so that it is not only locked but written to.',
    primary key (group_name, stripe) -- serves: queue_ack
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'What is locked while members of a group end; internal. (pyqueue_sql)';
--;
-- Groups to be looked at: a transaction with a snapshot of its own can't see who else ends a member, so it leaves a
-- note, and whoever comes next with a newer snapshot looks whether all is done.
-- differs: a transaction has no number that all may read, so the writer is the session, and id tells its notes from one
-- another.
create table if not exists queue_group_due (
    group_name             varchar(100) not null,
    writer                 bigint not null,
    id                     bigint not null,
    primary key (group_name, writer) -- serves: queue_reserve, queue_wait, queue_heartbeat
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Groups of which all may be done; writer is the session that says so. Internal. (pyqueue_sql)';
--;
-- What happened in the kinds that have log_seconds, in the order of its positions. Only ever appended, and pruned by
-- age. Who appends has locked a row of queue_log_epoch before, by which readers know how far all is committed.
create table if not exists queue_log (
    position               bigint not null auto_increment,
    event                  varchar(10) not null,
    name                   varchar(255)
        comment 'What a pattern is compared with: the topic, or the kind of what was not published; NULL: a copy of what stands under the topic.',
    topic                  varchar(255),
    copy_of                bigint
        comment 'Of a copy, the position of what stands under the topic.',
    topic_only             boolean not null default false
        comment 'Whether it stands for its topic alone: the kind that it was logged for keeps it no longer, and p_kind has a copy.',
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
    key queue_log_topic (topic, copy_of, position) -- serves: queue_read (of a topic), queue_prune
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'The event log, see queue_read. Times are microseconds since 1970-01-01 UTC. (pyqueue_sql)';
--;
-- What transactions that append to the log hold a shared lock of, until they end: of the newest row that they see. All
-- of their positions come after its floor. The first one comes with the first kind that has a log, and stays.
-- differs: PostgreSQL has advisory locks for it.
create table if not exists queue_log_epoch (
    floor                  bigint not null,
    id                     bigint not null,
    primary key (floor, id) -- serves: queue_push, queue_read
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Up to where open transactions have not appended to the log; internal. (pyqueue_sql)';
--;
-- Up to which position the log was pruned, for each kind, name and event: appended by queue_prune, and folded. So a
-- reader is told of what it will never see.
create table if not exists queue_log_gone (
    p_kind                 varchar(100) not null,
    name                   varchar(255) not null,
    event                  varchar(10) not null,
    position               bigint not null,
    primary key (p_kind, name, event, position), -- serves: queue_read (of a kind)
    key queue_log_gone_name (name) -- serves: queue_read (of a topic)
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'What the log has no longer; internal. (pyqueue_sql)';
--;
-- Positions up to which all was known to be committed or undone, for those who can't find it out themselves: a snapshot
-- that has this row has all of that too. Appended, and folded.
create table if not exists queue_log_known (
    position               bigint not null,
    id                     bigint not null,
    noted_at               bigint not null,
    primary key (position, id) -- serves: queue_read
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'How far the log is complete; internal. (pyqueue_sql)';
--;
-- Who reads the log, what, and up to where it is done; looked: up to where there is none of its events behind that.
create table if not exists queue_reader (
    reader                 varchar(200) not null,
    name                   varchar(255) not null,
    matcher                varchar(3000),
    events                 varchar(100) not null,
    position               bigint not null,
    looked                 bigint not null default 0,
    created_at             bigint not null,
    primary key (reader) -- serves: queue_read, queue_read_ack
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Readers of the log; look at it through the view queue_readers. (pyqueue_sql)';
--;
-- The members of groups, each for as long as its group is remembered. A member is numbered as the entry that it was
-- pushed as.
create table if not exists queue_group_member (
    member                 bigint not null,
    group_name             varchar(100) not null,
    stripe                   smallint not null,
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    entry                  bigint not null,
    done_at                bigint,
    outcome                varchar(10),
    result                 longtext,
    error                  longtext,
    primary key (member), -- serves: queue_ack, queue_move
    key queue_group_member_open (group_name, stripe, done_at), -- serves: queue_ack (whether one is the last)
    key queue_group_member_group (group_name, member) -- serves: queue_groups, and the results of a group
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Members of groups; look at it through the view queue_groups. (pyqueue_sql)';
--;
-- The lines of order keys, each with its first message. Whoever puts a message into a line or ends its first locks its
-- row, until the transaction ends; it goes with the last message of the line.
-- differs: on PostgreSQL the messages themselves are locked, and a partial index knows the first of each line.
create table if not exists queue_order (
    p_kind                 varchar(100) not null,
    order_key              varchar(200) not null,
    first                  bigint not null,
    primary key (p_kind, order_key) -- serves: queue_push, queue_ack
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'The first message of each order key; internal. (pyqueue_sql)';
--;
-- The messages that wait in the lines of order keys, all but the first of each.
-- differs: on PostgreSQL this is a partial index of the messages; here it would cost all of them.
create table if not exists queue_order_waiting (
    p_kind                 varchar(100) not null,
    order_key              varchar(200) not null,
    entry                  bigint not null,
    primary key (p_kind, order_key, entry) -- serves: queue_ack (who comes next in a line), queue_peek
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Who waits in the lines of order keys; internal. (pyqueue_sql)';
--;
-- Semaphores: how many messages that name one may be held at once. Its row is locked while that changes.
-- differs: it isn't written then: a locking read sees what is committed, whatever the snapshot.
create table if not exists queue_semaphore (
    name                   varchar(100) not null,
    capacity               bigint not null,
    lowered                boolean not null default false
        comment 'The capacity was lowered: what is given back is counted.',
    primary key (name) -- serves: queue_push, queue_reserve, queue_ack
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Semaphores; look at them through the view queue_semaphores, change them through queue_semaphore. (pyqueue_sql)';
--;
-- The permits that are taken: by a message that is held, until its hold ends, or by one that stands in the ready line
-- and was told that there is room (until is the time of that, negated).
create table if not exists queue_semaphore_permit (
    entry                  bigint not null,
    name                   varchar(100) not null,
    until                  bigint,
    primary key (entry, name), -- serves: queue_ack, queue_extend
    key queue_semaphore_permit_name (name, until) -- serves: queue_reserve (how many are taken, whose hold has expired)
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Permits of semaphores that are taken; internal. (pyqueue_sql)';
--;
-- Who waits: each stands in the line of one semaphore that it lacks.
create table if not exists queue_semaphore_wait (
    entry                  bigint not null,
    name                   varchar(100) not null,
    p_kind                 varchar(100) not null,
    primary key (entry), -- serves: queue_ack, queue_push
    key queue_semaphore_wait_name (name, entry), -- serves: queue_ack (who is next)
    key queue_semaphore_wait_kind (p_kind, name, entry) -- serves: queue_reserve (what waits in a kind), queue_peek
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Messages in line for a semaphore; internal. (pyqueue_sql)';
--;
-- Slots for the messages that a kind with max_reserved may have held at once. A reserve locks the slots that it uses
-- until its transaction ends; in one is the delivery that took it last, as long as its message is held.
-- differs: the delivery stands in the row, because an update is in place here; PostgreSQL appends to
-- queue_claim.
create table if not exists queue_slot (
    p_kind                 varchar(100) not null,
    slot                   int not null,
    entry                  bigint,
    secret                 binary(16),
    primary key (p_kind, slot) -- serves: queue_reserve
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Slots for held messages of kinds with max_reserved; internal to queue_reserve. (pyqueue_sql)';
--;
-- The tokens of kinds with rate_per_second, in up to 16 parts, so that calls don't wait for one another. A part has a
-- token for each step of time between spent_at and now; to take some is to move spent_at on. Sessions take several
-- ahead where the rate is high, and so a part is updated about 20 times a second at the most.
create table if not exists queue_bucket (
    p_kind                 varchar(100) not null,
    part                   smallint not null,
    spent_at               bigint not null comment 'Until when the tokens of this part are spent, in nanoseconds.',
    primary key (p_kind, part) -- serves: queue_reserve, queue_pop
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Tokens of kinds with rate_per_second; internal to queue_reserve and queue_pop. (pyqueue_sql)';
--;
-- What the messages of kinds with a filter_index have in them: a row a value of payload or headers, hashed with its
-- path and the kind. A row of a message that has gone means nothing, since an entry number is used once, and is cleared
-- away by whoever finds it: so what ends a message needn't know of this table.
create table if not exists queue_term (
    entry                  bigint not null,
    term                   bigint not null,
    place                  bigint not null,
    primary key (entry, term), -- serves: queue_push (a replacement), queue_prune
    key queue_term_place (term, place, entry) -- serves: queue_reserve, queue_pop (those with a filter)
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'What the messages of kinds with a filter_index have in them, hashed; place is a time before which the message can''t be due. Internal. (pyqueue_sql)';
--;
-- What stands in front of the numbers that a run of a server gives out: see _queue_epoch. A row a run, and one for each
-- million of its numbers; only ever appended, and folded by queue_prune.
-- differs: PostgreSQL has sequences.
create table if not exists queue_epoch (
    epoch                  bigint not null
        comment 'The first part of the entry numbers; each is greater than all before it.',
    id                     bigint not null
        comment 'So that sessions that find out the same at the same time don''t wait for one another.',
    origin                 bigint not null
        comment 'UUID_SHORT() without its last 20 bits: the server''s id, when it was started, and which million.',
    began_at               bigint not null,
    primary key (epoch, id) -- serves: queue_push
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Which epoch the numbers of a server belong to; internal to _queue_epoch. (pyqueue_sql)';
--;
-- Every call reads this table first and so holds its metadata lock until it ends: whoever has it under LOCK TABLES …
-- WRITE can replace routines while no call is between two of them, and calls wait instead of failing.
-- differs: PostgreSQL replaces a routine in a transaction.
create table if not exists queue_gate (
    id int not null,
    primary key (id)
) engine = innodb row_format = dynamic collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Empty, for its metadata lock: calls pass it, an upgrade closes it while it replaces routines. (pyqueue_sql)';
