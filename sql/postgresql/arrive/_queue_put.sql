-- calls: _queue_index, _queue_line_up, _queue_log, _queue_put_onto, _queue_take_back, _queue_wake
-- changes: delayed_queue, queue_group_member
create or replace function _queue_put(in_row delayed_queue, in_on_duplicate text, in_since bigint, in_now bigint,
    out entry bigint, out scheduled_at bigint, out outcome text, out waits_for text[]) language plpgsql as $$
declare
    v_asks boolean; v_filter boolean; v_logs boolean;
begin
    if in_since is not null then -- apart: a kind without a memory doesn't pay for it
        if coalesce((
            select d.ended_at from queue_dedup d
            where d.p_kind = in_row.p_kind and d.p_key = in_row.p_key) > in_since, false) then
            outcome := 'ignored'; -- also where it came back, by a move, say
            select q.scheduled_at into scheduled_at from delayed_queue q
            where q.p_kind = in_row.p_kind and q.p_key = in_row.p_key;
            return;
        end if;
    end if;
    while outcome is null loop
        insert into delayed_queue as q (p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at, route, member, order_key,
            order_waits, semaphores)
        values (in_row.p_kind, in_row.p_key, in_row.payload, in_row.payload_bytes, in_row.headers, in_row.priority,
            in_row.scheduled_at, in_row.scheduled_at, in_now, in_row.attempts, in_row.max_attempts,
            case when in_row.scheduled_at <= in_now and num_nonnulls(in_row.order_waits, in_row.semaphores) = 0
                then in_row.scheduled_at end,
            case when in_row.scheduled_at > in_now and in_row.order_waits is null then in_row.scheduled_at end,
            in_row.route, in_row.member, in_row.order_key, in_row.order_waits, in_row.semaphores)
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry, q.scheduled_at, 'created', (
            select k.filter_index or k.log_seconds > 0 from queue_kind k where k.p_kind = q.p_kind)
        into entry, scheduled_at, outcome, v_asks;
        if outcome is null and in_on_duplicate = 'ignore' then
            select q.scheduled_at into scheduled_at from delayed_queue q
            where q.p_kind = in_row.p_kind and q.p_key = in_row.p_key;
            outcome := 'ignored';
        elsif outcome is null then -- NULL again: it went away in between, so that it can be put in now
            select o.* into entry, scheduled_at, outcome, waits_for
            from _queue_put_onto(in_row, in_on_duplicate, in_now) o;
        end if;
    end loop;
    if outcome = 'created' then
        perform _queue_wake(in_row.p_kind, in_row.p_key);
        if in_since is not null and _queue_take_back(array[entry], in_now) <> '{}' then
            entry := null;
            scheduled_at := null;
            outcome := 'ignored';
        end if;
    end if;
    if outcome not in ('created', 'replaced') then
        return;
    end if;
    if v_asks or outcome = 'replaced' then
        select k.filter_index, k.log_seconds > 0 into v_filter, v_logs from queue_kind k
        where k.p_kind = in_row.p_kind;
    end if;
    if v_filter then
        perform _queue_index(array[entry]);
    end if;
    if outcome = 'created' and in_row.semaphores is not null then
        waits_for := coalesce(_queue_line_up(array[entry]), '{}');
    end if;
    if outcome = 'created' and in_row.member is not null then -- + 0: ADR 13
        update queue_group_member m set entry = _queue_put.entry, error = null
        where m.member = in_row.member and m.done_at + 0 is null;
    end if;
    if v_logs and (outcome = 'created' or in_on_duplicate in ('replace', 'keep_time')) then
        perform _queue_log(array[entry], array[replace(outcome, 'created', 'pushed')], null::text, in_now);
    end if;
end $$;

comment on function _queue_put(delayed_queue, text, bigint, bigint) is
$$Puts one message into a kind, whose columns are checked already: into the index of filters, the line of its
semaphores, its group and the log too.
in_row: the message: p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, attempts, max_attempts,
route, semaphores, member where it goes on as the member that it was, and order_key and order_waits where its place
in the line is known; no other column counts. in_on_duplicate: what to do where the key is taken. in_since: a key that
has ended later than that, a time in microseconds, is ignored; NULL: none is. in_now: the time of the call.
Result: entry and scheduled_at of the message that is there now; outcome: created, ignored, replaced, held; waits_for:
what _queue_permits_settle is to be told of a message with semaphores, at the end of the call; NULL: nothing.
Locks: the message of that key, where in_on_duplicate changes it; waits for a transaction that is putting the same
key.$$;
