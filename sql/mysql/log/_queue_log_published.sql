-- calls: _queue_log
drop procedure if exists _queue_log_published;
delimiter $$
create procedure _queue_log_published(in in_answer longtext character set utf8mb4, in in_key text collate exact,
    in in_on_duplicate varchar(20) character set utf8mb4, in in_topic text collate exact, in in_now bigint)
    comment 'Appends what a publish did to the log, for those of its kinds that have log_seconds: the first of them
stands under the topic, the others are its copies.
in_answer: see _queue_publish. in_on_duplicate: its option. The other parameters are those of queue_publish. in_now: the
time of the call.
Locks: as _queue_log_open.'
begin
    declare v_entry bigint;
    declare v_event varchar(10) character set utf8mb4;
    declare v_kind varchar(100) collate exact;
    declare v_first bigint;
    declare v_done boolean default false;
    declare c cursor for
        select q.p_kind, q.entry, if(j.outcome = 'created', 'pushed', 'replaced')
        from json_table(in_answer, '$[*]'
            columns (place for ordinality, p_kind varchar(100) collate exact path '$[0]',
            outcome varchar(10) character set utf8mb4 path '$[2]')) j
            straight_join queue_kind k on k.p_kind = j.p_kind and k.log_seconds > 0
            straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = j.p_kind and q.p_key = in_key
        where j.outcome = 'created' or j.outcome = 'replaced' and in_on_duplicate in ('replace', 'keep_time')
        order by j.outcome, j.place;
    open c;
    copies: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_kind, v_entry, v_event;
        end;
        if v_done then
            leave copies;
        end if;
        call _queue_log(v_entry, v_event, null, in_topic, v_first, in_now);
        if v_first is null then
            select l.position into v_first from queue_log l force index (queue_log_kind)
            where l.p_kind = v_kind and l.entry = v_entry order by l.position desc limit 1;
        end if;
    end loop;
    close c;
end $$
delimiter ;
