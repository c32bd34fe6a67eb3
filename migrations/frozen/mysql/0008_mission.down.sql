-- written by hand: the change of the tables
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
