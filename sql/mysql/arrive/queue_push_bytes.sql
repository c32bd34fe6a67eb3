-- calls: _queue_fail, _queue_push
create procedure queue_push_bytes(in in_kind text collate exact, in in_key text collate exact,
    in in_payload_bytes longblob, in in_options longtext)
    comment 'Puts one message with a binary payload into a kind; it comes back byte for byte.
in_payload_bytes: the payload. The other parameters, the result, the errors and the locks are those of queue_push.'
begin
    declare v_key text collate exact;
    declare v_scheduled_at bigint;
    declare v_outcome varchar(10);
    begin atomic
        if in_payload_bytes is null then
            call _queue_fail('PQ003', 'payload_bytes', null, 'must be bytes (none at all, '''', is fine)');
        end if;
        call _queue_push(in_kind, in_key, null, in_payload_bytes, in_options, v_key, v_scheduled_at, v_outcome);
    end atomic;
    select in_kind as p_kind, v_key as p_key, v_scheduled_at as scheduled_at, v_outcome as outcome;
end;
