-- written by hand: the change of the tables
drop view queue_workers;
--;
drop function queue_reap();
--;
drop function queue_heartbeat(text, jsonb);
--;
drop function queue_listen(jsonb);
--;
drop function queue_wait(jsonb, numeric);
--;
drop function _queue_ready(text, bigint);
--;
drop function _queue_reap(bigint);
--;
drop function _queue_free(text, jsonb, bigint, integer);
--;
drop function _queue_is_alive(integer, integer, bigint, bigint);
--;
drop function _queue_wake(text, text);
--;
drop function _queue_is_heard(text);
--;
drop function _queue_check_kinds(jsonb);
--;
drop table queue_worker;
--;
drop sequence queue_event_0, queue_event_1, queue_event_2, queue_event_3, queue_event_4, queue_event_5, queue_event_6, queue_event_7,
    queue_event_8, queue_event_9, queue_event_10, queue_event_11, queue_event_12, queue_event_13, queue_event_14, queue_event_15;
