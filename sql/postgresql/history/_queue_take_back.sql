-- changes: delayed_queue, queue_dedup
create or replace function _queue_take_back(in_entries bigint[], in_now bigint) returns bigint[] language plpgsql as $$
declare
    v_late bigint[];
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        -- an end that was committed after the snapshot can't be seen: putting its key in makes the server report it
        insert into queue_dedup (p_kind, p_key, ended_at)
        select q.p_kind, q.p_key, 0 from delayed_queue q where q.entry = any (in_entries) order by q.p_key, q.p_kind
        on conflict on constraint queue_dedup_pkey do nothing;
        delete from queue_dedup d
        where d.ended_at = 0 and (d.p_kind, d.p_key) in (
            select q.p_kind, q.p_key from delayed_queue q where q.entry = any (in_entries));
    end if;
    with d as (
        delete from delayed_queue q
        where q.entry = any (array(
            select e.entry from unnest(in_entries) e (entry), -- OFFSET: ADR 13
                lateral (select n.p_kind, n.p_key from delayed_queue n where n.entry = e.entry offset 0) o
                join queue_kind k on k.p_kind = o.p_kind,
                lateral (select d.ended_at from queue_dedup d where d.p_kind = o.p_kind
                and d.p_key = o.p_key offset 0) m
            where m.ended_at > in_now - nullif(k.dedup_seconds, 0) * 1000000))
        returning q.entry)
    select coalesce(array_agg(d.entry), '{}') into v_late from d;
    return v_late;
end $$;

comment on function _queue_take_back(bigint[], bigint) is
$$Takes back what a push has just put in although its key is remembered: a push that had to wait for the end of the
message before can see only then that there was one.
in_entries: what was put in. in_now: the time of the call.
Result: the entries taken back.
Errors: under REPEATABLE READ and SERIALIZABLE the server's own 40001.
differs: on MariaDB and MySQL _queue_put reads the memory again, with a lock, and takes back what it has just put in.$$;
