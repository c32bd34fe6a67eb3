create procedure _queue_matcher(in in_pattern text collate exact, out out_matcher text collate exact)
    comment 'The regular expression of a pattern: for a topic with a dot before it.
in_pattern: the pattern, checked.
Result: the expression. Nothing of the pattern but * and # means anything in it.
differs: the result is out_matcher.'
begin
    declare v_left text collate exact default concat(in_pattern, '.');
    declare v_word text collate exact;
    set out_matcher = '^';
    while v_left <> '' do
        set v_word = substring_index(v_left, '.', 1), v_left = substr(v_left, locate('.', v_left) + 1);
        set out_matcher = concat(out_matcher, case v_word when '*' then '[.][^.]+' when '#' then '(?:[.][^.]+)*'
            else concat('[.]\\Q', replace(v_word, '\\E', '\\E\\\\E\\Q'), '\\E') end);
    end while;
    set out_matcher = concat(out_matcher, '\\z');
end;
