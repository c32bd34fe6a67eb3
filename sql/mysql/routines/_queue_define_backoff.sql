drop procedure if exists _queue_define_backoff;
delimiter $$
create procedure _queue_define_backoff(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4)
    comment 'Sets backoff_seconds, backoff_factor, backoff_max_seconds and jitter of a kind.
in_kind, in_options: those of queue_define.
Errors: PQ002.
differs: on PostgreSQL it is a part of queue_define.'
begin
    declare v_backoff, v_factor, v_longest, v_jitter decimal(30,6);
    if json_contains_path(in_options, 'one', '$.backoff_seconds', '$.backoff_factor', '$.backoff_max_seconds', '$.jitter') then
        call _queue_number(in_options, 'backoff_seconds', 0, 31536000, v_backoff);
        call _queue_number(in_options, 'backoff_factor', 1, 100, v_factor);
        call _queue_number(in_options, 'backoff_max_seconds', 0, 31536000, v_longest);
        call _queue_number(in_options, 'jitter', 0, 1, v_jitter);
        update queue_kind k
        set k.backoff_seconds = if(json_contains_path(in_options, 'one', '$.backoff_seconds'),
                coalesce(v_backoff, default(k.backoff_seconds)), k.backoff_seconds),
            k.backoff_factor = if(json_contains_path(in_options, 'one', '$.backoff_factor'),
                coalesce(v_factor, default(k.backoff_factor)), k.backoff_factor),
            k.backoff_max_seconds = if(json_contains_path(in_options, 'one', '$.backoff_max_seconds'),
                coalesce(v_longest, default(k.backoff_max_seconds)), k.backoff_max_seconds),
            k.jitter = if(json_contains_path(in_options, 'one', '$.jitter'), coalesce(v_jitter, default(k.jitter)), k.jitter)
        where k.p_kind = in_kind;
    end if;
end $$
delimiter ;
