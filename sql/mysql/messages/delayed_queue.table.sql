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
) engine = innodb row_format = dynamic collate exact
    comment 'Messages that wait, are ready or are held, keyed by (p_kind, p_key). Times are microseconds since 1970-01-01 UTC. Look at it through the view queue_messages; change it through the routines queue_…. (pyqueue_sql)';
