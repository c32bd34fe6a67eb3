-- written by hand: the change of the tables
alter table queue_hold drop column line;
--;
alter table queue_hold replica identity default;
--;
alter table queue_count replica identity default;
