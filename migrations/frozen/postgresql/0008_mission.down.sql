-- written by hand: the change of the tables
-- Order keys; what waits in a line is to be delivered all the same
drop function _queue_lock_batch(text, jsonb, jsonb);
--;
drop function _queue_stand_batch(text, jsonb, jsonb, text[], text[]);
--;
drop function _queue_push_ordered(text, jsonb, jsonb, bigint);
--;
drop function _queue_put_ordered(text, text, jsonb, bytea, jsonb, smallint, bigint, bigint, integer, integer, text, text);
--;
drop function _queue_stand(bigint[], text[], boolean);
--;
drop function _queue_line(text, text[], text[], boolean, boolean);
--;
drop function _queue_advance(text[], text[], bigint);
--;
drop function _queue_with_next(bigint[]);
--;
drop function _queue_order_key(jsonb, jsonb);
--;
drop index delayed_queue_first;
--;
update delayed_queue q set due_at = q.scheduled_at, order_waits = null where q.order_waits;
--;
alter table delayed_queue
    drop column source_order_key,
    drop column order_waits,
    drop column order_key;
