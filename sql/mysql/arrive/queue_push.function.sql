-- calls: _queue_check_payload, _queue_push
create function queue_push(in_kind text collate exact, in_key text collate exact, in_payload longtext) returns json
    not deterministic modifies sql data
    comment 'The short form of the procedure queue_push, for clients that only know SELECT: without options.
in_kind, in_key, in_payload, the errors and the locks: those of the procedure.
Result: a JSON object of its columns.
What it costs: the locks last as long as the statement''s transaction, as those of the procedure do in a transaction.
differs: PostgreSQL''s routine is such a function itself.'
begin
    declare v_key text collate exact;
    declare v_scheduled_at bigint;
    declare v_outcome varchar(10);
    call _queue_check_payload(in_payload, 'payload');
    call _queue_push(in_kind, in_key, in_payload, null, null, v_key, v_scheduled_at, v_outcome);
    return json_object('p_kind', in_kind, 'p_key', v_key, 'scheduled_at', v_scheduled_at + 0, 'outcome', v_outcome);
end;
