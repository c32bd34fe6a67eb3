-- calls: _queue_check_fit, _queue_check_name, _queue_check_roles, _queue_enrol, _queue_fail, _queue_join_line,
--     _queue_key, _queue_line, _queue_permits_settle, _queue_push_options, _queue_put, queue_now
create or replace function _queue_push(in_kind text, in_key text, in_payload jsonb, in_payload_bytes bytea,
    in_options jsonb, out p_kind text, out p_key text, out scheduled_at bigint, out outcome text) language plpgsql as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
    v_now constant bigint := queue_now();
    v_timeout constant text := current_setting('lock_timeout');
    v_shape jsonb;
    v_since bigint;
    v_draining boolean;
    v_restricted boolean;
    v_on_duplicate text := 'ignore';
    v_row delayed_queue;
    v_order text;
    v_put record;
begin
    v_row.p_kind := in_kind;
    v_row.p_key := coalesce(in_key, _queue_key(v_now));
    v_row.payload := case when in_payload_bytes is null then coalesce(in_payload, 'null') end;
    v_row.payload_bytes := in_payload_bytes;
    perform _queue_check_name(in_kind, 95, 'kind');
    perform _queue_check_name(v_row.p_key, 200, 'key');
    select k.payload_shape, v_now - (nullif(k.dedup_seconds, 0) * 1000000)::bigint, k.draining, k.roles is not null
    into v_shape, v_since, v_draining, v_restricted
    from queue_kind k where k.p_kind = in_kind;
    if v_restricted then
        perform _queue_check_roles(array[in_kind]);
    end if;
    if v_draining then
        perform _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    elsif v_shape is not null then
        perform _queue_check_fit(v_shape, v_row.payload, 'payload');
    end if;
    v_row.scheduled_at := v_now;
    v_row.priority := 0;
    v_row.attempts := 0;
    if in_options is not null then
        select o.* into v_row.scheduled_at, v_row.priority, v_row.headers, v_row.attempts, v_row.max_attempts,
            v_on_duplicate, v_row.route, v_order, v_row.semaphores
        from _queue_push_options(in_options, v_now) o;
    end if;
    if v_order is null then
        v_put := _queue_put(v_row, v_on_duplicate, v_since, v_now);
    end if;
    for v_try in 1 .. case when v_order is null then 0 else 2147483647 end loop
        begin
            -- rows are locked before keys are put in, everywhere; with the key in, who is putting a first one in is
            -- waited for a moment only: after that it joins its line later
            perform set_config('lock_timeout', '10', true) where v_try = 1;
            v_row.order_waits := _queue_line(in_kind, array[v_order], array[v_row.p_key], v_on_duplicate <> 'ignore',
                false) <> '{}' or null;
            v_row.order_key := case when v_try = 1 or v_row.order_waits then v_order end;
            v_put := _queue_put(v_row, v_on_duplicate, v_since, v_now);
            if v_put.outcome = 'created' and v_row.order_key is null then
                perform _queue_join_line(array[v_put.entry], array[v_order]);
            end if;
            perform set_config('lock_timeout', v_timeout, true) where v_try = 1;
            exit;
        -- all that it did and locked is undone: again
        exception when sqlstate 'PQ00A' or deadlock_detected or lock_not_available or unique_violation then
            if sqlstate in ('55P03', '23505') and v_try > 1 or sqlstate = '40P01' and (not v_own or v_try > 20) then
                raise;
            end if;
        end;
    end loop;
    p_kind := in_kind;
    p_key := v_row.p_key;
    scheduled_at := v_put.scheduled_at;
    outcome := v_put.outcome;
    if outcome = 'created' and in_options ->> 'group' is not null then
        perform _queue_enrol(array[in_options ->> 'group'], array[v_put.entry]);
    end if;
    if v_put.waits_for is not null then
        perform _queue_permits_settle(array[v_put.entry], v_put.waits_for, true, v_now);
    end if;
end $$;

comment on function _queue_push(text, text, jsonb, bytea, jsonb) is
$$Puts one message, whose payload is checked already but for payload_shape: queue_push and queue_push_bytes.
in_payload, in_payload_bytes: one of the two; neither: a payload of JSON null. The other parameters, the result, the
errors and the locks are those of queue_push.$$;
