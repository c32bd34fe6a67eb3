drop procedure if exists _queue_permit;
delimiter $$
create procedure _queue_permit(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_most int, in in_rate decimal(30,6), in in_now bigint,
    inout out_max int, out out_slots longtext character set ascii)
    comment 'For how many messages of a kind with max_reserved or rate_per_second there are places and tokens.
in_kind: the kind. in_most, in_rate: its max_reserved and its rate_per_second, NULL: without. in_now: the time of the call. out_max: how many are
wanted; answers how many may be taken. out_slots: the places for them.
Locks: as _queue_lease and _queue_slots.
@pyqueue_limits, by kind, as in @pyqueue_bounds: 0 the place that the session had last, which is free once it has acked; 1 the tokens that it has; 2 when it
took them, 3 from which part. It keeps them for a second: 50 ms of the tokens of a part of the bucket, 1/320 of the rate, if it took some within the
last quarter of a second, and gives back what is left when it takes some again. In a caller''s transaction, which may be undone, none are taken ahead.
differs: on PostgreSQL the tokens are those of _queue_tokens.'
begin
    declare v_path longtext character set ascii default concat('$.k', hex(concat(database(), '.', in_kind)));
    declare v_first int default coalesce(json_extract(@pyqueue_limits, concat(v_path, '[0]')), 0);
    declare v_tokens, v_back bigint default coalesce(json_extract(@pyqueue_limits, concat(v_path, '[1]')), 0);
    declare v_at bigint default coalesce(json_extract(@pyqueue_limits, concat(v_path, '[2]')), 0);
    declare v_part int default coalesce(json_extract(@pyqueue_limits, concat(v_path, '[3]')), 0);
    declare v_got bigint default 0;
    declare v_new int;
    if in_rate is not null then
        set v_back = v_tokens;
        if not in_now - v_at between 0 and 1000000 then
            set v_tokens = 0;
        end if;
        if v_tokens < out_max then
            call _queue_lease(in_kind, in_rate, out_max, if(@pyqueue_own and in_now - v_at between 0 and 250000, floor(in_rate / 320), 0), in_now,
                v_back, v_got, v_new);
            if v_got > 0 then
                set v_tokens = v_got, v_back = v_got, v_at = in_now, v_part = v_new;
            elseif v_back = 0 then
                set v_tokens = 0;
            end if;
        end if;
        set out_max = least(out_max, v_tokens);
    end if;
    if in_most is not null and out_max > 0 then
        call _queue_slots(in_kind, in_most, v_first, out_max, in_now, out_slots);
        set out_max = json_length(out_slots), v_first = coalesce(json_extract(out_slots, '$[0]'), 0);
    end if;
    set @pyqueue_limits = json_set(coalesce(@pyqueue_limits, '{}'), v_path, json_array(v_first + 0, v_back + 0, v_at + 0, v_part + 0));
end $$
delimiter ;
