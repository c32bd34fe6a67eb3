-- calls: _queue_setting
create or replace function _queue_log_open() returns void language plpgsql as $$
declare
    v_name constant text := _queue_setting('log');
    v_own constant text := pg_current_xact_id()::text;
    v_floor bigint;
begin
    if current_setting(v_name, true) is distinct from v_own then
        -- before the first position is drawn: whoever sees a position that this transaction has drawn sees the lock
        select s.last_value - case when s.is_called then 0 else 1 end into v_floor from queue_log_position_seq s;
        perform pg_advisory_xact_lock_shared(hashoid('queue_log'::regclass), (v_floor & 2147483647)::integer);
        perform set_config(v_name, v_own, true); -- goes back with a savepoint, as the lock does
    end if;
end $$;

comment on function _queue_log_open() is
$$What comes before each append to the log: once a transaction, a shared advisory lock whose number is the position
after which those of this transaction come, until it ends.
Locks: that one, for which it never waits.$$;
