-- calls: _queue_slot_hand_over, _queue_slot_settle, queue_now
drop procedure if exists _queue_slot_end;
delimiter $$
create procedure _queue_slot_end()
    comment 'The end of a call that has noted messages with semaphores: frees their slots and wakes who is next.
Locks: those of _queue_slot_settle.
differs: see _queue_slot_note.'
begin
    declare v_now bigint;
    declare v_done boolean default false;
    declare v_entries longtext character set utf8mb4 default @pyqueue_slot_entries;
    declare v_names longtext character set utf8mb4 default @pyqueue_slot_names;
    set @pyqueue_slot_entries = null, @pyqueue_slot_names = null;
    call queue_now(v_now);
    if @pyqueue_own and @pyqueue_slot_held is null and json_length(v_entries) = 1 and json_length(v_names) = 1 then
        call _queue_slot_hand_over(json_extract(v_entries, '$[0]'), json_unquote(json_extract(v_names, '$[0]')), v_now,
            v_done);
    end if;
    if not v_done then
        call _queue_slot_settle(v_entries, v_names, @pyqueue_slot_held is null, v_now);
    end if;
    set @pyqueue_slot_held = null;
end $$
delimiter ;
