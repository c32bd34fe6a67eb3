-- calls: _queue_fail
create procedure _queue_events(in in_options longtext character set utf8mb4, out out_events text collate exact)
    comment 'The option events of a read.
in_options: the options, an object or NULL.
Result: the events, in their order, with a comma between them; NULL where there is no such option.
Errors: PQ002.
differs: the result is out_events.'
begin
    declare v_events longtext character set utf8mb4 default json_extract(in_options, '$.events');
    declare v_bad longtext character set utf8mb4;
    set out_events = null;
    if coalesce(json_type(v_events), 'NULL') <> 'NULL' then
        if json_type(v_events) <> 'ARRAY' or json_length(v_events) = 0 then
            call _queue_fail('PQ002', 'events', json_unquote(v_events), 'must be an array of events');
        end if;
        select min(j.event), group_concat(distinct j.name order by j.name) into v_bad, out_events
        from (
            select if(e.name in ('pushed', 'replaced', 'acked', 'popped', 'moved', 'dead', 'removed')
                and json_type(e.event) = 'STRING', null, cast(e.event as char character set utf8mb4)) as event, e.name
            from json_table(v_events, '$[*]'
                columns (event json path '$', name varchar(100) collate exact path '$')) e) j;
        if v_bad is not null then
            call _queue_fail('PQ002', 'events', v_bad, 'must be pushed, replaced, acked, popped, moved, dead, removed');
        end if;
    end if;
end;
