create or replace function _queue_fail(in_code text, in_name text, in_value text, in_allowed text) returns void
    language plpgsql as $$
declare
    v_most constant integer := case in_code when 'PQ006' then 1000000 else 40 end;
begin
    raise exception using errcode = in_code, message = in_name || ' '
        || coalesce('"' || left(in_value, v_most) || case when char_length(in_value) > v_most then '…'
            else '' end || '"', 'NULL')
        || ': ' || in_allowed;
end $$;

comment on function _queue_fail(text, text, text, text) is
$$Raises the error of a bad value.
in_code: the SQLSTATE, one a cause: PQ001 a parameter, PQ002 an option, PQ003 a payload, PQ004 refused in this state,
PQ005 a receipt, PQ006 receipts that are lost, PQ007 a kind that is for others.
in_name: the parameter or option. in_value: its value, cut at 40 characters unless it is a list of receipts. in_allowed:
what is allowed.$$;
