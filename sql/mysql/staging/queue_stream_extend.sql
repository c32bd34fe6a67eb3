-- calls: _queue_check_name, _queue_check_options, _queue_check_seconds, _queue_extend_with_permits, _queue_integer,
--     _queue_lock, _queue_stream_held, queue_now
create procedure queue_stream_extend(in in_source text collate exact, in in_seconds double, in in_options longtext)
    comment 'Keeps the holds of a read: queue_extend for every message that it was handed out. With 0 seconds they go to
whoever asks first, the read itself if it is done again before anybody else comes.
in_source: as in queue_stream_reserve. in_seconds: 0 to a year (31536000), from now.
in_options: what else is to be known.
- plan: the number that queue_stream_plan answered. Where the read was planned again since, nothing happens: it is for
  others to keep. Allowed: 1 or more. Default: whichever it is.
Result: extended and lost: how many messages; none of both once the batch is committed.
Errors: PQ001 for source and seconds, PQ002 for options.
Locks: the messages, in the order of their entries.'
begin
    declare v_now, v_until, v_extended, v_plan, v_newest bigint;
    declare v_number int;
    declare v_list, v_slots longtext;
    declare v_outcomes longtext character set ascii;
    begin atomic
        call queue_now(v_now);
        call _queue_check_name(in_source, 230, 'source');
        call _queue_check_seconds(in_seconds);
        set v_until = v_now + cast(round(in_seconds * 1000000) as signed);
        call _queue_check_options(in_options, 'plan', 'options');
        call _queue_integer(in_options, 'plan', 1, 9223372036854775807, v_plan);
        call _queue_stream_held(in_source, null, null, v_list, v_number);
        call _queue_lock(v_list);
        select max(l.plan) into v_newest from queue_stream_plan l where l.source = in_source;
        if not coalesce(v_plan, v_newest) <=> v_newest then
            set v_list = '[]', v_number = 0;
        end if;
        select coalesce(sum(q.semaphores is null), 0) into v_extended
        from deliveries(v_list) q where q.reserved_by is not null for update of q;
        update deliveries(v_list) q
        set q.scheduled_at = v_until where q.semaphores is null and q.reserved_by is not null;
        select json_arrayagg(json_array(q.entry, r.place)) into v_slots
        from unnest(v_list) r (place for ordinality, entry bigint, secret char(32))
            straight_join delayed_queue q force index (primary) on q.entry = r.entry and q.secret = unhex(r.secret)
        where q.semaphores is not null for update of q;
        if v_slots is not null then
            set v_outcomes = repeat('l', v_number);
            call _queue_extend_with_permits(v_slots, in_seconds, v_now, v_outcomes);
            set v_extended = v_extended + char_length(replace(v_outcomes, 'l', ''));
        end if;
    end atomic;
    select v_extended as extended, v_number - v_extended as lost;
end;
