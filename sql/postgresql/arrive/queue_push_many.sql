-- calls: _queue_check_fit, _queue_check_kind, _queue_check_roles, _queue_enrol, _queue_fail, _queue_index_keys,
--     _queue_is_remembered, _queue_join_line_batch, _queue_line, _queue_log_batch, _queue_message, _queue_order_key,
--     _queue_permits_pushed, _queue_push_batch, _queue_put, _queue_put_onto, _queue_route, _queue_semaphores,
--     _queue_take_back, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_push_many(in_kind text, in_messages jsonb, in_options jsonb default null)
    returns table (p_key text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
    v_now constant bigint := queue_now();
    v_kind queue_kind; v_since bigint;
    v_timeout constant text := current_setting('lock_timeout');
    v_ignores boolean; v_ordered boolean; v_quick boolean;
    v_keys text[]; v_outcomes text[];
    v_message record; v_each record; v_put record;
    v_groups text[]; v_entries bigint[];
begin
    in_messages := coalesce(nullif(in_messages, 'null'), '[]'); in_options := nullif(in_options, 'null');
    if (char_length(in_kind) between 1 and 95) is not true then
        perform _queue_check_kind(in_kind, 95, 'kind');
    elsif jsonb_typeof(in_messages) <> 'array' then
        perform _queue_fail('PQ001', 'messages', in_messages::text,
            'must be a JSON array of {key, payload, and push options}');
    end if;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    v_kind.p_kind := in_kind;
    v_since := v_now - (nullif(v_kind.dedup_seconds, 0) * 1000000)::bigint;
    if v_kind.roles is not null then
        perform _queue_check_roles(array[in_kind]);
    end if;
    if v_kind.draining then
        perform _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    elsif v_kind.payload_shape is not null then
        perform _queue_check_fit(v_kind.payload_shape, coalesce(m.message -> 'payload', 'null'),
            'messages[' || m.n - 1 || '].payload')
        from jsonb_array_elements(in_messages) with ordinality m (message, n) where jsonb_typeof(m.message) = 'object';
    end if;
    v_ignores := coalesce(in_options ->> 'on_duplicate', 'ignore') = 'ignore'
        and not in_messages @? '$[*].on_duplicate';
    v_ordered := in_options ->> 'order_key' is not null or in_messages @? '$[*].order_key';
    v_quick := v_own and v_ignores and not v_ordered and jsonb_array_length(in_messages) > 1
        and coalesce(current_setting('pyqueue.met', true), '') < (v_now - 1000000)::text;
    if v_ignores and not v_ordered and not v_quick then
        return query select b.p_key, b.outcome from _queue_push_batch(v_kind, in_messages, in_options, v_now, true) b;
        perform _queue_wake(in_kind, null);
        return;
    end if;
    for v_try in 1 .. 2147483647 loop
        begin
            -- in the order of delivery, in which nobody may be waited for
            perform set_config('lock_timeout', '10', true) where v_quick;
            if v_ignores then
                return query select b.p_key, b.outcome
                    from _queue_push_batch(v_kind, in_messages, in_options, v_now, not v_quick) b;
                perform case when v_quick then set_config('lock_timeout', v_timeout, true) end,
                    _queue_wake(in_kind, null);
                return;
            end if;
            if v_ordered then
                perform _queue_line(in_kind, array_agg(_queue_order_key(in_options, m.message)),
                    array_agg(m.message ->> 'key'), true, false)
                from jsonb_array_elements(in_messages) m (message) where jsonb_typeof(m.message) = 'object';
            end if;
            perform q.entry from delayed_queue q
            where q.entry = any (array(
                select k.entry from jsonb_array_elements(in_messages) m (message), lateral ( -- OFFSET: ADR 13
                    select o.entry from delayed_queue o where o.p_kind = in_kind
                        and o.p_key = m.message ->> 'key' offset 0) k
                where jsonb_typeof(m.message) = 'object'))
            order by q.entry + 0 for update; -- + 0: ADR 13
            for v_message in
                select m.message, m.n from jsonb_array_elements(in_messages) with ordinality m (message, n)
                order by case when jsonb_typeof(m.message) = 'object' then m.message ->> 'key' end collate "C", m.n
            loop
                v_each := _queue_message(v_message.message, v_message.n, in_options, v_now);
                v_keys[v_message.n] := v_each.p_key;
                v_outcomes[v_message.n] := 'ignored';
                continue when v_since is not null and _queue_is_remembered(in_kind, v_each.p_key, v_since);
                v_put := _queue_put(in_kind, v_each.p_key, coalesce(v_message.message -> 'payload', 'null'),
                    null::bytea, v_each.headers, v_each.priority, v_now, v_each.scheduled_at, v_each.attempts,
                    v_each.max_attempts, 'ignore');
                continue when v_since is not null and v_put.outcome = 'created' and _queue_take_back(array(
                    select q.entry from delayed_queue q where q.p_kind = in_kind and q.p_key = v_each.p_key),
                        v_now) <> '{}';
                v_outcomes[v_message.n] := v_put.outcome;
                if v_put.outcome = 'created'
                    and (coalesce(in_options, '{}') || v_message.message) ?| '{route,semaphores}' then
                    update delayed_queue q set route = _queue_route(in_options, v_message.message),
                        semaphores = _queue_semaphores(in_options, v_message.message)
                    where q.p_kind = in_kind and q.p_key = v_each.p_key;
                end if;
                if v_put.outcome = 'ignored' and v_each.on_duplicate <> 'ignore' then
                    -- one that came after the lock above: to wait for it here, out of order, could be a deadlock
                    perform from delayed_queue q where q.p_kind = in_kind
                        and q.p_key = v_each.p_key for update skip locked;
                    if not found then
                        raise exception using errcode = 'PQ00A';
                    end if;
                    v_outcomes[v_message.n] := _queue_put_onto(in_kind, v_each.p_key,
                        coalesce(v_message.message -> 'payload', 'null'), null::bytea, v_each.headers, v_now,
                        v_each.scheduled_at, v_each.on_duplicate);
                end if;
            end loop;
            perform _queue_join_line_batch(in_kind, in_messages, in_options, v_keys, v_outcomes);
            select array_agg(coalesce(m.message ->> 'group', in_options ->> 'group')), array_agg(q.entry) into v_groups,
                v_entries
            from jsonb_array_elements(in_messages) with ordinality m (message, n)
            -- ADR 13
            cross join lateral (select k.entry from delayed_queue k
                where k.p_kind = in_kind and k.p_key = v_keys[m.n] offset 0) q
            where v_outcomes[m.n] = 'created'
                and (m.message ->> 'group' is not null or in_options ->> 'group' is not null);
            perform _queue_enrol(v_groups, v_entries), case
                when v_kind.filter_index then _queue_index_keys(in_kind, v_keys, v_outcomes) end,
                _queue_permits_pushed(in_kind, v_keys, null::text[], false, v_now),
                case when v_kind.log_seconds > 0
                then _queue_log_batch(in_kind, in_messages, in_options, v_keys, v_outcomes, v_now) end;
            return query select r.p_key, r.outcome from unnest(v_keys, v_outcomes) r (p_key, outcome);
            return;
        -- all that it did and locked is undone: again
        exception when sqlstate 'PQ00A' or deadlock_detected or lock_not_available then
            if sqlstate = '55P03' and not v_quick or sqlstate = '40P01' and (not v_own or v_try > 20) then raise;
                end if;
            -- where batches overlap, the other order costs less
            perform set_config('pyqueue.met', v_now::text, false) where v_quick;
            v_quick := false;
        end;
    end loop;
end $$;

comment on function queue_push_many(text, jsonb, jsonb) is
$$Puts many messages into a kind: all or, with an error, none.
in_kind: the kind, 1 to 95 characters. in_messages: a JSON array of objects {key, payload, and push options}, see
queue_push; without a key each gets a time-ordered UUID; NULL: none. Duplicates inside the batch are treated as if
pushed one after another; where any has an on_duplicate of its own, those of one time are delivered in the order of
their keys. in_options: push options for all; those of a message win.
Result: a row a message, in their order: p_key, outcome as in queue_push.
Errors: PQ007 for a kind that is for others. PQ001, PQ002, PQ003, naming the message as messages[0], messages[1], …;
PQ004 while the kind is drained, and for a group that has finished.
Locks: none, or with on_duplicate the messages whose keys are taken, in the order of their entries (where one turns up
out of order, the call undoes what it did and begins again); what others are putting in is waited for in the order of
the keys, so that overlapping batches don't deadlock.$$;
