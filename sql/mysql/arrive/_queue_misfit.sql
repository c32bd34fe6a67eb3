create procedure _queue_misfit(in in_shape longtext character set utf8mb4, in in_payload longtext character set utf8mb4,
    out out_misfit varchar(500) character set utf8mb4)
    comment 'Why a payload isn''t of its kind.
in_shape: payload_shape of the kind: fields and their types. in_payload: the payload; NULL: it is binary.
Result: what it must be; NULL where it fits.
differs: the result is out_misfit. MariaDB keeps a name that stands twice in an object; where there is a shape, that is
a misfit.'
begin
    declare v_name text collate exact;
    declare v_type varchar(20) character set utf8mb4;
    declare continue handler for not found begin end;
    set out_misfit = null;
    if in_payload is null then
        set out_misfit = 'must be JSON, as payload_shape of its kind says';
    elseif json_type(in_payload) <> 'OBJECT' then
        set out_misfit = 'must be an object, as payload_shape of its kind says';
    else
        -- names and values by their place: MariaDB finds no name by a path that is spelt with other escapes than the
        -- payload's
        select n.name, t.type into v_name, v_type
        from json_table(json_keys(in_shape), '$[*]'
            columns (place for ordinality, name text character set utf8mb4 path '$')) n
            join json_table(in_shape, '$.*'
                columns (place for ordinality, type varchar(20) character set utf8mb4 path '$')) t on t.place = n.place
            left join json_table(json_keys(in_payload), '$[*]'
                columns (place for ordinality, name text character set utf8mb4 path '$')) p
                on p.name = n.name collate exact
            left join json_table(in_payload, '$.*' columns (place for ordinality, value json path '$')) v
                on v.place = p.place
        where case t.type when 'number' then json_type(v.value) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')
            when 'integer' then json_type(v.value) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')
                and v.value + 0e0 = floor(v.value + 0e0)
            else json_type(v.value) = upper(t.type) end is not true
        order by n.name collate exact limit 1;
        if v_name is not null then
            set out_misfit = concat('must have ', json_quote(left(v_name, 40)), ' as ', v_type,
                ', as payload_shape of its kind says');
        /*M!100600 elseif json_length(in_payload) <> json_length(json_keys(in_payload)) then
            set out_misfit = 'must have no name twice, as its kind has a payload_shape'; */
        end if;
    end if;
end;
