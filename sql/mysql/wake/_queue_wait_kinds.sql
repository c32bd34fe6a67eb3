-- calls: _queue_check_kinds
create procedure _queue_wait_kinds(in in_kinds longtext, out out_kinds longtext collate exact, out out_number int,
    out out_lock varchar(64))
    comment 'What a wait needs of its kinds.
in_kinds: as queue_wait is given them. out_kinds: the kinds, each followed by the character NUL: to take JSON apart
would cost more than to look. out_number: how many. out_lock: the name of the lock that the one has who looks for all
that wait for these kinds, in whatever order they name them.
Errors: PQ001.
differs: PostgreSQL has no need of it.'
begin
    declare v_kinds, v_sorted longtext;
    declare v_place int default 0;
    call _queue_check_kinds(in_kinds, v_kinds);
    set out_kinds = '', out_number = json_length(v_kinds);
    while v_place < out_number do
        set out_kinds = concat(out_kinds, json_unquote(json_extract(v_kinds, concat('$[', v_place, ']'))),
            char(0 using utf8mb4)), v_place = v_place + 1;
    end while;
    select json_arrayagg(k.name) into v_sorted
    from (select distinct j.name from unnest(v_kinds) j (name varchar(100) collate exact) order by j.name limit 100) k;
    set out_lock = concat('pyqueue.wait.', left(sha2(concat(database(), '.', v_sorted), 256), 40));
end;
