-- calls: _queue_line_up, _queue_order_key, _queue_route, _queue_semaphores
-- changes: delayed_queue
drop procedure if exists _queue_pushed;
delimiter $$
create procedure _queue_pushed(in in_kind text collate exact, in in_key text collate exact,
    in in_options longtext character set utf8mb4, in in_message longtext character set utf8mb4,
    inout out_members longtext character set utf8mb4)
    comment 'Gives a message that was pushed its route and its semaphores, and notes it for its group.
in_kind, in_key: the message, just put in. in_options: those of the push. in_message: as it stands in a batch, whose own
options win; NULL: there is no batch. out_members: a list for _queue_enrol, to which it is added where it is to be a
member.
differs: on PostgreSQL it is a part of each push.'
begin
    declare v_group varchar(100) collate exact
        default coalesce(json_value(in_message, '$.group'), json_value(in_options, '$.group'));
    declare v_route, v_semaphores longtext character set utf8mb4;
    declare v_order varchar(200) collate exact;
    declare v_entry bigint;
    select q.entry into v_entry from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
    call _queue_route(in_options, in_message, v_route);
    call _queue_order_key(in_options, in_message, v_order);
    call _queue_semaphores(in_options, in_message, v_semaphores);
    update delayed_queue q set q.route = v_route, q.order_key = v_order, q.semaphores = v_semaphores
    where q.entry = v_entry and coalesce(v_route, v_order, v_semaphores) is not null;
    if v_semaphores is not null then
        call _queue_line_up(v_entry);
    end if;
    if v_group is not null then
        set out_members = json_array_append(coalesce(out_members, '[]'), '$', json_array(v_group, v_entry + 0));
    end if;
end $$
delimiter ;
