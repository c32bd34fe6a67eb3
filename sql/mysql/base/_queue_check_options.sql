-- calls: _queue_check_json, _queue_fail
create procedure _queue_check_options(in in_options longtext, in in_allowed varchar(500), in in_name varchar(100))
    comment 'Refuses options that are no object and options that nobody knows.
in_options: the options. in_allowed: the names a routine knows. in_name: the parameter''s name for the message.
Errors: PQ002.
differs: in_allowed is a text: a,b,c. An error names first what begins as the unknown one does, since there is little
room. What is no JSON is refused here. MariaDB keeps a name that stands twice in an object; in options that is refused.'
begin
    declare v_type varchar(20);
    declare v_allowed varchar(500);
    declare v_unknown text collate exact;
    if in_options is not null then
        call _queue_check_json(in_options, 'PQ002', in_name);
        set v_type = json_type(in_options);
        if v_type not in ('OBJECT', 'NULL') then
            call _queue_fail('PQ002', in_name, in_options, 'must be a JSON object');
        elseif v_type = 'OBJECT' and json_length(in_options) > 0 then
            -- a name that no path finds is one that MariaDB keeps as it is spelt, with escapes
            select min(o.name) into v_unknown
            from unnest(json_keys(in_options)) o (name text collate exact)
            where not find_in_set(o.name, in_allowed collate exact)
                or not json_contains_path(in_options, 'one', concat('$.', o.name));
            if v_unknown is not null then
                select group_concat(a.name order by left(a.name, 4) <> left(v_unknown, 4),
                    left(a.name, 1) <> left(v_unknown, 1), a.place separator ', ')
                into v_allowed from unnest(concat('["', replace(in_allowed, ',', '","'), '"]')) a (place for ordinality,
                    name varchar(100));
                call _queue_fail('PQ002', in_name, v_unknown,
                    concat('unknown, allowed are ', coalesce(nullif(v_allowed, ''), 'none')));
            elseif json_length(in_options) <> json_length(json_keys(in_options)) then
                call _queue_fail('PQ002', in_name, in_options, 'must have no name twice');
            end if;
        end if;
    end if;
end;
