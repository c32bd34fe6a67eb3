-- written by hand: the change of the tables
-- limits
drop function _queue_reserve_limited(queue_kind, integer, bigint, bigint, text, bytea);
--;
drop function _queue_reserve_next(queue_kind, bigint, bigint, text, bytea);
--;
drop function _queue_pop_limited(queue_kind, integer, bigint);
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
