-- calls: _queue_integer, _queue_text
-- changes: queue_write
create procedure _queue_stage_note(in in_query text collate exact, in in_batch bigint, in in_options longtext,
    in in_now bigint, in in_messages bigint, in in_pushed bigint, in in_differing bigint)
    comment 'Notes what came of a write, where it has a name.
in_query, in_batch: whose batch it is. in_options: job, and refused, of queue_stage_publish. in_now: the time of the
call. in_messages, in_pushed, in_differing: as in queue_stage_publish.
Errors: PQ002 for refused.
Locks: none.'
begin
    declare v_refused bigint;
    declare v_job text collate exact;
    call _queue_text(in_options, 'job', v_job);
    call _queue_integer(in_options, 'refused', 0, 9223372036854775807, v_refused);
    if coalesce(in_query, v_job) is not null then
        insert into queue_write (query, batch, job, written_at, messages, pushed, differing, refused)
        values (in_query, in_batch, left(v_job, 200), in_now, in_messages, in_pushed, in_differing,
            coalesce(v_refused, 0));
    end if;
end;
