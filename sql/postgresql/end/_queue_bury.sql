-- calls: _queue_add_error, _queue_end, _queue_index, _queue_log, _queue_members_end, _queue_settings, _queue_wake
-- changes: delayed_queue, queue_group_member, queue_kind
create or replace function _queue_bury(in_entry bigint, in_error text,
    in_now bigint) returns void language plpgsql as $$
declare
    v_dead delayed_queue;
    v_settings queue_kind;
    v_kind text;
    v_suffix text := '';
    v_letter bigint;
begin
    -- history has them too
    update delayed_queue q set errors = _queue_add_error(q.errors, in_now, q.attempts, q.reserved_by, in_error)
    where q.entry = in_entry returning q.* into v_dead;
    v_settings := _queue_settings(v_dead.p_kind);
    v_kind := coalesce(v_settings.dead_letter_kind, left(v_dead.p_kind, 95) || '.dead');
    if v_settings.roles is not null and (_queue_settings(v_kind)).roles is null then -- a dead letter that dies again
        insert into queue_kind as k (p_kind, roles) values (v_kind, v_settings.roles)
        on conflict on constraint queue_kind_pkey do update set roles = excluded.roles where k.roles is null;
    end if;
    perform _queue_end(array[in_entry], null::bytea[], 'dead', v_kind, in_now);
    loop
        insert into delayed_queue (p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, ready_at, errors, source_kind, source_key, source_priority, route,
            member, source_order_key, semaphores)
        values (v_kind, left(v_dead.p_key, 200 - char_length(v_suffix)) || v_suffix, v_dead.payload,
            v_dead.payload_bytes, v_dead.headers, v_dead.priority, in_now, v_dead.scheduled_at_initially, in_now,
            in_now, v_dead.errors, coalesce(v_dead.source_kind, v_dead.p_kind),
            coalesce(v_dead.source_key, v_dead.p_key), coalesce(v_dead.source_priority, v_dead.priority), v_dead.route,
            v_dead.member, coalesce(v_dead.order_key, v_dead.source_order_key), v_dead.semaphores)
        on conflict on constraint delayed_queue_pkey do nothing
        returning entry into v_letter;
        exit when found;
        v_suffix := '~' || v_dead.entry || v_suffix; -- an entry number is used once
    end loop;
    perform _queue_index(array[v_letter]);
    perform _queue_wake(v_kind, null);
    perform _queue_log(array[v_letter], null::text[], null::text, in_now);
    if v_dead.member is not null then
        -- + 0: ADR 13
        update queue_group_member m set entry = v_letter, error = in_error
        where m.member = v_dead.member and m.done_at + 0 is null;
        perform _queue_members_end(array[v_dead.member], 'dead', null::jsonb, in_now)
        from queue_group_member m join queue_group g on g.group_name between m.group_name and m.group_name
        where m.member = v_dead.member and m.done_at + 0 is null and g.on_dead <> 'wait';
    end if;
end $$;

comment on function _queue_bury(bigint, text, bigint) is
$$Moves a message to the dead-letter kind of its kind, with its errors. A key that is taken there gets a suffix; kind,
key, priority and order key are remembered for queue_redrive; those of a dead letter that dies again are still those of
its origin.
in_entry: the message, locked already. in_error: why it died. in_now: the time of the call.
Where its group doesn't wait for it, its member is done: at the end of the call its caller has _queue_members_settle
see to that.
Locks: the next in its line; waits for a transaction that is putting the same dead letter.$$;
