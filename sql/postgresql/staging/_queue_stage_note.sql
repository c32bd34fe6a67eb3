-- calls: _queue_integer, _queue_text
-- changes: queue_write
create or replace function _queue_stage_note(in_query text, in_batch bigint, in_options jsonb, in_now bigint,
    in_messages bigint, in_pushed bigint, in_differing bigint) returns void language plpgsql as $$
declare
    v_job constant text := _queue_text(in_options, 'job');
begin
    if coalesce(in_query, v_job) is not null then
        insert into queue_write (query, batch, job, written_at, messages, pushed, differing, refused)
        values (in_query, in_batch, v_job, in_now, in_messages, in_pushed, in_differing,
            coalesce(_queue_integer(in_options, 'refused', 0::bigint, 9223372036854775807), 0));
    end if;
end $$;

comment on function _queue_stage_note(text, bigint, jsonb, bigint, bigint, bigint, bigint) is
$$Notes what came of a write, where it has a name.
in_query, in_batch: whose batch it is. in_options: job, and refused, of queue_stage_publish. in_now: the time of the
call. in_messages, in_pushed, in_differing: as in queue_stage_publish.
Errors: PQ002 for refused.
Locks: none.$$;
