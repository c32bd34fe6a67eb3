create or replace function _queue_reader(in_name text, in_reader text, in_options jsonb) returns queue_reader language plpgsql as $$
declare
    v_now constant bigint := queue_now();
    v_from constant text := coalesce(_queue_text(in_options, 'from'), 'oldest');
    v_events text;
    v_reader queue_reader;
begin
    if in_name is null or char_length(in_name) not between 1 and 255 then
        perform _queue_fail('PQ001', 'name', in_name, 'must have 1 to 255 characters');
    elsif in_name ~ '(^|\.)[*#](\.|$)' then
        perform _queue_check_topic(in_name, 'pattern');
    end if;
    perform _queue_check_key(in_reader, 'reader');
    perform _queue_check_options(in_options, '{from, events}');
    if v_from not in ('oldest', 'now') then
        perform _queue_fail('PQ002', 'from', v_from, 'must be oldest or now');
    end if;
    v_events := _queue_events(in_options);
    select r.* into v_reader from queue_reader r where r.reader = in_reader;
    if not found then
        insert into queue_reader (reader, name, matcher, events, position, created_at)
        values (in_reader, in_name, case when in_name ~ '(^|\.)[*#](\.|$)' then _queue_matcher(in_name) end,
            coalesce(v_events, 'pushed,replaced'), 0, v_now)
        on conflict on constraint queue_reader_pkey do nothing
        returning * into v_reader;
        if found then
            update queue_reader r
            set position = case v_from when 'now' then _queue_log_horizon() else coalesce(_queue_log_missed(v_reader), 0) end
            where r.reader = in_reader;
        end if;
        select r.* into v_reader from queue_reader r where r.reader = in_reader;
    end if;
    if v_reader.name <> in_name then
        perform _queue_fail('PQ004', 'reader', in_reader, format('reads "%s", see queue_read_end', left(v_reader.name, 40)));
    elsif v_events <> v_reader.events then
        update queue_reader r set events = v_events where r.reader = in_reader returning r.* into v_reader;
    end if;
    return v_reader;
end $$;

comment on function _queue_reader(text, text, jsonb) is
$$The reader that queue_read was called for, made where it is new.
in_name, in_reader, in_options, and the errors: those of queue_read.
Result: the reader.
Locks: none, but where it is made or its events change that reader; waits for another transaction that is making it.$$;
