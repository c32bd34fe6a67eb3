-- calls: _queue_bury, _queue_check_inbox_row, _queue_check_json, _queue_fail, _queue_key, _queue_push, _queue_put,
--     queue_now
-- changes: queue_inbox
create procedure _queue_drain_inbox()
    comment 'Takes what has landed out of the inbox, at most 1000 rows: pushes what no trigger has pushed. What can''t
be pushed becomes a dead letter with the reason. It comes before its caller reads the clock, so that what is taken in is
ready for it.
Locks: the rows; what others have locked is left. They are pushed in their order, not in that of their keys: a call that
so waits crosswise with another is made again, see _queue_retry.
differs: PostgreSQL''s is the trigger itself.'
begin
    declare v_first, v_id, v_now, v_at, v_entry bigint;
    declare v_kind varchar(100) collate exact;
    declare v_key varchar(200) collate exact;
    declare v_new_key text collate exact;
    declare v_ids, v_payload, v_headers, v_options longtext;
    declare v_bytes longblob;
    declare v_priority, v_attempts, v_max_attempts, v_guarded int;
    declare v_delay decimal(30,6);
    declare v_error text;
    declare v_outcome varchar(10);
    declare c cursor for
        select i.id from unnest(v_ids) j (id bigint) straight_join queue_inbox i force index (primary) on i.id = j.id
        where not i.taken order by i.id;
    select min(i.id) into v_first from queue_inbox i;
    if v_first is not null then
        select json_arrayagg(o.id) into v_ids
        from (select i.id from queue_inbox i order by i.id limit 1000 for update skip locked) o;
    end if;
    if v_ids is not null then
        call queue_now(v_now);
        for each c into v_id do
            select i.p_kind, i.p_key, i.payload, i.payload_bytes, i.headers, i.priority, i.delay_seconds,
                i.scheduled_at, i.attempts, i.max_attempts, null, null
            into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts, v_max_attempts,
                v_error, v_entry
            from queue_inbox i where i.id = v_id for update;
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
                call _queue_check_inbox_row(v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts,
                    v_max_attempts, v_options);
                call _queue_push(v_kind, v_key, v_payload, v_bytes, v_options, v_new_key, v_at, v_outcome);
            end;
            if v_error is not null then
                if v_key is null then
                    call _queue_key(v_now, v_key);
                end if;
                if v_payload is not null then
                    begin -- what is no JSON to all is kept as bytes
                        declare exit handler for sqlstate 'PQ003' set v_bytes = v_payload, v_payload = null;
                        call _queue_check_json(v_payload, 'PQ003', 'payload');
                    end;
                end if;
                set v_payload = coalesce(v_payload, if(v_bytes is null, 'null', null));
                call _queue_put(v_entry, v_kind, v_key, v_payload, v_bytes, null, 0, v_now, v_now, 0, null, 'ignore',
                    null, null, null, null, null, null, v_at, v_outcome);
                if v_outcome = 'created' then
                    call _queue_bury(v_entry, v_error, v_now);
                end if;
            end if;
        end each;
        delete i from unnest(v_ids) j (id bigint) straight_join queue_inbox i force index (primary) on i.id = j.id;
    end if;
end;
