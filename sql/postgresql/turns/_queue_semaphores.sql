-- calls: _queue_fail
create or replace function _queue_semaphores(in_options jsonb) returns text[] language plpgsql as $$
declare
    v_given constant jsonb := in_options -> 'semaphores';
    v_names text[];
    v_missing text;
begin
    if in_options ->> 'order_key' is not null then
        perform _queue_fail('PQ002', 'semaphores', v_given::text, 'can''t be together with an order_key');
    elsif jsonb_typeof(v_given) = 'array' and not exists (
        select from jsonb_array_elements(case when jsonb_typeof(v_given) = 'array' then v_given else '[]' end) n (name)
        where jsonb_typeof(n.name) <> 'string') then
        v_names := array(
            select distinct n.name collate "C" from jsonb_array_elements_text(v_given) n (name)
            where char_length(n.name) between 1 and 100 order by 1);
    end if;
    if v_names is null or cardinality(v_names) not between 1 and 8
        or cardinality(v_names) <> jsonb_array_length(v_given) then
        perform _queue_fail('PQ002', 'semaphores', v_given::text,
            'must be an array of 1 to 8 different names of 1 to 100 characters');
    end if;
    select n.name into v_missing from unnest(v_names) n (name)
    where (select s.name from queue_semaphore s where s.name = n.name collate "C") is null limit 1;
    if found then
        perform _queue_fail('PQ002', 'semaphores', v_missing, 'must be there: queue_semaphore makes it');
    end if;
    return v_names;
end $$;

comment on function _queue_semaphores(jsonb) is
$$The semaphores of a push, checked.
in_options: those of a push, with semaphores.
Result: their names, in order.
Errors: PQ002, also for one that isn't there, and together with an order key.$$;
