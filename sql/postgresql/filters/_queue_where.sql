-- calls: _queue_fail
create or replace function _queue_where(in_options jsonb) returns jsonb language plpgsql as $$
declare
    v_where constant jsonb := in_options -> 'where';
begin
    if v_where is null or v_where in ('null', '{}') then
        return null;
    elsif jsonb_typeof(v_where) <> 'object' then
        perform _queue_fail('PQ002', 'where', v_where::text, 'must be a JSON object');
    elsif jsonb_path_exists(v_where, '$.**{31}') then
        perform _queue_fail('PQ002', 'where', v_where::text, 'must be at most 31 levels deep');
    elsif jsonb_path_exists(v_where,
        'strict $.** ? (@.type() == "array")[*] ? (@.type() == "object" || @.type() == "array")') then
        perform _queue_fail('PQ002', 'where', v_where::text, 'must have no object and no array in an array');
    elsif 16 < (
        select count(*) from jsonb_path_query(v_where, 'strict $.**') v
        where jsonb_typeof(v) not in ('object', 'array') or v in ('{}', '[]')) then
        perform _queue_fail('PQ002', 'where', v_where::text, 'must have at most 16 values');
    end if;
    return v_where;
end $$;

comment on function _queue_where(jsonb) is
$$The option where of queue_reserve, queue_pop and queue_peek: what payload or headers of a message must contain.
in_options: the options.
Result: the filter, NULL where there is none or all match.
Errors: PQ002.
A document contains a filter where it has all of its values at their places: an object each member of it, whatever else
it has; an array each value of it, in any order and number; a value the same one, numbers by what they are (1 is 1.0),
strings to the letter. An empty object or array wants one. An array in a document isn't looked into for a value that the
filter has outside of one.$$;
