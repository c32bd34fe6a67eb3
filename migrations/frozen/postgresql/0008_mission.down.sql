-- written by hand: the change of the tables
-- Order keys; what waits in a line is to be delivered all the same
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
--;
-- semaphores
drop view queue_semaphores;
--;
drop function queue_semaphore(text, bigint);
--;
drop function _queue_slot_take(tid[], queue_kind, bigint, boolean, bigint);
--;
drop function _queue_slot_sweep(bigint);
--;
drop function _queue_slot_settle(bigint[], text[], boolean, bigint);
--;
drop function _queue_slot_room(text, boolean, bigint);
--;
drop function _queue_slot_ready(text, bigint);
--;
drop function _queue_slot_pushed(text, text[], text[], boolean, bigint);
--;
drop function _queue_slot_next(text, text, bigint, bigint);
--;
drop function _queue_slot_look(text, bigint, bigint);
--;
drop function _queue_slot_lock(text[], boolean);
--;
drop function _queue_semaphores(jsonb, jsonb);
--;
drop function _queue_reserve_slotted(queue_kind, integer, bigint, bigint, text, bytea, jsonb);
--;
drop function _queue_pop_slotted(queue_kind, integer, bigint, jsonb);
--;
drop function _queue_line_up(bigint[]);
--;
drop function _queue_extend_slotted(bigint[], bytea[], numeric, bigint);
--;
drop table queue_semaphore_wait;
--;
drop table queue_semaphore_slot;
--;
drop table queue_semaphore;
--;
alter table queue_kind
    drop column semaphores;
--;
alter table delayed_queue
    drop column semaphores;
--;
-- limits
drop function _queue_reserve_limited(queue_kind, integer, bigint, bigint, text, bytea, jsonb);
--;
drop function _queue_reserve_next(queue_kind, bigint, bigint, text, bytea);
--;
drop function _queue_pop_limited(queue_kind, integer, bigint, jsonb);
--;
drop function _queue_tokens(queue_kind, integer, bigint, bigint[]);
--;
drop function _queue_lease(text, numeric, integer, integer, bigint, bigint);
--;
drop function _queue_claim(text, integer[], bigint[], text[], bigint);
--;
drop function _queue_slots(text, integer, integer, integer, bigint);
--;
drop function _queue_slots_free(text, integer[], bigint);
--;
drop function _queue_define_limits(queue_kind, jsonb, bigint);
--;
drop function _queue_limited_until(queue_kind, bigint);
--;
drop function _queue_limits_name(text);
--;
drop function _queue_freed(text);
--;
drop table queue_bucket;
--;
drop table queue_claim;
--;
drop table queue_slot;
--;
drop index queue_kind_keeps;
--;
alter table queue_kind
    drop column rate_per_second,
    drop column max_reserved;
--;
create index queue_kind_keeps on queue_kind (p_kind) where history_seconds > 0 or dedup_seconds > 0;
--;
-- filters
drop function _queue_define_filter(text, boolean);
--;
drop function _queue_prune_terms(bigint);
--;
drop function _queue_reserve_some(queue_kind, integer, bigint, bigint, text, bytea, jsonb);
--;
drop function _queue_pop_some(queue_kind, integer, bigint, jsonb);
--;
drop function _queue_take_where(queue_kind, integer, bigint, jsonb);
--;
drop function _queue_find_terms(text, integer, bigint, jsonb, bigint[]);
--;
drop function _queue_enter(tid[], boolean, bigint);
--;
drop function _queue_forget_terms(bigint[]);
--;
drop function _queue_index_keys(text, text[], text[]);
--;
drop function _queue_index(bigint[]);
--;
drop function _queue_terms(text, jsonb);
--;
drop function _queue_where(jsonb);
--;
drop table queue_term;
--;
alter table queue_kind
    drop column filter_index;
