create procedure _queue_cron_field(in in_field varchar(5000), in in_least int, in in_most int, in in_names varchar(100),
    out out_mask bigint)
    comment 'One field of a cron expression as a mask, a bit a value.
in_field: values, ranges and steps with commas between them: *, 5, 1-5, */10, 10/5, mon-fri. in_least, in_most: the
range of its values.
in_names: names of its values from the least on, with commas between them.
Result: the mask; NULL for what is no such field.
differs: the result is out_mask.'
field: begin
    declare v_left varchar(5000) default lower(in_field);
    declare v_part, v_low, v_high varchar(5000);
    declare v_from, v_to, v_step int;
    set out_mask = if(in_field <> '', 0, null);
    while v_left <> '' do
        set v_part = substring_index(v_left, ',', 1), v_left = substr(v_left, char_length(v_part) + 2);
        if v_part not regexp '^([*]|([a-z]{3}|[0-9]{1,2})(-([a-z]{3}|[0-9]{1,2}))?)(/[0-9]{1,2})?\\z'
            or in_field regexp ',\\z' then
            set out_mask = null;
            leave field;
        end if;
        set v_step = if(locate('/', v_part) > 0, substring_index(v_part, '/', -1), null),
            v_part = substring_index(v_part, '/', 1);
        set v_low = substring_index(v_part, '-', 1),
            v_high = if(locate('-', v_part) > 0, substring_index(v_part, '-', -1), null);
        if v_part = '*' then
            set v_from = in_least, v_to = in_most;
        else
            set v_from = if(v_low regexp '[0-9]', v_low, nullif(find_in_set(v_low, in_names), 0) - 1 + in_least);
            set v_to = if(v_high is null, if(v_step is null, v_from, in_most),
                if(v_high regexp '[0-9]', v_high, nullif(find_in_set(v_high, in_names), 0) - 1 + in_least));
        end if;
        if (v_from >= in_least and v_to <= in_most and v_from <= v_to and coalesce(v_step, 1) > 0) is not true then
            set out_mask = null;
            leave field;
        end if;
        while v_from <= v_to do
            set out_mask = out_mask | (1 << v_from), v_from = v_from + coalesce(v_step, 1);
        end while;
    end while;
end;
