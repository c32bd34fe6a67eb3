create or replace function _queue_is_remembered(in_kind text, in_key text,
    in_since bigint) returns boolean language plpgsql as $$
begin
    return coalesce((select d.ended_at from queue_dedup d where d.p_kind = in_kind and d.p_key = in_key) > in_since,
        false);
end $$;

comment on function _queue_is_remembered(text, text, bigint) is
$$Whether a message of that key has ended so lately that a push of it is ignored.
in_kind, in_key: the message. in_since: how long ago that matters, a time in microseconds.$$;
