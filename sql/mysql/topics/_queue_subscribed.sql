-- calls: _queue_epoch
create procedure _queue_subscribed(in in_topic text collate exact, out out_list longtext)
    comment 'The kinds that get a copy of what is published to a topic. Looked at are the subscriptions whose words
before the first wildcard are those the topic begins with, and whose last word is a wildcard or that of the topic.
in_topic: the topic, checked.
Result: the kinds, in their order, each once.
Locks: none.
differs: out_list is a JSON array of arrays, a new entry number and the kind.'
begin
    declare v_shift bigint;
    declare v_heads longtext default json_array('');
    declare v_count int default 1 + char_length(in_topic) - char_length(replace(in_topic, '.', ''));
    while json_length(v_heads) <= v_count do
        set v_heads = json_array_append(v_heads, '$', substring_index(in_topic, '.', json_length(v_heads)));
    end while;
    call _queue_epoch(v_shift);
    select json_arrayagg(json_array(m.entry, m.p_kind)) into out_list
    from (
        select ((uuid_short() << 8) & 9223372036854775807) + v_shift as entry, k.p_kind
        from (
            select distinct s.p_kind
            from unnest(v_heads) h (head varchar(255) collate exact)
                straight_join queue_subscription s force index (queue_subscription_words)
                    on s.head = h.head and s.tail in ('', substring_index(in_topic, '.', -1))
            where concat('.', in_topic) like s.sketch escape '|' and concat('.', in_topic) regexp s.matcher
            order by s.p_kind limit 1000000000) k
        limit 1000000000) m;
    set out_list = coalesce(out_list, '[]');
end;
