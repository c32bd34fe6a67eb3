create or replace function _queue_setting(in_what text) returns text language sql as $$
    select 'pyqueue.s' || to_hex(hashtextextended(in_what, pg_sequence_last_value('queue_secret'::regclass)));
$$;

comment on function _queue_setting(text) is
$$The setting in which a session keeps something that it may not write itself. Its name can't be guessed: it comes from
a number (queue_secret) that the owner alone can read, and settings like it are in no list.
in_what: what is kept there: the cursor of a kind, a row of queue_cursor ('cursor ' and the kind), what is left of its
limits ('limits ' and the kind, see _queue_admit), and notes of a call.
Result: the name of the setting.
differs: only here. What a session keeps stands in user variables on MariaDB and MySQL, and is checked in each call.$$;
