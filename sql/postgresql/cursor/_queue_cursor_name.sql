-- calls: _queue_setting
create or replace function _queue_cursor_name(in_kind text) returns text language sql as $$
    select _queue_setting('cursor ' || in_kind);
$$;

comment on function _queue_cursor_name(text) is
$$The setting in which a session keeps the cursor of a kind, a row of queue_cursor; see _queue_setting.
in_kind: the kind.
Result: the name of the setting.
differs: only here. What a session keeps stands in user variables on MariaDB and MySQL, and is checked in each call.$$;
