-- written by hand: the change of the tables
-- The expression of a CHECK is parsed anew in each statement, 13 µs of a push's 120
-- squawk-ignore ban-drop-constraint -- the routines see to it
alter table delayed_queue drop constraint delayed_queue_one_payload;
--;
-- Order keys
alter table delayed_queue
    add column order_key text collate "C",
    add column order_waits boolean,
    add column source_order_key text collate "C";
--;
-- serves: queue_push (who is first in a line; it is one at a time)
-- squawk-ignore require-concurrent-index-creation -- nothing is in it yet
create unique index delayed_queue_first on delayed_queue (p_kind, order_key) where order_key is not null and order_waits is null;
--;
-- serves: queue_ack (who comes next in a line), queue_peek
-- squawk-ignore require-concurrent-index-creation -- nothing is in it yet
create index delayed_queue_line on delayed_queue (p_kind, order_key, entry) where order_waits;
--;
comment on column delayed_queue.order_key is 'Messages of the same one come one at a time, in the order of their entries; NULL: it stands in no such line.';
--;
comment on column delayed_queue.order_waits is 'Whether one before it in the line of its order key is still there: it has no place and no date until then; NULL: none.';
--;
comment on column delayed_queue.source_order_key is 'A dead letter: the order key it had there.';
--;
-- semaphores
alter table delayed_queue
    add column semaphores text[] collate "C";
--;
comment on column delayed_queue.semaphores is 'The semaphores that it needs a slot of to be delivered, in order; NULL: none.';
--;
-- Semaphores: how many messages that name one may be held at once. Its row is locked while that changes, and written, so that an
-- old snapshot can't miss it.
create table queue_semaphore (
    name     text collate "C" constraint queue_semaphore_pkey primary key,  -- serves: queue_push, queue_reserve, queue_ack
    capacity bigint not null
) with (fillfactor = 50);
--;
comment on table queue_semaphore is 'Semaphores; look at them through the view queue_semaphores, change them through queue_semaphore.';
--;
-- The slots that are taken: by a message that is held, until its hold ends, or by one that stands in the ready line and was told
-- that there is room (until is the time of that, negated).
create table queue_semaphore_slot (
    entry bigint not null,
    name  text collate "C" not null,
    until bigint,
    constraint queue_semaphore_slot_pkey primary key (entry, name)  -- serves: queue_ack, queue_extend
);
--;
-- serves: queue_reserve (how many are taken, whose hold has expired)
create index queue_semaphore_slot_name on queue_semaphore_slot (name, until);
--;
comment on table queue_semaphore_slot is 'Slots of semaphores that are taken; internal.';
--;
-- Who waits: each stands in the line of one semaphore that it lacks.
create table queue_semaphore_wait (
    entry  bigint constraint queue_semaphore_wait_pkey primary key,  -- serves: queue_ack, queue_push
    name   text collate "C" not null,
    p_kind text collate "C" not null
);
--;
-- serves: queue_ack (who is next)
create index queue_semaphore_wait_name on queue_semaphore_wait (name, entry);
--;
-- serves: queue_reserve (what waits in a kind), queue_peek
create index queue_semaphore_wait_kind on queue_semaphore_wait (p_kind, name, entry);
--;
comment on table queue_semaphore_wait is 'Messages in line for a semaphore; internal.';
--;
-- limits
-- Places for the messages that a kind with max_reserved may have held at once. A reserve locks the places that it uses until its
-- transaction ends; what stands in one says queue_claim, so that no row is updated by each reserve.
create table queue_slot (
    p_kind  text collate "C" not null,
    slot    integer not null,
    kept    bigint not null default 0,
    kept_at bigint not null default 0,
    constraint queue_slot_pkey primary key (p_kind, slot)           -- serves: queue_reserve
) with (fillfactor = 50);
--;
comment on table queue_slot is 'Places for held messages of kinds with max_reserved; internal to queue_reserve.';
--;
comment on column queue_slot.kept is 'The claims of this place before this number are removed.';
--;
comment on column queue_slot.kept_at is 'When they were.';
--;
-- Which delivery has a place of queue_slot: the newest one does, as long as its message is held. Only ever appended and
-- deleted, and read from the newest on, so that what died under an old snapshot is in nobody's way. The number is what two who took
-- a place with old snapshots would both give.
create table queue_claim (
    p_kind text collate "C" not null,
    slot   integer not null,
    number bigint not null,
    entry  bigint not null,
    secret bytea not null,
    constraint queue_claim_pkey primary key (p_kind, slot, number)  -- serves: queue_reserve
);
--;
comment on table queue_claim is 'Deliveries of kinds with max_reserved; internal to queue_reserve.';
--;
-- The tokens of kinds with rate_per_second, in up to 16 parts, so that calls don't wait for one another. A part has a token for
-- each step of time between spent_at and now; to take some is to move spent_at on. Sessions take several ahead where the rate is high, and so
-- a part is updated about 20 times a second at the most.
create table queue_bucket (
    p_kind   text collate "C" not null,
    part     smallint not null,
    spent_at bigint not null,
    constraint queue_bucket_pkey primary key (p_kind, part)         -- serves: queue_reserve, queue_pop
) with (fillfactor = 20);
--;
comment on table queue_bucket is 'Tokens of kinds with rate_per_second; internal to queue_reserve and queue_pop.';
--;
comment on column queue_bucket.spent_at is 'Until when the tokens of this part are spent, in nanoseconds.';
--;
-- filters
-- What the messages of kinds with a filter_index have in them: a row a value of payload or headers, hashed with its path and the kind.
-- A row of a message that has gone means nothing, since an entry number is used once, and is cleared away by whoever finds it: so
-- what ends a message needn't know of this table.
create table queue_term (
    entry bigint not null,
    term  bigint not null,
    place bigint not null,
    constraint queue_term_pkey primary key (entry, term)  -- serves: queue_push (a replacement), queue_prune
);
--;
-- serves: queue_reserve, queue_pop (those with a filter)
create index queue_term_place on queue_term (term, place, entry);
--;
comment on table queue_term is 'What the messages of kinds with a filter_index have in them, hashed; place is a time before which the message can''t be due. Internal.';
--;
-- streams
-- What happened in the kinds that have log_seconds, in the order of its positions. Only ever appended, and pruned by age. Who appends
-- holds an advisory lock that says from which position on its rows may come (_queue_log_open), by which readers know how far all
-- is committed.
create table queue_log (
    position      bigint generated by default as identity constraint queue_log_pkey primary key,  -- serves: queue_read (of a pattern)
    event         text collate "C" not null,
    name          text collate "C",
    topic         text collate "C",
    p_kind        text collate "C" not null,
    p_key         text collate "C" not null,
    entry         bigint not null,
    to_kind       text collate "C",
    payload       jsonb,
    payload_bytes bytea,
    headers       jsonb,
    created_at    bigint not null
);
--;
-- serves: queue_read (of a kind), queue_prune
create index queue_log_kind on queue_log (p_kind, position);
--;
-- serves: queue_read (of a topic)
create index queue_log_topic on queue_log (name, position) where topic is not null;
--;
comment on table queue_log is 'The event log, see queue_read. Times are microseconds since 1970-01-01 UTC.';
--;
comment on column queue_log.name is 'What a pattern is compared with: the topic, or the kind of what was not published; NULL: a copy of what stands before it under the topic.';
--;
-- Up to which position the log was pruned, for each kind, name and event: appended by queue_prune, and folded. So a reader is told of
-- what it will never see.
create table queue_log_gone (
    p_kind   text collate "C" not null,
    name     text collate "C" not null,
    event    text collate "C" not null,
    position bigint not null,
    constraint queue_log_gone_pkey primary key (p_kind, name, event, position)  -- serves: queue_read (of a kind)
);
--;
-- serves: queue_read (of a topic)
create index queue_log_gone_name on queue_log_gone (name);
--;
comment on table queue_log_gone is 'What the log has no longer; internal.';
--;
-- Positions up to which all was known to be committed or undone, for those who can't find it out themselves: a snapshot that has this
-- row has all of that too. Appended, and folded.
create table queue_log_known (
    position bigint not null,
    id       bigint generated by default as identity,
    constraint queue_log_known_pkey primary key (position, id)  -- serves: queue_read
);
--;
comment on table queue_log_known is 'How far the log is complete; internal.';
--;
-- Who reads the log, what, and up to where it is done.
create table queue_reader (
    reader     text collate "C" constraint queue_reader_pkey primary key,  -- serves: queue_read, queue_read_ack
    name       text collate "C" not null,
    matcher    text collate "C",
    events     text collate "C" not null,
    position   bigint not null,
    created_at bigint not null
);
--;
comment on table queue_reader is 'Readers of the log; look at it through the view queue_readers.';
