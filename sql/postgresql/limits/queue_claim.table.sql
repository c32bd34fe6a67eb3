-- Which delivery has a slot of queue_slot: the newest one does, as long as its message is held. Only ever appended and
-- deleted, and read from the newest on, so that what died under an old snapshot is in nobody's way. The number is what
-- two who took a slot with old snapshots would both give.
create table queue_claim (
    p_kind text collate "C" not null,
    slot   integer not null,
    number bigint not null,
    entry  bigint not null,
    secret bytea not null,
    constraint queue_claim_pkey primary key (p_kind, slot, number)  -- serves: queue_reserve
);
comment on table queue_claim is 'Deliveries of kinds with max_reserved; internal to queue_reserve. (pyqueue_sql)';
