-- calls: _queue_set_state
create or replace function queue_drain(in_kind text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    changed := _queue_set_state(in_kind, 'draining');
end $$;

comment on function queue_drain(text) is
$$Drains a kind: it takes nothing in any more, and what is there is finished. Each push is refused, whatever its way. A
move into the kind is refused, too, and its message stays with who holds it. A redrive leaves dead letters of the kind
where they are, and a schedule waits. Reserve, pop, ack, nack, extend and moves out of it go on. What is held can be
finished or given back. What waits for its time is delivered then. What dies elsewhere still finds its dead-letter
kind. The kind is empty where its total in queue_stats is 0; queue_resume ends the draining.
in_kind: the kind.
Result: changed: false where it was drained already.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind. What was pushed by a transaction that is still open comes in all the same.
Where the idea comes from: the drain of Keuss.$$;
