-- calls: _queue_group_check
-- changes: queue_group_due
create or replace function _queue_groups_due(in_now bigint) returns bigint language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_group text;
    v_writers bigint[];
    v_looked bigint := 0;
begin
    if not exists (select from queue_group_due) then
        return 0;
    end if;
    foreach v_group in array array(select distinct d.group_name
        from (select o.group_name from queue_group_due o limit 1000) d order by 1) loop
        begin
            -- its own transaction may have to leave a note for those that come after it
            v_writers := array(
                select d.writer from queue_group_due d
                where d.group_name = v_group
                    and d.writer is distinct from pg_current_xact_id_if_assigned()::text::bigint
                    for update skip locked);
            continue when v_writers = '{}';
            begin
                perform from queue_group g where g.group_name = v_group for update skip locked;
                if found then
                    perform _queue_group_check(v_group, in_now);
                    -- + 0: ADR 13
                    if exists (select from queue_group g where g.group_name = v_group and g.finished_at + 0 is null)
                        then
                        raise exception using errcode = 'PQ00A';
                    end if;
                elsif exists (select from queue_group g where g.group_name = v_group) then
                    v_writers := '{}'; -- who has it locked may not see what this one sees
                end if;
            exception when sqlstate 'PQ00A' then
                null; -- not all is done; the group isn't kept from others for that
            end;
            delete from queue_group_due d where d.group_name = v_group and d.writer = any (v_writers);
            v_looked := v_looked + cardinality(v_writers);
        exception when serialization_failure then
            null; -- this snapshot is too old for it: the next one sees to it
        end;
    end loop;
    return v_looked;
end $$;

comment on function _queue_groups_due(bigint) is
$$Finishes groups whose last members ended in transactions that couldn't see one another: what whoever reserves, polls,
beats, reaps or prunes does by the way.
in_now: the time of the call.
Result: how many notes went.
Locks: the groups that finish, what others have locked is left; then as _queue_group_check.$$;
