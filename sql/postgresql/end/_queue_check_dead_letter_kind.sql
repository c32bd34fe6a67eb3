-- calls: _queue_check_name, _queue_fail, _queue_settings
create or replace function _queue_check_dead_letter_kind(in_kind text, in_dead_letter_kind text) returns void
    language plpgsql as $$
declare
    v_next text := in_dead_letter_kind;
begin
    if v_next is null then
        v_next := left(in_kind, 95) || '.dead';
    else
        perform _queue_check_name(v_next, 100, 'dead_letter_kind');
    end if;
    for i in 1 .. 1000 loop
        if v_next = in_kind then
            perform _queue_fail('PQ004', 'dead_letter_kind', coalesce(in_dead_letter_kind, v_next),
                'refused, dead letters would come back to the kind they came from');
        end if;
        v_next := coalesce((_queue_settings(v_next)).dead_letter_kind, left(v_next, 95) || '.dead');
    end loop;
end $$;

comment on function _queue_check_dead_letter_kind(text, text) is
$$Refuses a circle of dead letters.
in_kind: the kind that is defined. in_dead_letter_kind: where its dead letters would go; NULL: the default.
Errors: PQ001 for a name that can't be a kind, PQ004 for a circle.$$;
