-- written by hand: the change of the tables
drop view if exists queue_groups;
--;
drop procedure if exists queue_group;
--;
drop procedure if exists _queue_group;
--;
drop procedure if exists _queue_prune_groups;
--;
drop procedure if exists _queue_group_options;
--;
drop procedure if exists _queue_enrol;
--;
drop procedure if exists _queue_members_dead;
--;
drop procedure if exists _queue_members_end;
--;
drop procedure if exists _queue_group_check;
--;
drop procedure if exists _queue_follow;
--;
drop procedure if exists _queue_pushed;
--;
drop procedure if exists _queue_ack_each;
--;
drop procedure if exists _queue_check_ack;
--;
drop procedure if exists _queue_route;
--;
drop table if exists queue_group_member;
--;
drop table if exists queue_group_slot;
--;
drop table if exists queue_group;
--;
alter table queue_history
    drop column result;
--;
alter table delayed_queue
    drop column member,
    drop column route;
