-- calls: _queue_fail
create procedure _queue_check_kind(in in_kind text collate exact, in in_most int,
    in in_name varchar(100) character set utf8mb4)
    comment 'Refuses what can''t be a kind.
in_kind: the kind. in_most: the longest it may be: 95 characters where messages are put in, so that <kind>.dead fits
into the 100 of every other routine. in_name: the parameter''s name for the message.
Errors: PQ001.
differs: refuses the character NUL, which no text of PostgreSQL can hold.'
begin
    if in_kind is null or in_kind = '' or char_length(in_kind) > in_most then
        call _queue_fail('PQ001', in_name, in_kind, concat('must have 1 to ', in_most, ' characters'));
    elseif locate(char(0), in_kind) > 0 then
        call _queue_fail('PQ001', in_name, in_kind, 'must not contain the character NUL');
    -- MariaDB takes surrogates for characters
    elseif length(in_kind) > char_length(in_kind) and hex(in_kind) regexp '^(..)*ED[AB]' then
        call _queue_fail('PQ001', in_name, null, 'must be text in UTF-8');
    end if;
end;
