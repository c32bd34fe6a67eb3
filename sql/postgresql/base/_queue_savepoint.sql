create or replace function _queue_savepoint() returns boolean language sql volatile
    return case
        when coalesce(current_setting('pyqueue.savepoints', true), '') !~ '^([0-9]|[12][0-9]|3[01])?$' then false
        else set_config('pyqueue.savepoints',
            (coalesce(nullif(current_setting('pyqueue.savepoints', true), '')::integer, 0) + 1)::text, true) <> '' end;

comment on function _queue_savepoint() is
$$Whether a call may write behind a savepoint, and counts it: 32 a transaction. More than 64 in one would slow down all
sessions.
Result: true or false.
differs: only here. A call on MariaDB and MySQL has one savepoint, which it gives up at its end.$$;
