-- calls: _queue_check_count, _queue_check_name, _queue_check_roles, _queue_end, _queue_join_line, _queue_line,
--     _queue_permits_settle, _queue_put, queue_now
-- changes: delayed_queue
create or replace function queue_redrive(in_kind text, in_max_messages bigint default null, out went bigint,
    out stayed bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
    v_now constant bigint := queue_now();
    v_dead delayed_queue; v_row delayed_queue;
    v_put record;
    v_last text collate "C";
    v_look bigint := coalesce(in_max_messages, 9223372036854775807);
    v_entries bigint[];
    v_orders text[];
    v_names text[];
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_count(v_look, 'max_messages', 9223372036854775807);
    for v_try in 1 .. 2147483647 loop
        begin
            went := 0;
            v_last := null;
            v_orders := null;
            v_names := null;
            loop -- of those that came from one key only one can go
                v_entries := array(
                    select q.entry from delayed_queue q
                    where q.p_kind = in_kind and q.source_kind is not null and q.pending is null
                        and (q.reserved_at is null or q.scheduled_at <= v_now)
                        and (select t.entry from delayed_queue t
                            where t.p_kind = q.source_kind and t.p_key = q.source_key) is null
                        and (select k.draining from queue_kind k where k.p_kind = q.source_kind) is not true
                    order by q.p_kind, q.p_key limit v_look);
                exit when cardinality(v_entries) < v_look or in_max_messages <= (
                    select count(distinct (q.source_kind, q.source_key)) from delayed_queue q
                    where q.entry = any (v_entries));
                v_look := v_look * 2;
            end loop;
            -- rows are locked before keys are put in, everywhere
            perform _queue_line(l.source_kind, array_agg(l.source_order_key), array_agg(l.source_key), false, false)
            from delayed_queue l
            where l.entry = any (v_entries) and l.source_order_key is not null
            group by l.source_kind order by l.source_kind;
            v_entries := null;
            for v_dead in
                with l as materialized (
                    select q from delayed_queue q
                    where q.p_kind = in_kind and q.source_kind is not null and q.pending is null
                        and (q.reserved_at is null or q.scheduled_at <= v_now)
                        and (select t.entry from delayed_queue t
                            where t.p_kind = q.source_kind and t.p_key = q.source_key) is null
                        and (select k.draining from queue_kind k where k.p_kind = q.source_kind) is not true
                    order by q.p_kind, q.p_key limit v_look for update skip locked),
                n as (
                    select l.q, row_number() over (
                        partition by (l.q).source_kind, (l.q).source_key order by (l.q).p_key) as nth
                    from l),
                d as (select n.q from n where n.nth = 1 order by (n.q).p_key limit in_max_messages)
                select (d.q).* from d order by (d.q).source_key, (d.q).source_kind, (d.q).p_key
            loop
                v_last := greatest(v_last, v_dead.p_key);
                v_row := v_dead;
                v_row.p_kind := v_dead.source_kind;
                v_row.p_key := v_dead.source_key;
                v_row.priority := v_dead.source_priority;
                v_row.scheduled_at := v_now;
                v_row.attempts := 0;
                v_row.max_attempts := null;
                v_put := _queue_put(v_row, 'ignore', null::bigint, v_now);
                if v_put.outcome = 'created' then
                    update delayed_queue q set errors = v_dead.errors,
                        scheduled_at_initially = v_dead.scheduled_at_initially
                    where q.entry = v_put.entry and v_dead.errors is not null;
                    v_names := v_names || v_dead.semaphores;
                    if v_dead.source_order_key is not null then
                        v_entries := v_entries || v_put.entry;
                        v_orders := v_orders || v_dead.source_order_key;
                    end if;
                    perform _queue_end(array[v_dead.entry], null::bytea[], 'moved', v_dead.source_kind, v_now);
                    went := went + 1;
                end if;
            end loop;
            perform _queue_join_line(v_entries, v_orders) where v_orders is not null;
            perform _queue_permits_settle(null::bigint[], v_names, true, v_now) where v_names is not null;
            exit;
        exception when sqlstate 'PQ00A' or deadlock_detected then -- all that it did and locked is undone: again
            if sqlstate <> 'PQ00A' and (not v_own or v_try > 20) then raise; end if;
        end;
    end loop;
    select count(*) into stayed from delayed_queue q
    where q.p_kind = in_kind and q.p_key <= case when went = in_max_messages then v_last
            else (select max(m.p_key) from delayed_queue m where m.p_kind = in_kind) end
        and q.source_kind is not null and q.pending is null and (q.reserved_at is null or q.scheduled_at <= v_now)
        and ((select t.entry from delayed_queue t where t.p_kind = q.source_kind and t.p_key = q.source_key) is not null
            or (select k.draining from queue_kind k where k.p_kind = q.source_kind));
end $$;

comment on function queue_redrive(text, bigint) is
$$Sends dead letters back to the kinds they came from. Each is a new entry with attempts 0. It keeps its key, priority,
errors, route and semaphores, and stands at the end of the line of its order key. The dead letter has ended by that:
it counts as moved, in history and log too.
in_kind: the dead-letter kind.
in_max_messages: how many go at the most, in the order of their keys; NULL: all. Those that can't go are passed over,
however many there are. Of several that came from the same key the first in that order goes.
Result: went: how many; stayed: how many whose key is taken where they came from, or where that is drained. Those up to
the last one that went are counted, or all where fewer went than were asked for.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages.
Locks: the dead letters that go, and the first of the lines. What others hold or have locked stays.$$;
