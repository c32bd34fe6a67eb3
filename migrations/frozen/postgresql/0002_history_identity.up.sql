-- written by hand: the change of the tables
delete from queue_hint;
--;
alter table queue_hold add column line bigint[];
--;
comment on column queue_hold.line is 'The place where a stretch of the ready line begins: rank (the priority, negated), ready_at, entry; NULL where entries says what is held.';
--;
alter table queue_hold replica identity full;
--;
alter table queue_count replica identity full;
