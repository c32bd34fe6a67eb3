-- calls: _queue_check_name, _queue_fail
create procedure _queue_check_batch(in in_name varchar(100), in in_query text collate exact, in in_batch bigint)
    comment 'Refuses what can''t be a batch of a query.
in_name: what the query is called in the message. in_query: the query. in_batch: the number of the batch.
Errors: PQ001.'
begin
    call _queue_check_name(in_query, 200, in_name);
    if in_batch >= 0 is not true then
        call _queue_fail('PQ001', 'batch', in_batch, 'must be 0 or more');
    end if;
end;
