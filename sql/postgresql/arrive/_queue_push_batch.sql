-- calls: _queue_enrol, _queue_index, _queue_is_plain, _queue_join_line, _queue_line, _queue_line_up, _queue_log,
--     _queue_message, _queue_permits_settle, _queue_push_options, _queue_put_onto, _queue_semaphores,
--     _queue_take_back
-- changes: delayed_queue
create or replace function _queue_push_batch(in_kind queue_kind, in_messages jsonb, in_options jsonb, in_now bigint,
    in_changes boolean, in_sorted boolean) returns table (p_key text, outcome text) language plpgsql as $$
declare
    v_default constant record := _queue_push_options(in_options, in_now);
    v_more constant boolean :=
        in_messages @? '$[*] ? (exists (@.group) || exists (@.order_key) || exists (@.semaphores))';
    v_since constant bigint := in_now - (nullif(in_kind.dedup_seconds, 0) * 1000000)::bigint;
    v_heads jsonb; v_keys text[]; v_entries bigint[]; v_late bigint[] := '{}';
    v_each record; v_row delayed_queue; v_put record;
    v_onto bigint[] := '{}'; v_logged bigint[]; v_outcomes text[]; v_waits_for text[];
begin
    if in_changes or v_default.order_key is not null or v_more and in_messages @? '$[*].order_key' then
        -- locked is what is changed, and who is first in a line: 0; else the message that comes first in it. What comes
        -- behind that waits at once. In_sorted, all have to be in before one may wait for who puts a first one in
        select coalesce(jsonb_object_agg(o.order_key, m.n order by m.n desc)
                filter (where not in_sorted and o.order_key is not null), '{}')
            || _queue_line(in_kind.p_kind, array_agg(o.order_key), array_agg(m.message ->> 'key'), in_changes, false)
        into v_heads
        from jsonb_array_elements(in_messages) with ordinality m (message, n), lateral (
            select (case when m.message ? 'order_key' then m.message else in_options end) ->> 'order_key') o (order_key)
        where in_changes or o.order_key is not null;
    end if;
    with e as materialized (
        -- what most messages are is checked at once, all others one by one
        select m.n, nextval('delayed_queue_entry_seq'::regclass) as entry, m.message, case
            when jsonb_typeof(m.message) = 'object' then nullif(m.message - '{key,payload}'::text[], '{}') end as own,
            coalesce(m.message ->> 'order_key', v_default.order_key) as order_key, _queue_is_plain(m.message)
                and (v_default.semaphores is null or not m.message ? 'order_key') as plain
        from jsonb_array_elements(in_messages) with ordinality m (message, n)),
    m as materialized (
        select e.n, e.entry, (e.message ->> 'key') collate "C" as p_key, e.message -> 'payload' as payload,
            coalesce((e.own -> 'scheduled_at')::bigint,
                (in_now + (e.own -> 'delay_seconds')::numeric * 1000000)::bigint, v_default.scheduled_at)
                as scheduled_at, coalesce((e.own -> 'priority')::smallint, v_default.priority) as priority,
            case when e.own ? 'headers' then nullif(e.own -> 'headers', '{}') else v_default.headers end as headers,
            v_default.attempts, coalesce((e.own -> 'max_attempts')::integer, v_default.max_attempts) as max_attempts,
            v_default.route, e.order_key collate "C", case
            when (v_heads ->> e.order_key)::integer < e.n then true end as waits, case
            when e.own ? 'semaphores' is not true then v_default.semaphores when e.own -> 'semaphores' <> 'null'
            then _queue_semaphores(coalesce(in_options, '{}') || e.message) end as semaphores
        from e where e.plain
        union all
        select e.n, e.entry, o.p_key collate "C", coalesce(e.message -> 'payload', 'null'), o.scheduled_at, o.priority,
            o.headers, o.attempts, o.max_attempts, o.route, o.order_key collate "C", case
            when (v_heads ->> o.order_key)::integer < e.n then true end, o.semaphores
        from e, _queue_message(e.message, e.n, in_options, in_now) o where not e.plain),
    i as (
        insert into delayed_queue as q (entry, p_kind, p_key, payload, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at, route, order_key, order_waits,
            semaphores)
        select m.entry, in_kind.p_kind, m.p_key, m.payload, m.headers, m.priority, m.scheduled_at, m.scheduled_at,
            in_now, m.attempts, m.max_attempts,
            case when m.scheduled_at <= in_now and num_nonnulls(m.waits, m.semaphores) = 0 then m.scheduled_at end,
            case when m.scheduled_at > in_now and m.waits is null then m.scheduled_at end, m.route,
            case when v_heads ? m.order_key then m.order_key end, m.waits, m.semaphores
        from m
        where v_since is null or coalesce(( -- not EXISTS: that may be planned as a hash of the whole memory
            select r.ended_at from queue_dedup r where r.p_kind = in_kind.p_kind and r.p_key = m.p_key) <= v_since,
                true)
        order by case when in_sorted then m.p_key end, m.n
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry)
    select array_agg(m.p_key order by m.n), array_agg(i.entry order by m.n) into v_keys, v_entries
    from m left join i on i.entry = m.entry;
    if v_since is not null then
        v_late := _queue_take_back(array_remove(v_entries, null), in_now);
    end if;
    if not in_sorted and exists (
        select from jsonb_each_text(v_heads) h (order_key, first)
        where h.first <> '0' and (v_entries[h.first::integer] is null or v_entries[h.first::integer] = any (v_late))
    ) then
        raise exception using errcode = 'PQ00A'; -- one that was to be first isn't put in, so another one is
    elsif in_sorted and v_heads is not null then
        perform _queue_join_line(array_agg(v_entries[m.n]), array_agg(o.order_key))
        from jsonb_array_elements(in_messages) with ordinality m (message, n), lateral (
            select (case when m.message ? 'order_key' then m.message else in_options end) ->> 'order_key') o (order_key)
        where o.order_key is not null and not v_heads ? o.order_key and v_entries[m.n] is not null
            and v_entries[m.n] <> all (v_late);
    end if;
    v_logged := v_entries;
    if in_changes then
        v_outcomes := array_fill(null::text, array[jsonb_array_length(in_messages)]);
        for v_each in
            select o.*, m.n, v_keys[m.n] as key, coalesce(m.message -> 'payload', 'null') as payload
            from jsonb_array_elements(in_messages) with ordinality m (message, n),
                _queue_message(m.message, m.n, in_options, in_now) o
            where v_entries[m.n] is null and o.on_duplicate <> 'ignore'
                and (v_since is null or coalesce((
                    select r.ended_at from queue_dedup r
                    where r.p_kind = in_kind.p_kind and r.p_key = v_keys[m.n]) <= v_since, true))
            order by v_keys[m.n] collate "C", m.n
        loop
            -- one that came after the lock above: to wait for it here, out of order, could be a deadlock
            perform from delayed_queue q where q.p_kind = in_kind.p_kind
                and q.p_key = v_each.key for update skip locked;
            if not found then
                raise exception using errcode = 'PQ00A';
            end if;
            select in_kind.p_kind, v_each.key, v_each.payload, v_each.headers, v_each.scheduled_at
            into v_row.p_kind, v_row.p_key, v_row.payload, v_row.headers, v_row.scheduled_at;
            v_put := _queue_put_onto(v_row, v_each.on_duplicate, in_now);
            v_outcomes[v_each.n] := v_put.outcome;
            v_waits_for := v_waits_for || v_put.waits_for;
            if v_put.outcome = 'replaced' then
                v_onto := v_onto || v_put.entry;
                v_logged[v_each.n] := case when v_each.on_duplicate <> 'push_back' then v_put.entry end;
            end if;
        end loop;
    end if;
    if in_kind.filter_index or v_onto <> '{}' then -- who had to wait asks anew
        perform _queue_index(array_remove(v_entries || v_onto, null));
    end if;
    if v_more and in_messages @? '$[*].group' or in_options ? 'group' then
        perform _queue_enrol(array_agg(o.name), array_agg(v_entries[m.n]))
        from jsonb_array_elements(in_messages) with ordinality m (message, n), lateral (
            select (case when m.message ? 'group' then m.message else in_options end) ->> 'group') o (name)
        where v_entries[m.n] is not null and v_entries[m.n] <> all (v_late) and o.name is not null;
    end if;
    if v_waits_for is not null or v_default.semaphores is not null or v_more and in_messages @? '$[*].semaphores' then
        perform _queue_permits_settle(v_onto, v_waits_for || _queue_line_up(v_entries), true, in_now);
    end if;
    if in_kind.log_seconds > 0 then
        perform _queue_log(v_logged, v_outcomes, null::text, in_now);
    end if;
    return query
        select r.p_key, coalesce(r.outcome, case when r.entry is null or r.entry = any (v_late) then 'ignored'
            else 'created' end)
        from unnest(v_keys, v_entries, v_outcomes) r (p_key, entry, outcome);
end $$;

comment on function _queue_push_batch(queue_kind, jsonb, jsonb, bigint, boolean, boolean) is
$$Puts many messages into a kind in one statement, then those whose keys were taken onto what is there, one by one.
in_kind: the settings of the kind. in_messages, in_options: as in queue_push_many. in_now: the time of the call.
in_changes: whether one of them has another on_duplicate than ignore. in_sorted: whether in the order of their keys;
else in their own.
Result: a row a message, in their order, which is that of their entries too.
Errors: PQ00A where it has to be made again.
Locks: with order keys as _queue_line; with in_changes what has one of the keys, in the order of the entries; waits
for other transactions that are putting one of the keys.
differs: on MariaDB and MySQL there is _queue_push_plain besides, for messages without the rarer options.$$;
