-- calls: _queue_boolean, _queue_forget_terms, _queue_index
-- changes: queue_kind
create procedure _queue_define_filter(in in_kind text collate exact, in in_options longtext)
    comment 'Sets filter_index of a kind, and puts the messages that it has into the index of filters, those that
aren''t in it, or takes them out.
in_kind, in_options: those of queue_define.
Errors: PQ002.
Locks: none but what it changes.
differs: PostgreSQL''s is given whether it is on.'
begin
    declare v_on boolean;
    declare v_rows bigint;
    declare v_entries longtext;
    if in_options ? 'filter_index' then
        call _queue_boolean(in_options, 'filter_index', v_on);
        set v_on = coalesce(v_on, false);
        update queue_kind k set k.filter_index = v_on where k.p_kind = in_kind;
        select json_arrayagg(q.entry) into v_entries from delayed_queue q force index (delayed_queue_key)
        where q.p_kind = in_kind and v_on = ((select 1 from queue_term t where t.entry = q.entry limit 1) is null);
        if v_on then
            call _queue_index(coalesce(v_entries, '[]'));
        else
            call _queue_forget_terms(v_entries, v_rows);
        end if;
    end if;
end;
