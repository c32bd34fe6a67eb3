-- calls: _queue_drain_inbox_row, queue_now
-- changes: queue_inbox
create procedure _queue_drain_inbox()
    comment 'Takes what has landed out of the inbox, at most 1000 rows: pushes what no trigger has pushed. What can''t
be pushed becomes a dead letter with the reason. It comes before its caller reads the clock, so that what is taken in is
ready for it.
Locks: the rows; what others have locked is left. They are pushed in their order, not in that of their keys: a call that
so waits crosswise with another is made again, see _queue_retry.
differs: PostgreSQL''s is the trigger itself.'
begin
    declare v_first, v_id, v_now bigint;
    declare v_ids longtext character set utf8mb4;
    declare c cursor for
        select i.id from json_table(v_ids, '$[*]' columns (id bigint path '$')) j
            straight_join queue_inbox i force index (primary) on i.id = j.id
        where not i.taken order by i.id;
    select min(i.id) into v_first from queue_inbox i;
    if v_first is not null then
        select json_arrayagg(o.id) into v_ids
        from (select i.id from queue_inbox i order by i.id limit 1000 for update skip locked) o;
    end if;
    if v_ids is not null then
        call queue_now(v_now);
        for each c into v_id do
            call _queue_drain_inbox_row(v_id, v_now);
        end each;
        delete i from json_table(v_ids, '$[*]' columns (id bigint path '$')) j
            straight_join queue_inbox i force index (primary) on i.id = j.id;
    end if;
end;
