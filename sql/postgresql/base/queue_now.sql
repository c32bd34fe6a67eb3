create or replace function queue_now() returns bigint language sql volatile parallel safe
    return (date_part('epoch', clock_timestamp()) * 1000000)::bigint;

comment on function queue_now() is
$$The clock of the queue: the database's wall clock at this moment, in microseconds since 1970-01-01 UTC. Every routine
reads it once a call. It is not the transaction's start, and no caller can shift it; a test sets the time by replacing
this routine as its owner.$$;
