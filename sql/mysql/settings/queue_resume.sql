-- calls: _queue_set_state
create procedure queue_resume(in in_kind text collate exact)
    comment 'Ends the pause of a kind, and its draining.
in_kind: the kind.
Result: changed: false where it was neither paused nor drained.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind.'
begin
    declare v_changed boolean;
    begin atomic
        call _queue_set_state(in_kind, null, v_changed);
    end atomic;
    select v_changed as changed;
end;
