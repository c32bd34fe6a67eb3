-- calls: _queue_fail
create procedure _queue_semaphores(in in_options longtext, out out_names longtext)
    comment 'The semaphores of a push, checked.
in_options: those of a push.
Result: their names, in order; NULL: none.
Errors: PQ002, also for one that isn''t there, and together with an order key.
differs: the result is out_names, a JSON array.'
names: begin
    declare v_number, v_bad int default 0;
    declare v_missing varchar(100) collate exact;
    set out_names = in_options -> 'semaphores';
    if coalesce(json_type(out_names), 'NULL') = 'NULL' then
        set out_names = null;
        leave names;
    elseif json_type(out_names) = 'ARRAY' then
        select count(distinct n.name),
            coalesce(sum(json_type(n.value) <> 'STRING' or char_length(n.name) not between 1 and 100), 0)
        into v_number, v_bad
        from json_table(out_names, '$[*]' columns (name varchar(101) collate exact path '$', value json path '$')) n;
    end if;
    if v_bad > 0 or v_number not between 1 and 8 or v_number <> json_length(out_names) then
        call _queue_fail('PQ002', 'semaphores', out_names,
            'must be an array of 1 to 8 different names of 1 to 100 characters');
    end if;
    select json_arrayagg(o.name) into out_names
    from (select n.name from unnest(out_names) n (name varchar(100) collate exact) order by n.name limit 8) o;
    if coalesce(json_type(in_options -> 'order_key'), 'NULL') <> 'NULL' then
        call _queue_fail('PQ002', 'semaphores', out_names, 'can''t be together with an order_key');
    end if;
    select min(n.name) into v_missing
    from unnest(out_names) n (name varchar(100) collate exact) left join queue_semaphore s on s.name = n.name
    where s.name is null;
    if v_missing is not null then
        call _queue_fail('PQ002', 'semaphores', v_missing, 'must be there: queue_semaphore makes it');
    end if;
end;
