-- calls: _queue_check_name, _queue_check_options, _queue_check_roles, _queue_check_topic, _queue_fail,
--     _queue_log_known, _queue_log_missed, _queue_matcher, _queue_text
-- changes: queue_reader
create procedure _queue_reader(in in_own boolean, in in_now bigint, in in_name text collate exact,
    in in_reader text collate exact, in in_options longtext, out out_matcher text collate exact,
    out out_events text collate exact, out out_place bigint)
    comment 'The reader that queue_read was called for, made where it is new.
in_own: see _queue_begin. in_now: the time of the call. in_name, in_reader, in_options, and the errors: those of
queue_read.
Result: the reader.
Locks: none, but where it is made or its events change that reader; waits for another transaction that is making it.
differs: the result is out_matcher, out_events and out_place. In the caller''s transaction from now is what is known.'
begin
    declare v_from, v_events, v_name text collate exact;
    declare v_last bigint;
    declare v_kinds, v_wanted, v_bad longtext;
    declare v_ended varchar(10);
    declare v_unknown boolean;
    declare v_pattern boolean default in_name regexp '(^|[.])[*#]([.]|$)';
    declare continue handler for not found begin end;
    call _queue_check_name(in_name, 255, 'name');
    if v_pattern then
        call _queue_check_topic(in_name, 'pattern');
        call _queue_matcher(in_name, out_matcher);
        select json_arrayagg(k.p_kind) into v_kinds from queue_kind k
            where k.roles is not null and concat('.', k.p_kind) regexp out_matcher;
    end if;
    call _queue_check_roles(coalesce(v_kinds, json_array(in_name)));
    call _queue_check_name(in_reader, 200, 'reader');
    call _queue_check_options(in_options, 'from,events', 'options');
    call _queue_text(in_options, 'from', v_from);
    if v_from not in ('oldest', 'now') then
        call _queue_fail('PQ002', 'from', v_from, 'must be oldest or now');
    end if;
    set v_wanted = in_options -> 'events';
    if coalesce(json_type(v_wanted), 'NULL') <> 'NULL' then
        if json_type(v_wanted) <> 'ARRAY' or json_length(v_wanted) = 0 then
            call _queue_fail('PQ002', 'events', json_unquote(v_wanted), 'must be an array of events');
        end if;
        select min(if(e.name in ('pushed', 'replaced', 'acked', 'popped', 'moved', 'dead', 'removed')
                and json_type(e.event) = 'STRING', null, cast(e.event as char character set utf8mb4))),
            group_concat(distinct e.name order by e.name)
        into v_bad, v_events
        from json_table(v_wanted, '$[*]' columns (event json path '$', name varchar(100) collate exact path '$')) e;
        if v_bad is not null then
            call _queue_fail('PQ002', 'events', v_bad, 'must be pushed, replaced, acked, popped, moved, dead, removed');
        end if;
    end if;
    select r.name, r.events, greatest(r.position, r.looked) into v_name, out_events, out_place from queue_reader r
        where r.reader = in_reader;
    set v_ended = nullif(regexp_substr(v_events, 'acked|popped|moved|dead|removed'), '');
    select v_ended is not null and not v_events <=> out_events and not exists (
        select 1 from queue_kind k
            where if(out_matcher is null, k.p_kind = in_name, concat('.', k.p_kind) regexp coalesce(out_matcher, 'x')))
        and not exists (select 1 from queue_log l where out_matcher is null and l.p_kind = in_name)
        and not exists (select 1 from queue_log_gone g where out_matcher is null and g.p_kind = in_name)
    into v_unknown; -- EXISTS in an IF would lock what it reads
    if v_unknown then
        call _queue_fail('PQ002', 'events', v_ended,
            'must be pushed or replaced, for no kind of such a name is defined');
    end if;
    if v_name is null then
        if v_from = 'now' then
            select max(l.position) into v_last from queue_log l;
            call _queue_log_known(in_own, in_now, in_name, out_matcher, '', 0, 1, v_last, out_place);
            -- what was last may have been pruned, and is nothing that it misses
            call _queue_log_missed(in_name, out_matcher, 'pushed,replaced,acked,popped,moved,dead,removed',
                coalesce(out_place, 0), v_last);
            set out_place = coalesce(v_last, out_place);
        else
            call _queue_log_missed(in_name, out_matcher, coalesce(v_events, 'pushed,replaced'), 0, out_place);
        end if;
        insert into queue_reader (reader, name, matcher, events, position, created_at)
        values (in_reader, in_name, out_matcher, coalesce(v_events, 'pushed,replaced'), coalesce(out_place, 0), in_now)
        on duplicate key update reader = in_reader;
        select r.name, r.events, r.position into v_name, out_events, out_place from queue_reader r
            where r.reader = in_reader for update;
    end if;
    if v_name <> in_name then
        call _queue_fail('PQ004', 'reader', in_reader, concat('reads "', left(v_name, 40), '", see queue_read_end'));
    elseif v_events <> out_events then
        update queue_reader r set r.events = v_events, r.looked = 0 where r.reader = in_reader;
        select r.events, r.position into out_events, out_place from queue_reader r where r.reader = in_reader;
    end if;
end;
