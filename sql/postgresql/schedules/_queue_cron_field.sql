create or replace function _queue_cron_field(in_field text, in_least integer, in_most integer,
    in_names text) returns bigint
    language plpgsql as $$
declare
    v_names constant text[] := string_to_array(in_names, ',');
    v_mask bigint := 0;
    v_part text;
    v_piece text[];
    v_from integer;
    v_to integer;
begin
    if coalesce(in_field, '') = '' then
        return null;
    end if;
    foreach v_part in array string_to_array(lower(in_field), ',') loop
        v_piece := regexp_match(v_part, '^(?:[*]|([a-z]{3}|[0-9]{1,2})(?:-([a-z]{3}|[0-9]{1,2}))?)(?:/([0-9]{1,2}))?$');
        if v_piece is null then
            return null;
        elsif v_piece[1] is null then
            v_from := in_least;
            v_to := in_most;
        else
            v_from := case when v_piece[1] ~ '[0-9]' then v_piece[1]::integer
                else array_position(v_names, v_piece[1]) - 1 + in_least end;
            v_to := case when v_piece[2] ~ '[0-9]' then v_piece[2]::integer
                when v_piece[2] is not null then array_position(v_names, v_piece[2]) - 1 + in_least
                when v_piece[3] is not null then in_most else v_from end;
        end if;
        if (v_from >= in_least and v_to <= in_most and v_from <= v_to
            and coalesce(v_piece[3]::integer, 1) > 0) is not true then
            return null;
        end if;
        for i in v_from .. v_to by coalesce(v_piece[3]::integer, 1) loop
            v_mask := v_mask | (1::bigint << i);
        end loop;
    end loop;
    return v_mask;
end $$;

comment on function _queue_cron_field(text, integer, integer, text) is
$$One field of a cron expression as a mask, a bit a value.
in_field: values, ranges and steps with commas between them: *, 5, 1-5, */10, 10/5, mon-fri. in_least, in_most: the
range of its values.
in_names: names of its values from the least on, with commas between them.
Result: the mask; NULL for what is no such field.$$;
