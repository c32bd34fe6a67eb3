create procedure _queue_misfit(in in_shape longtext, in in_payload longtext, out out_misfit varchar(500))
    comment 'Why a payload isn''t of its kind.
in_shape: payload_shape of the kind: fields and their types. in_payload: the payload; NULL: it is binary.
Result: what it must be; NULL where it fits.
differs: the result is out_misfit. MariaDB keeps a name that stands twice in an object; where there is a shape, that is
a misfit.'
begin
    declare v_name text collate exact;
    declare v_type varchar(20);
    declare v_mark varchar(1) default '';
    declare v_values longtext;
    declare v_types longtext default json_extract(in_shape, '$.*');
    declare continue handler for not found begin end;
    set out_misfit = null;
    -- json_keys loses names that stand behind one with a \" in it
    /*M!100600 set in_shape = replace(replace(in_shape, '\\\\', '\\u005c'), '\\"', '\\u0022'),
        in_payload = replace(replace(in_payload, '\\\\', '\\u005c'), '\\"', '\\u0022'); */
    if in_payload is null then
        set out_misfit = 'must be JSON, as payload_shape of its kind says';
    elseif json_type(in_payload) <> 'OBJECT' then
        set out_misfit = 'must be an object, as payload_shape of its kind says';
    /*M!100600 elseif json_length(in_payload) <> json_length(json_keys(in_payload)) then
        set out_misfit = 'must have no name twice, as its kind has a payload_shape'; */
    else
        -- no path finds a name that is spelt otherwise, or that begins with a -
        /*M!100600 if locate('\\', json_keys(in_payload)) > 0 or locate('"-', json_keys(in_shape)) > 0 then
            set v_mark = '_', v_values = json_extract(in_payload, '$.*');
            select json_objectagg(concat(v_mark, n.name), json_extract(v_values, concat('$[', n.place - 1, ']')))
            into in_payload
            from unnest(json_keys(in_payload)) n (place for ordinality, name text);
        end if; */
        select f.name, f.type into v_name, v_type
        from (
            select n.name, json_unquote(json_extract(v_types, concat('$[', n.place - 1, ']'))) as type,
                json_extract(in_payload, concat('$.', json_quote(concat(v_mark, n.name)))) as value
            from unnest(json_keys(in_shape)) n (place for ordinality, name text)) f
        where case f.type when 'number' then json_type(f.value) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')
            when 'integer' then json_type(f.value) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')
                and f.value + 0e0 = floor(f.value + 0e0)
            else json_type(f.value) = upper(f.type) end is not true
        order by f.name collate exact limit 1;
        if v_name is not null then
            set out_misfit = concat('must have ', json_quote(left(v_name, 40)), ' as ', v_type,
                ', as payload_shape of its kind says');
        end if;
    end if;
end;
