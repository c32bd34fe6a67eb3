-- calls: _queue_setting
create or replace function _queue_permits_note(in_entries bigint[]) returns void language plpgsql as $$
begin
    perform set_config(t.name,
        (coalesce(nullif(current_setting(t.name, true), '')::bigint[], '{}') || in_entries)::text, true)
    from _queue_setting('settle') t (name) where in_entries <> '{}';
end $$;

comment on function _queue_permits_note(bigint[]) is
$$Notes that messages which name semaphores have ended or changed, for _queue_permits_settle at the end of the call.
in_entries: their entries.
differs: most routines hand _queue_permits_settle what they have ended; MariaDB and MySQL note it all, with the names of
the semaphores.$$;
