create or replace function _queue_is_bare(in_message jsonb) returns boolean language sql immutable
    return (jsonb_typeof(in_message) = 'object' and in_message ? 'payload'
        and coalesce(jsonb_typeof(in_message -> 'key'), 'null') in ('string', 'null')
        and coalesce(char_length(in_message ->> 'key'), 1) between 1 and 200
        and not jsonb_path_exists(in_message, '$.**{32}') and not _queue_is_huge(in_message)) is true;

comment on function _queue_is_bare(jsonb) is
$$Whether a message of a batch is right but for its options: it has a payload, and a key or none.
in_message: {key, payload, and push options}.
Result: true or false.
differs: on MariaDB and MySQL it is a part of _queue_push_plain.$$;
