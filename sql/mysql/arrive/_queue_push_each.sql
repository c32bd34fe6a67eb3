-- calls: _queue_epoch, _queue_lock_keys, _queue_message, _queue_push_options, _queue_put
create procedure _queue_push_each(in in_kind text collate exact, in in_messages longtext, in in_options longtext,
    in in_now bigint, in in_since bigint, in in_locked bigint, inout out_entries longtext character set ascii,
    inout out_outcomes longtext character set ascii)
    comment 'Puts messages of a batch in one by one, in the order of their keys.
in_since: see _queue_put. in_locked: the last entry of those that are locked, see _queue_lock_keys; NULL: none changes.
out_entries: see _queue_push_plain; those of messages that change, too. out_outcomes: before the call, a letter a
message, and those that are i are put in; NULL: all of them. The other parameters, the result, the errors and the locks
are those of _queue_push_batch.
differs: on PostgreSQL it is a part of _queue_push_batch.'
begin
    declare v_shift, v_at, v_put_at, v_entry, v_new bigint;
    declare v_plain, v_as_all boolean default false;
    declare v_deep boolean default json_depth(in_messages) > 33;
    declare v_key, v_before text collate exact;
    declare v_message, v_payload, v_headers, v_route, v_semaphores longtext;
    declare v_priority smallint;
    declare v_order varchar(200) collate exact;
    declare v_place, v_attempts, v_max_attempts int;
    declare v_on_duplicate varchar(20);
    declare v_outcome varchar(10);
    declare c cursor for
        -- most messages are a key and a payload: those are checked here, all others one by one
        select r.place, r.entry, m.message, json_extract(m.message, '$.payload'), r.p_key, (json_length(m.message) = 2
            and json_type(json_extract(m.message, '$.key')) = 'STRING' and char_length(r.p_key) between 1 and 200
            and json_extract(m.message, '$.payload') is not null and not v_deep) is true
        from (
            -- numbered in the order of the batch, though put in in the order of the keys
            select k.place, k.p_key, ((uuid_short() << 8) & 9223372036854775807) + v_shift as entry
            from json_table(in_messages, '$[*]'
                columns (place for ordinality, p_key varchar(201) collate exact path '$.key')) k
            limit 1000000000) r
            -- apart, so that what is sorted is small
            straight_join (
                select j.place, j.message from unnest(in_messages) j (place for ordinality, message json)
                limit 1000000000) m on m.place = r.place
        where substr(out_outcomes, r.place, 1) = 'i'
        order by r.p_key, r.place;
    declare continue handler for not found begin end;
    set out_outcomes = coalesce(out_outcomes, repeat('i', json_length(in_messages))),
        out_entries = coalesce(out_entries, repeat('0', 19 * json_length(in_messages)));
    call _queue_epoch(v_shift);
    for each c into v_place, v_new, v_message, v_payload, v_key, v_plain do
        if not v_plain then
            call _queue_message(v_message, v_place, in_options, in_now, v_key, v_payload, v_at, v_priority,
                v_headers, v_attempts, v_max_attempts, v_on_duplicate, v_route, v_order, v_semaphores);
        elseif not v_as_all then -- once, where one after another has no options of its own
            call _queue_push_options(in_options, in_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
                v_on_duplicate, v_route, v_order, v_semaphores);
        end if;
        set v_as_all = v_plain, v_entry = null;
        if v_on_duplicate <> 'ignore' and not v_key <=> v_before then
            select max(q.entry) into v_entry from delayed_queue q where q.p_kind = in_kind and q.p_key = v_key;
        end if;
        if v_entry > in_locked then -- it came after that, perhaps with others
            call _queue_lock_keys(in_kind, in_messages, in_locked);
        end if;
        call _queue_put(v_new, in_kind, v_key, v_payload, null, v_headers, v_priority, in_now, v_at, v_attempts,
            v_max_attempts, v_on_duplicate, in_since, v_route, null, null, v_order, v_semaphores, v_put_at,
            v_outcome);
        set out_outcomes = insert(out_outcomes, v_place, 1, convert(left(v_outcome, 1) using ascii)),
            v_before = v_key;
        if v_outcome in ('created', 'replaced') then
            set out_entries = insert(out_entries, 19 * v_place - 18, 19, convert(lpad(v_new, 19, '0') using ascii));
        end if;
    end each;
end;
