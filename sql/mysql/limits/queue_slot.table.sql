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
) engine = innodb row_format = dynamic collate exact
    comment 'Slots for held messages of kinds with max_reserved; internal to queue_reserve. (pyqueue_sql)';
