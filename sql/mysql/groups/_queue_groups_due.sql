-- calls: _queue_group_check
-- changes: queue_group_due
create procedure _queue_groups_due(in in_now bigint, out out_looked bigint)
    comment 'Finishes groups whose last members ended in transactions that couldn''t see one another: what whoever
reserves, polls, beats, reaps or prunes does by the way.
in_now: the time of the call.
Result: how many notes went.
Locks: the groups that finish, what others have locked is left; then as _queue_group_check.
differs: the result is out_looked.'
begin
    declare v_group varchar(100) collate exact default '';
    declare v_found varchar(100) collate exact;
    declare v_there, v_open int;
    declare v_rounds int default 0;
    declare v_finished_at bigint;
    declare v_notes longtext;
    declare continue handler for not found begin end;
    set out_looked = 0;
    select min(d.group_name) into v_group from queue_group_due d;
    while v_group is not null and v_rounds < 1000 do
        set v_found = null, v_finished_at = null;
        -- what this transaction can see; what comes meanwhile is for the next
        select json_arrayagg(json_array(d.writer, d.id)) into v_notes from queue_group_due d
            where d.group_name = v_group;
        set v_open = 0;
        if not @pyqueue_own then -- a lock would last as long as the caller's transaction
            select count(*) into v_open
            from (
                select m.member from queue_group_member m force index (queue_group_member_open)
                where m.group_name = v_group and m.done_at is null limit 1) o;
        end if;
        if v_open = 0 then
            select g.group_name, g.finished_at into v_found, v_finished_at from queue_group g
                where g.group_name = v_group for update skip locked;
        end if;
        select count(*) into v_there from queue_group g where g.group_name = v_group;
        if v_found is not null or v_there = 0 then
            if v_found is not null and v_finished_at is null then
                call _queue_group_check(v_group, in_now);
                select g.finished_at into v_finished_at from queue_group g where g.group_name = v_group;
            end if;
            -- of its own session one may be of this transaction, which may have to leave it to those that come after it
            select json_arrayagg(l.writer) into v_notes
            from (
                select d.writer
                from unnest(v_notes) j (writer bigint, id bigint) straight_join queue_group_due d force index (primary)
                    on d.group_name = v_group and d.writer = j.writer and d.id = j.id
                where @pyqueue_own or v_there = 0 or v_finished_at is not null or d.writer <> connection_id()
                limit 1000000000 for update of d skip locked) l;
            delete d from unnest(coalesce(v_notes, '[]')) j (writer bigint)
                straight_join queue_group_due d force index (primary) on d.group_name = v_group and d.writer = j.writer;
            set out_looked = out_looked + coalesce(json_length(v_notes), 0), v_rounds = v_rounds + 1;
        end if;
        select min(d.group_name) into v_group from queue_group_due d where d.group_name > v_group;
    end while;
end;
