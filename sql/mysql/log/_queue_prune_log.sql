-- changes: queue_log, queue_log_gone
create procedure _queue_prune_log(in in_kind text collate exact, in in_now bigint, in in_max int, out out_pruned bigint)
    comment 'Removes from the log what of a kind is older than its log_seconds, or all where it has none, the oldest
first, and notes up to where. What stands under a topic stays there as long as another kind keeps a copy, for the
readers of the topic.
in_kind: the kind. in_now: the time of the call. in_max: how many rows at the most.
Result: how many, those that stay for a topic included.
Locks: the rows; what others have locked is left.
differs: the result is out_pruned.'
begin
    declare v_seconds decimal(20,6) default 0;
    declare v_since, v_oldest bigint;
    declare v_found, v_kept longtext;
    declare continue handler for not found begin end;
    select k.log_seconds into v_seconds from queue_kind k where k.p_kind = in_kind;
    set v_since = if(v_seconds = 0, 9223372036854775807, in_now - v_seconds * 1000000), out_pruned = 0;
    -- the oldest tells whether there is anything to do; else all that is young would be looked at
    select l.created_at into v_oldest from queue_log l force index (queue_log_kind) where l.p_kind = in_kind
        order by l.position limit 1;
    if v_oldest <= v_since then
        select json_arrayagg(o.position), count(*) into v_found, out_pruned
        from (
            select l.position
            from (
                select n.position from queue_log n force index (queue_log_kind) where n.p_kind = in_kind
                order by n.position limit in_max) j
                straight_join queue_log l force index (primary) on l.position = j.position
            where l.created_at <= v_since for update of l skip locked) o;
    end if;
    if v_found is not null then
        select json_arrayagg(json_array(o.position, o.p_kind, o.entry)) into v_kept
        from (
            select l.position, c.p_kind, c.entry,
                row_number() over (partition by l.position order by c.position) as place
            from unnest(v_found) j (position bigint)
                straight_join queue_log l force index (primary) on l.position = j.position
                straight_join queue_log c force index (queue_log_topic)
                    on c.topic = l.topic and c.copy_of = l.position and c.p_kind <> in_kind) o
        where o.place = 1;
        if v_kept is not null then
            insert into queue_log_gone (p_kind, name, event, position)
            select in_kind, '', l.event, max(l.position)
            from json_table(v_kept, '$[*]' columns (position bigint path '$[0]')) j
                straight_join queue_log l force index (primary) on l.position = j.position
            group by l.event;
            update unnest(v_kept) j (position bigint, p_kind varchar(100) collate exact, entry bigint)
                straight_join queue_log l force index (primary) on l.position = j.position
            set l.p_kind = j.p_kind, l.entry = j.entry, l.topic_only = true;
        end if;
        insert into queue_log_gone (p_kind, name, event, position)
        select l.p_kind, coalesce(l.name, ''), l.event, max(l.position)
        from unnest(v_found) j (position bigint)
            straight_join queue_log l force index (primary) on l.position = j.position and l.p_kind = in_kind
        group by l.p_kind, coalesce(l.name, ''), l.event;
        delete l from unnest(v_found) j (position bigint)
            straight_join queue_log l force index (primary) on l.position = j.position and l.p_kind = in_kind;
        delete g from queue_log_gone g force index (primary)
        where g.p_kind = in_kind and (
            select 1 from queue_log_gone n force index (primary) where n.p_kind = g.p_kind and n.name = g.name
                and n.event = g.event and n.position > g.position limit 1) is not null
        limit 100 skip locked by (p_kind varchar(100) collate exact, name varchar(255) collate exact,
            event varchar(10) collate exact, position bigint);
    end if;
end;
