-- written by hand: the change of the tables
-- Order keys; what waits in a line is to be delivered all the same
drop procedure if exists _queue_stand_batch;
--;
drop procedure if exists _queue_stand;
--;
drop procedure if exists _queue_advance_each;
--;
drop procedure if exists _queue_advance;
--;
drop procedure if exists _queue_order_key;
--;
drop table if exists queue_order_waiting;
--;
drop table if exists queue_order;
--;
update delayed_queue q set q.due_at = q.scheduled_at, q.order_waits = null where q.order_waits;
--;
alter table delayed_queue
    drop column source_order_key,
    drop column order_waits,
    drop column order_key;
