create or replace function _queue_subscribed(in_topic text) returns text[] language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_words constant text[] := string_to_array(in_topic, '.');
    v_heads constant text[] := array(
        select array_to_string(v_words[:n], '.') from generate_series(0, cardinality(v_words)) n);
begin
    return array(
        select distinct m.p_kind
        -- before 17 no index takes two lists
        from unnest(v_heads) h (head), unnest(array['', v_words[cardinality(v_words)]]) t (tail),
            lateral (
                select s.p_kind from queue_subscription s
                where s.head = h.head and s.tail = t.tail
                    -- in this order
                    and case when '.' || in_topic like s.sketch escape '|' then '.' || in_topic ~ s.matcher end
                offset 0) m -- on its own, a look at the index for each pair
        order by m.p_kind);
end $$;

comment on function _queue_subscribed(text) is
$$The kinds that get a copy of what is published to a topic. Looked at are the subscriptions whose words before the
first wildcard are those the topic begins with, and whose last word is a wildcard or that of the topic.
in_topic: the topic, checked.
Result: the kinds, in their order, each once.
Locks: none.$$;
