-- calls: _queue_end, _queue_put
-- changes: delayed_queue
drop procedure if exists _queue_redrive;
delimiter $$
create procedure _queue_redrive(in in_entry bigint, in in_now bigint, out out_went boolean)
    comment 'Sends one dead letter back.
in_entry: the dead letter, locked already. in_now: the time of the call. out_went: false where its key is taken, or
where it came from is drained.
differs: on PostgreSQL it is a part of queue_redrive.'
begin
    declare v_kind varchar(100) collate exact;
    declare v_key varchar(200) collate exact;
    declare v_payload, v_headers, v_errors, v_route, v_semaphores longtext character set utf8mb4;
    declare v_bytes longblob;
    declare v_priority smallint;
    declare v_draining int;
    declare v_initially, v_at, v_member, v_entry bigint;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_order varchar(200) collate exact;
    select q.source_kind, q.source_key, q.payload, q.payload_bytes, q.headers, q.source_priority, q.errors,
        q.scheduled_at_initially, q.route, q.member, q.source_order_key, q.semaphores
    into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_errors, v_initially, v_route, v_member, v_order,
        v_semaphores
    from delayed_queue q where q.entry = in_entry for update;
    select count(*) into v_draining from queue_kind k where k.p_kind = v_kind and k.draining;
    set out_went = false;
    if v_draining = 0 then
        call _queue_put(v_entry, v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, in_now, in_now, 0, null,
            'ignore', null, v_route, null, v_member, v_order, v_semaphores, v_at, v_outcome);
        set out_went = v_outcome = 'created';
    end if;
    if out_went then
        update delayed_queue q set q.errors = v_errors, q.scheduled_at_initially = v_initially
        where q.entry = v_entry and v_errors is not null;
        call _queue_end(in_entry, 'moved', v_kind, in_now);
    end if;
end $$
delimiter ;
