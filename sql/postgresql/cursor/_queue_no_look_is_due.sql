create or replace function _queue_no_look_is_due(in_text text, in_cursor queue_cursor, in_ticks bigint) returns boolean
    language sql volatile
    return in_text is not null and (in_cursor.ranks is null or cardinality(in_cursor.ranks) = 1
        and in_cursor.turn_at <= in_ticks + 4000000 and in_ticks < least(in_cursor.marks_at, in_cursor.turn_at)
        and in_ticks < in_cursor.start_at + (case
            when in_cursor.took <= 5000 and random() < 0.95 then 1000000 else 0 end));

comment on function _queue_no_look_is_due(text, queue_cursor, bigint) is
$$Whether a message can be taken in one statement: from the start where the session keeps no cursor, or from the only
place of its cursor, with no look from the marks or the start due.
in_text: what the session keeps; NULL: it has not called yet. in_cursor: the same as a cursor. in_ticks: the real time.
Result: true or false.
differs: on MariaDB and MySQL a condition in _queue_reserve and _queue_take_onward.$$;
