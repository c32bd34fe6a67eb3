-- Installs everything into the first schema of the search path:
--     psql -v ON_ERROR_STOP=1 -1 -f sql/postgresql/install.sql
-- The order below is the only load order; migrations are frozen from it.

-- What views and indexes name is looked up here once and for all; routines are bound to the schema by bind.sql.
select pg_catalog.set_config('search_path', pg_catalog.quote_ident(pg_catalog.current_schema()) || ', pg_temp', false);

-- nobody else may create in the schema
\ir routines/_queue_intruders.sql
\ir check.sql

-- tables
\ir tables/queue_kind.sql
\ir tables/delayed_queue.sql
\ir tables/queue_count.sql
\ir tables/queue_hint.sql
\ir tables/queue_hold.sql
\ir tables/queue_history.sql
\ir tables/queue_dedup.sql
\ir tables/queue_inbox.sql
\ir tables/queue_worker.sql
\ir tables/queue_event.sql
\ir tables/queue_stage_part.sql
\ir tables/queue_stage.sql
\ir tables/queue_stage_done.sql
\ir tables/queue_stream_part.sql
\ir tables/queue_stream_plan.sql
\ir tables/queue_stream_kept.sql
\ir tables/queue_use.sql
\ir tables/queue_subscription.sql
\ir tables/queue_recurring.sql
\ir tables/queue_group.sql
\ir tables/queue_group_slot.sql
\ir tables/queue_group_due.sql
\ir tables/queue_log.sql
\ir tables/queue_log_gone.sql
\ir tables/queue_log_known.sql
\ir tables/queue_reader.sql
\ir tables/queue_group_member.sql
\ir tables/queue_semaphore.sql
\ir tables/queue_semaphore_slot.sql
\ir tables/queue_semaphore_wait.sql
\ir tables/queue_slot.sql
\ir tables/queue_claim.sql
\ir tables/queue_bucket.sql
\ir tables/queue_term.sql

-- routines: the clock
\ir routines/queue_now.sql
\ir routines/queue_time.sql
\ir routines/queue_timestamp.sql
\ir routines/_queue_ticks.sql

-- routines: parameters and errors
\ir routines/_queue_fail.sql
\ir routines/_queue_check_kind.sql
\ir routines/_queue_check_writable.sql
\ir routines/_queue_check_key.sql
\ir routines/_queue_check_count.sql
\ir routines/_queue_check_seconds.sql
\ir routines/_queue_check_kinds.sql
\ir routines/_queue_check_payload.sql
\ir routines/_queue_check_headers.sql
\ir routines/_queue_misfit.sql
\ir routines/_queue_check_fit.sql
\ir routines/_queue_check_shape.sql
\ir routines/_queue_check_options.sql
\ir routines/_queue_number.sql
\ir routines/_queue_integer.sql
\ir routines/_queue_boolean.sql
\ir routines/_queue_text.sql
\ir routines/_queue_instant.sql
\ir routines/_queue_schedule.sql
\ir routines/_queue_route.sql
\ir routines/_queue_order_key.sql
\ir routines/_queue_semaphores.sql
\ir routines/_queue_push_options.sql
\ir routines/_queue_message.sql
\ir routines/_queue_check_nack.sql
\ir routines/_queue_check_move.sql
\ir routines/_queue_is_receipt.sql
\ir routines/_queue_receipt.sql
\ir routines/_queue_receipts.sql
\ir routines/_queue_where.sql

-- routines: what the public ones share
\ir routines/_queue_is_heard.sql
\ir routines/_queue_wake.sql
\ir routines/_queue_freed.sql
\ir routines/_queue_defaults.sql
\ir routines/_queue_settings.sql
\ir routines/_queue_check_dead_letter_kind.sql
\ir routines/_queue_state.sql
\ir routines/_queue_key.sql
\ir routines/_queue_add_error.sql
\ir routines/_queue_newest.sql
\ir routines/_queue_log_open.sql
\ir routines/_queue_log.sql
\ir routines/_queue_log_put.sql
\ir routines/_queue_log_batch.sql
\ir routines/_queue_log_ended.sql
\ir routines/_queue_ended.sql
\ir routines/_queue_keep.sql
\ir routines/_queue_is_remembered.sql
\ir routines/_queue_take_back.sql
\ir routines/_queue_slot_lock.sql
\ir routines/_queue_slot_room.sql
\ir routines/_queue_slot_next.sql
\ir routines/_queue_slot_settle.sql
\ir routines/_queue_slot_look.sql
\ir routines/_queue_slot_sweep.sql
\ir routines/_queue_line_up.sql
\ir routines/_queue_slot_pushed.sql
\ir routines/_queue_terms.sql
\ir routines/_queue_index.sql
\ir routines/_queue_index_keys.sql
\ir routines/_queue_put_onto.sql
\ir routines/_queue_put.sql
\ir routines/_queue_line.sql
\ir routines/_queue_stand.sql
\ir routines/_queue_put_ordered.sql
\ir routines/_queue_lock_batch.sql
\ir routines/_queue_stand_batch.sql
\ir routines/_queue_advance.sql
\ir routines/_queue_with_next.sql
\ir routines/_queue_lock_lines.sql
\ir routines/_queue_blocked.sql
\ir routines/_queue_follow.sql
\ir routines/_queue_put_pending.sql
\ir routines/_queue_group_check.sql
\ir routines/_queue_group_note.sql
\ir routines/_queue_groups_due.sql
\ir routines/_queue_members_end.sql
\ir routines/_queue_members_dead.sql
\ir routines/_queue_enrol.sql
\ir routines/_queue_push.sql
\ir routines/_queue_batch_pushed.sql
\ir routines/_queue_push_batch.sql
\ir routines/_queue_push_ordered.sql
\ir routines/_queue_promote.sql
\ir routines/_queue_held.sql
\ir routines/_queue_find_expired.sql
\ir routines/_queue_scan.sql
\ir routines/_queue_forget_hints.sql
\ir routines/_queue_setting.sql
\ir routines/_queue_bounds_name.sql
\ir routines/_queue_read_hint.sql
\ir routines/_queue_look_back.sql
\ir routines/_queue_look_aside.sql
\ir routines/_queue_remember.sql
\ir routines/_queue_take.sql
\ir routines/_queue_forget_terms.sql
\ir routines/_queue_enter.sql
\ir routines/_queue_find_terms.sql
\ir routines/_queue_take_where.sql
\ir routines/_queue_end.sql
\ir routines/_queue_discard.sql
\ir routines/_queue_bury.sql
\ir routines/_queue_end_expired.sql
\ir routines/_queue_nack.sql
\ir routines/_queue_lock_moves.sql
\ir routines/_queue_move.sql
\ir routines/_queue_move_each.sql
\ir routines/_queue_move_many.sql
\ir routines/_queue_check_ack.sql
\ir routines/_queue_ack_each.sql
\ir routines/_queue_set_paused.sql
\ir routines/_queue_fold_counts.sql
\ir routines/_queue_is_alive.sql
\ir routines/_queue_server_run.sql
\ir routines/_queue_free.sql
\ir routines/_queue_reap.sql
\ir routines/_queue_prune_log.sql
\ir routines/_queue_prune_kind.sql
\ir routines/_queue_prune_by_the_way.sql
\ir routines/_queue_prune_terms.sql
\ir routines/_queue_mend_sequence.sql
\ir routines/_queue_mend_sequences.sql
\ir routines/_queue_tidy.sql
\ir routines/_queue_slot_ready.sql
\ir routines/_queue_limited_until.sql
\ir routines/_queue_ready_bounded.sql
\ir routines/_queue_ready.sql
\ir routines/_queue_stage_remove.sql
\ir routines/_queue_stage_outdated.sql
\ir routines/_queue_stage_prune.sql
\ir routines/_queue_stage_put.sql
\ir routines/_queue_check_batch.sql
\ir routines/_queue_batch_done.sql
\ir routines/_queue_stream_held.sql
\ir routines/_queue_stream_trim.sql
\ir routines/_queue_stream_fail.sql
\ir routines/_queue_landed.sql
\ir routines/_queue_take_in.sql
\ir routines/_queue_take_left.sql

-- routines: limits
\ir routines/_queue_limits_name.sql
\ir routines/_queue_define_limits.sql
\ir routines/_queue_slots_free.sql
\ir routines/_queue_slots.sql
\ir routines/_queue_claim.sql
\ir routines/_queue_lease.sql
\ir routines/_queue_tokens.sql
\ir routines/_queue_permit.sql
\ir routines/_queue_permit_used.sql

-- routines: kinds that expire
\ir routines/_queue_use.sql
\ir routines/_queue_expire.sql

-- routines: topics
\ir routines/_queue_check_topic.sql
\ir routines/_queue_matcher.sql
\ir routines/_queue_subscribed.sql
\ir routines/_queue_publish_onto.sql
\ir routines/queue_subscribe.sql
\ir routines/queue_unsubscribe.sql
\ir routines/queue_publish.sql

-- routines: schedules
\ir routines/_queue_cron_field.sql
\ir routines/_queue_rule.sql
\ir routines/_queue_zone_offset.sql
\ir routines/_queue_zone_change.sql
\ir routines/_queue_next_local.sql
\ir routines/_queue_next_tick.sql
\ir routines/_queue_last_tick.sql
\ir routines/queue_schedule.sql
\ir routines/queue_unschedule.sql
\ir routines/queue_tick.sql

-- routines: groups
\ir routines/_queue_group_options.sql
\ir routines/_queue_prune_groups.sql
\ir routines/queue_group.sql

-- routines: the event log
\ir routines/_queue_log_published.sql
\ir routines/_queue_log_horizon.sql
\ir routines/_queue_read.sql
\ir routines/_queue_log_known.sql
\ir routines/_queue_log_missed.sql
\ir routines/_queue_events.sql
\ir routines/_queue_reader.sql
\ir routines/queue_read.sql
\ir routines/queue_read_ack.sql
\ir routines/queue_read_end.sql

-- routines: drain and replay
\ir routines/queue_drain.sql
\ir routines/queue_replay.sql

-- routines: producers
\ir routines/queue_push.sql
\ir routines/queue_push_bytes.sql
\ir routines/queue_push_many.sql

-- routines: consumers
\ir routines/_queue_slot_take.sql
\ir routines/_queue_take_slotted.sql
\ir routines/_queue_reserve_some.sql
\ir routines/_queue_reserve_many.sql
\ir routines/_queue_reserve_limited.sql
\ir routines/queue_reserve.sql
\ir routines/_queue_pop_some.sql
\ir routines/_queue_pop_many.sql
\ir routines/_queue_pop_limited.sql
\ir routines/queue_pop.sql
\ir routines/_queue_extend_slotted.sql
\ir routines/queue_extend.sql
\ir routines/queue_extend_many.sql
\ir routines/queue_ack.sql
\ir routines/queue_ack_many.sql
\ir routines/queue_nack.sql
\ir routines/queue_nack_many.sql
\ir routines/queue_move.sql
\ir routines/queue_move_many.sql
\ir routines/queue_wait.sql
\ir routines/queue_listen.sql
\ir routines/queue_heartbeat.sql
\ir routines/queue_reap.sql

-- routines: batches of readers and writers
\ir routines/queue_stage_begin.sql
\ir routines/queue_stage_publish.sql
\ir routines/queue_stage_abort.sql
\ir routines/queue_stream_ready.sql
\ir routines/queue_stream_plan.sql
\ir routines/queue_stream_reserve.sql
\ir routines/queue_stream_renew.sql
\ir routines/queue_stream_extend.sql
\ir routines/queue_stream_done.sql
\ir routines/queue_stream_commit.sql
\ir routines/queue_stream_forget.sql

-- routines: operators
\ir routines/queue_get.sql
\ir routines/queue_peek.sql
\ir routines/queue_remove.sql
\ir routines/queue_purge.sql
\ir routines/_queue_define_filter.sql
\ir routines/queue_define.sql
\ir routines/queue_drop.sql
\ir routines/queue_pause.sql
\ir routines/queue_resume.sql
\ir routines/queue_redrive.sql
\ir routines/_queue_exposed.sql
\ir routines/queue_prune.sql
\ir routines/queue_semaphore.sql

-- what they name is in this schema
\ir bind.sql

-- triggers
\ir triggers/queue_inbox.sql

-- views
\ir views/queue_messages.sql
\ir views/queue_stats.sql
\ir views/queue_workers.sql
\ir views/queue_subscriptions.sql
\ir views/queue_schedules.sql
\ir views/queue_groups.sql
\ir views/queue_semaphores.sql
\ir views/queue_readers.sql

-- roles and rights
\ir grants.sql

-- what `pyqueue upgrade` goes on from
create table if not exists queue_version (version_num varchar(32) not null constraint queue_version_pkc primary key);
insert into queue_version (version_num) select '0001_initial' where not exists (select from queue_version);
