-- calls: _queue_check_name, _queue_check_roles, _queue_check_topic, _queue_matcher, queue_now
-- changes: queue_subscription
create procedure queue_subscribe(in in_pattern text collate exact, in in_kind text collate exact)
    comment 'Has a kind get a copy of each message that is published to a topic of a pattern, from now on.
in_pattern: words with a dot between them, 1 to 255 characters, in which the word * stands for one word and the word #
for any number of words, also none; at most three #. "order.*.paid" and "order.#" are patterns. in_kind: the kind, 1 to
95 characters; nobody has to have defined it.
Result: changed: false where that kind had that pattern already.
Errors: PQ007 for a kind that is for others. PQ001 for pattern and kind.
Locks: none.
Where the idea comes from: the topic exchange of AMQP.'
begin
    declare v_changed boolean;
    declare v_now bigint;
    declare v_left, v_word, v_head, v_sketch, v_matcher, v_before text collate exact;
    begin atomic
        declare continue handler for 1062 set v_changed = false; -- another has come first
        call queue_now(v_now);
        call _queue_check_topic(in_pattern, 'pattern');
        call _queue_check_name(in_kind, 95, 'kind');
        call _queue_check_roles(json_array(in_kind));
        set v_left = concat(in_pattern, '.'), v_before = '', v_head = null, v_sketch = '';
        while v_left <> '' do
            set v_word = substring_index(v_left, '.', 1), v_left = substr(v_left, locate('.', v_left) + 1);
            if v_word in ('*', '#') then
                set v_head = coalesce(v_head, v_before), v_sketch = concat(v_sketch, if(v_word = '*', '.%', '%'));
            else
                set v_before = concat_ws('.', nullif(v_before, ''), v_word),
                    v_sketch = concat(v_sketch, '.',
                    replace(replace(replace(v_word, '|', '||'), '%', '|%'), '_', '|_'));
            end if;
        end while;
        select count(*) = 0 into v_changed from queue_subscription s
            where s.pattern = in_pattern and s.p_kind = in_kind;
        if v_changed then
            call _queue_matcher(in_pattern, v_matcher);
            insert into queue_subscription (pattern, p_kind, head, tail, sketch, matcher, subscribed_at)
            values (in_pattern, in_kind, coalesce(v_head, v_before), if(v_word in ('*', '#'), '', v_word), v_sketch,
                v_matcher, v_now);
        end if;
    end atomic;
    select v_changed as changed;
end;
