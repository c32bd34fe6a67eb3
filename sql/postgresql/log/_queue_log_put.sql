-- calls: _queue_log
create or replace function _queue_log_put(in_kind text, in_key text, in_outcome text, in_on_duplicate text,
    in_now bigint)
    returns void language plpgsql as $$
begin
    if in_outcome = 'created' or in_outcome = 'replaced' and in_on_duplicate in ('replace', 'keep_time') then
        perform _queue_log(array(select q.entry from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key),
            case in_outcome when 'created' then 'pushed' else 'replaced' end, in_now);
    end if;
end $$;

comment on function _queue_log_put(text, text, text, text, bigint) is
$$Appends what a push did to the log, where the kind has log_seconds: pushed, or replaced where its content is new. What
is held back by a hold comes when it is put in.
in_kind, in_key: the message. in_outcome: of the push. in_on_duplicate: its option. in_now: the time of the call.
Locks: as _queue_log_open.$$;
