-- calls: _queue_end
-- changes: queue_bucket, queue_claim, queue_kind, queue_semaphore_permit, queue_semaphore_wait, queue_slot,
--     queue_subscription, queue_use
create or replace function _queue_expire(in_now bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_gone bigint := 0;
    v_ended record;
    v_guarded bigint[];
    v_kind record;
begin
    if not exists (select from queue_kind k where k.expires_seconds is not null) then
        return 0;
    end if;
    begin
        -- before any row, because who defines a kind has the table first
        lock table queue_kind in row exclusive mode nowait;
    exception when lock_not_available then
        return 0;
    end;
    for v_kind in
        select k.p_kind, in_now - (k.expires_seconds * 1000000)::bigint as since
        from queue_kind k
        where k.expires_seconds is not null
            and not exists (
                select from queue_use u
                where u.p_kind = k.p_kind and u.used_at > in_now - (k.expires_seconds * 1000000)::bigint)
            and not exists (select from queue_kind o where o.dead_letter_kind = k.p_kind)
        order by k.p_kind for update of k skip locked
    loop
        exit when v_gone >= in_max;
        delete from queue_use u where u.p_kind = v_kind.p_kind;
        insert into queue_use (p_kind, used_at)
        select v_kind.p_kind, max(m.used_at)
        from (
            select case when q.reserved_at is not null and q.scheduled_at > in_now then in_now
                else greatest(q.created_at, q.reserved_at) end as used_at
            from delayed_queue q where q.p_kind = v_kind.p_kind) m
        having max(m.used_at) > v_kind.since;
        continue when found;
        v_ended := _queue_end(array(
            select o.entry from delayed_queue o
            where o.p_kind = v_kind.p_kind and greatest(o.created_at, o.reserved_at) <= v_kind.since
                and (o.reserved_at is null or o.scheduled_at <= in_now)
            -- + 0: the kind is to find them
            order by o.entry + 0 limit in_max - v_gone for update skip locked),
            null::bytea[], 'dropped', null::text, in_now);
        v_guarded := v_guarded || v_ended.guarded;
        v_gone := v_gone + cardinality(v_ended.places);
        if not exists (select from delayed_queue q where q.p_kind = v_kind.p_kind) then
            delete from queue_subscription s where s.p_kind = v_kind.p_kind;
            delete from queue_slot l where l.p_kind = v_kind.p_kind;
            delete from queue_claim c where c.p_kind = v_kind.p_kind;
            delete from queue_bucket b where b.p_kind = v_kind.p_kind;
            delete from queue_kind k where k.p_kind = v_kind.p_kind;
            v_gone := v_gone + 1;
        end if;
    end loop;
    delete from queue_semaphore_wait w where w.entry = any (v_guarded);
    update queue_semaphore_permit h set until = in_now where h.entry = any (v_guarded); -- for whoever wants them
    return v_gone;
end $$;

comment on function _queue_expire(bigint, bigint) is
$$Removes kinds that are unused for longer than their expires_seconds: their messages, then their subscriptions and
settings. One that is the dead_letter_kind of another stays.
in_now: the time of the call. in_max: how many messages at the most; a kind that has more goes in several calls.
Result: how many rows went.
Locks: the settings of these kinds, and their messages in the order of their entries; what others have locked is
left.$$;
