-- changes: delayed_queue
drop procedure if exists _queue_begin_delivery;
delimiter $$
create procedure _queue_begin_delivery(in in_entries longtext character set utf8mb4, in in_number int,
    in in_until bigint, in in_now bigint, in in_worker varchar(200) collate exact,
    in in_seed varchar(64) character set ascii)
    comment 'Begins a delivery of each of some messages.
in_entries: a JSON array of their entries, locked already. in_number: how many. in_until: when the hold ends, in_now:
the time of the call, in microseconds. in_worker: who holds them. in_seed: 64 hexadecimal digits, what their secrets are
made of: of one message the first 32, of several a hash of all with the entry.
differs: on PostgreSQL it is a part of _queue_deliver.'
begin
    declare v_entry bigint default json_extract(in_entries, '$[0]');
    if in_number = 1 then -- the most frequent call, without a set
        update delayed_queue q
        set q.scheduled_at = in_until, q.reserved_at = in_now, q.attempts = q.attempts + 1,
            q.deliveries = q.deliveries + 1, q.reserved_by = in_worker, q.secret = unhex(left(in_seed, 32))
        where q.entry = v_entry;
    else
        /*M!100600 set statement sql_safe_updates = 0 for */
        update json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        set q.scheduled_at = in_until, q.reserved_at = in_now, q.attempts = q.attempts + 1,
            q.deliveries = q.deliveries + 1, q.reserved_by = in_worker,
            q.secret = unhex(left(sha2(concat(in_seed, q.entry), 256), 32));
    end if;
end $$
delimiter ;
