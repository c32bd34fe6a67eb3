create or replace function _queue_bury(in_entries bigint[], in_error text, in_now bigint) returns void language plpgsql as $$
declare
    v_dead delayed_queue;
    v_kind text;
    v_suffix text;
    v_letter bigint;
    v_members bigint[];
    v_letters bigint[];
begin
    for v_dead in
        with d as (delete from delayed_queue q where q.entry = any (in_entries) returning q.*)
        select d.* from d order by d.p_kind, d.p_key
    loop
        v_kind := coalesce((_queue_settings(v_dead.p_kind)).dead_letter_kind, left(v_dead.p_kind, 95) || '.dead');
        v_dead.errors := _queue_add_error(v_dead.errors, in_now, v_dead.attempts, v_dead.reserved_by, in_error);
        v_suffix := '';
        loop
            insert into delayed_queue (p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
                scheduled_at_initially, created_at, ready_at, errors, source_kind, source_key, source_priority, route, member, source_order_key, semaphores)
            values (v_kind, left(v_dead.p_key, 200 - char_length(v_suffix)) || v_suffix, v_dead.payload, v_dead.payload_bytes,
                v_dead.headers, v_dead.priority, in_now, v_dead.scheduled_at_initially, in_now, in_now,
                v_dead.errors, v_dead.p_kind, v_dead.p_key, v_dead.priority, v_dead.route,
                v_dead.member, coalesce(v_dead.order_key, v_dead.source_order_key), v_dead.semaphores)
            on conflict on constraint delayed_queue_pkey do nothing
            returning entry into v_letter;
            exit when found;
            v_suffix := '~' || v_dead.entry || v_suffix; -- an entry number is used once
        end loop;
        perform _queue_index(array[v_letter]);
        perform _queue_wake(v_kind);
        insert into queue_count (p_kind, pushed, dead) values (v_dead.p_kind, (v_dead.source_kind is null)::integer, 1);
        perform _queue_keep(v_dead, 'dead', v_kind, in_now);
        if v_dead.order_key is not null then
            perform _queue_advance(array[v_dead.p_kind], array[v_dead.order_key], in_now);
        end if;
        perform _queue_log(array[v_letter], 'pushed', in_now);
        if v_dead.member is not null then
            v_members := v_members || v_dead.member;
            v_letters := v_letters || v_letter;
            v_dead.member := null;
        end if;
        perform _queue_put_pending(v_dead, in_now);
    end loop;
    if v_members is not null then
        perform _queue_members_dead(v_members, v_letters, in_error, in_now);
    end if;
end $$;

comment on function _queue_bury(bigint[], text, bigint) is
$$Moves messages to the dead-letter kind of their kind, each with its errors. A key that is taken there gets a suffix; kind,
key, priority and order key are remembered for queue_redrive.
in_entries: the messages, locked already. in_error: why they died. in_now: the time of the call.
Locks: the next in their lines; waits for a transaction that is putting the same dead letter.$$;
