-- changes: queue_term
create procedure _queue_forget_terms(in in_entries longtext, out out_rows bigint)
    comment 'Takes messages that have gone out of the index of filters.
in_entries: their entries, a JSON array.
Result: how many rows went.
Locks: these rows; what others have locked is left.
differs: the result is out_rows.'
begin
    declare v_rows longtext;
    select json_arrayagg(json_array(r.entry, r.term)), count(*) into v_rows, out_rows
    from (
        select t.entry, t.term from unnest(coalesce(in_entries, '[]')) j (entry bigint)
            straight_join queue_term t force index (primary) on t.entry = j.entry
        order by t.entry, t.term for update of t skip locked) r;
    if out_rows > 0 then
        delete t from unnest(v_rows) j (entry bigint, term bigint)
            straight_join queue_term t force index (primary) on t.entry = j.entry and t.term = j.term;
    end if;
end;
