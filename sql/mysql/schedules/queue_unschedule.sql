-- calls: _queue_check_name, _queue_check_roles
-- changes: queue_recurring
create procedure queue_unschedule(in in_name text collate exact)
    comment 'Ends a schedule. What it has pushed stays.
in_name: its name.
Result: changed: false where there was none of that name.
Errors: PQ007 for a kind that is for others, PQ001 for name.
Locks: the schedule.'
begin
    declare v_changed boolean;
    begin atomic
        declare v_kind varchar(100) collate exact;
        call _queue_check_name(in_name, 100, 'name');
        -- not as a query in a call, which would lock the row
        select max(r.p_kind) into v_kind from queue_recurring r where r.name = in_name;
        call _queue_check_roles(json_array(v_kind));
        delete r from queue_recurring r where r.name = in_name;
        set v_changed = row_count() > 0;
    end atomic;
    select v_changed as changed;
end;
