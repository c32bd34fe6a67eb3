-- frozen from sql/postgresql by tools.freeze; never edited
drop view queue_readers, queue_semaphores, queue_groups, queue_schedules, queue_subscriptions, queue_writes,
    queue_workers, queue_stats, queue_messages;
--;
drop trigger queue_inbox on queue_inbox;
--;
drop function queue_prune(bigint), _queue_upkeep(queue_kind, bigint, bigint), _queue_mend_sequences(),
    _queue_prune_by_the_way(text, bigint, bigint), _queue_prune_kind(text, bigint, bigint), _queue_fold_counts(bigint),
    queue_resume(text), queue_pause(text), queue_drop(text), queue_define(text, jsonb), queue_drain(text),
    _queue_expire(bigint, bigint), _queue_use(queue_kind, bigint), _queue_set_state(text, text), _queue_settings(text),
    _queue_defaults(), _queue_check_shape(jsonb), _queue_check_roles(text[]), queue_reap(), queue_heartbeat(text,
    jsonb), _queue_reap(bigint), _queue_release_worker(text, jsonb, bigint, integer), _queue_server_run(),
    _queue_is_alive(queue_worker, bigint), _queue_session_locks(), queue_stream_forget(text), queue_stream_commit(text,
    bigint, jsonb), queue_stream_done(text, bigint), queue_stream_extend(text, double precision, jsonb),
    queue_stream_renew(text, bigint), queue_stream_reserve(text, bigint, integer, text, integer, jsonb),
    queue_stream_plan(text), queue_stream_ready(text), queue_stage_abort(text), queue_stage_publish(jsonb, jsonb),
    queue_stage_begin(text, jsonb), _queue_drain_inbox(), _queue_put_inbox_rows(bigint, bigint, text, bigint, boolean,
    boolean), _queue_check_inbox_row(queue_inbox, bigint), _queue_stream_fail(jsonb, text, bigint, bigint),
    _queue_stream_trim(text, text, bigint), _queue_stream_held(text, text, bigint), _queue_batch_done(text, bigint,
    bigint, text, text), _queue_check_batch(text, text, bigint), _queue_stage_put(jsonb, bytea[]),
    _queue_stage_note(text, bigint, jsonb, bigint, bigint, bigint, bigint), _queue_stage_prune(bigint, bigint),
    _queue_stage_remove(bigint, bigint), _queue_define_filter(text, boolean), _queue_prune_terms(bigint),
    _queue_take_where(queue_kind, integer, bigint, jsonb), _queue_find_terms(text, integer, bigint, jsonb, bigint[]),
    _queue_forget_terms(bigint[]), _queue_index(bigint[]), _queue_terms(text, jsonb), _queue_where(jsonb),
    queue_read_end(text), queue_read_ack(text, bigint), queue_read(text, text, integer, jsonb), _queue_reader(text,
    text, jsonb), _queue_log_missed(queue_reader), _queue_log_known(queue_reader, integer, bigint),
    _queue_read(queue_reader, integer, bigint), _queue_log_horizon(), _queue_prune_log(text, bigint, bigint),
    _queue_log(bigint[], text[], text, bigint), _queue_log_open(), queue_tick(), queue_unschedule(text),
    queue_schedule(text, text, jsonb, jsonb), _queue_next_tick(queue_recurring, bigint),
    _queue_next_local(queue_recurring, bigint), _queue_zone_change(text, bigint, bigint), _queue_zone_offset(text,
    bigint), _queue_rule(jsonb), _queue_cron_field(text, integer, integer, text), queue_publish(text, text, jsonb,
    jsonb), queue_unsubscribe(text, text), queue_subscribe(text, text), _queue_subscribed(text), _queue_matcher(text),
    _queue_check_topic(text, text), queue_group(text, text, jsonb, jsonb), _queue_prune_groups(bigint, bigint),
    _queue_enrol(text[], bigint[]), _queue_members_settle(bigint), _queue_members_end(bigint[], text, jsonb, bigint),
    _queue_groups_due(bigint), _queue_group_note(text), _queue_group_check(text, bigint), _queue_admitted(queue_kind,
    bigint[], integer[], bigint[], text[], bigint), _queue_admit(queue_kind, integer, bigint), _queue_lease_tokens(text,
    numeric, integer, integer, bigint, bigint), _queue_slots(text, integer, integer, integer, bigint),
    _queue_define_limits(queue_kind, jsonb, bigint), _queue_limited_until(queue_kind, bigint), queue_semaphore(text,
    bigint), _queue_extend_with_permits(bigint[], bytea[], double precision, bigint),
    _queue_take_with_permits(queue_kind, integer, bigint, bigint, jsonb, tid[], boolean), _queue_permits_take(tid[],
    queue_kind, bigint, boolean, bigint), _queue_permits_ready(text, bigint), _queue_blocked(tid[]),
    _queue_lock_lines(bigint[], bigint[]), _queue_advance(text[], text[], bigint, bigint[]), _queue_join_line(bigint[],
    text[]), _queue_line(text, text[], text[], boolean, boolean), _queue_line_up(bigint[]),
    _queue_permits_sweep(bigint), _queue_permits_look(text, bigint, bigint), _queue_permits_settle(bigint[], text[],
    boolean, bigint), _queue_permits_note(bigint[]), _queue_permits_next(text, text, bigint, bigint),
    _queue_permits_wake(text, bigint, bigint), _queue_permits_room(text, boolean, bigint), _queue_permits_lock(text[],
    boolean), _queue_semaphores(jsonb), queue_replay(text, jsonb), _queue_take_back(bigint[], bigint),
    queue_redrive(text, bigint), queue_purge(text, bigint), queue_remove(text, text), queue_move_many(jsonb, jsonb),
    queue_move(text, text, jsonb), queue_nack_many(jsonb, jsonb), queue_nack(text, jsonb), queue_ack_many(jsonb, jsonb),
    queue_ack(text, jsonb), _queue_ack_many(bigint[], bytea[], jsonb, bigint), _queue_check_ack(jsonb),
    _queue_move_many(bigint[], bytea[], text[], jsonb[], bigint), _queue_move(bigint[], bytea[], text[], jsonb[],
    bigint), _queue_lock_moves(bigint[], bytea[], text[], text[]), _queue_nack(bigint, bytea, jsonb, bigint),
    _queue_bury(bigint, text, bigint), _queue_end(bigint[], bytea[], text, text, bigint),
    _queue_check_dead_letter_kind(text, text), _queue_check_move(text, jsonb, bigint, text), _queue_check_nack(jsonb),
    queue_listen(jsonb), queue_wait(jsonb, double precision), _queue_ready(text, bigint), _queue_wake_limited(text),
    _queue_wake(text, text), _queue_is_heard(text), _queue_keep_cursor(text, text, queue_cursor, text, bigint, bigint,
    integer, tid[], bigint), _queue_look_back(text, bigint, integer, queue_cursor), _queue_shared_cursor(text, bigint),
    _queue_forget_cursors(text, bigint), _queue_find_expired(text, bigint, bigint, integer), _queue_no_look_is_due(text,
    queue_cursor, bigint), _queue_effort(), queue_next(jsonb, text, text, integer, jsonb), queue_extend_many(jsonb,
    double precision), queue_extend(text, double precision), queue_pop(text, integer, jsonb), queue_reserve(text, text,
    integer, jsonb), _queue_deliver(queue_kind, integer, bigint, bigint, text, bytea, jsonb),
    _queue_end_undeliverable(tid[], bigint), _queue_take(text, integer, bigint, integer), _queue_scan(text, bigint,
    integer, integer, queue_cursor, text, bigint), _queue_promote(text, bigint, bigint, bigint, integer),
    queue_push_many(text, jsonb, jsonb), queue_push_bytes(text, text, bytea, jsonb), queue_push(text, text, jsonb,
    jsonb), _queue_push_new(queue_kind, jsonb, jsonb, bigint), _queue_push_batch(queue_kind, jsonb, jsonb, bigint,
    boolean, boolean), _queue_push(text, text, jsonb, bytea, jsonb), _queue_put(delayed_queue, text, bigint, bigint),
    _queue_put_onto(delayed_queue, text, bigint), _queue_key_behind(text, bigint), _queue_key(bigint),
    _queue_is_plain(jsonb), _queue_message(jsonb, bigint, jsonb, bigint), _queue_push_options(jsonb, bigint),
    _queue_check_fit(jsonb, jsonb, text), _queue_misfit(jsonb, jsonb), queue_peek(text, integer, jsonb), queue_get(text,
    text), _queue_newest(delayed_queue), _queue_add_error(jsonb, bigint, integer, text, text), _queue_state(bigint,
    bigint, bigint, bigint, bigint), _queue_savepoint(), _queue_setting(text), _queue_receipts(jsonb),
    _queue_receipt(text), _queue_is_receipt(text), _queue_check_json(text, text, text), _queue_is_huge(jsonb),
    _queue_instant(jsonb, text), _queue_text(jsonb, text), _queue_boolean(jsonb, text), _queue_integer(jsonb, text,
    bigint, bigint), _queue_number(jsonb, text, numeric, numeric), _queue_check_options(jsonb, text[], text),
    _queue_check_headers(jsonb, text), _queue_check_payload(jsonb, text), _queue_check_kinds(jsonb),
    _queue_check_seconds(double precision), _queue_check_count(bigint, text, bigint), _queue_check_writable(),
    _queue_check_name(text, integer, text), _queue_fail(text, text, text, text), _queue_ticks(),
    queue_timestamp(bigint), queue_time(timestamptz), queue_now(), _queue_intruders(oid);
--;
drop table queue_term, queue_bucket, queue_claim, queue_slot, queue_semaphore_wait, queue_semaphore_permit,
    queue_semaphore, queue_group_member, queue_reader, queue_log_known, queue_log_gone, queue_log, queue_group_due,
    queue_group_stripe, queue_group, queue_recurring, queue_subscription, queue_use, queue_stream_kept,
    queue_stream_plan, queue_stream_part, queue_write, queue_stage_done, queue_stage, queue_stage_part;
--;
drop sequence queue_stage_part_part_seq, queue_secret, queue_event_15, queue_event_14, queue_event_13, queue_event_12,
    queue_event_11, queue_event_10, queue_event_9, queue_event_8, queue_event_7, queue_event_6, queue_event_5,
    queue_event_4, queue_event_3, queue_event_2, queue_event_1, queue_event_0;
--;
drop table queue_worker, queue_inbox, queue_dedup, queue_history, queue_hold, queue_cursor, queue_count, delayed_queue,
    queue_kind;
--;
do $$
begin
    if (select count(*) from pg_catalog.pg_roles r where r.rolname = any ('{queue_admin, queue_observer, queue_operator, queue_consumer, queue_producer}')) = 5 then
        execute format('revoke usage on schema %I from queue_admin, queue_observer, queue_operator, queue_consumer, queue_producer', current_schema());
    end if;
end $$;
--;
do $$
begin
    if not exists (select from pg_catalog.pg_auth_members m
        join pg_catalog.pg_roles r on r.oid = m.roleid join pg_catalog.pg_roles u on u.oid = m.member
        where r.rolname = any ('{queue_admin, queue_observer, queue_operator, queue_consumer, queue_producer}') and u.rolname <> all ('{queue_admin, queue_observer, queue_operator, queue_consumer, queue_producer}')
        and u.rolname <> current_user) then
        drop role if exists queue_admin, queue_observer, queue_operator, queue_consumer, queue_producer;
    end if;
exception when dependent_objects_still_exist or insufficient_privilege then
    raise notice 'roles stay: %', sqlerrm;
end $$;
