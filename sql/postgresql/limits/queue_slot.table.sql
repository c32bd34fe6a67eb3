-- Slots for the messages that a kind with max_reserved may have held at once. A reserve locks the slots that it uses
-- until its transaction ends; what stands in one says queue_claim, so that no row is updated by each reserve.
create table queue_slot (
    p_kind  text collate "C" not null,
    slot    integer not null,
    kept    bigint not null default 0,
    kept_at bigint not null default 0,
    constraint queue_slot_pkey primary key (p_kind, slot)           -- serves: queue_reserve
) with (fillfactor = 50);
comment on table queue_slot is 'Slots for held messages of kinds with max_reserved; internal to queue_reserve. (pyqueue_sql)';
comment on column queue_slot.kept is 'The claims of this slot before this number are removed.';
comment on column queue_slot.kept_at is 'When they were.';
