-- changes: delayed_queue, queue_group_member
drop procedure if exists _queue_carry_route;
delimiter $$
create procedure _queue_carry_route(in in_kind text collate exact, in in_key text collate exact,
    in in_route longtext character set utf8mb4, in in_member bigint)
    comment 'A new entry goes the way of the old one: has its route, and is the member that it was.
in_kind, in_key: the new one. in_route, in_member: those of the old one.
differs: a row can''t be a parameter here.'
begin
    declare v_entry bigint;
    select min(q.entry) into v_entry from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
    update delayed_queue q set q.route = in_route, q.member = in_member where q.entry = v_entry;
    update queue_group_member m set m.entry = v_entry, m.error = null where m.member = in_member and m.done_at is null;
end $$
delimiter ;
