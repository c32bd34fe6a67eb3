drop procedure if exists _queue_is_remembered;
delimiter $$
create procedure _queue_is_remembered(in in_kind text collate exact, in in_key text collate exact, in in_since bigint,
    out out_remembered boolean)
    comment 'Whether a message of that key has ended so lately that a push of it is ignored.
in_kind, in_key: the message. in_since: how long ago that matters, a time in microseconds.
out_remembered: the result.
Locks: the key in the memory, where it is there.
differs: a locking read, which sees what is committed, in an old snapshot too.'
begin
    declare v_ended_at bigint;
    select max(d.ended_at) into v_ended_at from queue_dedup d
        where d.p_kind = in_kind and d.p_key = in_key lock in share mode;
    set out_remembered = coalesce(v_ended_at > in_since, false);
end $$
delimiter ;
