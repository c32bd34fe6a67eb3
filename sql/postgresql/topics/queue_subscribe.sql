-- calls: _queue_check_name, _queue_check_roles, _queue_check_topic, _queue_matcher, queue_now
-- changes: queue_subscription
create or replace function queue_subscribe(in_pattern text, in_kind text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
declare
    v_words text[];
    v_wild integer;
begin
    perform _queue_check_topic(in_pattern, 'pattern');
    perform _queue_check_name(in_kind, 95, 'kind');
    perform _queue_check_roles(array[in_kind]);
    v_words := string_to_array(in_pattern, '.');
    v_wild := least(array_position(v_words, '*'), array_position(v_words, '#'));
    insert into queue_subscription (pattern, p_kind, head, tail, sketch, matcher, subscribed_at)
    values (in_pattern, in_kind, array_to_string(v_words[:coalesce(v_wild - 1, cardinality(v_words))], '.'),
        case when v_words[cardinality(v_words)] in ('*', '#') then '' else v_words[cardinality(v_words)] end,
        (select string_agg(case w.word when '*' then '.%' when '#' then '%'
            else '.' || regexp_replace(w.word, '([|%_])', '|' || chr(92) || '1', 'g') end, '' order by w.n)
                from unnest(v_words) with ordinality w (word, n)),
        _queue_matcher(in_pattern), queue_now())
    on conflict on constraint queue_subscription_pkey do nothing;
    changed := found;
end $$;

comment on function queue_subscribe(text, text) is
$$Has a kind get a copy of each message that is published to a topic of a pattern, from now on.
in_pattern: words with a dot between them, 1 to 255 characters, in which the word * stands for one word and the word #
for any number of words, also none; at most three #. "order.*.paid" and "order.#" are patterns. in_kind: the kind, 1 to
95 characters; nobody has to have defined it.
Result: changed: false where that kind had that pattern already.
Errors: PQ007 for a kind that is for others. PQ001 for pattern and kind.
Locks: none.
Where the idea comes from: the topic exchange of AMQP.$$;
