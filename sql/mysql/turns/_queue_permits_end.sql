-- calls: _queue_permits_hand_over, _queue_permits_settle, queue_now
create procedure _queue_permits_end()
    comment 'The end of a call that has noted messages with semaphores: frees their permits and wakes who is next.
Locks: those of _queue_permits_settle.
differs: see _queue_permits_note.'
begin
    declare v_now bigint;
    declare v_done boolean default false;
    declare v_entries longtext character set utf8mb4 default @pyqueue_permit_entries;
    declare v_names longtext character set utf8mb4 default @pyqueue_permit_names;
    set @pyqueue_permit_entries = null, @pyqueue_permit_names = null;
    call queue_now(v_now);
    if @pyqueue_own and @pyqueue_permit_held is null and json_length(v_entries) = 1 and json_length(v_names) = 1 then
        call _queue_permits_hand_over(json_extract(v_entries, '$[0]'), json_unquote(json_extract(v_names, '$[0]')),
            v_now, v_done);
    end if;
    if not v_done then
        call _queue_permits_settle(v_entries, v_names, @pyqueue_permit_held is null, v_now);
    end if;
    set @pyqueue_permit_held = null;
end;
