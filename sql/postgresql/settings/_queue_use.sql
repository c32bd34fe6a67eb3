-- changes: queue_use
create or replace function _queue_use(in_kind queue_kind, in_now bigint) returns void language plpgsql as $$
begin
    if current_setting('transaction_read_only') = 'on' then
        return; -- one may wait there as well
    end if;
    insert into queue_use (p_kind, used_at)
    select in_kind.p_kind, in_now
    where not exists (
        select from queue_use u
        where u.p_kind = in_kind.p_kind and u.used_at > in_now - (in_kind.expires_seconds * 250000)::bigint);
    if found then
        delete from queue_use u
        where u.ctid = any (array(
            select o.ctid from queue_use o
            where o.p_kind = in_kind.p_kind and o.used_at <= in_now - (in_kind.expires_seconds * 1000000)::bigint
            order by o.used_at limit 100 for update skip locked));
    end if;
end $$;

comment on function _queue_use(queue_kind, bigint) is
$$Notes that a kind with expires_seconds is used, once in a quarter of that time, and removes notes that are past it.
in_kind: its settings. in_now: the time of the call.
Locks: none that anybody waits for.$$;
