create or replace function _queue_tidy(in_kind queue_kind, in_now bigint, in_max bigint) returns void language plpgsql as $$
declare
    v_chance constant double precision := random();
begin
    if v_chance < 0.0005 then
        perform _queue_fold_counts(10000); -- nobody may ever call queue_prune
        perform _queue_prune_by_the_way(in_kind.p_kind, in_now, 1000);
    elsif v_chance < 0.05 and (in_kind.history_seconds > 0 or in_kind.dedup_seconds > 0) then
        perform _queue_prune_by_the_way(in_kind.p_kind, in_now, in_max);
    end if;
end $$;

comment on function _queue_tidy(queue_kind, bigint, bigint) is
$$Now and then a little of what queue_prune does, at the end of queue_reserve and queue_pop.
in_kind: the kind. in_now: the time of the call. in_max: how many rows, about twice of what ends between two such calls.$$;
