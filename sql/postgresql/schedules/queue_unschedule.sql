-- calls: _queue_check_name, _queue_check_roles
-- changes: queue_recurring
create or replace function queue_unschedule(in_name text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    perform _queue_check_name(in_name, 100, 'name');
    perform _queue_check_roles(array(select r.p_kind from queue_recurring r where r.name = in_name));
    delete from queue_recurring r where r.name = in_name;
    changed := found;
end $$;

comment on function queue_unschedule(text) is
$$Ends a schedule. What it has pushed stays.
in_name: its name.
Result: changed: false where there was none of that name.
Errors: PQ007 for a kind that is for others, PQ001 for name.
Locks: the schedule.$$;
