-- calls: _queue_check_inbox_row, _queue_check_json, _queue_index, _queue_is_huge, _queue_key, _queue_key_behind,
--     _queue_log, _queue_put_inbox_rows, _queue_savepoint, _queue_setting, _queue_take_back, _queue_wake, queue_now
-- changes: delayed_queue, queue_inbox
create or replace function _queue_drain_inbox() returns trigger
    language plpgsql
    security definer set search_path from current set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_asks constant boolean := exists (select from queue_kind k
        where k.payload_shape is not null or k.draining or k.roles is not null);
    v_keeps constant boolean := exists (select from queue_kind k
        where k.dedup_seconds > 0 or k.log_seconds > 0 or k.filter_index);
    v_row record; v_ids record;
    v_entries bigint[];
    v_timeout constant text := current_setting('lock_timeout');
    v_key constant text := _queue_key(v_now); -- of rows without
    v_pushed bigint;
    v_sorted boolean; v_new boolean;
begin
    begin -- nothing is written in this block, so that it costs no transaction number
        select min(l.id) as first, max(l.id) as last, count(*) as number, count(case when (not (v_asks and coalesce((
            select k.payload_shape is not null or k.draining or k.roles is not null from queue_kind k
                where k.p_kind = l.p_kind), false))
            and char_length(l.p_kind) between 1 and 95 and coalesce(char_length(l.p_key), 1) between 1 and 200
            and (l.payload is null or l.payload_bytes is null
                and not _queue_is_huge(l.payload::jsonb) -- whose depth is at most the number of brackets, and one
                and (2 * octet_length(l.payload) - octet_length(replace(l.payload, '{',
                    '')) - octet_length(replace(l.payload, '[', '')) < 31
                    or not jsonb_path_exists(l.payload::jsonb, '$.**{31}')))
            and (l.headers is null or jsonb_typeof(l.headers::jsonb) = 'object' and not _queue_is_huge(l.headers::jsonb)
                and not jsonb_path_exists(l.headers::jsonb,
                    'strict $.* ? (@.type() == "object" || @.type() == "array")'))
            and coalesce(l.priority between -32768 and 32767, true)
            and case when l.scheduled_at is null then coalesce(l.delay_seconds between 0 and 1000000000, true)
                else l.delay_seconds is null and l.scheduled_at between 100000000000000 and 253402300799999999 end
            and coalesce(l.attempts between 0 and 1000000000, true)
            and coalesce(l.max_attempts between 1 and 1000000000, true)) is not true
            then _queue_check_inbox_row(row(l.*)::queue_inbox, v_now) end) as checked, coalesce(bool_or(v_keeps and (
            select k.dedup_seconds > 0 or k.log_seconds > 0 or k.filter_index from queue_kind k
            where k.p_kind = l.p_kind)), false) as keeps
        into v_ids from landed l;
    exception when others then
        for v_row in
            select row(l.*)::queue_inbox as message, row_number() over (order by l.id) as n from landed l order by l.id
        loop
            begin
                perform _queue_check_json((v_row.message).payload, 'PQ003', 'payload'),
                    _queue_check_json((v_row.message).headers, 'PQ003', 'headers');
                perform _queue_check_inbox_row(v_row.message, v_now);
            exception when others then
                raise exception using errcode = case when sqlstate like 'PQ%' then sqlstate else 'PQ003' end,
                    message = 'row ' || v_row.n || ' (key '
                        || coalesce('"' || left((v_row.message).p_key, 40) || '"', 'NULL') || '): ' || sqlerrm;
            end;
        end loop;
        raise;
    end;
    v_sorted := v_ids.first = v_ids.last or not _queue_savepoint()
        or coalesce(current_setting('pyqueue.met', true), '') >= (v_now - 1000000)::text;
    v_new := not v_sorted and not v_ids.keeps
        and coalesce(current_setting('pyqueue.taken', true), '') < (v_now - 60000000)::text;
    if v_sorted then
        select p.entries, p.pushed into v_entries, v_pushed
            from _queue_put_inbox_rows(v_ids.first, v_ids.last, v_key, v_now, v_ids.keeps, v_sorted) p;
    else
        for v_try in 1 .. 20 loop
            begin
                perform set_config('lock_timeout', case when v_ids.number < 10000 then '10'
                    else '100' end, true) where not v_sorted;
                if v_new then -- as in _queue_push_new
                    insert into delayed_queue (p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
                        scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at)
                    select l.p_kind, coalesce(l.p_key, _queue_key_behind(v_key, l.id - v_ids.first)), case
                        when l.payload_bytes is null then coalesce(l.payload, 'null')::jsonb end, l.payload_bytes,
                        nullif(nullif(l.headers::jsonb, 'null'), '{}'), coalesce(l.priority, 0), t.at, t.at, v_now,
                        coalesce(l.attempts, 0), l.max_attempts, case when t.at <= v_now then t.at end, case
                        when t.at > v_now then t.at end
                    from landed l, lateral (
                        select coalesce(l.scheduled_at, v_now + (l.delay_seconds * 1000000)::bigint, v_now)) t (at);
                    v_pushed := v_ids.number;
                else
                    select p.entries, p.pushed into v_entries, v_pushed
                        from _queue_put_inbox_rows(v_ids.first, v_ids.last, v_key, v_now, v_ids.keeps, v_sorted) p;
                end if;
                perform set_config('lock_timeout', v_timeout, true);
                exit;
            exception when unique_violation or lock_not_available or deadlock_detected then
                if v_try = 20 or v_sorted and sqlstate = '55P03' or not v_new and sqlstate = '23505' then raise; end if;
                v_sorted := sqlstate <> '23505';
                v_new := false;
                perform set_config('pyqueue.' || case when v_sorted then 'met' else 'taken' end, v_now::text, false);
            end;
        end loop;
    end if;
    if v_ids.keeps then
        perform _queue_take_back(v_entries, v_now);
        perform _queue_index(v_entries), _queue_log(v_entries, null::text[], null::text, v_now);
    end if;
    perform _queue_wake(k.p_kind, null) from (select distinct l.p_kind from landed l) k;
    -- for queue_stage_publish in the same transaction: how many have landed, and how many are new
    perform set_config(t.name, array[coalesce(t.n[1], 0) + v_ids.number, coalesce(t.n[2], 0) + v_pushed]::text, true)
    from (select s.name, nullif(current_setting(s.name, true), '')::bigint[] as n
        from _queue_setting('taken_in') s (name)) t;
    delete from queue_inbox b where b.id between v_ids.first and v_ids.last; -- nobody else's can be seen
    return null;
end $$;

comment on function _queue_drain_inbox() is
$$The trigger of queue_inbox: pushes the rows of a statement, in their order, and takes them out of the inbox. A key
that is taken or remembered is ignored.
Errors: those of queue_push, naming the row, from 1, and its key; then nothing of the statement is kept.
Locks: as queue_push_many; the first 32 statements of a transaction that have several rows wait for nobody longer than
10 ms, or with 10000 rows 100, before they sort them.$$;
