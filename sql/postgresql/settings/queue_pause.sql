-- calls: _queue_set_state
create or replace function queue_pause(in_kind text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    changed := _queue_set_state(in_kind, 'paused');
end $$;

comment on function queue_pause(text) is
$$Pauses a kind: queue_reserve and queue_pop get nothing; push, ack, nack, extend and move go on, and nothing dies.
in_kind: the kind.
Result: changed: false where it was paused already.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind.$$;
