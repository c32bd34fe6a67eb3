-- Who may do what. Routines run with the rights of their owner; nothing is for PUBLIC.
--   queue_producer   puts messages in
--   queue_consumer   takes and finishes them
--   queue_operator   looks, and runs the queue: removes, pauses, redrives, defines
--   queue_observer   looks at kinds, keys, states, counters and workers; at no payload, header, result or error's text
--   queue_admin      all of these
-- Roles belong to the cluster: where they exist already they are used, and where the installer may not create them, the
-- owner of the routines is the only one who may call them until somebody creates the roles and upgrades again.
do $$
begin
    if not exists (select from pg_roles r where r.rolname = 'queue_producer') then
        create role queue_producer nologin;
    end if;
    if not exists (select from pg_roles r where r.rolname = 'queue_consumer') then
        create role queue_consumer nologin;
    end if;
    if not exists (select from pg_roles r where r.rolname = 'queue_operator') then
        create role queue_operator nologin;
    end if;
    if not exists (select from pg_roles r where r.rolname = 'queue_observer') then
        create role queue_observer nologin;
    end if;
    if not exists (select from pg_roles r where r.rolname = 'queue_admin') then
        create role queue_admin nologin;
    end if;
    grant queue_producer, queue_consumer, queue_operator, queue_observer to queue_admin;
exception when insufficient_privilege then
    raise notice 'the roles queue_producer, queue_consumer, queue_operator, queue_observer and queue_admin '
        'were not created: %', sqlerrm;
end $$;

revoke all on table delayed_queue, queue_kind, queue_count, queue_cursor, queue_hold, queue_history, queue_dedup,
    queue_inbox, queue_stage, queue_stage_part, queue_stage_done, queue_write, queue_stream_part, queue_stream_plan,
    queue_stream_kept, queue_worker, queue_use, queue_subscription, queue_recurring, queue_group, queue_group_stripe,
    queue_group_due, queue_group_member, queue_semaphore, queue_semaphore_permit, queue_semaphore_wait,
    queue_semaphores, queue_slot, queue_claim, queue_bucket, queue_term, queue_log, queue_log_gone, queue_log_known,
    queue_reader, queue_readers, queue_messages, queue_stats, queue_workers, queue_writes, queue_subscriptions,
    queue_schedules, queue_groups from public;
revoke all on sequence queue_event_0, queue_event_1, queue_event_2, queue_event_3, queue_event_4, queue_event_5,
    queue_event_6, queue_event_7, queue_event_8, queue_event_9, queue_event_10, queue_event_11,
    queue_event_12, queue_event_13, queue_event_14, queue_event_15, queue_secret from public;
revoke all on function
    _queue_ack_many(bigint[], bytea[], jsonb, bigint),
    _queue_add_error(jsonb, bigint, integer, text, text),
    _queue_advance(text[], text[], bigint, bigint[]),
    _queue_batch_done(text, bigint, bigint, text, text),
    _queue_boolean(jsonb, text),
    _queue_blocked(tid[]),
    _queue_bury(bigint, text, bigint),
    _queue_check_ack(jsonb),
    _queue_check_batch(text, text, bigint),
    _queue_check_count(bigint, text, bigint),
    _queue_check_dead_letter_kind(text, text),
    _queue_check_fit(jsonb, jsonb, text),
    _queue_check_headers(jsonb, text),
    _queue_check_json(text, text, text),
    _queue_check_kinds(jsonb),
    _queue_check_move(text, jsonb, bigint, text),
    _queue_check_nack(jsonb),
    _queue_check_name(text, integer, text),
    _queue_check_options(jsonb, text[], text),
    _queue_check_payload(jsonb, text),
    _queue_check_roles(text[]),
    _queue_check_seconds(double precision),
    _queue_check_shape(jsonb),
    _queue_check_topic(text, text),
    _queue_check_writable(),
    _queue_cron_field(text, integer, integer, text),
    _queue_defaults(),
    _queue_define_filter(text, boolean),
    _queue_define_limits(queue_kind, jsonb, bigint),
    _queue_end(bigint[], bytea[], text, text, bigint),
    _queue_end_undeliverable(tid[], bigint),
    _queue_enrol(text[], bigint[]),
    _queue_expire(bigint, bigint),
    _queue_extend_with_permits(bigint[], bytea[], double precision, bigint),
    _queue_fail(text, text, text, text),
    _queue_find_expired(text, bigint, bigint, integer),
    _queue_find_terms(text, integer, bigint, jsonb, bigint[]),
    _queue_fold_counts(bigint),
    _queue_forget_cursors(text, bigint),
    _queue_forget_terms(bigint[]),
    _queue_release_worker(text, jsonb, bigint, integer),
    _queue_wake_limited(text),
    _queue_group_check(text, bigint),
    _queue_group_note(text),
    _queue_groups_due(bigint),
    _queue_index(bigint[]),
    _queue_instant(jsonb, text),
    _queue_integer(jsonb, text, bigint, bigint),
    _queue_intruders(oid),
    _queue_is_alive(queue_worker, bigint),
    _queue_is_heard(text),
    _queue_is_huge(jsonb),
    _queue_is_plain(jsonb),
    _queue_is_receipt(text),
    _queue_key(bigint),
    _queue_key_behind(text, bigint),
    _queue_check_inbox_row(queue_inbox, bigint),
    _queue_lease_tokens(text, numeric, integer, integer, bigint, bigint),
    _queue_limited_until(queue_kind, bigint),
    _queue_line(text, text[], text[], boolean, boolean),
    _queue_line_up(bigint[]),
    _queue_log(bigint[], text[], text, bigint),
    _queue_log_horizon(),
    _queue_log_known(queue_reader, integer, bigint),
    _queue_log_missed(queue_reader),
    _queue_log_open(),
    _queue_prune_log(text, bigint, bigint),
    _queue_read(queue_reader, integer, bigint),
    _queue_reader(text, text, jsonb),
    _queue_lock_lines(bigint[], bigint[]),
    _queue_lock_moves(bigint[], bytea[], text[], text[]),
    _queue_look_back(text, bigint, integer, queue_cursor),
    _queue_matcher(text),
    _queue_mend_sequences(),
    _queue_members_end(bigint[], text, jsonb, bigint),
    _queue_members_settle(bigint),
    _queue_message(jsonb, bigint, jsonb, bigint),
    _queue_misfit(jsonb, jsonb),
    _queue_move(bigint[], bytea[], text[], jsonb[], bigint),
    _queue_move_many(bigint[], bytea[], text[], jsonb[], bigint),
    _queue_nack(bigint, bytea, jsonb, bigint),
    _queue_newest(delayed_queue),
    _queue_next_local(queue_recurring, bigint),
    _queue_next_tick(queue_recurring, bigint),
    _queue_number(jsonb, text, numeric, numeric),
    _queue_admit(queue_kind, integer, bigint),
    _queue_admitted(queue_kind, bigint[], integer[], bigint[], text[], bigint),
    _queue_promote(text, bigint, bigint, bigint, integer),
    _queue_prune_by_the_way(text, bigint, bigint),
    _queue_prune_groups(bigint, bigint),
    _queue_prune_kind(text, bigint, bigint),
    _queue_prune_terms(bigint),
    _queue_push(text, text, jsonb, bytea, jsonb),
    _queue_push_batch(queue_kind, jsonb, jsonb, bigint, boolean, boolean),
    _queue_push_new(queue_kind, jsonb, jsonb, bigint),
    _queue_push_options(jsonb, bigint),
    _queue_put(delayed_queue, text, bigint, bigint),
    _queue_put_inbox_rows(bigint, bigint, text, bigint, boolean, boolean),
    _queue_put_onto(delayed_queue, text, bigint),
    _queue_shared_cursor(text, bigint),
    _queue_ready(text, bigint),
    _queue_reap(bigint),
    _queue_receipt(text),
    _queue_receipts(jsonb),
    _queue_keep_cursor(text, text, queue_cursor, text, bigint, bigint, integer, tid[], bigint),
    _queue_deliver(queue_kind, integer, bigint, bigint, text, bytea, jsonb),
    _queue_rule(jsonb),
    _queue_savepoint(),
    _queue_scan(text, bigint, integer, integer, queue_cursor, text, bigint),
    _queue_semaphores(jsonb),
    _queue_set_state(text, text),
    _queue_server_run(),
    _queue_session_locks(),
    _queue_setting(text),
    _queue_settings(text),
    _queue_permits_lock(text[], boolean),
    _queue_permits_look(text, bigint, bigint),
    _queue_permits_next(text, text, bigint, bigint),
    _queue_permits_note(bigint[]),
    _queue_permits_ready(text, bigint),
    _queue_permits_room(text, boolean, bigint),
    _queue_permits_settle(bigint[], text[], boolean, bigint),
    _queue_permits_sweep(bigint),
    _queue_permits_take(tid[], queue_kind, bigint, boolean, bigint),
    _queue_permits_wake(text, bigint, bigint),
    _queue_slots(text, integer, integer, integer, bigint),
    _queue_stage_note(text, bigint, jsonb, bigint, bigint, bigint, bigint),
    _queue_stage_prune(bigint, bigint),
    _queue_stage_put(jsonb, bytea[]),
    _queue_stage_remove(bigint, bigint),
    _queue_join_line(bigint[], text[]),
    _queue_state(bigint, bigint, bigint, bigint, bigint),
    _queue_stream_fail(jsonb, text, bigint, bigint),
    _queue_stream_held(text, text, bigint),
    _queue_stream_trim(text, text, bigint),
    _queue_subscribed(text),
    _queue_take(text, integer, bigint, integer),
    _queue_take_with_permits(queue_kind, integer, bigint, bigint, jsonb, tid[], boolean),
    _queue_take_back(bigint[], bigint),
    _queue_drain_inbox(),
    _queue_take_where(queue_kind, integer, bigint, jsonb),
    _queue_text(jsonb, text),
    _queue_terms(text, jsonb),
    _queue_ticks(),
    _queue_effort(),
    _queue_no_look_is_due(text, queue_cursor, bigint),
    _queue_upkeep(queue_kind, bigint, bigint),
    _queue_use(queue_kind, bigint),
    _queue_wake(text, text),
    _queue_where(jsonb),
    _queue_zone_change(text, bigint, bigint),
    _queue_zone_offset(text, bigint),
    queue_ack(text, jsonb),
    queue_ack_many(jsonb, jsonb),
    queue_define(text, jsonb),
    queue_drain(text),
    queue_drop(text),
    queue_extend(text, double precision),
    queue_extend_many(jsonb, double precision),
    queue_get(text, text),
    queue_group(text, text, jsonb, jsonb),
    queue_heartbeat(text, jsonb),
    queue_listen(jsonb),
    queue_move(text, text, jsonb),
    queue_move_many(jsonb, jsonb),
    queue_nack(text, jsonb),
    queue_nack_many(jsonb, jsonb),
    queue_next(jsonb, text, text, integer, jsonb),
    queue_now(),
    queue_pause(text),
    queue_peek(text, integer, jsonb),
    queue_pop(text, integer, jsonb),
    queue_prune(bigint),
    queue_publish(text, text, jsonb, jsonb),
    queue_purge(text, bigint),
    queue_push(text, text, jsonb, jsonb),
    queue_push_bytes(text, text, bytea, jsonb),
    queue_push_many(text, jsonb, jsonb),
    queue_reap(),
    queue_redrive(text, bigint),
    queue_remove(text, text),
    queue_read(text, text, integer, jsonb),
    queue_read_ack(text, bigint),
    queue_read_end(text),
    queue_replay(text, jsonb),
    queue_reserve(text, text, integer, jsonb),
    queue_resume(text),
    queue_schedule(text, text, jsonb, jsonb),
    queue_semaphore(text, bigint),
    queue_stage_abort(text),
    queue_stage_begin(text, jsonb),
    queue_stage_publish(jsonb, jsonb),
    queue_stream_commit(text, bigint, jsonb),
    queue_stream_done(text, bigint),
    queue_stream_extend(text, double precision, jsonb),
    queue_stream_forget(text),
    queue_stream_plan(text),
    queue_stream_ready(text),
    queue_stream_renew(text, bigint),
    queue_stream_reserve(text, bigint, integer, text, integer, jsonb),
    queue_subscribe(text, text),
    queue_tick(),
    queue_time(timestamptz),
    queue_timestamp(bigint),
    queue_unschedule(text),
    queue_unsubscribe(text, text),
    queue_wait(jsonb, double precision)
    from public;

do $$
begin
    if (select count(*) from pg_roles r
        where r.rolname in ('queue_producer', 'queue_consumer', 'queue_operator', 'queue_observer', 'queue_admin')) = 5
        then
        execute format('grant usage on schema %I to queue_producer, queue_consumer, queue_operator, queue_observer',
            current_schema());
        grant execute on function
            queue_push(text, text, jsonb, jsonb),
            queue_push_bytes(text, text, bytea, jsonb),
            queue_push_many(text, jsonb, jsonb)
            to queue_producer;
        grant execute on function queue_publish(text, text, jsonb, jsonb) to queue_producer;
        grant execute on function
            queue_reserve(text, text, integer, jsonb),
            queue_pop(text, integer, jsonb),
            queue_next(jsonb, text, text, integer, jsonb),
            queue_extend(text, double precision),
            queue_extend_many(jsonb, double precision),
            queue_ack(text, jsonb),
            queue_ack_many(jsonb, jsonb),
            queue_nack(text, jsonb),
            queue_nack_many(jsonb, jsonb),
            queue_move(text, text, jsonb),
            queue_move_many(jsonb, jsonb),
            queue_wait(jsonb, double precision),
            queue_listen(jsonb),
            queue_heartbeat(text, jsonb)
            to queue_consumer;
        grant execute on function queue_stage_begin(text, jsonb), queue_stage_publish(jsonb, jsonb),
            queue_stage_abort(text)
            to queue_producer;
        grant execute on function
            queue_stream_plan(text),
            queue_stream_ready(text),
            queue_stream_renew(text, bigint),
            queue_stream_reserve(text, bigint, integer, text, integer, jsonb),
            queue_stream_extend(text, double precision, jsonb),
            queue_stream_forget(text),
            queue_stream_done(text, bigint),
            queue_stream_commit(text, bigint, jsonb)
            to queue_consumer;
        grant execute on function
            queue_get(text, text),
            queue_peek(text, integer, jsonb),
            queue_remove(text, text),
            queue_purge(text, bigint),
            queue_define(text, jsonb),
            queue_drop(text),
            queue_pause(text),
            queue_resume(text),
            queue_redrive(text, bigint)
            to queue_operator;
        grant execute on function queue_now(), queue_time(timestamptz), queue_timestamp(bigint)
            to queue_producer, queue_consumer, queue_operator, queue_observer;
        grant execute on function _queue_is_alive(queue_worker, bigint), _queue_session_locks(),
            _queue_state(bigint, bigint, bigint, bigint, bigint)
            to queue_operator, queue_observer; -- a view's functions are checked against who asks
        grant execute on function queue_tick(), queue_prune(bigint), queue_reap() to queue_consumer, queue_operator;
        grant execute on function queue_read(text, text, integer, jsonb), queue_read_ack(text, bigint),
            queue_read_end(text)
            to queue_consumer, queue_operator;
        grant execute on function queue_group(text, text, jsonb, jsonb) to queue_producer, queue_consumer,
            queue_operator;
        grant execute on function
            queue_subscribe(text, text),
            queue_unsubscribe(text, text),
            queue_schedule(text, text, jsonb, jsonb),
            queue_unschedule(text),
            queue_drain(text),
            queue_replay(text, jsonb),
            queue_semaphore(text, bigint)
            to queue_operator;
        grant insert, select on queue_inbox to queue_producer; -- Spark looks at the columns
        grant insert, select on queue_stage to queue_producer;
        grant select on queue_messages, queue_writes, queue_history, queue_schedules, queue_log to queue_operator;
        grant select on queue_stats, queue_worker, queue_workers, queue_subscriptions, queue_groups,
            queue_semaphores, queue_readers to queue_operator, queue_observer;
        -- what a look reads (pyqueue_sql/overview): columns, so that a new one is nobody's until it stands here
        grant select (p_kind, p_key, entry, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at,
            attempts, reserved_by, ready_at, due_at, max_attempts, source_kind, source_key, member, order_key)
            on delayed_queue to queue_operator, queue_observer;
        grant select (p_kind, paused, draining, dead_letter_kind) on queue_kind to queue_operator, queue_observer;
        grant select (name, p_kind, rule, catch_up, paused, until_at, next_at, last_at)
            on queue_recurring to queue_operator, queue_observer;
        grant select (group_name, then_kind, then_key, on_dead, fail_kind, expected, closed, created_at, finished_at,
            failed) on queue_group to queue_operator, queue_observer;
        grant select (member, group_name, p_kind, p_key, entry, done_at, outcome)
            on queue_group_member to queue_operator, queue_observer;
        grant select (payload, payload_bytes, headers, errors) on delayed_queue to queue_operator;
        grant select (error) on queue_group_member to queue_operator;
        grant select on queue_count, queue_semaphore, queue_semaphore_permit, queue_semaphore_wait to queue_operator,
            queue_observer;
        grant select (p_kind, p_key, state, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at,
            attempts, max_attempts, reserved_by, age, source_kind, source_key, entry)
            on queue_messages to queue_observer;
        grant select (p_kind, p_key, entry, outcome, to_kind, priority, scheduled_at_initially, created_at, reserved_at,
            finished_at, attempts, reserved_by) on queue_history to queue_observer;
        grant select (name, p_kind, rule, catch_up, paused, until, next_at, last_at)
            on queue_schedules to queue_observer;
    end if;
end $$;
