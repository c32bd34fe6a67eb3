create or replace function _queue_matcher(in_pattern text) returns text language plpgsql as $$
declare
    v_matcher text := '^';
    v_word text;
begin
    foreach v_word in array string_to_array(in_pattern, '.') loop
        v_matcher := v_matcher || case v_word
            when '*' then '[.][^.]+'
            when '#' then '(?:[.][^.]+)*'
            else '[.]' || regexp_replace(v_word, '([][' || repeat(chr(92), 2) || '^$|?+(){}])',
                repeat(chr(92), 3) || '1', 'g') end;
    end loop;
    return v_matcher || '$';
end $$;

comment on function _queue_matcher(text) is
$$The regular expression of a pattern: for a topic with a dot before it.
in_pattern: the pattern, checked.
Result: the expression. Nothing of the pattern but * and # means anything in it.$$;
