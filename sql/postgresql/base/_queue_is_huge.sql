create or replace function _queue_is_huge(in_json jsonb) returns boolean language sql immutable
    return octet_length(in_json::text) > 308 -- as many digits such a number has, so most needn't be walked through
        and in_json @? 'strict $.** ? (@.abs() > 1.7976931348623157e308)';

comment on function _queue_is_huge(jsonb) is
$$Whether JSON has a number beyond double precision, which neither MySQL nor most clients can read.
in_json: the JSON.
differs: MySQL refuses such a number itself, and _queue_check_json looks for its digits on MariaDB.$$;
