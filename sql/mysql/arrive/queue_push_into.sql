-- calls: _queue_check_payload, _queue_permits_end, _queue_push
create procedure queue_push_into(in in_kind text collate exact, in in_key text collate exact, in in_payload longtext,
    in in_options longtext, out out_outcome varchar(10))
    comment 'Puts one message into a kind: the form that a trigger or a function may CALL, since it answers no rows and
neither begins nor ends a transaction. It rides in the transaction of the statement that the trigger is for.
in_kind, in_key, in_payload, in_options, the errors and the locks: those of queue_push. out_outcome: created, ignored,
replaced, held.
differs: only here. PostgreSQL''s queue_push can be called anywhere. Called on its own without a transaction, it is no
single transaction: call queue_push then.'
begin
    declare v_key text collate exact;
    declare v_scheduled_at bigint;
    call _queue_check_payload(in_payload, 'payload');
    call _queue_push(in_kind, in_key, in_payload, null, in_options, v_key, v_scheduled_at, out_outcome);
    if @pyqueue_permit_names is not null then
        call _queue_permits_end();
    end if;
end;
