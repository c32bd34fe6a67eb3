-- calls: _queue_setting
create or replace function _queue_limits_name(in_kind text) returns text language sql as $$
    select _queue_setting('limits ' || in_kind);
$$;

comment on function _queue_limits_name(text) is
$$The setting in which a session keeps what it has of the limits of a kind (see _queue_admit); see _queue_setting.
in_kind: the kind.
Result: the name of the setting.
differs: only here, see _queue_cursor_name.$$;
