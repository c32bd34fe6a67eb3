-- calls: _queue_fail
create procedure _queue_check_json(in in_json longtext, in in_code char(5), in in_name varchar(100))
    comment 'Refuses a text that is no JSON, or none that every server can hold.
in_json: the text, not NULL. in_code: the SQLSTATE of the error. in_name: the parameter''s name for the message.
Errors: the one given, for what is no JSON, lone surrogates, and \\u0000; PQ003 for what MySQL can''t hold.
differs: on PostgreSQL it is for rows of the inbox alone. Routines are given jsonb there, for which the server itself
refuses these before.'
begin
    declare v_left longtext;
    declare v_stored json;
    -- MySQL reads no more than 100 levels, MariaDB 32; MySQL stores no name of 64 KiB or more
    declare exit handler for 3157 call _queue_fail('PQ003', in_name, in_json,
        'must be JSON, not too deep, with numbers up to 1.8e308');
    declare exit handler for 3151 call _queue_fail('PQ003', in_name, in_json, 'must have names of less than 64 KiB');
    if not json_valid(in_json) then
        if in_name = 'options' and char_length(in_json) - char_length(replace(replace(in_json, '{', ''), '[', '')) > 31
            then
            -- no other options are that deep
            call _queue_fail(if(locate('"where"', in_json) > 0, 'PQ002', 'PQ003'),
                if(locate('"where"', in_json) > 0, 'where', 'payload'), in_json, 'must be at most 31 levels deep');
        end if;
        call _queue_fail(in_code, in_name, in_json, 'must be JSON, not too deep, with numbers up to 1.8e308');
    -- then what is outside of strings: cutting those out by regexp_replace takes a second for some thousand of them
    /*M!100600 elseif in_json regexp '[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}'
        and replace(replace(in_json, '\\\\', ''), '\\"', '') regexp concat('"[^"]*+"(*SKIP)(*FAIL)',
            '|[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?0*(309|3[1-9]\\d|[4-9]\\d\\d|[1-9]\\d{3})') then
        call _queue_fail(in_code, in_name, in_json, 'must be JSON, with numbers up to 1.8e308'); */
    elseif locate('\\', cast(in_json as binary)) > 0 then -- as a text it took longer than all the rest
        set v_left = replace(in_json, '\\\\', ''); -- what is left of backslashes begins an escape
        if locate('\\u0000', v_left) > 0 then
            call _queue_fail(in_code, in_name, in_json, 'must not contain \\u0000');
        /*M!100600 elseif v_left regexp '\\\\[^"/bfnrtu\\\\]' then
            call _queue_fail(in_code, in_name, in_json, 'must be JSON, no other escapes'); */
        end if;
    end if;
    /*!80000 if length(in_json) > 65535 then
        set v_stored = in_json;
    end if; */
end;
