-- calls: _queue_fail
create procedure _queue_check_key(in in_key text collate exact, in in_name varchar(100) character set utf8mb4)
    comment 'Refuses what can''t be a key.
in_key: the key. in_name: the parameter''s name for the message.
Errors: PQ001.
differs: refuses the character NUL, which no text of PostgreSQL can hold.'
begin
    if in_key is null or in_key = '' or char_length(in_key) > 200 then
        call _queue_fail('PQ001', in_name, in_key, 'must have 1 to 200 characters');
    elseif locate(char(0), in_key) > 0 then
        call _queue_fail('PQ001', in_name, in_key, 'must not contain the character NUL');
    -- MariaDB takes surrogates for characters
    elseif length(in_key) > char_length(in_key) and hex(in_key) regexp '^(..)*ED[AB]' then
        call _queue_fail('PQ001', in_name, null, 'must be text in UTF-8');
    end if;
end;
