-- calls: _queue_admit, _queue_admitted, _queue_check_count, _queue_check_kind, _queue_check_options,
--     _queue_check_roles, _queue_defaults, _queue_groups_due, _queue_take_deliverable, _queue_take_with_permits,
--     _queue_use, _queue_where
-- changes: queue_count
drop procedure if exists _queue_pop_take;
delimiter $$
create procedure _queue_pop_take(in in_kind text collate exact, in in_max_messages int,
    in in_options longtext character set utf8mb4, in in_now bigint, out out_entries longtext character set utf8mb4)
    comment 'The first half of queue_pop: takes messages, which stay as they are until they have been sent.
in_now: the time of the call. The other parameters, the errors and the locks are those of queue_pop. out_entries: the
messages, a JSON array of their entries.
differs: on PostgreSQL a pop removes and answers in one statement.'
begin
    declare v_looked bigint;
    declare v_most, v_number, v_expired int;
    declare v_max int default coalesce(in_max_messages, 1);
    declare v_paused, v_guarded, v_restricted boolean default false;
    declare v_expires decimal(20,6);
    declare v_none, v_rate decimal(30,6);
    declare v_slots longtext character set ascii;
    declare v_tokens bigint;
    declare v_part int;
    declare v_shape, v_where longtext character set utf8mb4;
    declare continue handler for not found begin end;
    call _queue_check_kind(in_kind, 100, 'kind');
    call _queue_check_count(v_max, 'max_messages', 10000);
    call _queue_check_options(in_options, 'where', 'options');
    call _queue_where(in_options, v_where);
    select coalesce(k.max_attempts, 2147483647), k.paused, k.payload_shape, k.expires_seconds, k.semaphores,
        k.rate_per_second, k.roles is not null
    into v_most, v_paused, v_shape, v_expires, v_guarded, v_rate, v_restricted
    from queue_kind k where k.p_kind = in_kind;
    if v_most is null then
        call _queue_defaults(v_none, v_most, v_none, v_none, v_none, v_none);
    end if;
    if v_restricted then
        call _queue_check_roles(json_array(in_kind));
    end if;
    if v_expires is not null then
        call _queue_use(in_kind, v_expires, in_now);
    end if;
    if not v_paused and v_rate is not null then
        call _queue_admit(in_kind, null, v_rate, in_now, v_max, v_slots, v_tokens, v_part);
    end if;
    if not v_paused and v_max > 0 then
        call _queue_groups_due(in_now, v_looked);
        if v_guarded then
            call _queue_take_with_permits(in_kind, v_max, v_most, v_shape, in_now + 1, in_now, v_where, out_entries,
                v_number, v_expired);
        else
            call _queue_take_deliverable(in_kind, v_max, v_most, v_shape, in_now, v_where, out_entries, v_number,
                v_expired);
        end if;
        if v_rate is not null then
            call _queue_admitted(in_kind, v_rate, v_number, v_tokens, v_part);
        end if;
        if v_expired > 0 then
            insert into queue_count (id, p_kind, expired) values (uuid_short(), in_kind, v_expired);
        end if;
    end if;
    set out_entries = coalesce(out_entries, '[]');
end $$
delimiter ;
