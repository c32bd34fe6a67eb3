-- calls: _queue_check_fit, _queue_check_name, _queue_check_roles, _queue_fail, _queue_key, _queue_key_behind,
--     _queue_push_batch, _queue_push_new, _queue_savepoint, _queue_wake, queue_now
create or replace function queue_push_many(in_kind text, in_messages jsonb, in_options jsonb default null)
    returns table (p_key text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
    v_now constant bigint := queue_now();
    v_kind queue_kind;
    v_timeout constant text := current_setting('lock_timeout');
    v_ignores boolean; v_ordered boolean; v_quick boolean;
    v_key text; v_keys text[];
begin
    in_messages := coalesce(nullif(in_messages, 'null'), '[]'); in_options := nullif(in_options, 'null');
    if (char_length(in_kind) between 1 and 95) is not true then
        perform _queue_check_name(in_kind, 95, 'kind');
    elsif jsonb_typeof(in_messages) <> 'array' then
        perform _queue_fail('PQ001', 'messages', in_messages::text,
            'must be a JSON array of {key, payload, and push options}');
    end if;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    v_kind.p_kind := in_kind;
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
    v_keys := _queue_push_new(v_kind, in_messages, in_options, v_now);
    if v_keys is not null then
        perform _queue_wake(in_kind, null);
        return query select k.p_key, 'created'::text from unnest(v_keys) k (p_key);
        return;
    end if;
    if in_messages @? '$[*] ? (!exists (@.key) || @.key == null)' then
        v_key := _queue_key(v_now);
        select jsonb_agg(case
            when jsonb_typeof(m.message) = 'object' and coalesce(m.message -> 'key', 'null') = 'null'
            then m.message || jsonb_build_object('key', _queue_key_behind(v_key, m.n)) else m.message end order by m.n)
        into in_messages from jsonb_array_elements(in_messages) with ordinality m (message, n);
    end if;
    v_ignores := coalesce(in_options ->> 'on_duplicate', 'ignore') = 'ignore'
        and not in_messages @? '$[*].on_duplicate';
    v_ordered := in_options ->> 'order_key' is not null or in_messages @? '$[*].order_key';
    v_quick := v_ignores and jsonb_array_length(in_messages) > 1
        and coalesce(current_setting('pyqueue.met', true), '') < (v_now - 1000000)::text and _queue_savepoint();
    if v_ignores and not v_ordered and not v_quick then
        return query select b.p_key, b.outcome
            from _queue_push_batch(v_kind, in_messages, in_options, v_now, false, true) b;
        perform _queue_wake(in_kind, null);
        return;
    end if;
    for v_try in 1 .. 2147483647 loop
        begin
            -- in the order of delivery, in which nobody may be waited for
            perform set_config('lock_timeout', '10', true) where v_quick;
            return query select b.p_key, b.outcome
                from _queue_push_batch(v_kind, in_messages, in_options, v_now, not v_ignores, not v_quick) b;
            perform case when v_quick then set_config('lock_timeout', v_timeout, true) end, _queue_wake(in_kind, null);
            return;
        -- all that it did and locked is undone: again
        exception when sqlstate 'PQ00A' or deadlock_detected or lock_not_available or unique_violation then
            if sqlstate in ('55P03', '23505') and not v_quick or sqlstate = '40P01' and (not v_own or v_try > 20) then
                raise;
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
pushed one after another. in_options: push options for all; those of a message win.
Result: a row a message, in their order: p_key, outcome as in queue_push.
Errors: PQ007 for a kind that is for others. PQ001, PQ002, PQ003, naming the message as messages[0], messages[1], …;
PQ004 while the kind is drained, and for a group that has finished.
Locks: none, or with on_duplicate the messages whose keys are taken, in the order of their entries (where one turns up
out of order, the call undoes what it did and begins again); what others are putting in is waited for in the order of
the keys, so that overlapping batches don't deadlock.
Where the idea comes from: for the keys, RFC 9562, section 6.2, method 2.$$;
