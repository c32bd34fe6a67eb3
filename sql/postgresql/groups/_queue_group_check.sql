-- calls: _queue_permits_note, _queue_put
-- changes: queue_group
create or replace function _queue_group_check(in_group text, in_now bigint) returns void language plpgsql as $$
declare
    v_group queue_group;
    v_kind text;
    v_failed boolean;
    v_row delayed_queue;
    v_put record;
begin
    -- + 0: ADR 13
    select g.* into v_group from queue_group g where g.group_name = in_group and g.finished_at + 0 is null for update;
    if not found then
        return;
    end if;
    v_failed := v_group.on_dead = 'fail' and exists (
        select from queue_group_member m where m.group_name = in_group and m.outcome = 'dead');
    if not v_failed and (exists (select from queue_group_member m where m.group_name = in_group and m.done_at is null)
        or not (v_group.closed or coalesce(v_group.expected <= (
            select count(*) from queue_group_member m where m.group_name = in_group), false)))
    then
        return;
    end if;
    update queue_group g
    set finished_at = in_now, failed = v_failed, forget_at = in_now + (g.keep_seconds * 1000000)::bigint
    where g.group_name = in_group;
    v_kind := case when v_failed then v_group.fail_kind else v_group.then_kind end;
    if v_kind is not null then
        v_row.p_kind := v_kind;
        v_row.p_key := v_group.then_key;
        v_row.payload := v_group.then_payload || jsonb_build_object('results', coalesce((
            select jsonb_agg(jsonb_build_object('kind', m.p_kind, 'key', m.p_key, 'outcome', m.outcome)
                || case when m.result is not null then jsonb_build_object('result', m.result) else '{}' end
                || case when m.error is not null then jsonb_build_object('error', m.error) else '{}' end
                    order by m.member)
            from queue_group_member m where m.group_name = in_group and m.done_at is not null), '[]'));
        v_row.priority := v_group.then_priority;
        v_row.scheduled_at := in_now + v_group.then_delay;
        v_row.attempts := 0;
        v_put := _queue_put(v_row, 'replace', null::bigint, in_now);
        perform _queue_permits_note(array[v_put.entry]) where v_put.waits_for is not null;
    end if;
end $$;

comment on function _queue_group_check(text, bigint) is
$$Finishes a group where all is done, or where it has failed: pushes what follows it.
in_group: the group. in_now: the time of the call.
Locks: the group, and where it finishes the message that has the key of the continuation. Where that waits for
semaphores, the call's _queue_permits_settle sees to it, or the next _queue_permits_sweep.$$;
