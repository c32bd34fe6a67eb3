-- Who may call the short forms, where the server allows functions that write; see grants.sql.
grant execute on function queue_push to queue_producer;
grant execute on function queue_reserve to queue_consumer;
grant execute on function queue_ack to queue_consumer;
grant execute on function queue_time to queue_producer, queue_consumer, queue_operator, queue_observer;
grant execute on function queue_timestamp to queue_producer, queue_consumer, queue_operator, queue_observer;
