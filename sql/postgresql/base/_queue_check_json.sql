-- calls: _queue_fail
create or replace function _queue_check_json(in_json text, in_code text, in_name text) returns void
    language plpgsql as $$
begin
    perform in_json::jsonb;
exception when data_exception or program_limit_exceeded then
    perform _queue_fail(in_code, in_name, in_json, case sqlstate
        when '22P05' then 'must not contain ' || chr(92) || 'u0000'
        else 'must be JSON, not too deep, with numbers up to 1.8e308' end);
end $$;

comment on function _queue_check_json(text, text, text) is
$$Refuses a text that is no JSON, or none that every server can hold.
in_json: the text; NULL: nothing is refused. in_code: the SQLSTATE of the error. in_name: the parameter's name for the
message.
Errors: the one given, for what is no JSON, lone surrogates, and \u0000.
differs: on MariaDB and MySQL it is for all JSON, which a routine is given as text there. The text isn't NULL there, and
PQ003 is for what MySQL can't hold.$$;
