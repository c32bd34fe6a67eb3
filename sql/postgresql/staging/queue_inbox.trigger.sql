create or replace trigger queue_inbox after insert on queue_inbox
    referencing new table as landed for each statement execute function _queue_drain_inbox();

-- A session that replays for a replica (session_replication_role) pushes like any other.
alter table queue_inbox enable always trigger queue_inbox;

comment on trigger queue_inbox on queue_inbox is
$$Pushes the rows of each statement; see _queue_drain_inbox.$$;
