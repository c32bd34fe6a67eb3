-- calls: _queue_push, _queue_push_options, _queue_put_onto
create or replace function _queue_publish_onto(in_kinds text[], in_made bigint[], in_key text, in_payload jsonb,
    in_options jsonb, in_now bigint) returns jsonb language plpgsql as $$
declare
    v_options constant record := _queue_push_options(in_options, in_now);
    v_onto jsonb := '{}';
    v_kind record;
begin
    for v_kind in
        select q.p_kind, q.entry = any (in_made) as made from delayed_queue q
        where q.p_kind = any (in_kinds) and q.p_key = in_key
            and coalesce((
                select r.ended_at from queue_dedup r where r.p_kind = q.p_kind and r.p_key = in_key) <= in_now - (
                select (k.dedup_seconds * 1000000)::bigint from queue_kind k where k.p_kind = q.p_kind), true)
        order by q.entry + 0 for update -- + 0: ADR 13
    loop
        v_onto := v_onto || jsonb_build_object(v_kind.p_kind, case when v_kind.made then 'created' else
            _queue_put_onto(v_kind.p_kind, in_key, in_payload, null::bytea, v_options.headers, in_now,
                v_options.scheduled_at, v_options.on_duplicate) end);
    end loop;
    -- what went away in between can be put in now; where its key is remembered, as in a push, it is ignored
    for v_kind in
        select t.p_kind, p.outcome
        from unnest(in_kinds) t (p_kind), _queue_push(t.p_kind, in_key, in_payload, null::bytea, in_options) p
        where not v_onto ? t.p_kind
    loop
        v_onto := v_onto || jsonb_build_object(v_kind.p_kind, v_kind.outcome);
    end loop;
    return v_onto;
end $$;

comment on function _queue_publish_onto(text[], bigint[], text, jsonb, jsonb, bigint) is
$$A publish with on_duplicate, onto the keys that are taken.
in_kinds: the kinds. in_made: the entries that the publish has just put in. in_now: the time of the call. The other
parameters are as in queue_publish, checked.
Result: the outcomes by kind.
Locks: the messages of that key, in the order of their entries.
differs: on MariaDB and MySQL it is a part of _queue_publish.$$;
