drop procedure if exists queue_group;
delimiter $$
create procedure queue_group(in in_group text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_then_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_then_payload longtext character set utf8mb4,
    in in_options longtext character set utf8mb4)
    comment 'Makes a group, or changes one that has not finished: when all of its members are done, what follows it is pushed, once. Messages
become members by option group of a push; one is done when it is acked, or at the end of its route.
in_group: its name, 1 to 100 characters. in_then_kind: the kind of what follows; NULL: as it was. in_then_payload: a JSON object; NULL:
as it was, at first {}. The results are put into it as results: an array, in the order of the pushes, of {kind, key, outcome, result,
error}, kind and key as pushed, result as its ack gave it, if it did. All together are one payload: 10000 of 1 kB are 10 MB, and MySQL and MariaDB want
max_allowed_packet to be as large.
in_options, each kept where it isn''t given again: close (true: all members are known); members (how many there will be); on_dead,
what a dead member does: wait (the default: the group waits until that is redriven and acked, or acked as a dead letter), report (it is done,
its error is with the results) or fail (the group has failed at once); fail_kind (where what follows goes then, with the results so far;
none: nothing is pushed); key (of what follows, default the name of the group; where it is taken, that message is replaced as by a push with on_duplicate), priority,
delay_seconds; keep_seconds (how long a group that has finished is remembered, default 86400).
A group finishes once it is closed, or has as many members as it was to have, and all of them are done: one that is closed
without any, at once. Until it has finished more may be added, also by a member that is held; after that it is an error. What is pushed onto a
message that is there already is no member. A member that moves, dies or is redriven stays one; one whose key is taken where it goes is done:
outcome duplicate. One that is popped, removed, purged, dropped or goes with its kind is done: outcome gone, from the next queue_prune on.
What follows is put in even where its kind is drained.
Result: group_name; state: open, closed, done, failed; members, done: how many. A group that has finished stays as it is.
Errors: PQ001 for group and then_kind, PQ002 for options, PQ003 for then_payload.
Locks: the group; waits for pushes of members that haven''t committed. Acks of the last members of a group, and of a group of
a few, wait for one another''s transactions. Under REPEATABLE READ and SERIALIZABLE the last ack may not see that it is the last: then
whoever next reserves, waits, sends a heartbeat, reaps or prunes finishes the group, and queue_wait and queue_listen say that then_kind may have something.
Where the idea comes from: Chapman''s groups, whose last job starts the next step.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_group(in_group, in_then_kind, in_then_payload, in_options);
            select v.group_name, v.state, v.members, v.done from queue_groups v where v.group_name = in_group;
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
end $$
delimiter ;
