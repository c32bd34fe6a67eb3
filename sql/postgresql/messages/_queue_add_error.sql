create or replace function _queue_add_error(in_errors jsonb, in_now bigint, in_attempt integer, in_by text,
    in_error text)
    returns jsonb language plpgsql as $$
begin
    if in_error is null then
        return in_errors;
    end if;
    return case when jsonb_array_length(in_errors) >= 10 then in_errors - 0 else coalesce(in_errors, '[]') end
        || jsonb_build_object('at', in_now, 'attempt', in_attempt, 'by', in_by, 'error', left(in_error, 10000));
end $$;

comment on function _queue_add_error(jsonb, bigint, integer, text, text) is
$$Adds an error to the errors of a message.
in_errors: those so far. in_now: the time of the call. in_attempt, in_by: the delivery and the worker. in_error: the
text, cut at 10000 characters; NULL for none.
Result: the errors, at most the last ten.$$;
