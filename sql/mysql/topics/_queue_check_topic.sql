-- calls: _queue_check_name, _queue_fail
create procedure _queue_check_topic(in in_topic text collate exact, in in_name varchar(100))
    comment 'Refuses what can''t be a topic or a pattern: words with a dot between them, 255 characters in all.
in_topic: it. in_name: topic, or pattern, in which a word may be * or #; of these at most three, so that no matching
takes long.
Errors: PQ001.'
begin
    call _queue_check_name(in_topic, 255, in_name);
    if locate('..', concat('.', in_topic, '.')) > 0 then
        call _queue_fail('PQ001', in_name, in_topic, 'must be words with a dot between them');
    elseif in_name = 'topic' and in_topic regexp '[*#]' then
        call _queue_fail('PQ001', in_name, in_topic, 'must not contain * or #');
    elseif in_topic regexp '[^.][*#]|[*#][^.]' then
        call _queue_fail('PQ001', in_name, in_topic, 'must have * and # as words of their own');
    elseif char_length(in_topic) - char_length(replace(in_topic, '#', '')) > 3 then
        call _queue_fail('PQ001', in_name, in_topic, 'must have at most three #');
    end if;
end;
