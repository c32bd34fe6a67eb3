drop procedure if exists _queue_permits_note;
delimiter $$
create procedure _queue_permits_note(in in_entry bigint, in in_names longtext character set utf8mb4)
    comment 'Notes that a message which names semaphores has ended or changed, for _queue_permits_end at the end of the
call.
in_entry: the message. in_names: its semaphores, a JSON array; NULL: none, and nothing is noted.
differs: on PostgreSQL each routine calls _queue_permits_settle at its end.'
begin
    if in_names is not null then
        set @pyqueue_permit_entries = json_array_append(convert(coalesce(@pyqueue_permit_entries, '[]') using utf8mb4),
            '$', in_entry + 0), @pyqueue_permit_names = json_merge_preserve(convert(coalesce(@pyqueue_permit_names,
            '[]') using utf8mb4), in_names);
    end if;
end $$
delimiter ;
