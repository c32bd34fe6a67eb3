-- calls: _queue_check_move, _queue_check_options, _queue_check_roles, _queue_fail, _queue_move_many, _queue_receipts,
--     queue_now
create or replace function queue_move_many(in_moves jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts record;
    v_moves jsonb[];
    v_kinds text[];
    v_outcomes text[];
    v_each text[];
begin
    in_moves := coalesce(nullif(in_moves, 'null'), '[]');
    in_options := coalesce(nullif(in_options, 'null'), '{}');
    if jsonb_typeof(in_moves) <> 'array' or in_moves @? '$[*] ? (@.type() != "object")' then
        perform _queue_fail('PQ001', 'moves', in_moves::text,
            'must be a JSON array of {receipt, to_kind, and move options}');
    end if;
    v_receipts := _queue_receipts(jsonb_path_query_array(in_moves, 'strict $[*].receipt', silent => true));
    if cardinality(v_receipts.receipts) <> jsonb_array_length(in_moves) then
        perform _queue_fail('PQ005', 'moves', in_moves::text, 'must have a receipt each');
    end if;
    perform _queue_check_options(in_options, '{payload, headers, key, delay_seconds, priority, on_duplicate}'::text[],
        'options');
    v_kinds := array(select m.move ->> 'to_kind' from jsonb_array_elements(in_moves) with ordinality m (move, n)
        order by m.n);
    v_moves := array(select in_options || (m.move - '{receipt, to_kind}'::text[])
        from jsonb_array_elements(in_moves) with ordinality m (move, n) order by m.n);
    for i in 1 .. cardinality(v_kinds) loop
        perform _queue_check_move(v_kinds[i], nullif(v_moves[i], '{}'), v_now, 'moves[' || i - 1 || '].');
    end loop;
    perform _queue_check_roles(v_kinds);
    v_outcomes := array_fill('lost'::text, array[cardinality(v_kinds)]);
    v_each := _queue_move_many(v_receipts.entries, v_receipts.secrets,
        array(select v_kinds[p.place] from unnest(v_receipts.places) with ordinality p (place, n) order by p.n),
        array(select v_moves[p.place] from unnest(v_receipts.places) with ordinality p (place, n) order by p.n), v_now);
    for i in 1 .. cardinality(v_each) loop
        v_outcomes[v_receipts.places[i]] := v_each[i];
    end loop;
    return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;

comment on function queue_move_many(jsonb, jsonb) is
$$Moves many messages on, each to a kind of its own: queue_move for each, in one call and one transaction.
in_moves: a JSON array of at most 10000 objects {receipt, to_kind, and move options}; NULL: none. in_options: move
options for all; those of a move win.
Result: a row a move, in their order: receipt, outcome: moved, duplicate, lost; a receipt that stands twice is lost the
second time.
Errors: those of queue_move, naming the place as moves[0], moves[1], …; then nothing is moved.
Locks: as queue_move, all in the order of their entries.$$;
