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
--;
-- semaphores
drop view if exists queue_semaphores;
--;
drop procedure if exists queue_semaphore;
--;
drop procedure if exists _queue_semaphore;
--;
drop procedure if exists _queue_extend_slotted;
--;
drop procedure if exists _queue_take_slotted;
--;
drop procedure if exists _queue_slot_take;
--;
drop procedure if exists _queue_follow_slots;
--;
drop procedure if exists _queue_line_up;
--;
drop procedure if exists _queue_slot_sweep;
--;
drop procedure if exists _queue_slot_ready;
--;
drop procedure if exists _queue_slot_look;
--;
drop procedure if exists _queue_slot_end;
--;
drop procedure if exists _queue_slot_note;
--;
drop procedure if exists _queue_slot_settle;
--;
drop procedure if exists _queue_slot_next;
--;
drop procedure if exists _queue_slot_lacks;
--;
drop procedure if exists _queue_slot_room;
--;
drop procedure if exists _queue_slot_lock;
--;
drop procedure if exists _queue_semaphores;
--;
drop table if exists queue_semaphore_wait;
--;
drop table if exists queue_semaphore_slot;
--;
drop table if exists queue_semaphore;
--;
alter table queue_kind
    drop column semaphores;
--;
alter table delayed_queue
    drop column semaphores;
--;
-- limits
drop procedure if exists _queue_limited_until;
--;
drop procedure if exists _queue_permit_used;
--;
drop procedure if exists _queue_permit;
--;
drop procedure if exists _queue_lease;
--;
drop procedure if exists _queue_claim;
--;
drop procedure if exists _queue_slots;
--;
drop procedure if exists _queue_slots_free;
--;
drop procedure if exists _queue_define_limits;
--;
drop table if exists queue_bucket;
--;
drop table if exists queue_place;
--;
alter table queue_kind
    drop column rate_per_second,
    drop column max_reserved;
--;
-- filters
drop procedure if exists _queue_peek_where;
--;
drop procedure if exists _queue_take_filtered;
--;
drop procedure if exists _queue_take_where;
--;
drop procedure if exists _queue_find_terms;
--;
drop procedure if exists _queue_try;
--;
drop procedure if exists _queue_look_terms;
--;
drop procedure if exists _queue_look_due;
--;
drop procedure if exists _queue_look_line;
--;
drop procedure if exists _queue_define_filter;
--;
drop procedure if exists _queue_prune_terms;
--;
drop procedure if exists _queue_forget_terms;
--;
drop procedure if exists _queue_index_all;
--;
drop procedure if exists _queue_index;
--;
drop procedure if exists _queue_matches;
--;
drop procedure if exists _queue_first_of;
--;
drop procedure if exists _queue_where;
--;
drop procedure if exists _queue_leaves;
--;
drop table if exists queue_term;
--;
alter table queue_kind
    drop column filter_index;
