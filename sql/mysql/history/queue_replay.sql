-- calls: _queue_replay
drop procedure if exists queue_replay;
delimiter $$
create procedure queue_replay(in in_kind text collate exact, in in_filter longtext character set utf8mb4)
    comment 'Puts what a kind keeps in queue_history back, as new entries with attempts 0 that are ready now, in the
order in which they had ended.
in_kind: the kind whose history it is.
in_filter: which of it, all conditions together.
- outcome: how it ended. Allowed: acked, popped, moved, dead, removed. Default: any.
- p_key: its key. Allowed: 1 to 200 characters. Default: any.
- from: when it ended, from this time on. Allowed: as scheduled_at of queue_push. Default: the oldest.
- to: when it ended, before this time. Allowed: as scheduled_at of queue_push. Default: the newest.
- limit: how many, the oldest first. For more go on by from and to. Allowed: 1 to 10000. Default: 1000.
- to_kind: where it goes. Allowed: a kind, 1 to 100 characters. Default: the kind itself.
Result: went: how many; stayed: how many whose key is taken there, or that a newer one of their key went instead of. A
key that is only remembered (dedup_seconds) doesn''t hinder it. What isn''t of the payload_shape there is dead at the
next reserve.
Errors: PQ001 for kind and to_kind, PQ002 for filter, PQ004 where the target is drained.
Locks: none; keys are put in in their order.'
begin
    declare v_went, v_looked bigint;
    begin atomic
        call _queue_replay(in_kind, in_filter, v_went, v_looked);
    end atomic;
    select v_went as went, v_looked - v_went as stayed;
end $$
delimiter ;
