-- written by hand: the change of the tables
-- limits
alter table queue_kind
    add column max_reserved integer,
    add column rate_per_second numeric;
--;
drop index queue_kind_keeps;
--;
-- serves: queue_ack_many, queue_pop, queue_purge (is there anything to keep, or anybody to tell?)
create index queue_kind_keeps on queue_kind (p_kind) where history_seconds > 0 or dedup_seconds > 0 or max_reserved is not null;
--;
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
