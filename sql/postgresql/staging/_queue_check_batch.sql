-- calls: _queue_check_name, _queue_fail
create or replace function _queue_check_batch(in_name text, in_query text,
    in_batch bigint) returns void language plpgsql as $$
begin
    perform _queue_check_name(in_query, 200, in_name);
    if in_batch >= 0 is not true then
        perform _queue_fail('PQ001', 'batch', in_batch::text, 'must be 0 or more');
    end if;
end $$;

comment on function _queue_check_batch(text, text, bigint) is
$$Refuses what can't be a batch of a query.
in_name: what the query is called in the message. in_query: the query. in_batch: the number of the batch.
Errors: PQ001.$$;
