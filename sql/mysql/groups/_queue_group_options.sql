-- calls: _queue_boolean, _queue_check_key, _queue_check_kind, _queue_check_options, _queue_check_payload,
--     _queue_check_roles, _queue_fail, _queue_integer, _queue_number, _queue_text
create procedure _queue_group_options(in in_then_kind text collate exact,
    in in_then_payload longtext character set utf8mb4, in in_options longtext character set utf8mb4,
    out out_close boolean, out out_members bigint, out out_on_dead longtext character set utf8mb4,
    out out_fail_kind longtext character set utf8mb4, out out_key longtext character set utf8mb4,
    out out_priority bigint, out out_delay_seconds decimal(30,6), out out_keep_seconds decimal(30,6))
    comment 'Refuses what queue_group doesn''t know.
in_then_kind, in_then_payload, in_options: those of queue_group.
Errors: PQ001, PQ002, PQ003.
differs: it answers the options, each NULL where it isn''t given.'
begin
    if in_then_kind is not null then
        call _queue_check_kind(in_then_kind, 95, 'then_kind');
        call _queue_check_roles(json_array(in_then_kind));
    end if;
    if in_then_payload is not null then
        call _queue_check_payload(in_then_payload, 'then_payload');
        if json_type(in_then_payload) <> 'OBJECT' then
            call _queue_fail('PQ003', 'then_payload', in_then_payload, 'must be a JSON object');
        end if;
    end if;
    if in_options is not null then
        call _queue_check_options(in_options, 'close,members,on_dead,fail_kind,key,priority,delay_seconds,keep_seconds',
            'options');
        call _queue_boolean(in_options, 'close', out_close);
        call _queue_integer(in_options, 'members', 0, 1000000000, out_members);
        call _queue_text(in_options, 'on_dead', out_on_dead);
        if out_on_dead not in ('wait', 'report', 'fail') then
            call _queue_fail('PQ002', 'on_dead', out_on_dead, 'must be wait, report or fail');
        end if;
        call _queue_text(in_options, 'fail_kind', out_fail_kind);
        if out_fail_kind is not null then
            call _queue_check_kind(out_fail_kind, 95, 'fail_kind');
        end if;
        call _queue_text(in_options, 'key', out_key);
        if out_key is not null then
            call _queue_check_key(left(out_key, 201), 'key');
        end if;
        call _queue_check_roles(json_array(out_fail_kind));
        call _queue_integer(in_options, 'priority', -32768, 32767, out_priority);
        call _queue_number(in_options, 'delay_seconds', 0, 31536000, out_delay_seconds);
        call _queue_number(in_options, 'keep_seconds', 0, 3153600000, out_keep_seconds);
    end if;
end;
