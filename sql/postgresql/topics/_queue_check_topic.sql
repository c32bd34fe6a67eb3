-- calls: _queue_check_name, _queue_fail
create or replace function _queue_check_topic(in_topic text, in_name text) returns void language plpgsql as $$
begin
    perform _queue_check_name(in_topic, 255, in_name);
    if '.' || in_topic || '.' like '%..%' then
        perform _queue_fail('PQ001', in_name, in_topic, 'must be words with a dot between them');
    elsif in_name = 'topic' and in_topic ~ '[*#]' then
        perform _queue_fail('PQ001', in_name, in_topic, 'must not contain * or #');
    elsif in_topic ~ '[^.][*#]|[*#][^.]' then
        perform _queue_fail('PQ001', in_name, in_topic, 'must have * and # as words of their own');
    elsif in_topic ~ '#.*#.*#.*#' then
        perform _queue_fail('PQ001', in_name, in_topic, 'must have at most three #');
    end if;
end $$;

comment on function _queue_check_topic(text, text) is
$$Refuses what can't be a topic or a pattern: words with a dot between them, 255 characters in all.
in_topic: it. in_name: topic, or pattern, in which a word may be * or #; of these at most three, so that no matching
takes long.
Errors: PQ001.$$;
