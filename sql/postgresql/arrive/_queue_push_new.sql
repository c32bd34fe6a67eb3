-- calls: _queue_index, _queue_is_plain, _queue_key, _queue_key_behind, _queue_log, _queue_push_options,
--     _queue_savepoint, _queue_take_back
-- changes: delayed_queue
create or replace function _queue_push_new(in_kind queue_kind, in_messages jsonb, in_options jsonb, in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_timeout constant text := current_setting('lock_timeout');
    v_all record; v_key text; v_keys text[]; v_entries bigint[];
begin
    if in_options ?| '{group,order_key,semaphores}'
        or jsonb_array_length(in_messages) < 2 -- the savepoint costs more than is saved
        or coalesce(current_setting('pyqueue.taken', true), '') >= (in_now - 60000000)::text
        or coalesce(current_setting('pyqueue.met', true), '') >= (in_now - 1000000)::text
        or exists (
            select from jsonb_array_elements(in_messages) m (message)
            where not (_queue_is_plain(m.message) and not m.message ?| '{order_key,semaphores}'))
        or not _queue_savepoint() then
        return null;
    end if;
    v_all := _queue_push_options(in_options, in_now);
    v_key := _queue_key(in_now);
    begin
        perform set_config('lock_timeout', '10', true);
        with i as (
            insert into delayed_queue as q (p_kind, p_key, payload, headers, priority, scheduled_at,
                scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at, route)
            select in_kind.p_kind, coalesce(m.message ->> 'key', _queue_key_behind(v_key, m.n)), m.message -> 'payload',
                case when m.message ? 'headers' then nullif(m.message -> 'headers', '{}') else v_all.headers end,
                coalesce((m.message -> 'priority')::smallint, v_all.priority), m.at, m.at, in_now, v_all.attempts,
                coalesce((m.message -> 'max_attempts')::integer, v_all.max_attempts),
                case when m.at <= in_now then m.at end, case when m.at > in_now then m.at end, v_all.route
            from (
                select j.n, j.message, coalesce((j.message -> 'scheduled_at')::bigint,
                    (in_now + (j.message -> 'delay_seconds')::numeric * 1000000)::bigint, v_all.scheduled_at) as at
                from jsonb_array_elements(in_messages) with ordinality j (message, n) offset 0) m
            returning q.p_key, q.entry)
        select array_agg(i.p_key), array_agg(i.entry) into v_keys, v_entries from i;
        perform set_config('lock_timeout', v_timeout, true);
        if in_kind.dedup_seconds > 0 and _queue_take_back(v_entries, in_now) <> '{}' then
            raise unique_violation; -- what is remembered is taken
        end if;
        if in_kind.filter_index then
            perform _queue_index(v_entries);
        end if;
        if in_kind.log_seconds > 0 then
            perform _queue_log(v_entries, null::text[], null::text, in_now);
        end if;
    exception when unique_violation or lock_not_available or deadlock_detected then
        perform set_config(case sqlstate when '23505' then 'pyqueue.taken' else 'pyqueue.met' end, in_now::text, false);
        return null;
    end;
    return v_keys;
end $$;

comment on function _queue_push_new(queue_kind, jsonb, jsonb, bigint) is
$$queue_push_many for messages that are a payload each, perhaps with a key, a time, a priority, attempts and headers,
where none of the keys is taken: in their order, by one INSERT that looks for no key before it puts it in. Where one is
taken, or somebody else is putting it, all of that is undone, and the session doesn't try again for a minute, or a
second.
in_kind: the settings of the kind. in_messages, in_options: as in queue_push_many. in_now: the time of the call.
Result: the keys, in their order; NULL: nothing is done.
Errors: PQ002 and PQ003 for the options.
Locks: waits for nobody longer than 10 ms.
differs: InnoDB looks for a key while it puts it in, so _queue_push_plain is for taken keys, too.$$;
