-- calls: _queue_check_count, _queue_check_name, _queue_check_roles, _queue_end, _queue_put, queue_now
-- changes: delayed_queue
create procedure queue_redrive(in in_kind text collate exact, in in_max_messages bigint)
    comment 'Sends dead letters back to the kinds they came from. Each is a new entry with attempts 0. It keeps its key,
priority, errors, route and semaphores, and stands at the end of the line of its order key. The dead letter has ended by
that: it counts as moved, in history and log too.
in_kind: the dead-letter kind.
in_max_messages: how many go at the most, in the order of their keys; NULL: all. Those that can''t go are passed over,
however many there are. Of several that came from the same key the first in that order goes.
Result: went: how many; stayed: how many whose key is taken where they came from, or where that is drained. Those up to
the last one that went are counted, or all where fewer went than were asked for.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages.
Locks: the dead letters that go, and the first of the lines. What others hold or have locked stays.'
begin
    declare v_now, v_entry, v_created, v_initially, v_at, v_member, v_went, v_stayed, v_found, v_keys bigint;
    declare v_kind varchar(100) collate exact;
    declare v_key, v_order, v_letter, v_last varchar(200) collate exact;
    declare v_payload, v_headers, v_errors, v_route, v_semaphores longtext;
    declare v_bytes longblob;
    declare v_priority smallint;
    declare v_outcome varchar(10);
    declare v_most, v_look bigint default coalesce(in_max_messages, 9223372036854775807);
    begin atomic
        declare c cursor for
            select d.entry, d.p_key
            from (
                select n.*
                from (
                    select l.*, row_number() over (partition by l.source_kind, l.source_key order by l.p_key) as nth
                    from (
                        select q.entry, q.source_key, q.source_kind, q.p_key
                            from delayed_queue q force index (delayed_queue_key)
                        where q.p_kind = in_kind and q.source_kind is not null and q.pending is null
                            and (q.reserved_at is null or q.scheduled_at <= v_now)
                            and (select t.entry from delayed_queue t
                                where t.p_kind = q.source_kind and t.p_key = q.source_key) is null
                            and (select k.draining from queue_kind k where k.p_kind = q.source_kind) is not true
                        order by q.p_kind, q.p_key limit v_look for update skip locked) l) n
                where n.nth = 1 order by n.p_key limit v_most) d
            order by d.source_key, d.source_kind, d.p_key;
        call queue_now(v_now);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        call _queue_check_count(v_most, 'max_messages', 9223372036854775807);
        set v_went = 0, v_last = '';
        look: loop -- of those that came from one key only one can go
            select count(*), count(distinct l.source_kind, l.source_key) into v_found, v_keys
            from (
                select q.source_kind, q.source_key from delayed_queue q force index (delayed_queue_key)
                where q.p_kind = in_kind and q.source_kind is not null and q.pending is null
                    and (q.reserved_at is null or q.scheduled_at <= v_now)
                    and (select t.entry from delayed_queue t
                        where t.p_kind = q.source_kind and t.p_key = q.source_key) is null
                    and (select k.draining from queue_kind k where k.p_kind = q.source_kind) is not true
                order by q.p_kind, q.p_key limit v_look) l;
            if v_found < v_look or v_keys >= v_most then
                leave look;
            end if;
            set v_look = v_look * 2;
        end loop;
        for each c into v_entry, v_letter do
            set v_last = greatest(v_last, v_letter);
            select q.source_kind, q.source_key, q.payload, q.payload_bytes, q.headers, q.source_priority, q.errors,
                q.scheduled_at_initially, q.route, q.member, q.source_order_key, q.semaphores
            into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_errors, v_initially, v_route, v_member,
                v_order, v_semaphores
            from delayed_queue q where q.entry = v_entry for update;
            set v_created = null;
            call _queue_put(v_created, v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_now, v_now, 0, null,
                'ignore', null, v_route, null, v_member, v_order, v_semaphores, v_at, v_outcome);
            if v_outcome = 'created' then
                update delayed_queue q set q.errors = v_errors, q.scheduled_at_initially = v_initially
                where q.entry = v_created and v_errors is not null;
                call _queue_end(v_entry, 'moved', v_kind, v_now);
                set v_went = v_went + 1;
            end if;
        end each;
        select count(*) into v_stayed from delayed_queue q force index (delayed_queue_key)
        where q.p_kind = in_kind and (v_went < v_most or q.p_key <= v_last) and q.source_kind is not null
            and q.pending is null and (q.reserved_at is null or q.scheduled_at <= v_now)
            and ((select t.entry from delayed_queue t
                    where t.p_kind = q.source_kind and t.p_key = q.source_key) is not null
                or (select k.draining from queue_kind k where k.p_kind = q.source_kind));
    end atomic;
    select v_went as went, v_stayed as stayed;
end;
