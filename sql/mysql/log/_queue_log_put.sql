-- calls: _queue_log
drop procedure if exists _queue_log_put;
delimiter $$
create procedure _queue_log_put(in in_kind text collate exact, in in_key text collate exact,
    in in_outcome varchar(10) character set utf8mb4, in in_on_duplicate varchar(20) character set utf8mb4,
    in in_now bigint)
    comment 'Appends what a push did to the log, where the kind has log_seconds: pushed, or replaced where its content
is new. What is held back by a hold comes when it is put in.
in_kind, in_key: the message. in_outcome: of the push. in_on_duplicate: its option. in_now: the time of the call.
Locks: as _queue_log_open.'
begin
    declare v_entry bigint;
    if in_outcome = 'created' or in_outcome = 'replaced' and in_on_duplicate in ('replace', 'keep_time') then
        select min(q.entry) into v_entry
        from queue_kind k join delayed_queue q on q.p_kind = k.p_kind and q.p_key = in_key
        where k.p_kind = in_kind and k.log_seconds > 0;
        if v_entry is not null then
            call _queue_log(v_entry, if(in_outcome = 'created', 'pushed', 'replaced'), null, null, null, in_now);
        end if;
    end if;
end $$
delimiter ;
