-- calls: _queue_forget_terms, _queue_index
create or replace function _queue_define_filter(in_kind text, in_on boolean) returns void language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
begin
    if in_on then
        for v_try in 1 .. 4 loop
            begin
                -- locked, so that nobody replaces one meanwhile
                perform _queue_index(array(
                    select q.entry from delayed_queue q
                    where q.p_kind = in_kind and not exists (select from queue_term t where t.entry = q.entry)
                        order by q.entry for update));
                return;
            exception when deadlock_detected then -- with a reserve, whose order is another, see ADR 8
                if v_try = 4 then raise; end if;
            end;
        end loop;
    else
        perform _queue_forget_terms(array(select q.entry from delayed_queue q where q.p_kind = in_kind));
    end if;
end $$;

comment on function _queue_define_filter(text, boolean) is
$$Puts the messages that a kind has into the index of filters, those that aren't in it, or takes them out.
in_kind: the kind, whose filter_index is set already. in_on: whether it is on.
Locks: the messages that it puts in, in the order of their entries.$$;
