-- changes: queue_term
create procedure _queue_forget_terms(in in_entries longtext, out out_rows bigint)
    comment 'Takes messages that have gone out of the index of filters.
in_entries: their entries, a JSON array.
Result: how many rows went.
Locks: these rows; what others have locked is left.
differs: the result is out_rows.'
begin
    set out_rows = 0;
    delete t from unnest(coalesce(in_entries, '[]')) j (entry bigint)
        straight_join queue_term t force index (primary) on t.entry = j.entry order by t.entry, t.term
    skip locked by (entry bigint, term bigint) into out_rows;
end;
