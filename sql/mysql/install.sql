-- Installs the queue into the current database, with a plain client of MariaDB or MySQL:
--     cd sql/mysql && mariadb app < install.sql
--     cd sql/mysql && mariadb app < optional.sql
-- The order below is the only load order; migrations are frozen from it. All of it can be run again.

-- routines keep these two
set names utf8mb4;
set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO';

-- tables
source tables/queue_kind.sql
source tables/delayed_queue.sql
source tables/queue_count.sql
source tables/queue_hint.sql
source tables/queue_history.sql
source tables/queue_dedup.sql
source tables/queue_inbox.sql
source tables/queue_worker.sql
source tables/queue_stage_part.sql
source tables/queue_stage.sql
source tables/queue_stage_done.sql
source tables/queue_stream_part.sql
source tables/queue_stream_plan.sql
source tables/queue_stream_kept.sql
source tables/queue_use.sql
source tables/queue_subscription.sql
source tables/queue_recurring.sql
source tables/queue_group.sql
source tables/queue_group_slot.sql
source tables/queue_group_due.sql
source tables/queue_log.sql
source tables/queue_log_epoch.sql
source tables/queue_log_gone.sql
source tables/queue_log_known.sql
source tables/queue_reader.sql
source tables/queue_group_member.sql
source tables/queue_order.sql
source tables/queue_order_waiting.sql
source tables/queue_semaphore.sql
source tables/queue_semaphore_slot.sql
source tables/queue_semaphore_wait.sql
source tables/queue_place.sql
source tables/queue_bucket.sql
source tables/queue_term.sql
source tables/queue_epoch.sql
source tables/queue_gate.sql
-- without tables/queue_event: nothing is notified, see docs/adr/0005-waiting-on-innodb.md
-- without tables/queue_hold: bounds do without notes of the ends of holds, see docs/adr/0003-mariadb-and-mysql.md
-- without tables/queue_slot: queue_place has the places and what stands in them, see docs/adr/0012-limits.md
-- without tables/queue_claim: see tables/queue_slot

-- routines: the clock
source routines/queue_now.sql
source routines/_queue_ticks.sql
source routines/_queue_epoch.sql
source routines/_queue_entry.sql

-- routines: parameters and errors
source routines/_queue_fail.sql
source routines/_queue_check_kind.sql
source routines/_queue_check_key.sql
source routines/_queue_check_count.sql
source routines/_queue_check_seconds.sql
source routines/_queue_check_payload.sql
source routines/_queue_check_headers.sql
source routines/_queue_misfit.sql
source routines/_queue_check_fit.sql
source routines/_queue_check_shape.sql
source routines/_queue_check_options.sql
source routines/_queue_number.sql
source routines/_queue_integer.sql
source routines/_queue_boolean.sql
source routines/_queue_text.sql
source routines/_queue_instant.sql
source routines/_queue_schedule.sql
source routines/_queue_route.sql
source routines/_queue_order_key.sql
source routines/_queue_push_options.sql
source routines/_queue_message.sql
source routines/_queue_check_nack.sql
source routines/_queue_check_move.sql
source routines/_queue_receipt.sql
source routines/_queue_receipts.sql
source routines/_queue_check_json.sql
source routines/_queue_check_messages.sql
source routines/_queue_check_moves.sql
source routines/_queue_check_kinds.sql
source routines/_queue_move_options.sql

-- routines: begin and end of a call
source routines/_queue_begin.sql
source routines/_queue_commit.sql
source routines/_queue_undo.sql
source routines/_queue_random.sql
source routines/_queue_begin_alone.sql

-- routines: what the public ones share
source routines/_queue_defaults.sql
source routines/_queue_check_dead_letter_kind.sql
source routines/_queue_key.sql
source routines/_queue_add_error.sql
source routines/_queue_is_remembered.sql
source routines/_queue_put_onto.sql
source routines/_queue_put.sql
source routines/_queue_stand.sql
source routines/_queue_stand_batch.sql
source routines/_queue_advance.sql
source routines/_queue_advance_each.sql
source routines/_queue_pushed.sql
source routines/_queue_follow.sql
source routines/_queue_group_check.sql
source routines/_queue_group_note.sql
source routines/_queue_groups_due.sql
source routines/_queue_members_end.sql
source routines/_queue_members_dead.sql
source routines/_queue_enrol.sql
source routines/_queue_push.sql
source routines/_queue_promote.sql
source routines/_queue_scan.sql
source routines/_queue_scan_lane.sql
source routines/_queue_forget_hints.sql
source routines/_queue_read_hint.sql
source routines/_queue_remember.sql
source routines/_queue_take.sql
source routines/_queue_bury.sql
source routines/_queue_nack.sql
source routines/_queue_lock_moves.sql
source routines/_queue_move.sql
source routines/_queue_set_paused.sql
source routines/_queue_fold_counts.sql
source routines/_queue_prune_log.sql
source routines/_queue_prune_kind.sql
source routines/_queue_prune_by_the_way.sql
source routines/_queue_tidy.sql
source routines/_queue_take_in.sql
source routines/_queue_check_ack.sql
source routines/_queue_ack_each.sql
source routines/_queue_ack.sql
source routines/_queue_ack_many.sql
source routines/_queue_again.sql
source routines/_queue_discard.sql
source routines/_queue_end.sql
source routines/_queue_end_undeliverable.sql
source routines/_queue_hold.sql
source routines/_queue_iso.sql
source routines/_queue_land.sql
source routines/_queue_lock.sql
source routines/_queue_lock_keys.sql
source routines/_queue_lock_kinds.sql
source routines/_queue_pop_end.sql
source routines/_queue_pop_take.sql
source routines/_queue_prune.sql
source routines/_queue_push_many.sql
source routines/_queue_push_plain.sql
source routines/_queue_push_each.sql
source routines/_queue_put_new.sql
source routines/_queue_redrive.sql
source routines/_queue_reserve.sql
source routines/_queue_reserve_many.sql
source routines/_queue_scan_lanes.sql
source routines/_queue_take_deliverable.sql
source routines/_queue_take_bounded.sql
source routines/_queue_take_in_row.sql
source routines/_queue_turn_marks.sql
source routines/_queue_limited_until.sql
source routines/_queue_ready.sql
source routines/_queue_ready_kind.sql
source routines/_queue_wait_kinds.sql
source routines/_queue_wait_end.sql
source routines/_queue_heartbeat.sql
source routines/_queue_free.sql
source routines/_queue_free_one.sql
source routines/_queue_server_run.sql
source routines/_queue_reap.sql
source routines/_queue_stage_remove.sql
source routines/_queue_stage_outdated.sql
source routines/_queue_stage_prune.sql
source routines/_queue_stage_put.sql
source routines/_queue_stage_put_each.sql
source routines/_queue_check_batch.sql
source routines/_queue_batch_done.sql
source routines/_queue_stream_held.sql
source routines/_queue_stream_trim.sql
source routines/_queue_stream_fail.sql
source routines/_queue_stream_reserve.sql
source routines/_queue_stream_commit.sql

-- routines: limits
source routines/_queue_define_limits.sql
source routines/_queue_slots_free.sql
source routines/_queue_slots.sql
source routines/_queue_claim.sql
source routines/_queue_lease.sql
source routines/_queue_permit.sql
source routines/_queue_permit_used.sql

-- routines: kinds that expire
source routines/_queue_use.sql
source routines/_queue_expire.sql
source routines/_queue_define_backoff.sql
source routines/_queue_define_expires.sql

-- routines: filters
source routines/_queue_leaves.sql
source routines/_queue_where.sql
source routines/_queue_first_of.sql
source routines/_queue_matches.sql
source routines/_queue_index.sql
source routines/_queue_index_all.sql
source routines/_queue_index_keys.sql
source routines/_queue_forget_terms.sql
source routines/_queue_prune_terms.sql
source routines/_queue_define_filter.sql
source routines/_queue_look_line.sql
source routines/_queue_look_due.sql
source routines/_queue_look_terms.sql
source routines/_queue_try.sql
source routines/_queue_find_terms.sql
source routines/_queue_take_where.sql
source routines/_queue_peek_where.sql

-- routines: topics
source routines/_queue_check_topic.sql
source routines/_queue_subscribed.sql
source routines/_queue_publish.sql
source routines/queue_subscribe.sql
source routines/queue_unsubscribe.sql
source routines/queue_publish.sql

-- routines: schedules
source routines/_queue_cron_field.sql
source routines/_queue_rule.sql
source routines/_queue_zone_offset.sql
source routines/_queue_zone_change.sql
source routines/_queue_next_local.sql
source routines/_queue_next_tick.sql
source routines/_queue_last_tick.sql
source routines/_queue_recur.sql
source routines/_queue_tick.sql
source routines/queue_schedule.sql
source routines/queue_unschedule.sql
source routines/queue_tick.sql

-- routines: drain and replay
source routines/_queue_group_options.sql
source routines/_queue_prune_groups.sql
source routines/_queue_group.sql
source routines/queue_group.sql
source routines/_queue_semaphores.sql
source routines/_queue_slot_lock.sql
source routines/_queue_slot_room.sql
source routines/_queue_slot_lacks.sql
source routines/_queue_slot_next.sql
source routines/_queue_slot_wake.sql
source routines/_queue_slot_settle.sql
source routines/_queue_slot_note.sql
source routines/_queue_slot_hand_over.sql
source routines/_queue_slot_end.sql
source routines/_queue_slot_look.sql
source routines/_queue_slot_ready.sql
source routines/_queue_slot_sweep.sql
source routines/_queue_line_up.sql
source routines/_queue_follow_slots.sql
source routines/_queue_slot_promised.sql
source routines/_queue_slot_promised_one.sql
source routines/_queue_slot_take.sql
source routines/_queue_take_slotted.sql
source routines/_queue_extend_slotted.sql
source routines/_queue_semaphore.sql

-- routines: the event log
source routines/_queue_define_log.sql
source routines/_queue_log_open.sql
source routines/_queue_log.sql
source routines/_queue_log_put.sql
source routines/_queue_log_batch.sql
source routines/_queue_log_entries.sql
source routines/_queue_log_published.sql
source routines/_queue_log_note.sql
source routines/_queue_log_horizon.sql
source routines/_queue_read.sql
source routines/_queue_log_known.sql
source routines/_queue_log_missed.sql
source routines/_queue_events.sql
source routines/_queue_matcher.sql
source routines/_queue_reader.sql
source routines/queue_read.sql
source routines/queue_read_ack.sql
source routines/queue_read_end.sql
source routines/queue_drain.sql
source routines/_queue_replay.sql
source routines/queue_replay.sql

-- routines: producers
source routines/queue_push.sql
source routines/queue_push_bytes.sql
source routines/queue_push_many.sql
source routines/queue_push_into.sql

-- routines: consumers
source routines/queue_reserve.sql
source routines/queue_pop.sql
source routines/queue_extend.sql
source routines/queue_extend_many.sql
source routines/queue_ack.sql
source routines/queue_ack_many.sql
source routines/queue_nack.sql
source routines/queue_nack_many.sql
source routines/queue_move.sql
source routines/queue_move_many.sql
source routines/queue_wait.sql
-- without routines/queue_listen: nothing notifies a client here, queue_wait waits in the server
source routines/queue_heartbeat.sql
source routines/queue_reap.sql

-- routines: batches of readers and writers
source routines/queue_stage_begin.sql
source routines/queue_stage_publish.sql
source routines/queue_stage_abort.sql
source routines/queue_stream_ready.sql
source routines/queue_stream_plan.sql
source routines/queue_stream_reserve.sql
source routines/queue_stream_renew.sql
source routines/queue_stream_extend.sql
source routines/queue_stream_done.sql
source routines/queue_stream_commit.sql
source routines/queue_stream_forget.sql

-- routines: operators
source routines/queue_get.sql
source routines/queue_peek.sql
source routines/queue_remove.sql
source routines/queue_purge.sql
source routines/queue_define.sql
source routines/queue_drop.sql
source routines/queue_pause.sql
source routines/queue_resume.sql
source routines/queue_redrive.sql
source routines/queue_prune.sql
source routines/queue_semaphore.sql

-- views
source views/queue_messages.sql
source views/queue_stats.sql
source views/queue_workers.sql
source views/queue_subscriptions.sql
source views/queue_schedules.sql
source views/queue_groups.sql
source views/queue_semaphores.sql
source views/queue_readers.sql

-- what `pyqueue upgrade` goes on from
create table if not exists queue_version (version_num varchar(32) not null, primary key (version_num)) engine = innodb;
insert into queue_version (version_num) select '0001_initial' from dual where not exists (select 1 from queue_version);
