-- written by hand: the change of the tables
delete from queue_hint;
--;
insert into queue_count (p_kind, pushed, reserved)
select q.p_kind, count(*) - count(q.source_kind), count(q.reserved_at) from delayed_queue q group by q.p_kind;
--;
drop function _queue_reserve_many(queue_kind, integer, bigint, bigint, text, bytea);
--;
drop function _queue_pop_many(queue_kind, integer, bigint);
--;
drop function _queue_held(text, bigint, bigint[], bigint);
--;
drop function _queue_bounds_name(text);
--;
drop trigger queue_inbox on queue_inbox;
--;
drop function _queue_take_in();
--;
drop function _queue_landed(queue_inbox, bigint);
--;
drop function _queue_tidy(queue_kind, bigint, bigint);
--;
drop function _queue_ticks();
--;
drop function _queue_prune_by_the_way(text, bigint, bigint);
--;
drop function _queue_prune_kind(text, bigint, bigint);
--;
drop function _queue_fold_counts(bigint);
--;
drop function _queue_push(text, text, jsonb, bytea, jsonb);
--;
drop function _queue_take_back(bigint[], bigint);
--;
drop function _queue_is_remembered(text, text, bigint);
--;
drop function _queue_keep(delayed_queue, text, text, bigint);
--;
drop function _queue_ended(delayed_queue, text, text, bigint);
--;
drop function _queue_check_shape(jsonb);
--;
drop function _queue_check_fit(jsonb, jsonb, text);
--;
drop function _queue_misfit(jsonb, jsonb);
--;
drop table queue_inbox;
--;
drop table queue_dedup;
--;
drop table queue_history;
--;
drop index queue_kind_keeps;
--;
alter table queue_kind
    drop column payload_shape,
    drop column history_seconds,
    drop column dedup_seconds;
