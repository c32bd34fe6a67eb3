-- What makes up the queue on MariaDB and MySQL, in the only order in which it can be loaded. Migrations are frozen from
-- it. What the files leave out is written out by tools/expand_mysql.py, so a client takes what the command prints:
--     pyqueue sql --dialect mysql
-- All of it can be run again.

-- routines keep these two
set names utf8mb4;
set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO';

-- tables
source settings/queue_kind.table.sql
source messages/delayed_queue.table.sql
source upkeep/queue_count.table.sql
source cursor/queue_cursor.table.sql
source history/queue_history.table.sql
source history/queue_dedup.table.sql
source staging/queue_inbox.table.sql
source workers/queue_worker.table.sql
source staging/queue_stage_part.table.sql
source staging/queue_stage.table.sql
source staging/queue_stage_done.table.sql
source staging/queue_write.table.sql
source staging/queue_stream_part.table.sql
source staging/queue_stream_plan.table.sql
source staging/queue_stream_kept.table.sql
source settings/queue_use.table.sql
source topics/queue_subscription.table.sql
source schedules/queue_recurring.table.sql
source groups/queue_group.table.sql
source groups/queue_group_stripe.table.sql
source groups/queue_group_due.table.sql
source log/queue_log.table.sql
source log/queue_log_epoch.table.sql
source log/queue_log_gone.table.sql
source log/queue_log_known.table.sql
source log/queue_reader.table.sql
source groups/queue_group_member.table.sql
source turns/queue_order.table.sql
source turns/queue_order_waiting.table.sql
source turns/queue_semaphore.table.sql
source turns/queue_semaphore_permit.table.sql
source turns/queue_semaphore_wait.table.sql
source limits/queue_slot.table.sql
source limits/queue_bucket.table.sql
source filters/queue_term.table.sql
source base/queue_epoch.table.sql
source base/queue_gate.table.sql
-- without wake/queue_event.table.sql: nothing is notified, see docs/adr/0005-waiting-on-innodb.md
-- without cursor/queue_hold.table.sql: cursors do without notes of the ends of holds, see docs/adr/0003
-- without limits/queue_claim.table.sql: queue_slot has what stands in it, see docs/adr/0012-limits.md

-- base
source base/queue_now.sql
source base/_queue_ticks.sql
source base/_queue_epoch.sql
source base/_queue_entry.sql
source base/_queue_fail.sql
source base/_queue_check_name.sql
source base/_queue_check_count.sql
source base/_queue_check_seconds.sql
source base/_queue_check_payload.sql
source base/_queue_check_headers.sql
source base/_queue_check_options.sql
source base/_queue_merge_options.sql
source base/_queue_number.sql
source base/_queue_integer.sql
source base/_queue_boolean.sql
source base/_queue_text.sql
source base/_queue_instant.sql
source base/_queue_receipt.sql
source base/_queue_receipts.sql
source base/_queue_check_json.sql
source base/_queue_check_kinds.sql
source base/_queue_begin.sql
source base/_queue_commit.sql
source base/_queue_undo.sql
source base/_queue_random.sql
source base/_queue_begin_alone.sql
source base/_queue_retry.sql

-- messages
source messages/_queue_add_error.sql
source messages/_queue_lock.sql
source messages/queue_get.sql
source messages/queue_peek.sql

-- arrive
source arrive/_queue_misfit.sql
source arrive/_queue_check_fit.sql
source arrive/_queue_push_options.sql
source arrive/_queue_message.sql
source arrive/_queue_key.sql
source arrive/_queue_put_onto.sql
source arrive/_queue_put.sql
source arrive/_queue_push.sql
source arrive/_queue_push_plain.sql
source arrive/_queue_lock_keys.sql
source arrive/_queue_push_each.sql
source arrive/_queue_push_batch.sql
source arrive/queue_push.sql
source arrive/queue_push_bytes.sql
source arrive/queue_push_many.sql
source arrive/queue_push_into.sql

-- deliver
source deliver/_queue_promote.sql
source deliver/_queue_scan.sql
source deliver/_queue_take.sql
source deliver/_queue_end_undeliverable.sql
source deliver/_queue_deliver.sql
source deliver/_queue_reserve.sql
source deliver/_queue_take_onward.sql
source deliver/queue_reserve.sql
source deliver/queue_pop.sql
source deliver/queue_extend.sql
source deliver/queue_extend_many.sql
source deliver/_queue_answer.sql
source deliver/queue_next.sql

-- cursor
source cursor/_queue_forget_cursors.sql
source cursor/_queue_shared_cursor.sql
source cursor/_queue_keep_cursor.sql

-- wake
source wake/_queue_ready.sql
source wake/_queue_wait_kinds.sql
source wake/_queue_wait_end.sql
source wake/queue_wait.sql
-- without wake/queue_listen.sql: nothing notifies a client here, queue_wait waits in the server

-- end
source end/_queue_check_nack.sql
source end/_queue_check_move.sql
source end/_queue_check_dead_letter_kind.sql
source end/_queue_bury.sql
source end/_queue_nack.sql
source end/_queue_lock_moves.sql
source end/_queue_move.sql
source end/_queue_move_many.sql
source end/_queue_check_ack.sql
source end/_queue_ack.sql
source end/_queue_ack_many.sql
source end/_queue_end_many.sql
source end/_queue_end.sql
source end/queue_ack.sql
source end/queue_ack_many.sql
source end/queue_nack.sql
source end/queue_nack_many.sql
source end/queue_move.sql
source end/queue_move_many.sql
source end/queue_remove.sql
source end/queue_purge.sql
source end/queue_redrive.sql

-- history
source history/queue_replay.sql

-- turns
source turns/_queue_join_line.sql
source turns/_queue_advance.sql
source turns/_queue_semaphores.sql
source turns/_queue_permits_lock.sql
source turns/_queue_permits_room.sql
source turns/_queue_permits_lacking.sql
source turns/_queue_permits_next.sql
source turns/_queue_permits_wake.sql
source turns/_queue_permits_settle.sql
source turns/_queue_permits_note.sql
source turns/_queue_permits_end.sql
source turns/_queue_permits_look.sql
source turns/_queue_permits_ready.sql
source turns/_queue_permits_sweep.sql
source turns/_queue_line_up.sql
source turns/_queue_permits_take.sql
source turns/_queue_take_with_permits.sql
source turns/_queue_extend_with_permits.sql
source turns/queue_semaphore.sql

-- limits
source limits/_queue_limited_until.sql
source limits/_queue_define_limits.sql
source limits/_queue_slots.sql
source limits/_queue_lease_tokens.sql
source limits/_queue_admit.sql
source limits/_queue_admitted.sql

-- groups
source groups/_queue_group_check.sql
source groups/_queue_group_note.sql
source groups/_queue_groups_due.sql
source groups/_queue_members_end.sql
source groups/_queue_members_settle.sql
source groups/_queue_enrol.sql
source groups/_queue_prune_groups.sql
source groups/queue_group.sql

-- topics
source topics/_queue_check_topic.sql
source topics/_queue_subscribed.sql
source topics/queue_subscribe.sql
source topics/queue_unsubscribe.sql
source topics/queue_publish.sql
source topics/_queue_matcher.sql

-- schedules
source schedules/_queue_cron_field.sql
source schedules/_queue_rule.sql
source schedules/_queue_zone_offset.sql
source schedules/_queue_zone_change.sql
source schedules/_queue_next_local.sql
source schedules/_queue_next_tick.sql
source schedules/queue_schedule.sql
source schedules/queue_unschedule.sql
source schedules/queue_tick.sql

-- log
source log/_queue_prune_log.sql
source log/_queue_log_open.sql
source log/_queue_log.sql
source log/_queue_log_entries.sql
source log/_queue_log_horizon.sql
source log/_queue_read.sql
source log/_queue_log_known.sql
source log/_queue_log_missed.sql
source log/_queue_reader.sql
source log/queue_read.sql
source log/queue_read_ack.sql
source log/queue_read_end.sql

-- filters
source filters/_queue_leaves.sql
source filters/_queue_where.sql
source filters/_queue_first_of.sql
source filters/_queue_matches.sql
source filters/_queue_index.sql
source filters/_queue_forget_terms.sql
source filters/_queue_prune_terms.sql
source filters/_queue_define_filter.sql
source filters/_queue_look_where.sql
source filters/_queue_take_candidates.sql
source filters/_queue_find_terms.sql
source filters/_queue_take_where.sql

-- staging
source staging/_queue_drain_inbox.sql
source staging/_queue_check_inbox_row.sql
source staging/_queue_stage_remove.sql
source staging/_queue_stage_prune.sql
source staging/_queue_stage_note.sql
source staging/_queue_stage_put.sql
source staging/_queue_stage_put_each.sql
source staging/_queue_check_batch.sql
source staging/_queue_batch_done.sql
source staging/_queue_stream_held.sql
source staging/_queue_stream_trim.sql
source staging/_queue_stream_fail.sql
source staging/queue_stage_begin.sql
source staging/queue_stage_publish.sql
source staging/queue_stage_abort.sql
source staging/queue_stream_ready.sql
source staging/queue_stream_plan.sql
source staging/queue_stream_reserve.sql
source staging/queue_stream_renew.sql
source staging/queue_stream_extend.sql
source staging/queue_stream_done.sql
source staging/queue_stream_commit.sql
source staging/queue_stream_forget.sql

-- workers
source workers/_queue_release_worker.sql
source workers/_queue_server_run.sql
source workers/_queue_reap.sql
source workers/queue_heartbeat.sql
source workers/queue_reap.sql

-- settings
source settings/_queue_check_roles.sql
source settings/_queue_check_shape.sql
source settings/_queue_defaults.sql
source settings/_queue_set_state.sql
source settings/_queue_use.sql
source settings/_queue_expire.sql
source settings/queue_drain.sql
source settings/queue_define.sql
source settings/queue_drop.sql
source settings/queue_pause.sql
source settings/queue_resume.sql

-- upkeep
source upkeep/_queue_fold_counts.sql
source upkeep/_queue_prune_kind.sql
source upkeep/_queue_prune_by_the_way.sql
source upkeep/_queue_upkeep.sql
source upkeep/queue_prune.sql

-- views
source messages/queue_messages.view.sql
source upkeep/queue_stats.view.sql
source workers/queue_workers.view.sql
source staging/queue_writes.view.sql
source topics/queue_subscriptions.view.sql
source schedules/queue_schedules.view.sql
source groups/queue_groups.view.sql
source turns/queue_semaphores.view.sql
source log/queue_readers.view.sql

-- what `pyqueue upgrade` goes on from
create table if not exists queue_version (
    version_num varchar(32) not null,
    primary key (version_num)
) engine = innodb row_format = dynamic;
insert into queue_version (version_num) select '0001_initial' from dual where not exists (select 1 from queue_version);
