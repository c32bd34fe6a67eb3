-- calls: _queue_heartbeat, queue_now
drop procedure if exists queue_heartbeat;
delimiter $$
create procedure queue_heartbeat(in in_worker text collate exact, in in_options longtext character set utf8mb4)
    comment 'Registers a worker, or says that it is still there. What a registered worker holds is freed as soon as it
is known to be dead, see queue_reap. A worker that never registered is left to the timeouts of its messages.
in_worker: the name that it reserves with, 1 to 200 characters. Each process needs a name of its own, for its whole
life, so that what a dead process held isn''t taken for what the next one holds.
in_options: what isn''t given stays as it is, but for session, which is to be given in each call; null brings the
default back.
- timeout_seconds: the worker is dead when it was silent for so long. Allowed: 1 to 86400 (a day). Default: 30.
- kinds: where it holds messages, so that not all have to be looked through. Allowed: an array of 1 to 100 kinds.
  Default: null (any kind).
- info: what people should see of it. Allowed: an object of strings, numbers, booleans and nulls. Default: none.
- session: the worker is alive as long as this session is, silent or not. For a session of its own, behind no pooler
  that shares sessions. Allowed: true, false. Default: false.
- stop: the worker leaves in good order. What it holds is left to the timeouts. Allowed: true, false. Default: false.
- upkeep: whether it may be one that "reaps". Allowed: true, false. Default: true.
Result: worker; alive: false once it has left; started_at, heartbeat_at and expires_at, microseconds, the last NULL
where it is alive by its session or has left; reaps: whether it is one of the two that should call queue_reap every
second, and queue_tick and queue_prune now and then. They are the two living ones with upkeep that registered first:
two, because one of them may be the one that dies.
Errors: PQ001 for worker and kinds, PQ002 for options, PQ003 for info.
Locks: the worker. With session also a lock of the session, whose end is the sign that the worker is gone.
Where the idea comes from: the workers of Chapman, which have an identity.
differs: the lock of the session is a named one, which RELEASE_ALL_LOCKS() gives up. Other nodes of a cluster that is
written to at several don''t see it, so there session says nothing and the worker is alive by its heartbeat: expires_at
says until when.'
begin
    declare v_alive, v_reaps boolean;
    declare v_now, v_started, v_expires bigint;
    begin atomic
        call queue_now(v_now);
        call _queue_heartbeat(in_worker, in_options, v_now, v_alive, v_started, v_expires, v_reaps);
    end atomic;
    select in_worker as worker, v_alive as alive, v_started as started_at, v_now as heartbeat_at,
        v_expires as expires_at, v_reaps as reaps;
end $$
delimiter ;
