-- written by hand: the change of the tables
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
drop function _queue_reserve_slotted(queue_kind, integer, bigint, bigint, text, bytea);
--;
drop function _queue_pop_slotted(queue_kind, integer, bigint);
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
