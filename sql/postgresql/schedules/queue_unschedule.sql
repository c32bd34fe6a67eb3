-- calls: _queue_check_kind
-- changes: queue_recurring
create or replace function queue_unschedule(in_name text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    perform _queue_check_kind(in_name, 100, 'name');
    delete from queue_recurring r where r.name = in_name;
    changed := found;
end $$;

comment on function queue_unschedule(text) is
$$Ends a schedule. What it has pushed stays.
in_name: its name.
Result: changed: false where there was none of that name.
Errors: PQ001 for name.
Locks: the schedule.$$;
