create or replace function _queue_limits_name(in_kind text) returns text language sql stable as $$
    select 'pyqueue.limits_' || to_hex(hashtextextended(in_kind, 'delayed_queue'::regclass::oid::bigint));
$$;

comment on function _queue_limits_name(text) is
$$The setting in which a session keeps what it has of the limits of a kind (see _queue_permit), one of its own in each installation.
in_kind: the kind.
Result: the name of the setting.$$;
