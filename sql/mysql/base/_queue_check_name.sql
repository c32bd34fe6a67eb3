-- calls: _queue_fail
create procedure _queue_check_name(in in_text text collate exact, in in_most int, in in_name varchar(100))
    comment 'Refuses what can''t be a kind, a key, or the name of something else.
in_text: the name. in_most: the longest it may be: 200 characters for a key, 95 for a kind where messages are put in, so
that <kind>.dead fits into the 100 of every other routine. in_name: the parameter''s name for the message.
Errors: PQ001.
differs: refuses the character NUL, which no text of PostgreSQL can hold.'
begin
    if in_text is null or in_text = '' or char_length(in_text) > in_most then
        call _queue_fail('PQ001', in_name, in_text, concat('must have 1 to ', in_most, ' characters'));
    elseif locate(char(0), in_text) > 0 then
        call _queue_fail('PQ001', in_name, in_text, 'must not contain the character NUL');
    -- MariaDB takes surrogates for characters
    elseif length(in_text) > char_length(in_text) and hex(in_text) regexp '^(..)*ED[AB]' then
        call _queue_fail('PQ001', in_name, null, 'must be text in UTF-8');
    end if;
end;
