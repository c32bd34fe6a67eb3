-- written by hand: the change of the tables
-- limits
alter table queue_kind
    add column max_reserved int,
    add column rate_per_second decimal(20,6),
    algorithm = instant;
--;
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
