-- calls: _queue_ready, queue_now
create procedure _queue_ready_kind(in in_kinds longtext collate exact, in in_number int,
    out out_kind varchar(100) collate exact)
    comment 'The first of some kinds of which a message may be taken. What has landed in the inbox may be of any of
them: a reserve of whatever kind takes it in.
in_kinds: the kinds, each followed by the character NUL: to take JSON apart would cost more than to look. in_number: how
many. out_kind: the kind; NULL: none.
Locks: as _queue_ready; a row of the inbox, if there is one.
differs: on PostgreSQL it is a part of queue_wait.'
begin
    declare v_now, v_landed bigint;
    declare v_place int default 0;
    declare v_ready, v_paused boolean default false;
    declare v_kind varchar(100) collate exact;
    declare continue handler for not found begin end;
    call queue_now(v_now);
    select min(i.id) into v_landed from queue_inbox i;
    if v_landed is not null then
        set v_landed = null; -- as in _queue_ready
        select i.id into v_landed from queue_inbox i order by i.id limit 1 for update skip locked;
    end if;
    while not v_ready and v_place < in_number do
        set v_place = v_place + 1,
            v_kind = substring_index(substring_index(in_kinds, char(0 using utf8mb4), v_place), char(0 using utf8mb4),
            -1);
        if v_landed is null then
            call _queue_ready(v_kind, v_now, v_ready);
        else
            set v_paused = false;
            select k.paused into v_paused from queue_kind k where k.p_kind = v_kind;
            set v_ready = not v_paused;
        end if;
    end while;
    set out_kind = if(v_ready, v_kind, null);
end;
