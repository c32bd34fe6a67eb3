create or replace trigger queue_inbox after insert on queue_inbox
    referencing new table as landed for each statement execute function _queue_take_in();

comment on trigger queue_inbox on queue_inbox is
$$Pushes the rows of each statement; see _queue_take_in.$$;
