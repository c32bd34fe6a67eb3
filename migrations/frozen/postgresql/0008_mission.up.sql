-- written by hand: the change of the tables
-- Order keys
alter table delayed_queue
    add column order_key text collate "C",
    add column order_waits boolean,
    add column source_order_key text collate "C";
--;
-- serves: queue_push (who is first in a line; it is one at a time)
create unique index delayed_queue_first on delayed_queue (p_kind, order_key) where order_key is not null and order_waits is null;
--;
-- serves: queue_ack (who comes next in a line), queue_peek
create index delayed_queue_line on delayed_queue (p_kind, order_key, entry) where order_waits;
--;
comment on column delayed_queue.order_key is 'Messages of the same one come one at a time, in the order of their entries; NULL: it stands in no such line.';
--;
comment on column delayed_queue.order_waits is 'Whether one before it in the line of its order key is still there: it has no place and no date until then; NULL: none.';
--;
comment on column delayed_queue.source_order_key is 'A dead letter: the order key it had there.';
