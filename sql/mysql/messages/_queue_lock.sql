create procedure _queue_lock(in in_list longtext)
    comment 'Locks messages in the order of their entries.
in_list: a JSON array of arrays that begin with the entry, in any order; entries that are gone are passed over.
Locks: as said; waits for what others have locked.
differs: on PostgreSQL it is a statement in each of those who need it.'
begin
    declare v_last bigint;
    -- the index is forced here and wherever a list is joined: a table that looks small would be scanned, and locked,
    -- whole
    select max(e.entry) into v_last
    from (
        select q.entry from json_table(in_list, '$[*]' columns (entry bigint path '$[0]')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        order by j.entry limit 1000000000 for update of q) e; -- without a limit the order is left out
end;
