-- changes: queue_term
create or replace function _queue_forget_terms(in_entries bigint[]) returns bigint language plpgsql as $$
declare
    v_rows bigint;
begin
    delete from queue_term t
    where t.ctid = any (array(select g.ctid from queue_term g where g.entry = any (in_entries) for update skip locked));
    get diagnostics v_rows = row_count;
    return v_rows;
end $$;

comment on function _queue_forget_terms(bigint[]) is
$$Takes messages that have gone out of the index of filters.
in_entries: their entries.
Result: how many rows went.
Locks: these rows; what others have locked is left.$$;
