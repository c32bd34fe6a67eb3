-- changes: queue_log_known
create procedure _queue_log_note(in in_now bigint, in in_known bigint)
    comment 'Notes up to where the log is complete, once a second at the most, and forgets older notes.
in_now: the time of the call. in_known: the position. The transaction is the call''s own.
Locks: notes; those that others have locked are left.
differs: on PostgreSQL only who keeps a snapshot makes notes.'
begin
    declare v_position, v_noted_at bigint;
    declare v_old longtext character set utf8mb4;
    declare continue handler for not found begin end;
    select n.position, n.noted_at into v_position, v_noted_at from queue_log_known n order by n.position desc limit 1;
    if in_known > coalesce(v_position, 0) and coalesce(v_noted_at not between in_now - 1000000 and in_now, true) then
        select json_arrayagg(json_array(o.position, o.id)) into v_old
        from (select n.position, n.id from queue_log_known n order by n.position limit 100 for update skip locked) o;
        insert into queue_log_known (position, id, noted_at)
            values (in_known, uuid_short() & 9223372036854775807, in_now);
        delete n from json_table(coalesce(v_old, '[]'), '$[*]'
            columns (position bigint path '$[0]', id bigint path '$[1]')) j
            straight_join queue_log_known n force index (primary) on n.position = j.position and n.id = j.id;
    end if;
end;
