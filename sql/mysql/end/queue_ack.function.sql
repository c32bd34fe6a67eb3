-- calls: _queue_ack, _queue_members_settle
create function queue_ack(in_receipt text) returns json
    not deterministic modifies sql data
    comment 'The short form of the procedure queue_ack, for clients that only know SELECT.
in_receipt, the errors and the locks: those of the procedure.
Result: a JSON object of its columns.
differs: PostgreSQL''s routine is such a function itself.'
begin
    declare v_outcome varchar(10);
    call _queue_ack(in_receipt, null, v_outcome);
    if @pyqueue_members is not null then
        call _queue_members_settle();
    end if;
    return json_object('receipt', in_receipt, 'outcome', v_outcome);
end;
