-- calls: _queue_fail
create or replace function _queue_semaphores(in_options jsonb) returns text[] language plpgsql as $$
declare
    v_given constant jsonb := in_options -> 'semaphores';
    v_names text[];
    v_missing text;
begin
    if in_options ->> 'order_key' is not null then
        perform _queue_fail('PQ002', 'semaphores', v_given::text, 'can''t be together with an order_key');
    end if;
    select array_agg(n.name order by n.name),
        min(n.name) filter (where (select s.name from queue_semaphore s where s.name = n.name) is null)
    into v_names, v_missing
    from jsonb_array_elements(case when jsonb_typeof(v_given) = 'array' then v_given else '[]' end) e (value),
        lateral (select case when jsonb_typeof(e.value) = 'string' then e.value #>> '{}' end collate "C" as name) n
    having count(*) between 1 and 8 and count(*) = count(distinct n.name)
        and min(char_length(n.name)) > 0 and max(char_length(n.name)) <= 100;
    if v_names is null then
        perform _queue_fail('PQ002', 'semaphores', v_given::text,
            'must be an array of 1 to 8 different names of 1 to 100 characters');
    elsif v_missing is not null then
        perform _queue_fail('PQ002', 'semaphores', v_missing, 'must be there: queue_semaphore makes it');
    end if;
    return v_names;
end $$;

comment on function _queue_semaphores(jsonb) is
$$The semaphores of a push, checked.
in_options: those of a push, with semaphores.
Result: their names, in order.
Errors: PQ002, also for one that isn't there, and together with an order key.$$;
