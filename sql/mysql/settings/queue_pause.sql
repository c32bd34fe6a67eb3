-- calls: _queue_set_state
create procedure queue_pause(in in_kind text collate exact)
    comment 'Pauses a kind: queue_reserve and queue_pop get nothing; push, ack, nack, extend and move go on, and nothing
dies.
in_kind: the kind.
Result: changed: false where it was paused already.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind.'
begin
    declare v_changed boolean;
    begin atomic
        call _queue_set_state(in_kind, 'paused', v_changed);
    end atomic;
    select v_changed as changed;
end;
