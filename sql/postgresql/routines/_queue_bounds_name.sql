create or replace function _queue_bounds_name(in_kind text) returns text language sql as $$
    select _queue_setting('bounds ' || in_kind);
$$;

comment on function _queue_bounds_name(text) is
$$The setting in which a session keeps the bounds of a kind, of _queue_take; see _queue_setting.
in_kind: the kind.
Result: the name of the setting.$$;
