-- calls: _queue_groups_due, _queue_members_settle, _queue_permits_sweep, _queue_reap, queue_now
create procedure queue_reap()
    comment 'Frees at once what dead workers hold. A registered worker is dead if its session has ended, or if its
heartbeat is too old. One reserve or pop in twenty does the same by the way, once its session has been there for as long
as the worker''s timeout.
Result: a row for each worker that was found dead: worker, and freed, how many messages it held. One call frees at most
1000 together, so it may have to be made again. Nor are messages freed that others have locked; the next call sees to
these. A worker that holds nothing more is forgotten; if it comes back, its heartbeat registers it anew. A freed
message can be taken from now on. It stands last among those of its priority. The delivery counts as an attempt, as one
that expires does, and is counted as expired. An error says that the worker is gone. If it was the last delivery that
the message may have, the message becomes a dead letter, in a paused kind not before it goes on. The receipt is lost
from now on, though nobody else has got the message yet: the message will be delivered, and an ack now would have it
done twice. Holds that have expired are free already and stay as they are. Permits of semaphores whose holds have ended
or expired are given to who waits for them.
Errors: none.
Locks: the dead workers, and the messages in the order of their entries. What others have locked is left out, so two
calls free once. Semaphores.
Where the idea comes from: the workers of Chapman, which have an identity.'
begin
    declare v_now, v_looked bigint;
    declare v_reaped longtext;
    begin atomic
        call queue_now(v_now);
        call _queue_groups_due(v_now, v_looked);
        call _queue_reap(v_now, 1000, null, v_reaped);
        if @pyqueue_members is not null then
            call _queue_members_settle();
        end if;
        call _queue_permits_sweep(v_now);
    end atomic;
    select r.worker, r.freed
    from unnest(v_reaped) r (place for ordinality, worker varchar(200) collate exact, freed bigint)
    order by r.place;
end;
