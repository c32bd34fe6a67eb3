-- calls: _queue_fail, _queue_leaves
create procedure _queue_where(in in_options longtext, out out_where longtext)
    comment 'The option where of queue_reserve, queue_pop and queue_peek: what payload or headers of a message must
contain.
in_options: the options.
Result: the filter, NULL where there is none or all match.
Errors: PQ002.
A document contains a filter where it has all of its values at their places: an object each member of it, whatever else
it has; an array each value of it, in any order and number; a value the same one, numbers by what they are (1 is 1.0),
strings to the letter. An empty object or array wants one. An array in a document isn''t looked into for a value that
the filter has outside of one.
differs: out_where is the leaves of the filter, see _queue_leaves. Numbers that aren''t integers of 64 bits are compared
as doubles.'
begin
    declare v_where longtext default in_options -> 'where';
    declare v_deep int;
    set out_where = null;
    if json_type(v_where) <> 'OBJECT' then
        if json_type(v_where) <> 'NULL' then
            call _queue_fail('PQ002', 'where', v_where, 'must be a JSON object');
        end if;
    elseif json_depth(v_where) > 31 then
        call _queue_fail('PQ002', 'where', v_where, 'must be at most 31 levels deep');
    elseif json_length(v_where) > 0 then
        call _queue_leaves(json_object('', json_object('d', 0, 'v', concat(v_where, ''))), true, out_where);
        select count(*) into v_deep from leaves(out_where) w where w.c = '!';
        if v_deep > 0 then
            call _queue_fail('PQ002', 'where', v_where, 'must have no object and no array in an array');
        elseif json_length(out_where) > 16 then
            call _queue_fail('PQ002', 'where', v_where, 'must have at most 16 values');
        end if;
    end if;
end;
