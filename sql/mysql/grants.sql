-- Who may do what. Routines run with the rights of their owner; nothing is for anybody else.
--   queue_producer   puts messages in
--   queue_consumer   takes and finishes them
--   queue_operator   looks, and runs the queue: removes, pauses, redrives, defines
--   queue_observer   looks at kinds, keys, states, counters and workers; at no payload, header, result or error's text
--   queue_admin      all of these
-- Roles belong to the server: where they exist already they are used, and where the installer may not create them, the
-- owner of the routines is the only one who may call them until somebody creates the roles and upgrades again. A user
-- has a role's rights once it is set: `set default role` (MySQL: `set default role all to …`).
create role if not exists queue_producer, queue_consumer, queue_operator, queue_observer, queue_admin;
grant queue_producer to queue_admin;
grant queue_consumer to queue_admin;
grant queue_operator to queue_admin;
grant queue_observer to queue_admin;
grant execute on procedure queue_push to queue_producer;
grant execute on procedure queue_push_bytes to queue_producer;
grant execute on procedure queue_push_many to queue_producer;
grant execute on procedure queue_push_into to queue_producer;
grant execute on procedure queue_publish to queue_producer;
grant execute on procedure queue_reserve to queue_consumer;
grant execute on procedure queue_pop to queue_consumer;
grant execute on procedure queue_next to queue_consumer;
grant execute on procedure queue_extend to queue_consumer;
grant execute on procedure queue_extend_many to queue_consumer;
grant execute on procedure queue_ack to queue_consumer;
grant execute on procedure queue_ack_many to queue_consumer;
grant execute on procedure queue_nack to queue_consumer;
grant execute on procedure queue_nack_many to queue_consumer;
grant execute on procedure queue_move to queue_consumer;
grant execute on procedure queue_move_many to queue_consumer;
grant execute on procedure queue_wait to queue_consumer;
grant execute on procedure queue_heartbeat to queue_consumer;
grant execute on procedure queue_reap to queue_consumer, queue_operator;
grant execute on procedure queue_stage_begin to queue_producer;
grant execute on procedure queue_stage_publish to queue_producer;
grant execute on procedure queue_stage_abort to queue_producer;
grant execute on procedure queue_stream_ready to queue_consumer;
grant execute on procedure queue_stream_plan to queue_consumer;
grant execute on procedure queue_stream_reserve to queue_consumer;
grant execute on procedure queue_stream_renew to queue_consumer;
grant execute on procedure queue_stream_extend to queue_consumer;
grant execute on procedure queue_stream_forget to queue_consumer;
grant execute on procedure queue_stream_done to queue_consumer;
grant execute on procedure queue_stream_commit to queue_consumer;
grant execute on procedure queue_get to queue_operator;
grant execute on procedure queue_peek to queue_operator;
grant execute on procedure queue_remove to queue_operator;
grant execute on procedure queue_purge to queue_operator;
grant execute on procedure queue_define to queue_operator;
grant execute on procedure queue_drop to queue_operator;
grant execute on procedure queue_pause to queue_operator;
grant execute on procedure queue_resume to queue_operator;
grant execute on procedure queue_redrive to queue_operator;
grant execute on procedure queue_prune to queue_consumer, queue_operator;
grant execute on procedure queue_group to queue_producer, queue_consumer, queue_operator;
grant execute on procedure queue_read to queue_consumer, queue_operator;
grant execute on procedure queue_read_ack to queue_consumer, queue_operator;
grant execute on procedure queue_read_end to queue_consumer, queue_operator;
grant execute on procedure queue_tick to queue_consumer, queue_operator;
grant execute on procedure queue_subscribe to queue_operator;
grant execute on procedure queue_unsubscribe to queue_operator;
grant execute on procedure queue_schedule to queue_operator;
grant execute on procedure queue_unschedule to queue_operator;
grant execute on procedure queue_drain to queue_operator;
grant execute on procedure queue_replay to queue_operator;
grant execute on procedure queue_semaphore to queue_operator;
grant execute on procedure queue_now to queue_producer, queue_consumer, queue_operator, queue_observer;
grant insert, select on queue_inbox to queue_producer; -- Spark looks at the columns
grant insert, select on queue_stage to queue_producer;
grant select on queue_messages to queue_operator;
grant select on queue_stats to queue_operator, queue_observer;
grant select on queue_worker to queue_operator, queue_observer;
grant select on queue_workers to queue_operator, queue_observer;
grant select on queue_writes to queue_operator;
grant select on queue_history to queue_operator;
grant select on queue_subscriptions to queue_operator, queue_observer;
grant select on queue_schedules to queue_operator;
grant select on queue_groups to queue_operator, queue_observer;
grant select on queue_semaphores to queue_operator, queue_observer;
grant select on queue_log to queue_operator;
grant select on queue_readers to queue_operator, queue_observer;
-- what a look reads (pyqueue_sql/overview): columns, so that a new one is nobody's until it stands here
grant select (p_kind, p_key, entry, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at, attempts,
    reserved_by, ready_kind, ready_at, due_at, max_attempts, source_kind, source_key, member, order_key)
    on delayed_queue to queue_operator, queue_observer;
grant select (p_kind, paused, draining, dead_letter_kind) on queue_kind to queue_operator, queue_observer;
grant select (name, p_kind, rule, catch_up, paused, until_at, next_at, last_at) on queue_recurring to queue_operator,
    queue_observer;
grant select (group_name, then_kind, then_key, on_dead, fail_kind, expected, closed, created_at, finished_at, failed)
    on queue_group to queue_operator, queue_observer;
grant select (member, group_name, p_kind, p_key, entry, done_at, outcome) on queue_group_member to queue_operator,
    queue_observer;
grant select (payload, payload_bytes, headers, errors) on delayed_queue to queue_operator;
grant select (error) on queue_group_member to queue_operator;
grant select on queue_count to queue_operator, queue_observer;
grant select on queue_semaphore to queue_operator, queue_observer;
grant select on queue_semaphore_permit to queue_operator, queue_observer;
grant select on queue_semaphore_wait to queue_operator, queue_observer;
grant select (p_kind, p_key, state, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at, attempts,
    max_attempts, reserved_by, age, source_kind, source_key, entry) on queue_messages to queue_observer;
grant select (p_kind, p_key, entry, outcome, to_kind, priority, scheduled_at_initially, created_at, reserved_at,
    finished_at, attempts, reserved_by) on queue_history to queue_observer;
grant select (name, p_kind, rule, catch_up, paused, until, next_at, last_at) on queue_schedules to queue_observer;
