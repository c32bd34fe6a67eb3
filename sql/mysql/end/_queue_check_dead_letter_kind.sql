-- calls: _queue_check_name, _queue_fail
create procedure _queue_check_dead_letter_kind(in in_kind text collate exact, in in_dead_letter_kind text collate exact)
    comment 'Refuses a circle of dead letters.
in_kind: the kind that is defined. in_dead_letter_kind: where its dead letters would go; NULL: the default.
Errors: PQ001 for a name that can''t be a kind, PQ004 for a circle.'
begin
    declare v_next text collate exact default coalesce(in_dead_letter_kind, concat(left(in_kind, 95), '.dead'));
    declare v_last text collate exact;
    declare v_steps int default 0;
    if in_dead_letter_kind is not null then
        call _queue_check_name(in_dead_letter_kind, 100, 'dead_letter_kind');
    end if;
    chain: while v_steps < 1000 do
        if v_next = in_kind then
            call _queue_fail('PQ004', 'dead_letter_kind', coalesce(in_dead_letter_kind, v_next),
                'refused, dead letters would come back to the kind they came from');
        end if;
        set v_last = v_next;
        select coalesce(max(k.dead_letter_kind), concat(left(v_last, 95), '.dead')) into v_next from queue_kind k
            where k.p_kind = v_last;
        if v_next = v_last then
            leave chain; -- a name of 100 characters is its own dead letters'
        end if;
        set v_steps = v_steps + 1;
    end while;
end;
