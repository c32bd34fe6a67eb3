create procedure _queue_add_error(in in_errors longtext, in in_now bigint, in in_attempt int, in in_by text,
    in in_error longtext, out out_errors longtext)
    comment 'Adds an error to the errors of a message.
in_errors: those so far. in_now: the time of the call. in_attempt, in_by: the delivery and the worker. in_error: the
text, cut at 10000 characters; NULL for none.
Result: the errors, at most the last ten.
differs: the result is a parameter, out_errors.'
begin
    set out_errors = in_errors;
    if in_error is not null then
        if json_length(in_errors) >= 10 then
            set out_errors = json_remove(in_errors, '$[0]');
        end if;
        -- MariaDB makes a string of a number that is a variable alone
        set out_errors = json_array_append(coalesce(out_errors, '[]'), '$', json_object('at', in_now + 0,
            'attempt', in_attempt + 0, 'by', in_by, 'error', left(in_error, 10000)));
    end if;
end;
