-- calls: _queue_check_json, _queue_check_name, _queue_fail, _queue_key, _queue_push_batch, queue_now
create procedure queue_push_many(in in_kind text collate exact, in in_messages longtext, in in_options longtext)
    comment 'Puts many messages into a kind: all or, with an error, none.
in_kind: the kind, 1 to 95 characters. in_messages: a JSON array of objects {key, payload, and push options}, see
queue_push; without a key each gets a time-ordered UUID; NULL: none. Duplicates inside the batch are treated as if
pushed one after another. in_options: push options for all; those of a message win.
Result: a row a message, in their order: p_key, outcome as in queue_push.
Errors: PQ007 for a kind that is for others. PQ001, PQ002, PQ003, naming the message as messages[0], messages[1], …;
PQ004 while the kind is drained, and for a group that has finished.
Locks: none, or with on_duplicate the messages whose keys are taken, in the order of their entries (where one turns up
out of order, the call undoes what it did and begins again); what others are putting in is waited for in the order of
the keys, so that overlapping batches don''t deadlock.
Where the idea comes from: for the keys, RFC 9562, section 6.2, method 2.'
begin
    declare v_outcomes longtext character set ascii;
    begin atomic
        declare v_now, v_first bigint;
        declare v_keys longtext;
        declare v_key text collate exact;
        set v_outcomes = null;
        call queue_now(v_now);
        call _queue_check_name(in_kind, 95, 'kind');
        if in_messages is null or length(in_messages) < 99 and in_messages regexp '^[[:space:]]*null[[:space:]]*$' then
            set in_messages = '[]';
        end if;
        call _queue_check_json(in_messages, 'PQ003', 'messages');
        if left(in_messages, 1) <> '[' and json_type(in_messages) <> 'ARRAY' then
            call _queue_fail('PQ001', 'messages', in_messages,
                'must be a JSON array of {key, payload, and push options}');
        end if;
        set v_keys = json_extract(in_messages, '$[*].key');
        if coalesce(json_length(v_keys), 0) < json_length(in_messages) or locate('null', cast(v_keys as binary)) > 0
            then
            call _queue_key(v_now, v_key); -- a key each, one behind another in the order of the batch
            set v_first = conv(right(v_key, 12), 16, 10);
            select json_arrayagg(if(json_type(m.message) = 'OBJECT' and coalesce(json_type(json_extract(m.message,
                '$.key')), 'NULL') = 'NULL', json_set(m.message, '$.key', m.p_key), json_extract(m.message, '$')))
            into in_messages
            from (
                select j.message, concat(left(v_key, 24),
                    lpad(lower(hex((v_first + j.place) % 281474976710656)), 12, '0')) as p_key
                from unnest(in_messages) j (place for ordinality, message json)
                limit 1000000000) m;
        end if;
        call _queue_push_batch(in_kind, in_messages, in_options, v_now, v_outcomes);
    end atomic;
    select r.p_key, case substr(v_outcomes, r.place, 1) when 'c' then 'created' when 'r' then 'replaced'
        when 'h' then 'held' else 'ignored' end as outcome
    from json_table(in_messages, '$[*]'
        columns (place for ordinality, p_key varchar(200) path '$.key')) r
    order by r.place;
end;
