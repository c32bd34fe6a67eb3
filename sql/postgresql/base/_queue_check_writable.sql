create or replace function _queue_check_writable() returns void language plpgsql as $$
begin
    if current_setting('transaction_read_only') = 'on' then
        raise read_only_sql_transaction using message = 'messages are taken where they can be written: '
            || case when pg_is_in_recovery() then 'this server is a standby' else 'this transaction is read-only' end;
    end if;
end $$;

comment on function _queue_check_writable() is
$$Refuses to take messages where nothing can be written, in words of its own: the server's would come with the whole
statement.
Errors: the server's 25006.
differs: only here. The error of MariaDB and MySQL is one line.$$;
