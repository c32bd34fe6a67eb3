-- calls: _queue_check_name, _queue_check_options, _queue_check_roles, _queue_check_topic, _queue_fail,
--     _queue_log_horizon, _queue_log_missed, _queue_matcher, _queue_text, queue_now
-- changes: queue_reader
create or replace function _queue_reader(in_name text, in_reader text,
    in_options jsonb) returns queue_reader language plpgsql as $$
declare
    v_now constant bigint := queue_now();
    v_from constant text := coalesce(_queue_text(in_options, 'from'), 'oldest');
    v_wanted constant jsonb := nullif(in_options -> 'events', 'null');
    v_events text;
    v_bad text;
    v_matcher constant text := case when in_name ~ '(^|[.])[*#]([.]|$)' then _queue_matcher(in_name) end;
    v_ended text;
    v_reader queue_reader;
begin
    perform _queue_check_name(in_name, 255, 'name');
    if v_matcher is not null then
        perform _queue_check_topic(in_name, 'pattern');
    end if;
    perform _queue_check_roles(case when v_matcher is null then array[in_name] else array(
        select k.p_kind from queue_kind k where k.roles is not null and '.' || k.p_kind ~ v_matcher) end);
    perform _queue_check_name(in_reader, 200, 'reader');
    perform _queue_check_options(in_options, '{from, events}'::text[], 'options');
    if v_from not in ('oldest', 'now') then
        perform _queue_fail('PQ002', 'from', v_from, 'must be oldest or now');
    end if;
    if v_wanted is not null then
        if jsonb_typeof(v_wanted) <> 'array' or v_wanted = '[]' then
            perform _queue_fail('PQ002', 'events', v_wanted #>> '{}', 'must be an array of events');
        end if;
        select min(e.event::text) filter (where jsonb_typeof(e.event) <> 'string'
                or e.event #>> '{}' <> all ('{pushed, replaced, acked, popped, moved, dead, removed}')),
            string_agg(distinct (e.event #>> '{}') collate "C", ',' order by (e.event #>> '{}') collate "C")
        into v_bad, v_events from jsonb_array_elements(v_wanted) e (event);
        if v_bad is not null then
            perform _queue_fail('PQ002', 'events', v_bad,
                'must be pushed, replaced, acked, popped, moved, dead, removed');
        end if;
    end if;
    select r.* into v_reader from queue_reader r where r.reader = in_reader;
    v_ended := substring(v_events from 'acked|popped|moved|dead|removed');
    if v_ended is not null and v_events is distinct from v_reader.events and not exists (
        select from queue_kind k where case when v_matcher is null then k.p_kind = in_name
            else '.' || k.p_kind ~ v_matcher end)
        and not exists (select from queue_log l where v_matcher is null and l.p_kind = in_name)
        and not exists (select from queue_log_gone g where v_matcher is null and g.p_kind = in_name) then
        perform _queue_fail('PQ002', 'events', v_ended,
            'must be pushed or replaced, for no kind of such a name is defined');
    end if;
    if v_reader.reader is null then
        insert into queue_reader (reader, name, matcher, events, position, created_at)
        values (in_reader, in_name, v_matcher, coalesce(v_events, 'pushed,replaced'), 0, v_now)
        on conflict on constraint queue_reader_pkey do nothing
        returning * into v_reader;
        if found then
            update queue_reader r
            set position = case v_from when 'now' then _queue_log_horizon()
                else coalesce(_queue_log_missed(v_reader), 0) end where r.reader = in_reader;
        end if;
        select r.* into v_reader from queue_reader r where r.reader = in_reader;
    end if;
    if v_reader.name <> in_name then
        perform _queue_fail('PQ004', 'reader', in_reader,
            format('reads "%s", see queue_read_end', left(v_reader.name, 40)));
    elsif v_events <> v_reader.events then
        update queue_reader r set events = v_events, looked = 0 where r.reader = in_reader returning r.* into v_reader;
    end if;
    v_reader.position := greatest(v_reader.position, v_reader.looked);
    return v_reader;
end $$;

comment on function _queue_reader(text, text, jsonb) is
$$The reader that queue_read was called for, made where it is new.
in_name, in_reader, in_options, and the errors: those of queue_read.
Result: the reader; its position is where this read begins.
Locks: none, but where it is made or its events change that reader; waits for another transaction that is making it.$$;
