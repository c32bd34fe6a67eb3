-- Installs everything into the first schema of the search path:
--     psql -v ON_ERROR_STOP=1 -1 -f sql/postgresql/install.sql
-- The order below is the only load order; migrations are frozen from it.

-- What views and indexes name is looked up here once and for all; routines are bound to the schema by bind.sql.
select pg_catalog.set_config('search_path', pg_catalog.quote_ident(pg_catalog.current_schema()) || ', pg_temp', false);
set standard_conforming_strings = on;
set client_encoding = 'UTF8';

-- nobody else may create in the schema
\ir base/_queue_intruders.sql
\ir check.sql

-- tables
\ir settings/queue_kind.table.sql
\ir messages/delayed_queue.table.sql
\ir upkeep/queue_count.table.sql
\ir cursor/queue_cursor.table.sql
\ir cursor/queue_hold.table.sql
\ir history/queue_history.table.sql
\ir history/queue_dedup.table.sql
\ir staging/queue_inbox.table.sql
\ir workers/queue_worker.table.sql
\ir wake/queue_event.table.sql
\ir staging/queue_stage_part.table.sql
\ir staging/queue_stage.table.sql
\ir staging/queue_stage_done.table.sql
\ir staging/queue_write.table.sql
\ir staging/queue_stream_part.table.sql
\ir staging/queue_stream_plan.table.sql
\ir staging/queue_stream_kept.table.sql
\ir settings/queue_use.table.sql
\ir topics/queue_subscription.table.sql
\ir schedules/queue_recurring.table.sql
\ir groups/queue_group.table.sql
\ir groups/queue_group_stripe.table.sql
\ir groups/queue_group_due.table.sql
\ir log/queue_log.table.sql
\ir log/queue_log_gone.table.sql
\ir log/queue_log_known.table.sql
\ir log/queue_reader.table.sql
\ir groups/queue_group_member.table.sql
\ir turns/queue_semaphore.table.sql
\ir turns/queue_semaphore_permit.table.sql
\ir turns/queue_semaphore_wait.table.sql
\ir limits/queue_slot.table.sql
\ir limits/queue_claim.table.sql
\ir limits/queue_bucket.table.sql
\ir filters/queue_term.table.sql

-- base
\ir base/queue_now.sql
\ir base/queue_time.sql
\ir base/queue_timestamp.sql
\ir base/_queue_ticks.sql
\ir base/_queue_fail.sql
\ir base/_queue_check_name.sql
\ir base/_queue_check_writable.sql
\ir base/_queue_check_count.sql
\ir base/_queue_check_seconds.sql
\ir base/_queue_check_kinds.sql
\ir base/_queue_check_payload.sql
\ir base/_queue_check_headers.sql
\ir base/_queue_check_options.sql
\ir base/_queue_number.sql
\ir base/_queue_integer.sql
\ir base/_queue_boolean.sql
\ir base/_queue_text.sql
\ir base/_queue_instant.sql
\ir base/_queue_is_huge.sql
\ir base/_queue_check_json.sql
\ir base/_queue_is_receipt.sql
\ir base/_queue_receipt.sql
\ir base/_queue_receipts.sql
\ir base/_queue_setting.sql
\ir base/_queue_savepoint.sql

-- messages
\ir messages/_queue_state.sql
\ir messages/_queue_add_error.sql
\ir messages/_queue_newest.sql
\ir messages/queue_get.sql
\ir messages/queue_peek.sql

-- arrive
\ir arrive/_queue_misfit.sql
\ir arrive/_queue_check_fit.sql
\ir arrive/_queue_push_options.sql
\ir arrive/_queue_message.sql
\ir arrive/_queue_is_plain.sql
\ir arrive/_queue_key.sql
\ir arrive/_queue_key_behind.sql
\ir arrive/_queue_put_onto.sql
\ir arrive/_queue_put.sql
\ir arrive/_queue_push.sql
\ir arrive/_queue_push_batch.sql
\ir arrive/_queue_push_new.sql
\ir arrive/queue_push.sql
\ir arrive/queue_push_bytes.sql
\ir arrive/queue_push_many.sql

-- deliver
\ir deliver/_queue_promote.sql
\ir deliver/_queue_scan.sql
\ir deliver/_queue_take.sql
\ir deliver/_queue_end_undeliverable.sql
\ir deliver/_queue_deliver.sql
\ir deliver/queue_reserve.sql
\ir deliver/queue_pop.sql
\ir deliver/queue_extend.sql
\ir deliver/queue_extend_many.sql
\ir deliver/queue_next.sql

-- cursor
\ir cursor/_queue_effort.sql
\ir cursor/_queue_no_look_is_due.sql
\ir cursor/_queue_find_expired.sql
\ir cursor/_queue_forget_cursors.sql
\ir cursor/_queue_shared_cursor.sql
\ir cursor/_queue_look_back.sql
\ir cursor/_queue_keep_cursor.sql

-- wake
\ir wake/_queue_is_heard.sql
\ir wake/_queue_wake.sql
\ir wake/_queue_wake_limited.sql
\ir wake/_queue_ready.sql
\ir wake/queue_wait.sql
\ir wake/queue_listen.sql

-- end
\ir end/_queue_check_nack.sql
\ir end/_queue_check_move.sql
\ir end/_queue_check_dead_letter_kind.sql
\ir end/_queue_end.sql
\ir end/_queue_bury.sql
\ir end/_queue_nack.sql
\ir end/_queue_lock_moves.sql
\ir end/_queue_move.sql
\ir end/_queue_move_many.sql
\ir end/_queue_check_ack.sql
\ir end/_queue_ack_many.sql
\ir end/queue_ack.sql
\ir end/queue_ack_many.sql
\ir end/queue_nack.sql
\ir end/queue_nack_many.sql
\ir end/queue_move.sql
\ir end/queue_move_many.sql
\ir end/queue_remove.sql
\ir end/queue_purge.sql
\ir end/queue_redrive.sql

-- history
\ir history/_queue_take_back.sql
\ir history/queue_replay.sql

-- turns
\ir turns/_queue_semaphores.sql
\ir turns/_queue_permits_lock.sql
\ir turns/_queue_permits_room.sql
\ir turns/_queue_permits_wake.sql
\ir turns/_queue_permits_next.sql
\ir turns/_queue_permits_note.sql
\ir turns/_queue_permits_settle.sql
\ir turns/_queue_permits_look.sql
\ir turns/_queue_permits_sweep.sql
\ir turns/_queue_line_up.sql
\ir turns/_queue_line.sql
\ir turns/_queue_join_line.sql
\ir turns/_queue_advance.sql
\ir turns/_queue_lock_lines.sql
\ir turns/_queue_blocked.sql
\ir turns/_queue_permits_ready.sql
\ir turns/_queue_permits_take.sql
\ir turns/_queue_take_with_permits.sql
\ir turns/_queue_extend_with_permits.sql
\ir turns/queue_semaphore.sql

-- limits
\ir limits/_queue_limited_until.sql
\ir limits/_queue_define_limits.sql
\ir limits/_queue_slots.sql
\ir limits/_queue_lease_tokens.sql
\ir limits/_queue_admit.sql
\ir limits/_queue_admitted.sql

-- groups
\ir groups/_queue_group_check.sql
\ir groups/_queue_group_note.sql
\ir groups/_queue_groups_due.sql
\ir groups/_queue_members_end.sql
\ir groups/_queue_members_settle.sql
\ir groups/_queue_enrol.sql
\ir groups/_queue_prune_groups.sql
\ir groups/queue_group.sql

-- topics
\ir topics/_queue_check_topic.sql
\ir topics/_queue_matcher.sql
\ir topics/_queue_subscribed.sql
\ir topics/queue_subscribe.sql
\ir topics/queue_unsubscribe.sql
\ir topics/queue_publish.sql

-- schedules
\ir schedules/_queue_cron_field.sql
\ir schedules/_queue_rule.sql
\ir schedules/_queue_zone_offset.sql
\ir schedules/_queue_zone_change.sql
\ir schedules/_queue_next_local.sql
\ir schedules/_queue_next_tick.sql
\ir schedules/queue_schedule.sql
\ir schedules/queue_unschedule.sql
\ir schedules/queue_tick.sql

-- log
\ir log/_queue_log_open.sql
\ir log/_queue_log.sql
\ir log/_queue_prune_log.sql
\ir log/_queue_log_horizon.sql
\ir log/_queue_read.sql
\ir log/_queue_log_known.sql
\ir log/_queue_log_missed.sql
\ir log/_queue_reader.sql
\ir log/queue_read.sql
\ir log/queue_read_ack.sql
\ir log/queue_read_end.sql

-- filters
\ir filters/_queue_where.sql
\ir filters/_queue_terms.sql
\ir filters/_queue_index.sql
\ir filters/_queue_forget_terms.sql
\ir filters/_queue_find_terms.sql
\ir filters/_queue_take_where.sql
\ir filters/_queue_prune_terms.sql
\ir filters/_queue_define_filter.sql

-- staging
\ir staging/_queue_stage_remove.sql
\ir staging/_queue_stage_prune.sql
\ir staging/_queue_stage_note.sql
\ir staging/_queue_stage_put.sql
\ir staging/_queue_check_batch.sql
\ir staging/_queue_batch_done.sql
\ir staging/_queue_stream_held.sql
\ir staging/_queue_stream_trim.sql
\ir staging/_queue_stream_fail.sql
\ir staging/_queue_check_inbox_row.sql
\ir staging/_queue_put_inbox_rows.sql
\ir staging/_queue_drain_inbox.sql
\ir staging/queue_stage_begin.sql
\ir staging/queue_stage_publish.sql
\ir staging/queue_stage_abort.sql
\ir staging/queue_stream_ready.sql
\ir staging/queue_stream_plan.sql
\ir staging/queue_stream_reserve.sql
\ir staging/queue_stream_renew.sql
\ir staging/queue_stream_extend.sql
\ir staging/queue_stream_done.sql
\ir staging/queue_stream_commit.sql
\ir staging/queue_stream_forget.sql

-- workers
\ir workers/_queue_session_locks.sql
\ir workers/_queue_is_alive.sql
\ir workers/_queue_server_run.sql
\ir workers/_queue_release_worker.sql
\ir workers/_queue_reap.sql
\ir workers/queue_heartbeat.sql
\ir workers/queue_reap.sql

-- settings
\ir settings/_queue_check_roles.sql
\ir settings/_queue_check_shape.sql
\ir settings/_queue_defaults.sql
\ir settings/_queue_settings.sql
\ir settings/_queue_set_state.sql
\ir settings/_queue_use.sql
\ir settings/_queue_expire.sql
\ir settings/queue_drain.sql
\ir settings/queue_define.sql
\ir settings/queue_drop.sql
\ir settings/queue_pause.sql
\ir settings/queue_resume.sql

-- upkeep
\ir upkeep/_queue_fold_counts.sql
\ir upkeep/_queue_prune_kind.sql
\ir upkeep/_queue_prune_by_the_way.sql
\ir upkeep/_queue_mend_sequences.sql
\ir upkeep/_queue_upkeep.sql
\ir upkeep/queue_prune.sql

-- what they name is in this schema
\ir bind.sql

-- triggers
\ir staging/queue_inbox.trigger.sql

-- views
\ir messages/queue_messages.view.sql
\ir upkeep/queue_stats.view.sql
\ir workers/queue_workers.view.sql
\ir staging/queue_writes.view.sql
\ir topics/queue_subscriptions.view.sql
\ir schedules/queue_schedules.view.sql
\ir groups/queue_groups.view.sql
\ir turns/queue_semaphores.view.sql
\ir log/queue_readers.view.sql

-- roles and rights
\ir grants.sql

-- what `pyqueue upgrade` goes on from
create table if not exists queue_version (version_num varchar(32) not null constraint queue_version_pkc primary key);
insert into queue_version (version_num) select '0001_initial' where not exists (select from queue_version);
