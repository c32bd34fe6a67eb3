-- calls: _queue_log
create procedure _queue_log_entries(in in_list longtext, in in_topic text collate exact, in in_now bigint)
    comment 'Appends messages that came in to the log, where their kinds have log_seconds.
in_list: a JSON array of arrays, in their order: an entry, and its event: pushed, replaced, or null for none; entries
that aren''t there are left out. in_topic: what was published: the first of them stands under it, the others are its
copies; NULL: each stands under its kind. in_now: the time of the call.
Locks: as _queue_log_open.
differs: on PostgreSQL it is _queue_log.'
begin
    declare v_entry, v_first bigint;
    declare v_event varchar(10);
    declare v_kind varchar(100) collate exact;
    declare c cursor for
        select q.p_kind, q.entry, j.event
        from unnest(in_list) j (place for ordinality, entry bigint, event varchar(10))
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
            straight_join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0
        where j.event is not null
        order by j.place;
    for each c into v_kind, v_entry, v_event do
        call _queue_log(v_entry, v_event, null, in_topic, v_first, in_now);
        if in_topic is not null and v_first is null then
            select l.position into v_first from queue_log l force index (queue_log_kind)
            where l.p_kind = v_kind and l.entry = v_entry order by l.position desc limit 1;
        end if;
    end each;
end;
