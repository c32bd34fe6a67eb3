-- When holds end: appended by queue_reserve only while the beginning of the ready line is no longer looked at, because
-- a scan from there has become slow. Otherwise an expired hold is found in its place. A row is of one call, with its
-- entries; or of all that a session takes one by one from a place of the line on, for as long as the kind says, until
-- it notes the next place some two seconds later.
create table queue_hold (
    p_kind  text collate "C" not null,
    until   bigint not null,
    entries bigint[] not null,
    line    bigint[]
);
-- serves: queue_reserve (what has expired)
create index queue_hold_until on queue_hold (p_kind, until);
comment on column queue_hold.line is 'The place where a stretch of the ready line begins: rank (the priority, negated), ready_at, entry; NULL where entries says what is held.';
comment on table queue_hold is 'Ends of holds for sessions that keep a cursor; internal to queue_reserve and queue_pop. (pyqueue_sql)';
-- Without a primary key a table of a publication refuses to be deleted from.
alter table queue_hold replica identity full;
