-- calls: _queue_bury, _queue_check_json, _queue_fail, _queue_key, _queue_push_inbox_row, _queue_put
create procedure _queue_drain_inbox_row(in in_id bigint, in in_now bigint)
    comment 'Pushes one row of the inbox, or makes it a dead letter.
in_id: the row, locked already. in_now: the time of the call.
differs: PostgreSQL puts in all rows of a statement at once, see _queue_put_inbox_rows.'
begin
    declare v_kind varchar(100) collate exact;
    declare v_key varchar(200) collate exact;
    declare v_payload, v_headers longtext character set utf8mb4;
    declare v_bytes longblob;
    declare v_priority, v_attempts, v_max_attempts, v_guarded int;
    declare v_delay decimal(30,6);
    declare v_at, v_entry bigint;
    declare v_error text character set utf8mb4;
    declare v_outcome varchar(10) character set utf8mb4;
    select i.p_kind, i.p_key, i.payload, i.payload_bytes, i.headers, i.priority, i.delay_seconds, i.scheduled_at,
        i.attempts, i.max_attempts
    into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts, v_max_attempts
    from queue_inbox i where i.id = in_id for update;
    begin
        declare exit handler for sqlstate 'PQ001', sqlstate 'PQ002', sqlstate 'PQ003', sqlstate 'PQ004',
            sqlstate 'PQ007'
            get diagnostics condition 1 v_error = message_text;
        -- who takes it in is not who put it there
        select count(k.roles) into v_guarded from queue_kind k where k.p_kind = v_kind;
        if v_guarded > 0 then
            call _queue_fail('PQ007', 'kind', v_kind,
                'takes nothing from an inbox without its trigger, since that can''t say who wrote it');
        end if;
        call _queue_push_inbox_row(v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts,
            v_max_attempts, v_outcome);
    end;
    if v_error is not null then
        if v_key is null then
            call _queue_key(in_now, v_key);
        end if;
        if v_payload is not null then
            begin -- what is no JSON to all is kept as bytes
                declare exit handler for sqlstate 'PQ003' set v_bytes = v_payload, v_payload = null;
                call _queue_check_json(v_payload, 'PQ003', 'payload');
            end;
        end if;
        set v_payload = coalesce(v_payload, if(v_bytes is null, 'null', null));
        call _queue_put(v_entry, v_kind, v_key, v_payload, v_bytes, null, 0, in_now, in_now, 0, null, 'ignore', null,
            null, null, null, null, null, v_at, v_outcome);
        if v_outcome = 'created' then
            call _queue_bury(v_entry, v_error, in_now);
        end if;
    end if;
end;
