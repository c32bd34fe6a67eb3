create or replace function _queue_is_plain(in_message jsonb) returns boolean language sql immutable
    return (jsonb_typeof(in_message) = 'object' and in_message ? 'payload'
        and coalesce(jsonb_typeof(in_message -> 'key'), 'null') in ('string', 'null')
        and coalesce(char_length(in_message ->> 'key'), 1) between 1 and 200
        and not jsonb_path_exists(in_message, '$.**{32}') and not _queue_is_huge(in_message)
        and (not in_message ? 'order_key' or jsonb_typeof(in_message -> 'order_key') = 'string'
            and char_length(in_message ->> 'order_key') between 1 and 200)
        and (in_message - '{key,payload,order_key,semaphores}'::text[] = '{}'
            or in_message - '{key,payload,order_key,semaphores}'::text[]
                - '{delay_seconds,headers,max_attempts,priority,scheduled_at}'::text[] = '{}'
            and in_message @? '$ ? ((!exists (@.priority) || @.priority.type() == "number"
                && @.priority.floor() == @.priority && @.priority.abs() < 32768)
                && (!exists (@.max_attempts) || @.max_attempts.type() == "number"
                && @.max_attempts.floor() == @.max_attempts && @.max_attempts >= 1 && @.max_attempts <= 1000000000)
                && (!exists (@.scheduled_at) || @.scheduled_at.type() == "number" && !exists (@.delay_seconds)
                && @.scheduled_at.floor() == @.scheduled_at
                && @.scheduled_at >= 100000000000000 && @.scheduled_at <= 253402300799999999)
                && (!exists (@.delay_seconds) || @.delay_seconds.type() == "number"
                && @.delay_seconds >= 0 && @.delay_seconds <= 31536000)
                && (!exists (@.headers) || @.headers.type() == "object" && !exists (@.headers.keyvalue()
                    ? (@.value.type() == "object" || @.value.type() == "array"))))')) is true;

comment on function _queue_is_plain(jsonb) is
$$Whether a message of a batch is right as far as that can be seen at once: a payload, and perhaps a key, a time, a
priority, attempts, headers and its turn. All others are for _queue_message.
in_message: {key, payload, and push options}.
Result: true or false.
differs: on MariaDB and MySQL it is a part of _queue_push_plain.$$;
