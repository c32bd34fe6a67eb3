-- calls: _queue_check_name, _queue_check_roles, _queue_check_topic
-- changes: queue_subscription
create procedure queue_unsubscribe(in in_pattern text collate exact, in in_kind text collate exact)
    comment 'Ends a subscription. What the kind has got stays there.
in_pattern: the pattern, as it was subscribed. in_kind: the kind.
Result: changed: false where that kind didn''t have that pattern.
Errors: PQ007 for a kind that is for others. PQ001 for pattern and kind.
Locks: the subscription.'
begin
    declare v_changed boolean;
    begin atomic
        call _queue_check_topic(in_pattern, 'pattern');
        call _queue_check_name(in_kind, 95, 'kind');
        call _queue_check_roles(json_array(in_kind));
        delete s from queue_subscription s where s.pattern = in_pattern and s.p_kind = in_kind;
        set v_changed = row_count() > 0;
    end atomic;
    select v_changed as changed;
end;
