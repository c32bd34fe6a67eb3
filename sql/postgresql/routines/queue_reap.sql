create or replace function queue_reap() returns table (worker text, freed integer)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
begin
    perform _queue_groups_due(v_now);
    return query select r.worker, r.freed from _queue_reap(v_now) r;
    perform _queue_slot_sweep(v_now);
end $$;

comment on function queue_reap() is
$$Frees at once what registered workers hold that are dead: whose session has ended, or whose heartbeat is too old. A reserve or pop in
twenty does the same by the way.
Result: a row for each worker that was found dead: worker, and freed, how many messages it held; 1000 together in one call, which may have to be made again.
Then the worker is forgotten; should it come back, its heartbeat registers it anew.
A freed message can be taken from now on, standing last among those of its priority; the delivery counts as an attempt, as one that expires does,
and is counted as expired; an error says that the worker is gone; where it was the last delivery that the message may have, it becomes
a dead letter. The receipt is lost from now on, though nobody else has got the message yet: it will be delivered, and one that was acked after
that would be done twice. Holds that have expired are free already and stay as they are.
Slots of semaphores whose holds have ended or expired are given to who waits for them.
Errors: none.
Locks: the dead workers, and the messages in the order of their entries; what others have locked is left out, so two calls free once; semaphores.
Where the idea comes from: the workers of Chapman, which have an identity.$$;
