-- calls: _queue_set_state
create or replace function queue_resume(in_kind text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    changed := _queue_set_state(in_kind, null);
end $$;

comment on function queue_resume(text) is
$$Ends the pause of a kind, and its draining.
in_kind: the kind.
Result: changed: false where it was neither paused nor drained.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind.$$;
