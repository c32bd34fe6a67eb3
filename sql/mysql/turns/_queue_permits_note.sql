create procedure _queue_permits_note(in in_entries longtext, in in_names longtext)
    comment 'Notes that messages which name semaphores have ended or changed, for _queue_permits_end at the end of the
call.
in_entries: the entry of one, or a JSON array of them. in_names: their semaphores, a JSON array, without those of which
they have a permit already; NULL: none, and nothing is noted.
differs: on PostgreSQL most routines hand _queue_permits_settle what they have ended, so little is noted there.'
begin
    if in_names is not null then
        set @pyqueue_permit_entries = json_merge_preserve(convert(coalesce(@pyqueue_permit_entries,
            '[]') using utf8mb4), in_entries),
            @pyqueue_permit_names = json_merge_preserve(convert(coalesce(@pyqueue_permit_names, '[]') using utf8mb4),
            in_names);
    end if;
end;
