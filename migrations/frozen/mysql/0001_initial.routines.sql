-- frozen from sql/mysql by tools.freeze; never edited
drop procedure if exists queue_now;
--;
create procedure queue_now(out out_now bigint)
    comment 'The clock of the queue: the database''s wall clock at this moment, in microseconds since 1970-01-01 UTC.
Every routine reads it once a call. It is not the transaction''s start, and no caller can shift it; a test sets the time
by replacing this routine as its owner.
out_now: the time.
differs: a procedure with a parameter for its result, because a function can''t be created on every server.'
begin
    -- SYSDATE is the only clock that SET timestamp doesn't move, and a zone tells the same hour twice when summer ends
    declare v_zone varchar(64) character set utf8mb4 default @@session.time_zone;
    set session time_zone = '+00:00';
    set out_now = timestampdiff(microsecond, '1970-01-01 00:00:00', sysdate(6));
    set session time_zone = v_zone;
end;
--;
drop procedure if exists _queue_ticks;
--;
create procedure _queue_ticks(out out_ticks bigint)
    comment 'The real time in microseconds, for measuring how long something takes; what a message''s times are compared
with is queue_now(). A test that wants no scan to be slow lets it stand still.
out_ticks: the time, of the session''s zone: an hour that comes twice is an hour in which little is measured.'
begin
    set out_ticks = timestampdiff(microsecond, '1970-01-01 00:00:00', sysdate(6));
end;
--;
-- calls: queue_now
-- changes: queue_epoch
drop procedure if exists _queue_epoch;
--;
create procedure _queue_epoch(out out_shift bigint)
    comment 'Answers what makes the number of an entry out of UUID_SHORT(): ((uuid_short() << 8) & 9223372036854775807)
+ out_shift. UUID_SHORT() alone begins with the server''s id and the time of its start, so numbers would fall with
another server or a clock set back. Here an epoch stands in front instead. Whoever finds that the newest epoch isn''t
that of this server, this run of it and this million of numbers begins the next one. The last 8 bits are the server''s
id, so that two servers never give the same number.
out_shift: what to add. It is good for this call.
Locks: none: the rows of sessions that begin the same epoch differ in their id.
differs: only here. PostgreSQL has sequences; why not AUTO_INCREMENT: docs/adr/0015.'
begin
    declare v_origin bigint default uuid_short() >> 20;
    declare v_epoch, v_newest, v_began_at, v_now, v_own bigint;
    declare continue handler for not found begin end;
    select e.epoch, e.origin, e.began_at into v_epoch, v_newest, v_began_at
    from queue_epoch e order by e.epoch desc, e.id desc limit 1;
    if not v_newest <=> v_origin then
        call queue_now(v_now);
        if abs(v_now - v_began_at) < 1000000 then
            -- two servers that are written to at once take turns once a second, so that there are epochs enough
            select max(e.epoch) into v_own from queue_epoch e where e.origin = v_origin;
        end if;
        if v_own is null then
            -- the same for all who find it out at the same time, and for a snapshot that is a few millions old
            set v_epoch = coalesce(v_epoch, 0) + if(v_origin - v_newest between 1 and 4096, v_origin - v_newest, 1);
            insert into queue_epoch (epoch, id, origin, began_at)
            values (v_epoch, uuid_short() & 9223372036854775807, v_origin, v_now);
        else
            set v_epoch = v_own;
        end if;
    end if;
    set out_shift = v_epoch * 4294967296 + cast(v_origin >> 36 as signed)
        - cast((v_origin << 28) & 9223372036854775807 as signed);
end;
--;
-- calls: _queue_epoch
drop procedure if exists _queue_entry;
--;
create procedure _queue_entry(out out_entry bigint)
    comment 'Gives one number, for an entry: greater than all that were given before it was asked for, whichever server
gave them.
out_entry: the number.
Locks: none.
differs: on PostgreSQL the column is an identity. See _queue_epoch.'
begin
    declare v_shift bigint;
    call _queue_epoch(v_shift);
    set out_entry = ((uuid_short() << 8) & 9223372036854775807) + v_shift;
end;
--;
drop procedure if exists _queue_fail;
--;
create procedure _queue_fail(in in_code char(5) character set utf8mb4, in in_name varchar(250) character set utf8mb4, in in_value longtext character set utf8mb4,
    in in_allowed varchar(500) character set utf8mb4)
    comment 'Raises the error of a bad value.
in_code: the SQLSTATE, one a cause: PQ001 a parameter, PQ002 an option, PQ003 a payload, PQ004 refused in this state,
PQ005 a receipt, PQ006 receipts that are lost, PQ007 a kind that is for others.
in_name: the parameter or option. in_value: its value, cut at 40 characters unless it is a list of receipts. in_allowed:
what is allowed.
differs: MySQL has room for 128 characters, what is allowed is cut there, with … at its end; and each cause has a number
of its own, 31001 to 31007, for drivers that know nothing of SQLSTATEs.'
begin
    declare v_text varchar(1000) character set utf8mb4;
    declare v_most int default if(in_code = 'PQ006', 400, 40);
    set v_text = concat(in_name, ' ',
        coalesce(concat('"', left(in_value, v_most), if(char_length(in_value) > v_most, '…', ''), '"'),
        'NULL'), ': ', in_allowed);
    if char_length(v_text) > 128 then
        set v_text = concat(left(v_text, 127), '…');
    end if;
    case in_code
        when 'PQ001' then signal sqlstate 'PQ001' set message_text = v_text, mysql_errno = 31001;
        when 'PQ002' then signal sqlstate 'PQ002' set message_text = v_text, mysql_errno = 31002;
        when 'PQ003' then signal sqlstate 'PQ003' set message_text = v_text, mysql_errno = 31003;
        when 'PQ004' then signal sqlstate 'PQ004' set message_text = v_text, mysql_errno = 31004;
        when 'PQ005' then signal sqlstate 'PQ005' set message_text = v_text, mysql_errno = 31005;
        when 'PQ006' then signal sqlstate 'PQ006' set message_text = v_text, mysql_errno = 31006;
        when 'PQ007' then signal sqlstate 'PQ007' set message_text = v_text, mysql_errno = 31007;
    end case;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_check_name;
--;
create procedure _queue_check_name(in in_text text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_most int, in in_name varchar(100) character set utf8mb4)
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
--;
-- calls: _queue_fail
drop procedure if exists _queue_check_count;
--;
create procedure _queue_check_count(in in_count bigint, in in_name varchar(100) character set utf8mb4, in in_most bigint)
    comment 'Refuses a number of messages that is none.
in_count: the number. in_name: the parameter''s name. in_most: the largest allowed.
Errors: PQ001.'
begin
    if in_count is null or in_count < 1 or in_count > in_most then
        call _queue_fail('PQ001', in_name, in_count, concat('must be a whole number from 1 to ', in_most));
    end if;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_check_seconds;
--;
create procedure _queue_check_seconds(in in_seconds double)
    comment 'Refuses a length of time that no hold can have.
in_seconds: the seconds.
Errors: PQ001.'
begin
    if in_seconds is null or in_seconds < 0 or in_seconds > 31536000 then
        call _queue_fail('PQ001', 'seconds', in_seconds, 'must be a number from 0 to 31536000');
    end if;
end;
--;
-- calls: _queue_check_json, _queue_fail
drop procedure if exists _queue_check_payload;
--;
create procedure _queue_check_payload(in in_payload longtext character set utf8mb4, in in_name varchar(100) character set utf8mb4)
    comment 'Refuses JSON that not every server can hold.
in_payload: the payload; NULL: nothing is refused. in_name: the parameter''s name for the message.
Errors: PQ003 where it is deeper than 31 levels (a scalar is one level), or has a number beyond double precision.
differs: refuses what is no JSON, too, which PostgreSQL does before.'
begin
    if in_payload is not null then
        call _queue_check_json(in_payload, 'PQ003', in_name);
        if json_depth(in_payload) > 31 then
            call _queue_fail('PQ003', in_name, in_payload, 'must be at most 31 levels deep');
        end if;
    end if;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_check_headers;
--;
create procedure _queue_check_headers(in in_headers longtext character set utf8mb4, in in_name varchar(100) character set utf8mb4, out out_headers longtext character set utf8mb4)
    comment 'Refuses headers that are no object of scalars.
in_headers: the headers. in_name: the parameter''s name for the message.
Result: the headers, NULL where there are none.
Errors: PQ003.'
begin
    declare v_nested int default 0;
    declare v_type varchar(20) character set utf8mb4 default json_type(in_headers);
    set out_headers = null;
    if v_type = 'OBJECT' then
        select count(*) into v_nested from json_table(in_headers, '$.*' columns (value json path '$')) r
        where json_type(r.value) in ('OBJECT', 'ARRAY');
    end if;
    if v_nested > 0 or v_type not in ('OBJECT', 'NULL') then
        call _queue_fail('PQ003', in_name, in_headers, 'must be a JSON object with scalar values');
    elseif v_type = 'OBJECT' and json_length(in_headers) > 0 then
        set out_headers = in_headers;
    end if;
end;
--;
-- calls: _queue_check_json, _queue_fail
drop procedure if exists _queue_check_options;
--;
create procedure _queue_check_options(in in_options longtext character set utf8mb4, in in_allowed varchar(500) character set utf8mb4, in in_name varchar(100) character set utf8mb4)
    comment 'Refuses options that are no object and options that nobody knows.
in_options: the options. in_allowed: the names a routine knows. in_name: the parameter''s name for the message.
Errors: PQ002.
differs: in_allowed is a text: a,b,c. An error names first what begins as the unknown one does, since there is little
room. What is no JSON is refused here. MariaDB keeps a name that stands twice in an object; in options that is refused.'
begin
    declare v_type varchar(20) character set utf8mb4;
    declare v_allowed varchar(500) character set utf8mb4;
    declare v_unknown text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    if in_options is not null then
        call _queue_check_json(in_options, 'PQ002', in_name);
        set v_type = json_type(in_options);
        if v_type not in ('OBJECT', 'NULL') then
            call _queue_fail('PQ002', in_name, in_options, 'must be a JSON object');
        elseif v_type = 'OBJECT' and json_length(in_options) > 0 then
            -- a name that no path finds is one that MariaDB keeps as it is spelt, with escapes
            select min(o.name) into v_unknown
            from json_table(json_keys(in_options), '$[*]' columns (name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) o
            where not find_in_set(o.name, in_allowed collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
                or not json_contains_path(in_options, 'one', concat('$.', o.name));
            if v_unknown is not null then
                /*M!100600 set statement group_concat_max_len = 1000000000 for */ select group_concat(a.name order by left(a.name, 4) <> left(v_unknown, 4),
                    left(a.name, 1) <> left(v_unknown, 1), a.place separator ', ')
                into v_allowed from json_table(concat('["', replace(in_allowed, ',', '","'), '"]'), '$[*]' columns (place for ordinality, name varchar(100) character set utf8mb4 path '$')) a;
                call _queue_fail('PQ002', in_name, v_unknown,
                    concat('unknown, allowed are ', coalesce(nullif(v_allowed, ''), 'none')));
            elseif json_length(in_options) <> json_length(json_keys(in_options)) then
                call _queue_fail('PQ002', in_name, in_options, 'must have no name twice');
            end if;
        end if;
    end if;
end;
--;
drop procedure if exists _queue_merge_options;
--;
create procedure _queue_merge_options(in in_common longtext character set utf8mb4, in in_own longtext character set utf8mb4, out out_options longtext character set utf8mb4)
    comment 'The options of one of many: those for all, and its own, which win.
in_common: the options for all. in_own: its own, an object. out_options: the options; NULL for none.
differs: on PostgreSQL it is an operator. JSON_MERGE_PATCH would drop an option that is null.'
begin
    declare v_names longtext character set utf8mb4 default json_keys(in_own);
    declare v_place int default 0;
    set out_options = in_own;
    if json_type(in_common) = 'OBJECT' then
        while in_common <> '{}' and v_place < json_length(v_names) do
            set in_common = json_remove(in_common, concat('$.', json_extract(v_names, concat('$[', v_place, ']')))),
                v_place = v_place + 1;
        end while;
        set out_options = json_merge_preserve(in_common, out_options);
    end if;
    if json_length(out_options) = 0 then
        set out_options = null;
    end if;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_number;
--;
create procedure _queue_number(in in_options longtext character set utf8mb4, in in_option varchar(30) character set utf8mb4, in in_least decimal(30,6),
    in in_most decimal(30,6), out out_value decimal(30,6))
    comment 'A number out of the options.
in_options: the options. in_option: its name. in_least, in_most: the range allowed.
Result: the number; NULL where it isn''t given.
Errors: PQ002.
differs: a number has six places at the most, which are microseconds.'
begin
    declare v_value longtext character set utf8mb4 default json_extract(in_options, concat('$.', in_option));
    declare v_type varchar(20) character set utf8mb4 default json_type(v_value);
    set out_value = null;
    if v_type <> 'NULL' then
        if v_type not in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL') or v_value + 0e0 < in_least
            or v_value + 0e0 > in_most then
            call _queue_fail('PQ002', in_option, json_unquote(v_value), concat('must be a number from ',
                trim(trailing '.' from trim(trailing '0' from in_least)), ' to ',
                trim(trailing '.' from trim(trailing '0' from in_most))));
        end if;
        set out_value = round(cast(v_value as decimal(60,30)), 6);
    end if;
end;
--;
-- calls: _queue_fail, _queue_number
drop procedure if exists _queue_integer;
--;
create procedure _queue_integer(in in_options longtext character set utf8mb4, in in_option varchar(30) character set utf8mb4, in in_least bigint, in in_most bigint,
    out out_value bigint)
    comment 'A whole number out of the options.
in_options: the options. in_option: its name. in_least, in_most: the range allowed.
Result: the number; NULL where it isn''t given.
Errors: PQ002.'
begin
    declare v_value decimal(30,6);
    call _queue_number(in_options, in_option, in_least, in_most, v_value);
    -- a JSON null is no number for MySQL: v_value is NULL then
    if v_value <> truncate(v_value, 0)
        or if(v_value is null, false, json_extract(in_options, concat('$.', in_option)) + 0e0 <> v_value) then
        call _queue_fail('PQ002', in_option, json_unquote(json_extract(in_options, concat('$.', in_option))),
            'must be a whole number');
    end if;
    set out_value = v_value;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_boolean;
--;
create procedure _queue_boolean(in in_options longtext character set utf8mb4, in in_option varchar(30) character set utf8mb4, out out_value boolean)
    comment 'A boolean out of the options.
in_options: the options. in_option: its name.
Result: true or false; NULL where it isn''t given.
Errors: PQ002.'
begin
    declare v_value longtext character set utf8mb4 default json_extract(in_options, concat('$.', in_option));
    declare v_type varchar(20) character set utf8mb4 default json_type(v_value);
    set out_value = null;
    if v_type = 'BOOLEAN' then
        set out_value = v_value = 'true';
    elseif v_type <> 'NULL' then
        call _queue_fail('PQ002', in_option, json_unquote(v_value), 'must be true or false');
    end if;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_text;
--;
create procedure _queue_text(in in_options longtext character set utf8mb4, in in_option varchar(30) character set utf8mb4, out out_value longtext character set utf8mb4)
    comment 'A string out of the options.
in_options: the options. in_option: its name.
Result: the string; NULL where it isn''t given.
Errors: PQ002.'
begin
    declare v_value longtext character set utf8mb4 default json_extract(in_options, concat('$.', in_option));
    declare v_type varchar(20) character set utf8mb4 default json_type(v_value);
    set out_value = null;
    if v_type = 'STRING' then
        set out_value = json_unquote(v_value);
    elseif v_type <> 'NULL' then
        call _queue_fail('PQ002', in_option, json_unquote(v_value), 'must be a string');
    end if;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_instant;
--;
create procedure _queue_instant(in in_options longtext character set utf8mb4, in in_option varchar(30) character set utf8mb4, out out_time bigint)
    comment 'A time out of the options: microseconds since 1970, or ISO 8601 with an offset; a value under 10^14 is
refused, so that nobody''s seconds pass for microseconds.
in_options: the options. in_option: its name.
Result: microseconds since 1970; NULL where it isn''t given.
Errors: PQ002.
differs: the result is out_time. PostgreSQL reads ISO 8601 itself, in the same way: date, T or a space, hours and
minutes, perhaps seconds, perhaps up to six places of them, and an offset: Z, +02, +0200, +02:00. A second 60 is the
next minute.'
begin
    declare v_at longtext character set utf8mb4 default json_extract(in_options, concat('$.', in_option));
    declare v_type varchar(20) character set utf8mb4 default json_type(v_at);
    declare v_text longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default json_unquote(v_at);
    declare v_offset varchar(10) character set utf8mb4;
    declare v_clock varchar(20) character set utf8mb4;
    declare v_day date;
    declare v_month_day, v_hour, v_minute, v_second, v_fraction, v_ahead_hours, v_ahead_minutes int;
    set out_time = null;
    if coalesce(v_type, 'NULL') <> 'NULL' then
        if v_type = 'STRING' and char_length(v_text) <= 40 and v_text regexp
            '^[0-9]{4}(-[0-9]{2}){2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)\\z'
                then
            set v_offset = regexp_substr(v_text, '(Z|[+-][0-9:]+)\\z');
            set v_clock = substr(v_text, 12, char_length(v_text) - 11 - char_length(v_offset));
            -- no server shows a day that isn't there in the same way
            if substr(v_text, 6, 2) between 1 and 12 and left(v_text, 4) > 0 then
                set v_day = last_day(concat(left(v_text, 8), '01'));
            end if;
            set v_month_day = substr(v_text, 9, 2), v_hour = left(v_clock, 2), v_minute = substr(v_clock, 4, 2),
                v_second = if(char_length(v_clock) > 5, substr(v_clock, 7, 2), 0),
                v_fraction = if(char_length(v_clock) > 9, rpad(substr(v_clock, 10), 6, '0'), 0),
                v_ahead_hours = if(v_offset = 'Z', 0, substr(v_offset, 2, 2)),
                v_ahead_minutes = if(char_length(v_offset) > 3, right(v_offset, 2), 0);
            if v_day is not null and v_month_day between 1 and day(v_day) and v_ahead_hours < 16
                and v_ahead_minutes < 60 and (v_hour < 24 and v_minute < 60 and v_second <= 60
                    or v_hour = 24 and v_minute + v_second + v_fraction = 0) then
                set out_time = ((to_days(v_day) - day(v_day) + v_month_day - to_days('1970-01-01')) * 86400
                    + v_hour * 3600 + v_minute * 60 + v_second
                    - if(left(v_offset, 1) = '-', -1, 1) * (v_ahead_hours * 3600 + v_ahead_minutes * 60)) * 1000000 +
                        v_fraction;
            end if;
        elseif v_type in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL') and abs(v_at + 0e0) < 1e18
            and v_at + 0e0 = floor(v_at + 0e0) then
            set out_time = cast(v_at as decimal(60,30));
        end if;
        -- up to the last microsecond of the year 9999
        if out_time is null or out_time < 100000000000000 or out_time > 253402300799999999 then
            call _queue_fail('PQ002', in_option, v_text,
                'must be microseconds since 1970 (10^14 or more) or ISO 8601 with an offset');
        end if;
    end if;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_receipt;
--;
create procedure _queue_receipt(in in_receipt text character set utf8mb4, out out_entry bigint, out out_secret binary(16))
    comment 'Takes a receipt apart.
in_receipt: what queue_reserve answered.
Result: the entry it names and the secret of the delivery.
Errors: PQ005 where it has another form.'
begin
    begin
        declare continue handler for sqlexception begin end;
        set out_entry = cast(substring_index(in_receipt, '-', 1) as signed), out_secret = unhex(right(in_receipt, 32));
    end;
    -- written as it was answered, as nearly every one is, it needs no regexp, which takes as long as the ack itself
    if (in_receipt collate utf8mb4_bin = concat(out_entry, '-', lower(hex(out_secret)))) is not true
        and (in_receipt collate utf8mb4_bin regexp '^[0-9]{1,19}-[0-9a-f]{32}\\z' and lpad(in_receipt, 52, '0') < '9223372036854775808') is not true then
        call _queue_fail('PQ005', 'receipt', in_receipt, 'must be what queue_reserve answered');
    end if;
end;
--;
-- calls: _queue_check_json, _queue_fail
drop procedure if exists _queue_receipts;
--;
create procedure _queue_receipts(in in_receipts longtext character set utf8mb4, out out_list longtext character set utf8mb4, out out_number int)
    comment 'Takes an array of receipts apart.
in_receipts: a JSON array of what queue_reserve answered, at most 10000; NULL: none.
Result: the receipts as they came; entries, secrets and places (from 1, where a receipt stands first), each receipt once
and in the order of the entries, which is the order in which every routine locks rows.
Errors: PQ005 with the first that has another form; PQ003 for JSON that no server could hold.'
begin
    declare v_bad longtext character set utf8mb4;
    if in_receipts is null or length(in_receipts) < 99 and in_receipts regexp '^[[:space:]]*null[[:space:]]*$' then
        set in_receipts = '[]';
    end if;
    if locate('{', cast(in_receipts as binary)) > 0 or locate('[', cast(in_receipts as binary), 2) > 0 then
        -- no array of receipts has these
        call _queue_check_json(in_receipts, 'PQ003', 'receipts');
    end if;
    if not json_valid(in_receipts) or json_type(in_receipts) <> 'ARRAY' or json_length(in_receipts) > 10000 then
        call _queue_fail('PQ005', 'receipts', in_receipts, 'must be a JSON array of at most 10000 receipts');
    end if;
    set out_number = json_length(in_receipts);
    select substr(min(concat(lpad(r.n, 5, '0'), coalesce(r.receipt, 'null'))), 6) into v_bad
    from json_table(in_receipts, '$[*]' columns (n for ordinality, receipt longtext character set utf8mb4 path '$')) r
    where (r.receipt collate utf8mb4_bin regexp '^[0-9]{1,19}-[0-9a-f]{32}\\z' and lpad(r.receipt, 52, '0') < '9223372036854775808') is not true;
    if v_bad is not null then
        call _queue_fail('PQ005', 'receipts', v_bad, 'must be what queue_reserve answered');
    end if;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select coalesce(json_arrayagg(json_array(s.entry, s.secret, s.n)), '[]') into out_list
    from (
        select cast(left(r.receipt, char_length(r.receipt) - 33) as signed) as entry, right(r.receipt, 32) as secret,
            min(r.n) as n
        from json_table(in_receipts, '$[*]' columns (n for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r
        group by 1, 2 order by 1 limit 10000) s; -- without a limit MySQL leaves out the order
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_check_json;
--;
create procedure _queue_check_json(in in_json longtext character set utf8mb4, in in_code char(5) character set utf8mb4, in in_name varchar(100) character set utf8mb4)
    comment 'Refuses a text that is no JSON, or none that every server can hold.
in_json: the text, not NULL. in_code: the SQLSTATE of the error. in_name: the parameter''s name for the message.
Errors: the one given, for what is no JSON, lone surrogates, and \\u0000; PQ003 for what MySQL can''t hold.
differs: on PostgreSQL it is for rows of the inbox alone. Routines are given jsonb there, for which the server itself
refuses these before.'
begin
    declare v_left longtext character set utf8mb4;
    declare v_stored json;
    -- MySQL reads no more than 100 levels, MariaDB 32; MySQL stores no name of 64 KiB or more
    declare exit handler for 3157 call _queue_fail('PQ003', in_name, in_json,
        'must be JSON, not too deep, with numbers up to 1.8e308');
    declare exit handler for 3151 call _queue_fail('PQ003', in_name, in_json, 'must have names of less than 64 KiB');
    if not json_valid(in_json) then
        if in_name = 'options' and char_length(in_json) - char_length(replace(replace(in_json, '{', ''), '[', '')) > 31
            then
            -- no other options are that deep
            call _queue_fail(if(locate('"where"', in_json) > 0, 'PQ002', 'PQ003'),
                if(locate('"where"', in_json) > 0, 'where', 'payload'), in_json, 'must be at most 31 levels deep');
        end if;
        call _queue_fail(in_code, in_name, in_json, 'must be JSON, not too deep, with numbers up to 1.8e308');
    -- then what is outside of strings: cutting those out by regexp_replace takes a second for some thousand of them
    /*M!100600 elseif in_json regexp '[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}'
        and replace(replace(in_json, '\\\\', ''), '\\"', '') regexp concat('"[^"]*+"(*SKIP)(*FAIL)',
            '|[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?0*(309|3[1-9]\\d|[4-9]\\d\\d|[1-9]\\d{3})') then
        call _queue_fail(in_code, in_name, in_json, 'must be JSON, with numbers up to 1.8e308'); */
    elseif locate('\\', cast(in_json as binary)) > 0 then -- as a text it took longer than all the rest
        set v_left = replace(in_json, '\\\\', ''); -- what is left of backslashes begins an escape
        if locate('\\u0000', v_left) > 0 then
            call _queue_fail(in_code, in_name, in_json, 'must not contain \\u0000');
        /*M!100600 elseif v_left regexp '\\\\[^"/bfnrtu\\\\]' then
            call _queue_fail(in_code, in_name, in_json, 'must be JSON, no other escapes'); */
        end if;
    end if;
    /*!80000 if length(in_json) > 65535 then
        set v_stored = in_json;
    end if; */
end;
--;
-- calls: _queue_check_json, _queue_check_name, _queue_fail
drop procedure if exists _queue_check_kinds;
--;
create procedure _queue_check_kinds(in in_kinds longtext character set utf8mb4, out out_kinds longtext character set utf8mb4)
    comment 'The kinds that a consumer names.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
Result: the kinds, in their order.
Errors: PQ001.
differs: the result is a parameter, out_kinds, a JSON array.'
begin
    declare v_place int default 0;
    declare v_kind longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_number int default -1;
    if in_kinds is not null then
        call _queue_check_json(in_kinds, 'PQ001', 'kinds');
        set out_kinds = if(json_type(in_kinds) = 'STRING', concat('[', in_kinds, ']'), in_kinds);
        set v_number = if(json_type(out_kinds) = 'ARRAY', json_length(out_kinds), -1);
    end if;
    while v_place < v_number do
        set v_kind = json_extract(out_kinds, concat('$[', v_place, ']'));
        if json_type(v_kind) = 'STRING' then
            set v_kind = json_unquote(v_kind);
            call _queue_check_name(v_kind, 100, concat('kinds[', v_place, ']'));
        else
            set v_number = -1;
        end if;
        set v_place = v_place + 1;
    end while;
    if v_number not between 1 and 100 then
        call _queue_fail('PQ001', 'kinds', in_kinds, 'must be a kind or a JSON array of 1 to 100 kinds');
    end if;
end;
--;
-- calls: _queue_fail, _queue_undo
drop procedure if exists _queue_begin;
--;
create procedure _queue_begin(out out_own boolean)
    comment 'Begins a call: in the caller''s transaction where there is one, else in one of its own, because under
autocommit each statement of a procedure would be a transaction for itself.
out_own: whether the transaction is the call''s own. Then it is READ COMMITTED, in which nobody blocks who puts messages
in. The savepoint pyqueue_own marks it.
Errors: PQ004 where that savepoint is there already: MySQL ends a call by KILL QUERY without its handlers, so that its
transaction stays open, and all that the session did since is part of it. All of that is undone first. Neither server
runs them where it has no room for a sort or a temporary table (1038, 1114).
Locks: the metadata of queue_gate until the transaction ends: while an upgrade replaces routines, calls wait here.
differs: PostgreSQL has no need of it. An upgrade leaves this routine alone while its text is the same.'
begin
    declare v_none boolean default false;
    declare continue handler for 1305 set v_none = true;
    -- here, because who called is never told that the transaction is its own
    declare exit handler for sqlexception begin call _queue_undo(out_own); resignal; end;
    -- a savepoint outlives its statement only inside of a transaction
    if @@session.autocommit then
        savepoint pyqueue_begin;
        release savepoint pyqueue_begin;
    end if;
    set out_own = v_none;
    if out_own then
        set transaction isolation level read committed;
        start transaction;
        savepoint pyqueue_own; -- before an engine is part of it, so that the binary log has nothing of it
    else
        savepoint pyqueue_begin;
        release savepoint pyqueue_own;
        if not v_none then
            set out_own = true;
            call _queue_fail('PQ004', 'transaction', 'open',
                'is of a call that was killed (1317) or had no room (1038), and undone with all since: begin again');
        end if;
    end if;
    select coalesce(max(g.id), out_own) into @pyqueue_own from queue_gate g; -- which is empty
    -- what a session keeps between calls it can write itself: a hint, and none where it can't be read
    if json_valid(convert(@pyqueue_cursors using utf8mb4)) is not true or charset(@pyqueue_cursors) = 'binary' then
        set @pyqueue_cursors = '{}';
    end if;
    if json_valid(convert(@pyqueue_slots using utf8mb4)) is not true or charset(@pyqueue_slots) = 'binary' then
        set @pyqueue_slots = '{}';
    end if;
    set @pyqueue_members = null, @pyqueue_permit_names = null, @pyqueue_permit_entries = null,
        @pyqueue_permit_held = null;
end;
--;
-- calls: _queue_members_settle, _queue_permits_end
drop procedure if exists _queue_commit;
--;
create procedure _queue_commit(in in_own boolean)
    comment 'Ends a call that went well: commits its own transaction and leaves the caller''s alone.
in_own: see _queue_begin. What it noted of members of groups and of messages with semaphores is seen to first.
differs: only here, see _queue_begin.'
begin
    if @pyqueue_members is not null then
        call _queue_members_settle();
    end if;
    if @pyqueue_permit_names is not null then
        call _queue_permits_end();
    end if;
    if in_own then
        commit and no chain no release; -- whatever completion_type the session has
    end if;
    set @pyqueue_own = null, @pyqueue_permit_held = null;
end;
--;
drop procedure if exists _queue_undo;
--;
create procedure _queue_undo(in in_own boolean)
    comment 'Ends a call that failed: undoes all that it did, and nothing that the caller did before. The handler that
calls it raises the error again.
in_own: see _queue_begin; NULL: it failed before.
differs: only here, see _queue_begin.'
begin
    -- after a deadlock there is no savepoint any more: the server has undone the whole transaction
    declare continue handler for 1305 begin end;
    if in_own then
        rollback and no chain no release;
    elseif not in_own then
        rollback to savepoint pyqueue_begin;
    end if;
    set @pyqueue_own = null, @pyqueue_members = null, @pyqueue_permit_names = null, @pyqueue_permit_entries = null,
        @pyqueue_permit_held = null, @pyqueue_cursors = '{}', @pyqueue_slots = '{}'; -- they may be why it failed
end;
--;
drop procedure if exists _queue_random;
--;
create procedure _queue_random(out out_random varchar(64) character set ascii)
    comment 'A random number that nobody can guess, from which a call makes the secrets of its receipts.
out_random: 64 hexadecimal digits.
differs: MariaDB before 10.10 has no generator for secrets; there it is a hash of two UUIDs, random numbers and the
time.'
begin
    /*!80000 set out_random = hex(random_bytes(32)); */
    /*M!101000 set out_random = hex(random_bytes(32)); */
    if out_random is null then
        set out_random = sha2(concat_ws('-', uuid(), rand(), rand(), connection_id(), sysdate(6), uuid()), 256);
    end if;
end;
--;
-- calls: _queue_begin, _queue_fail, _queue_undo
drop procedure if exists _queue_begin_alone;
--;
create procedure _queue_begin_alone()
    comment 'Begins a transaction, READ COMMITTED, for a call that has no business in another: who waits in one would
see nothing new, or keep others from cleaning away what is old.
Errors: PQ004 where a transaction is open; without autocommit each statement opens one. Where a killed call left it, see
_queue_begin, it is undone.
Locks: the metadata of queue_gate until _queue_commit: while an upgrade replaces routines, calls wait here.
differs: PostgreSQL has no need of it.'
begin
    declare v_own boolean;
    -- what the server says of SET TRANSACTION inside of one
    declare exit handler for 1568 begin
        call _queue_begin(v_own); -- which fails where a killed call left it
        call _queue_fail('PQ004', 'transaction', 'open', 'must be ended: who waits in one sees nothing new');
    end;
    declare exit handler for sqlexception begin call _queue_undo(true); resignal; end;
    set transaction isolation level read committed;
    start transaction;
    savepoint pyqueue_own;
    select coalesce(max(g.id), true) into @pyqueue_own from queue_gate g; -- which is empty
end;
--;
-- calls: _queue_undo
drop procedure if exists _queue_retry;
--;
create procedure _queue_retry(in in_own boolean, inout out_tries int)
    comment 'What a call does that the server has chosen as the victim of a deadlock: in a transaction of its own it is
made again, since all of it has been undone; in the caller''s the caller has to begin again. So where MariaDB has
innodb_snapshot_isolation on, the default from 11.6 on, and a row has changed that a statement waited for (1020): that
undoes the transaction just the same. A victim that waits to number what it writes down is told so by 1467 on MariaDB.
in_own: see _queue_begin. out_tries: how often it was tried; 20 times at the most.
Errors: the server''s 1213, where it can''t be made again.
differs: only here, see _queue_begin.'
begin
    call _queue_undo(in_own);
    set out_tries = out_tries + 1;
    if out_tries > 20 or in_own is not true then
        signal sqlstate '40001' set mysql_errno = 1213,
            message_text = 'Deadlock found when trying to get lock; try restarting transaction';
    end if;
    do sleep(rand() * 0.002 * out_tries);
end;
--;
drop procedure if exists _queue_add_error;
--;
create procedure _queue_add_error(in in_errors longtext character set utf8mb4, in in_now bigint, in in_attempt int, in in_by text character set utf8mb4,
    in in_error longtext character set utf8mb4, out out_errors longtext character set utf8mb4)
    comment 'Adds an error to the errors of a message.
in_errors: those so far. in_now: the time of the call. in_attempt, in_by: the delivery and the worker. in_error: the
text, cut at 10000 characters; NULL for none.
Result: the errors, at most the last ten.
differs: the result is a parameter, out_errors.'
begin
    set out_errors = in_errors;
    if in_error is not null then
        if json_length(in_errors) >= 10 then
            set out_errors = json_remove(in_errors, '$[0]');
        end if;
        -- MariaDB makes a string of a number that is a variable alone
        set out_errors = json_array_append(coalesce(out_errors, '[]'), '$', json_object('at', in_now + 0,
            'attempt', in_attempt + 0, 'by', in_by, 'error', left(in_error, 10000)));
    end if;
end;
--;
drop procedure if exists _queue_lock;
--;
create procedure _queue_lock(in in_list longtext character set utf8mb4)
    comment 'Locks messages in the order of their entries.
in_list: a JSON array of arrays that begin with the entry, in any order; entries that are gone are passed over.
Locks: as said; waits for what others have locked.
differs: on PostgreSQL it is a statement in each of those who need it.'
begin
    declare v_last bigint;
    -- the index is forced here and wherever a list is joined: a table that looks small would be scanned, and locked,
    -- whole
    select max(e.entry) into v_last
    from (
        select q.entry from /*M!100600 (select * from */ json_table(in_list, '$[*]' columns (entry bigint path '$[0]')) j /*M!100600 limit 1000000000) j */
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        order by j.entry limit 1000000000 for update /*!80000 of q */) e; -- without a limit the order is left out
end;
--;
-- calls: _queue_begin, _queue_check_name, _queue_check_roles, _queue_commit, _queue_undo, queue_now
drop procedure if exists queue_get;
--;
create procedure queue_get(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Looks at one message and changes nothing.
in_kind: the kind. in_key: the key.
Result: the columns, times in microseconds; state: scheduled, ready, reserved, expired, waiting (in line for something
else than time); and errors, the last ten, the newest last: a JSON array of {at, attempt, by, error}, NULL for none. No
row where there is no message.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key.
Locks: none.'
begin
    declare v_own boolean;
    declare v_now bigint;
    declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
    call _queue_begin(v_own);
    call queue_now(v_now);
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    call _queue_check_name(in_key, 200, 'key');
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
        q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
        case when q.reserved_at is null and q.ready_at is null and q.due_at is null then 'waiting'
            when q.reserved_at is null then if(q.scheduled_at <= v_now, 'ready', 'scheduled')
            else if(q.scheduled_at <= v_now, 'expired', 'reserved') end as state, q.errors
    from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
    call _queue_commit(v_own);
end;
--;
-- calls: _queue_begin, _queue_check_count, _queue_check_name, _queue_check_options, _queue_check_roles,
--     _queue_commit, _queue_first_of, _queue_look_where, _queue_matches, _queue_undo, _queue_where, queue_now
drop procedure if exists queue_peek;
--;
create procedure queue_peek(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages int, in in_options longtext character set utf8mb4)
    comment 'Looks at messages of a kind and changes nothing.
in_kind: the kind.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: which ones.
- where: shows only messages that contain this object, as in queue_reserve. The call reads what stands before them,
  whatever index the kind has. Allowed: an object of at most 16 values. Default: all messages.
Result: the columns, times in microseconds, state and errors (see queue_get), in the order of delivery: first what is
ready or held in its place, then what waits for its time, then what waits in the lines of order keys and semaphores.
Where more waits in lines than is asked for, the lines decide which of it is shown.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages, PQ002 for options.
Locks: none.
differs: with where, what waits in lines isn''t shown.'
begin
    declare v_own boolean;
    declare v_now bigint;
    declare v_where, v_entries, v_list, v_payload, v_headers longtext character set utf8mb4;
    declare v_most int default coalesce(in_max_messages, 1);
    declare v_path, v_text longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_number double;
    declare v_rank int default -32768;
    declare v_place, v_entry, v_one bigint default 0;
    declare v_rows, v_found int;
    declare v_matches boolean;
    declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
    call _queue_begin(v_own);
    call queue_now(v_now);
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    call _queue_check_count(v_most, 'max_messages', 10000);
    call _queue_check_options(in_options, 'where', 'options');
    call _queue_where(in_options, v_where);
    if v_where is not null then
        set v_entries = '[]';
        call _queue_first_of(v_where, v_path, v_text, v_number);
        parts: loop -- as many of the ready line, and then of the timetable
            set v_found = 0, v_rows = 1000;
            while v_rows > 0 and v_found < v_most do
                call _queue_look_where(in_kind, 9223372036854775807, 1000, v_path, v_text, v_number, v_rank, v_place,
                    v_entry, v_list, v_rows);
                set v_one = 0;
                while v_one < v_rows and v_found < v_most do
                    call _queue_matches(json_extract(v_list, concat('$[', v_one, ']')), v_where, v_matches, v_payload,
                        v_headers);
                    if v_matches then
                        set v_entries = json_array_append(v_entries, '$',
                            json_extract(v_list, concat('$[', v_one, ']'))), v_found = v_found + 1;
                    end if;
                    set v_one = v_one + 1;
                end while;
            end while;
            if v_rank is null then
                leave parts;
            end if;
            set v_rank = null, v_place = 0, v_entry = 0;
        end loop;
    end if;
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
        q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
        case when q.reserved_at is null and q.ready_at is null and q.due_at is null then 'waiting'
            when q.reserved_at is null then if(q.scheduled_at <= v_now, 'ready', 'scheduled')
            else if(q.scheduled_at <= v_now, 'expired', 'reserved') end as state, q.errors
    from (
        (select e.entry, if(e.ready_rank is not null or e.scheduled_at <= v_now, 1, 2) as part,
                if(e.ready_rank is not null or e.scheduled_at <= v_now, -e.priority, null) as turn,
                coalesce(e.ready_at, e.due_at) as place
            from json_table(v_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue e force index (primary) on e.entry = j.entry)
        union all
        (select l.entry, 1 as part, l.ready_rank as turn, l.ready_at as place
            from delayed_queue l force index (delayed_queue_ready)
            where l.ready_kind = in_kind and v_where is null order by l.ready_rank, l.ready_at, l.entry limit v_most)
        union all
        (select t.entry, if(t.scheduled_at <= v_now, 1, 2), if(t.scheduled_at <= v_now, -t.priority, null), t.due_at
            from delayed_queue t force index (delayed_queue_due)
            where t.p_kind = in_kind and t.due_at is not null and v_where is null
            order by t.p_kind, t.due_at limit v_most)
        union all
        (select w.entry, 3, null, w.entry from queue_order_waiting w
            where w.p_kind = in_kind and v_where is null
            order by w.p_kind, w.order_key, w.entry limit v_most)
        union all
        (select w.entry, 3, null, w.entry from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
            where w.p_kind = in_kind and v_where is null order by w.p_kind, w.name, w.entry limit v_most)) p
        straight_join delayed_queue q force index (primary) on q.entry = p.entry
    order by p.part, p.turn, p.place, p.entry limit v_most;
    call _queue_commit(v_own);
end;
--;
drop procedure if exists _queue_misfit;
--;
create procedure _queue_misfit(in in_shape longtext character set utf8mb4, in in_payload longtext character set utf8mb4, out out_misfit varchar(500) character set utf8mb4)
    comment 'Why a payload isn''t of its kind.
in_shape: payload_shape of the kind: fields and their types. in_payload: the payload; NULL: it is binary.
Result: what it must be; NULL where it fits.
differs: the result is out_misfit. MariaDB keeps a name that stands twice in an object; where there is a shape, that is
a misfit.'
begin
    declare v_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_type varchar(20) character set utf8mb4;
    declare v_mark varchar(1) character set utf8mb4 default '';
    declare v_values longtext character set utf8mb4;
    declare v_types longtext character set utf8mb4 default json_extract(in_shape, '$.*');
    declare continue handler for not found begin end;
    set out_misfit = null;
    -- json_keys loses names that stand behind one with a \" in it
    /*M!100600 set in_shape = replace(replace(in_shape, '\\\\', '\\u005c'), '\\"', '\\u0022'),
        in_payload = replace(replace(in_payload, '\\\\', '\\u005c'), '\\"', '\\u0022'); */
    if in_payload is null then
        set out_misfit = 'must be JSON, as payload_shape of its kind says';
    elseif json_type(in_payload) <> 'OBJECT' then
        set out_misfit = 'must be an object, as payload_shape of its kind says';
    /*M!100600 elseif json_length(in_payload) <> json_length(json_keys(in_payload)) then
        set out_misfit = 'must have no name twice, as its kind has a payload_shape'; */
    else
        -- no path finds a name that is spelt otherwise, or that begins with a -
        /*M!100600 if locate('\\', json_keys(in_payload)) > 0 or locate('"-', json_keys(in_shape)) > 0 then
            set v_mark = '_', v_values = json_extract(in_payload, '$.*');
            select json_objectagg(concat(v_mark, n.name), json_extract(v_values, concat('$[', n.place - 1, ']')))
            into in_payload
            from json_table(json_keys(in_payload), '$[*]' columns (place for ordinality, name text character set utf8mb4 path '$')) n;
        end if; */
        select f.name, f.type into v_name, v_type
        from (
            select n.name, json_unquote(json_extract(v_types, concat('$[', n.place - 1, ']'))) as type,
                json_extract(in_payload, concat('$.', json_quote(concat(v_mark, n.name)))) as value
            from json_table(json_keys(in_shape), '$[*]' columns (place for ordinality, name text character set utf8mb4 path '$')) n) f
        where case f.type when 'number' then json_type(f.value) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')
            when 'integer' then json_type(f.value) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')
                and f.value + 0e0 = floor(f.value + 0e0)
            else json_type(f.value) = upper(f.type) end is not true
        order by f.name collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ limit 1;
        if v_name is not null then
            set out_misfit = concat('must have ', json_quote(left(v_name, 40)), ' as ', v_type,
                ', as payload_shape of its kind says');
        end if;
    end if;
end;
--;
-- calls: _queue_fail, _queue_misfit
drop procedure if exists _queue_check_fit;
--;
create procedure _queue_check_fit(in in_shape longtext character set utf8mb4, in in_payload longtext character set utf8mb4, in in_name varchar(100) character set utf8mb4)
    comment 'Refuses a payload that is not of its kind.
in_shape: payload_shape of the kind, not NULL. in_payload: the payload; NULL: it is binary. in_name: the parameter''s
name for the message.
Errors: PQ003.'
begin
    declare v_misfit varchar(500) character set utf8mb4;
    call _queue_misfit(in_shape, in_payload, v_misfit);
    if v_misfit is not null then
        call _queue_fail('PQ003', in_name, in_payload, v_misfit);
    end if;
end;
--;
-- calls: _queue_check_headers, _queue_check_options, _queue_check_roles, _queue_fail, _queue_instant, _queue_integer,
--     _queue_number, _queue_semaphores, _queue_text
drop procedure if exists _queue_push_options;
--;
create procedure _queue_push_options(in in_options longtext character set utf8mb4, in in_now bigint, out out_scheduled_at bigint,
    out out_priority smallint, out out_headers longtext character set utf8mb4, out out_attempts int, out out_max_attempts int,
    out out_on_duplicate varchar(20) character set utf8mb4, out out_route longtext character set utf8mb4, out out_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    out out_semaphores longtext character set utf8mb4)
    comment 'The options of a push, checked.
in_options: see queue_push; NULL for the defaults. in_now: the time of the call.
Result: each option, or its default; but for group, which is for _queue_enrol.
Errors: PQ002, and PQ003 for headers.'
begin
    declare v_value bigint;
    declare v_delay decimal(30,6);
    declare v_bad int default 0;
    declare v_text longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    set out_scheduled_at = in_now, out_priority = 0, out_headers = null, out_attempts = 0, out_max_attempts = null,
        out_on_duplicate = 'ignore', out_route = null, out_order = null, out_semaphores = null;
    if in_options is not null then
        call _queue_check_options(in_options,
            concat('delay_seconds,scheduled_at,priority,headers,attempts,',
            'max_attempts,on_duplicate,route,group,order_key,semaphores'), 'options');
        if json_contains_path(in_options, 'one', '$.delay_seconds', '$.scheduled_at') then
            call _queue_number(in_options, 'delay_seconds', 0, 253402300799, v_delay);
            call _queue_instant(in_options, 'scheduled_at', v_value);
            set out_scheduled_at = coalesce(v_value, in_now + coalesce(v_delay, 0) * 1000000);
            if v_value is not null and v_delay is not null then
                call _queue_fail('PQ002', 'scheduled_at', json_unquote(json_extract(in_options, '$.scheduled_at')),
                    'must not stand beside delay_seconds');
            elseif out_scheduled_at > 253402300799999999 then -- the last microsecond of the year 9999
                call _queue_fail('PQ002', 'delay_seconds', json_unquote(json_extract(in_options, '$.delay_seconds')),
                    'must end before the year 10000');
            end if;
        end if;
        if json_contains_path(in_options, 'one', '$.priority') then
            call _queue_integer(in_options, 'priority', -32768, 32767, v_value);
            set out_priority = coalesce(v_value, 0);
        end if;
        if json_contains_path(in_options, 'one', '$.headers') then
            call _queue_check_headers(json_extract(in_options, '$.headers'), 'headers', out_headers);
        end if;
        if json_contains_path(in_options, 'one', '$.attempts', '$.max_attempts') then
            call _queue_integer(in_options, 'attempts', 0, 1000000000, out_attempts);
            call _queue_integer(in_options, 'max_attempts', 1, 1000000000, out_max_attempts);
            set out_attempts = coalesce(out_attempts, 0);
        end if;
        if json_contains_path(in_options, 'one', '$.on_duplicate') then
            call _queue_text(in_options, 'on_duplicate', v_text);
            if v_text not in ('ignore', 'replace', 'keep_time', 'push_back') then
                call _queue_fail('PQ002', 'on_duplicate', v_text, 'must be ignore, replace, keep_time or push_back');
            end if;
            set out_on_duplicate = coalesce(v_text, 'ignore');
        end if;
        if json_contains_path(in_options, 'one', '$.semaphores') then
            call _queue_semaphores(in_options, out_semaphores);
        end if;
        if json_contains_path(in_options, 'one', '$.route', '$.group', '$.order_key') then
            call _queue_text(in_options, 'order_key', v_text);
            if char_length(v_text) not between 1 and 200 then
                call _queue_fail('PQ002', 'order_key', v_text, 'must have 1 to 200 characters');
            end if;
            set out_order = v_text, out_route = json_extract(in_options, '$.route');
            set out_route = if(json_type(out_route) = 'NULL', null, out_route);
            select count(*) into v_bad from json_table(out_route, '$[*]' columns (kind json path '$')) r
            where json_type(r.kind) <> 'STRING' or char_length(json_unquote(r.kind)) not between 1 and 95;
            if json_type(out_route) <> 'ARRAY' or json_length(out_route) > 32 or v_bad > 0 then
                call _queue_fail('PQ002', 'route', out_route,
                    'must be an array of at most 32 kinds of 1 to 95 characters');
            elseif json_length(out_route) = 0 then
                set out_route = null;
            elseif out_route is not null then
                call _queue_check_roles(out_route);
            end if;
            call _queue_text(in_options, 'group', v_text);
            if v_text is not null and char_length(v_text) not between 1 and 100 then
                call _queue_fail('PQ002', 'group', v_text, 'must have 1 to 100 characters');
            end if;
        end if;
    end if;
end;
--;
-- calls: _queue_check_name, _queue_check_payload, _queue_fail, _queue_merge_options, _queue_push_options
drop procedure if exists _queue_message;
--;
create procedure _queue_message(in in_message longtext character set utf8mb4, in in_number bigint, in in_defaults longtext character set utf8mb4, in in_now bigint,
    out out_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, out out_payload longtext character set utf8mb4, out out_scheduled_at bigint, out out_priority smallint,
    out out_headers longtext character set utf8mb4, out out_attempts int, out out_max_attempts int, out out_on_duplicate varchar(20) character set utf8mb4,
    out out_route longtext character set utf8mb4, out out_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, out out_semaphores longtext character set utf8mb4)
    comment 'One message of a batch, checked.
in_message: {key, payload, and push options}. in_number: its place, from 1. in_defaults: the options of the batch; those
of the message win. in_now: the time of the call.
Result: its key, and each option, or its default.
Errors: PQ001, PQ002, PQ003, naming the place as messages[0], messages[1], ….
out_key, out_payload, …: the result, with the payload.'
begin
    declare v_place varchar(60) character set utf8mb4 default concat('messages[', in_number - 1, ']');
    declare v_own, v_options longtext character set utf8mb4;
    if coalesce(json_type(in_message), 'NULL') <> 'OBJECT' then
        call _queue_fail('PQ001', v_place, coalesce(in_message, 'null'),
            'must be an object {key, payload, and push options}');
    elseif json_type(json_extract(in_message, '$.key')) <> 'STRING' then
        call _queue_fail('PQ001', concat(v_place, '.key'), json_unquote(json_extract(in_message, '$.key')),
            'must be a string');
    end if;
    set out_key = left(json_unquote(json_extract(in_message, '$.key')), 201);
    call _queue_check_name(out_key, 200, concat(v_place, '.key'));
    set out_payload = coalesce(json_extract(in_message, '$.payload'), 'null');
    call _queue_check_payload(out_payload, concat(v_place, '.payload'));
    set v_own = json_remove(in_message, '$.key', '$.payload');
    if json_contains_path(v_own, 'one', '$.delay_seconds', '$.scheduled_at') then
        set in_defaults = json_remove(in_defaults, '$.delay_seconds', '$.scheduled_at');
    end if;
    call _queue_merge_options(in_defaults, v_own, v_options);
    call _queue_push_options(v_options, in_now, out_scheduled_at, out_priority, out_headers, out_attempts,
        out_max_attempts, out_on_duplicate, out_route, out_order, out_semaphores);
end;
--;
-- calls: _queue_random
drop procedure if exists _queue_key;
--;
create procedure _queue_key(in in_now bigint, out out_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'A key for a message that came without: a UUID of version 7, so that new keys stand at the end of the index.
in_now: the time of the call.
Result: the UUID; its order is that of the microseconds, then random.
Where the idea comes from: RFC 9562, section 6.2, method 3.
differs: the result is out_key.'
begin
    declare v_random varchar(64) character set ascii;
    declare v_time char(12) character set ascii default lpad(hex(in_now div 1000), 12, '0');
    call _queue_random(v_random);
    set out_key = lower(concat_ws('-', left(v_time, 8), right(v_time, 4),
        concat('7', lpad(hex(in_now % 1000 * 4096 div 1000), 3, '0')),
        concat(elt(1 + ascii(v_random) % 4, '8', '9', 'a', 'b'), substr(v_random, 2, 3)), substr(v_random, 5, 12)));
end;
--;
-- calls: _queue_index, _queue_line_up
-- changes: delayed_queue
drop procedure if exists _queue_put_onto;
--;
create procedure _queue_put_onto(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_payload longtext character set utf8mb4,
    in in_payload_bytes longblob, in in_headers longtext character set utf8mb4, in in_now bigint, in in_scheduled_at bigint,
    in in_on_duplicate varchar(20) character set utf8mb4, out out_entry bigint, out out_outcome varchar(10) character set utf8mb4)
    comment 'A push onto a key that is taken.
in_on_duplicate: replace (content and time), keep_time (content only) or push_back (time only); content is the payload
with its headers. The other parameters are as in _queue_put.
Result: replaced; held, where somebody holds the message: the newest is kept beside it and delivered once the present
delivery is done; NULL where the message has gone. out_entry: the message.
Locks: the message.
differs: the result is out_outcome.'
begin
    declare v_content boolean default in_on_duplicate in ('replace', 'keep_time');
    declare v_time boolean default in_on_duplicate in ('replace', 'push_back');
    declare v_seen, v_reserved_at, v_scheduled_at, v_pending_at, v_at, v_ready_at bigint;
    declare v_rank int;
    declare v_newer, v_placed, v_guarded boolean;
    declare continue handler for not found begin end;
    -- by its entry, since who locks the key first waits crosswise with an ack; by its key where an old snapshot has
    -- another entry
    select q.entry into v_seen from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
    select q.entry into out_entry from delayed_queue q where q.entry = v_seen for update;
    if out_entry is null then
        select q.entry into out_entry from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
    end if;
    select q.reserved_at, q.scheduled_at, q.pending_at, q.pending_payload is not null or q.pending_bytes is not null,
        q.order_waits is not true, q.semaphores is not null, q.ready_rank, q.ready_at
    into v_reserved_at, v_scheduled_at, v_pending_at, v_newer, v_placed, v_guarded, v_rank, v_ready_at
    from delayed_queue q where q.entry = out_entry for update;
    if out_entry is null then
        set out_outcome = null;
    elseif v_reserved_at is not null and v_scheduled_at > in_now then
        update delayed_queue q
        set q.pending = true,
            q.pending_payload = case when v_content then in_payload else q.pending_payload end,
            q.pending_bytes = case when v_content then in_payload_bytes else q.pending_bytes end,
            q.pending_headers = case when v_content then in_headers else q.pending_headers end,
            q.pending_at = case when v_time then in_scheduled_at else q.pending_at end
        where q.entry = out_entry;
        if v_content then
            call _queue_index(json_array(out_entry + 0));
        end if;
        set out_outcome = 'held';
    else
        -- a reserve locks the place first and then the row: the victim of a deadlock is to be a read, for MariaDB calls
        -- no handler where an update is one
        select q.entry into v_seen from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.ready_rank = v_rank and q.ready_at = v_ready_at and q.entry = out_entry
        for update;
        -- what nobody holds changes at once; an expired hold ends here, so that its late ack can't remove what is new
        set v_at = case when v_time then in_scheduled_at when v_reserved_at is null then v_scheduled_at
            else greatest(coalesce(v_pending_at, in_now), in_now) end;
        update delayed_queue q
        set q.payload = case when v_content then in_payload when v_newer then q.pending_payload else q.payload end,
            q.payload_bytes = case when v_content then in_payload_bytes when v_newer then q.pending_bytes
            else q.payload_bytes end, q.headers = case when v_content then in_headers
                when v_newer then q.pending_headers else q.headers end,
            q.pending = null, q.pending_payload = null, q.pending_bytes = null, q.pending_headers = null,
                q.pending_at = null,
            q.scheduled_at = v_at,
            -- what waits in a line goes on waiting
            q.ready_rank = if(v_at <= in_now and v_placed, -q.priority, null),
            q.ready_at = if(v_at <= in_now and v_placed, v_at, null),
            q.due_at = if(v_at > in_now and v_placed, v_at, null),
            -- a message that was sent to wait after its hold has its secret still
            q.attempts = if(q.secret is null, q.attempts, 0),
            q.reserved_at = null, q.reserved_by = null, q.secret = null
        where q.entry = out_entry;
        if v_guarded then
            call _queue_line_up(json_array(out_entry + 0));
        end if;
        set out_outcome = 'replaced';
    end if;
end;
--;
-- calls: _queue_enrol, _queue_entry, _queue_index, _queue_join_line, _queue_line_up, _queue_log, _queue_put_onto
-- changes: delayed_queue, queue_group_member
drop procedure if exists _queue_put;
--;
create procedure _queue_put(inout out_entry bigint, in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_payload longtext character set utf8mb4, in in_payload_bytes longblob, in in_headers longtext character set utf8mb4, in in_priority smallint,
    in in_now bigint, in in_scheduled_at bigint, in in_attempts int, in in_max_attempts int,
    in in_on_duplicate varchar(20) character set utf8mb4, in in_since bigint, in in_route longtext character set utf8mb4, in in_group varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_member bigint, in in_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_semaphores longtext character set utf8mb4, out out_scheduled_at bigint,
    out out_outcome varchar(10) character set utf8mb4)
    comment 'Puts one message into a kind, whose columns are checked already: into the index of filters, the lines of
its semaphores and its order key, its group and the log too.
in_on_duplicate: what to do where the key is taken. in_since: a key that has ended later than that, a time in
microseconds, is ignored; NULL: none is. in_now: the time of the call. in_group: the group whose new member it is,
in_member: the member that it goes on as; NULL: none. The other parameters are the columns.
Result: scheduled_at of the message that is there now; outcome: created, ignored, replaced, held; entry, where it is
created or replaced.
Locks: the message of that key, where in_on_duplicate changes it; waits for a transaction that is putting the same key.
differs: a row can''t be a parameter here. out_entry: the number of the entry, which comes from _queue_epoch, so that a
batch can have its numbers before its keys are put in, and LAST_INSERT_ID() stays that of the caller. NULL: a new one.
Whoever gives one has many, and sees to their index, group, turns and log when all are in. The memory of keys is
read again once the message is in, by a locking read, which sees what is committed.'
begin
    declare v_many boolean default out_entry is not null;
    declare v_seen, v_ended_at bigint;
    declare v_created int;
    declare v_filter, v_logs boolean;
    declare continue handler for not found begin end;
    put: loop
        set v_seen = null, out_outcome = null;
        if in_since is not null then
            select max(d.ended_at) into v_ended_at from queue_dedup d
            where d.p_kind = in_kind and d.p_key = in_key lock in share mode;
            if v_ended_at > in_since then
                set out_outcome = 'ignored'; -- also where it came back, by a move, say
                select max(q.scheduled_at) into out_scheduled_at from delayed_queue q
                where q.p_kind = in_kind and q.p_key = in_key;
                leave put;
            end if;
        end if;
        if @pyqueue_own then
            -- what is there needs no lock on its key, which would be taken crosswise with an ack; an old snapshot
            -- wouldn't do
            select q.entry, q.scheduled_at into v_seen, out_scheduled_at from delayed_queue q
            where q.p_kind = in_kind and q.p_key = in_key;
            if v_seen is not null and in_on_duplicate = 'ignore' then
                set out_outcome = 'ignored';
                leave put;
            elseif v_seen is not null then
                call _queue_put_onto(in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_now, in_scheduled_at,
                    in_on_duplicate, v_seen, out_outcome);
                if out_outcome is not null then
                    leave put;
                end if;
            end if;
        end if;
        if out_entry is null then
            call _queue_entry(out_entry);
        end if;
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at, route, member,
            order_key, semaphores)
        values (out_entry, in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_priority, in_scheduled_at,
            in_scheduled_at, in_now, in_attempts, in_max_attempts, if(in_scheduled_at <= in_now
                and in_semaphores is null, -in_priority, null), if(in_scheduled_at <= in_now
                and in_semaphores is null, in_scheduled_at, null), if(in_scheduled_at > in_now, in_scheduled_at, null),
            in_route, in_member, in_order, in_semaphores)
        on duplicate key update entry = delayed_queue.entry;
        -- looked at, because how many rows have changed depends on the client's flags
        select count(*), max(k.filter_index), max(k.log_seconds > 0) into v_created, v_filter, v_logs
        from delayed_queue q left join queue_kind k on k.p_kind = q.p_kind
        where q.entry = out_entry and q.p_kind = in_kind and q.p_key = in_key;
        if v_created > 0 then
            set out_scheduled_at = in_scheduled_at, out_outcome = 'created';
            leave put;
        elseif in_on_duplicate <> 'ignore' then
            call _queue_put_onto(in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_now, in_scheduled_at,
                in_on_duplicate, v_seen, out_outcome);
        end if;
        set out_scheduled_at = null;
        select q.scheduled_at into out_scheduled_at from delayed_queue q
        where q.p_kind = in_kind and q.p_key = in_key lock in share mode;
        if out_scheduled_at is not null and (in_on_duplicate = 'ignore' or out_outcome is not null) then
            set out_outcome = coalesce(out_outcome, 'ignored');
            leave put;
        end if; -- else it went away in between, or the number was taken: it can be put in now
        set out_entry = null;
    end loop;
    if out_outcome = 'created' and in_since is not null then
        select max(d.ended_at) into v_ended_at from queue_dedup d
        where d.p_kind = in_kind and d.p_key = in_key lock in share mode;
        if v_ended_at > in_since then
            delete q from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
            set out_scheduled_at = null, out_outcome = 'ignored';
        end if;
    elseif out_outcome in ('replaced', 'held') then
        -- by its entry: an old snapshot has another one of that key, too, and finds that
        select q.entry, q.scheduled_at, k.filter_index, k.log_seconds > 0 and in_on_duplicate <> 'push_back'
        into out_entry, out_scheduled_at, v_filter, v_logs
        from delayed_queue q left join queue_kind k on k.p_kind = q.p_kind
        where q.entry = v_seen;
    end if;
    if v_filter and not v_many and out_outcome in ('created', 'replaced') then
        call _queue_index(json_array(out_entry + 0));
    end if;
    if out_outcome = 'created' and in_member is not null then
        update queue_group_member m set m.entry = out_entry, m.error = null
        where m.member = in_member and m.done_at is null;
    end if;
    if out_outcome = 'created' and in_order is not null and not v_many then
        call _queue_join_line(json_array(out_entry + 0));
    elseif out_outcome = 'created' and in_semaphores is not null and not v_many then
        call _queue_line_up(json_array(out_entry + 0));
    end if;
    if out_outcome = 'created' and in_group is not null and not v_many then
        call _queue_enrol(json_array(json_array(out_entry + 0, 'pushed', in_group)));
    end if;
    if v_logs and not v_many and out_outcome in ('created', 'replaced') then
        call _queue_log(out_entry, if(out_outcome = 'created', 'pushed', 'replaced'), null, null, null, in_now);
    end if;
end;
--;
-- calls: _queue_check_fit, _queue_check_name, _queue_check_roles, _queue_entry, _queue_fail, _queue_key,
--     _queue_push_options, _queue_put, queue_now
-- changes: delayed_queue
drop procedure if exists _queue_push;
--;
create procedure _queue_push(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_payload longtext character set utf8mb4,
    in in_payload_bytes longblob, in in_options longtext character set utf8mb4, out out_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, out out_scheduled_at bigint,
    out out_outcome varchar(10) character set utf8mb4)
    comment 'Puts one message, whose payload is checked already but for payload_shape: queue_push and queue_push_bytes.
in_payload, in_payload_bytes: one of the two; neither: a payload of JSON null. The other parameters, the result, the
errors and the locks are those of queue_push.
out_key, out_scheduled_at, out_outcome: the result.'
push: begin
    declare v_now, v_since, v_at, v_entry bigint;
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default left(in_kind, 100); -- a text takes longer to compare
    declare v_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_shape, v_headers, v_route, v_semaphores longtext character set utf8mb4;
    declare v_priority smallint;
    declare v_attempts, v_max_attempts int;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    declare v_draining, v_restricted, v_follows boolean default false;
    declare v_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare continue handler for not found begin end;
    call queue_now(v_now);
    set in_payload = coalesce(in_payload, if(in_payload_bytes is null, 'null', null));
    call _queue_check_name(in_kind, 95, 'kind');
    set out_key = in_key;
    if in_key is null then
        call _queue_key(v_now, out_key);
    end if;
    call _queue_check_name(out_key, 200, 'key');
    set v_key = out_key;
    select k.payload_shape, v_now - nullif(k.dedup_seconds, 0) * 1000000, k.draining, k.roles is not null,
        k.filter_index or k.log_seconds > 0
    into v_shape, v_since, v_draining, v_restricted, v_follows
    from queue_kind k where k.p_kind = v_kind;
    if v_restricted then
        call _queue_check_roles(json_array(in_kind));
    end if;
    if v_draining then
        call _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    elseif v_shape is not null then
        call _queue_check_fit(v_shape, in_payload, 'payload');
    end if;
    if in_options is null and v_since is null and not v_follows and @pyqueue_own then
        -- most pushes: a new key in a kind that asks for nothing more; as _queue_put does, see there
        select q.scheduled_at into out_scheduled_at from delayed_queue q
        where q.p_kind = v_kind and q.p_key = v_key;
        if out_scheduled_at is not null then
            set out_outcome = 'ignored';
            leave push;
        end if;
        call _queue_entry(v_entry);
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, scheduled_at, scheduled_at_initially,
            created_at, ready_rank, ready_at)
        values (v_entry, v_kind, v_key, in_payload, in_payload_bytes, v_now, v_now, v_now, 0, v_now)
        on duplicate key update entry = delayed_queue.entry;
        select q.scheduled_at, 'created' into out_scheduled_at, out_outcome from delayed_queue q
        where q.entry = v_entry and q.p_kind = v_kind and q.p_key = v_key;
        if out_outcome is not null then
            leave push;
        end if;
        set v_entry = null;
    end if;
    call _queue_push_options(in_options, v_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
        v_on_duplicate, v_route, v_order, v_semaphores);
    call _queue_put(v_entry, v_kind, v_key, in_payload, in_payload_bytes, v_headers, v_priority, v_now, v_at,
        v_attempts, v_max_attempts, v_on_duplicate, v_since, v_route, json_value(in_options, '$.group'), null, v_order,
        v_semaphores, out_scheduled_at, out_outcome);
end;
--;
-- calls: _queue_epoch
-- changes: delayed_queue
drop procedure if exists _queue_push_plain;
--;
create procedure _queue_push_plain(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_messages longtext character set utf8mb4, in in_now bigint,
    in in_scheduled_at bigint, in in_priority smallint, in in_headers longtext character set utf8mb4, in in_attempts int,
    in in_max_attempts int, in in_since bigint, in in_route longtext character set utf8mb4, in in_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_semaphores longtext character set utf8mb4, out out_follows boolean, out out_entries longtext character set ascii,
    out out_outcomes longtext character set ascii)
    comment 'queue_push_many for messages that are a key and a payload each, perhaps with a time, a priority, headers,
attempts, a group and an order key or a semaphore of their own, in a few statements for all of them; taken keys are left
alone. Payload and headers must be small beside sort_buffer_size: MySQL sorts them with the key, and fails where it
can''t.
in_kind, in_messages: those of queue_push_many, an array. in_now: the time of the call. in_since: see _queue_put.
The other parameters are the columns, of all messages that don''t say otherwise.
out_follows: whether one has a group, an order key or a semaphore of its own, to which _queue_push_batch sees;
NULL: none.
out_entries: the numbers of those that are put in, 19 digits a message, in their order.
out_outcomes: a letter a message, in their order: c for created, i for ignored; NULL where one of them is something
else, or has what may be wrong, which is left to that, too.
Locks: keys are put in in their order; a key that is there already is seen without a lock, as in _queue_put.
differs: on PostgreSQL it is a part of _queue_push_batch.'
begin
    declare v_list, v_own longtext character set ascii;
    declare v_odd, v_more int;
    declare v_turns boolean default false;
    declare v_shift, v_first bigint;
    call _queue_epoch(v_shift);
    -- the numbers of the entries, of 19 digits each, in the order of the batch
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(m.entry), sum(not m.plain), sum(m.more) into v_list, v_odd, v_more
    from (
        select lpad(((uuid_short() << 8) & 9223372036854775807) + v_shift, 19, '0') as entry,
            (json_type(j.name) = 'STRING' and char_length(json_unquote(j.name)) between 1 and 200
                and length(j.payload) <= @@sort_buffer_size div 16) is true as plain,
            json_length(j.message) <> 2 as more
        from json_table(in_messages, '$[*]' columns (message json path '$', name json path '$.key',
            payload json path '$.payload')) j
            limit 1000000000) m;
    -- regexp_replace took longer than all the rest
    set out_entries = replace(replace(replace(replace(v_list, '[', ''), '"', ''), ',', ''), ' ', '');
    if v_odd = 0 and v_more > 0 then
        -- the times and the priorities
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select replace(replace(replace(replace(json_arrayagg(m.own), '[', ''), '"', ''), ',', ''), ' ', ''),
            sum(not m.plain), max(m.turns), max(m.turns or m.crowds)
        into v_own, v_odd, v_turns, out_follows
        from (
            select concat(lpad(r.at, 18, '0'), lpad(32768e0 + r.grade, 5, '0')) as own,
                (json_length(r.message) = 2 + (r.delay is not null) + (r.time is not null) + (r.priority is not null)
                    + (r.headers is not null) + (r.most is not null) + (r.crowd is not null) + (r.line is not null)
                    + (r.names is not null)
                and locate('\\', json_keys(r.message)) = 0
                and r.at between 100000000000000 and 253402300799999999 and r.grade between -32768 and 32767
                and (r.time like r.at) is not false and (r.priority like r.grade) is not false
                and (r.delay is null or r.time is null and json_type(r.delay) in ('INTEGER', 'UNSIGNED INTEGER',
                    'DOUBLE') and r.delay + 0e0 >= 0)
                and (r.headers is null or json_type(r.headers) = 'OBJECT' and json_length(r.headers) > 0
                    and locate('[', r.headers) = 0 and locate('{', r.headers, 2) = 0
                    and length(r.message) <= @@sort_buffer_size div 16)
                and (r.most is null or r.most regexp '^[0-9]{1,10}$' and r.most + 0e0 between 1 and 1000000000)
                and (r.crowd is null or json_type(r.crowd) = 'STRING'
                    and char_length(json_unquote(r.crowd)) between 1 and 100)
                and (r.line is null or json_type(r.line) = 'STRING'
                    and char_length(json_unquote(r.line)) between 1 and 200 and r.names is null
                    and in_semaphores is null)
                and (r.names is null or in_order is null and json_type(r.names) = 'ARRAY' and json_length(r.names) = 1
                    and json_type(json_extract(r.names, '$[0]')) = 'STRING' and locate('\\', r.names) = 0
                    and (select count(*) from queue_semaphore s
                        where s.name = convert(json_value(r.names, '$[0]') using utf8mb4) collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */) > 0))
                is true as plain,
                r.line is not null or r.names is not null as turns, r.crowd is not null as crowds
            from (
                select j.*, coalesce(cast(j.priority as signed), in_priority) as grade,
                    coalesce(cast(j.time as signed), cast(in_now + round(cast(concat(j.delay) as decimal(60,30)), 6)
                        * 1000000 as signed), in_scheduled_at) as at
                from json_table(in_messages, '$[*]' columns (message json path '$', priority json path '$.priority',
                    delay json path '$.delay_seconds', time json path '$.scheduled_at',
                    headers json path '$.headers', most json path '$.max_attempts', crowd json path '$.group',
                    line json path '$.order_key', names json path '$.semaphores')) j) r
            limit 1000000000) m;
    end if;
    if v_odd = 0 then
        insert into delayed_queue (entry, p_kind, p_key, payload, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at, route, order_key,
            semaphores)
        select cast(substr(out_entries, 19 * r.place - 18, 19) as signed), in_kind, r.p_key, r.payload,
            coalesce(json_extract(r.headers, '$'), in_headers), r.priority, r.at, r.at, in_now, in_attempts,
            coalesce(r.max_attempts, in_max_attempts), if(r.at <= in_now and in_semaphores is null, -r.priority, null),
            if(r.at <= in_now and in_semaphores is null, r.at, null), if(r.at > in_now, r.at, null), in_route, in_order,
            in_semaphores
        from (
            select j.*, if(v_own is null, in_scheduled_at, cast(substr(v_own, 23 * j.place - 22, 18) as signed)) as at,
                if(v_own is null, in_priority, cast(substr(v_own, 23 * j.place - 4, 5) as signed) - 32768) as priority
            from json_table(in_messages, '$[*]' columns (place for ordinality, p_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
                path '$.key', payload json path '$.payload', headers json path '$.headers',
                max_attempts int path '$.max_attempts')) j) r
            left join delayed_queue q force index (delayed_queue_key) -- in the caller's transaction it would be locked
                on q.p_kind = if(@pyqueue_own, in_kind, null) and q.p_key = r.p_key
            left join queue_dedup d force index (primary)
                on d.p_kind = if(in_since is null, null, in_kind) and d.p_key = r.p_key
        where q.entry is null and (d.ended_at <= in_since) is not false
        order by r.p_key, r.place
        on duplicate key update entry = delayed_queue.entry;
        if row_count() = length(out_entries) div 19 and in_since is null then
            select max(q.entry) into v_first from delayed_queue q where q.entry = cast(left(out_entries, 19) as signed);
        end if;
        if v_first is not null then
            -- of a client that counts the rows that are found, row_count() of the insert counts taken keys as well
            update delayed_queue q set q.created_at = q.created_at where q.entry = v_first;
            if row_count() = 0 then
                set out_outcomes = repeat('c', length(out_entries) div 19);
            end if;
        end if;
        if in_since is not null then -- what was held until just now, as in _queue_put
            /*M!100600 set statement sql_safe_updates = 0 for */ delete q from json_table(v_list, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
                straight_join queue_dedup d force index (primary) on d.p_kind = in_kind and d.p_key = q.p_key
            where d.ended_at > in_since;
        end if;
        if v_turns then -- apart: all others would pay for it
            /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(in_messages, '$[*]' columns (place for ordinality,
                order_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.order_key', semaphores json path '$.semaphores')) j
                straight_join delayed_queue q force index (primary)
                    on q.entry = cast(substr(out_entries, 19 * j.place - 18, 19) as signed)
            set q.order_key = coalesce(j.order_key, in_order),
                q.semaphores = coalesce(json_extract(j.semaphores, '$'), in_semaphores);
        end if;
        if out_outcomes is null then -- looked at, as in _queue_put
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select replace(replace(replace(replace(json_arrayagg(s.letter), '[', ''), '"', ''), ',', ''), ' ',
                '') into out_outcomes
            from (
                select if(q.entry is null, 'i', 'c') as letter
                from /*M!100600 (select * from */ json_table(v_list, '$[*]' columns (place for ordinality, entry bigint path '$')) r /*M!100600 limit 1000000000) r */
                    left join delayed_queue q force index (primary) on q.entry = r.entry
                order by r.place limit 1000000000) s;
        end if;
    end if;
end;
--;
-- calls: _queue_lock
drop procedure if exists _queue_lock_keys;
--;
create procedure _queue_lock_keys(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_messages longtext character set utf8mb4, out out_last bigint)
    comment 'Locks the messages of a kind whose keys a batch has, before any of them changes.
in_kind: the kind. in_messages: those of queue_push_many, an array.
Result: the last of their entries; 0: there are none.
Locks: as said, in the order of their entries.
differs: the result is out_last. On PostgreSQL it is a part of _queue_line.'
begin
    declare v_list longtext character set utf8mb4;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select coalesce(max(q.entry), 0), json_arrayagg(json_array(q.entry + 0)) into out_last, v_list
    from json_table(in_messages, '$[*]' columns (p_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.key')) r
        straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = in_kind and q.p_key = r.p_key;
    call _queue_lock(coalesce(v_list, '[]'));
end;
--;
-- calls: _queue_epoch, _queue_lock_keys, _queue_message, _queue_push_options, _queue_put
drop procedure if exists _queue_push_each;
--;
create procedure _queue_push_each(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_messages longtext character set utf8mb4, in in_options longtext character set utf8mb4,
    in in_now bigint, in in_since bigint, in in_locked bigint, inout out_entries longtext character set ascii,
    inout out_outcomes longtext character set ascii)
    comment 'Puts messages of a batch in one by one, in the order of their keys.
in_since: see _queue_put. in_locked: the last entry of those that are locked, see _queue_lock_keys; NULL: none changes.
out_entries: see _queue_push_plain; those of messages that change, too. out_outcomes: before the call, a letter a
message, and those that are i are put in; NULL: all of them. The other parameters, the result, the errors and the locks
are those of _queue_push_batch.
differs: on PostgreSQL it is a part of _queue_push_batch.'
begin
    declare v_shift, v_at, v_put_at, v_entry, v_new bigint;
    declare v_plain, v_as_all boolean default false;
    declare v_deep boolean default json_depth(in_messages) > 33;
    declare v_key, v_before text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_message, v_payload, v_headers, v_route, v_semaphores longtext character set utf8mb4;
    declare v_priority smallint;
    declare v_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_place, v_attempts, v_max_attempts int;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    declare v_outcome varchar(10) character set utf8mb4;
    declare c cursor for
        -- most messages are a key and a payload: those are checked here, all others one by one
        select r.place, r.entry, m.message, json_extract(m.message, '$.payload'), r.p_key, (json_length(m.message) = 2
            and json_type(json_extract(m.message, '$.key')) = 'STRING' and char_length(r.p_key) between 1 and 200
            and json_extract(m.message, '$.payload') is not null and not v_deep) is true
        from (
            -- numbered in the order of the batch, though put in in the order of the keys
            select k.place, k.p_key, ((uuid_short() << 8) & 9223372036854775807) + v_shift as entry
            from json_table(in_messages, '$[*]'
                columns (place for ordinality, p_key varchar(201) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.key')) k
            limit 1000000000) r
            -- apart, so that what is sorted is small
            straight_join (
                select j.place, j.message from json_table(in_messages, '$[*]' columns (place for ordinality, message json path '$')) j
                limit 1000000000) m on m.place = r.place
        where substr(out_outcomes, r.place, 1) = 'i'
        order by r.p_key, r.place;
    declare continue handler for not found begin end;
    set out_outcomes = coalesce(out_outcomes, repeat('i', json_length(in_messages))),
        out_entries = coalesce(out_entries, repeat('0', 19 * json_length(in_messages)));
    call _queue_epoch(v_shift);
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_place, v_new, v_message, v_payload, v_key, v_plain; end;
    if v_over then leave each_c; end if;
        if not v_plain then
            call _queue_message(v_message, v_place, in_options, in_now, v_key, v_payload, v_at, v_priority,
                v_headers, v_attempts, v_max_attempts, v_on_duplicate, v_route, v_order, v_semaphores);
        elseif not v_as_all then -- once, where one after another has no options of its own
            call _queue_push_options(in_options, in_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
                v_on_duplicate, v_route, v_order, v_semaphores);
        end if;
        set v_as_all = v_plain, v_entry = null;
        if v_on_duplicate <> 'ignore' and not v_key <=> v_before then
            select max(q.entry) into v_entry from delayed_queue q where q.p_kind = in_kind and q.p_key = v_key;
        end if;
        if v_entry > in_locked then -- it came after that, perhaps with others
            call _queue_lock_keys(in_kind, in_messages, in_locked);
        end if;
        call _queue_put(v_new, in_kind, v_key, v_payload, null, v_headers, v_priority, in_now, v_at, v_attempts,
            v_max_attempts, v_on_duplicate, in_since, v_route, null, null, v_order, v_semaphores, v_put_at,
            v_outcome);
        set out_outcomes = insert(out_outcomes, v_place, 1, convert(left(v_outcome, 1) using ascii)),
            v_before = v_key;
        if v_outcome in ('created', 'replaced') then
            set out_entries = insert(out_entries, 19 * v_place - 18, 19, convert(lpad(v_new, 19, '0') using ascii));
        end if;
    end loop; end; close c;
end;
--;
-- calls: _queue_check_fit, _queue_check_roles, _queue_enrol, _queue_fail, _queue_index, _queue_join_line,
--     _queue_line_up, _queue_lock_keys, _queue_log_entries, _queue_push_each, _queue_push_options, _queue_push_plain
drop procedure if exists _queue_push_batch;
--;
create procedure _queue_push_batch(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_messages longtext character set utf8mb4, in in_options longtext character set utf8mb4,
    in in_now bigint, out out_outcomes longtext character set ascii)
    comment 'queue_push_many without its transaction: by _queue_push_plain; what that leaves, and what changes a
message that is there, by _queue_push_each; then what follows for all of them.
in_kind, in_messages, in_options, the errors and the locks: those of queue_push_many; the name of the kind is checked,
that messages are an array, and each has a key. in_now: the time of the call. out_outcomes: a letter a message, in their
order: c for created, i for ignored, r for replaced, h for held.'
begin
    declare v_since, v_at, v_locked, v_place bigint;
    declare v_follows, v_filter, v_logs, v_draining, v_restricted boolean default false;
    declare v_headers, v_shape, v_route, v_semaphores, v_payload, v_list, v_created longtext character set utf8mb4;
    declare v_entries longtext character set ascii;
    declare v_priority smallint;
    declare v_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_attempts, v_max_attempts int;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    declare c cursor for
        select j.place, coalesce(j.payload, 'null') from json_table(in_messages, '$[*]' columns (place for ordinality,
            keyed int exists path '$.key', payload json path '$.payload')) j
        where j.keyed order by j.place;
    declare continue handler for not found begin end;
    call _queue_push_options(in_options, in_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
        v_on_duplicate, v_route, v_order, v_semaphores);
    select k.payload_shape, in_now - nullif(k.dedup_seconds, 0) * 1000000, k.filter_index, k.log_seconds > 0,
        k.draining, k.roles is not null
    into v_shape, v_since, v_filter, v_logs, v_draining, v_restricted
    from queue_kind k where k.p_kind = in_kind;
    if v_restricted then
        call _queue_check_roles(json_array(in_kind));
    end if;
    if v_draining then
        call _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    end if;
    if v_shape is not null then
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_place, v_payload; end;
        if v_over then leave each_c; end if;
            call _queue_check_fit(v_shape, v_payload, concat('messages[', v_place - 1, '].payload'));
        end loop; end; close c;
    end if;
    if v_on_duplicate <> 'ignore' then
        call _queue_lock_keys(in_kind, in_messages, v_locked);
    end if;
    if json_depth(in_messages) <= 33 then
        call _queue_push_plain(in_kind, in_messages, in_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
            v_since, v_route, v_order, v_semaphores, v_follows, v_entries, out_outcomes);
    end if;
    if out_outcomes is null and v_locked is null and json_contains_path(in_messages, 'one', '$[*].on_duplicate') then
        call _queue_lock_keys(in_kind, in_messages, v_locked);
    end if;
    if out_outcomes is null or v_on_duplicate <> 'ignore' and locate('i', out_outcomes) > 0 then
        call _queue_push_each(in_kind, in_messages, in_options, in_now, v_since, v_locked, v_entries, out_outcomes);
        set v_follows = json_contains_path(in_messages, 'one', '$[*].group', '$[*].order_key', '$[*].semaphores');
    end if;
    set v_follows = v_follows or json_contains_path(in_options, 'one', '$.group', '$.order_key', '$.semaphores');
    if (char_length(out_outcomes) >= json_length(in_messages)) is not true then
        -- MariaDB now and then goes on with a call that is killed, without the value that it was working out
        signal sqlstate '70100' set mysql_errno = 1317, message_text = 'Query execution was interrupted';
    end if;
    set v_filter = v_filter or locate('r', out_outcomes) > 0; -- who had to wait asks anew
    if v_follows or v_filter or v_logs then -- not by their keys, of which an old snapshot may have others
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(s.entry + 0, s.event, s.group_name)),
            json_arrayagg(if(s.event = 'pushed', s.entry + 0, null)) into v_list, v_created
        from (
            select cast(substr(v_entries, 19 * r.place - 18, 19) as signed) as entry,
                case when substr(out_outcomes, r.place, 1) = 'c' then 'pushed'
                when coalesce(r.on_duplicate, v_on_duplicate) <> 'push_back' then 'replaced' end as event,
                if(substr(out_outcomes, r.place, 1) = 'c', if(r.own_group, r.group_name,
                    left(json_value(in_options, '$.group'), 100)), null) as group_name
            from /*M!100600 (select * from */ json_table(in_messages, '$[*]' columns (place for ordinality,
                group_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.group', own_group int exists path '$.group',
                on_duplicate varchar(20) character set utf8mb4 path '$.on_duplicate')) r /*M!100600 limit 1000000000) r */
            where substr(out_outcomes, r.place, 1) in ('c', 'r')
            order by r.place limit 1000000000) s;
    end if;
    if v_list is not null and v_follows then
        call _queue_join_line(v_created);
        call _queue_line_up(v_created);
        call _queue_enrol(v_list);
    end if;
    if v_list is not null and v_filter then
        call _queue_index(json_extract(v_list, '$[*][0]'));
    end if;
    if v_list is not null and v_logs then
        call _queue_log_entries(v_list, null, in_now);
    end if;
end;
--;
-- calls: _queue_check_payload, _queue_push
drop procedure if exists queue_push;
--;
create procedure queue_push(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_payload longtext character set utf8mb4,
    in in_options longtext character set utf8mb4)
    comment 'Puts one message into a kind.
in_kind: the kind, 1 to 95 characters.
in_key: the key, 1 to 200 characters; NULL: a time-ordered UUID. While the kind holds a message of that key, a second
push is no second message. The same is true for dedup_seconds of the kind after that message was acked, popped or
moved away.
in_payload: JSON, at most 31 levels deep, with the fields that payload_shape of the kind wants; NULL: the JSON null.
in_options: what else is to be known.
- delay_seconds: how long the message waits before it may be delivered. Not together with scheduled_at. Allowed: 0 or
  more, up to the year 9999. Default: 0.
- scheduled_at: the time from which it may be delivered. Allowed: microseconds since 1970-01-01 UTC, or ISO 8601 with
  an offset. Default: now.
- priority: a higher priority is delivered first. Allowed: -32768 to 32767. Default: 0.
- headers: data beside the payload. Allowed: an object of strings, numbers, booleans and nulls. Default: none.
- attempts: how many deliveries the message has behind it. Allowed: 0 to 1000000000. Default: 0.
- max_attempts: how many deliveries it may have. Allowed: 1 to 1000000000. Default: max_attempts of the kind.
- on_duplicate: what happens where the key is taken. ignore leaves the message that is there. replace changes its
  content (payload and headers) and its time. keep_time changes the content only. push_back changes the time only,
  which is a debounce. Allowed: ignore, replace, keep_time, push_back. Default: ignore.
- route: the kinds that the message goes through. Each ack moves it to the next one, and the last ack ends it. The
  route stays with a message that is given back, moved, dead or redriven. A push onto its key doesn''t change it.
  Allowed: an array of at most 32 kinds. Default: none.
- group: the group that the message becomes a member of, see queue_group. A push that is ignored makes no member.
  Allowed: 1 to 100 characters. Default: none.
- order_key: messages of the kind with the same order key are delivered one at a time, in the order of their pushes,
  whatever their priorities and delivery times. Those behind the first are in the state waiting until it is acked,
  popped, moved, dead or removed; its retries come before them. The order key stays with a message as its route does.
  Where the message moves to, it stands at the end of the line, and so does what was pushed onto it while it was held.
  A dead letter stands in no line. Allowed: 1 to 200 characters. Default: none.
- semaphores: the message is delivered only where it gets a permit of each of them, see queue_semaphore. Until then it
  waits in line. They stay with a message as its route does. Not together with order_key. Allowed: an array of 1 to 8
  names. Default: none.
Result: p_kind, p_key; scheduled_at, microseconds, of the message that is there now, NULL where its key is only
remembered; outcome: created, ignored, replaced, or held: somebody holds the message, so the newest content is kept
and is delivered after the present delivery is done. A hold that has expired is no hold: the message is replaced, with
attempts 0, and the late ack of its holder is lost.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key, PQ002 for options, PQ003 for payload and headers,
PQ004 while the kind is drained, and for a group that has finished.
Locks: the message of that key, where there is one, and its semaphores. The call waits for another transaction that is
putting the same key. With an order_key it locks its line: who wants to end the first of it waits until this transaction
has ended.
Where the idea comes from: INSERT IGNORE on (kind, key), A. Nedelcu''s delayed queue.'
begin
    declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_scheduled_at bigint;
    declare v_outcome varchar(10) character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_payload(in_payload, 'payload');
        call _queue_push(in_kind, in_key, in_payload, null, in_options, v_key, v_scheduled_at, v_outcome);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_kind as p_kind, v_key as p_key, v_scheduled_at as scheduled_at, v_outcome as outcome;
end;
--;
-- calls: _queue_fail, _queue_push
drop procedure if exists queue_push_bytes;
--;
create procedure queue_push_bytes(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_payload_bytes longblob, in in_options longtext character set utf8mb4)
    comment 'Puts one message with a binary payload into a kind; it comes back byte for byte.
in_payload_bytes: the payload. The other parameters, the result, the errors and the locks are those of queue_push.'
begin
    declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_scheduled_at bigint;
    declare v_outcome varchar(10) character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        if in_payload_bytes is null then
            call _queue_fail('PQ003', 'payload_bytes', null, 'must be bytes (none at all, '''', is fine)');
        end if;
        call _queue_push(in_kind, in_key, null, in_payload_bytes, in_options, v_key, v_scheduled_at, v_outcome);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_kind as p_kind, v_key as p_key, v_scheduled_at as scheduled_at, v_outcome as outcome;
end;
--;
-- calls: _queue_check_json, _queue_check_name, _queue_fail, _queue_key, _queue_push_batch, queue_now
drop procedure if exists queue_push_many;
--;
create procedure queue_push_many(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_messages longtext character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'Puts many messages into a kind: all or, with an error, none.
in_kind: the kind, 1 to 95 characters. in_messages: a JSON array of objects {key, payload, and push options}, see
queue_push; without a key each gets a time-ordered UUID; NULL: none. Duplicates inside the batch are treated as if
pushed one after another. in_options: push options for all; those of a message win.
Result: a row a message, in their order: p_key, outcome as in queue_push.
Errors: PQ007 for a kind that is for others. PQ001, PQ002, PQ003, naming the message as messages[0], messages[1], …;
PQ004 while the kind is drained, and for a group that has finished.
Locks: none, or with on_duplicate the messages whose keys are taken, in the order of their entries (where one turns up
out of order, the call undoes what it did and begins again); what others are putting in is waited for in the order of
the keys, so that overlapping batches don''t deadlock.
Where the idea comes from: for the keys, RFC 9562, section 6.2, method 2.'
begin
    declare v_outcomes longtext character set ascii;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_now, v_first bigint;
        declare v_keys longtext character set utf8mb4;
        declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        set v_outcomes = null;
        call queue_now(v_now);
        call _queue_check_name(in_kind, 95, 'kind');
        if in_messages is null or length(in_messages) < 99 and in_messages regexp '^[[:space:]]*null[[:space:]]*$' then
            set in_messages = '[]';
        end if;
        call _queue_check_json(in_messages, 'PQ003', 'messages');
        if left(in_messages, 1) <> '[' and json_type(in_messages) <> 'ARRAY' then
            call _queue_fail('PQ001', 'messages', in_messages,
                'must be a JSON array of {key, payload, and push options}');
        end if;
        set v_keys = json_extract(in_messages, '$[*].key');
        if coalesce(json_length(v_keys), 0) < json_length(in_messages) or locate('null', cast(v_keys as binary)) > 0
            then
            call _queue_key(v_now, v_key); -- a key each, one behind another in the order of the batch
            set v_first = conv(right(v_key, 12), 16, 10);
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(if(json_type(m.message) = 'OBJECT' and coalesce(json_type(json_extract(m.message,
                '$.key')), 'NULL') = 'NULL', json_set(m.message, '$.key', m.p_key), json_extract(m.message, '$')))
            into in_messages
            from (
                select j.message, concat(left(v_key, 24),
                    lpad(lower(hex((v_first + j.place) % 281474976710656)), 12, '0')) as p_key
                from json_table(in_messages, '$[*]' columns (place for ordinality, message json path '$')) j
                limit 1000000000) m;
        end if;
        call _queue_push_batch(in_kind, in_messages, in_options, v_now, v_outcomes);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select r.p_key, case substr(v_outcomes, r.place, 1) when 'c' then 'created' when 'r' then 'replaced'
        when 'h' then 'held' else 'ignored' end as outcome
    from json_table(in_messages, '$[*]'
        columns (place for ordinality, p_key varchar(200) character set utf8mb4 path '$.key')) r
    order by r.place;
end;
--;
-- calls: _queue_check_payload, _queue_permits_end, _queue_push
drop procedure if exists queue_push_into;
--;
create procedure queue_push_into(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_payload longtext character set utf8mb4,
    in in_options longtext character set utf8mb4, out out_outcome varchar(10) character set utf8mb4)
    comment 'Puts one message into a kind: the form that a trigger or a function may CALL, since it answers no rows and
neither begins nor ends a transaction. It rides in the transaction of the statement that the trigger is for.
in_kind, in_key, in_payload, in_options, the errors and the locks: those of queue_push. out_outcome: created, ignored,
replaced, held.
differs: only here. PostgreSQL''s queue_push can be called anywhere. Called on its own without a transaction, it is no
single transaction: call queue_push then.'
begin
    declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_scheduled_at bigint;
    call _queue_check_payload(in_payload, 'payload');
    call _queue_push(in_kind, in_key, in_payload, null, in_options, v_key, v_scheduled_at, out_outcome);
    if @pyqueue_permit_names is not null then
        call _queue_permits_end();
    end if;
end;
--;
-- changes: delayed_queue
drop procedure if exists _queue_promote;
--;
create procedure _queue_promote(in in_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_low bigint, in in_high bigint,
    in in_floor bigint, in in_max int, out out_first bigint)
    comment 'Moves messages that have come due from the timetable into the ready line.
in_kind: the kind. in_low, in_high: the part of the timetable. in_floor: the earliest place in the line that they may
get: where sessions no longer look at the line''s beginning, a place that nobody would see is none; those that would
have an earlier one stand behind it in their order, a microsecond apart. in_max: how many were asked for; 20 at the
least are moved, the best of the 1000 that came due first.
Result: the first place given; NULL where there was nothing.
Locks: those messages; what others have locked is left out.'
begin
    declare v_entries longtext character set utf8mb4;
    declare v_most int default greatest(in_max, 20);
    -- the best of what has come due, and few of them: a transaction that stays open keeps them from others
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(b.entry) into v_entries
    from (
        select c.entry from (
            select d.entry, d.priority, d.due_at from delayed_queue d force index (delayed_queue_due)
            where d.p_kind = in_kind and d.due_at between in_low and in_high order by d.due_at limit 1000) c
        order by c.priority desc, c.due_at, c.entry limit v_most) b;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.entry), min(greatest(l.due_at, in_floor)) into v_entries, out_first
    from (
        select q.entry, q.due_at from json_table(coalesce(v_entries, '[]'), '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
        where q.p_kind = in_kind and q.due_at <= in_high for update /*!80000 of q */ skip locked) l;
    if v_entries is null then -- another transaction has all of these: the first of the others
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(c.entry) into v_entries
        from (
            select d.entry from delayed_queue d force index (delayed_queue_due)
            where d.p_kind = in_kind and d.due_at between in_low and in_high order by d.due_at limit 1000) c;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.entry), min(greatest(l.due_at, in_floor)) into v_entries, out_first
        from (
            select q.entry, q.due_at from json_table(coalesce(v_entries, '[]'), '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
            where q.p_kind = in_kind and q.due_at <= in_high limit v_most for update /*!80000 of q */ skip locked) l;
    end if;
    if v_entries is not null then
        /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(v_entries, '$[*]' columns (place for ordinality, entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
        set q.ready_rank = -q.priority, q.ready_at = greatest(q.due_at, in_floor + j.place), q.due_at = null;
    end if;
end;
--;
drop procedure if exists _queue_scan;
--;
create procedure _queue_scan(in in_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_rank int, in in_from bigint,
    in in_entry bigint, in in_now bigint, in in_max int, in in_most int, out out_entries longtext character set utf8mb4, out out_number int,
    out out_expired int, out out_ends int, out out_last bigint)
    comment 'The next messages of the ready line, locked.
in_kind: the kind. in_rank: of one rank, a priority negated; NULL: of all, from the start. in_from: from which place on,
a time in microseconds. in_entry: from which entry on at that place. in_now: the time of the call. in_max: how many.
in_most: how many deliveries a message of the kind may have.
out_entries: their entries, a JSON array, in the order of delivery; NULL for none. out_number: how many. out_expired:
how many of them are expired holds. out_ends: how many can''t be delivered, see _queue_end_undeliverable. out_last: with
in_rank, the place of the last one.
Locks: the messages; what others have locked is passed over.
MariaDB looks first, without a lock, where the line begins: under READ COMMITTED a scan that locks goes from each entry
that has died to its row, until the server has cleaned it away.
differs: PostgreSQL''s takes all parts of the line in one statement.'
begin
    declare v_rank int default in_rank;
    declare v_none boolean default false;
    declare continue handler for not found set v_none = true;
    set out_entries = null, out_number = 0, out_expired = 0, out_ends = 0, out_last = null;
    /*M!100600 if @pyqueue_own then
        select q.ready_rank, q.ready_at, q.entry into v_rank, in_from, in_entry
        from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.scheduled_at <= in_now and (v_rank is null
            or q.ready_rank = v_rank and q.ready_at = in_from and q.entry >= in_entry
            or q.ready_rank = v_rank and q.ready_at > in_from or q.ready_rank > v_rank and in_rank is null)
        order by q.ready_rank, q.ready_at, q.entry limit 1;
    end if; */
    if not v_none then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(r.entry), count(*), count(r.reserved_at), coalesce(sum(r.ends), 0), max(r.ready_at)
        into out_entries, out_number, out_expired, out_ends, out_last
        from (
            select q.entry, q.reserved_at, q.ready_at, q.pending is not null or q.semaphores is not null
                or q.attempts >= coalesce(q.max_attempts, in_most) as ends
            from delayed_queue q force index (delayed_queue_ready)
            where q.ready_kind = in_kind and q.scheduled_at <= in_now and (v_rank is null
                or q.ready_rank = v_rank and q.ready_at = in_from and q.entry >= in_entry
                or q.ready_rank = v_rank and q.ready_at > in_from or q.ready_rank > v_rank and in_rank is null)
            order by q.ready_rank, q.ready_at, q.entry limit in_max for update skip locked) r;
    end if;
end;
--;
-- calls: _queue_keep_cursor, _queue_promote, _queue_scan, _queue_shared_cursor, _queue_ticks
drop procedure if exists _queue_take;
--;
create procedure _queue_take(in in_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max int, in in_now bigint,
    in in_most int, out out_entries longtext character set utf8mb4, out out_number int, out out_expired int, out out_ends int)
    comment 'The next messages of a kind, in the order of delivery, locked: all ways of taking a message but the
shortest, see _queue_reserve and _queue_take_onward.
in_kind: the kind. in_max: how many. in_now: the time of the call. in_most: how many deliveries a message of the kind
may have.
Result: see _queue_scan.
Locks: the messages, and as many (20 at the least) that have come due; what others have locked is passed over.

Where entries that died lie before the living ones and can''t be cleaned away, because a read view is open, a scan from
the start is slow. So each session keeps a cursor, in @pyqueue_cursors: it scans from where it last found something;
every 0.4 s from the older marks, where the cursor was 3 to 6 s ago, so that what was committed late is found; and from
the start 2% of the time, by which expired holds are found. Where a scan from the start is fast (a millisecond and 15 µs
a message; on a busy machine any scan may take some hundred µs), it keeps none, and the order is exact; with one a
message that is pushed with a time in the past may come some seconds late.
A cursor, by kind (null: none; {} after one slow scan; whole after two, or one of over 20 ms): start_at, marks_at: when
the next look from the start and from the marks may come; turn_at: when the marks move on; took: how long the last scan
from the start took; due, due_newer, due_older: where the timetable begins, and its marks; lanes, in order: rank (the
priority, negated), place, entry (of those there), newer and older (the marks of the place). Times are microseconds, the
first three of _queue_ticks.
differs: no look back in steps, and no notes of the ends of holds: see docs/adr/0003-mariadb-and-mysql.md.'
begin
    declare v_path varchar(1200) character set ascii default concat('$.k', hex(concat(database(), '.', in_kind)));
    declare v_cursor, v_entries, v_part longtext character set utf8mb4;
    declare v_start, v_found, v_took, v_low, v_due, v_first, v_place, v_entry, v_last, v_turn bigint;
    declare v_lane, v_before, v_rank, v_between, v_number, v_expired, v_ends int;
    declare v_from varchar(6) character set ascii default 'start';
    declare v_cold, v_slow, v_new boolean default false;
    call _queue_ticks(v_start);
    if coalesce(json_contains_path(@pyqueue_cursors, 'one', v_path), 0) = 0 then
        set v_cold = true;
        call _queue_shared_cursor(in_kind, v_path, v_start, in_now);
    end if;
    set v_cursor = json_extract(@pyqueue_cursors, v_path), v_turn = json_extract(v_cursor, '$.turn_at');
    if v_cursor = 'null' or v_turn > v_start + 4000000 then
        set v_cursor = null; -- the clock was set back: it is of the future
    end if;
    if json_length(v_cursor) > 0 then
        set v_slow = json_extract(v_cursor, '$.took') > 5000;
        if v_start < json_extract(v_cursor, '$.start_at') then
            set v_from = if(v_start < json_extract(v_cursor, '$.marks_at'), 'cursor', 'marks');
        end if;
    end if;
    scans: loop
        set v_low = case v_from when 'start' then 0 when 'marks' then json_extract(v_cursor, '$.due_older') + 0
            else json_extract(v_cursor, '$.due') + 0 end;
        select min(d.due_at) into v_due from delayed_queue d force index (delayed_queue_due)
        where d.p_kind = in_kind and d.due_at between v_low and in_now;
        if v_due is not null then
            call _queue_ticks(v_found);
            call _queue_promote(in_kind, v_low, in_now, if(v_from = 'start', 0, in_now - 1000000), in_max, v_first);
            set v_start = v_start - v_found;
            call _queue_ticks(v_found);
            set v_start = v_start + v_found;
        end if;
        if v_from = 'start' then
            call _queue_scan(in_kind, null, null, null, in_now, in_max, in_most, out_entries, out_number, out_expired,
                out_ends, v_last);
        else -- each lane from its place in the cursor, or from its older mark
            set out_entries = null, out_number = 0, out_expired = 0, out_ends = 0, v_lane = 0, v_before = -32769,
                v_rank = json_extract(v_cursor, '$.lanes[0].rank');
            while out_number < in_max and v_before < 32768 do
                select min(q.ready_rank) into v_between from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.ready_rank between v_before + 1 and coalesce(v_rank - 1, 32768);
                if v_between is not null then -- a priority that has no lane
                    call _queue_scan(in_kind, v_between, -9223372036854775807, 0, in_now, in_max - out_number, in_most,
                        v_entries, v_number, v_expired, v_ends, v_last);
                    set v_new = v_new or v_number > 0, v_before = v_between;
                elseif v_rank is null then
                    set v_entries = null, v_before = 32768;
                else
                    set v_part = concat('$.lanes[', v_lane, ']'),
                        v_place = json_extract(v_cursor, concat(v_part, if(v_from = 'marks', '.older', '.place'))) + 0,
                        v_entry = if(v_from = 'cursor' and v_place < coalesce(v_first, in_now + 1),
                            coalesce(cast(json_extract(v_cursor, concat(v_part, '.entry')) as signed), 0), 0),
                        v_place = least(v_place, coalesce(v_first, in_now));
                    call _queue_scan(in_kind, v_rank, v_place, v_entry, in_now, in_max - out_number, in_most, v_entries,
                        v_number, v_expired, v_ends, v_last);
                    if v_number > 0 then
                        set v_cursor = json_set(v_cursor, concat(v_part, '.place'), v_last + 0, concat(v_part,
                            '.entry'), cast(json_extract(v_entries, concat('$[', v_number - 1, ']')) as signed));
                    end if;
                    set v_before = v_rank, v_lane = v_lane + 1;
                    set v_rank = json_extract(v_cursor, concat('$.lanes[', v_lane, '].rank'));
                end if;
                if v_entries is not null then
                    set out_entries = if(out_entries is null, v_entries, json_merge_preserve(out_entries, v_entries)),
                        out_number = out_number + v_number, out_expired = out_expired + v_expired,
                        out_ends = out_ends + v_ends;
                end if;
            end while;
        end if;
        call _queue_ticks(v_took);
        set v_took = v_took - v_start;
        if out_entries is not null or v_from = 'start' or v_slow then
            leave scans;
        end if;
        set v_from = 'start'; -- nothing there: look from the start, unless that is known to be slow
        call _queue_ticks(v_start);
    end loop;
    if v_from = 'cursor' and not v_new and v_start < v_turn then
        set @pyqueue_cursors = json_set(@pyqueue_cursors, v_path, json_extract(v_cursor, '$'));
    elseif (v_cursor is not null or v_took > 1000 + 15 * in_max)
        and not (v_cold and v_took < 20000) then -- the first call of a session is slow for other reasons
        call _queue_keep_cursor(in_kind, v_path, v_cursor, v_from, v_start, v_took, in_max, out_entries, in_now);
    end if;
end;
--;
-- calls: _queue_bury, _queue_end, _queue_misfit
drop procedure if exists _queue_end_undeliverable;
--;
create procedure _queue_end_undeliverable(in in_entries longtext character set utf8mb4, in in_shape longtext character set utf8mb4, in in_most int,
    in in_now bigint, out out_ended int, out out_expired int)
    comment 'Ends what was taken and can''t be delivered: where something newer was pushed while it was held, that is
put in; where it was the last delivery the message may have, or its payload is not of its kind, it becomes a dead
letter.
in_entries: messages, locked already. in_shape: payload_shape of their kind. in_most: how many deliveries a message of
the kind may have. in_now: the time of the call.
out_ended: how many that were. out_expired: how many of them were expired holds.
differs: PostgreSQL''s ends what is left once the deliverable ones are held.'
begin
    declare v_entry bigint;
    declare v_pending, v_last, v_held boolean default false;
    declare v_payload, v_misfit longtext character set utf8mb4;
    declare c cursor for -- dead letters are put in in the order of their keys, as everywhere
        select q.entry, q.pending is not null, q.attempts >= coalesce(q.max_attempts, in_most),
            q.reserved_at is not null
        from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry order by q.p_key, q.p_kind for update /*!80000 of q */;
    set out_ended = 0, out_expired = 0;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_entry, v_pending, v_last, v_held; end;
    if v_over then leave each_c; end if;
        set v_misfit = null;
        if in_shape is not null and not v_pending then
            -- a cursor over it would be a file
            select q.payload into v_payload from delayed_queue q where q.entry = v_entry for update;
            call _queue_misfit(in_shape, v_payload, v_misfit);
        end if;
        if v_pending then
            call _queue_end(v_entry, null, null, in_now);
        elseif v_last or v_misfit is not null then
            call _queue_bury(v_entry, coalesce(concat('payload ', v_misfit), 'expired'), in_now);
        end if;
        if v_pending or v_last or v_misfit is not null then
            set out_ended = out_ended + 1, out_expired = out_expired + v_held;
        end if;
    end loop; end; close c;
end;
--;
-- calls: _queue_admit, _queue_admitted, _queue_check_count, _queue_check_name, _queue_check_options,
--     _queue_check_roles, _queue_defaults, _queue_end_undeliverable, _queue_groups_due, _queue_number, _queue_random,
--     _queue_take, _queue_take_where, _queue_take_with_permits, _queue_upkeep, _queue_use, _queue_where
-- changes: delayed_queue, queue_count
drop procedure if exists _queue_deliver;
--;
create procedure _queue_deliver(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_worker text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages int,
    in in_options longtext character set utf8mb4, in in_popped boolean, in in_now bigint, out out_entry bigint, out out_entries longtext character set utf8mb4,
    out out_seed varchar(64) character set ascii, out out_keeps boolean)
    comment 'The verb deliver: takes messages in the order of delivery, as many as limits and semaphores allow. A
reserve holds them; what is popped stays locked as it is, for queue_pop to send and end.
in_kind, in_worker, in_max_messages, in_options, and the errors: those of queue_reserve. in_popped: whether it is a
pop: max_reserved doesn''t count for it, and in_worker doesn''t matter. in_now: the time of the call, after
_queue_drain_inbox. out_entry: the message that is held, where it is one. out_entries: the messages, a JSON array of
their entries; NULL: none. out_seed: 64 hexadecimal digits, what their secrets are made of: of one message the first
32, of several a hash of all with the entry. out_keeps: whether the kind keeps history, keys or a log.
Locks: those of queue_reserve.
differs: it checks what it was given, too; the short way of a reserve is in _queue_reserve, since a statement costs more
inside of a procedure.'
begin
    declare v_until, v_looked, v_tokens bigint;
    declare v_timeout, v_given, v_none, v_rate decimal(30,6) default null;
    declare v_most, v_number, v_expired, v_ends, v_gone, v_limit int;
    declare v_ended int default 1;
    declare v_before int default 0; -- expired holds that were ended
    declare v_slots longtext character set ascii;
    declare v_paused, v_guarded, v_restricted boolean default false;
    declare v_expires decimal(20,6);
    declare v_shape, v_where longtext character set utf8mb4;
    declare v_worker text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default coalesce(in_worker, left(concat(user(), '/', connection_id()), 200));
    declare v_max int default coalesce(in_max_messages, 1);
    declare continue handler for not found begin end;
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_count(v_max, 'max_messages', 10000);
    call _queue_check_name(v_worker, 200, 'worker');
    set out_keeps = false;
    select k.timeout_seconds, coalesce(k.max_attempts, 2147483647), k.paused, k.payload_shape, k.history_seconds > 0
        or k.dedup_seconds > 0 or k.log_seconds > 0, k.expires_seconds, k.semaphores,
            if(in_popped, null, k.max_reserved), k.rate_per_second, k.roles is not null
    into v_timeout, v_most, v_paused, v_shape, out_keeps, v_expires, v_guarded, v_limit, v_rate, v_restricted
        from queue_kind k where k.p_kind = in_kind;
    set v_guarded = v_guarded or @pyqueue_permit_held is not null; -- by queue_next: nothing is ended any more
    if v_most is null then
        call _queue_defaults(v_timeout, v_most, v_none, v_none, v_none, v_none);
    end if;
    if v_restricted then
        call _queue_check_roles(json_array(in_kind));
    end if;
    if in_options is not null then
        call _queue_check_options(in_options, if(in_popped, 'where', 'timeout_seconds,where'), 'options');
        call _queue_where(in_options, v_where);
        call _queue_number(in_options, 'timeout_seconds', 0.001, 31536000, v_given);
    end if;
    -- a pop has the permits of its messages until the transaction ends
    set v_until = if(in_popped, in_now + 1, in_now + coalesce(v_given, v_timeout) * 1000000);
    set out_entry = null, out_entries = null;
    if @pyqueue_seed is null and not in_popped then
        call _queue_random(@pyqueue_seed); -- it takes some microseconds, and only this session can read it
    end if;
    if v_expires is not null then
        call _queue_use(in_kind, v_expires, in_now);
    end if;
    if not v_paused and coalesce(v_limit, v_rate) is not null then
        call _queue_admit(in_kind, v_limit, v_rate, in_now, v_max, v_slots, v_tokens);
    end if;
    if not v_paused and v_max > 0 then
        call _queue_groups_due(in_now, v_looked);
        while v_ended > 0 and not v_guarded do -- what can't be delivered is ended on the way
            if v_where is null then
                call _queue_take(in_kind, v_max, in_now, v_most, out_entries, v_number, v_expired, v_ends);
            else
                call _queue_take_where(in_kind, v_max, in_now, v_most, v_where, out_entries, v_number, v_expired,
                    v_ends);
            end if;
            set v_ended = 0;
            if v_ends > 0 then -- or the mark of the kind was lost
                select count(q.semaphores) > 0 into v_guarded from json_table(out_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
                for update /*!80000 of q */; -- locked already; an old snapshot may not have it
            end if;
            if not v_guarded and (v_ends > 0 or v_shape is not null and out_entries is not null) then
                call _queue_end_undeliverable(out_entries, v_shape, v_most, in_now, v_ended, v_gone);
                set v_before = v_before + v_gone;
            end if;
        end while;
        if v_guarded then
            call _queue_take_with_permits(in_kind, v_max, v_most, v_shape, v_until, in_now, v_where, out_entries,
                v_number, v_expired);
        end if;
        set v_expired = v_expired + v_before;
        if out_entries is not null and not in_popped then
            set out_seed = sha2(concat(@pyqueue_seed, uuid_short()), 256);
            if v_number = 1 then -- without a set, which takes longer
                set out_entry = json_extract(out_entries, '$[0]');
                update delayed_queue q
                set q.scheduled_at = v_until, q.reserved_at = in_now, q.attempts = q.attempts + 1, q.room = null,
                    q.deliveries = q.deliveries + 1, q.reserved_by = v_worker, q.secret = unhex(left(out_seed, 32))
                where q.entry = out_entry;
            else
                /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(out_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
                set q.scheduled_at = v_until, q.reserved_at = in_now, q.attempts = q.attempts + 1, q.room = null,
                    q.deliveries = q.deliveries + 1, q.reserved_by = v_worker,
                    q.secret = unhex(left(sha2(concat(out_seed, q.entry), 256), 32));
            end if;
        end if;
        if coalesce(v_limit, v_rate) is not null then
            call _queue_admitted(in_kind, v_rate, v_number, v_tokens, v_slots, out_entries, out_seed, in_now);
        end if;
        if v_expired > 0 then
            insert into queue_count (id, p_kind, expired) values (uuid_short(), in_kind, v_expired);
        end if;
        if rand() < 0.05 then
            call _queue_upkeep(in_kind, out_keeps, in_now, 40 * v_max, v_worker);
        end if;
    end if;
end;
--;
-- calls: _queue_defaults, _queue_deliver, _queue_drain_inbox, _queue_groups_due, _queue_keep_cursor,
--     _queue_take_onward, _queue_ticks, _queue_upkeep, queue_now
-- changes: delayed_queue, queue_count, queue_semaphore_permit
drop procedure if exists _queue_reserve;
--;
create procedure _queue_reserve(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_worker text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages int,
    in in_options longtext character set utf8mb4, out out_entry bigint, out out_entries longtext character set utf8mb4,
    out out_seed varchar(64) character set ascii)
    comment 'queue_reserve without its transaction. What is asked for most often, one message of a kind that the session
has asked for before, is taken here in as few statements as that needs; the rest by _queue_deliver.
The parameters and the errors are those of queue_reserve. out_entry: the message, where it is one. out_entries: where it
may be several, a JSON array of their entries. out_seed: what their secrets are made of, see _queue_deliver.
differs: a statement costs more inside of a procedure than on PostgreSQL, which has one way for both.'
begin
    declare v_now, v_start, v_took, v_landed, v_due, v_until, v_from, v_first bigint;
    declare v_timeout, v_none decimal(30,6);
    declare v_most, v_slots, v_rank int;
    declare v_special, v_keeps, v_guarded, v_expired, v_ends, v_done boolean default false;
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default left(in_kind, 100); -- a text takes longer to compare
    declare v_path longtext character set ascii default concat('$.k', hex(concat(database(), '.', in_kind)));
    -- 0 after one slow scan, 1 where there is no cursor
    declare v_kept int default json_length(@pyqueue_cursors, v_path);
    declare v_lanes int default json_length(@pyqueue_cursors, concat(v_path, '.lanes'));
    declare continue handler for not found begin end;
    -- a name of ASCII needs no other checks than these
    if @pyqueue_own and @pyqueue_seed is not null and (v_kept < 2 or v_lanes = 1) and coalesce(in_max_messages, 1) = 1
        and in_options is null and char_length(in_kind) <= 100
        and (in_worker is null or locate(char(0), in_worker) = 0 and length(in_worker) between 1 and 200
            and char_length(in_worker) = length(in_worker)) then
        call queue_now(v_now);
        call _queue_ticks(v_start);
        select min(i.id) into v_landed from queue_inbox i;
        select k.timeout_seconds, coalesce(k.max_attempts, 2147483647), k.paused or k.payload_shape is not null
            or k.expires_seconds is not null
                or k.max_reserved is not null or k.rate_per_second is not null or k.roles is not null,
            k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0, k.semaphores
        into v_timeout, v_most, v_special, v_keeps, v_guarded from queue_kind k where k.p_kind = v_kind;
        if v_most is null then
            call _queue_defaults(v_timeout, v_most, v_none, v_none, v_none, v_none);
        end if;
        if v_landed is not null or v_special then
            set v_done = false;
        elseif v_lanes = 1 then
            call _queue_take_onward(v_kind, v_path, v_start, v_now, v_most, out_entry, v_expired, v_slots, v_done);
        else
            select min(d.due_at) into v_due from delayed_queue d force index (delayed_queue_due)
            where d.p_kind = v_kind and d.due_at between 0 and v_now;
            if v_due is null then
                /*M!100600 select q.ready_rank, q.ready_at, q.entry into v_rank, v_from, v_first -- see _queue_scan
                from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = v_kind and q.scheduled_at <= v_now
                order by q.ready_rank, q.ready_at, q.entry limit 1;
                select q.entry, q.reserved_at is not null, q.pending is not null
                    or q.attempts >= coalesce(q.max_attempts, v_most),
                        if(q.source_kind is null, json_length(q.semaphores), null)
                into out_entry, v_expired, v_ends, v_slots
                from delayed_queue q
                where q.entry = v_first and q.ready_kind = v_kind and q.scheduled_at <= v_now for update skip locked;
                if out_entry is null and v_first is not null then */
                select q.entry, q.reserved_at is not null, q.pending is not null
                    or q.attempts >= coalesce(q.max_attempts, v_most),
                        if(q.source_kind is null, json_length(q.semaphores), null)
                into out_entry, v_expired, v_ends, v_slots
                from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = v_kind and q.scheduled_at <= v_now
                    /*M!100600 and (q.ready_rank = v_rank and q.ready_at = v_from and q.entry >= v_first
                        or q.ready_rank = v_rank and q.ready_at > v_from or q.ready_rank > v_rank) */
                order by q.ready_rank, q.ready_at, q.entry limit 1 for update skip locked;
                /*M!100600 end if; */
                call _queue_ticks(v_took);
                set v_took = v_took - v_start, v_done = not v_ends;
                if v_took > 1015 or v_kept = 0 then -- see _queue_take
                    call _queue_keep_cursor(in_kind, v_path, if(v_kept = 0, '{}', null), 'start', v_start, v_took, 1,
                        concat('[', out_entry, ']'), v_now);
                end if;
            end if;
        end if;
    end if;
    set v_until = v_now + v_timeout * 1000000;
    if v_done and v_slots > 0 then
        -- as in _queue_permits_take for one message, without a word on its row
        update queue_semaphore_permit h set h.until = v_until where h.entry = out_entry and h.until < 0;
        set v_done = row_count() = v_slots;
        if not v_done then
            update queue_semaphore_permit h set h.until = -v_now where h.entry = out_entry and h.until = v_until;
        end if;
    end if;
    if v_done and out_entry is null then
        call _queue_groups_due(v_now, v_due);
        set v_done = v_due = 0 and not v_guarded; -- there may be room for what waits
    end if;
    if not v_done then
        call _queue_drain_inbox();
        call queue_now(v_now);
        call _queue_deliver(in_kind, in_worker, in_max_messages, in_options, false, v_now, out_entry, out_entries,
            out_seed, v_keeps);
    else
        if out_entry is not null then
            set out_seed = sha2(concat(@pyqueue_seed, uuid_short()), 256);
            update delayed_queue q
            set q.scheduled_at = v_until, q.reserved_at = v_now, q.attempts = q.attempts + 1, q.room = null,
                q.deliveries = q.deliveries + 1, q.secret = unhex(left(out_seed, 32)),
                q.reserved_by = coalesce(in_worker, left(concat(user(), '/', connection_id()), 200))
            where q.entry = out_entry;
            if v_expired then
                insert into queue_count (id, p_kind, expired) values (uuid_short(), in_kind, 1);
            end if;
        end if;
        if rand() < 0.05 then
            call _queue_upkeep(in_kind, v_keeps, v_now, 40, in_worker);
        end if;
    end if;
end;
--;
-- calls: _queue_ticks
drop procedure if exists _queue_take_onward;
--;
create procedure _queue_take_onward(in in_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_path varchar(1200) character set ascii, in in_start bigint, in in_now bigint, in in_most int,
    out out_entry bigint, out out_expired boolean, out out_slots int, out out_done boolean)
    comment '_queue_take for one message, where the session keeps a cursor of the kind, with one priority in use.
in_kind, in_now, in_most, and the locks: those of _queue_take. in_path: where @pyqueue_cursors has the kind. in_start:
when the call began, in microseconds of _queue_ticks. out_entry: the message. out_expired: whether it is an expired
hold. out_slots: how many semaphores it names, NULL: none. out_done: false where it is left to _queue_take: another look
is due, something has come due or stands before the cursor, nothing is behind it, or the message can''t be delivered.
Whether something of a higher priority stands before it is looked up at most 2% of the time where that takes over half a
millisecond, and every 2 s at least: @pyqueue_ahead_at has when the next time is, for the kind @pyqueue_ahead_of.
differs: a statement costs more inside of a procedure than on PostgreSQL, which has one way for both.'
take: begin
    declare v_cursor longtext character set utf8mb4 default json_extract(@pyqueue_cursors, in_path);
    declare v_rank int default json_extract(v_cursor, '$.lanes[0].rank');
    declare v_low bigint default json_extract(v_cursor, '$.due');
    declare v_at, v_entry, v_other, v_began, v_took bigint;
    declare v_ends boolean;
    declare continue handler for not found begin end;
    set out_entry = null, out_done = false;
    if in_start >= json_extract(v_cursor, '$.start_at') or in_start >= json_extract(v_cursor, '$.marks_at')
        or json_extract(v_cursor, '$.turn_at') not between in_start and in_start + 4000000 then
        leave take;
    end if;
    select min(d.due_at) into v_other from delayed_queue d force index (delayed_queue_due)
    where d.p_kind = in_kind and d.due_at between v_low and in_now;
    if v_other is null and (@pyqueue_ahead_of = in_path
        and @pyqueue_ahead_at between in_start + 1 and in_start + 2000000) is not true then
        call _queue_ticks(v_began);
        select min(q.ready_rank) into v_other from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.ready_rank between -32768 and v_rank - 1;
        call _queue_ticks(v_took);
        -- InnoDB passes over all dead entries up to the next living one, even beyond the end of the range
        set v_took = v_took - v_began;
        set @pyqueue_ahead_of = in_path,
            @pyqueue_ahead_at = if(v_took < 500, 0, in_start + least(50 * v_took, 2000000));
    end if;
    if v_other is not null then
        leave take;
    end if;
    set v_low = json_extract(v_cursor, '$.lanes[0].place') + 0,
        v_entry = if(v_low > in_now, 0, coalesce(cast(json_extract(v_cursor, '$.lanes[0].entry') as signed), 0)),
        v_low = least(v_low, in_now);
    select q.entry, q.reserved_at is not null, q.pending is not null
        or q.attempts >= coalesce(q.max_attempts, in_most), q.ready_at,
            if(q.source_kind is null, json_length(q.semaphores), null)
    into out_entry, out_expired, v_ends, v_at, out_slots
    from delayed_queue q force index (delayed_queue_ready)
    where q.ready_kind = in_kind and q.ready_rank = v_rank and q.scheduled_at <= in_now
        and (q.ready_at = v_low and q.entry >= v_entry or q.ready_at > v_low)
    order by q.ready_at, q.entry limit 1 for update skip locked;
    if v_ends is false then
        set @pyqueue_cursors = json_set(@pyqueue_cursors, concat(in_path, '.lanes[0].place'), v_at + 0,
            concat(in_path, '.lanes[0].entry'), out_entry + 0), out_done = true;
    end if;
end;
--;
-- calls: _queue_answer, _queue_reserve
drop procedure if exists queue_reserve;
--;
create procedure queue_reserve(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_worker text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages int,
    in in_options longtext character set utf8mb4)
    comment 'Takes ready messages of a kind. Nobody else gets them until their timeout has passed. If the consumer dies,
the messages come back by themselves.
in_kind: the kind.
in_worker: who takes them, 1 to 200 characters; NULL: login and connection.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: how to take them.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages whose payload or headers contain this object, see _queue_where. Without filter_index of
  the kind the call reads the messages that stand before them. Allowed: an object of at most 16 values. Default: all
  messages.
Result: the columns of the message, times in microseconds. scheduled_at is the end of the hold. receipt names this
delivery and can''t be guessed: queue_ack, queue_nack, queue_move and queue_extend want it. errors: see queue_get. No
row where nothing is ready or the kind is paused; fewer rows where max_reserved or rate_per_second of the kind allow
no more. Order: priority, then delivery time, then entry. Where several consumers reserve at once, that order is best
effort. High priorities can keep low ones waiting without an end. A message that names semaphores is taken with a permit
of each, or goes to wait in line, see queue_semaphore. A call waits for their rows where others are taking or giving
permits. A message becomes a dead letter here if its last delivery (max_attempts) has expired, or if its payload is not
of its kind (payload_shape).
Errors: PQ007 for a kind that is for others. PQ001 for kind, worker and max_messages, PQ002 for options.
Locks: the messages. The call passes over what others have locked, so no call waits for another, but for semaphores.
See _queue_take for the rest, and _queue_admit for what a kind with limits locks before.
Where the idea comes from: the visibility timeout of SQS; SELECT … FOR UPDATE SKIP LOCKED.'
begin
    declare v_entries longtext character set utf8mb4;
    declare v_entry bigint;
    declare v_seed varchar(64) character set ascii;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_reserve(in_kind, in_worker, in_max_messages, in_options, v_entry, v_entries, v_seed);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    call _queue_answer(v_entry, v_entries, v_seed);
end;
--;
-- calls: _queue_begin, _queue_commit, _queue_deliver, _queue_drain_inbox, _queue_end_many, _queue_undo, queue_now
drop procedure if exists queue_pop;
--;
create procedure queue_pop(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages int, in in_options longtext character set utf8mb4)
    comment 'Takes ready messages of a kind and removes them. They are delivered at most once: there is no way back.
in_kind: the kind.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: which ones.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
Result: the columns of each message as it was, and errors (see queue_get), times in microseconds; reserved_at and
attempts are of this delivery. Order, paused kinds and rate_per_second as in queue_reserve. max_reserved doesn''t
matter, since nothing is held. A message that names semaphores is taken only where there is a permit of each, which it
has until the transaction ends; what follows is not counted.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages, PQ002 for options.
Locks: as queue_reserve; with rate_per_second as _queue_admit before the messages.
differs: the rows are sent before the call''s own transaction is committed: a client reads a CALL to its end before it
believes them.'
begin
    declare v_own, v_keeps boolean;
    declare v_now, v_entry bigint;
    declare v_entries longtext character set utf8mb4;
    declare v_seed varchar(64) character set ascii;
    declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
    call _queue_begin(v_own);
    call _queue_drain_inbox();
    call queue_now(v_now);
    call _queue_deliver(in_kind, null, in_max_messages, in_options, true, v_now, v_entry, v_entries, v_seed, v_keeps);
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
        q.scheduled_at_initially, q.created_at, v_now as reserved_at, q.attempts + 1 as attempts, null as reserved_by,
        q.errors
    from /*M!100600 (select * from */ json_table(coalesce(v_entries, '[]'), '$[*]' columns (place for ordinality, entry bigint path '$')) j /*M!100600 limit 1000000000) j */ straight_join delayed_queue q force index (primary) on q.entry = j.entry order by j.place for update /*!80000 of q */;
    if v_entries is not null then
        call _queue_end_many(v_entries, v_keeps, 'popped', v_now);
    end if;
    call _queue_commit(v_own);
end;
--;
-- calls: _queue_check_seconds, _queue_extend_with_permits, _queue_receipt, queue_now
-- changes: delayed_queue
drop procedure if exists queue_extend;
--;
create procedure queue_extend(in in_receipt text character set utf8mb4, in in_seconds double)
    comment 'Keeps the hold of a message for so long from now; the receipt stays the same.
in_receipt: what queue_reserve answered. in_seconds: 0 to a year (31536000).
Result: receipt, outcome: extended; lost where somebody else has got the message since, or it was acked, moved or
removed; and where its hold has expired and a permit of one of its semaphores is somebody else''s, or, in a kind with
max_reserved, its place was wanted.
Errors: PQ005 for what is no receipt, PQ001 for seconds.
Locks: the message.'
begin
    declare v_now, v_entry, v_found bigint;
    declare v_secret binary(16);
    declare v_guarded boolean;
    declare v_outcome longtext character set ascii;
    declare continue handler for not found begin end;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_receipt(in_receipt, v_entry, v_secret);
        call _queue_check_seconds(in_seconds);
        set v_outcome = 'l';
        select q.entry, q.semaphores is not null into v_found, v_guarded from delayed_queue q
        where q.entry = v_entry and q.secret = v_secret and q.reserved_by is not null for update;
        if v_guarded then
            call _queue_extend_with_permits(json_array(json_array(v_found + 0, 1)), in_seconds, v_now, v_outcome);
            set v_found = if(v_outcome = 'e', v_found, null);
        else
            update delayed_queue q set q.scheduled_at = v_now + cast(round(in_seconds * 1000000) as signed)
                where q.entry = v_found;
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_receipt as receipt, if(v_found is null, 'lost', 'extended') as outcome;
end;
--;
-- calls: _queue_check_seconds, _queue_extend_with_permits, _queue_receipts, queue_now
-- changes: delayed_queue
drop procedure if exists queue_extend_many;
--;
create procedure queue_extend_many(in in_receipts longtext character set utf8mb4, in in_seconds double)
    comment 'Keeps the holds of many messages: queue_extend for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_seconds: 0 to a year (31536000).
Result: a row a receipt, in their order: receipt, outcome: extended, lost; one that stands twice is lost the second
time.
Errors: PQ005 with the first that is no receipt, PQ001 for seconds; then nothing is extended.
Locks: the messages, in the order of their entries.'
begin
    declare v_now, v_until, v_entry bigint;
    declare v_number, v_place int;
    declare v_guarded boolean;
    declare v_list, v_slots longtext character set utf8mb4;
    declare v_outcomes longtext character set ascii;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare c cursor for
            select q.entry, j.place, q.semaphores is not null
            from /*M!100600 (select * from */ json_table(v_list, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j /*M!100600 limit 1000000000) j */ straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.secret = unhex(j.secret) where q.reserved_by is not null
            order by j.entry for update /*!80000 of q */;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_receipts(in_receipts, v_list, v_number);
        call _queue_check_seconds(in_seconds);
        set v_until = v_now + cast(round(in_seconds * 1000000) as signed);
        set v_outcomes = repeat('l', v_number), v_slots = null;
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_entry, v_place, v_guarded; end;
        if v_over then leave each_c; end if;
            if v_guarded then
                set v_slots = json_array_append(coalesce(v_slots, '[]'), '$', json_array(v_entry + 0, v_place));
            else
                update delayed_queue q set q.scheduled_at = v_until where q.entry = v_entry;
                set v_outcomes = insert(v_outcomes, v_place, 1, 'e');
            end if;
        end loop; end; close c;
        if v_slots is not null then
            call _queue_extend_with_permits(v_slots, in_seconds, v_now, v_outcomes);
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select r.receipt, case substr(v_outcomes, r.place, 1) when 'e' then 'extended' else 'lost' end as outcome
    from /*M!100600 (select * from */ json_table(in_receipts, '$[*]' columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r /*M!100600 limit 1000000000) r */
    order by r.place;
end;
--;
drop procedure if exists _queue_answer;
--;
create procedure _queue_answer(in in_entry bigint, in in_entries longtext character set utf8mb4, in in_seed varchar(64) character set ascii)
    comment 'Sends what queue_reserve and queue_next answer, once that is committed.
in_entry, in_entries, in_seed: what _queue_reserve answered.
differs: a function of PostgreSQL answers its rows itself.'
begin
    -- by its secret: what was held for a millisecond may be somebody else's now
    if in_entry is null and in_entries is not null then
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            concat(q.entry, '-', lower(hex(q.secret))) as receipt, q.errors
        from /*M!100600 (select * from */ json_table(in_entries, '$[*]' columns (place for ordinality, entry bigint path '$')) j /*M!100600 limit 1000000000) j */ straight_join delayed_queue q force index (primary) on q.entry = j.entry
        where q.secret = unhex(left(sha2(concat(in_seed, q.entry), 256), 32))
        order by j.place;
    else -- the most frequent call, without a set
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            concat(q.entry, '-', lower(hex(q.secret))) as receipt, q.errors
        from delayed_queue q
        where q.entry = in_entry and q.secret = unhex(left(in_seed, 32));
    end if;
end;
--;
-- calls: _queue_ack, _queue_ack_many, _queue_answer, _queue_check_options, _queue_fail, _queue_members_settle,
--     _queue_permits_end, _queue_reserve, _queue_text
-- changes: queue_count
drop procedure if exists queue_next;
--;
create procedure queue_next(in in_receipts longtext character set utf8mb4, in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_worker text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_max_messages int, in in_options longtext character set utf8mb4)
    comment 'The loop of a consumer in one call: it acks what is done, as queue_ack_many does, and takes the next
messages, as queue_reserve does, in one transaction. What is acked first goes on along its route, finishes its group,
and gives its turn to who is next in the line of its order key, at its semaphores and under max_reserved. So the same
call may take what it has freed.
in_receipts: a JSON array of at most 10000 receipts, of whatever kinds; NULL: none.
in_kind, in_worker, in_max_messages: those of queue_reserve.
in_options: those of queue_reserve, and lost.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
- lost: fails the call where a receipt is lost. Allowed: error. Default: a lost receipt is counted, no more.
Result: that of queue_reserve. No row where nothing is ready or the kind is paused; what is acked is acked all the
same. A receipt that is lost, see queue_ack_many, changes nothing and is counted for in_kind, see queue_stats.
Errors: PQ007 for a kind that is for others. PQ006 with the receipts that are lost, see option lost; PQ005 for receipts,
PQ001 for kind, worker and max_messages, PQ002 for options, PQ003 for JSON that not every server can hold, PQ004 where
the next kind of a route is drained. After each of them nothing is acked, and nothing taken.
Locks: those of queue_ack_many, then those of queue_reserve. Where the first are groups or semaphores, messages whose
semaphores others have locked are left to the next call, and so are those that it would make dead letters.'
begin
    declare v_entries longtext character set utf8mb4;
    declare v_entry bigint;
    declare v_seed varchar(64) character set ascii;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_options, v_lost, v_names longtext character set utf8mb4;
        declare v_outcomes longtext character set ascii;
        declare v_outcome varchar(10) character set utf8mb4;
        declare v_number int default 0;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        set v_entry = null, v_entries = null, v_seed = null;
        if in_options is not null then
            call _queue_check_options(in_options, 'timeout_seconds,where,lost', 'options');
            call _queue_text(in_options, 'lost', v_lost);
            if v_lost <> 'error' then
                call _queue_fail('PQ002', 'lost', v_lost, 'must be error');
            end if;
            set v_options = if(json_type(in_options) = 'OBJECT', json_remove(in_options, '$.lost'), null);
            if json_length(v_options) = 0 then
                set v_options = null;
            end if;
        end if;
        if in_receipts collate utf8mb4_bin regexp '^\\["[0-9]{1,18}-[0-9a-f]{32}"\\]\\z' then -- most calls
            call _queue_ack(substr(in_receipts, 3, char_length(in_receipts) - 4), null, v_outcome);
            set v_number = v_outcome = 'lost', v_outcomes = if(v_number, 'l', 'a');
        elseif in_receipts is not null then
            call _queue_ack_many(in_receipts, null, v_outcomes);
            set v_number = length(v_outcomes) - length(replace(v_outcomes, 'l', ''));
        end if;
        if v_number > 0 and v_lost is not null then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select group_concat(l.receipt order by l.place separator ', ') into v_names
            from (
                select r.place, r.receipt
                from /*M!100600 (select * from */ json_table(in_receipts, '$[*]' columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r /*M!100600 limit 1000000000) r */
                where substr(v_outcomes, r.place, 1) = 'l' order by r.place limit 5) l; -- an error has no room for more
            call _queue_fail('PQ006', 'receipts', v_names, 'lost, so nothing was done');
        end if;
        if coalesce(@pyqueue_members, @pyqueue_permit_names) is not null then
            if @pyqueue_members is not null then
                call _queue_members_settle();
            end if;
            if @pyqueue_permit_names is not null then
                call _queue_permits_end();
            end if;
            set @pyqueue_permit_held = true; -- to wait for others now could be a deadlock
        end if;
        call _queue_reserve(in_kind, in_worker, in_max_messages, v_options, v_entry, v_entries, v_seed);
        if v_number > 0 then
            insert into queue_count (id, p_kind, lost) values (uuid_short(), in_kind, v_number);
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    call _queue_answer(v_entry, v_entries, v_seed);
end;
--;
-- changes: queue_cursor
drop procedure if exists _queue_forget_cursors;
--;
create procedure _queue_forget_cursors(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_before bigint unsigned)
    comment 'Removes shared cursors that nobody needs any longer.
in_kind: the kind. in_before: those with a smaller number; NULL: all.
Locks: their rows; what others have locked is left.'
begin
    begin declare v_unlocked longtext character set utf8mb4;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(unlocked.id) into v_unlocked
        from (select c.id from queue_cursor c force index (queue_cursor_kind)
        where c.p_kind = in_kind and c.id + 0 < coalesce(in_before, 18446744073709551615)
        for update /*!80000 of c */ skip locked) unlocked;
        if v_unlocked is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete c from json_table(v_unlocked, '$[*]' columns (id bigint unsigned path '$')) unlocked
                straight_join queue_cursor c force index (primary) on c.id = unlocked.id;
        end if;
    end;
end;
--;
drop procedure if exists _queue_shared_cursor;
--;
create procedure _queue_shared_cursor(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_path varchar(1200) character set ascii,
    in in_start bigint, in in_now bigint)
    comment 'Takes over the cursor that another session left, for a session that has none yet for this kind; nothing
where there is none, or it is of the future.
in_kind: the kind. in_path: where @pyqueue_cursors has the kind. in_start: the real time, in microseconds. in_now: the
time of the call.'
begin
    declare v_cursor longtext character set utf8mb4 default 'null';
    declare v_lane int default 0;
    declare continue handler for not found begin end;
    select c.fields into v_cursor from queue_cursor c force index (queue_cursor_kind)
    where c.p_kind = in_kind order by c.id desc limit 1;
    while v_lane < json_length(v_cursor, '$.lanes') do
        if json_extract(v_cursor, concat('$.lanes[', v_lane, '].place')) > in_now then
            set v_cursor = 'null';
        end if;
        set v_lane = v_lane + 1;
    end while;
    if v_cursor <> 'null' and rand() < 0.95 then
        -- many that come new needn't all look from the marks at once
        set v_cursor = json_set(v_cursor, '$.marks_at', in_start + 1000000);
    end if;
    set @pyqueue_cursors = json_set(@pyqueue_cursors, in_path, json_extract(v_cursor, '$'));
end;
--;
-- calls: _queue_entry, _queue_forget_cursors, _queue_ticks
-- changes: queue_cursor
drop procedure if exists _queue_keep_cursor;
--;
create procedure _queue_keep_cursor(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_path varchar(1200) character set ascii,
    in in_cursor longtext character set utf8mb4, in in_from varchar(6) character set ascii, in in_start bigint, in in_took bigint,
    in in_max int, in in_entries longtext character set utf8mb4, in in_now bigint)
    comment 'Brings the cursor of a session up to date after a scan, or forgets it where a scan from the start has
become fast again.
in_kind: the kind. in_path: where @pyqueue_cursors has it. in_cursor: as it was, see _queue_take. in_from: where the
scan began: start, cursor or marks. in_start: when, in microseconds of the real clock. in_took: how long it took, in
microseconds; a scan that was slow for the first time is measured again, without its locks. in_max: how many were asked
for. in_entries: what it found, a JSON array. in_now: the time of the call.
Locks: shared cursors that are past their time; what others have locked is left.'
keep: begin
    declare v_cursor longtext character set utf8mb4 default in_cursor;
    declare v_path varchar(30) character set ascii default '$.lanes[0]';
    declare v_lane, v_rank int default 0;
    declare v_took bigint default in_took;
    declare v_last, v_due, v_again, v_id bigint;
    declare c cursor for -- as they are now: an old snapshot may have them without a place
        select r.ready_rank, max(r.ready_at)
        from (
            select q.ready_rank, q.ready_at from json_table(coalesce(in_entries, '[]'), '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry for update /*!80000 of q */) r
        group by r.ready_rank order by r.ready_rank;
    if in_from = 'start' then
        if in_took >= if(json_length(in_cursor) > 0, 5000, 1000 + 15 * in_max)
            and coalesce(json_extract(in_cursor, '$.took'), 0) <= 5000 then
            call _queue_ticks(v_took); -- the machine may have stood still: once more
            select count(*) into v_again from (
                select q.entry from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.scheduled_at <= in_now
                order by q.ready_rank, q.ready_at, q.entry limit in_max) r;
            call _queue_ticks(v_again);
            set v_took = least(in_took, v_again - v_took);
        end if;
        if v_took <= 1000 + 15 * in_max then
            set @pyqueue_cursors = json_set(@pyqueue_cursors, in_path, null);
            call _queue_forget_cursors(in_kind, null);
            leave keep;
        elseif in_cursor is null and v_took < 20000 then
            set @pyqueue_cursors = json_set(@pyqueue_cursors, in_path, json_object());
            leave keep;
        elseif coalesce(json_length(in_cursor), 0) = 0 then
            set v_cursor = json_object('start_at', 0, 'marks_at', 0, 'turn_at', in_start + 3000000, 'took', 0, 'due',
                in_now + 0, 'due_newer', in_now - 3000000, 'due_older', in_now - 3000000, 'lanes', json_array());
        end if;
        set v_cursor = json_set(v_cursor, '$.start_at', in_start + greatest(100000, 50 * v_took), '$.took', v_took + 0);
    elseif in_from = 'marks' then
        set v_cursor = json_set(v_cursor, '$.marks_at', in_start + greatest(400000, 30 * in_took));
    end if;
    set v_due = case in_from when 'start' then 0 when 'marks' then json_extract(v_cursor, '$.due_older') + 0
        else json_extract(v_cursor, '$.due') + 0 end;
    -- without an upper end MariaDB reads the whole timetable
    select coalesce(min(d.due_at), in_now) into v_due from delayed_queue d force index (delayed_queue_due)
    where d.p_kind = in_kind and d.due_at between v_due and in_now;
    -- a mark is never ahead of its place
    set v_cursor = json_set(v_cursor, '$.due', v_due + 0, '$.due_newer',
        least(json_extract(v_cursor, '$.due_newer') + 0, v_due), '$.due_older',
        least(json_extract(v_cursor, '$.due_older') + 0, v_due));
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_rank, v_last; end;
    if v_over then leave each_c; end if;
        while json_extract(v_cursor, concat(v_path, '.rank')) < v_rank do
            set v_lane = v_lane + 1, v_path = concat('$.lanes[', v_lane, ']');
        end while;
        if json_extract(v_cursor, concat(v_path, '.rank')) = v_rank then
            set v_cursor = json_set(v_cursor, concat(v_path, '.place'), v_last + 0, concat(v_path, '.entry'), 0,
                concat(v_path, '.newer'), least(json_extract(v_cursor, concat(v_path, '.newer')) + 0, v_last),
                concat(v_path, '.older'), least(json_extract(v_cursor, concat(v_path, '.older')) + 0, v_last));
        elseif json_length(v_cursor, '$.lanes') < 32 then
            set v_cursor = json_array_insert(v_cursor, v_path,
                json_object('rank', v_rank + 0, 'place', v_last + 0, 'entry', 0, 'newer', v_last - 3000000, 'older',
                v_last - 3000000));
        end if;
    end loop; end; close c;
    if in_start >= json_extract(v_cursor, '$.turn_at') then
        -- the marks move on to where the cursor is now, every 3 s
        set v_cursor = json_set(v_cursor, '$.turn_at', in_start + 3000000, '$.due_older',
            json_extract(v_cursor, '$.due_newer') + 0, '$.due_newer', json_extract(v_cursor, '$.due') + 0), v_lane = 0;
        while v_lane < json_length(v_cursor, '$.lanes') do
            set v_path = concat('$.lanes[', v_lane, '].');
            set v_cursor = json_set(v_cursor,
                concat(v_path, 'older'), json_extract(v_cursor, concat(v_path, 'newer')) + 0,
                concat(v_path, 'newer'), json_extract(v_cursor, concat(v_path, 'place')) + 0);
            set v_lane = v_lane + 1;
        end while;
        if json_extract(v_cursor, '$.took') > 5000 then -- for sessions that have none
            call _queue_entry(v_id); -- the newest counts
            insert into queue_cursor (id, p_kind, fields) values (v_id, in_kind, v_cursor);
            call _queue_forget_cursors(in_kind, v_id);
        end if;
    end if;
    set @pyqueue_cursors = json_set(@pyqueue_cursors, in_path, json_extract(v_cursor, '$'));
end;
--;
-- calls: _queue_limited_until, _queue_permits_ready, _queue_use
drop procedure if exists _queue_ready;
--;
create procedure _queue_ready(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_now bigint, out out_ready boolean)
    comment 'Whether a message of a kind may be taken.
in_kind: the kind. in_now: the time of the call.
out_ready: whether there is one; false also while the kind is paused or at its limits.
Locks: that message, if there is one.
differs: what another transaction has locked isn''t ready: it may go on for long, and to wake somebody for that again
and again would be no waiting. It says nothing of the future: nobody listens here.'
begin
    declare v_found, v_until, v_due_at bigint;
    declare v_due varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_limit int;
    declare v_rate decimal(30,6);
    declare v_expires decimal(20,6);
    declare v_paused, v_guarded boolean default false;
    declare continue handler for not found begin end;
    select k.paused, k.semaphores, k.max_reserved, k.rate_per_second, k.expires_seconds
    into v_paused, v_guarded, v_limit, v_rate, v_expires from queue_kind k where k.p_kind = in_kind;
    if v_expires is not null then -- who waits for it uses it
        call _queue_use(in_kind, v_expires, in_now);
    end if;
    if coalesce(v_limit, v_rate) is not null then
        call _queue_limited_until(in_kind, v_limit, v_rate, in_now, v_until);
    end if;
    if not v_paused and v_until is null then
        -- without a lock first: mostly there is nothing, and locks would be taken on what others hold
        select q.entry into v_found from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.scheduled_at <= in_now limit 1;
        if v_found is not null then
            set v_found = null;
            select q.entry into v_found from delayed_queue q force index (delayed_queue_ready)
            where q.ready_kind = in_kind and q.scheduled_at <= in_now
            order by q.ready_rank, q.ready_at, q.entry limit 1 for update skip locked;
        end if;
        if v_found is null then -- mostly nothing is due: to make a list of it would take as long as all the rest
            select min(d.due_at) into v_due_at from delayed_queue d force index (delayed_queue_due)
            where d.p_kind = in_kind and d.due_at between 0 and in_now;
        end if;
        if v_due_at is not null then
            select q.entry into v_found
            from (
                select d.entry from delayed_queue d force index (delayed_queue_due)
                where d.p_kind = in_kind and d.due_at between 0 and in_now order by d.due_at limit 1000) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry
            where q.due_at <= in_now limit 1 for update /*!80000 of q */ skip locked;
        end if;
    end if;
    if v_found is null and not v_paused and v_until is null then -- a reserve looks whether all is done
        select min(d.group_name) into v_due from queue_group_due d;
        if v_due is not null then
            select min(l.entry) into v_found
            from (
                select 1 as entry
                from queue_group_due d straight_join queue_group g force index (primary) on g.group_name = d.group_name
                where in_kind in (g.then_kind, g.fail_kind) limit 1 for update /*!80000 of g */ skip locked) l;
        end if;
    end if;
    set out_ready = v_found is not null;
    if v_guarded and not v_paused and v_until is null and not out_ready then
        call _queue_permits_ready(in_kind, in_now, out_ready);
    end if;
end;
--;
-- calls: _queue_check_kinds
drop procedure if exists _queue_wait_kinds;
--;
create procedure _queue_wait_kinds(in in_kinds longtext character set utf8mb4, out out_kinds longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, out out_number int,
    out out_lock varchar(64) character set utf8mb4)
    comment 'What a wait needs of its kinds.
in_kinds: as queue_wait is given them. out_kinds: the kinds, each followed by the character NUL: to take JSON apart
would cost more than to look. out_number: how many. out_lock: the name of the lock that the one has who looks for all
that wait for these kinds, in whatever order they name them.
Errors: PQ001.
differs: PostgreSQL has no need of it.'
begin
    declare v_kinds, v_sorted longtext character set utf8mb4;
    declare v_place int default 0;
    call _queue_check_kinds(in_kinds, v_kinds);
    set out_kinds = '', out_number = json_length(v_kinds);
    while v_place < out_number do
        set out_kinds = concat(out_kinds, json_unquote(json_extract(v_kinds, concat('$[', v_place, ']'))),
            char(0 using utf8mb4)), v_place = v_place + 1;
    end while;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(k.name) into v_sorted
    from (select distinct j.name from /*M!100600 (select * from */ json_table(v_kinds, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j /*M!100600 limit 1000000000) j */ order by j.name limit 100) k;
    set out_lock = concat('pyqueue.wait.', left(sha2(concat(database(), '.', v_sorted), 256), 40));
end;
--;
drop procedure if exists _queue_wait_end;
--;
create procedure _queue_wait_end()
    comment 'Gives back the lock of those who wait, where the session has it: at the end of a wait, and before one,
because a wait that was stopped by KILL QUERY or a limit for statements has had no chance to.
differs: PostgreSQL has no need of it.'
begin
    if @pyqueue_wait is not null then
        do release_lock(@pyqueue_wait);
        set @pyqueue_wait = null;
    end if;
end;
--;
-- calls: _queue_begin_alone, _queue_commit, _queue_fail, _queue_ready, _queue_ticks, _queue_undo, _queue_wait_end,
--     _queue_wait_kinds, queue_now
drop procedure if exists queue_wait;
--;
create procedure queue_wait(in in_kinds longtext character set utf8mb4, in in_timeout_seconds double)
    comment 'Waits until a message of one of the kinds may be taken.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
in_timeout_seconds: how long at the most, 0 to 300; NULL: 5.
Result: p_kind: the first of the kinds that may have something. Another consumer may be about to take it. No row where
the time is over. A paused kind has nothing. On PostgreSQL the call waits 5 s at the most, whatever it is given; if the
server''s clock is set back meanwhile, as much longer. A statement that waits is an open snapshot, behind which nothing
can be cleaned away; clients LISTEN there, see queue_listen. Under REPEATABLE READ and SERIALIZABLE the call sees what
was there when the transaction began, and no more.
Errors: PQ001 for kinds and timeout_seconds.
Locks: no row.
Where the idea comes from: the long poll of SQS.
differs: PQ004 where a transaction is open, in which nothing new could be seen. It waits for as long as it is told to.
Of all that wait for the same kinds one looks, every 45 ms (less often where a look takes over 4.5 ms: a tenth of the
time), and the others stand in line for a named lock that it has. A wait is a connection that is busy. What has landed
in the inbox ends it too. See docs/adr/0005-waiting-on-innodb.md.'
begin
    declare v_kinds longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_number, v_place int;
    declare v_lock varchar(64) character set utf8mb4;
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_start, v_look, v_now, v_until, v_clock, v_landed bigint;
    declare v_took bigint default 0;
    declare v_open, v_killed, v_ready, v_paused boolean;
    declare v_pause int;
    declare continue handler for not found begin end;
    declare exit handler for sqlexception begin call _queue_undo(v_open); call _queue_wait_end(); resignal; end;
    again: loop
        -- each look in a transaction, and nothing of ours between them: a wait doesn't keep an upgrade waiting
        call _queue_begin_alone();
        set v_open = true;
        call _queue_ticks(v_look);
        if v_start is null then
            call _queue_wait_end();
            call _queue_wait_kinds(in_kinds, v_kinds, v_number, v_lock);
            if in_timeout_seconds not between 0 and 300 then
                call _queue_fail('PQ001', 'timeout_seconds', in_timeout_seconds,
                    'must be a number from 0 to 300');
            end if;
            set v_start = v_look, v_until = v_look + cast(round(coalesce(in_timeout_seconds, 5) * 1000000) as signed);
        end if;
        call queue_now(v_clock);
        select min(i.id) into v_landed from queue_inbox i;
        if v_landed is not null then
            set v_landed = null; -- as in _queue_ready
            select i.id into v_landed from queue_inbox i order by i.id limit 1 for update skip locked;
        end if;
        set v_place = 0, v_ready = false;
        while not v_ready and v_place < v_number do
            set v_place = v_place + 1, v_kind = substring_index(
                substring_index(v_kinds, char(0 using utf8mb4), v_place), char(0 using utf8mb4), -1);
            if v_landed is null then
                call _queue_ready(v_kind, v_clock, v_ready);
            else -- it may be of any of them: a reserve of whatever kind takes it in
                set v_paused = false;
                select k.paused into v_paused from queue_kind k where k.p_kind = v_kind;
                set v_ready = not v_paused;
            end if;
        end while;
        call _queue_ticks(v_now);
        if v_ready or v_now not between v_start and v_until - 1 then
            call _queue_wait_end();
        end if;
        call _queue_commit(true);
        set v_open = null;
        if v_ready or v_now not between v_start and v_until - 1 then
            leave again;
        elseif @pyqueue_wait is not null then -- this one looks for all
            -- two looks that were slow, one after the other: not a machine that was busy for a moment
            set v_pause = greatest(45000, least(5000000, 10 * least(v_took, v_now - v_look))), v_took = v_now - v_look;
        elseif get_lock(v_lock, 0) then
            set @pyqueue_wait = v_lock, v_pause = 45000;
        -- MySQL rounds to seconds; not for long, for who has the lock may have been stopped, see _queue_wait_end
        elseif get_lock(v_lock, /*!80000 floor */ (least((v_until - v_now) * 0.000001, 10 + 5 * rand()))) then
            set @pyqueue_wait = v_lock, v_pause = 5000; -- who had it is about to take what it has found
        else
            set v_pause = 250000; -- on MySQL the last second of a wait
        end if;
        select sleep(greatest(0, least(v_pause, v_until - v_now)) * 0.000001) into v_killed;
        if v_killed then -- KILL QUERY ends the sleep alone
            signal sqlstate '70100' set mysql_errno = 1317, message_text = 'Query execution was interrupted';
        end if;
    end loop;
    select v_kind as p_kind from (select 1 as one) o where v_ready;
end;
--;
-- calls: _queue_boolean, _queue_check_options, _queue_check_payload, _queue_number, _queue_text
drop procedure if exists _queue_check_nack;
--;
create procedure _queue_check_nack(in in_options longtext character set utf8mb4)
    comment 'Refuses options that queue_nack doesn''t know.
in_options: the options.
Errors: PQ002, and PQ003 for the payload.'
begin
    declare v_number decimal(30,6);
    declare v_text longtext character set utf8mb4;
    declare v_flag boolean;
    if in_options is not null then
        call _queue_check_options(in_options, 'delay_seconds,error,payload,final,count', 'options');
        call _queue_number(in_options, 'delay_seconds', 0, 31536000, v_number);
        call _queue_text(in_options, 'error', v_text);
        call _queue_boolean(in_options, 'final', v_flag);
        call _queue_boolean(in_options, 'count', v_flag);
        call _queue_check_payload(json_extract(in_options, '$.payload'), 'payload');
    end if;
end;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_payload, _queue_push_options, _queue_text
drop procedure if exists _queue_check_move;
--;
create procedure _queue_check_move(in in_to_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4, in in_now bigint,
    in in_place varchar(60) character set utf8mb4)
    comment 'Refuses a target and options that queue_move doesn''t know.
in_to_kind, in_options: those of queue_move. in_now: the time of the call. in_place: what stands before the names in
errors.
Errors: PQ001, PQ002, PQ003.'
begin
    declare v_at bigint;
    declare v_priority smallint;
    declare v_attempts, v_max_attempts int;
    declare v_headers, v_key, v_none longtext character set utf8mb4;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    call _queue_check_name(in_to_kind, 95, concat(in_place, 'to_kind'));
    if in_options is not null then
        call _queue_check_options(in_options, 'payload,headers,key,delay_seconds,priority,on_duplicate',
            concat(in_place, 'options'));
        call _queue_push_options(json_remove(in_options, '$.payload', '$.key'), in_now, v_at, v_priority, v_headers,
            v_attempts, v_max_attempts, v_on_duplicate, v_none, v_none, v_none);
        call _queue_check_payload(json_extract(in_options, '$.payload'), concat(in_place, 'payload'));
        call _queue_text(in_options, 'key', v_key);
        if v_key is not null then
            call _queue_check_name(left(v_key, 201), 200, concat(in_place, 'key'));
        end if;
    end if;
end;
--;
-- calls: _queue_check_name, _queue_fail
drop procedure if exists _queue_check_dead_letter_kind;
--;
create procedure _queue_check_dead_letter_kind(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_dead_letter_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Refuses a circle of dead letters.
in_kind: the kind that is defined. in_dead_letter_kind: where its dead letters would go; NULL: the default.
Errors: PQ001 for a name that can''t be a kind, PQ004 for a circle.'
begin
    declare v_next text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default coalesce(in_dead_letter_kind, concat(left(in_kind, 95), '.dead'));
    declare v_last text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_steps int default 0;
    if in_dead_letter_kind is not null then
        call _queue_check_name(in_dead_letter_kind, 100, 'dead_letter_kind');
    end if;
    chain: while v_steps < 1000 do
        if v_next = in_kind then
            call _queue_fail('PQ004', 'dead_letter_kind', coalesce(in_dead_letter_kind, v_next),
                'refused, dead letters would come back to the kind they came from');
        end if;
        set v_last = v_next;
        select coalesce(max(k.dead_letter_kind), concat(left(v_last, 95), '.dead')) into v_next from queue_kind k
            where k.p_kind = v_last;
        if v_next = v_last then
            leave chain; -- a name of 100 characters is its own dead letters'
        end if;
        set v_steps = v_steps + 1;
    end while;
end;
--;
-- calls: _queue_add_error, _queue_end, _queue_entry, _queue_index, _queue_log_entries, _queue_members_end
-- changes: delayed_queue, queue_group_member, queue_kind
drop procedure if exists _queue_bury;
--;
create procedure _queue_bury(in in_entry bigint, in in_error longtext character set utf8mb4, in in_now bigint)
    comment 'Moves a message to the dead-letter kind of its kind, with its errors. A key that is taken there gets a
suffix; kind, key, priority and order key are remembered for queue_redrive; those of a dead letter that dies again are
still those of its origin.
in_entry: the message, locked already. in_error: why it died. in_now: the time of the call.
Where its group doesn''t wait for it, its member is done: at the end of the call its caller has _queue_members_settle
see to that.
Locks: as _queue_end; waits for a transaction that is putting the same dead letter.
differs: one message, because a procedure has no arrays; whoever ends many goes by their keys.'
begin
    declare v_kind, v_to_kind, v_source_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_key, v_source_key, v_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_payload, v_headers, v_errors, v_route, v_semaphores, v_roles longtext character set utf8mb4;
    declare v_bytes longblob;
    declare v_priority, v_source_priority smallint;
    declare v_initially, v_member, v_letter bigint;
    declare v_attempts, v_guarded, v_ends int;
    declare v_by varchar(200) character set utf8mb4;
    declare v_suffix varchar(200) character set utf8mb4 default '';
    declare v_created int default 0;
    declare continue handler for not found begin end;
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at_initially, q.errors,
        q.attempts, q.reserved_by, q.route, q.member, coalesce(q.order_key, q.source_order_key), q.semaphores,
        coalesce(q.source_kind, q.p_kind), coalesce(q.source_key, q.p_key), coalesce(q.source_priority, q.priority)
    into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_initially, v_errors, v_attempts, v_by, v_route,
        v_member, v_order, v_semaphores, v_source_kind, v_source_key, v_source_priority
    from delayed_queue q where q.entry = in_entry for update;
    select k.dead_letter_kind, k.roles into v_to_kind, v_roles from queue_kind k where k.p_kind = v_kind;
    set v_to_kind = coalesce(v_to_kind, concat(left(v_kind, 95), '.dead'));
    if v_roles is not null then
        -- not EXISTS in an IF, which would lock the row; there are some where one dies again
        select count(k.roles) into v_guarded from queue_kind k where k.p_kind = v_to_kind;
        if v_guarded = 0 then
            insert into queue_kind (p_kind, roles) values (v_to_kind, v_roles)
            on duplicate key update roles = coalesce(queue_kind.roles, v_roles);
        end if;
    end if;
    call _queue_add_error(v_errors, in_now, v_attempts, v_by, in_error, v_errors);
    update delayed_queue q set q.errors = v_errors where q.entry = in_entry; -- history has them too
    call _queue_end(in_entry, 'dead', v_to_kind, in_now);
    while v_created = 0 do
        call _queue_entry(v_letter);
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, ready_rank, ready_at, errors, source_kind, source_key, source_priority,
            route, member, source_order_key, semaphores)
        values (v_letter, v_to_kind, concat(left(v_key, 200 - char_length(v_suffix)), v_suffix), v_payload, v_bytes,
            v_headers, v_priority, in_now, v_initially, in_now, -v_priority, in_now, v_errors, v_source_kind,
            v_source_key, v_source_priority, v_route, v_member, v_order, v_semaphores)
        on duplicate key update entry = delayed_queue.entry;
        -- looked at, as in _queue_put
        select count(*) into v_created from delayed_queue q
            where q.entry = v_letter and q.source_kind = v_source_kind and q.source_key = v_source_key;
        set v_suffix = concat('~', in_entry, v_suffix); -- an entry number is used once
    end while;
    call _queue_index(json_array(v_letter + 0));
    call _queue_log_entries(json_array(json_array(v_letter + 0, 'pushed')), null, in_now);
    if v_member is not null then
        update queue_group_member m set m.entry = v_letter, m.error = in_error
            where m.member = v_member and m.done_at is null;
        select count(*) into v_ends from queue_group_member m join queue_group g on g.group_name = m.group_name
        where m.member = v_member and m.done_at is null and g.on_dead <> 'wait';
        if v_ends > 0 then
            call _queue_members_end(json_array(v_member + 0), 'dead', null, in_now);
        end if;
    end if;
end;
--;
-- calls: _queue_add_error, _queue_bury, _queue_check_fit, _queue_defaults, _queue_end, _queue_index, _queue_line_up,
--     _queue_number, _queue_text
-- changes: delayed_queue, queue_count
drop procedure if exists _queue_nack;
--;
create procedure _queue_nack(in in_entry bigint, in in_secret binary(16), in in_options longtext character set utf8mb4, in in_now bigint,
    out out_outcome varchar(10) character set utf8mb4)
    comment 'Gives one message back.
in_entry, in_secret: its receipt, taken apart. in_options: those of queue_nack, checked. in_now: the time of the call.
Result: the outcome: retry, dead, lost.
Locks: the message; as _queue_bury where it dies.
differs: the result is a parameter, out_outcome.'
nack: begin
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_by varchar(200) character set utf8mb4;
    declare v_error, v_errors, v_shape longtext character set utf8mb4;
    declare v_counts, v_final, v_pending, v_guarded, v_filter boolean;
    declare v_attempts, v_max_attempts, v_most int;
    declare v_delay, v_none, v_backoff, v_factor, v_longest, v_jitter decimal(30,6);
    declare v_at bigint;
    declare continue handler for not found begin end;
    select q.p_kind, q.attempts, q.max_attempts, q.pending, q.errors, q.reserved_by, q.semaphores is not null
    into v_kind, v_attempts, v_max_attempts, v_pending, v_errors, v_by, v_guarded
    from delayed_queue q where q.entry = in_entry and q.secret = in_secret for update;
    if v_kind is null then
        set out_outcome = 'lost';
        leave nack;
    end if;
    select coalesce(k.max_attempts, 2147483647), k.backoff_seconds, k.backoff_factor, k.backoff_max_seconds, k.jitter,
        k.payload_shape, k.filter_index
    into v_most, v_backoff, v_factor, v_longest, v_jitter, v_shape, v_filter from queue_kind k where k.p_kind = v_kind;
    if v_most is null then
        call _queue_defaults(v_none, v_most, v_backoff, v_factor, v_longest, v_jitter);
    end if;
    set v_counts = coalesce(json_unquote(json_extract(in_options, '$.count')) <> 'false', true),
        v_final = coalesce(json_unquote(json_extract(in_options, '$.final')) = 'true', false);
    if json_contains_path(in_options, 'one', '$.error') then
        call _queue_text(in_options, 'error', v_error);
    end if;
    if json_contains_path(in_options, 'one', '$.delay_seconds') then
        call _queue_number(in_options, 'delay_seconds', 0, 31536000, v_delay);
    end if;
    insert into queue_count (id, p_kind, nacked) values (uuid_short(), v_kind, 1);
    if json_contains_path(in_options, 'one', '$.payload') then
        if v_shape is not null then
            call _queue_check_fit(v_shape, json_extract(in_options, '$.payload'), 'payload');
        end if;
        update delayed_queue q set q.payload = json_extract(in_options, '$.payload'), q.payload_bytes = null
        where q.entry = in_entry;
        if v_filter then
            call _queue_index(json_array(in_entry + 0));
        end if;
    end if;
    if v_final or v_counts and v_attempts >= coalesce(v_max_attempts, v_most) then
        call _queue_bury(in_entry, coalesce(v_error, 'nacked'), in_now);
        set out_outcome = 'dead';
        leave nack;
    end if;
    set out_outcome = 'retry';
    if v_pending is not null then
        call _queue_end(in_entry, null, null, in_now);
        leave nack;
    end if;
    if v_delay is null and v_counts and v_error is not null then
        set v_delay = least(v_backoff * pow(v_factor, least(v_attempts - 1, 100)), v_longest) * (1 - v_jitter * rand());
    end if;
    set v_at = in_now + coalesce(v_delay, 0) * 1000000;
    if v_error is not null then
        call _queue_add_error(v_errors, in_now, v_attempts, v_by, v_error, v_errors);
    end if;
    update delayed_queue q
    set q.scheduled_at = v_at, q.ready_rank = if(v_at <= in_now, -q.priority, null),
        q.ready_at = if(v_at <= in_now, v_at, null), q.due_at = if(v_at > in_now, v_at, null), q.reserved_at = null,
        q.reserved_by = null, q.secret = null, q.attempts = if(v_counts, v_attempts, v_attempts - 1),
        q.errors = v_errors
    where q.entry = in_entry;
    if v_guarded then
        call _queue_line_up(json_array(in_entry + 0));
    end if;
end;
--;
-- calls: _queue_lock
drop procedure if exists _queue_lock_moves;
--;
create procedure _queue_lock_moves(in in_list longtext character set utf8mb4, in in_moves longtext character set utf8mb4, in in_to text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Locks what moves need, sources and the messages that have the keys of the targets, in the order of their
entries, so that moves in opposite directions don''t deadlock.
in_list: their receipts, as _queue_receipts answers them. in_moves: the moves, as in queue_move_many; their places are
those of the list. NULL: all go to in_to; where that is NULL, too, each goes on along its route. in_key: what they are
called there where a move says nothing; NULL: what they are called now.
Locks: as said.
differs: it locks only; the cursor of _queue_move_many has the order in which the moves are made.'
begin
    declare v_targets longtext character set utf8mb4;
    -- keys of an entry never change: a plain read will do
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(t.entry)) into v_targets
    from json_table(in_list, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j straight_join delayed_queue s force index (primary) on s.entry = j.entry and s.secret = unhex(j.secret)
        left join (
            select m.place, m.to_kind, m.p_key
            from json_table(in_moves, '$[*]'
                columns (place for ordinality, to_kind varchar(100) character set utf8mb4 path '$.to_kind',
                p_key varchar(200) character set utf8mb4 path '$.key')) m limit 10000) m on m.place = j.place
        straight_join delayed_queue t force index (delayed_queue_key) on t.p_key = coalesce(m.p_key, in_key, s.p_key)
            and t.p_kind = coalesce(m.to_kind, in_to, if(s.source_kind is null,
                convert(json_value(s.route, '$[0]') using utf8mb4) collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, null));
    if json_length(in_list) > 1 or v_targets is not null then
        call _queue_lock(json_merge_preserve(in_list, coalesce(v_targets, '[]')));
    end if;
end;
--;
-- calls: _queue_check_fit, _queue_check_headers, _queue_end, _queue_fail, _queue_integer, _queue_members_end,
--     _queue_number, _queue_put, _queue_text
drop procedure if exists _queue_move;
--;
create procedure _queue_move(in in_entry bigint, in in_secret binary(16), in in_to_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_options longtext character set utf8mb4, in in_now bigint, out out_outcome varchar(10) character set utf8mb4)
    comment 'Moves one message.
in_entry, in_secret: its receipt, taken apart. in_to_kind, in_options: those of queue_move, checked, and for an ack
next: true, since this is the next step of its route, and result. in_now: the time of the call.
Result: the outcome: moved, duplicate, lost.
Locks: the message, and its key in the target.
differs: the result is a parameter, out_outcome.'
move: begin
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_key, v_other_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_payload, v_headers, v_shape, v_route, v_semaphores longtext character set utf8mb4;
    declare v_bytes longblob;
    declare v_priority smallint;
    declare v_delay decimal(30,6);
    declare v_at, v_member, v_entry, v_other_priority bigint;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    declare v_draining boolean;
    declare v_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare continue handler for not found begin end;
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.route, q.member, q.order_key,
        q.semaphores
    into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_route, v_member, v_order, v_semaphores
    from delayed_queue q where q.entry = in_entry and q.secret = in_secret for update;
    if v_kind is null then
        set out_outcome = 'lost';
        leave move;
    end if;
    call _queue_end(in_entry, 'moved', in_to_kind, in_now);
    if json_contains_path(in_options, 'one', '$.payload') then
        set v_payload = json_extract(in_options, '$.payload'), v_bytes = null;
    end if;
    select k.payload_shape, k.draining and in_to_kind <> v_kind into v_shape, v_draining
    from queue_kind k where k.p_kind = in_to_kind;
    if v_draining then
        call _queue_fail('PQ004', concat('to_kind of "', left(v_key, 40), '"'), in_to_kind,
            'takes in nothing while it is drained');
    elseif v_shape is not null then
        call _queue_check_fit(v_shape, v_payload, concat('payload of "', left(v_key, 40), '"'));
    end if;
    if in_options is not null then
        if json_contains_path(in_options, 'one', '$.headers') then
            call _queue_check_headers(json_extract(in_options, '$.headers'), 'headers', v_headers);
        end if;
        if json_contains_path(in_options, 'one', '$.next') then
            set v_route = if(json_length(v_route) > 1, json_remove(v_route, '$[0]'), null);
        end if;
        call _queue_text(in_options, 'key', v_other_key);
        call _queue_number(in_options, 'delay_seconds', 0, 253402300799, v_delay);
        call _queue_integer(in_options, 'priority', -32768, 32767, v_other_priority);
        call _queue_text(in_options, 'on_duplicate', v_on_duplicate);
    end if;
    call _queue_put(v_entry, in_to_kind, coalesce(v_other_key, v_key), v_payload, v_bytes, v_headers,
        coalesce(v_other_priority, v_priority), in_now, in_now + coalesce(v_delay, 0) * 1000000, 0, null,
        coalesce(v_on_duplicate, 'ignore'), null, v_route, null, v_member, v_order, v_semaphores, v_at, out_outcome);
    if v_member is not null and out_outcome <> 'created' then
        call _queue_members_end(json_array(v_member + 0), 'duplicate', json_extract(in_options, '$.result'), in_now);
    end if;
    set out_outcome = if(out_outcome = 'ignored', 'duplicate', 'moved');
end;
--;
-- calls: _queue_end, _queue_lock_moves, _queue_members_end, _queue_merge_options, _queue_move, _queue_text
-- changes: queue_history
drop procedure if exists _queue_move_many;
--;
create procedure _queue_move_many(in in_list longtext character set utf8mb4, in in_number int, in in_moves longtext character set utf8mb4, in in_options longtext character set utf8mb4,
    in in_now bigint, out out_outcomes longtext character set ascii)
    comment 'Acks messages, or moves them on, each to a kind of its own.
in_list, in_number: the receipts, taken apart, see _queue_receipts, and how many there are. in_moves: where each goes,
with options of its own, as in queue_move_many; NULL: they are acked, or go where their routes or option to say.
in_options: those for all, checked: of queue_move, or of queue_ack where they are acked. in_now: the time of the call.
Result: the outcomes, in their order: acked, moved, duplicate, lost.
Errors: those of queue_move.
Locks: as _queue_lock_moves; then as _queue_end and the keys of the targets; then as _queue_members_settle; their
semaphores at the end of the call, see _queue_permits_note.
differs: the result is out_outcomes, a letter each. On PostgreSQL it makes all again after a deadlock, which here the
call does.'
begin
    declare v_entry, v_member bigint;
    declare v_secret binary(16);
    declare v_place int;
    declare v_kind, v_to_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_to, v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_move, v_options, v_members longtext character set utf8mb4;
    declare c cursor for -- in the order in which keys are put in everywhere
        select o.entry, o.secret, o.place, o.p_kind, o.to_kind, o.member, m.move
        from (
            select s.entry, s.secret, j.place, s.p_kind, s.member, coalesce(k.p_key, v_key, s.p_key) as p_key,
                coalesce(k.to_kind, v_to, if(s.source_kind is null,
                    convert(json_value(s.route, '$[0]') using utf8mb4) collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, null)) as to_kind
            from json_table(in_list, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j straight_join delayed_queue s force index (primary) on s.entry = j.entry and s.secret = unhex(j.secret)
                left join (
                    select t.place, t.to_kind, t.p_key
                    from json_table(in_moves, '$[*]' columns (place for ordinality,
                        to_kind varchar(100) character set utf8mb4 path '$.to_kind',
                        p_key varchar(200) character set utf8mb4 path '$.key')) t
                    limit 10000) k on k.place = j.place
            limit 10000 for update /*!80000 of s */) o
            -- apart, so that what is sorted is small: MySQL has no memory for long texts in a sort
            left join (
                select t.place, t.move
                from json_table(in_moves, '$[*]' columns (place for ordinality, move json path '$')) t
                limit 10000) m on m.place = o.place
        order by o.p_key collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, o.to_kind collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, o.entry;
    set out_outcomes = repeat('l', in_number);
    call _queue_text(in_options, 'to', v_to);
    call _queue_text(in_options, 'key', v_key);
    if in_moves is null then
        set v_options = json_set(json_remove(coalesce(nullif(in_options, 'null'), '{}'), '$.to'), '$.next', true);
    end if;
    call _queue_lock_moves(in_list, in_moves, v_to, v_key);
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_entry, v_secret, v_place, v_kind, v_to_kind, v_member, v_move; end;
    if v_over then leave each_c; end if;
        if v_move is not null then
            call _queue_merge_options(in_options, json_remove(v_move, '$.receipt', '$.to_kind'), v_options);
        end if;
        if v_to_kind is null then
            set v_outcome = 'acked';
            call _queue_end(v_entry, 'acked', null, in_now);
            set v_members = nullif(concat_ws(',', v_members, v_member), '');
        else
            call _queue_move(v_entry, v_secret, v_to_kind, v_options, in_now, v_outcome);
        end if;
        set out_outcomes = insert(out_outcomes, v_place, 1, convert(left(v_outcome, 1) using ascii));
        if json_contains_path(in_options, 'one', '$.result') then
            update queue_history h set h.result = json_extract(in_options, '$.result')
            where h.p_kind = v_kind and h.finished_at = in_now and h.entry = v_entry;
        end if;
    end loop; end; close c;
    if v_members is not null then
        call _queue_members_end(concat('[', v_members, ']'), 'acked', json_extract(in_options, '$.result'), in_now);
    end if;
end;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles, _queue_fail, _queue_text
drop procedure if exists _queue_check_ack;
--;
create procedure _queue_check_ack(in in_options longtext character set utf8mb4)
    comment 'Refuses options that queue_ack doesn''t know.
in_options: those of queue_ack.
Errors: PQ001, PQ002, PQ003.'
begin
    declare v_to longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    call _queue_check_options(in_options, 'result,to,payload', 'options');
    call _queue_check_payload(json_extract(in_options, '$.result'), 'result');
    if json_depth(json_extract(in_options, '$.result')) > 28 then
        call _queue_fail('PQ003', 'result', json_extract(in_options, '$.result'), 'must be at most 28 levels deep');
    end if;
    call _queue_check_payload(json_extract(in_options, '$.payload'), 'payload');
    call _queue_text(in_options, 'to', v_to);
    if v_to is not null then
        call _queue_check_name(v_to, 95, 'to');
        call _queue_check_roles(json_array(v_to));
    end if;
end;
--;
-- calls: _queue_advance, _queue_check_ack, _queue_end, _queue_lock_moves, _queue_members_end, _queue_move,
--     _queue_move_many, _queue_permits_note, _queue_receipt, _queue_text, queue_now
-- changes: delayed_queue, queue_count, queue_history
drop procedure if exists _queue_ack;
--;
create procedure _queue_ack(in in_receipt text character set utf8mb4, in in_options longtext character set utf8mb4, out out_outcome varchar(10) character set utf8mb4)
    comment 'queue_ack without its transaction, for whom may have none of its own.
in_receipt, in_options, and the errors: those of queue_ack. out_outcome: acked, moved, duplicate, lost.
differs: on PostgreSQL queue_ack is called itself: a function needs no transaction of its own.'
begin
    declare v_now, v_entry, v_member bigint;
    declare v_secret binary(16);
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_to text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_keeps, v_pushed boolean;
    declare v_deliveries int;
    declare v_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_outcomes longtext character set ascii;
    declare v_list, v_move, v_semaphores longtext character set utf8mb4;
    declare continue handler for not found begin end;
    call _queue_receipt(in_receipt, v_entry, v_secret);
    if in_options is not null then
        call _queue_check_ack(in_options);
        call _queue_text(in_options, 'to', v_to);
    end if;
    select q.p_kind, coalesce(v_to, if(q.source_kind is null,
            convert(json_value(q.route, '$[0]') using utf8mb4) collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, null)),
        coalesce(in_options is not null or q.member is not null or q.pending is not null or k.history_seconds > 0
            or k.dedup_seconds > 0 or k.log_seconds > 0, false),
        q.source_kind is null, q.deliveries, q.order_key, q.semaphores, q.member
    into v_kind, v_to, v_keeps, v_pushed, v_deliveries, v_order, v_semaphores, v_member
    from delayed_queue q left join queue_kind k on k.p_kind = q.p_kind where q.entry = v_entry and q.secret = v_secret;
    set out_outcome = 'lost';
    if v_kind is not null and v_to is null and not v_keeps then -- most, in one statement
        delete q from delayed_queue q where q.entry = v_entry and q.secret = v_secret and q.pending is null;
        if row_count() > 0 then
            insert into queue_count (id, p_kind, pushed, reserved, acked)
                values (uuid_short(), v_kind, v_pushed, v_deliveries, 1);
            set out_outcome = 'acked';
            if v_order is not null then
                call queue_now(v_now);
                call _queue_advance(json_array(json_array(v_kind, v_order, v_entry + 0)), v_now);
            elseif v_semaphores is not null then
                call _queue_permits_note(v_entry, v_semaphores);
            end if;
        end if;
    end if;
    if out_outcome = 'lost' then
        call queue_now(v_now);
        set v_list = json_array(json_array(v_entry + 0, lower(hex(v_secret)), 1));
        if v_kind is null or v_to is null and not v_keeps then -- or a snapshot that is old
            call _queue_move_many(v_list, 1, null, in_options, v_now, v_outcomes);
            set out_outcome = case v_outcomes when 'a' then 'acked' when 'm' then 'moved' when 'd' then 'duplicate'
                else 'lost' end;
        elseif v_to is not null then
            set v_move = json_set(json_remove(coalesce(nullif(in_options, 'null'), '{}'), '$.to'), '$.next', true),
                v_member = null;
            call _queue_lock_moves(v_list, null, v_to, null);
            call _queue_move(v_entry, v_secret, v_to, v_move, v_now, out_outcome);
        else
            select 'acked' into out_outcome from delayed_queue q where q.entry = v_entry and q.secret = v_secret
            for update;
            if out_outcome = 'acked' then
                call _queue_end(v_entry, 'acked', null, v_now);
            end if;
        end if;
        if json_contains_path(in_options, 'one', '$.result') then
            update queue_history h set h.result = json_extract(in_options, '$.result')
            where h.p_kind = v_kind and h.finished_at = v_now and h.entry = v_entry;
        end if;
        if v_member is not null and out_outcome = 'acked' then
            call _queue_members_end(json_array(v_member + 0), 'acked', json_extract(in_options, '$.result'), v_now);
        end if;
    end if;
end;
--;
-- calls: _queue_check_ack, _queue_end_many, _queue_move_many, _queue_receipts, queue_now
-- changes: delayed_queue, queue_count
drop procedure if exists _queue_ack_many;
--;
create procedure _queue_ack_many(in in_receipts longtext character set utf8mb4, in in_options longtext character set utf8mb4,
    out out_outcomes longtext character set ascii)
    comment 'queue_ack_many without its transaction.
in_receipts, in_options, and the errors: those of queue_ack_many. out_outcomes: a letter a receipt, in their order: a
for acked, m for moved, d for duplicate, l for lost.
differs: on PostgreSQL it is the long way alone; queue_ack_many is called itself, for a function needs no transaction of
its own.'
begin
    declare v_now bigint;
    declare v_number, v_place, v_held, v_pushed, v_reserved int;
    declare v_keeps, v_each, v_turns boolean;
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_list, v_entries, v_places longtext character set utf8mb4;
    declare c cursor for select j.place from json_table(v_places, '$[*]' columns (place int path '$')) j;
    if in_options is null and json_valid(in_receipts) and json_type(in_receipts) = 'ARRAY' then
        set v_number = json_length(in_receipts);
    end if;
    if v_number <= 10000 then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(d.entry), json_arrayagg(d.place), count(*), sum(d.source_kind is null), sum(d.deliveries),
            min(d.p_kind), min(d.p_kind) < max(d.p_kind) or max(d.pending), max(d.routed), max(d.turns)
        into v_entries, v_places, v_held, v_pushed, v_reserved, v_kind, v_keeps, v_each, v_turns
        from (
            select q.entry, j.place, q.p_kind, q.source_kind, q.deliveries, q.pending is not null as pending,
                coalesce(q.route, q.member) is not null as routed,
                coalesce(q.order_key, q.semaphores) is not null as turns
            from (
                select cast(left(r.receipt, char_length(r.receipt) - 33) as signed) as entry,
                    right(r.receipt, 32) as secret, min(r.place) as place
                from json_table(in_receipts, '$[*]' columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r
                where (r.receipt collate utf8mb4_bin regexp '^[0-9]{1,19}-[0-9a-f]{32}\\z' and lpad(r.receipt, 52, '0') < '9223372036854775808') group by 1, 2 order by 1 limit 10000) j
                straight_join delayed_queue q force index (primary)
                    on q.entry = j.entry and q.secret = unhex(j.secret)
            for update /*!80000 of q */) d;
        -- not in a join, whose row of the kind MariaDB would lock as well
        select v_keeps or max(k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0) into v_keeps
        from queue_kind k where k.p_kind = v_kind;
    end if;
    if (v_held = v_number and not v_each) is not true then -- one is none, is lost, stands twice or goes on
        call _queue_receipts(in_receipts, v_list, v_number);
    end if;
    set out_outcomes = repeat('l', v_number);
    if in_options is not null then
        call _queue_check_ack(in_options);
    end if;
    call queue_now(v_now);
    if v_each or in_options is not null then
        call _queue_move_many(v_list, v_number, null, in_options, v_now, out_outcomes);
    elseif v_held > 0 then
        if v_keeps or v_turns then
            call _queue_end_many(v_entries, v_keeps, 'acked', v_now);
        else -- as there, most often
            /*M!100600 set statement sql_safe_updates = 0 for */ delete q from json_table(v_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry;
            insert into queue_count (id, p_kind, pushed, reserved, acked)
            values (uuid_short(), v_kind, v_pushed, v_reserved, v_held);
        end if;
        if v_held = v_number then
            set out_outcomes = repeat('a', v_number);
        else
            open c; begin declare v_over boolean default false; each_c: loop
            begin declare continue handler for not found set v_over = true; fetch c into v_place; end;
            if v_over then leave each_c; end if;
                set out_outcomes = insert(out_outcomes, v_place, 1, 'a');
            end loop; end; close c;
        end if;
    end if;
end;
--;
-- calls: _queue_advance, _queue_end, _queue_permits_note
-- changes: delayed_queue, queue_count, queue_dedup, queue_history
drop procedure if exists _queue_end_many;
--;
create procedure _queue_end_many(in in_entries longtext character set utf8mb4, in in_keeps boolean, in in_outcome varchar(10) character set utf8mb4,
    in in_now bigint)
    comment 'The verb end for many messages: together, or each by _queue_end where a kind of theirs has a log or
something is pending.
in_entries: a JSON array of their entries, locked already. in_keeps: whether a kind of theirs keeps history, keys or a
log, or something is pending. in_outcome: acked or popped. in_now: the time of the call.
Locks: the lines of their order keys, in their order, and the next in each.
differs: on PostgreSQL _queue_end takes many.'
begin
    declare v_entry bigint;
    declare v_lines, v_guarded, v_history, v_dedup longtext character set utf8mb4;
    declare v_each boolean default false;
    declare c cursor for
        select j.entry from /*M!100600 (select * from */ json_table(in_entries, '$[*]' columns (entry bigint path '$')) j /*M!100600 limit 1000000000) j */ order by j.entry;
    if in_keeps then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(if(d.keeps & 1, d.entry, null)), json_arrayagg(if(d.keeps & 2, d.entry, null)),
            max(d.keeps & 4 or d.pending)
        into v_history, v_dedup, v_each
        from (
            select q.entry, q.pending is not null as pending, (select if(k.history_seconds > 0, 1, 0)
                + if(k.dedup_seconds > 0, 2, 0) + if(k.log_seconds > 0, 4, 0)
                from queue_kind k where k.p_kind = q.p_kind) as keeps
            from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry for update /*!80000 of q */) d;
    end if;
    if v_each then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(l.p_kind, l.order_key)) into v_lines
        from (select q.p_kind, q.order_key from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry where q.order_key is not null for update /*!80000 of q */) l;
        if v_lines is not null then -- in their order, as everywhere: each by itself would be in that of the entries
            select count(*) into v_entry
            from (
                select o.first
                from /*M!100600 (select * from */ json_table(v_lines, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', order_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]')) j /*M!100600 limit 1000000000) j */
                    straight_join queue_order o force index (primary)
                        on o.p_kind = j.p_kind and o.order_key = j.order_key
                order by j.p_kind, j.order_key limit 1000000000 for update /*!80000 of o */) l;
        end if;
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_entry; end;
        if v_over then leave each_c; end if;
            call _queue_end(v_entry, in_outcome, null, in_now);
        end loop; end; close c;
    else
        if in_keeps then
            insert into queue_history (p_kind, p_key, entry, outcome, payload, payload_bytes, headers, priority,
                scheduled_at_initially, created_at, reserved_at, finished_at, attempts, reserved_by, errors)
            select q.p_kind, q.p_key, q.entry, in_outcome, q.payload, q.payload_bytes, q.headers, q.priority,
                q.scheduled_at_initially, q.created_at, if(in_outcome = 'popped', in_now, q.reserved_at), in_now,
                q.attempts + (in_outcome = 'popped'), if(in_outcome = 'popped', null, q.reserved_by), q.errors
            from json_table(v_history, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry;
            insert into queue_dedup (p_kind, p_key, ended_at)
            select q.p_kind, q.p_key, in_now
            from json_table(v_dedup, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry order by q.p_key, q.p_kind on duplicate key update ended_at = in_now;
        end if;
        insert into queue_count (id, p_kind, pushed, reserved, acked, popped)
        select uuid_short(), q.p_kind, sum(q.source_kind is null), sum(q.deliveries),
            if(in_outcome = 'acked', count(*), null), if(in_outcome = 'popped', count(*), null)
        from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
        group by q.p_kind;
        /*M!100600 set statement sql_safe_updates = 0 for */ delete q from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry where q.order_key is null and q.semaphores is null;
        if row_count() < json_length(in_entries) then -- the others stand in lines, or have permits
            -- read with a lock, because an old snapshot may not have them
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(l.p_kind, l.order_key, l.entry)) into v_lines
            from (select q.p_kind, q.order_key, q.entry
                from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry where q.order_key is not null for update /*!80000 of q */) l;
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.entry) into v_guarded
            from (select q.entry from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry where q.semaphores is not null for update /*!80000 of q */) l;
            /*M!100600 set statement sql_safe_updates = 0 for */ delete q from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry;
        end if;
        if v_guarded is not null then
            call _queue_permits_note(v_guarded, '[]');
        end if;
        if v_lines is not null then
            call _queue_advance(v_lines, in_now);
        end if;
    end if;
end;
--;
-- calls: _queue_advance, _queue_log, _queue_permits_note, _queue_put
-- changes: delayed_queue, queue_count, queue_dedup, queue_history
drop procedure if exists _queue_end;
--;
create procedure _queue_end(in in_entry bigint, in in_outcome varchar(10) character set utf8mb4, in in_to_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_now bigint)
    comment 'The verb end: counts and removes what has ended, and does what hangs on it, in one order of locks. What its
kind wants kept is kept (history, key, log); the next of its line is first; what was pushed onto it while it was held is
put in, as a new entry with the same route before it, and the same semaphores; which is the same member of its group
where it takes the place of this one, and stands at the end of the line of its order key.
in_entry: the message, locked already. in_outcome: acked, popped, moved, dead, removed, of which what is pending goes
too; dropped: the same with its kind, so that nothing is kept; NULL: it makes room for what is pending, and nothing is
kept. in_to_kind: where it went, NULL: nowhere.
in_now: the time of the call.
Locks: the next in the line of its order key; then the key of what is pending.
differs: one message, because a procedure has no arrays; that it names semaphores is noted for the end of the call. What
is plain ends in one statement in _queue_ack, and many together in _queue_end_many.'
begin
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_key, v_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_payload, v_headers, v_route, v_semaphores longtext character set utf8mb4;
    declare v_bytes longblob;
    declare v_priority smallint;
    declare v_max_attempts, v_deliveries int;
    declare v_at, v_member, v_entry bigint;
    declare v_pending, v_history, v_dedup, v_logs, v_pushed boolean;
    declare v_outcome varchar(10) character set utf8mb4;
    declare continue handler for not found begin end;
    select q.p_kind, q.p_key, q.pending, q.source_kind is null, q.deliveries, q.order_key, q.semaphores
    into v_kind, v_key, v_pending, v_pushed, v_deliveries, v_order, v_semaphores
    from delayed_queue q where q.entry = in_entry for update;
    select k.history_seconds > 0, k.dedup_seconds > 0, k.log_seconds > 0 into v_history, v_dedup, v_logs
        from queue_kind k where k.p_kind = v_kind;
    if in_outcome in ('removed', 'dropped') then
        set v_pending = null;
    end if;
    if v_history and in_outcome <> 'dropped' then
        insert into queue_history (p_kind, p_key, entry, outcome, to_kind, payload, payload_bytes, headers, priority,
            scheduled_at_initially, created_at, reserved_at, finished_at, attempts, reserved_by, errors)
        select q.p_kind, q.p_key, q.entry, in_outcome, in_to_kind, q.payload, q.payload_bytes, q.headers, q.priority,
            q.scheduled_at_initially, q.created_at, if(in_outcome = 'popped', in_now, q.reserved_at), in_now,
            q.attempts + (in_outcome = 'popped'), if(in_outcome = 'popped', null, q.reserved_by), q.errors
        from delayed_queue q where q.entry = in_entry;
    end if;
    if v_dedup and in_outcome in ('acked', 'popped', 'moved') then
        insert into queue_dedup (p_kind, p_key, ended_at) values (v_kind, v_key, in_now)
        on duplicate key update ended_at = in_now;
    end if;
    if v_logs and in_outcome <> 'dropped' then
        call _queue_log(in_entry, in_outcome, in_to_kind, null, null, in_now);
    end if;
    if v_pending then
        select if(q.pending_payload is null and q.pending_bytes is null, q.payload, q.pending_payload),
            if(q.pending_payload is null and q.pending_bytes is null, q.payload_bytes, q.pending_bytes),
            if(q.pending_payload is null and q.pending_bytes is null, q.headers, q.pending_headers),
            q.priority, q.max_attempts, greatest(coalesce(q.pending_at, 0), in_now), q.route,
            if(in_outcome is null, q.member, null)
        into v_payload, v_bytes, v_headers, v_priority, v_max_attempts, v_at, v_route, v_member
        from delayed_queue q where q.entry = in_entry for update;
    end if;
    insert into queue_count (id, p_kind, pushed, reserved, popped, acked, moved, dead)
    values (uuid_short(), v_kind, v_pushed, v_deliveries, if(in_outcome = 'popped', 1, null),
        if(in_outcome = 'acked', 1, null), if(in_outcome = 'moved', 1, null), if(in_outcome = 'dead', 1, null));
    delete q from delayed_queue q where q.entry = in_entry;
    if v_order is not null then
        call _queue_advance(json_array(json_array(v_kind, v_order, in_entry + 0)), in_now);
    elseif v_semaphores is not null then
        call _queue_permits_note(in_entry, v_semaphores);
    end if;
    if v_pending then
        call _queue_put(v_entry, v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, in_now, v_at, 0,
            v_max_attempts, 'ignore', null, v_route, null, v_member, v_order, v_semaphores, v_at, v_outcome);
    end if;
end;
--;
-- calls: _queue_ack
drop procedure if exists queue_ack;
--;
create procedure queue_ack(in in_receipt text character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'The work is done: removes the message. It is kept in queue_history where the kind has history_seconds. What
was pushed onto it while it was held is put in now.
in_receipt: what queue_reserve returned.
in_options: what came of it, and where it goes.
- result: what came of the work. It is kept in queue_history and given to the group of the message. Allowed: JSON, at
  most 28 levels deep. Default: none.
- to: the kind that the message goes on to. So a consumer can choose. Allowed: a kind, 1 to 95 characters. Default:
  the next kind of its route; without a route the message ends.
- payload: the payload that it goes on with. It is ignored where the message ends here. Allowed: JSON. Default: the
  payload stays.
A message that has a route, see queue_push, moves on to the next kind of that, or to the one of option to instead. The
rest of the route goes with it. Moving on is queue_move: a new entry in the same transaction. A dead letter stays off
its route unless it is redriven: its ack ends it.
Result: receipt, outcome: acked; moved, to the next kind; duplicate: its key is taken there, see queue_move; lost:
somebody else has got the message since, or it was acked, moved or removed. After the timeout, but before the next
delivery, an ack still counts. lost is an answer: nothing has changed.
Errors: PQ007 for a kind that is for others. PQ005 for what is no receipt, PQ001 for to, PQ002 for options, PQ003 for
result and payload, PQ004 where the next kind is drained; then it is still held.
Locks: the message and the next in the line of its order key. Where it goes on, also the first of that line there and
the one that has its key there, in the order of their entries. Its semaphores.
Where the idea comes from: Keuss''s pipelines, with their direct, choice and sink links.'
begin
    declare v_outcome varchar(10) character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_ack(in_receipt, in_options, v_outcome);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_receipt as receipt, v_outcome as outcome;
end;
--;
-- calls: _queue_ack_many
drop procedure if exists queue_ack_many;
--;
create procedure queue_ack_many(in in_receipts longtext character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'The work of many messages is done: queue_ack for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: as in queue_ack, for each of them.
Result: a row a receipt, in their order: receipt, outcome: acked, moved, duplicate, lost; a receipt that stands twice is
lost the second time.
Errors: PQ005 with the first that is no receipt, and those of queue_ack; then nothing is acked.
Locks: as queue_ack, all in the order of their entries.'
begin
    declare v_outcomes longtext character set ascii;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_ack_many(in_receipts, in_options, v_outcomes);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select r.receipt, case substr(v_outcomes, r.place, 1) when 'a' then 'acked' when 'm' then 'moved'
        when 'd' then 'duplicate' else 'lost' end
        as outcome
    from /*M!100600 (select * from */ json_table(in_receipts, '$[*]' columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r /*M!100600 limit 1000000000) r */ order by r.place;
end;
--;
-- calls: _queue_check_nack, _queue_nack, _queue_receipt, queue_now
drop procedure if exists queue_nack;
--;
create procedure queue_nack(in in_receipt text character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'Gives a message back for a later try. A nack of the last delivery that it may have (max_attempts) makes it
a dead letter.
in_receipt: what queue_reserve returned.
in_options: why, and until when.
- delay_seconds: how long the message waits. Allowed: 0 to 31536000 (a year). Default: without an error 0; with an
  error the back-off of the kind, which is backoff_seconds * backoff_factor ^ (attempts - 1), at most
  backoff_max_seconds, less up to the share jitter of it at random.
- error: what went wrong. The last ten are kept with the message. Allowed: a text. Default: none, the message didn''t
  fail.
- payload: takes the place of the payload. Allowed: JSON. Default: the payload stays.
- final: makes the message a dead letter at once. Allowed: true, false. Default: false.
- count: false means that the delivery doesn''t count as an attempt, and that there is no back-off: a snooze, or a
  shutdown. Allowed: true, false. Default: true.
Result: receipt, outcome: retry, dead, lost (see queue_ack). What was pushed onto the message while it was held takes
its place, with the time it asks for.
Errors: PQ005 for what is no receipt, PQ002 for options, PQ003 for the payload.
Locks: the message, and where it dies its key in the dead-letter kind; its semaphores.'
begin
    declare v_now, v_entry bigint;
    declare v_secret binary(16);
    declare v_outcome varchar(10) character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_receipt(in_receipt, v_entry, v_secret);
        call _queue_check_nack(in_options);
        call queue_now(v_now);
        call _queue_nack(v_entry, v_secret, in_options, v_now, v_outcome);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_receipt as receipt, v_outcome as outcome;
end;
--;
-- calls: _queue_check_nack, _queue_lock, _queue_nack, _queue_receipts, queue_now
drop procedure if exists queue_nack_many;
--;
create procedure queue_nack_many(in in_receipts longtext character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'Gives many messages back: queue_nack for each, in one call.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: those of queue_nack, for all.
Result: a row a receipt, in their order: receipt, outcome: retry, dead, lost; one that stands twice is lost the second
time.
Errors: PQ005 with the first that is no receipt, PQ002 for options, PQ003 for the payload; then nothing is given back.
Locks: as queue_nack, in the order of the entries.'
begin
    declare v_now, v_entry bigint;
    declare v_secret binary(16);
    declare v_number, v_place int;
    declare v_list longtext character set utf8mb4;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_outcomes longtext character set ascii;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare c cursor for -- dead letters are put in in the order of their keys, as everywhere
            select q.entry, q.secret, j.place
            from json_table(v_list, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.secret = unhex(j.secret) order by q.p_key, q.p_kind for update /*!80000 of q */;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_receipts(in_receipts, v_list, v_number);
        call _queue_check_nack(in_options);
        set v_outcomes = repeat('l', v_number);
        call _queue_lock(v_list);
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_entry, v_secret, v_place; end;
        if v_over then leave each_c; end if;
            call _queue_nack(v_entry, v_secret, in_options, v_now, v_outcome);
            set v_outcomes = insert(v_outcomes, v_place, 1, left(v_outcome, 1));
        end loop; end; close c;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select r.receipt, case substr(v_outcomes, r.place, 1) when 'r' then 'retry' when 'd' then 'dead'
        else 'lost' end as outcome
    from /*M!100600 (select * from */ json_table(in_receipts, '$[*]' columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r /*M!100600 limit 1000000000) r */ order by r.place;
end;
--;
-- calls: _queue_check_move, _queue_check_roles, _queue_lock_moves, _queue_move, _queue_receipt, _queue_text,
--     queue_now
drop procedure if exists queue_move;
--;
create procedure queue_move(in in_receipt text character set utf8mb4, in in_to_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4)
    comment 'Moves a message on to the next kind, atomically: it is in one of the two at every instant.
in_receipt: what queue_reserve returned.
in_to_kind: the kind, 1 to 95 characters.
in_options: what changes on the way.
- payload: takes the place of the payload. Allowed: JSON. Default: the payload stays.
- headers: take the place of the headers. Allowed: an object of strings, numbers, booleans and nulls. Default: the
  headers stay.
- key: the key in the new kind. Allowed: 1 to 200 characters. Default: its own key.
- delay_seconds: how long it waits there. Allowed: 0 or more, up to the year 9999. Default: 0.
- priority: its priority there. Allowed: -32768 to 32767. Default: its own priority.
- on_duplicate: what happens where the key is taken there, as in queue_push. Allowed: ignore, replace, keep_time,
  push_back. Default: ignore.
A route of the message stays before it. It waits for its semaphores anew.
Result: receipt, outcome: moved, as a new entry with attempts 0, or with on_duplicate onto the message that has the
key there; duplicate: the key is taken there, the message there stays and this one is removed; lost (see queue_ack).
Errors: PQ007 for a kind that is for others. PQ005 for what is no receipt, PQ001 for to_kind and key, PQ002 for options,
PQ003 for payload and headers, PQ004 for a target that is drained, unless it is the kind itself.
Locks: the message and the one that has its key in the target, in the order of their entries; its semaphores.
Where the idea comes from: Keuss''s move-to-queue.'
begin
    declare v_now, v_entry bigint;
    declare v_secret binary(16);
    declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_outcome varchar(10) character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_receipt(in_receipt, v_entry, v_secret);
        call _queue_check_move(in_to_kind, in_options, v_now, '');
        call _queue_check_roles(json_array(in_to_kind));
        call _queue_text(in_options, 'key', v_key);
        call _queue_lock_moves(json_array(json_array(v_entry + 0, lower(hex(v_secret)), 1)), null, in_to_kind, v_key);
        call _queue_move(v_entry, v_secret, in_to_kind, in_options, v_now, v_outcome);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_receipt as receipt, v_outcome as outcome;
end;
--;
-- calls: _queue_check_json, _queue_check_move, _queue_check_options, _queue_check_roles, _queue_fail,
--     _queue_merge_options, _queue_move_many, _queue_receipts, queue_now
drop procedure if exists queue_move_many;
--;
create procedure queue_move_many(in in_moves longtext character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'Moves many messages on, each to a kind of its own: queue_move for each, in one call and one transaction.
in_moves: a JSON array of at most 10000 objects {receipt, to_kind, and move options}; NULL: none. in_options: move
options for all; those of a move win.
Result: a row a move, in their order: receipt, outcome: moved, duplicate, lost; a receipt that stands twice is lost the
second time.
Errors: those of queue_move, naming the place as moves[0], moves[1], …; then nothing is moved.
Locks: as queue_move, all in the order of their entries.'
begin
    declare v_now bigint;
    declare v_number, v_place int;
    declare v_to_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_list, v_move, v_options, v_receipts longtext character set utf8mb4;
    declare v_outcomes longtext character set ascii;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare a cursor for
            select m.to_kind, m.move
            from json_table(in_moves, '$[*]'
                columns (to_kind text character set utf8mb4 path '$.to_kind', move json path '$')) m;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_json(coalesce(in_moves, '[]'), 'PQ003', 'moves');
        call _queue_check_options(in_options, 'payload,headers,key,delay_seconds,priority,on_duplicate', 'options');
        set in_moves = if(json_type(in_moves) <> 'NULL', in_moves, '[]'), v_place = 0;
        if json_type(in_moves) <> 'ARRAY' or exists (
            select 1 from json_table(in_moves, '$[*]' columns (move json path '$')) m where coalesce(json_type(m.move), 'NULL') <> 'OBJECT') then
            call _queue_fail('PQ001', 'moves', in_moves,
                'must be a JSON array of {receipt, to_kind, and move options}');
        end if;
        set v_receipts = coalesce(json_extract(in_moves, '$[*].receipt'), '[]');
        call _queue_receipts(v_receipts, v_list, v_number);
        if v_number <> json_length(in_moves) then
            call _queue_fail('PQ005', 'moves', in_moves, 'must have a receipt each');
        end if;
        open a; begin declare v_over boolean default false; each_a: loop
        begin declare continue handler for not found set v_over = true; fetch a into v_to_kind, v_move; end;
        if v_over then leave each_a; end if;
            call _queue_merge_options(in_options, json_remove(v_move, '$.receipt', '$.to_kind'), v_options);
            call _queue_check_move(v_to_kind, v_options, v_now, concat('moves[', v_place, '].'));
            set v_place = v_place + 1;
        end loop; end; close a;
        call _queue_check_roles(json_extract(in_moves, '$[*].to_kind'));
        call _queue_move_many(v_list, v_number, in_moves, in_options, v_now, v_outcomes);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select m.receipt, case substr(v_outcomes, m.place, 1) when 'm' then 'moved' when 'd' then 'duplicate'
        else 'lost' end
        as outcome
    from json_table(in_moves, '$[*]'
        columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$.receipt')) m order by m.place;
end;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_end, queue_now
drop procedure if exists queue_remove;
--;
create procedure queue_remove(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Removes a message that nobody holds.
in_kind: the kind. in_key: the key.
Result: outcome: removed, held (it stays), absent.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key.
Locks: the message, the next in the line of its order key, and its semaphores.'
begin
    declare v_held boolean;
    declare v_now, v_entry bigint;
    declare v_outcome varchar(10) character set utf8mb4;
    declare continue handler for not found begin end;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        call _queue_check_name(in_key, 200, 'key');
        set v_entry = null, v_held = false, v_outcome = 'absent';
        select q.entry, q.reserved_at is not null and q.scheduled_at > v_now into v_entry, v_held
        from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
        if v_held then
            set v_outcome = 'held';
        elseif v_entry is not null then
            call _queue_end(v_entry, 'removed', null, v_now);
            set v_outcome = 'removed';
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_outcome as outcome;
end;
--;
-- calls: _queue_check_count, _queue_check_name, _queue_check_roles, _queue_end, queue_now
drop procedure if exists queue_purge;
--;
create procedure queue_purge(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages bigint)
    comment 'Removes the messages of a kind that nobody holds.
in_kind: the kind. in_max_messages: how many at the most, NULL: all.
Result: purged: how many.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages.
Locks: the messages; what others have locked is left. Then the next in the lines of their order keys, and their
semaphores.'
begin
    declare v_now, v_entry, v_purged bigint;
    declare v_most bigint default coalesce(in_max_messages, 9223372036854775807);
    declare continue handler for not found begin end;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare c cursor for
            select q.entry from delayed_queue q force index (delayed_queue_key)
            where q.p_kind = in_kind and (q.reserved_at is null or q.scheduled_at <= v_now)
            order by q.p_kind, q.p_key limit v_most for update skip locked;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        call _queue_check_count(v_most, 'max_messages', 9223372036854775807);
        set v_purged = 0;
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_entry; end;
        if v_over then leave each_c; end if;
            call _queue_end(v_entry, 'removed', null, v_now);
            set v_purged = v_purged + 1;
        end loop; end; close c;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_purged as purged;
end;
--;
-- calls: _queue_check_count, _queue_check_name, _queue_check_roles, _queue_end, _queue_put, queue_now
-- changes: delayed_queue
drop procedure if exists queue_redrive;
--;
create procedure queue_redrive(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages bigint)
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
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_key, v_order, v_letter, v_last varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_payload, v_headers, v_errors, v_route, v_semaphores longtext character set utf8mb4;
    declare v_bytes longblob;
    declare v_priority smallint;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_most, v_look bigint default coalesce(in_max_messages, 9223372036854775807);
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
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
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
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
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_entry, v_letter; end;
        if v_over then leave each_c; end if;
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
        end loop; end; close c;
        select count(*) into v_stayed from delayed_queue q force index (delayed_queue_key)
        where q.p_kind = in_kind and (v_went < v_most or q.p_key <= v_last) and q.source_kind is not null
            and q.pending is null and (q.reserved_at is null or q.scheduled_at <= v_now)
            and ((select t.entry from delayed_queue t
                    where t.p_kind = q.source_kind and t.p_key = q.source_key) is not null
                or (select k.draining from queue_kind k where k.p_kind = q.source_kind));
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_went as went, v_stayed as stayed;
end;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_roles, _queue_epoch, _queue_fail, _queue_index,
--     _queue_instant, _queue_integer, _queue_log_entries, _queue_text, queue_now
-- changes: delayed_queue
drop procedure if exists queue_replay;
--;
create procedure queue_replay(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_filter longtext character set utf8mb4)
    comment 'Puts what a kind keeps in queue_history back, as new entries with attempts 0 that are ready now, in the
order in which they had ended.
in_kind: the kind whose history it is.
in_filter: which of it, all conditions together.
- outcome: how it ended. Allowed: acked, popped, moved, dead, removed. Default: any.
- p_key: its key. Allowed: 1 to 200 characters. Default: any.
- from: when it ended, from this time on. Allowed: as scheduled_at of queue_push. Default: the oldest.
- to: when it ended, before this time. Allowed: as scheduled_at of queue_push. Default: the newest.
- limit: how many, the oldest first. For more go on by from and to. Allowed: 1 to 10000. Default: 1000.
- to_kind: where it goes. Allowed: a kind, 1 to 100 characters. Default: the kind itself.
Result: went: how many; stayed: how many whose key is taken there, or that a newer one of their key went instead of. A
key that is only remembered (dedup_seconds) doesn''t hinder it. What isn''t of the payload_shape there is dead at the
next reserve.
Errors: PQ007 for a kind that is for others. PQ001 for kind and to_kind, PQ002 for filter, PQ004 where the target is
drained.
Locks: none; keys are put in in their order.'
begin
    declare v_went, v_looked bigint;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_shift, v_now, v_from, v_to, v_limit bigint;
        declare v_outcome, v_key, v_to_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare v_list longtext character set utf8mb4;
        declare v_draining, v_filter, v_logs boolean;
        declare continue handler for not found begin end;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        set v_went = null, v_looked = null;
        call queue_now(v_now);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_options(in_filter, 'outcome,p_key,from,to,limit,to_kind', 'filter');
        call _queue_text(in_filter, 'outcome', v_outcome);
        call _queue_text(in_filter, 'p_key', v_key);
        call _queue_instant(in_filter, 'from', v_from);
        call _queue_instant(in_filter, 'to', v_to);
        call _queue_integer(in_filter, 'limit', 1, 10000, v_limit);
        call _queue_text(in_filter, 'to_kind', v_to_kind);
        set v_to_kind = coalesce(v_to_kind, in_kind), v_limit = coalesce(v_limit, 1000), v_from = coalesce(v_from, 0),
            v_to = coalesce(v_to, 9223372036854775807);
        call _queue_check_name(v_to_kind, 100, 'to_kind');
        call _queue_check_roles(json_array(in_kind, v_to_kind));
        if v_outcome not in ('acked', 'popped', 'moved', 'dead', 'removed') then
            call _queue_fail('PQ002', 'outcome', v_outcome, 'must be acked, popped, moved, dead or removed');
        end if;
        select k.draining, k.filter_index, k.log_seconds > 0 into v_draining, v_filter, v_logs from queue_kind k
            where k.p_kind = v_to_kind;
        if v_draining then
            call _queue_fail('PQ004', 'to_kind', v_to_kind, 'takes in nothing while it is drained');
        end if;
        call _queue_epoch(v_shift);
        -- numbered in the order in which they ended, though put in in the order of the keys; of one key the newest
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(s.entry, s.finished_at, s.old)) into v_list
        from (
            select n.entry, n.finished_at, n.old
            from (
                select ((uuid_short() << 8) & 9223372036854775807) + v_shift as entry, d.p_key, d.finished_at, d.old
                from (
                    (select h.p_key, h.finished_at, h.entry as old from queue_history h force index (primary)
                        where v_key is null and h.p_kind = in_kind and h.finished_at >= v_from and h.finished_at < v_to
                            and h.outcome = coalesce(v_outcome, h.outcome)
                        order by h.finished_at, h.entry limit v_limit)
                    union all
                    (select h.p_key, h.finished_at, h.entry from queue_history h force index (queue_history_key)
                        where h.p_kind = in_kind and h.p_key = v_key and h.finished_at >= v_from
                            and h.finished_at < v_to
                            and h.outcome = coalesce(v_outcome, h.outcome)
                        order by h.finished_at, h.entry limit v_limit)) d
                limit 1000000000) n
            order by n.p_key, n.finished_at desc, n.old desc limit 1000000000) s;
        set v_looked = coalesce(json_length(v_list), 0), v_list = coalesce(v_list, '[]');
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, ready_rank, ready_at)
        select j.entry, v_to_kind, h.p_key, h.payload, h.payload_bytes, h.headers, h.priority, v_now, v_now, v_now,
            -h.priority, v_now
        from json_table(v_list, '$[*]' columns (entry bigint path '$[0]', finished_at bigint path '$[1]', old bigint path '$[2]')) j
            straight_join queue_history h force index (primary)
                on h.p_kind = in_kind and h.finished_at = j.finished_at and h.entry = j.old
            left join delayed_queue q force index (delayed_queue_key) on q.p_kind = v_to_kind and q.p_key = h.p_key
        where q.entry is null or @pyqueue_own is not true
        on duplicate key update entry = delayed_queue.entry;
        select count(*) into v_went
        from json_table(v_list, '$[*]' columns (entry bigint path '$[0]')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry;
        if v_filter then
            call _queue_index(json_extract(v_list, '$[*][0]'));
        end if;
        if v_logs then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(s.entry + 0, 'pushed')) into v_list
            from (select j.entry from /*M!100600 (select * from */ json_table(v_list, '$[*]' columns (entry bigint path '$[0]')) j /*M!100600 limit 1000000000) j */
                order by j.entry limit 1000000000) s;
            call _queue_log_entries(coalesce(v_list, '[]'), null, v_now);
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_went as went, v_looked - v_went as stayed;
end;
--;
-- changes: delayed_queue, queue_order, queue_order_waiting
drop procedure if exists _queue_join_line;
--;
create procedure _queue_join_line(in in_entries longtext character set utf8mb4)
    comment 'Messages that were just put in take their places in the lines of their order keys: at the end, where all
but the first of a line wait; line by line, so that batches that overlap don''t deadlock.
in_entries: a JSON array of the messages, which have a place or a date, and their order key, or none.
Locks: the lines, in their order, until the transaction ends.
differs: PostgreSQL locks the first of each line by _queue_line.'
begin
    declare v_wait longtext character set utf8mb4;
    insert into queue_order (p_kind, order_key, first)
    select s.p_kind, s.order_key, s.first
    from (
        select q.p_kind, q.order_key, min(q.entry) as first from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry where q.order_key is not null
        group by q.p_kind, q.order_key limit 1000000000) s
    order by s.p_kind, s.order_key
    on duplicate key update first = queue_order.first;
    -- the newest, which an old snapshot doesn't have
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.entry + 0) into v_wait
    from (
        select q.entry from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
            straight_join queue_order o force index (primary) on o.p_kind = q.p_kind and o.order_key = q.order_key
        where o.first <> q.entry for update /*!80000 of o */) l;
    if v_wait is not null then
        insert into queue_order_waiting (p_kind, order_key, entry)
        select q.p_kind, q.order_key, q.entry from json_table(v_wait, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry;
        /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(v_wait, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry set q.order_waits = true, q.ready_rank = null, q.ready_at = null, q.due_at = null;
    end if;
end;
--;
-- changes: delayed_queue, queue_order, queue_order_waiting
drop procedure if exists _queue_advance;
--;
create procedure _queue_advance(in in_list longtext character set utf8mb4, in in_now bigint)
    comment 'Messages of lines have ended, in this transaction. Where one was the first of its line, the next, that of
the lowest entry, gets its place in the ready line, or its date in the timetable where its delivery time has not come.
What ends a message that stands in a line calls it.
in_list: a JSON array of [kind, order key, entry]: the messages, which are gone; where one was neither the first nor
waiting nothing happens. in_now: the time of the call.
Locks: the lines, in their order, and the next of each, until the transaction ends.
differs: PostgreSQL takes lines, of which the first are gone.'
begin
    declare v_next longtext character set utf8mb4;
    /*M!100600 set statement sql_safe_updates = 0 for */ delete w from json_table(in_list, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', order_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]', entry bigint path '$[2]')) j
        straight_join queue_order_waiting w force index (primary)
            on w.p_kind = j.p_kind and w.order_key = j.order_key and w.entry = j.entry;
    if row_count() < json_length(in_list) then
        -- the newest of both, which an old snapshot doesn't have
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.entry) into v_next
        from (
            select (
                    select w.entry from queue_order_waiting w force index (primary)
                    where w.p_kind = o.p_kind and w.order_key = o.order_key
                    order by w.p_kind, w.order_key, w.entry limit 1 for update) as entry
            from /*M!100600 (select * from */ json_table(in_list, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', order_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]', entry bigint path '$[2]')) j /*M!100600 limit 1000000000) j */
                straight_join queue_order o force index (primary) on o.p_kind = j.p_kind
                    and o.order_key = j.order_key and o.first = j.entry
            order by j.p_kind, j.order_key limit 1000000000 for update /*!80000 of o */) l
        where l.entry is not null;
        if v_next is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(v_next, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
                straight_join queue_order o force index (primary) on o.p_kind = q.p_kind and o.order_key = q.order_key
            set o.first = q.entry, q.order_waits = null,
                q.ready_rank = if(q.scheduled_at <= in_now, -q.priority, null),
                q.ready_at = if(q.scheduled_at <= in_now, in_now, null),
                q.due_at = if(q.scheduled_at > in_now, q.scheduled_at, null);
            /*M!100600 set statement sql_safe_updates = 0 for */ delete w from json_table(v_next, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
                straight_join queue_order_waiting w force index (primary)
                    on w.p_kind = q.p_kind and w.order_key = q.order_key and w.entry = q.entry;
        end if;
        /*M!100600 set statement sql_safe_updates = 0 for */ delete o from json_table(in_list, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', order_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]', entry bigint path '$[2]')) j
            straight_join queue_order o force index (primary) on o.p_kind = j.p_kind and o.order_key = j.order_key
                and o.first = j.entry;
    end if;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_semaphores;
--;
create procedure _queue_semaphores(in in_options longtext character set utf8mb4, out out_names longtext character set utf8mb4)
    comment 'The semaphores of a push, checked.
in_options: those of a push.
Result: their names, in order; NULL: none.
Errors: PQ002, also for one that isn''t there, and together with an order key.
differs: the result is out_names, a JSON array.'
names: begin
    declare v_number, v_bad int default 0;
    declare v_missing varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    set out_names = json_extract(in_options, '$.semaphores');
    if coalesce(json_type(out_names), 'NULL') = 'NULL' then
        set out_names = null;
        leave names;
    elseif json_type(out_names) = 'ARRAY' then
        select count(distinct n.name),
            coalesce(sum(json_type(n.value) <> 'STRING' or char_length(n.name) not between 1 and 100), 0)
        into v_number, v_bad
        from json_table(out_names, '$[*]' columns (name varchar(101) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$', value json path '$')) n;
    end if;
    if v_bad > 0 or v_number not between 1 and 8 or v_number <> json_length(out_names) then
        call _queue_fail('PQ002', 'semaphores', out_names,
            'must be an array of 1 to 8 different names of 1 to 100 characters');
    end if;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(o.name) into out_names
    from (select n.name from /*M!100600 (select * from */ json_table(out_names, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) n /*M!100600 limit 1000000000) n */ order by n.name limit 8) o;
    if coalesce(json_type(json_extract(in_options, '$.order_key')), 'NULL') <> 'NULL' then
        call _queue_fail('PQ002', 'semaphores', out_names, 'can''t be together with an order_key');
    end if;
    select min(n.name) into v_missing
    from json_table(out_names, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) n left join queue_semaphore s on s.name = n.name
    where s.name is null;
    if v_missing is not null then
        call _queue_fail('PQ002', 'semaphores', v_missing, 'must be there: queue_semaphore makes it');
    end if;
end;
--;
drop procedure if exists _queue_permits_lock;
--;
create procedure _queue_permits_lock(in in_names longtext character set utf8mb4, in in_wait boolean, out out_locked longtext character set utf8mb4)
    comment 'Locks semaphores: who has locked one takes its free permits, and nobody else. The last that a call locks,
so that whoever waits for one keeps nobody waiting that has it.
in_names: the semaphores. in_wait: false: what others have locked is left out, which is for who has locked some already.
Result: the names of those that are there and locked.
Locks: these rows, in the order of their names.
differs: the result is out_locked, a JSON array; @pyqueue_permit_held says until the call ends that some are locked.'
begin
    declare v_all longtext character set utf8mb4 default in_names;
    declare v_more longtext character set utf8mb4;
    if in_wait then
        -- with those of who may be next, because to lock them later would be out of order
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(m.name) into v_more
        from ( -- one look each: of a range both servers read the whole line, and MySQL sorts it
            select (select w.entry from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                where w.name = j.name order by w.name, w.entry limit 0, 1) as entry
            from json_table(in_names, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j
            union all select (select w.entry from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                where w.name = j.name order by w.name, w.entry limit 1, 1)
            from json_table(in_names, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j
            union all select (select w.entry from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                where w.name = j.name order by w.name, w.entry limit 2, 1)
            from json_table(in_names, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j) l
            straight_join delayed_queue q force index (primary) on q.entry = l.entry and json_length(q.semaphores) > 1
            straight_join json_table(q.semaphores, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) m;
        set v_all = json_merge_preserve(in_names, coalesce(v_more, '[]'));
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.name) into out_locked
        from (
            select s.name
            from (
                select distinct n.name from json_table(v_all, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) n limit 1000000000) j
                straight_join queue_semaphore s force index (primary) on s.name = j.name
            order by j.name limit 1000000000 for update /*!80000 of s */) l;
    else
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.name) into out_locked
        from (
            select s.name
            from (
                select distinct n.name from json_table(v_all, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) n limit 1000000000) j
                straight_join queue_semaphore s force index (primary) on s.name = j.name
            order by j.name limit 1000000000 for update /*!80000 of s */ skip locked) l;
    end if;
    if out_locked is not null then
        set @pyqueue_permit_held = true;
    end if;
    set out_locked = coalesce(out_locked, '[]');
end;
--;
-- changes: queue_semaphore, queue_semaphore_permit
drop procedure if exists _queue_permits_room;
--;
create procedure _queue_permits_room(in in_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_all boolean, in in_now bigint,
    out out_room bigint)
    comment 'How many permits of a semaphore are free; those of holds that have expired, or whose message has gone, are
freed, 100 at the most.
in_name: the semaphore, locked already. in_all: whether all those count that were told that there is room, and that
nobody holds yet; false: in the last second, or the next one where the clock was set back, where there is no room
otherwise.
in_now: the time of the call.
Result: the number, which may be negative; NULL where there is no such semaphore: then it keeps nobody waiting.
Locks: the messages whose holds have expired; what others have locked is left.
differs: the result is out_room.'
begin
    declare v_entry, v_found, v_held, v_taken bigint;
    declare v_old longtext character set utf8mb4;
    declare v_lowered boolean;
    declare c cursor for
        select h.entry from queue_semaphore_permit h force index (queue_semaphore_permit_name)
        where h.name = in_name and h.until between 0 and in_now order by h.until limit 100;
    declare continue handler for not found begin end;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_entry; end;
    if v_over then leave each_c; end if;
        set v_found = null, v_held = null;
        select q.entry, if(q.reserved_at is null, 0, q.scheduled_at) into v_found, v_held
        from delayed_queue q where q.entry = v_entry for update skip locked;
        if v_found is null then -- locked, or gone
            select max(q.entry), 0 into v_found, v_held from delayed_queue q where q.entry = v_entry;
            set v_found = if(v_found is null, v_entry, null);
        end if;
        if v_held > in_now then
            update queue_semaphore_permit h set h.until = v_held where h.entry = v_entry and h.name = in_name;
        elseif v_found is not null then
            delete h from queue_semaphore_permit h where h.entry = v_entry and h.name = in_name;
        end if;
    end loop; end; close c;
    if @pyqueue_own then
        select count(*) into v_taken from queue_semaphore_permit h force index (queue_semaphore_permit_name)
            where h.name = in_name;
    else -- whose snapshot may be old
        select count(*) into v_taken from queue_semaphore_permit h force index (queue_semaphore_permit_name)
        where h.name = in_name lock in share mode;
    end if;
    set out_room = null;
    select s.capacity - v_taken, s.lowered into out_room, v_lowered from queue_semaphore s
    where s.name = in_name for update;
    if v_lowered and out_room >= 0 then
        update queue_semaphore s set s.lowered = false where s.name = in_name;
    end if;
    if out_room <= 0 and not in_all then
        -- taken back, not passed over: who takes such a message by its promise does so without the lock of the
        -- semaphore
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.entry) into v_old
        from (
            select h.entry from queue_semaphore_permit h force index (queue_semaphore_permit_name)
            where h.name = in_name and h.until + 0 < 0 and abs(h.until + in_now) >= 1000000
            limit 100 for update skip locked) l;
        if v_old is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete h from json_table(v_old, '$[*]' columns (entry bigint path '$')) j
                straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry and h.name = in_name;
            set out_room = out_room + json_length(v_old);
        end if;
    end if;
end;
--;
-- calls: _queue_permits_room
drop procedure if exists _queue_permits_lacking;
--;
create procedure _queue_permits_lacking(in in_names longtext character set utf8mb4, in in_but varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_all boolean,
    in in_now bigint, out out_lacks varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Which of some semaphores has no room.
in_names: a JSON array. in_but: one that needn''t be looked at, which is locked; NULL: all are. in_all, in_now: see
_queue_permits_room.
out_lacks: the first that has none; NULL: all have; empty: another has locked one of them.
Locks: these semaphores, where in_but is given; what others have locked is left.
differs: on PostgreSQL it is a part of _queue_permits_next and of _queue_permits_take.'
begin
    declare v_place int default 0;
    declare v_there int;
    declare v_room bigint;
    declare v_name, v_found varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare continue handler for not found begin end;
    set out_lacks = null;
    names: while v_place < json_length(in_names) do
        set v_name = json_unquote(json_extract(in_names, concat('$[', v_place, ']'))), v_place = v_place + 1,
            v_found = null;
        if v_name <=> in_but then
            iterate names;
        end if;
        select s.name into v_found from queue_semaphore s where s.name = v_name for update skip locked;
        if v_found is null then
            select count(*) into v_there from queue_semaphore s where s.name = v_name;
            if v_there > 0 then
                set out_lacks = '';
                leave names;
            end if;
        else
            call _queue_permits_room(v_name, in_all, in_now, v_room);
            if v_room <= 0 then
                set out_lacks = v_name;
                leave names;
            end if;
        end if;
    end while;
end;
--;
-- calls: _queue_permits_lacking, _queue_permits_room
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
drop procedure if exists _queue_permits_next;
--;
create procedure _queue_permits_next(in in_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_max bigint, in in_now bigint, out out_woken bigint)
    comment 'Wakes who is next in the line of a semaphore: those that lack nothing else, the oldest first. One that
lacks another goes to the line of that, 100 at the most; the others stay where they are.
in_name: the semaphore, locked already. in_kind: only what waits in this kind, which somebody asks for, past whoever was
told that there is room a second ago or longer; NULL: any kind, as many as there is room for. in_max: how many at the
most. in_now: the time of the call.
Result: how many went to the ready line, where they stand last of their priority.
Locks: these messages, and their other semaphores; what others have locked stays as it is.
differs: the result is out_woken.'
begin
    declare v_room, v_next, v_entry, v_found, v_there bigint;
    declare v_last bigint default -1;
    declare v_looks int default 100;
    declare v_waits boolean;
    declare v_names longtext character set utf8mb4;
    declare v_lacks varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare continue handler for not found begin end;
    set out_woken = 0;
    call _queue_permits_room(in_name, in_kind is null, in_now, v_room);
    set v_room = coalesce(v_room, 9223372036854775807);
    line: while v_room > 0 and out_woken < in_max and v_looks > 0 do
        set v_entry = null, v_found = null, v_next = null;
        if in_kind is null then
            select min(w.entry) into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_name)
            where w.name = in_name and w.entry > v_last;
        else
            select min(w.entry) into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
            where w.p_kind = in_kind and w.name = in_name and w.entry > v_last;
        end if;
        select w.entry into v_entry from queue_semaphore_wait w
        where w.entry = v_next and w.name = in_name for update skip locked;
        -- another has that, or an old snapshot another line; not by a range, whose end locks the first of the next line
        if v_entry is null and in_kind is null then
            select w.entry into v_entry from queue_semaphore_wait w force index (queue_semaphore_wait_name)
            where w.name = in_name and w.entry + 0 > v_last order by w.entry limit 1 for update skip locked;
        elseif v_entry is null then
            select w.entry into v_entry from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
            where w.p_kind = in_kind and w.name = in_name and w.entry + 0 > v_last
                order by w.entry limit 1 for update skip locked;
        end if;
        if v_entry is null then
            leave line;
        end if;
        set v_last = v_entry, v_looks = v_looks - 1, v_there = 1;
        select q.entry, q.semaphores, q.ready_at is null and q.due_at is null
            and q.reserved_at is null into v_found, v_names, v_waits
        from delayed_queue q where q.entry = v_entry for update skip locked;
        if v_found is null and @pyqueue_own then -- an old snapshot may not have it yet
            select count(*) into v_there from delayed_queue q where q.entry = v_entry;
        end if;
        if v_found is null and v_there = 0 or v_found is not null and not v_waits then
            delete w from queue_semaphore_wait w where w.entry = v_entry;
        elseif v_found is not null then
            call _queue_permits_lacking(v_names, in_name, in_kind is null, in_now, v_lacks);
            if v_lacks is null then
                update delayed_queue q set q.ready_rank = -q.priority, q.ready_at = in_now where q.entry = v_entry;
                delete w from queue_semaphore_wait w where w.entry = v_entry;
                insert into queue_semaphore_permit (entry, name, until)
                select v_entry, s.name, -in_now from json_table(v_names, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j
                    straight_join queue_semaphore s force index (primary) on s.name = j.name
                on duplicate key update until = -in_now;
                set v_room = v_room - 1, v_looks = v_looks + 1, out_woken = out_woken + 1;
            elseif v_lacks <> '' then
                update queue_semaphore_wait w set w.name = v_lacks where w.entry = v_entry;
            end if;
        end if;
    end while;
end;
--;
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
drop procedure if exists _queue_permits_wake;
--;
create procedure _queue_permits_wake(in in_names longtext character set utf8mb4, in in_locked longtext character set utf8mb4, in in_now bigint,
    out out_lines longtext character set utf8mb4, out out_done boolean)
    comment 'Wakes who is next in the lines of some semaphores, all in a few statements, where none of them lacks
another, no hold has expired and what is read is what is newest. A line is looked at for as many as there is room for.
in_names: the semaphores, a JSON array. in_locked: those that are locked; others are left, but for those that aren''t
there. in_now: the time of the call.
out_lines: those in whose lines somebody waits, in the caller''s transaction all, a JSON array; NULL: none. out_done:
false: it is left to _queue_permits_next, and nobody was woken.
Locks: the messages; what others have locked stays as it is.
differs: PostgreSQL''s wakes as many in one line as it is told that there is room for.'
begin
    declare v_found, v_next, v_picked longtext character set utf8mb4;
    declare v_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_room bigint;
    declare v_place, v_odd int default 0;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.name), json_arrayagg(json_array(l.name, l.room)),
        coalesce(sum(l.room is null or l.expired), 0) into out_lines, v_found, v_odd
    from (
        select j.name, s.capacity - (
                select count(*) from queue_semaphore_permit h force index (queue_semaphore_permit_name)
                    where h.name = s.name) as room,
            (select 1 from queue_semaphore_permit e force index (queue_semaphore_permit_name)
                where e.name = s.name and e.until between 0 and in_now limit 1) is not null as expired
        from (
            select distinct n.name from json_table(in_names, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) n limit 1000000000) j
            left join queue_semaphore s force index (primary) on s.name = j.name
        where (s.name is null or json_contains(in_locked, json_quote(j.name)))
            and (not @pyqueue_own or (select 1 from queue_semaphore_wait w
                force index (queue_semaphore_wait_name) where w.name = j.name limit 1) is not null)
        limit 1000000000) l;
    set out_done = @pyqueue_own and v_odd = 0, v_picked = '[]';
    while out_done and v_place < json_length(v_found) do
        set v_name = json_unquote(json_extract(v_found, concat('$[', v_place, '][0]'))),
            v_room = json_extract(v_found, concat('$[', v_place, '][1]')), v_place = v_place + 1, v_next = null;
        if v_room > 0 then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(p.entry, p.name)), coalesce(sum(p.odd), 0) into v_next, v_odd
            from (
                select q.entry, w.name,
                    json_length(q.semaphores) > 1 or q.ready_at is not null or q.due_at is not null
                    or q.reserved_at is not null as odd
                from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                    straight_join delayed_queue q force index (primary) on q.entry = w.entry
                where w.name = v_name order by w.entry limit v_room for update skip locked) p;
            set out_done = v_odd = 0, v_picked = json_merge_preserve(v_picked, coalesce(v_next, '[]'));
        end if;
    end while;
    if out_done and json_length(v_picked) > 0 then
        /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(v_picked, '$[*]' columns (entry bigint path '$[0]')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        set q.ready_rank = -q.priority, q.ready_at = in_now;
        /*M!100600 set statement sql_safe_updates = 0 for */ delete w from json_table(v_picked, '$[*]' columns (entry bigint path '$[0]')) j
            straight_join queue_semaphore_wait w force index (primary) on w.entry = j.entry;
        insert into queue_semaphore_permit (entry, name, until)
        select j.entry, j.name, -in_now
        from json_table(v_picked, '$[*]' columns (entry bigint path '$[0]', name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]')) j
        on duplicate key update until = -in_now;
    end if;
end;
--;
-- calls: _queue_permits_lock, _queue_permits_next, _queue_permits_wake
-- changes: queue_semaphore_permit, queue_semaphore_wait
drop procedure if exists _queue_permits_settle;
--;
create procedure _queue_permits_settle(in in_entries longtext character set utf8mb4, in in_names longtext character set utf8mb4, in in_wait boolean,
    in in_now bigint)
    comment 'Frees the permits of messages that are held or ready no more, and wakes who is next: the end of each call
that ends holds, or puts in what waits. After it a call puts in no key and waits for no message.
in_entries: these messages, as far as they are there. in_names: semaphores at which somebody may be next besides; NULL:
none.
in_wait: see _queue_permits_lock. in_now: the time of the call.
Locks: the semaphores, in the order of their names; then as _queue_permits_next.'
begin
    declare v_names, v_locked, v_list, v_lines longtext character set utf8mb4;
    declare v_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_woken bigint;
    declare v_done boolean;
    set in_entries = coalesce(in_entries, '[]');
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(h.name) into v_names from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
        straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry;
    set v_names = json_merge_preserve(coalesce(in_names, '[]'), coalesce(v_names, '[]'));
    call _queue_permits_lock(v_names, in_wait, v_locked);
    -- of each: whether it is held, is ready, waits
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(j.entry, coalesce(q.reserved_at is not null and q.scheduled_at > in_now, 0),
        coalesce(q.ready_at is not null and q.reserved_at is null, 0), q.entry is not null and q.ready_at is null
        and q.due_at is null and q.reserved_at is null))
    into v_list
    from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j left join delayed_queue q force index (primary) on q.entry = j.entry;
    if v_list is not null then
        /*M!100600 set statement sql_safe_updates = 0 for */ delete h from json_table(v_list, '$[*]' columns (entry bigint path '$[0]', held int path '$[1]', ready int path '$[2]')) j
            straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry
        where not j.held and not (j.ready and h.until < 0);
        /*M!100600 set statement sql_safe_updates = 0 for */ delete w from json_table(v_list, '$[*]' columns (entry bigint path '$[0]', waits int path '$[3]')) j
            straight_join queue_semaphore_wait w force index (primary) on w.entry = j.entry
        where not j.waits;
    end if;
    call _queue_permits_wake(v_names, v_locked, in_now, v_lines, v_done);
    while not v_done and json_length(v_lines) > 0 do
        set v_name = json_unquote(json_extract(v_lines, '$[0]'));
        if json_length(v_lines) > 1 then -- the line whose first is the oldest
            select o.name into v_name
            from (
                select j.name, (select min(w.entry) from queue_semaphore_wait w where w.name = j.name) as entry
                from json_table(v_lines, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j) o
            order by o.entry is null, o.entry limit 1;
        end if;
        call _queue_permits_next(v_name, null, if(json_length(v_lines) > 1, 1, 9223372036854775807), in_now, v_woken);
        if v_woken = 0 or json_length(v_lines) = 1 then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(j.name) into v_lines
            from json_table(v_lines, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j where j.name <> v_name;
        end if;
    end while;
end;
--;
drop procedure if exists _queue_permits_note;
--;
create procedure _queue_permits_note(in in_entries longtext character set utf8mb4, in in_names longtext character set utf8mb4)
    comment 'Notes that messages which name semaphores have ended or changed, for _queue_permits_end at the end of the
call.
in_entries: the entry of one, or a JSON array of them. in_names: their semaphores, a JSON array, without those of which
they have a permit already; NULL: none, and nothing is noted.
differs: on PostgreSQL most routines hand _queue_permits_settle what they have ended, so little is noted there.'
begin
    if in_names is not null then
        set @pyqueue_permit_entries = json_merge_preserve(convert(coalesce(@pyqueue_permit_entries,
            '[]') using utf8mb4), in_entries),
            @pyqueue_permit_names = json_merge_preserve(convert(coalesce(@pyqueue_permit_names, '[]') using utf8mb4),
            in_names);
    end if;
end;
--;
-- calls: _queue_permits_settle, queue_now
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
drop procedure if exists _queue_permits_end;
--;
create procedure _queue_permits_end()
    comment 'The end of a call that has noted messages with semaphores: frees their permits and wakes who is next.
The permit of one message that has gone is given to who is next in the line of its one semaphore. The number of permits
that are taken stays, so it is enough to share the lock of the semaphore, and who gives a permit on doesn''t wait for
others that do. _queue_permits_settle does all else: where the message is still there, or has no permit, nobody waits,
or who is next lacks another, or the capacity was lowered.
Locks: of one message the semaphore, shared, where nobody has it alone; the permit, and the next message; what others
have locked is passed over. Else those of _queue_permits_settle.
differs: see _queue_permits_note; on PostgreSQL it is a part of _queue_permits_settle, for any number of messages.'
begin
    declare v_now bigint;
    declare v_done boolean default false;
    declare v_entries longtext character set utf8mb4 default @pyqueue_permit_entries;
    declare v_names longtext character set utf8mb4 default @pyqueue_permit_names;
    set @pyqueue_permit_entries = null, @pyqueue_permit_names = null;
    call queue_now(v_now);
    hand: begin
        declare v_entry, v_there, v_permit, v_last, v_next bigint;
        declare v_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare v_wants longtext character set utf8mb4;
        declare v_looks int default 20;
        declare v_waits, v_lowered boolean;
        declare continue handler for not found begin end;
        if (@pyqueue_own and @pyqueue_permit_held is null and json_length(v_entries) = 1
            and json_length(v_names) = 1) is not true then
            leave hand;
        end if;
        set v_entry = json_extract(v_entries, '$[0]'), v_name = json_unquote(json_extract(v_names, '$[0]'));
        select q.entry into v_there from delayed_queue q where q.entry = v_entry;
        select w.entry into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_name)
        where w.name = v_name order by w.entry limit 1;
        select q.semaphores into v_wants from delayed_queue q where q.entry = v_next;
        if v_there is not null or v_next is null or json_length(v_wants) > 1 then
            leave hand;
        end if;
        -- who counts the permits has it alone
        select s.lowered into v_lowered from queue_semaphore s
        where s.name = v_name /*!80000 for share of s skip locked *//*M!100600 lock in share mode skip locked */;
        if not v_lowered then
            select h.entry into v_permit from queue_semaphore_permit h
                where h.entry = v_entry and h.name = v_name for update;
        end if;
        while v_permit is not null and v_next is not null and v_looks > 0 and not v_done do
            set v_looks = v_looks - 1, v_wants = null, v_waits = false;
            select q.semaphores, q.ready_at is null and q.due_at is null and q.reserved_at is null into v_wants, v_waits
            from delayed_queue q where q.entry = v_next for update skip locked;
            if v_waits and json_length(v_wants) > 1 then
                leave hand;
            elseif v_waits then
                update delayed_queue q set q.ready_rank = -q.priority, q.ready_at = v_now where q.entry = v_next;
                delete w from queue_semaphore_wait w where w.entry = v_next;
                insert into queue_semaphore_permit (entry, name, until) values (v_next, v_name, -v_now)
                    on duplicate key update until = -v_now;
                delete h from queue_semaphore_permit h where h.entry = v_entry and h.name = v_name;
                set v_done = true;
            else
                set v_last = v_next, v_next = null;
                select w.entry into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                where w.name = v_name and w.entry > v_last order by w.entry limit 1;
            end if;
        end while;
    end;
    if not v_done then
        call _queue_permits_settle(v_entries, v_names, @pyqueue_permit_held is null, v_now);
    end if;
    set @pyqueue_permit_held = null;
end;
--;
-- calls: _queue_permits_next
drop procedure if exists _queue_permits_look;
--;
create procedure _queue_permits_look(in in_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max bigint, in in_now bigint,
    out out_woken bigint)
    comment 'Looks whether there is room by now for what waits in a kind, though nobody said so: a hold has expired, or
whoever was told that there is room, a second ago or longer, isn''t taken. What a reserve does that finds too little
ready.
in_kind: the kind. in_max: how many are wanted. in_now: the time of the call.
Result: how many went to the ready line; of 100 semaphores at the most.
Locks: these semaphores and as _queue_permits_next; what others have locked is left.
differs: the result is out_woken.'
begin
    declare v_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default '';
    declare v_found varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_woken, v_held, v_capacity bigint;
    declare v_looks int default 100;
    declare continue handler for not found begin end;
    set out_woken = 0;
    names: while v_looks > 0 and out_woken < in_max do
        select min(w.name) into v_name from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
        where w.p_kind = in_kind and w.name > v_name;
        if v_name is null then
            leave names;
        end if;
        set v_looks = v_looks - 1, v_found = null, v_capacity = null;
        select s.capacity into v_capacity from queue_semaphore s where s.name = v_name;
        select count(*) into v_held from queue_semaphore_permit h force index (queue_semaphore_permit_name)
        where h.name = v_name and (h.until > in_now or abs(h.until + in_now) < 1000000);
        if v_capacity is null or v_held < v_capacity then
            select s.name into v_found from queue_semaphore s where s.name = v_name for update skip locked;
            if v_found is not null or v_capacity is null then
                set @pyqueue_permit_held = true;
                call _queue_permits_next(v_name, in_kind, in_max - out_woken, in_now, v_woken);
                set out_woken = out_woken + v_woken;
            end if;
        end if;
    end while;
end;
--;
drop procedure if exists _queue_permits_ready;
--;
create procedure _queue_permits_ready(in in_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_now bigint, out out_ready boolean)
    comment 'Whether there may be room for what waits in a kind for semaphores; nothing is locked.
in_kind: the kind. in_now: the time of the call.
out_ready: that; of 100 semaphores at the most.
differs: there is no next time to tell.'
begin
    declare v_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default '';
    declare v_held bigint;
    declare v_looks int default 100;
    set out_ready = false;
    names: while v_looks > 0 and not out_ready do
        select min(w.name) into v_name from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
        where w.p_kind = in_kind and w.name > v_name;
        if v_name is null then
            leave names;
        end if;
        set v_looks = v_looks - 1;
        select count(*) into v_held from queue_semaphore_permit h force index (queue_semaphore_permit_name)
        where h.name = v_name and (h.until > in_now or abs(h.until + in_now) < 1000000);
        select count(*) = 0 into out_ready from queue_semaphore s where s.name = v_name and s.capacity <= v_held;
    end while;
end;
--;
-- calls: _queue_permits_settle
drop procedure if exists _queue_permits_sweep;
--;
create procedure _queue_permits_sweep(in in_now bigint)
    comment 'Wakes who waits for a semaphore of which permits are free or their holds have expired, in whatever kind.
in_now: the time of the call.
Locks: 1000 semaphores at the most, then as _queue_permits_next; what others have locked is left.'
begin
    declare v_names longtext character set utf8mb4;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(n.name) into v_names
    from (
        select s.name from queue_semaphore s
        where (select w.entry from queue_semaphore_wait w where w.name = s.name limit 1) is not null
            and s.capacity > (
                select count(*) from queue_semaphore_permit h where h.name = s.name
                    and (h.until < 0 or h.until > in_now))
        order by s.name limit 1000) n;
    if v_names is not null then
        call _queue_permits_settle(null, v_names, false, in_now);
    end if;
end;
--;
-- calls: _queue_permits_note
-- changes: delayed_queue, queue_kind, queue_semaphore_wait
drop procedure if exists _queue_line_up;
--;
create procedure _queue_line_up(in in_entries longtext character set utf8mb4)
    comment 'Puts messages that name semaphores in line for them, out of the ready line; _queue_permits_settle wakes
those for which there is room. What is delayed waits for its time first. Their kind is marked, so that queue_reserve
knows.
in_entries: messages of one kind, a JSON array; those without semaphores, and dead letters, which need none, stay as
they are.
Locks: the messages; the settings of a kind that had no such message before.
differs: they are noted for the end of the call.'
begin
    declare v_entries, v_names longtext character set utf8mb4;
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.entry + 0), json_objectagg(l.entry, json_extract(l.semaphores, '$')) -- see _queue_leaves
    into v_entries, v_names
    from (
        select q.entry, q.semaphores from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
        where q.semaphores is not null and q.source_kind is null and q.reserved_at is null
        for update /*!80000 of q */) l;
    if v_entries is not null then
        /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(v_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry set q.ready_rank = null, q.ready_at = null;
        insert into queue_semaphore_wait (entry, name, p_kind)
        select q.entry, json_value(q.semaphores, '$[0]'), q.p_kind from json_table(v_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry where q.due_at is null
        on duplicate key update entry = queue_semaphore_wait.entry;
        select max(q.p_kind) into v_kind from json_table(v_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
            left join queue_kind k on k.p_kind = q.p_kind and k.semaphores
        where k.p_kind is null;
        if v_kind is not null then -- all of them are of one kind
            insert into queue_kind (p_kind, semaphores) values (v_kind, true) on duplicate key update semaphores = true;
        end if;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(n.name) into v_names
        from (
            select distinct j.name from json_table(v_names, '$.*[*]'
                columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j) n;
        call _queue_permits_note(v_entries, v_names);
    end if;
end;
--;
-- calls: _queue_members_settle, _queue_permits_lacking, _queue_permits_lock, _queue_permits_settle
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
drop procedure if exists _queue_permits_take;
--;
create procedure _queue_permits_take(in in_entries longtext character set utf8mb4, in in_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_until bigint,
    in in_first boolean, in in_now bigint, out out_entries longtext character set utf8mb4, out out_number int, out out_expired int,
    out out_passed longtext character set utf8mb4)
    comment 'Of messages that were taken from the ready line, those that can be delivered, each with a permit of all of
its semaphores; one that lacks any goes to wait in line, with none.
in_entries: a JSON array of their entries, in the order of delivery, locked already. in_kind: their kind. in_until: when
the holds end. in_first: whether the call has locked no semaphore before. in_now: the time of the call.
out_entries: those that can be delivered, a JSON array; NULL: none. out_number: how many. out_expired: how many expired
holds went to wait.
out_passed: those that are left as they are, and that to take more finds again, a JSON array.
Locks: the permits where all were promised before; else the semaphores, in the order of their names; where it isn''t the
first time, what others have locked is left.
differs: what can''t be delivered for other reasons is left to _queue_end_undeliverable. PostgreSQL looks at lowered
before that: who gives a permit on shares the lock of the semaphore here, and locks nothing there.'
permits: begin
    declare v_entry bigint;
    declare v_names, v_all, v_locked, v_left longtext character set utf8mb4;
    declare v_lacks varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_held boolean default false;
    declare v_wants int;
    declare c cursor for
        select q.entry, if(q.source_kind is null, q.semaphores, null), q.reserved_at is not null
        from /*M!100600 (select * from */ json_table(in_entries, '$[*]' columns (place for ordinality, entry bigint path '$')) j /*M!100600 limit 1000000000) j */ straight_join delayed_queue q force index (primary) on q.entry = j.entry
        order by j.place for update /*!80000 of q */; -- locked already; an old snapshot may not have it
    declare continue handler for not found begin end;
    if in_first and @pyqueue_permit_names is null then
        -- all that are promised: nothing is given or freed, so no semaphore needs to be locked; who wants a permit that
        -- was promised takes the promise back, see _queue_permits_room
        select coalesce(sum(json_length(q.semaphores)), 0) into v_wants
        from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry where q.source_kind is null for update /*!80000 of q */; -- an old snapshot may not have them
        /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
            straight_join queue_semaphore_permit h force index (primary) on h.entry = q.entry and h.until < 0
        set h.until = in_until
        where q.source_kind is null;
        if row_count() = v_wants then
            set out_entries = in_entries, out_number = json_length(in_entries), out_expired = 0, out_passed = '[]';
            leave permits;
        end if;
    end if;
    set out_entries = null, out_number = 0, out_expired = 0, out_passed = '[]',
        v_all = coalesce(@pyqueue_permit_names, '[]'), v_left = coalesce(@pyqueue_permit_entries, '[]'),
        @pyqueue_permit_names = null, @pyqueue_permit_entries = null;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_entry, v_names, v_held; end;
    if v_over then leave each_c; end if;
        set v_all = json_merge_preserve(v_all, coalesce(v_names, '[]'));
    end loop; end; close c;
    if json_length(v_all) > 0 then
        if @pyqueue_members is not null then -- of what was ended; from now on nothing is
            call _queue_members_settle();
        end if;
        call _queue_permits_lock(v_all, in_first, v_locked);
        /*M!100600 set statement sql_safe_updates = 0 for */ delete h from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
            straight_join json_table(v_locked, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) n
            straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry and h.name = n.name;
    end if;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_entry, v_names, v_held; end;
    if v_over then leave each_c; end if;
        set v_lacks = null;
        if v_names is not null then
            call _queue_permits_lacking(v_names, null, false, in_now, v_lacks);
        end if;
        if v_lacks is null then
            insert into queue_semaphore_permit (entry, name, until)
            select v_entry, s.name, in_until from json_table(coalesce(v_names, '[]'), '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j
                straight_join queue_semaphore s force index (primary) on s.name = j.name;
            set out_entries = json_array_append(coalesce(out_entries, '[]'), '$', v_entry + 0),
                out_number = out_number + 1;
        elseif v_lacks = '' then
            set out_passed = json_array_append(out_passed, '$', v_entry + 0);
        else
            update delayed_queue q set q.ready_rank = null, q.ready_at = null, q.reserved_at = null,
                q.reserved_by = null where q.entry = v_entry;
            insert into queue_semaphore_wait (entry, name, p_kind) values (v_entry, v_lacks, in_kind)
                on duplicate key update name = v_lacks;
            set v_left = json_array_append(v_left, '$', v_entry + 0), out_expired = out_expired + v_held;
        end if;
    end loop; end; close c;
    if json_length(v_left) > 0 then
        call _queue_permits_settle(v_left, v_all, false, in_now);
    end if;
end;
--;
-- calls: _queue_end_undeliverable, _queue_members_settle, _queue_misfit, _queue_permits_look, _queue_permits_take,
--     _queue_take, _queue_take_where
drop procedure if exists _queue_take_with_permits;
--;
create procedure _queue_take_with_permits(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max int, in in_most int,
    in in_shape longtext character set utf8mb4, in in_until bigint, in in_now bigint, in in_where longtext character set utf8mb4, out out_entries longtext character set utf8mb4,
    out out_number int, out out_expired int)
    comment 'What _queue_take does for a kind with messages that name semaphores: one of these is taken with a permit of
each of its semaphores, or goes to wait in line, and others are looked for.
in_shape: payload_shape of the kind. in_until: when the holds end. in_where: what they must match, see _queue_where;
NULL: anything. The other parameters and the result are those of _queue_take; out_expired counts what was ended too.
Locks: the semaphores besides, see _queue_permits_take.
differs: what is past its last delivery is ended in here, and nothing is left to settle.'
begin
    declare v_entries, v_passed, v_left_out, v_payload longtext character set utf8mb4;
    declare v_misfit varchar(500) character set utf8mb4;
    declare v_number, v_expired, v_ends, v_rounds, v_left, v_place, v_past int default 0;
    declare v_entry, v_woken bigint;
    declare v_looked boolean default false;
    declare v_more boolean default true;
    set out_entries = null, out_number = 0, out_expired = 0, v_passed = '[]';
    rounds: while v_more and out_number < in_max and v_rounds < 100 do
        set v_left = in_max - out_number, v_place = in_max + json_length(v_passed);
        if in_where is null then
            call _queue_take(in_kind, v_place, in_now, in_most, v_entries, v_number, v_expired, v_ends);
        else
            call _queue_take_where(in_kind, v_place, in_now, in_most, in_where, v_entries, v_number, v_expired, v_ends);
        end if;
        if out_number > 0 or v_passed <> '[]' then -- what was found before is found again: it is held only at the end
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(n.entry) into v_entries
            from (
                select j.entry
                from /*M!100600 (select * from */ json_table(coalesce(v_entries, '[]'), '$[*]' columns (place for ordinality, entry bigint path '$')) j /*M!100600 limit 1000000000) j */
                    left join json_table(coalesce(out_entries, '[]'), '$[*]' columns (entry bigint path '$')) o on o.entry = j.entry
                    left join json_table(v_passed, '$[*]' columns (entry bigint path '$')) p on p.entry = j.entry
                where o.entry is null and p.entry is null order by j.place limit v_left) n;
        end if;
        if v_ends > 0 then -- those that name semaphores are among them
            select count(*) into v_ends from json_table(coalesce(v_entries, '[]'), '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
            where q.pending is not null or q.attempts >= coalesce(q.max_attempts, in_most)
            for update /*!80000 of q */; -- locked already; an old snapshot may not have it
        end if;
        if v_ends > 0 or in_shape is not null and v_entries is not null then
            if @pyqueue_permit_held is null then
                call _queue_end_undeliverable(v_entries, in_shape, in_most, in_now, v_ends, v_expired);
                set out_expired = out_expired + v_expired;
                if v_ends > 0 then
                    iterate rounds;
                end if;
            else -- a key may be waited for, which nobody does who has locked a semaphore: the next call ends them
                set v_place = json_length(v_entries);
                while v_place > 0 do
                    set v_place = v_place - 1, v_misfit = null,
                        v_entry = json_extract(v_entries, concat('$[', v_place, ']'));
                    select q.pending is not null or q.attempts >= coalesce(q.max_attempts, in_most), q.payload
                    into v_past, v_payload from delayed_queue q where q.entry = v_entry for update;
                    if in_shape is not null and not v_past then
                        call _queue_misfit(in_shape, v_payload, v_misfit);
                    end if;
                    if v_past or v_misfit is not null then
                        set v_passed = json_array_append(v_passed, '$', v_entry + 0),
                            v_entries = json_remove(v_entries, concat('$[', v_place, ']'));
                    end if;
                end while;
            end if;
        end if;
        set v_rounds = v_rounds + 1;
        if json_length(v_entries) > 0 then
            call _queue_permits_take(v_entries, in_kind, in_until, @pyqueue_permit_held is null, in_now, v_entries,
                v_number, v_expired, v_left_out);
            set out_number = out_number + v_number, out_expired = out_expired + v_expired,
                out_entries = if(v_entries is null, out_entries,
                json_merge_preserve(coalesce(out_entries, '[]'), v_entries)),
                v_passed = json_merge_preserve(v_passed, v_left_out);
        elseif v_entries is null then
            if not v_looked then
                if @pyqueue_members is not null then
                    call _queue_members_settle();
                end if;
                call _queue_permits_look(in_kind, v_left, in_now, v_woken);
            end if;
            set v_more = v_woken > 0 and not v_looked, v_looked = true;
        end if;
    end while;
    -- of several looks
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(o.entry), out_expired + count(o.reserved_at) into out_entries, out_expired
    from (
        select q.entry, q.reserved_at from json_table(coalesce(out_entries, '[]'), '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
        order by q.priority desc, q.ready_at, q.entry limit 1000000000 for update /*!80000 of q */) o;
end;
--;
-- calls: _queue_permits_lacking, _queue_permits_lock, _queue_permits_note
-- changes: delayed_queue, queue_semaphore_permit
drop procedure if exists _queue_extend_with_permits;
--;
create procedure _queue_extend_with_permits(in in_list longtext character set utf8mb4, in in_seconds double, in in_now bigint,
    inout out_outcomes longtext character set ascii)
    comment 'Extends the holds of messages that name semaphores. One whose hold has expired, and whose permits were
given to others, is extended where there is room again, and otherwise not; its ack still counts.
in_list: a JSON array of arrays: an entry, locked already, and its place among the receipts. in_seconds: see
queue_extend. in_now: the time of the call.
out_outcomes: a letter a receipt, of which those that were extended become e.
Locks: the semaphores of which one has no permit any more.
differs: PostgreSQL''s is given the receipts, taken apart.'
begin
    declare v_until bigint default in_now + cast(round(in_seconds * 1000000) as signed);
    declare v_entry bigint;
    declare v_place int;
    declare v_missing, v_names, v_all, v_locked longtext character set utf8mb4;
    declare v_lacks varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_held, v_needs boolean;
    declare c cursor for
        select q.entry, j.place, q.semaphores, q.reserved_by is not null, q.source_kind is null and in_seconds > 0
        from /*M!100600 (select * from */ json_table(in_list, '$[*]' columns (entry bigint path '$[0]', place int path '$[1]')) j /*M!100600 limit 1000000000) j */
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        order by j.entry for update /*!80000 of q */;
    declare continue handler for not found begin end;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(m.name) into v_all
    from json_table(in_list, '$[*]' columns (entry bigint path '$[0]')) j
        straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.source_kind is null
        straight_join json_table(q.semaphores, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) m
        left join queue_semaphore_permit h force index (primary) on h.entry = q.entry and h.name = m.name
    where h.entry is null and in_seconds > 0;
    if v_all is not null then
        call _queue_permits_lock(v_all, true, v_locked);
    end if;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_entry, v_place, v_names, v_held, v_needs; end;
    if v_over then leave each_c; end if;
        set v_lacks = null, v_missing = null;
        if v_needs then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(m.name) into v_missing from json_table(v_names, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) m
                left join queue_semaphore_permit h force index (primary) on h.entry = v_entry and h.name = m.name
            where h.entry is null for update /*!80000 of h */;
        end if;
        if v_missing is not null then
            call _queue_permits_lacking(v_missing, null, false, in_now, v_lacks);
        end if;
        if v_held and v_lacks is null then
            update delayed_queue q set q.scheduled_at = v_until where q.entry = v_entry;
            update queue_semaphore_permit h set h.until = v_until where h.entry = v_entry;
            insert into queue_semaphore_permit (entry, name, until)
            select v_entry, s.name, v_until from json_table(coalesce(v_missing, '[]'), '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j
                straight_join queue_semaphore s force index (primary) on s.name = j.name;
            set out_outcomes = insert(out_outcomes, v_place, 1, 'e');
            call _queue_permits_note(v_entry, if(in_seconds = 0, v_names, null));
        end if;
    end loop; end; close c;
end;
--;
-- calls: _queue_check_name, _queue_fail, _queue_permits_lock, _queue_permits_settle, queue_now
-- changes: queue_semaphore, queue_semaphore_permit
drop procedure if exists queue_semaphore;
--;
create procedure queue_semaphore(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_capacity bigint)
    comment 'Defines a semaphore, or changes its capacity: how many messages that name it, in option semaphores of a
push, may be held at once, of whatever kinds. A message holds a permit of each that it names from its reserve until its
ack, nack or move, or until its hold expires or its worker is reaped. A message that can''t have all of them waits in
line, outside of the ready line, in state waiting. It has none while it waits, so two can''t block one another. When
permits get free, those are woken that lack nothing else, the oldest (by entry) first. A message that lacks more waits
on. It can wait without an end where others always take what it lacks. It is woken in the transaction that ends the
hold, or that gives a larger capacity. A hold that has expired is found by queue_reap, by queue_prune, and by whoever
wants one of its permits. A reserve looks for one, too, where it finds nothing else in the kind of a message that waits.
The late ack of that hold still counts; a late queue_extend is lost unless there is room.
in_name: its name, 1 to 100 characters.
in_capacity: 0 to 1000000; 0: nothing that names it is delivered. Below what is held now: nothing more is delivered
until enough is given back. NULL: it is removed, and keeps nobody waiting any more who named it. Where it wasn''t
there, all messages are read: those that are held and name it have permits from the beginning.
Result: name and capacity, as they are now.
Errors: PQ001 for name and capacity.
Locks: the semaphore. All who change how many of its permits are taken wait for one another''s transactions: keep those
short.
Where the idea comes from: Chapman''s semaphores.'
begin
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_now, v_more bigint;
        declare v_locked, v_over longtext character set utf8mb4;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_name(in_name, 100, 'name');
        if in_capacity not between 0 and 1000000 then
            call _queue_fail('PQ001', 'capacity', in_capacity, 'must be an integer from 0 to 1000000');
        end if;
        call _queue_permits_lock(json_array(in_name), true, v_locked);
        if in_capacity is null then
            delete s from queue_semaphore s where s.name = in_name;
            delete h from queue_semaphore_permit h where h.name = in_name;
        else
            -- made again: who holds has a permit
            if not json_contains(v_locked, json_quote(in_name)) then
                insert into queue_semaphore_permit (entry, name, until)
                select q.entry, in_name, q.scheduled_at from delayed_queue q
                where json_contains(q.semaphores, json_quote(in_name)) and q.source_kind is null
                    and q.reserved_at is not null
                    and q.scheduled_at > v_now;
            end if;
            insert into queue_semaphore (name, capacity) values (in_name, in_capacity)
                on duplicate key update capacity = in_capacity;
            -- who was told that there is room takes a permit without the lock of the semaphore: what there is no room
            -- for any more is taken back
            select count(*) - in_capacity into v_more
                from queue_semaphore_permit h force index (queue_semaphore_permit_name)
            where h.name = in_name lock in share mode;
            if v_more > 0 then
                /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.entry) into v_over
                from (
                    select h.entry from queue_semaphore_permit h force index (queue_semaphore_permit_name)
                    where h.name = in_name and h.until + 0 < 0
                    order by h.until, h.entry desc limit v_more for update) l;
                /*M!100600 set statement sql_safe_updates = 0 for */ delete h from json_table(coalesce(v_over, '[]'), '$[*]' columns (entry bigint path '$')) j
                    straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry
                        and h.name = in_name;
            end if;
            update queue_semaphore s set s.lowered = v_more > coalesce(json_length(v_over), 0) where s.name = in_name;
        end if;
        call _queue_permits_settle(null, json_array(in_name), false, v_now);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_name as name, in_capacity as capacity;
end;
--;
drop procedure if exists _queue_limited_until;
--;
create procedure _queue_limited_until(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_most int, in in_rate decimal(30,6),
    in in_now bigint, out out_until bigint)
    comment 'Until when the limits of a kind let nothing be taken, for those that wait.
in_kind: the kind. in_most, in_rate: its max_reserved and its rate_per_second, NULL: without. in_now: the time of the
call.
Result: when there is a token again; while all slots are taken, when one of their holds ends. NULL: there is room.
differs: no time is answered within a second for events that were left out: nobody is told anything here, and who waits
looks on. The tokens that a session has aren''t looked at: who waits isn''t who takes.'
begin
    declare v_held, v_end bigint;
    set out_until = null;
    if in_rate is not null then
        select ceil(min(if(b.spent_at <= in_now * 1000 + 1000000000,
            b.spent_at + 1000000000 * least(greatest(floor(in_rate), 1), 16) / in_rate, null)) / 1000)
        into out_until from queue_bucket b where b.p_kind = in_kind;
    end if;
    if in_most is not null then
        select count(*), min(t.scheduled_at) into v_held, v_end
        from (
            select q.scheduled_at
            from queue_slot s force index (primary)
                straight_join delayed_queue q force index (primary) on q.entry = s.entry and q.secret = s.secret
            where s.p_kind = in_kind and q.scheduled_at > in_now
            limit in_most) t;
        if v_held >= in_most then
            set out_until = greatest(coalesce(out_until, 0), v_end);
        end if;
    end if;
    if out_until <= in_now then
        set out_until = null;
    end if;
end;
--;
-- calls: _queue_integer, _queue_number
-- changes: delayed_queue, queue_bucket, queue_kind, queue_slot
drop procedure if exists _queue_define_limits;
--;
create procedure _queue_define_limits(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4, in in_now bigint)
    comment 'Sets max_reserved and rate_per_second of a kind, with the slots and the tokens that they need. What is
held when the first limit is set counts; what goes above a limit that is lowered keeps its slot until its hold ends. A
rate begins with one token.
in_kind: the kind, whose settings are there. in_options: those of queue_define. in_now: the time of the call.
Errors: PQ002.
Locks: the rows of the limits that change: it waits for reserves of the kind that are under way.
differs: PostgreSQL''s is given the settings, and answers them.'
begin
    declare v_most, v_old bigint;
    declare v_rate, v_before decimal(30,6);
    declare v_parts int;
    call _queue_integer(in_options, 'max_reserved', 1, 10000, v_most);
    call _queue_number(in_options, 'rate_per_second', 0.001, 1000000, v_rate);
    select max(k.max_reserved), max(k.rate_per_second) into v_old, v_before from queue_kind k where k.p_kind = in_kind;
    if json_contains_path(in_options, 'one', '$.max_reserved') and not v_most <=> v_old then
        if v_most is null then
            delete s from queue_slot s where s.p_kind = in_kind;
        else
            if v_old is null then -- what is held already has slots as well
                insert into queue_slot (p_kind, slot, entry, secret)
                select in_kind, row_number() over (order by q.entry), q.entry, q.secret
                from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.secret is not null and q.scheduled_at > in_now;
                -- a hold that has expired has none, so that it can't be extended
                /*M!100600 set statement sql_safe_updates = 0 for */
                update delayed_queue q force index (delayed_queue_ready) set q.reserved_by = null
                where q.ready_kind = in_kind and q.reserved_at is not null and q.scheduled_at <= in_now;
            end if;
            insert into queue_slot (p_kind, slot)
            select in_kind, n.slot
            from json_table(concat('[0', repeat(',0', v_most - 1), ']'), '$[*]' columns (slot for ordinality)) n
            where (select s.slot from queue_slot s where s.p_kind = in_kind and s.slot = n.slot) is null;
        end if;
        update queue_kind k set k.max_reserved = v_most where k.p_kind = in_kind;
    end if;
    if json_contains_path(in_options, 'one', '$.rate_per_second') and not v_rate <=> v_before then
        delete b from queue_bucket b where b.p_kind = in_kind;
        if v_rate is not null then
            set v_parts = least(greatest(floor(v_rate), 1), 16);
            insert into queue_bucket (p_kind, part, spent_at)
            select in_kind, n.place - 1, in_now * 1000 - round(1000000000 / v_rate * (v_parts - n.place + 1))
            from json_table(concat('[0', repeat(',0', v_parts - 1), ']'), '$[*]' columns (place for ordinality)) n;
        end if;
        update queue_kind k set k.rate_per_second = v_rate where k.p_kind = in_kind;
    end if;
end;
--;
-- changes: delayed_queue, queue_slot
drop procedure if exists _queue_slots;
--;
create procedure _queue_slots(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_most int, in in_first int, in in_max int,
    in in_now bigint, out out_slots longtext character set ascii)
    comment 'Free slots of a kind with max_reserved, locked until the transaction ends: nothing is there, or what is
isn''t held any more. A hold that has expired gives up its slot here for good: without reserved_by it can''t be extended
any more, though an ack of it still counts.
in_kind: the kind. in_most: its max_reserved. in_first: the slot to try first, 0: any. in_max: how many. in_now: the
time of the call.
Result: a JSON array, of as many as there are. Under REPEATABLE READ one that changed since the transaction began counts
as taken.
While more slots are taken than in_most, because it was lowered, all free ones are locked and counted, so that nobody
gets one before fewer are taken; those above it that are free are removed, unless it is about to change.
Locks: the slots, then messages whose hold has expired, in the order of their entries; what others have locked counts as
taken. While more are taken, the settings of the kind.
differs: no numbers of claims.'
begin
    declare v_low, v_wrap, v_high, v_want, v_last, v_all, v_most, v_number int;
    declare v_found, v_locked, v_expired, v_free longtext character set ascii;
    declare v_over boolean default false;
    set v_low = if(in_first between 1 and in_most, in_first, 1 + floor(rand() * in_most)), v_wrap = v_low - 1,
        v_high = 2147483647, v_want = in_max, out_slots = '[]';
    select s.slot > in_most into v_over from queue_slot s
    where s.p_kind = in_kind order by s.p_kind desc, s.slot desc limit 1;
    if v_over then
        set v_low = 1, v_want = 2147483647;
    end if;
    slots: loop
        set v_all = v_want - json_length(out_slots);
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(d.slot), max(d.slot) into v_found, v_last
        from (
            select s.slot from queue_slot s force index (primary)
            where s.p_kind = in_kind and s.slot between v_low and v_high
                and (
                    select q.entry from delayed_queue q
                    where q.entry = s.entry and q.secret = s.secret and q.scheduled_at > in_now) is null
            order by s.slot limit v_all) d;
        if v_found is not null then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(d.entry, d.secret, d.slot)) into v_locked
            from (
                select s.slot, s.entry, lower(hex(s.secret)) as secret
                from json_table(v_found, '$[*]' columns (slot int path '$')) j
                    straight_join queue_slot s force index (primary) on s.p_kind = in_kind and s.slot = j.slot
                order by s.slot for update /*!80000 of s */ skip locked) d;
            -- without a lock first: it would be taken on what others hold
            select count(*) into v_number
            from json_table(v_locked, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.secret = unhex(j.secret) where q.scheduled_at <= in_now and q.reserved_by is not null;
            if v_number > 0 then
                /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(d.entry) into v_expired
                from (
                    select q.entry from json_table(v_locked, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.secret = unhex(j.secret)
                    where q.scheduled_at <= in_now and q.reserved_by is not null
                    order by q.entry for update /*!80000 of q */ skip locked) d;
                /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(v_expired, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry set q.reserved_by = null;
            end if;
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(r.slot) into v_free
            from json_table(v_locked, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', slot int path '$[2]')) r
            where r.entry is null
                or (select s.slot from queue_slot s
                    where s.p_kind = in_kind and s.slot = r.slot and s.entry = r.entry and s.secret = unhex(r.secret))
                    is not null
                and (select q.entry from delayed_queue q
                    where q.entry = r.entry and q.secret = unhex(r.secret)
                        and (q.scheduled_at > in_now or q.reserved_by is not null)) is null;
            set out_slots = if(v_free is null, out_slots,
                if(out_slots = '[]', v_free, json_merge_preserve(out_slots, v_free))), v_low = v_last + 1;
        elseif v_high > v_wrap and v_wrap > 0 and not v_over then
            set v_low = 1, v_high = v_wrap;
        else
            leave slots;
        end if;
        if json_length(out_slots) = v_want or v_low > v_high then
            leave slots;
        end if;
    end loop;
    if v_over then -- or not any more: what a definition has given since isn't taken away
        select k.max_reserved into v_most from queue_kind k where k.p_kind = in_kind for update skip locked;
        set in_most = coalesce(v_most, in_most);
        select count(*) into v_all from queue_slot s where s.p_kind = in_kind; -- what others have locked counts
        set v_all = greatest(least(in_most - v_all + json_length(out_slots), in_max), 0);
        /*M!100600 set statement sql_safe_updates = 0 for */ delete s from json_table(out_slots, '$[*]' columns (slot int path '$')) f
            straight_join queue_slot s force index (primary) on s.p_kind = in_kind and s.slot = f.slot
        where f.slot > v_most;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select coalesce(json_arrayagg(d.slot), '[]') into out_slots
        from (
            select f.slot from /*M!100600 (select * from */ json_table(out_slots, '$[*]' columns (slot int path '$')) f /*M!100600 limit 1000000000) f */
            where f.slot <= in_most order by f.slot limit v_all) d;
    end if;
end;
--;
-- changes: queue_bucket
drop procedure if exists _queue_lease_tokens;
--;
create procedure _queue_lease_tokens(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_rate decimal(30,6), in in_need int,
    in in_now bigint, in in_back bigint, out out_got bigint)
    comment 'Takes tokens of a kind with rate_per_second.
in_kind: the kind. in_rate: its rate. in_need: how many are needed. in_now: the time of the call.
in_back: how many, taken before, are given back, to as many parts as it takes: none saves more than it may.
Result: out_got: how many.
A part saves a second of its tokens, or one and a half where that is more. Where the clock was set back it begins anew.
Locks: the parts it takes from; those that others have locked are passed over.
differs: on PostgreSQL a session takes some ahead (in_more), see _queue_admit.'
begin
    declare v_parts int default least(greatest(floor(in_rate), 1), 16);
    declare v_step decimal(40,6) default 1000000000 * v_parts / in_rate;
    declare v_now bigint default in_now * 1000;
    declare v_least decimal(40,6) default v_now - greatest(1000000000, 1.5 * v_step);
    declare v_first, v_low int default floor(rand() * v_parts);
    declare v_high, v_part int default v_parts - 1;
    declare v_spent decimal(40,6);
    declare v_given, v_taken bigint;
    declare continue handler for not found begin end;
    set out_got = 0, v_low = v_first;
    parts: loop
        set v_part = null;
        select b.part, if(b.spent_at > v_now + 1000000000, v_now, b.spent_at) into v_part, v_spent
        from queue_bucket b force index (primary)
        where b.p_kind = in_kind and b.part between v_low and v_high
            and (b.spent_at <= v_now - v_step * (1 - in_back) or b.spent_at > v_now + 1000000000)
        order by b.part limit 1 for update skip locked;
        if v_part is not null then
            set v_given = least(in_back, greatest(floor((v_spent - v_least + 1) / v_step), 0)); -- what it has room for
            set v_spent = greatest(v_spent - v_step * v_given, v_least);
            set v_taken = least(floor((v_now - v_spent) / v_step), in_need - out_got);
            update queue_bucket b set b.spent_at = round(v_spent + v_step * v_taken)
                where b.p_kind = in_kind and b.part = v_part;
            set out_got = out_got + v_taken, in_back = in_back - v_given, v_low = v_part + 1;
            if out_got >= in_need and in_back = 0 then
                leave parts;
            end if;
        elseif v_high >= v_first and v_first > 0 then
            set v_low = 0, v_high = v_first - 1;
        else
            leave parts;
        end if;
    end loop;
end;
--;
-- calls: _queue_admitted, _queue_lease_tokens, _queue_slots
drop procedure if exists _queue_admit;
--;
create procedure _queue_admit(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_most int, in in_rate decimal(30,6), in in_now bigint,
    inout out_max int, out out_slots longtext character set ascii, out out_tokens bigint)
    comment 'For how many messages of a kind with max_reserved or rate_per_second there are slots and tokens.
in_kind: the kind. in_most, in_rate: its max_reserved and its rate_per_second, NULL: without. in_now: the time of the
call. out_max: how many are wanted; answers how many may be taken. out_slots: the slots for them. out_tokens: how many
tokens were taken.
Locks: as _queue_lease_tokens and _queue_slots.
@pyqueue_slots, by kind, as in @pyqueue_cursors: the slot that the session had last, which is free once it has acked.
differs: on PostgreSQL the tokens are a part of it there, and a session keeps some for a while; here it could write down
any number of them.'
begin
    declare v_path longtext character set ascii default concat('$.k', hex(concat(database(), '.', in_kind)));
    declare v_place longtext character set utf8mb4 default json_extract(@pyqueue_slots, v_path);
    declare v_first int default if(v_place regexp '^[0-9]{1,9}$', v_place, 0);
    set out_tokens = 0;
    if in_rate is not null then
        call _queue_lease_tokens(in_kind, in_rate, out_max, in_now, 0, out_tokens);
        set out_max = least(out_max, out_tokens);
    end if;
    if in_most is not null and out_max > 0 then
        call _queue_slots(in_kind, in_most, v_first, out_max, in_now, out_slots);
        set out_max = json_length(out_slots), v_first = coalesce(json_extract(out_slots, '$[0]'), 0);
        if out_max = 0 then
            call _queue_admitted(in_kind, in_rate, 0, out_tokens, null, null, null, in_now);
        end if;
        set @pyqueue_slots = json_set(@pyqueue_slots, v_path, v_first + 0);
    end if;
end;
--;
-- calls: _queue_lease_tokens
-- changes: queue_slot
drop procedure if exists _queue_admitted;
--;
create procedure _queue_admitted(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_rate decimal(30,6), in in_number int,
    in in_tokens bigint, in in_slots longtext character set ascii, in in_entries longtext character set utf8mb4,
    in in_seed varchar(64) character set ascii, in in_now bigint)
    comment 'Gives back the tokens that were not used, and puts the deliveries in their slots.
in_kind: the kind. in_rate: its rate_per_second. in_number: how many messages were delivered; NULL: none. in_tokens,
in_slots: what _queue_admit took for them; in_slots NULL: the kind has none. in_entries: the messages, a JSON array, as
many as slots or fewer; NULL: none. in_seed: what their secrets are made of, see _queue_deliver. in_now: the time of the
call.
Locks: the slots, which are locked already; as _queue_lease_tokens.
differs: PostgreSQL appends to queue_claim, and keeps tokens that are taken ahead.'
begin
    declare v_got, v_entry bigint;
    declare v_slot int;
    if in_tokens > coalesce(in_number, 0) then
        call _queue_lease_tokens(in_kind, in_rate, 0, in_now, in_tokens - coalesce(in_number, 0), v_got);
    end if;
    if in_slots is not null and in_number = 1 then
        set v_slot = json_extract(in_slots, '$[0]'), v_entry = json_extract(in_entries, '$[0]');
        update queue_slot s set s.entry = v_entry, s.secret = unhex(left(in_seed, 32))
            where s.p_kind = in_kind and s.slot = v_slot;
    elseif in_slots is not null and in_number > 1 then
        /*M!100600 set statement sql_safe_updates = 0 for */ update (
            select max(u.slot) as slot, max(u.entry) as entry -- a join of the two arrays would compare each with each
            from (
                select j.place, j.slot, null as entry
                from json_table(in_slots, '$[*]' columns (place for ordinality, slot int path '$')) j
                union all
                select e.place, null, e.entry
                from json_table(in_entries, '$[*]' columns (place for ordinality, entry bigint path '$')) e) u
            group by u.place having entry is not null) d
            straight_join queue_slot s force index (primary) on s.p_kind = in_kind and s.slot = d.slot
        set s.entry = d.entry, s.secret = unhex(left(sha2(concat(in_seed, d.entry), 256), 32));
    end if;
end;
--;
-- calls: _queue_put
-- changes: queue_group
drop procedure if exists _queue_group_check;
--;
create procedure _queue_group_check(in in_group text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_now bigint)
    comment 'Finishes a group where all is done, or where it has failed: pushes what follows it.
in_group: the group. in_now: the time of the call.
Locks: the group, and where it finishes its members and the message that has the key of the continuation.'
finishing: begin
    declare v_closed, v_fails, v_failed, v_ends boolean;
    declare v_open, v_dead, v_members, v_expected, v_delay, v_at, v_entry bigint;
    declare v_kind, v_fail_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_payload, v_results longtext character set utf8mb4;
    declare v_priority smallint;
    declare v_outcome varchar(10) character set utf8mb4;
    declare continue handler for not found begin end;
    select g.closed, g.on_dead = 'fail', g.expected, g.then_kind, g.fail_kind, g.then_key, g.then_payload,
        g.then_priority, g.then_delay
    into v_closed, v_fails, v_expected, v_kind, v_fail_kind, v_key, v_payload, v_priority, v_delay
    from queue_group g where g.group_name = in_group and g.finished_at is null for update;
    if v_closed is null then
        leave finishing;
    end if;
    select count(*), count(*) - count(m.done_at), count(if(m.outcome = 'dead', 1, null)) into v_members, v_open, v_dead
    from queue_group_member m force index (queue_group_member_group) where m.group_name = in_group;
    set v_failed = v_fails and v_dead > 0,
        v_ends = v_failed or v_open = 0 and (v_closed or coalesce(v_expected <= v_members, false));
    if v_ends and not v_failed then -- an old snapshot may not have all of them
        select count(*) = count(l.done_at) into v_ends
        from (select m.done_at from queue_group_member m force index (queue_group_member_group)
            where m.group_name = in_group for update skip locked) l;
    end if;
    if not v_ends then
        -- of two nodes of a cluster that look at the same time, one is to look again
        update queue_group g set g.turn = g.turn + 1 where g.group_name = in_group;
        leave finishing;
    end if;
    update queue_group g set g.finished_at = in_now, g.failed = v_failed,
        g.forget_at = in_now + g.keep_seconds * 1000000
    where g.group_name = in_group;
    set v_kind = if(v_failed, v_fail_kind, v_kind);
    if v_kind is not null then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_merge_preserve(json_object('kind', r.p_kind, 'key', r.p_key, 'outcome', r.outcome),
            if(r.result is null, '{}', concat('{"result": ', r.result, '}')),
            if(r.error is null, '{}', json_object('error', r.error))))
        into v_results
        from (
            select m.p_kind, m.p_key, m.outcome, m.result, m.error
            from queue_group_member m force index (queue_group_member_group)
            where m.group_name = in_group and m.done_at is not null order by m.member limit 1000000000
            for update) r;
        set v_payload = json_merge_preserve(json_remove(v_payload, '$.results'),
            concat('{"results": ', coalesce(v_results, '[]'), '}'));
        call _queue_put(v_entry, v_kind, v_key, v_payload, null, null, v_priority, in_now, in_now + v_delay, 0, null,
            'replace', null, null, null, null, null, null, v_at, v_outcome);
    end if;
end;
--;
-- changes: queue_group_due
drop procedure if exists _queue_group_note;
--;
create procedure _queue_group_note(in in_group varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Notes that a group has to be looked at once this transaction has ended, where its snapshot can''t see who
else has ended a member, or closed the group: see _queue_groups_due.
in_group: the group.
Locks: none.
differs: in each transaction of the caller''s, whose level nobody can read.'
begin
    if not @pyqueue_own then
        insert into queue_group_due (group_name, writer, id) values (in_group, connection_id(), uuid_short())
        on duplicate key update id = uuid_short();
    end if;
end;
--;
-- calls: _queue_group_check
-- changes: queue_group_due
drop procedure if exists _queue_groups_due;
--;
create procedure _queue_groups_due(in in_now bigint, out out_looked bigint)
    comment 'Finishes groups whose last members ended in transactions that couldn''t see one another: what whoever
reserves, polls, beats, reaps or prunes does by the way.
in_now: the time of the call.
Result: how many notes went.
Locks: the groups that finish, what others have locked is left; then as _queue_group_check.
differs: the result is out_looked.'
begin
    declare v_group varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default '';
    declare v_found varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_there, v_open int;
    declare v_rounds int default 0;
    declare v_finished_at bigint;
    declare v_notes longtext character set utf8mb4;
    declare continue handler for not found begin end;
    set out_looked = 0;
    select min(d.group_name) into v_group from queue_group_due d;
    while v_group is not null and v_rounds < 1000 do
        set v_found = null, v_finished_at = null;
        -- what this transaction can see; what comes meanwhile is for the next
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(d.writer, d.id)) into v_notes from queue_group_due d
            where d.group_name = v_group;
        set v_open = 0;
        if not @pyqueue_own then -- a lock would last as long as the caller's transaction
            select count(*) into v_open
            from (
                select m.member from queue_group_member m force index (queue_group_member_open)
                where m.group_name = v_group and m.done_at is null limit 1) o;
        end if;
        if v_open = 0 then
            select g.group_name, g.finished_at into v_found, v_finished_at from queue_group g
                where g.group_name = v_group for update skip locked;
        end if;
        select count(*) into v_there from queue_group g where g.group_name = v_group;
        if v_found is not null or v_there = 0 then
            if v_found is not null and v_finished_at is null then
                call _queue_group_check(v_group, in_now);
                select g.finished_at into v_finished_at from queue_group g where g.group_name = v_group;
            end if;
            -- of its own session one may be of this transaction, which may have to leave it to those that come after it
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.writer) into v_notes
            from (
                select d.writer
                from json_table(v_notes, '$[*]' columns (writer bigint path '$[0]', id bigint path '$[1]')) j straight_join queue_group_due d force index (primary)
                    on d.group_name = v_group and d.writer = j.writer and d.id = j.id
                where @pyqueue_own or v_there = 0 or v_finished_at is not null or d.writer <> connection_id()
                limit 1000000000 for update /*!80000 of d */ skip locked) l;
            /*M!100600 set statement sql_safe_updates = 0 for */ delete d from json_table(coalesce(v_notes, '[]'), '$[*]' columns (writer bigint path '$')) j
                straight_join queue_group_due d force index (primary) on d.group_name = v_group and d.writer = j.writer;
            set out_looked = out_looked + coalesce(json_length(v_notes), 0), v_rounds = v_rounds + 1;
        end if;
        select min(d.group_name) into v_group from queue_group_due d where d.group_name > v_group;
    end while;
end;
--;
-- changes: queue_group_member
drop procedure if exists _queue_members_end;
--;
create procedure _queue_members_end(in in_members longtext character set utf8mb4, in in_outcome varchar(10) character set utf8mb4, in in_result longtext character set utf8mb4,
    in in_now bigint)
    comment 'Members of groups are done. They are noted for _queue_members_settle, so that a call locks the stripes of
all that it ends before it locks a group.
in_members: the members; those that are done already stay as they are. in_outcome: acked, duplicate, dead, gone.
in_result: of each of them, NULL: none. in_now: the time of the call.
Locks: none that others want, since who ends a member has its message.
differs: in_members is a JSON array.'
begin
    /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(in_members, '$[*]' columns (member bigint path '$')) j
        straight_join queue_group_member m force index (primary) on m.member = j.member and m.done_at is null
    set m.done_at = in_now, m.outcome = in_outcome, m.result = in_result,
        m.error = if(in_outcome = 'dead', m.error, null);
    if row_count() > 0 then
        set @pyqueue_members = json_merge_preserve(convert(coalesce(@pyqueue_members, '[]') using utf8mb4), in_members);
    end if;
end;
--;
-- calls: _queue_group_check, _queue_group_note, queue_now
-- changes: queue_group_stripe
drop procedure if exists _queue_members_settle;
--;
create procedure _queue_members_settle()
    comment 'The members that this call has ended, all of them: the last one of a group has it finish. After it a call
ends no message and puts in no key, but that of a continuation; semaphores come next.
A snapshot that can''t see who else ends one leaves a note, see _queue_group_note.
Locks: their stripes, in order, until the transaction ends: of two that end at the same moment the second one sees the
first. Then as _queue_group_check, in the order of the groups'' names.
differs: it reads the clock itself, as _queue_permits_end does, and _queue_commit calls it, or who has to sooner.'
begin
    declare v_now bigint;
    declare v_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_members longtext character set utf8mb4 default @pyqueue_members;
    declare v_stripes longtext character set utf8mb4;
    declare c cursor for
        select distinct d.group_name
        from (
            select m.group_name, m.stripe, max(m.outcome = 'dead') as dead
            from json_table(v_members, '$[*]' columns (member bigint path '$')) j
                straight_join queue_group_member m force index (primary) on m.member = j.member
            group by m.group_name, m.stripe) d
        where d.dead or (
            select o.member from queue_group_member o force index (queue_group_member_open)
            where o.group_name = d.group_name and o.stripe = d.stripe and o.done_at is null limit 1) is null
        order by d.group_name;
    declare n cursor for
        select distinct m.group_name
        from json_table(v_members, '$[*]' columns (member bigint path '$')) j
            straight_join queue_group_member m force index (primary) on m.member = j.member
        where not @pyqueue_own;
    set @pyqueue_members = null;
    call queue_now(v_now);
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(d.stripe, d.group_name)) into v_stripes
    from (
        select distinct m.stripe, m.group_name
        from json_table(v_members, '$[*]' columns (member bigint path '$')) j
            straight_join queue_group_member m force index (primary) on m.member = j.member
        order by m.stripe, m.group_name limit 1000000000) d;
    -- written to, because another node of a cluster doesn't see what is only locked
    /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(coalesce(v_stripes, '[]'), '$[*]' columns (stripe smallint path '$[0]', group_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]')) j
        straight_join queue_group_stripe s force index (primary) on s.group_name = j.group_name and s.stripe = j.stripe
    set s.turn = s.turn + 1;
    open n; begin declare v_over boolean default false; each_n: loop
    begin declare continue handler for not found set v_over = true; fetch n into v_name; end;
    if v_over then leave each_n; end if;
        call _queue_group_note(v_name);
    end loop; end; close n;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_name; end;
    if v_over then leave each_c; end if;
        call _queue_group_check(v_name, v_now);
    end loop; end; close c;
end;
--;
-- calls: _queue_fail
-- changes: queue_group_member
drop procedure if exists _queue_enrol;
--;
create procedure _queue_enrol(in in_list longtext character set utf8mb4)
    comment 'Makes messages members of groups.
in_list: a JSON array of arrays, see _queue_log_entries: the entry of a message, just put in, its event, and its group,
or null for none.
Errors: PQ002 for a group that isn''t there, PQ004 for one that has finished.
Locks: the groups, shared, in the order of their names: they can''t finish before the transaction ends. Waits for one
that is finishing.
differs: one list in place of two arrays; the last 8 bits of an entry are the server''s id.'
begin
    declare v_name, v_found varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_finished_at bigint;
    declare c cursor for
        select distinct j.name from /*M!100600 (select * from */ json_table(in_list, '$[*]' columns (entry bigint path '$[0]', event varchar(20) character set utf8mb4 path '$[1]', name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[2]')) j /*M!100600 limit 1000000000) j */
        where j.name is not null order by j.name;
    declare continue handler for not found begin end;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_name; end;
    if v_over then leave each_c; end if;
        set v_found = null;
        select g.group_name, g.finished_at into v_found, v_finished_at from queue_group g
            where g.group_name = v_name lock in share mode;
        if v_found is null then
            call _queue_fail('PQ002', 'group', v_name, 'must be there: queue_group makes it');
        elseif v_finished_at is not null then
            call _queue_fail('PQ004', 'group', v_name, 'takes in nothing, it has finished');
        end if;
    end loop; end; close c;
    insert into queue_group_member (member, group_name, stripe, p_kind, p_key, entry)
    select q.entry, j.name, (q.entry >> 8) mod 32, q.p_kind, q.p_key, q.entry
    from json_table(in_list, '$[*]' columns (entry bigint path '$[0]', event varchar(20) character set utf8mb4 path '$[1]', name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[2]')) j
        straight_join delayed_queue q force index (primary) on q.entry = j.entry
    where j.name is not null;
    /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(in_list, '$[*]' columns (entry bigint path '$[0]', event varchar(20) character set utf8mb4 path '$[1]', name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[2]')) j
        straight_join delayed_queue q force index (primary) on q.entry = j.entry
    set q.member = q.entry
    where j.name is not null;
end;
--;
-- calls: _queue_group_check, _queue_members_end, _queue_members_settle
-- changes: queue_group, queue_group_member, queue_group_stripe
drop procedure if exists _queue_prune_groups;
--;
create procedure _queue_prune_groups(in in_now bigint, in in_max bigint, out out_pruned bigint)
    comment 'Forgets groups that have finished and are past their keep_seconds. Of the others it ends members whose
message has gone without an ack, and finishes those where nobody saw that all is done: those first that it has not
looked at for longest.
in_now: the time of the call. in_max: how many rows to look at, of each sort.
Result: how many were forgotten.
Locks: as _queue_members_settle. Then the groups that are forgotten; what others have locked is left.
differs: the result is out_pruned.'
begin
    declare v_name, v_locked varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_from, v_rows, v_last, v_open bigint;
    declare v_left bigint default in_max;
    declare v_some longtext character set utf8mb4;
    declare v_gone longtext character set utf8mb4 default '[]';
    declare v_looked longtext character set utf8mb4 default '[]';
    declare v_past cursor for
        select g.group_name from queue_group g force index (queue_group_forget)
        where g.forget_at <= in_now order by g.forget_at limit in_max;
    declare v_open_ones cursor for
        select g.group_name, g.checked_to from queue_group g force index (queue_group_checked)
        where g.finished_at is null order by g.checked_at limit in_max;
    declare v_looked_at cursor for
        select n.group_name, n.place
        from json_table(v_looked, '$[*]' columns (group_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', place bigint path '$[1]')) n;
    declare continue handler for not found begin end;
    set out_pruned = 0;
    open v_open_ones; begin declare v_over boolean default false; names: loop
    begin declare continue handler for not found set v_over = true; fetch v_open_ones into v_name, v_from; end;
    if v_over then leave names; end if;
        if v_left <= 0 then
            leave names;
        end if;
        set v_some = null;
        select count(*), max(o.member) into v_rows, v_last
        from (select m.member from queue_group_member m force index (queue_group_member_group)
            where m.group_name = v_name and m.member > v_from order by m.member limit v_left) o;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(m.member) into v_some
        from queue_group_member m force index (queue_group_member_group)
            left join delayed_queue q force index (primary) on q.entry = m.entry
        where m.group_name = v_name and m.member > v_from and m.member <= v_last and m.done_at is null
            and q.entry is null;
        set v_gone = json_merge_preserve(v_gone, coalesce(v_some, '[]')),
            v_looked = json_array_append(v_looked, '$', json_array(v_name, if(v_rows < v_left, 0, v_last) + 0)),
            v_left = v_left - greatest(v_rows, 1);
    end loop; end; close v_open_ones;
    -- of all groups at once, before one is locked: a stripe that is waited for may be of who wants that next
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.member) into v_gone -- another prune may have found the same
    from (
        select m.member from json_table(v_gone, '$[*]' columns (member bigint path '$')) j
            straight_join queue_group_member m force index (primary) on m.member = j.member
        limit 1000000000 for update /*!80000 of m */ skip locked) l;
    if v_gone is not null then
        call _queue_members_end(v_gone, 'gone', null, in_now);
    end if;
    if @pyqueue_members is not null then
        call _queue_members_settle();
    end if;
    open v_looked_at; begin declare v_over boolean default false; each_v_looked_at: loop
    begin declare continue handler for not found set v_over = true; fetch v_looked_at into v_name, v_last; end;
    if v_over then leave each_v_looked_at; end if;
        select count(*) into v_open from (
            select 1 from queue_group_member m force index (queue_group_member_open)
            where m.group_name = v_name and m.done_at is null limit 1) o;
        set v_locked = null;
        select g.group_name into v_locked from queue_group g where g.group_name = v_name for update skip locked;
        if v_locked is not null then
            if v_open = 0 then
                call _queue_group_check(v_name, in_now);
            end if;
            update queue_group g set g.checked_at = in_now, g.checked_to = v_last where g.group_name = v_name;
        end if;
    end loop; end; close v_looked_at;
    -- last, because who waits for one of their stripes may have others
    open v_past; begin declare v_over boolean default false; past: loop
    begin declare continue handler for not found set v_over = true; fetch v_past into v_name; end;
    if v_over then leave past; end if;
        if out_pruned >= in_max then
            leave past;
        end if;
        set v_locked = null, v_gone = null, v_left = in_max - out_pruned;
        select g.group_name into v_locked from queue_group g where g.group_name = v_name for update skip locked;
        -- who ends a member late, of a group that has failed, wants the group next
        select count(*) into v_open from (
            select s.stripe from queue_group_stripe s where s.group_name = v_locked for update skip locked) l;
        select if(count(*) > v_open, null, v_locked) into v_locked
        from queue_group_stripe s where s.group_name = v_locked;
        if v_locked is not null then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(o.member), count(*) into v_gone, v_rows
            from (select m.member from queue_group_member m force index (queue_group_member_group)
                where m.group_name = v_name limit v_left for update skip locked) o;
            /*M!100600 set statement sql_safe_updates = 0 for */ delete m from json_table(coalesce(v_gone, '[]'), '$[*]' columns (member bigint path '$')) j
                straight_join queue_group_member m force index (primary) on m.member = j.member;
            set out_pruned = out_pruned + v_rows;
            if v_rows < v_left then -- all that nobody has locked
                select count(*) into v_open from queue_group_member m force index (queue_group_member_group)
                where m.group_name = v_name;
                if v_open = 0 then
                    delete s from queue_group_stripe s where s.group_name = v_name;
                    delete g from queue_group g where g.group_name = v_name;
                    set out_pruned = out_pruned + 1;
                end if;
            end if;
        end if;
    end loop; end; close v_past;
end;
--;
-- calls: _queue_boolean, _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles,
--     _queue_fail, _queue_group_check, _queue_group_note, _queue_integer, _queue_lock, _queue_members_end,
--     _queue_members_settle, _queue_number, _queue_text, queue_now
-- changes: queue_group, queue_group_stripe
drop procedure if exists queue_group;
--;
create procedure queue_group(in in_group text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_then_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_then_payload longtext character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'Makes a group, or changes one that has not finished. When all of its members are done, the queue pushes one
more message, once: the continuation. Messages become members by option group of a push. A member is done when it is
acked, or at the end of its route.
in_group: its name, 1 to 100 characters.
in_then_kind: the kind of the continuation, 1 to 95 characters; NULL: as it was.
in_then_payload: a JSON object; NULL: as it was, at first {}. The results are put into it as results: an array, in the
order of the pushes, of {kind, key, outcome, result, error}. kind and key are those of the push, result is what the
ack gave. All together are one payload: 10000 results of 1 kB are 10 MB, and MySQL and MariaDB want max_allowed_packet
to be as large.
in_options: each is kept where it isn''t given again.
- close: says that all members are known. Allowed: true, false. Default: false.
- members: how many members there will be. Allowed: 0 to 1000000000. Default: not known.
- on_dead: what a dead member does. wait: the group waits until that is redriven and acked, or acked as a dead letter.
  report: the member is done, and its error is with the results. fail: the group has failed at once. Allowed: wait,
  report, fail. Default: wait.
- fail_kind: where the continuation of a group that has failed goes, with the results so far. Allowed: a kind, 1 to 95
  characters. Default: nothing is pushed.
- key: the key of the continuation. Where it is taken, that message is replaced as by a push with on_duplicate.
  Allowed: 1 to 200 characters. Default: the name of the group.
- priority: the priority of the continuation. Allowed: -32768 to 32767. Default: 0.
- delay_seconds: how long the continuation waits. Allowed: 0 to 31536000 (a year). Default: 0.
- keep_seconds: how long a group that has finished is remembered. Allowed: 0 to 3153600000 (100 years). Default: 86400
  (a day).
A group finishes once it is closed, or has as many members as it was to have, and all of them are done. One that is
closed without any member finishes at once. Until it has finished more may be added, also by a member that is held;
after that it is an error. What is pushed onto a message that is there already is no member. A member that moves, dies
or is redriven stays one. One whose key is taken where it goes is done: outcome duplicate. One that is popped,
removed, purged, dropped or goes with its kind is done: outcome gone, from the next queue_prune on. The continuation
is put in even where its kind is drained.
Result: group_name; state: open, closed, done, failed; members, done: how many. A group that has finished stays as it
is.
Errors: PQ007 for a kind that is for others. PQ001 for group and then_kind, PQ002 for options, PQ003 for then_payload.
Locks: where on_dead was wait, and is no longer, the members that aren''t done, in the order of their entries. Then the
group; waits for pushes of members that haven''t committed. Acks of the last members of a group, and of a group of a
few, wait for one another''s transactions. Under REPEATABLE READ and SERIALIZABLE the last ack may not see that it is
the last: then whoever next reserves, waits, sends a heartbeat, reaps or prunes finishes the group, and queue_wait and
queue_listen say that then_kind may have something.
Where the idea comes from: Chapman''s groups, whose last job starts the next step.'
begin
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_now, v_new, v_expected, v_priority, v_finished_at bigint;
        declare v_found varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare v_delay, v_keep decimal(30,6);
        declare v_close boolean;
        declare v_dead longtext character set utf8mb4;
        declare v_key, v_on_dead, v_fail_kind longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare continue handler for not found begin end;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_name(in_group, 100, 'group');
        if in_then_kind is not null then
            call _queue_check_name(in_then_kind, 95, 'then_kind');
        end if;
        call _queue_check_payload(in_then_payload, 'then_payload');
        if json_type(in_then_payload) <> 'OBJECT' then
            call _queue_fail('PQ003', 'then_payload', in_then_payload, 'must be a JSON object');
        end if;
        call _queue_check_options(in_options,
            'close,members,on_dead,fail_kind,key,priority,delay_seconds,keep_seconds', 'options');
        call _queue_boolean(in_options, 'close', v_close);
        call _queue_integer(in_options, 'members', 0, 1000000000, v_expected);
        call _queue_text(in_options, 'on_dead', v_on_dead);
        if v_on_dead not in ('wait', 'report', 'fail') then
            call _queue_fail('PQ002', 'on_dead', v_on_dead, 'must be wait, report or fail');
        end if;
        call _queue_text(in_options, 'fail_kind', v_fail_kind);
        if v_fail_kind is not null then
            call _queue_check_name(v_fail_kind, 95, 'fail_kind');
        end if;
        call _queue_text(in_options, 'key', v_key);
        if v_key is not null then
            call _queue_check_name(left(v_key, 201), 200, 'key');
        end if;
        call _queue_check_roles(json_array(in_then_kind, v_fail_kind));
        call _queue_integer(in_options, 'priority', -32768, 32767, v_priority);
        call _queue_number(in_options, 'delay_seconds', 0, 31536000, v_delay);
        call _queue_number(in_options, 'keep_seconds', 0, 3153600000, v_keep);
        if v_on_dead <> 'wait' then
            -- who ends a member locks it before the group; one that is dying has been told what that does
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(m.entry)) into v_dead
            from queue_group g straight_join queue_group_member m on m.group_name = g.group_name
            where g.group_name = in_group and g.on_dead = 'wait' and m.done_at is null;
            call _queue_lock(coalesce(v_dead, '[]'));
        end if;
        if in_then_kind is not null then
            insert into queue_group (group_name, then_kind, then_payload, then_key, then_priority, then_delay, on_dead,
                closed, keep_seconds, created_at)
            values (in_group, in_then_kind, '{}', in_group, 0, 0, 'wait', false, 86400, v_now)
            on duplicate key update group_name = queue_group.group_name;
        end if;
        select g.group_name, g.finished_at, json_array(g.then_kind, g.fail_kind) into v_found, v_finished_at, v_dead
        from queue_group g where g.group_name = in_group for update;
        call _queue_check_roles(v_dead); -- what is changed is what they get
        set v_dead = null;
        if v_found is null then
            call _queue_check_name(in_then_kind, 95, 'then_kind');
        elseif v_finished_at is null then
            select count(*) = 0 into v_new from queue_group_stripe s where s.group_name = in_group;
            if v_new then
                insert into queue_group_stripe (group_name, stripe)
                select in_group, a.n * 8 + b.n
                from json_table('[0, 1, 2, 3]', '$[*]' columns (n int path '$')) a
                    join json_table('[0, 1, 2, 3, 4, 5, 6, 7]', '$[*]' columns (n int path '$')) b
                order by 2 on duplicate key update stripe = queue_group_stripe.stripe; -- unseen by an old snapshot
            end if;
            update queue_group g
            set g.then_kind = coalesce(in_then_kind, g.then_kind),
                g.then_payload = coalesce(in_then_payload, g.then_payload), g.then_key = coalesce(v_key, g.then_key),
                g.on_dead = coalesce(v_on_dead, g.on_dead), g.then_priority = coalesce(v_priority, g.then_priority),
                g.then_delay = coalesce(v_delay * 1000000, g.then_delay),
                g.fail_kind = coalesce(v_fail_kind, g.fail_kind), g.expected = coalesce(v_expected, g.expected),
                g.closed = g.closed or coalesce(v_close, false), g.keep_seconds = coalesce(v_keep, g.keep_seconds)
            where g.group_name = in_group;
            if v_on_dead <> 'wait' then -- of those that have died, too
                /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(m.member) into v_dead
                from queue_group_member m straight_join delayed_queue q force index (primary) on q.entry = m.entry
                where m.group_name = in_group and m.done_at is null and q.source_kind is not null;
                if v_dead is not null then
                    call _queue_members_end(v_dead, 'dead', null, v_now);
                    call _queue_members_settle();
                end if;
            end if;
            call _queue_group_note(in_group);
            call _queue_group_check(in_group, v_now);
        end if;
        select v.group_name, v.state, v.members, v.done from queue_groups v where v.group_name = in_group;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
end;
--;
-- calls: _queue_check_name, _queue_fail
drop procedure if exists _queue_check_topic;
--;
create procedure _queue_check_topic(in in_topic text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_name varchar(100) character set utf8mb4)
    comment 'Refuses what can''t be a topic or a pattern: words with a dot between them, 255 characters in all.
in_topic: it. in_name: topic, or pattern, in which a word may be * or #; of these at most three, so that no matching
takes long.
Errors: PQ001.'
begin
    call _queue_check_name(in_topic, 255, in_name);
    if locate('..', concat('.', in_topic, '.')) > 0 then
        call _queue_fail('PQ001', in_name, in_topic, 'must be words with a dot between them');
    elseif in_name = 'topic' and in_topic regexp '[*#]' then
        call _queue_fail('PQ001', in_name, in_topic, 'must not contain * or #');
    elseif in_topic regexp '[^.][*#]|[*#][^.]' then
        call _queue_fail('PQ001', in_name, in_topic, 'must have * and # as words of their own');
    elseif char_length(in_topic) - char_length(replace(in_topic, '#', '')) > 3 then
        call _queue_fail('PQ001', in_name, in_topic, 'must have at most three #');
    end if;
end;
--;
-- calls: _queue_epoch
drop procedure if exists _queue_subscribed;
--;
create procedure _queue_subscribed(in in_topic text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, out out_list longtext character set utf8mb4)
    comment 'The kinds that get a copy of what is published to a topic. Looked at are the subscriptions whose words
before the first wildcard are those the topic begins with, and whose last word is a wildcard or that of the topic.
in_topic: the topic, checked.
Result: the kinds, in their order, each once.
Locks: none.
differs: out_list is a JSON array of arrays, a new entry number and the kind.'
begin
    declare v_shift bigint;
    declare v_heads longtext character set utf8mb4 default json_array('');
    declare v_count int default 1 + char_length(in_topic) - char_length(replace(in_topic, '.', ''));
    while json_length(v_heads) <= v_count do
        set v_heads = json_array_append(v_heads, '$', substring_index(in_topic, '.', json_length(v_heads)));
    end while;
    call _queue_epoch(v_shift);
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(m.entry, m.p_kind)) into out_list
    from (
        select ((uuid_short() << 8) & 9223372036854775807) + v_shift as entry, k.p_kind
        from (
            select distinct s.p_kind
            from json_table(v_heads, '$[*]' columns (head varchar(255) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) h
                straight_join queue_subscription s force index (queue_subscription_words)
                    on s.head = h.head and s.tail in ('', substring_index(in_topic, '.', -1))
            where concat('.', in_topic) like s.sketch escape '|' and concat('.', in_topic) regexp s.matcher
            order by s.p_kind limit 1000000000) k
        limit 1000000000) m;
    set out_list = coalesce(out_list, '[]');
end;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_check_topic, _queue_matcher, queue_now
-- changes: queue_subscription
drop procedure if exists queue_subscribe;
--;
create procedure queue_subscribe(in in_pattern text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Has a kind get a copy of each message that is published to a topic of a pattern, from now on.
in_pattern: words with a dot between them, 1 to 255 characters, in which the word * stands for one word and the word #
for any number of words, also none; at most three #. "order.*.paid" and "order.#" are patterns. in_kind: the kind, 1 to
95 characters; nobody has to have defined it.
Result: changed: false where that kind had that pattern already.
Errors: PQ007 for a kind that is for others. PQ001 for pattern and kind.
Locks: none.
Where the idea comes from: the topic exchange of AMQP.'
begin
    declare v_changed boolean;
    declare v_now bigint;
    declare v_left, v_word, v_head, v_sketch, v_matcher, v_before text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare continue handler for 1062 set v_changed = false; -- another has come first
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_topic(in_pattern, 'pattern');
        call _queue_check_name(in_kind, 95, 'kind');
        call _queue_check_roles(json_array(in_kind));
        set v_left = concat(in_pattern, '.'), v_before = '', v_head = null, v_sketch = '';
        while v_left <> '' do
            set v_word = substring_index(v_left, '.', 1), v_left = substr(v_left, locate('.', v_left) + 1);
            if v_word in ('*', '#') then
                set v_head = coalesce(v_head, v_before), v_sketch = concat(v_sketch, if(v_word = '*', '.%', '%'));
            else
                set v_before = concat_ws('.', nullif(v_before, ''), v_word),
                    v_sketch = concat(v_sketch, '.',
                    replace(replace(replace(v_word, '|', '||'), '%', '|%'), '_', '|_'));
            end if;
        end while;
        select count(*) = 0 into v_changed from queue_subscription s
            where s.pattern = in_pattern and s.p_kind = in_kind;
        if v_changed then
            call _queue_matcher(in_pattern, v_matcher);
            insert into queue_subscription (pattern, p_kind, head, tail, sketch, matcher, subscribed_at)
            values (in_pattern, in_kind, coalesce(v_head, v_before), if(v_word in ('*', '#'), '', v_word), v_sketch,
                v_matcher, v_now);
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_changed as changed;
end;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_check_topic
-- changes: queue_subscription
drop procedure if exists queue_unsubscribe;
--;
create procedure queue_unsubscribe(in in_pattern text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Ends a subscription. What the kind has got stays there.
in_pattern: the pattern, as it was subscribed. in_kind: the kind.
Result: changed: false where that kind didn''t have that pattern.
Errors: PQ007 for a kind that is for others. PQ001 for pattern and kind.
Locks: the subscription.'
begin
    declare v_changed boolean;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_topic(in_pattern, 'pattern');
        call _queue_check_name(in_kind, 95, 'kind');
        call _queue_check_roles(json_array(in_kind));
        delete s from queue_subscription s where s.pattern = in_pattern and s.p_kind = in_kind;
        set v_changed = row_count() > 0;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_changed as changed;
end;
--;
-- calls: _queue_check_fit, _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles,
--     _queue_check_topic, _queue_fail, _queue_index, _queue_key, _queue_lock, _queue_log_entries,
--     _queue_push_options, _queue_put, _queue_subscribed, queue_now
-- changes: delayed_queue
drop procedure if exists queue_publish;
--;
create procedure queue_publish(in in_topic text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_payload longtext character set utf8mb4,
    in in_options longtext character set utf8mb4)
    comment 'Puts a copy of one message into each kind that is subscribed to its topic: into all, or into none. The
copies are messages like any other. A kind that is subscribed by several patterns gets one.
in_topic: words with a dot between them, 1 to 255 characters, without * and #.
in_key: the key that each copy has, 1 to 200 characters; NULL: a time-ordered UUID, the same for all. In each kind it
promises what it does in a push.
in_payload: JSON, as in queue_push, with the fields that payload_shape of each of the kinds wants. Bytes can''t be
published: push them to each kind by queue_push_bytes.
in_options: options of a push, for each copy, as in queue_push.
- delay_seconds: how long each copy waits. Not together with scheduled_at. Allowed: 0 or more, up to the year 9999.
  Default: 0.
- scheduled_at: the time from which it may be delivered. Allowed: microseconds since 1970-01-01 UTC, or ISO 8601 with
  an offset. Default: now.
- priority: a higher priority is delivered first. Allowed: -32768 to 32767. Default: 0.
- headers: data beside the payload. Allowed: an object of strings, numbers, booleans and nulls. Default: none.
- attempts: how many deliveries each copy has behind it. Allowed: 0 to 1000000000. Default: 0.
- max_attempts: how many deliveries it may have. Allowed: 1 to 1000000000. Default: max_attempts of the kind.
- on_duplicate: what happens where the key is taken in a kind. Allowed: ignore, replace, keep_time, push_back.
  Default: ignore.
Result: a row a kind, in their order: p_kind, p_key, scheduled_at, outcome, as in queue_push. No row where nobody is
subscribed.
Errors: PQ007 for a kind that is for others. PQ001 for topic and key, PQ002 for options, PQ003 for payload and headers,
PQ004 where one of the kinds is drained; then nobody gets it.
Locks: the messages of that key, and those only with on_duplicate; keys are put in in the order of the kinds. The call
waits for other transactions that are putting the same keys.
Where the idea comes from: the topic exchange of AMQP.'
begin
    declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_answer longtext character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_now, v_at, v_one_at, v_entry, v_since bigint;
        declare v_list, v_shape, v_headers, v_taken, v_none longtext character set utf8mb4;
        declare v_priority smallint;
        declare v_attempts, v_max_attempts int;
        declare v_on_duplicate varchar(20) character set utf8mb4;
        declare v_outcome varchar(10) character set utf8mb4;
        declare v_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare v_shaped, v_draining, v_remembers, v_log, v_restricted boolean;
        declare v_apart, v_logs boolean default false;
        declare c cursor for
            select k.p_kind, k.payload_shape is not null, k.draining, k.dedup_seconds > 0 or k.filter_index,
                k.log_seconds > 0, k.roles is not null
            from json_table(v_list, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]')) j
                straight_join queue_kind k on k.p_kind = j.p_kind
            where k.payload_shape is not null or k.draining or k.dedup_seconds > 0 or k.filter_index
                or k.log_seconds > 0 or k.roles is not null order by k.p_kind;
        declare d cursor for
            select j.entry, j.p_kind, v_now - nullif(k.dedup_seconds, 0) * 1000000
            from /*M!100600 (select * from */ json_table(v_list, '$[*]' columns (place for ordinality, entry bigint path '$[0]', p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]')) j /*M!100600 limit 1000000000) j */
                left join queue_kind k on k.p_kind = j.p_kind
            order by j.place;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_topic(in_topic, 'topic');
        set v_key = in_key, in_payload = coalesce(in_payload, 'null'), v_answer = '[]';
        if in_key is null then
            call _queue_key(v_now, v_key);
        end if;
        call _queue_check_name(v_key, 200, 'key');
        call _queue_check_payload(in_payload, 'payload');
        call _queue_subscribed(in_topic, v_list);
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_kind, v_shaped, v_draining, v_remembers, v_log, v_restricted; end;
        if v_over then leave each_c; end if;
            if v_draining then
                call _queue_fail('PQ004', 'topic', in_topic,
                    concat('refused, "', left(v_kind, 40), '" takes in nothing while it is drained'));
            end if;
            if v_restricted then
                call _queue_check_roles(json_array(v_kind));
            end if;
            set v_logs = v_logs or v_log, v_apart = v_apart or v_remembers;
            if v_shaped then -- read apart: for a long value MariaDB's cursor makes a file
                select k.payload_shape into v_shape from queue_kind k where k.p_kind = v_kind;
                call _queue_check_fit(v_shape, in_payload, concat('payload for "', left(v_kind, 40), '"'));
            end if;
        end loop; end; close c;
        call _queue_check_options(in_options,
            'delay_seconds,scheduled_at,priority,headers,attempts,max_attempts,on_duplicate', 'options');
        call _queue_push_options(in_options, v_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
            v_on_duplicate, v_none, v_none, v_none);
        if v_on_duplicate = 'ignore' and not v_apart then
            insert into delayed_queue (entry, p_kind, p_key, payload, headers, priority, scheduled_at,
                scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at)
            select j.entry, j.p_kind, v_key, in_payload, v_headers, v_priority, v_at, v_at, v_now, v_attempts,
                v_max_attempts, if(v_at <= v_now, -v_priority, null), if(v_at <= v_now, v_at, null),
                if(v_at > v_now, v_at, null)
            from json_table(v_list, '$[*]' columns (entry bigint path '$[0]', p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]')) j
                left join delayed_queue q force index (delayed_queue_key) on q.p_kind = j.p_kind and q.p_key = v_key
            where q.entry is null or @pyqueue_own is not true
            on duplicate key update entry = delayed_queue.entry;
            -- looked at, as in _queue_put
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(s.p_kind, s.scheduled_at, s.outcome, s.entry)) into v_answer
            from (
                select j.p_kind, coalesce(n.scheduled_at, q.scheduled_at) as scheduled_at,
                    if(n.entry is null, 'ignored', 'created') as outcome, j.entry
                from /*M!100600 (select * from */ json_table(v_list, '$[*]' columns (place for ordinality, entry bigint path '$[0]', p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]')) j /*M!100600 limit 1000000000) j */
                    left join delayed_queue n force index (primary) on n.entry = j.entry
                    left join delayed_queue q force index (delayed_queue_key)
                        on q.p_kind = if(n.entry is null, j.p_kind, null) and q.p_key = v_key
                order by j.place limit 1000000000) s;
        else
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select coalesce(json_arrayagg(json_array(q.entry)), '[]') into v_taken
            from json_table(v_list, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]')) j
                straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = j.p_kind and q.p_key = v_key
            where v_on_duplicate <> 'ignore';
            call _queue_lock(v_taken);
            open d; begin declare v_over boolean default false; each_d: loop
            begin declare continue handler for not found set v_over = true; fetch d into v_entry, v_kind, v_since; end;
            if v_over then leave each_d; end if;
                call _queue_put(v_entry, v_kind, v_key, in_payload, null, v_headers, v_priority, v_now, v_at,
                    v_attempts, v_max_attempts, v_on_duplicate, v_since, null, null, null, null, null, v_one_at,
                    v_outcome);
                if v_outcome in ('created', 'replaced') then
                    call _queue_index(json_array(v_entry + 0));
                end if;
                set v_answer = json_array_append(v_answer, '$', json_array(v_kind, v_one_at + 0, v_outcome,
                    v_entry + 0));
            end loop; end; close d;
        end if;
        if v_logs then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(s.entry + 0, if(s.outcome = 'created', 'pushed', 'replaced'))) into v_list
            from (
                select j.* from /*M!100600 (select * from */ json_table(v_answer, '$[*]' columns (place for ordinality,
                    outcome varchar(10) character set utf8mb4 path '$[2]', entry bigint path '$[3]')) j /*M!100600 limit 1000000000) j */
                where j.outcome = 'created' or j.outcome = 'replaced' and v_on_duplicate <> 'push_back'
                order by j.outcome, j.place limit 1000000000) s;
            call _queue_log_entries(coalesce(v_list, '[]'), in_topic, v_now);
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select r.p_kind, v_key as p_key, r.scheduled_at, r.outcome
    from /*M!100600 (select * from */ json_table(v_answer, '$[*]' columns (place for ordinality, p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', scheduled_at bigint path '$[1]', outcome varchar(10) character set utf8mb4 path '$[2]')) r /*M!100600 limit 1000000000) r */
    order by r.place;
end;
--;
drop procedure if exists _queue_matcher;
--;
create procedure _queue_matcher(in in_pattern text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, out out_matcher text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'The regular expression of a pattern: for a topic with a dot before it.
in_pattern: the pattern, checked.
Result: the expression. Nothing of the pattern but * and # means anything in it.
differs: the result is out_matcher.'
begin
    declare v_left text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default concat(in_pattern, '.');
    declare v_word text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    set out_matcher = '^';
    while v_left <> '' do
        set v_word = substring_index(v_left, '.', 1), v_left = substr(v_left, locate('.', v_left) + 1);
        set out_matcher = concat(out_matcher, case v_word when '*' then '[.][^.]+' when '#' then '(?:[.][^.]+)*'
            else concat('[.]\\Q', replace(v_word, '\\E', '\\E\\\\E\\Q'), '\\E') end);
    end while;
    set out_matcher = concat(out_matcher, '\\z');
end;
--;
drop procedure if exists _queue_cron_field;
--;
create procedure _queue_cron_field(in in_field varchar(5000) character set utf8mb4, in in_least int, in in_most int, in in_names varchar(100) character set utf8mb4,
    out out_mask bigint)
    comment 'One field of a cron expression as a mask, a bit a value.
in_field: values, ranges and steps with commas between them: *, 5, 1-5, */10, 10/5, mon-fri. in_least, in_most: the
range of its values.
in_names: names of its values from the least on, with commas between them.
Result: the mask; NULL for what is no such field.
differs: the result is out_mask.'
field: begin
    declare v_left varchar(5000) character set utf8mb4 default lower(in_field);
    declare v_part, v_low, v_high varchar(5000) character set utf8mb4;
    declare v_from, v_to, v_step int;
    set out_mask = if(in_field <> '', 0, null);
    while v_left <> '' do
        set v_part = substring_index(v_left, ',', 1), v_left = substr(v_left, char_length(v_part) + 2);
        if v_part not regexp '^([*]|([a-z]{3}|[0-9]{1,2})(-([a-z]{3}|[0-9]{1,2}))?)(/[0-9]{1,2})?\\z'
            or in_field regexp ',\\z' then
            set out_mask = null;
            leave field;
        end if;
        set v_step = if(locate('/', v_part) > 0, substring_index(v_part, '/', -1), null),
            v_part = substring_index(v_part, '/', 1);
        set v_low = substring_index(v_part, '-', 1),
            v_high = if(locate('-', v_part) > 0, substring_index(v_part, '-', -1), null);
        if v_part = '*' then
            set v_from = in_least, v_to = in_most;
        else
            set v_from = if(v_low regexp '[0-9]', v_low, nullif(find_in_set(v_low, in_names), 0) - 1 + in_least);
            set v_to = if(v_high is null, if(v_step is null, v_from, in_most),
                if(v_high regexp '[0-9]', v_high, nullif(find_in_set(v_high, in_names), 0) - 1 + in_least));
        end if;
        if (v_from >= in_least and v_to <= in_most and v_from <= v_to and coalesce(v_step, 1) > 0) is not true then
            set out_mask = null;
            leave field;
        end if;
        while v_from <= v_to do
            set out_mask = out_mask | (1 << v_from), v_from = v_from + coalesce(v_step, 1);
        end while;
    end while;
end;
--;
-- calls: _queue_cron_field, _queue_fail, _queue_number, _queue_text
drop procedure if exists _queue_rule;
--;
create procedure _queue_rule(in in_options longtext character set utf8mb4, out out_rule longtext character set utf8mb4, out out_every bigint,
    out out_seconds bigint, out out_minutes bigint, out out_hours bigint, out out_days bigint, out out_months bigint,
    out out_weekdays bigint, out out_either_day boolean, out out_zone varchar(64) character set utf8mb4, out out_zone_seconds int)
    comment 'The rule of a schedule out of its options.
in_options: see queue_schedule; of these every_seconds, daily_at, cron and time_zone.
Result: a row of queue_recurring with what makes the rule.
Errors: PQ002.
differs: the result is the out_ parameters, the columns of queue_recurring. The server has zones where somebody has
filled its tables. A cron of 5000 characters is none.'
begin
    declare v_every decimal(30,6);
    declare v_daily, v_cron, v_zone, v_fields text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    call _queue_text(in_options, 'daily_at', v_daily);
    call _queue_text(in_options, 'cron', v_cron);
    call _queue_text(in_options, 'time_zone', v_zone);
    call _queue_number(in_options, 'every_seconds', 1, 315360000, v_every);
    set out_every = v_every * 1000000, out_seconds = null, out_minutes = null, out_hours = null, out_days = null,
        out_months = null, out_weekdays = null, out_either_day = null, out_zone = null, out_zone_seconds = null;
    if coalesce((v_every is not null) + (v_daily is not null) + (v_cron is not null), 0) <> 1 then
        call _queue_fail('PQ002', 'options', in_options, 'must have one of every_seconds, daily_at, cron');
    elseif v_every is not null then
        set out_rule = json_object('every_seconds', json_extract(in_options, '$.every_seconds'));
        if v_zone is not null then
            call _queue_fail('PQ002', 'time_zone', v_zone, 'must not stand beside every_seconds');
        end if;
    else
        if v_daily is not null and v_daily not regexp '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?\\z' then
            call _queue_fail('PQ002', 'daily_at', v_daily, 'must be a time of the day: 09:30 or 09:30:00');
        elseif v_daily is not null then
            set v_fields = concat_ws(' ', substr(v_daily, 4, 2), left(v_daily, 2), '* * *',
                coalesce(nullif(substr(v_daily, 7), ''), '0')),
                out_rule = json_object('daily_at', v_daily, 'time_zone', coalesce(v_zone, 'UTC'));
        else
            set v_fields = trim(regexp_replace(v_cron, '[[:space:]]+', ' ')),
                out_rule = json_object('cron', v_cron, 'time_zone', coalesce(v_zone, 'UTC'));
        end if;
        if char_length(v_fields) - char_length(replace(v_fields, ' ', '')) = 4 then
            set v_fields = concat(v_fields, ' 0');
        end if;
        if char_length(v_fields) < 5000 and char_length(v_fields) - char_length(replace(v_fields, ' ', '')) = 5 then
            call _queue_cron_field(substring_index(v_fields, ' ', 1), 0, 59, '', out_minutes);
            call _queue_cron_field(substring_index(substring_index(v_fields, ' ', 2), ' ', -1), 0, 23, '', out_hours);
            call _queue_cron_field(substring_index(substring_index(v_fields, ' ', 3), ' ', -1), 1, 31, '', out_days);
            call _queue_cron_field(substring_index(substring_index(v_fields, ' ', 4), ' ', -1), 1, 12,
                'jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec', out_months);
            call _queue_cron_field(substring_index(substring_index(v_fields, ' ', 5), ' ', -1), 0, 7,
                'sun,mon,tue,wed,thu,fri,sat', out_weekdays);
            set out_weekdays = out_weekdays & 127 | out_weekdays >> 7; -- 7 is Sunday too
            call _queue_cron_field(substring_index(v_fields, ' ', -1), 0, 59, '', out_seconds);
            set out_either_day = left(substring_index(substring_index(v_fields, ' ', 3), ' ', -1), 1) <> '*'
                and left(substring_index(substring_index(v_fields, ' ', 5), ' ', -1), 1) <> '*';
        end if;
        if out_seconds + out_minutes + out_hours + out_days + out_months + out_weekdays is null then
            call _queue_fail('PQ002', 'cron', v_cron,
                'must be minute hour day month weekday, perhaps second, as cron has them');
        elseif v_zone regexp '^[+-]([01][0-9]|2[0-3]):[0-5][0-9]\\z' then
            set out_zone_seconds = concat(left(v_zone, 1), substr(v_zone, 2, 2) * 3600 + substr(v_zone, 5, 2) * 60);
        elseif coalesce(v_zone, 'UTC') = 'UTC' then
            set out_zone_seconds = 0;
        elseif v_zone regexp '^[A-Z][A-Za-z0-9_/+-]{0,63}\\z' and v_zone <> 'SYSTEM'
            and convert_tz(timestamp '2020-01-01 00:00:00', '+00:00', v_zone) is not null then
            set out_zone = v_zone;
        else
            call _queue_fail('PQ002', 'time_zone', v_zone,
                'must be an offset, +02:00, or a zone in mysql.time_zone_name');
        end if;
    end if;
end;
--;
drop procedure if exists _queue_zone_offset;
--;
create procedure _queue_zone_offset(in in_zone varchar(64) character set utf8mb4, in in_at bigint, out out_offset bigint)
    comment 'How far a zone is ahead of UTC.
in_zone: its name. in_at: when, in seconds since 1970-01-01 UTC.
Result: seconds.
differs: the result is out_offset. Where the server knows times up to 2038 only, it is 0 after that.'
begin
    declare v_at datetime default timestamp '1970-01-01 00:00:00' + interval in_at second;
    set out_offset = timestampdiff(second, v_at, convert_tz(v_at, '+00:00', in_zone));
end;
--;
-- calls: _queue_zone_offset
drop procedure if exists _queue_zone_change;
--;
create procedure _queue_zone_change(in in_zone varchar(64) character set utf8mb4, in in_from bigint, in in_to bigint, out out_change bigint)
    comment 'When a zone changes its offset.
in_zone: its name. in_from, in_to: two times with different offsets, in seconds since 1970-01-01 UTC.
Result: the first second of the other offset.
differs: the result is out_change.'
begin
    declare v_offset, v_other, v_middle bigint;
    declare v_before bigint default in_from;
    call _queue_zone_offset(in_zone, in_from, v_offset);
    set out_change = in_to;
    while out_change - v_before > 1 do
        set v_middle = (v_before + out_change) div 2;
        call _queue_zone_offset(in_zone, v_middle, v_other);
        if v_other = v_offset then
            set v_before = v_middle;
        else
            set out_change = v_middle;
        end if;
    end while;
end;
--;
drop procedure if exists _queue_next_local;
--;
create procedure _queue_next_local(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_local bigint, out out_local bigint)
    comment 'The next local time of a rule.
in_name: the schedule with the rule, one with sets. in_local: a local time, in seconds since 1970-01-01 there.
Result: the first one after it, in such seconds; NULL where there is none within eight years.
differs: the result is out_local; a row can''t be a parameter.'
begin
    declare v_seconds, v_minutes, v_hours, v_days, v_months, v_weekdays bigint;
    declare v_either, v_on_day, v_on_weekday boolean;
    declare v_date date;
    declare v_hour, v_minute, v_second int;
    declare v_day bigint default (in_local + 1) div 86400;
    declare v_first bigint default (in_local + 1) div 86400;
    declare v_least int default (in_local + 1) % 86400;
    select r.seconds, r.minutes, r.hours, r.days, r.months, r.weekdays, r.either_day
    into v_seconds, v_minutes, v_hours, v_days, v_months, v_weekdays, v_either
    from queue_recurring r where r.name = in_name;
    set out_local = null;
    while out_local is null and v_day <= v_first + 2922 do -- from one 29 February to the next it may be eight years
        set v_date = date '1970-01-01' + interval v_day day;
        set v_on_day = v_days >> dayofmonth(v_date) & 1, v_on_weekday = v_weekdays >> (dayofweek(v_date) - 1) & 1;
        if v_months >> month(v_date) & 1 and (v_on_day and v_on_weekday or v_either and (v_on_day or v_on_weekday)) then
            set v_hour = v_least div 3600;
            while out_local is null and v_hour <= 23 do
                set v_minute = if(v_hours >> v_hour & 1, greatest(v_least div 60 - v_hour * 60, 0), 60);
                while out_local is null and v_minute <= 59 do
                    set v_second = if(v_minutes >> v_minute & 1, greatest(v_least - v_hour * 3600 - v_minute * 60, 0),
                        60);
                    while out_local is null and v_second <= 59 do
                        if v_seconds >> v_second & 1 then
                            set out_local = v_day * 86400 + v_hour * 3600 + v_minute * 60 + v_second;
                        end if;
                        set v_second = v_second + 1;
                    end while;
                    set v_minute = v_minute + 1;
                end while;
                set v_hour = v_hour + 1;
            end while;
        end if;
        set v_least = 0, v_day = v_day + 1;
    end while;
end;
--;
-- calls: _queue_next_local, _queue_zone_change, _queue_zone_offset
drop procedure if exists _queue_next_tick;
--;
create procedure _queue_next_tick(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_after bigint, out out_at bigint)
    comment 'When a rule is due next.
in_name: the schedule with the rule. in_after: after when, in microseconds since 1970-01-01 UTC.
Result: such microseconds; NULL: never again.
differs: the result is out_at; a row can''t be a parameter.'
begin
    declare v_after bigint default in_after div 1000000;
    declare v_every, v_hours, v_until, v_offset, v_late, v_early, v_other, v_local bigint;
    declare v_zone varchar(64) character set utf8mb4;
    select r.every, r.hours, r.zone, r.zone_seconds, r.until_at into v_every, v_hours, v_zone, v_offset, v_until
    from queue_recurring r where r.name = in_name;
    set out_at = (in_after div v_every + 1) * v_every;
    if v_every is null then
        if v_zone is not null then
            call _queue_zone_offset(v_zone, v_after, v_offset);
        end if;
        set v_local = v_after + v_offset;
        times: loop
            call _queue_next_local(in_name, v_local, v_local);
            set out_at = v_local - v_offset;
            if out_at is null or v_zone is null then
                leave times;
            elseif v_hours = 16777215 then
                -- in every hour: as real time goes on, through the doubled hour twice
                call _queue_zone_offset(v_zone, out_at, v_other);
                if v_other = v_offset then
                    leave times;
                end if;
                call _queue_zone_change(v_zone, v_after, out_at, v_after);
                call _queue_zone_offset(v_zone, v_after, v_offset);
                set v_local = v_after + v_offset - 1;
            else
                -- once a local time: the first time that the clock shows it, or when it jumps over it
                call _queue_zone_offset(v_zone, v_local - 86400, v_early);
                call _queue_zone_offset(v_zone, v_local + 86400, v_late);
                set out_at = v_local - v_early;
                call _queue_zone_offset(v_zone, out_at, v_other);
                if v_other <> v_early then
                    set out_at = v_local - v_late;
                    call _queue_zone_offset(v_zone, out_at, v_other);
                    if v_other <> v_late then
                        call _queue_zone_change(v_zone, v_local - 86400, v_local + 86400, out_at);
                    end if;
                end if;
                if out_at > v_after then
                    leave times;
                end if;
            end if;
        end loop;
        set out_at = out_at * 1000000;
    end if;
    if out_at > v_until then
        set out_at = null;
    end if;
end;
--;
-- calls: _queue_boolean, _queue_check_fit, _queue_check_name, _queue_check_options, _queue_check_payload,
--     _queue_check_roles, _queue_fail, _queue_instant, _queue_next_tick, _queue_push_options, _queue_rule,
--     _queue_text, queue_now
-- changes: queue_recurring
drop procedure if exists queue_schedule;
--;
create procedure queue_schedule(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_payload longtext character set utf8mb4,
    in in_options longtext character set utf8mb4)
    comment 'Has a message pushed again and again, by queue_tick. A schedule of that name is replaced. What it is due
for already stays due where its rule is the same.
in_name: 1 to 100 characters.
in_kind: the kind, 1 to 95 characters.
in_payload: as in queue_push.
in_options: one of every_seconds, daily_at and cron, and perhaps others.
- every_seconds: each time the microseconds since 1970 can be divided by it, so 3600 is at the full hour. Allowed: 1
  to 315360000 (10 years). Default: none.
- daily_at: once a day. Allowed: a time of the day, "09:30" or "09:30:15". Default: none.
- cron: as cron has it, "minute hour day month weekday", names included; seconds as a sixth field at the end. Where
  day and weekday are both set, either will do. Allowed: five or six fields. Default: none.
- time_zone: of daily_at and cron. Of one name an occurrence happens once. A local time that the clock jumps over
  happens at the jump. A local time that the clock shows twice is the first one. What is due in every hour goes on as
  real time does. Allowed: an offset, "+02:00", or a name that the server knows. Default: UTC.
- catch_up: what becomes of occurrences that queue_tick finds late. last: one message, for the newest. all: a message
  each. skip: none for what is more than 60 s late. Allowed: last, all, skip. Default: last.
- until: the end of the schedule. Allowed: as scheduled_at of queue_push. Default: none.
- paused: nothing is made, nor made up for later. Allowed: true, false. Default: false.
- delay_seconds: of each push. Allowed: 0 or more. Default: 0.
- priority: of each push. Allowed: -32768 to 32767. Default: 0.
- headers: of each push. Allowed: an object of strings, numbers, booleans and nulls. Default: none.
- max_attempts: of each push. Allowed: 1 to 1000000000. Default: max_attempts of the kind.
Result: name, p_kind; next_at, microseconds since 1970, NULL where until is past. A message has the key <name>@<when
it was due>, as 2026-11-21T09:30:00Z.
Errors: PQ007 for a kind that is for others. PQ001 for name and kind, PQ002 for options, PQ003 for payload and headers.
Locks: the schedule.
Where the idea comes from: cron.'
begin
    declare v_next_at bigint;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_now, v_every, v_seconds, v_minutes, v_hours, v_days, v_months, v_weekdays, v_until, v_at,
            v_due bigint;
        declare v_before varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare v_zone_seconds, v_attempts, v_max_attempts int;
        declare v_priority smallint;
        declare v_either, v_paused boolean;
        declare v_zone varchar(64) character set utf8mb4;
        declare v_on_duplicate varchar(20) character set utf8mb4;
        declare v_rule, v_push, v_headers, v_shape, v_none longtext character set utf8mb4;
        declare v_catch_up text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare continue handler for not found begin end;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        set v_next_at = null;
        call queue_now(v_now);
        call _queue_check_name(in_name, 100, 'name');
        call _queue_check_name(in_kind, 95, 'kind');
        -- not as a query in a call, which would lock the row
        select max(r.p_kind) into v_before from queue_recurring r where r.name = in_name;
        call _queue_check_roles(json_array(in_kind, v_before));
        set in_payload = coalesce(in_payload, 'null');
        call _queue_check_payload(in_payload, 'payload');
        call _queue_check_options(in_options, concat('every_seconds,daily_at,cron,time_zone,catch_up,until,paused,',
            'delay_seconds,priority,headers,max_attempts'), 'options');
        select k.payload_shape into v_shape from queue_kind k where k.p_kind = in_kind;
        if v_shape is not null then
            call _queue_check_fit(v_shape, in_payload, 'payload');
        end if;
        call _queue_rule(in_options, v_rule, v_every, v_seconds, v_minutes, v_hours, v_days, v_months, v_weekdays,
            v_either, v_zone, v_zone_seconds);
        set v_push = json_remove(in_options, '$.every_seconds', '$.daily_at', '$.cron', '$.time_zone', '$.catch_up',
            '$.until', '$.paused');
        call _queue_push_options(v_push, v_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
            v_on_duplicate, v_none, v_none, v_none);
        call _queue_text(in_options, 'catch_up', v_catch_up);
        if v_catch_up not in ('all', 'last', 'skip') then
            call _queue_fail('PQ002', 'catch_up', v_catch_up, 'must be all, last or skip');
        end if;
        call _queue_instant(in_options, 'until', v_until);
        call _queue_boolean(in_options, 'paused', v_paused);
        -- due, and not made yet
        select r.next_at into v_due from queue_recurring r
        where r.name = in_name and not r.paused and r.next_at <= v_now and r.every <=> v_every
            and r.seconds <=> v_seconds
            and r.minutes <=> v_minutes and r.hours <=> v_hours and r.days <=> v_days and r.months <=> v_months
            and r.weekdays <=> v_weekdays and r.either_day <=> v_either and r.zone <=> v_zone
                and r.zone_seconds <=> v_zone_seconds
        for update;
        insert into queue_recurring (name, p_kind, payload, push_options, rule, catch_up, paused)
        values (in_name, in_kind, in_payload, v_push, v_rule, coalesce(v_catch_up, 'last'), false)
        on duplicate key update name = in_name;
        update queue_recurring r
        set r.p_kind = in_kind, r.payload = in_payload, r.push_options = v_push, r.rule = v_rule, r.every = v_every,
            r.seconds = v_seconds, r.minutes = v_minutes, r.hours = v_hours, r.days = v_days, r.months = v_months,
            r.weekdays = v_weekdays, r.either_day = v_either, r.zone = v_zone, r.zone_seconds = v_zone_seconds,
            r.catch_up = coalesce(v_catch_up, 'last'), r.until_at = v_until, r.paused = coalesce(v_paused, false),
            r.next_at = null
        where r.name = in_name;
        set v_next_at = if(v_due > v_until, null, v_due);
        if v_due is null then
            call _queue_next_tick(in_name, v_now, v_next_at);
        end if;
        if v_next_at is null and v_until is null then
            call _queue_fail('PQ002', 'cron', json_unquote(json_extract(in_options, '$.cron')), 'must be a time that comes');
        end if;
        update queue_recurring r set r.next_at = v_next_at where r.name = in_name;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_name as name, in_kind as p_kind, v_next_at as next_at;
end;
--;
-- calls: _queue_check_name, _queue_check_roles
-- changes: queue_recurring
drop procedure if exists queue_unschedule;
--;
create procedure queue_unschedule(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Ends a schedule. What it has pushed stays.
in_name: its name.
Result: changed: false where there was none of that name.
Errors: PQ007 for a kind that is for others, PQ001 for name.
Locks: the schedule.'
begin
    declare v_changed boolean;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_name(in_name, 100, 'name');
        -- not as a query in a call, which would lock the row
        select max(r.p_kind) into v_kind from queue_recurring r where r.name = in_name;
        call _queue_check_roles(json_array(v_kind));
        delete r from queue_recurring r where r.name = in_name;
        set v_changed = row_count() > 0;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_changed as changed;
end;
--;
-- calls: _queue_next_tick, _queue_push_options, _queue_put, queue_now
-- changes: queue_recurring
drop procedure if exists queue_tick;
--;
create procedure queue_tick()
    comment 'Pushes what the schedules are due for, see queue_schedule: at most 1000 messages and 100 schedules a call,
those first that have been due the longest. Any number may call it at any time, and a worker does so now and then: an
occurrence makes one message, because only one call at a time has a schedule, and because its message has a key. A kind
that is drained gets none; it is caught up with once that ends. What isn''t of its payload_shape is dead at the next
reserve.
Result: ticked: how many messages were made.
Locks: the schedules that are due; what others have locked is passed over.'
begin
    declare v_now, v_ticked, v_at, v_last, v_next, v_end, v_seconds, v_push_at, v_put_at, v_entry bigint;
    declare v_left, v_attempts, v_max_attempts int;
    declare v_name, v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_spans varchar(100) character set utf8mb4;
    declare v_payload, v_headers, v_push, v_none longtext character set utf8mb4;
    declare v_priority smallint;
    declare v_catch_up, v_outcome varchar(10) character set utf8mb4;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare c cursor for
            select r.name
            from (
                select n.name from queue_recurring n force index (queue_recurring_next)
                where n.paused = false and n.next_at <= v_now
                    and (select k.p_kind from queue_kind k where k.p_kind = n.p_kind and k.draining) is null
                order by n.next_at limit 100) d
                straight_join queue_recurring r force index (primary) on r.name = d.name
            where not r.paused and r.next_at <= v_now order by r.p_kind, r.name for update /*!80000 of r */ skip locked;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        set v_left = 1000, v_ticked = 0;
        open c; begin declare v_over boolean default false; schedules: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_name; end;
        if v_over then leave schedules; end if;
            if v_left <= 0 then
                leave schedules;
            end if;
            select r.p_kind, r.payload, r.push_options, r.catch_up, r.next_at, r.last_at,
                least(v_now, coalesce(r.until_at, v_now))
            into v_kind, v_payload, v_push, v_catch_up, v_at, v_last, v_end
            from queue_recurring r where r.name = v_name for update;
            call _queue_push_options(v_push, v_now, v_push_at, v_priority, v_headers, v_attempts, v_max_attempts,
                v_on_duplicate, v_none, v_none, v_none);
            if v_catch_up <> 'all' then
                -- from as late as there is one, so that what was missed for months isn't gone through one by one
                set v_spans = '60,600,3600,21600,86400,604800,2764800,31622400,';
                while v_spans <> '' do
                    set v_seconds = substring_index(v_spans, ',', 1),
                        v_spans = substr(v_spans, locate(',', v_spans) + 1);
                    call _queue_next_tick(v_name, greatest(v_end - v_seconds * 1000000, v_at - 1), v_next);
                    set v_spans = if(v_next <= v_end, '', v_spans);
                end while;
                while v_next <= v_end do
                    set v_at = v_next;
                    call _queue_next_tick(v_name, v_at, v_next);
                end while;
            end if;
            if v_catch_up = 'skip' and v_at < v_now - 60000000 then
                call _queue_next_tick(v_name, v_at, v_at);
            end if;
            while v_at <= v_now and v_left > 0 do
                set v_key = concat(v_name, '@', date_format(timestamp '1970-01-01 00:00:00'
                    + interval v_at div 1000000 second, '%Y-%m-%dT%H:%i:%sZ'));
                set v_entry = null;
                call _queue_put(v_entry, v_kind, v_key, v_payload, null, v_headers, v_priority, v_now, v_push_at, 0,
                    v_max_attempts, 'ignore', null, null, null, null, null, null, v_put_at, v_outcome);
                set v_ticked = v_ticked + (v_outcome = 'created'), v_left = v_left - 1, v_last = v_at;
                call _queue_next_tick(v_name, v_at, v_at);
            end while;
            update queue_recurring r set r.next_at = v_at, r.last_at = v_last where r.name = v_name;
        end loop; end; close c;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_ticked as ticked;
end;
--;
-- changes: queue_log, queue_log_gone
drop procedure if exists _queue_prune_log;
--;
create procedure _queue_prune_log(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_now bigint, in in_max int, out out_pruned bigint)
    comment 'Removes from the log what of a kind is older than its log_seconds, or all where it has none, the oldest
first, and notes up to where. What stands under a topic stays there as long as another kind keeps a copy, for the
readers of the topic.
in_kind: the kind. in_now: the time of the call. in_max: how many rows at the most.
Result: how many, those that stay for a topic included.
Locks: the rows; what others have locked is left.
differs: the result is out_pruned.'
begin
    declare v_seconds decimal(20,6) default 0;
    declare v_since, v_oldest bigint;
    declare v_found, v_kept longtext character set utf8mb4;
    declare continue handler for not found begin end;
    select k.log_seconds into v_seconds from queue_kind k where k.p_kind = in_kind;
    set v_since = if(v_seconds = 0, 9223372036854775807, in_now - v_seconds * 1000000), out_pruned = 0;
    -- the oldest tells whether there is anything to do; else all that is young would be looked at
    select l.created_at into v_oldest from queue_log l force index (queue_log_kind) where l.p_kind = in_kind
        order by l.position limit 1;
    if v_oldest <= v_since then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(o.position), count(*) into v_found, out_pruned
        from (
            select l.position
            from (
                select n.position from queue_log n force index (queue_log_kind) where n.p_kind = in_kind
                order by n.position limit in_max) j
                straight_join queue_log l force index (primary) on l.position = j.position
            where l.created_at <= v_since for update /*!80000 of l */ skip locked) o;
    end if;
    if v_found is not null then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(o.position, o.p_kind, o.entry)) into v_kept
        from (
            select l.position, c.p_kind, c.entry,
                row_number() over (partition by l.position order by c.position) as place
            from json_table(v_found, '$[*]' columns (position bigint path '$')) j
                straight_join queue_log l force index (primary) on l.position = j.position
                straight_join queue_log c force index (queue_log_topic)
                    on c.topic = l.topic and c.copy_of = l.position and c.p_kind <> in_kind) o
        where o.place = 1;
        if v_kept is not null then
            insert into queue_log_gone (p_kind, name, event, position)
            select in_kind, '', l.event, max(l.position)
            from json_table(v_kept, '$[*]' columns (position bigint path '$[0]')) j
                straight_join queue_log l force index (primary) on l.position = j.position
            group by l.event;
            /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(v_kept, '$[*]' columns (position bigint path '$[0]', p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]', entry bigint path '$[2]')) j
                straight_join queue_log l force index (primary) on l.position = j.position
            set l.p_kind = j.p_kind, l.entry = j.entry, l.topic_only = true;
        end if;
        insert into queue_log_gone (p_kind, name, event, position)
        select l.p_kind, coalesce(l.name, ''), l.event, max(l.position)
        from json_table(v_found, '$[*]' columns (position bigint path '$')) j
            straight_join queue_log l force index (primary) on l.position = j.position and l.p_kind = in_kind
        group by l.p_kind, coalesce(l.name, ''), l.event;
        /*M!100600 set statement sql_safe_updates = 0 for */ delete l from json_table(v_found, '$[*]' columns (position bigint path '$')) j
            straight_join queue_log l force index (primary) on l.position = j.position and l.p_kind = in_kind;
        begin declare v_unlocked longtext character set utf8mb4;
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(unlocked.p_kind, unlocked.name, unlocked.event, unlocked.position)) into v_unlocked
            from (select g.p_kind, g.name, g.event, g.position from queue_log_gone g force index (primary)
                where g.p_kind = in_kind and (
                    select 1 from queue_log_gone n force index (primary) where n.p_kind = g.p_kind and n.name = g.name
                        and n.event = g.event and n.position > g.position limit 1) is not null
                limit 100
            for update /*!80000 of g */ skip locked) unlocked;
            if v_unlocked is not null then
                /*M!100600 set statement sql_safe_updates = 0 for */ delete g from json_table(v_unlocked, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', name varchar(255) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]', event varchar(10) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[2]', position bigint path '$[3]')) unlocked
                    straight_join queue_log_gone g force index (primary) on g.p_kind = unlocked.p_kind and g.name = unlocked.name and g.event = unlocked.event and g.position = unlocked.position;
            end if;
        end;
    end if;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_log_open;
--;
create procedure _queue_log_open()
    comment 'What comes before each append to the log: a shared lock of the newest epoch, whose floor is a position
before those of this transaction, until it ends.
Locks: that one, which a reader has for a moment.
differs: PostgreSQL has an advisory lock whose number is the floor; here nothing but locks of rows ends with the
transaction.'
begin
    declare v_floor, v_id, v_locked bigint;
    declare continue handler for not found begin end;
    select e.floor, e.id into v_floor, v_id from queue_log_epoch e order by e.floor desc, e.id desc limit 1;
    epochs: loop
        select e.id into v_locked from queue_log_epoch e where e.floor = v_floor and e.id = v_id lock in share mode;
        if v_locked is not null then
            leave epochs;
        elseif v_floor is null or v_floor = 0 then
            call _queue_fail('PQ004', 'queue_log_epoch', v_floor,
                'must have its first row, which somebody has deleted: define the kind again');
        end if;
        -- an old snapshot has epochs that are gone; an older one is as good, and the first one stays
        select e.floor, e.id into v_floor, v_id from queue_log_epoch e
        where e.floor < v_floor or e.floor = v_floor and e.id < v_id order by e.floor desc, e.id desc limit 1;
    end loop;
end;
--;
-- calls: _queue_log_open
-- changes: queue_log
drop procedure if exists _queue_log;
--;
create procedure _queue_log(in in_entry bigint, in in_event varchar(10) character set utf8mb4, in in_to_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_topic text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_copy_of bigint, in in_now bigint)
    comment 'Appends an event of a message to the log. Its kind has log_seconds.
in_entry: the message, which is there. in_event: pushed, replaced; or acked, popped, moved, dead, removed, which have no
payload. in_to_kind: where it went, NULL: nowhere. in_topic: of what was published, else NULL. in_copy_of: the position
of what stands under that topic, NULL: this does. in_now: the time of the call.
Locks: as _queue_log_open.
differs: PostgreSQL appends many in one statement. Here that would leave gaps between the positions, after which readers
in a transaction have to wait. LAST_INSERT_ID() stays that of the caller.'
begin
    declare v_id bigint unsigned default last_insert_id();
    declare v_content boolean default in_event in ('pushed', 'replaced');
    call _queue_log_open();
    insert into queue_log (event, name, topic, copy_of, p_kind, p_key, entry, to_kind, payload, payload_bytes, headers,
        created_at)
    select in_event, case when in_topic is null then q.p_kind
        when in_copy_of is null then in_topic end, in_topic, in_copy_of, q.p_kind, q.p_key, q.entry,
        in_to_kind, if(v_content, q.payload, null), if(v_content, q.payload_bytes, null),
        if(v_content, q.headers, null), in_now
    from delayed_queue q where q.entry = in_entry;
    do last_insert_id(v_id);
end;
--;
-- calls: _queue_log
drop procedure if exists _queue_log_entries;
--;
create procedure _queue_log_entries(in in_list longtext character set utf8mb4, in in_topic text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_now bigint)
    comment 'Appends messages that came in to the log, where their kinds have log_seconds.
in_list: a JSON array of arrays, in their order: an entry, and its event: pushed, replaced, or null for none; entries
that aren''t there are left out. in_topic: what was published: the first of them stands under it, the others are its
copies; NULL: each stands under its kind. in_now: the time of the call.
Locks: as _queue_log_open.
differs: on PostgreSQL it is _queue_log.'
begin
    declare v_entry, v_first bigint;
    declare v_event varchar(10) character set utf8mb4;
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare c cursor for
        select q.p_kind, q.entry, j.event
        from /*M!100600 (select * from */ json_table(in_list, '$[*]' columns (place for ordinality, entry bigint path '$[0]', event varchar(10) character set utf8mb4 path '$[1]')) j /*M!100600 limit 1000000000) j */
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
            straight_join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0
        where j.event is not null
        order by j.place;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_kind, v_entry, v_event; end;
    if v_over then leave each_c; end if;
        call _queue_log(v_entry, v_event, null, in_topic, v_first, in_now);
        if in_topic is not null and v_first is null then
            select l.position into v_first from queue_log l force index (queue_log_kind)
            where l.p_kind = v_kind and l.entry = v_entry order by l.position desc limit 1;
        end if;
    end loop; end; close c;
end;
--;
-- changes: queue_log_epoch, queue_log_known
drop procedure if exists _queue_log_horizon;
--;
create procedure _queue_log_horizon(in in_now bigint, out out_horizon bigint)
    comment 'The position up to which whoever has drawn one has ended: what is read later in this transaction has all of
that. The open transactions count that have appended, no others.
in_now: the time of the call. The transaction is the call''s own.
Result: the position.
Locks: epochs and notes; those that others have locked are left. An epoch that nobody holds any more goes, but for the
newest.
differs: the result is out_horizon. An epoch that is held, by others than readers, ends it; then a new one is made, for
those who come later. The result is noted, once a second at the most, and older notes go; on PostgreSQL only who keeps a
snapshot makes notes.'
begin
    declare v_last, v_floor, v_id, v_newest, v_locked, v_found, v_noted, v_noted_at bigint;
    declare v_old longtext character set utf8mb4;
    declare v_tries int default 0;
    declare c cursor for select e.floor, e.id from queue_log_epoch e order by e.floor, e.id;
    declare continue handler for not found begin end;
    select coalesce(max(l.position), 0) into v_last from queue_log l;
    select e.id into v_newest from queue_log_epoch e order by e.floor desc, e.id desc limit 1;
    set out_horizon = v_last;
    open c; begin declare v_over boolean default false; epochs: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_floor, v_id; end;
    if v_over then leave epochs; end if;
        set v_locked = null, v_found = 1, v_tries = 0;
        while v_locked is null and v_found > 0 and v_tries < 6 do -- another reader has it for a moment
            select max(e.id) into v_locked from (
                select o.id from queue_log_epoch o where o.floor = v_floor and o.id = v_id for update skip locked) e;
            if v_locked is null then
                select count(*) into v_found from queue_log_epoch e where e.floor = v_floor and e.id = v_id;
                do sleep(rand() * 0.0005 * v_tries);
                set v_tries = v_tries + 1;
            end if;
        end while;
        if v_locked is not null and v_id not in (0, v_newest) then
            delete e from queue_log_epoch e where e.floor = v_floor and e.id = v_id;
        elseif v_locked is null and v_found > 0 then
            set out_horizon = least(v_floor, v_last);
            if v_id = v_newest and v_last > v_floor then
                insert into queue_log_epoch (floor, id) values (v_last, uuid_short() & 9223372036854775807);
            end if;
            leave epochs;
        end if;
    end loop; end; close c;
    select n.position, n.noted_at into v_noted, v_noted_at from queue_log_known n order by n.position desc limit 1;
    if out_horizon > coalesce(v_noted, 0) and coalesce(v_noted_at not between in_now - 1000000 and in_now, true) then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(o.position, o.id)) into v_old
        from (select n.position, n.id from queue_log_known n order by n.position limit 100 for update skip locked) o;
        insert into queue_log_known (position, id, noted_at)
            values (out_horizon, uuid_short() & 9223372036854775807, in_now);
        /*M!100600 set statement sql_safe_updates = 0 for */ delete n from json_table(coalesce(v_old, '[]'), '$[*]' columns (position bigint path '$[0]', id bigint path '$[1]')) j
            straight_join queue_log_known n force index (primary) on n.position = j.position and n.id = j.id;
    end if;
end;
--;
drop procedure if exists _queue_read;
--;
create procedure _queue_read(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_matcher text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_events text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_place bigint, in in_max int, in in_until bigint, out out_rows bigint,
    out out_last bigint)
    comment 'How far a reader reads next.
in_name, in_matcher, in_events, in_place: the reader. in_max: how many rows. in_until: the last position.
Result: how many rows of the log that are, and the last of them.
Locks: none.
differs: on PostgreSQL it answers the rows; here that is a part of queue_read.'
begin
    if in_matcher is not null then
        select count(*), max(u.position) into out_rows, out_last
        from (select l.position from queue_log l force index (primary)
            where l.position > in_place and l.position <= in_until and find_in_set(l.event, in_events)
                and concat('.', l.name) regexp in_matcher
            order by l.position limit in_max) u;
    else
        select count(*), max(v.position) into out_rows, out_last
        from (select u.position from (
            (select l.position from queue_log l force index (queue_log_kind)
                where l.p_kind = in_name and l.position > in_place and l.position <= in_until
                    and find_in_set(l.event, in_events)
                    and not l.topic_only
                order by l.position limit in_max)
            union all
            (select l.position from queue_log l force index (queue_log_topic)
                where l.topic = in_name and l.copy_of is null and l.p_kind <> in_name and l.position > in_place
                    and l.position <= in_until and find_in_set(l.event, in_events)
                order by l.position limit in_max)) u
            order by u.position limit in_max) v;
    end if;
end;
--;
-- calls: _queue_log_horizon, _queue_read
drop procedure if exists _queue_log_known;
--;
create procedure _queue_log_known(in in_own boolean, in in_now bigint, in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_matcher text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_events text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_place bigint, in in_max int,
    in in_last bigint, out out_known bigint)
    comment 'Up to which position the log is complete in the eyes of the caller''s transaction. In a call that is its
own transaction that is the horizon. A snapshot that is kept may be older than the end of a transaction that isn''t open
any more; so there it is what was known before it was taken, and what follows without a gap.
in_own: see _queue_begin. in_now: the time of the call. in_name, in_matcher, in_events, in_place: the reader; up to its
place the log is complete. in_max: how many messages it wants. in_last: the last position that it sees.
Result: the position.
Locks: as _queue_log_horizon; in the caller''s transaction none.
differs: the result is out_known. PostgreSQL needs no transaction of its own, but READ COMMITTED.'
begin
    declare v_last, v_rows bigint;
    if in_own then
        call _queue_log_horizon(in_now, out_known);
    else
        select greatest(in_place, coalesce(max(n.position), 0)) into out_known from queue_log_known n;
        call _queue_read(in_name, in_matcher, in_events, in_place, in_max, in_last, v_rows, v_last);
        set v_last = coalesce(v_last, in_last);
        if v_last > out_known and v_last - out_known <= 100000 then
            select count(*) into v_rows from queue_log l where l.position > out_known and l.position <= v_last;
            if v_rows = v_last - out_known then
                set out_known = v_last;
            end if;
        end if;
    end if;
end;
--;
drop procedure if exists _queue_log_missed;
--;
create procedure _queue_log_missed(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_matcher text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_events text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_place bigint, out out_missed bigint)
    comment 'Up to which position the log has no longer what a reader hasn''t read.
in_name, in_matcher, in_events, in_place: the reader.
Result: the position; NULL where nothing is missing.
Locks: none.
differs: the result is out_missed.'
begin
    if in_matcher is not null then
        select max(g.position) into out_missed from queue_log_gone g
        where g.position > in_place and find_in_set(g.event, in_events) and g.name <> ''
            and concat('.', g.name) regexp in_matcher;
    else
        select max(u.position) into out_missed
        from (
            select max(g.position) as position from queue_log_gone g
            where g.p_kind = in_name and g.position > in_place and find_in_set(g.event, in_events)
            union all
            select max(g.position) from queue_log_gone g
            where g.name = in_name and g.position > in_place and find_in_set(g.event, in_events)) u;
    end if;
end;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_roles, _queue_check_topic, _queue_fail,
--     _queue_log_known, _queue_log_missed, _queue_matcher, _queue_text
-- changes: queue_reader
drop procedure if exists _queue_reader;
--;
create procedure _queue_reader(in in_own boolean, in in_now bigint, in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_reader text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4, out out_matcher text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    out out_events text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, out out_place bigint)
    comment 'The reader that queue_read was called for, made where it is new.
in_own: see _queue_begin. in_now: the time of the call. in_name, in_reader, in_options, and the errors: those of
queue_read.
Result: the reader.
Locks: none, but where it is made or its events change that reader; waits for another transaction that is making it.
differs: the result is out_matcher, out_events and out_place. In the caller''s transaction from now is what is known.'
begin
    declare v_from, v_events, v_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_last bigint;
    declare v_kinds, v_wanted, v_bad longtext character set utf8mb4;
    declare v_ended varchar(10) character set utf8mb4;
    declare v_unknown boolean;
    declare v_pattern boolean default in_name regexp '(^|[.])[*#]([.]|$)';
    declare continue handler for not found begin end;
    call _queue_check_name(in_name, 255, 'name');
    if v_pattern then
        call _queue_check_topic(in_name, 'pattern');
        call _queue_matcher(in_name, out_matcher);
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(k.p_kind) into v_kinds from queue_kind k
            where k.roles is not null and concat('.', k.p_kind) regexp out_matcher;
    end if;
    call _queue_check_roles(coalesce(v_kinds, json_array(in_name)));
    call _queue_check_name(in_reader, 200, 'reader');
    call _queue_check_options(in_options, 'from,events', 'options');
    call _queue_text(in_options, 'from', v_from);
    if v_from not in ('oldest', 'now') then
        call _queue_fail('PQ002', 'from', v_from, 'must be oldest or now');
    end if;
    set v_wanted = json_extract(in_options, '$.events');
    if coalesce(json_type(v_wanted), 'NULL') <> 'NULL' then
        if json_type(v_wanted) <> 'ARRAY' or json_length(v_wanted) = 0 then
            call _queue_fail('PQ002', 'events', json_unquote(v_wanted), 'must be an array of events');
        end if;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select min(if(e.name in ('pushed', 'replaced', 'acked', 'popped', 'moved', 'dead', 'removed')
                and json_type(e.event) = 'STRING', null, cast(e.event as char character set utf8mb4))),
            group_concat(distinct e.name order by e.name)
        into v_bad, v_events
        from json_table(v_wanted, '$[*]' columns (event json path '$', name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) e;
        if v_bad is not null then
            call _queue_fail('PQ002', 'events', v_bad, 'must be pushed, replaced, acked, popped, moved, dead, removed');
        end if;
    end if;
    select r.name, r.events, greatest(r.position, r.looked) into v_name, out_events, out_place from queue_reader r
        where r.reader = in_reader;
    set v_ended = nullif(regexp_substr(v_events, 'acked|popped|moved|dead|removed'), '');
    select v_ended is not null and not v_events <=> out_events and not exists (
        select 1 from queue_kind k
            where if(out_matcher is null, k.p_kind = in_name, concat('.', k.p_kind) regexp coalesce(out_matcher, 'x')))
        and not exists (select 1 from queue_log l where out_matcher is null and l.p_kind = in_name)
        and not exists (select 1 from queue_log_gone g where out_matcher is null and g.p_kind = in_name)
    into v_unknown; -- EXISTS in an IF would lock what it reads
    if v_unknown then
        call _queue_fail('PQ002', 'events', v_ended,
            'must be pushed or replaced, for no kind of such a name is defined');
    end if;
    if v_name is null then
        if v_from = 'now' then
            select max(l.position) into v_last from queue_log l;
            call _queue_log_known(in_own, in_now, in_name, out_matcher, '', 0, 1, v_last, out_place);
            -- what was last may have been pruned, and is nothing that it misses
            call _queue_log_missed(in_name, out_matcher, 'pushed,replaced,acked,popped,moved,dead,removed',
                coalesce(out_place, 0), v_last);
            set out_place = coalesce(v_last, out_place);
        else
            call _queue_log_missed(in_name, out_matcher, coalesce(v_events, 'pushed,replaced'), 0, out_place);
        end if;
        insert into queue_reader (reader, name, matcher, events, position, created_at)
        values (in_reader, in_name, out_matcher, coalesce(v_events, 'pushed,replaced'), coalesce(out_place, 0), in_now)
        on duplicate key update reader = in_reader;
        select r.name, r.events, r.position into v_name, out_events, out_place from queue_reader r
            where r.reader = in_reader for update;
    end if;
    if v_name <> in_name then
        call _queue_fail('PQ004', 'reader', in_reader, concat('reads "', left(v_name, 40), '", see queue_read_end'));
    elseif v_events <> out_events then
        update queue_reader r set r.events = v_events, r.looked = 0 where r.reader = in_reader;
        select r.events, r.position into out_events, out_place from queue_reader r where r.reader = in_reader;
    end if;
end;
--;
-- calls: _queue_check_count, _queue_fail, _queue_log_known, _queue_log_missed, _queue_read, _queue_reader, queue_now
-- changes: queue_reader
drop procedure if exists queue_read;
--;
create procedure queue_read(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_reader text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages int,
    in in_options longtext character set utf8mb4)
    comment 'Reads the log of the kinds that have log_seconds (see queue_define) from where a reader left off. Any
number of readers each read all of it. They take nothing from a consumer or from one another. The next read begins at
the same place until queue_read_ack.
in_name: a kind; or a topic; or a pattern, as in queue_subscribe. A topic and a pattern stand for what is published to
such topics, of whose copies each comes once, however many of its kinds are logged. A pattern stands for kinds too, as
if their names were topics.
in_reader: whose place it is, 1 to 200 characters; its first read registers it.
in_max_messages: how many events at the most, 1 to 10000; NULL: 1.
in_options: where to begin, and what to see.
- from: where a new reader begins: at the oldest event that is kept, or at the end of the log. Allowed: oldest, now.
  Default: oldest.
- events: what the reader wants to see, for this read and the next ones. pushed, and replaced by a push with
  on_duplicate, are messages. The others have no payload and stand under the name of their kind alone: who reads a
  topic, or a pattern that no defined kind fits, is refused them. Allowed: an array of pushed, replaced, acked,
  popped, moved, dead, removed. Default: pushed and replaced.
Result: a row an event, in the order of the log, which is the same for all: position, for queue_read_ack; event;
topic, where it was published; p_kind, p_key, entry; payload or payload_bytes, headers; to_kind, where it was moved or
buried; created_at, microseconds. The messages of a transaction come when it has committed, in one order for all
readers. Nobody is shown a position before what stands in front of it is committed or undone. So a transaction that
has pushed to a kind with a log and stays open keeps the readers where it began; others don''t. In a transaction of
REPEATABLE READ or SERIALIZABLE, where a position was left out by one that was undone, what follows may come a read
later. What vanishes with its kind (queue_drop, expires_seconds) leaves no event.
Errors: PQ007 for a kind that is for others. PQ001 for name, reader and max_messages, PQ002 for options; PQ004 where the
reader reads another name, and where it has fallen behind log_seconds: the error names the position that it acks to go
on with what is kept.
Locks: none, but for a new reader.
Where the idea comes from: the streams of Keuss, the event log of Chapman; the order from Kafka''s last stable offset.
differs: in a transaction of the caller''s it is always as in REPEATABLE READ. What follows a position that was left out
comes once a call outside of a transaction has noted that it is safe: a queue_read, a queue_prune.'
begin
    declare v_max int default coalesce(in_max_messages, 1);
    declare v_matcher, v_events text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_now, v_place, v_last, v_known, v_rows, v_missed bigint;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_count(v_max, 'max_messages', 10000);
        set v_matcher = null, v_known = -1, v_rows = 0;
        call _queue_reader(v_own, v_now, in_name, in_reader, in_options, v_matcher, v_events, v_place);
        select max(l.position) into v_last from queue_log l;
        if v_last > v_place then
            call _queue_log_known(v_own, v_now, in_name, v_matcher, v_events, v_place, v_max, v_last, v_known);
            call _queue_read(in_name, v_matcher, v_events, v_place, v_max, v_known, v_rows, v_last);
            set v_known = coalesce(v_last, v_known);
            if v_rows = 0 and v_known > v_place + 1000 then
                update queue_reader r set r.looked = v_known where r.reader = in_reader and r.events = v_events;
            end if;
        end if;
        call _queue_log_missed(in_name, v_matcher, v_events, v_place, v_missed);
        if v_missed is not null then
            call _queue_fail('PQ004', 'reader', in_reader,
                concat('has missed what was pruned, ack ', v_missed, ' to go on'));
        end if;
        set v_known = if(v_rows = 0, v_place, v_known);
        -- none of them, where some were pruned since: it is told so by its next read
        if v_matcher is not null then
            select l.position, l.event, l.topic, l.p_kind, l.p_key, l.entry, l.payload, l.payload_bytes, l.headers,
                l.to_kind, l.created_at
            from queue_log l force index (primary)
            where l.position > v_place and l.position <= v_known and find_in_set(l.event, v_events)
                and concat('.', l.name) regexp v_matcher
                and not exists (select 1 from queue_log_gone g where g.position > v_place and g.position <= v_known
                    and find_in_set(g.event, v_events) and g.name <> '' and concat('.', g.name) regexp v_matcher)
            order by l.position;
        else
            select u.* from (
                select l.position, l.event, l.topic, l.p_kind, l.p_key, l.entry, l.payload, l.payload_bytes, l.headers,
                    l.to_kind, l.created_at
                from queue_log l force index (queue_log_kind)
                where l.p_kind = in_name and not l.topic_only and l.position > v_place and l.position <= v_known
                    and find_in_set(l.event, v_events)
                union all
                select l.position, l.event, l.topic, l.p_kind, l.p_key, l.entry, l.payload, l.payload_bytes, l.headers,
                    l.to_kind, l.created_at
                from queue_log l force index (queue_log_topic)
                where l.topic = in_name and l.copy_of is null and l.p_kind <> in_name and l.position > v_place
                    and l.position <= v_known
                    and find_in_set(l.event, v_events)) u
            where not exists (select 1 from queue_log_gone g where g.position > v_place and g.position <= v_known
                and find_in_set(g.event, v_events) and (g.p_kind = in_name or g.name = in_name))
            order by u.position;
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
end;
--;
-- calls: _queue_check_name, _queue_fail
-- changes: queue_reader
drop procedure if exists queue_read_ack;
--;
create procedure queue_read_ack(in in_reader text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_position bigint)
    comment 'A reader is done with the log up to a position: its next read begins after it.
in_reader: the reader. in_position: the last position that it is done with, as queue_read has shown it; one that is
behind its place leaves that as it is, so that an ack may come twice or late.
Result: reader, position: its place now.
Errors: PQ001 for reader and position, PQ004 for a reader that has never read.
Locks: the reader.'
begin
    declare v_place, v_log, v_gone bigint;
    declare continue handler for not found begin end;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_name(in_reader, 200, 'reader');
        set v_place = null;
        select r.position into v_place from queue_reader r where r.reader = in_reader for update;
        if v_place is null then
            call _queue_fail('PQ004', 'reader', in_reader, 'has read nothing yet');
        end if;
        select max(l.position) into v_log from queue_log l;
        select max(g.position) into v_gone from queue_log_gone g;
        if in_position is null or in_position < 0
            or in_position > greatest(v_place, coalesce(v_log, 0), coalesce(v_gone, 0)) then
            call _queue_fail('PQ001', 'position', in_position, 'must be one that queue_read has shown');
        elseif in_position > v_place then
            update queue_reader r set r.position = in_position where r.reader = in_reader;
            set v_place = in_position;
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_reader as reader, v_place as position;
end;
--;
-- calls: _queue_check_name
-- changes: queue_reader
drop procedure if exists queue_read_end;
--;
create procedure queue_read_end(in in_reader text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Forgets a reader and its place. Nobody has to: a reader keeps nothing in the log.
in_reader: the reader.
Result: changed: false where there is none.
Errors: PQ001 for reader.
Locks: the reader.'
begin
    declare v_changed boolean;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_name(in_reader, 200, 'reader');
        delete r from queue_reader r where r.reader = in_reader;
        set v_changed = row_count() > 0;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_changed as changed;
end;
--;
drop procedure if exists _queue_leaves;
--;
create procedure _queue_leaves(in in_documents longtext character set utf8mb4, in in_filter boolean, out out_leaves longtext character set utf8mb4)
    comment 'The values of documents that objects alone lead to, and those that stand in an array which they lead to.
in_documents: payloads, headers or a filter, a JSON object of {d, v}, a number and a text; none twice. in_filter:
whether it is a filter.
out_leaves: a JSON array of {d, p, c}, document, path and value, such that values that are equal are spelt the same, 1
and 1.0 too. An object or an array is a leaf as well, {} or []; of a filter only where it is empty. What stands in an
array and is none itself is left out; in a filter it is a !. Of a name that stands more than once in an object the last
counts.
differs: PostgreSQL has an operator that finds a filter in a document; for its index see _queue_terms.'
begin
    declare v_level, v_nodes, v_part longtext character set utf8mb4;
    declare v_more, v_twice, v_looked boolean default false;
    declare v_begins boolean default true;
    set out_leaves = json_array();
    -- each list of these is an object: MariaDB makes a file to gather long values in an array
    -- see _queue_misfit
    /*M!100600 select json_objectagg(r.d, json_object('d', r.d, 'v',
        replace(replace(r.v, '\\\\', '\\u005c'), '\\"', '\\u0022'))) into in_documents
    from json_table(in_documents, '$.*' columns (d bigint path '$.d', v longtext character set utf8mb4 path '$.v')) r; */
    level: while v_begins or v_level is not null do
        if v_begins then
            set v_begins = false;
            select json_objectagg(r.d, json_object('d', r.d, 'p', '', 'v', r.v, 'k',
                concat(json_keys(r.v), '') collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, 'n', json_length(json_keys(r.v)))) into v_level
            from json_table(in_documents, '$.*' columns (d bigint path '$.d', v longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.v')) r where json_type(r.v) = 'OBJECT';
            if v_level is null then
                leave level;
            end if;
        end if;
        -- what stands in each object and array; names and values by their place, as in _queue_misfit
        select json_objectagg(concat(v.node, '.', v.place), json_object('d', v.d, 'p', v.p, 't', v.t, 'v', v.v, 'c', (
            case when v.t = 'OBJECT' then '{}' when v.t = 'ARRAY' then '[]' when v.t = 'DEEP' then '!'
            when v.t = 'STRING' then json_quote(json_unquote(v.v)) when v.t in ('BOOLEAN', 'NULL') then v.v
            when v.v = '-0' then '0' when v.v regexp '^-?[0-9]{1,20}$' then v.v
            when abs(v.v + 0e0) < 1e18 and floor(v.v + 0e0) = v.v + 0e0 then cast(cast(v.v + 0e0 as signed) as char)
            else concat(v.v + 0e0) end) collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)), max(v.t in ('OBJECT', 'ARRAY', 'DEEP')),
            max(v.t = 'TWICE')
        into v_nodes, v_more, v_twice
        from (
            -- names aren't a list that is joined, which would be read anew for each value
            select n.node, n.d, c.place, if(c.place > n.names, 'TWICE',
                if(n.k is null and json_type(c.value) in ('OBJECT', 'ARRAY'), 'DEEP',
                coalesce(json_type(c.value), 'NULL'))) collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ as t,
                concat(n.p, if(n.k is null, '[]', concat('.',
                json_quote(json_unquote(json_extract(n.k, concat('$[', c.place - 1, ']'))))))) collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ as p,
                concat(coalesce(c.value, 'null'), '') collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ as v
            from json_table(v_level, '$.*' columns (node for ordinality, d bigint path '$.d',
                p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', v longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.v',
                k longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.k', names int path '$.n')) n
                join json_table(json_extract(n.v, if(n.k is null, '$', '$.*')), '$[*]' columns (place for ordinality, value json path '$')) c
            where c.place <= coalesce(n.names, c.place) or not v_looked) v;
        if v_twice then -- of a name that stands more than once in an object the last is left
            select json_objectagg(r.d, json_object('d', r.d, 'v', /*M!100600 regexp_replace( */ r.v /*M!100600 , concat(
                '(?(DEFINE)(?<v>\\s*+("[^"]*+"|[{]((?&m)(,(?&m))*+|\\s*+)[}]|[[]((?&v)(,(?&v))*+|\\s*+)[]]',
                '|[^][{}",\\s]++)\\s*+)(?<m>\\s*+"[^"]*+"\\s*+:(?&v)))(?<n>"[^"]*+")\\s*+:(?&v),',
                '(?=(?s:.*?)\\k<n>\\s*+:)(?=((?&m),)*?\\s*+\\k<n>\\s*+:)|"[^"]*+"(*SKIP)(*FAIL)'), '') */))
            into in_documents from json_table(in_documents, '$.*' columns (d bigint path '$.d', v longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.v')) r;
            set v_looked = true, v_begins = true, out_leaves = json_array();
            iterate level;
        end if;
        set v_part = v_nodes, v_level = null;
        if v_more then
            select json_objectagg(n.place, json_object('d', n.d, 'p', n.p, 'c', n.c)) into v_part
            from json_table(v_nodes, '$.*' columns (place for ordinality, d bigint path '$.d',
                p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', t varchar(20) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.t',
                v longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.v', c longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.c')) n
            where if(in_filter, n.t not in ('OBJECT', 'ARRAY') or json_length(n.v) = 0, n.t <> 'DEEP');
            select json_objectagg(n.place, json_object('d', n.d, 'p', n.p, 'v', n.v, 'k',
                if(n.t = 'OBJECT', concat(json_keys(n.v), '') collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, null), 'n',
                if(n.t = 'OBJECT', json_length(json_keys(n.v)), null))) into v_level
            from json_table(v_nodes, '$.*' columns (place for ordinality, d bigint path '$.d',
                p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', t varchar(20) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.t',
                v longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.v')) n
            where n.t in ('OBJECT', 'ARRAY') and json_length(n.v) > 0;
        end if;
        set out_leaves = if(v_part is null, out_leaves, json_merge_preserve(out_leaves, json_extract(v_part, '$.*')));
    end while;
end;
--;
-- calls: _queue_fail, _queue_leaves
drop procedure if exists _queue_where;
--;
create procedure _queue_where(in in_options longtext character set utf8mb4, out out_where longtext character set utf8mb4)
    comment 'The option where of queue_reserve, queue_pop and queue_peek: what payload or headers of a message must
contain.
in_options: the options.
Result: the filter, NULL where there is none or all match.
Errors: PQ002.
A document contains a filter where it has all of its values at their places: an object each member of it, whatever else
it has; an array each value of it, in any order and number; a value the same one, numbers by what they are (1 is 1.0),
strings to the letter. An empty object or array wants one. An array in a document isn''t looked into for a value that
the filter has outside of one.
differs: out_where is the leaves of the filter, see _queue_leaves. Numbers that aren''t integers of 64 bits are compared
as doubles.'
begin
    declare v_where longtext character set utf8mb4 default json_extract(in_options, '$.where');
    declare v_deep int;
    set out_where = null;
    if json_type(v_where) <> 'OBJECT' then
        if json_type(v_where) <> 'NULL' then
            call _queue_fail('PQ002', 'where', v_where, 'must be a JSON object');
        end if;
    elseif json_depth(v_where) > 31 then
        call _queue_fail('PQ002', 'where', v_where, 'must be at most 31 levels deep');
    elseif json_length(v_where) > 0 then
        call _queue_leaves(json_object('', json_object('d', 0, 'v', concat(v_where, ''))), true, out_where);
        select count(*) into v_deep from json_table(out_where, '$[*]' columns (d bigint path '$.d', p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', c longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.c')) w where w.c = '!';
        if v_deep > 0 then
            call _queue_fail('PQ002', 'where', v_where, 'must have no object and no array in an array');
        elseif json_length(out_where) > 16 then
            call _queue_fail('PQ002', 'where', v_where, 'must have at most 16 values');
        end if;
    end if;
end;
--;
drop procedure if exists _queue_first_of;
--;
create procedure _queue_first_of(in in_where longtext character set utf8mb4, out out_path longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    out out_text longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, out out_number double)
    comment 'The value of a filter that is looked for first: the longest one that stands in no array.
in_where: the filter, see _queue_where.
out_path: where it stands, a JSON path; NULL: there is none. out_text: what it is, without its quotes. out_number: the
same where it is a number.
differs: PostgreSQL has an operator for the whole filter.'
begin
    declare v_value longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare continue handler for not found begin end;
    set out_path = null, out_text = null, out_number = null;
    select concat('$', w.p), w.c into out_path, v_value from json_table(in_where, '$[*]' columns (d bigint path '$.d', p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', c longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.c')) w
    where right(w.p, 2) <> '[]' and w.c not in ('{}', '[]')
        /*M!100600 and locate('."-', w.p) = 0 */ -- no path finds a name that begins so
        order by w.c in ('true', 'false', 'null'), char_length(json_unquote(w.c)) desc, w.p limit 1;
    if v_value regexp '^[-0-9]' then
        set out_number = v_value + 0e0;
    else
        set out_text = json_unquote(v_value);
    end if;
end;
--;
-- calls: _queue_leaves
drop procedure if exists _queue_matches;
--;
create procedure _queue_matches(in in_entry bigint, in in_where longtext character set utf8mb4, out out_matches boolean,
    out out_payload longtext character set utf8mb4, out out_headers longtext character set utf8mb4)
    comment 'Whether a filter matches a message.
in_entry: the message. in_where: the filter, see _queue_where.
out_matches: whether it does, or what was pushed onto it while it was held, where that has content. out_payload,
out_headers: what was looked at, so that a caller who then locks the message
sees whether that has changed.
differs: on PostgreSQL it is an operator.'
begin
    declare v_document, v_next, v_leaves longtext character set utf8mb4;
    declare v_lacks int;
    declare continue handler for not found begin end;
    set out_matches = false, out_payload = null, out_headers = null;
    select concat(if(q.pending_payload is null and q.pending_bytes is null, q.payload, q.pending_payload), ''),
        concat(if(q.pending_payload is null and q.pending_bytes is null, q.headers, q.pending_headers), '')
    into out_payload, out_headers from delayed_queue q where q.entry = in_entry;
    set v_document = coalesce(out_payload, out_headers), v_next = if(out_payload is null, null, out_headers);
    while v_document is not null do
        call _queue_leaves(json_object('', json_object('d', 0, 'v', v_document)), false, v_leaves);
        select count(*) into v_lacks from json_table(in_where, '$[*]' columns (d bigint path '$.d', p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', c longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.c')) w
        where not exists (select 1
            from json_table(v_leaves, '$[*]' columns (d bigint path '$.d', p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', c longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.c')) l where l.p = w.p and l.c = w.c);
        set out_matches = v_lacks = 0, v_document = if(out_matches, null, v_next), v_next = null;
    end while;
end;
--;
-- calls: _queue_leaves
-- changes: queue_term
drop procedure if exists _queue_index;
--;
create procedure _queue_index(in in_entries longtext character set utf8mb4)
    comment 'Puts messages into the index of filters, those of kinds that have one (filter_index), or anew where they
are in it.
in_entries: a JSON array of the messages, just put in or locked. One that has more than 256 terms, or onto which
something was pushed while it was held, gets a single one, by which every filter finds it.
Locks: none but what it changes.
differs: several are taken in parts, since each part is a list of documents here.'
begin
    declare v_headed boolean;
    declare v_part varchar(8000) character set ascii;
    declare v_parts, v_documents, v_leaves, v_more, v_crowded longtext character set utf8mb4;
    declare c cursor for -- of no longer a type: MariaDB would make a file for it
        select j.part from json_table(coalesce(v_parts, '[]'), '$[*]' columns (part varchar(8000) character set ascii path '$')) j;
    if json_length(in_entries) = 1 then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(concat('[', q.entry, ']')) into v_parts
        from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry straight_join queue_kind k force index (primary) on k.p_kind = q.p_kind
        where k.filter_index;
    else -- as many at a time as make 64 KB; each counts as 200 bytes more, so they are 328 at most
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(p.part) into v_parts
        from (
            select concat(json_arrayagg(s.entry), '') as part
            from (
                select n.entry, sum(n.size) over (order by n.entry) as sizes
                from (
                    select distinct q.entry,
                        200 + coalesce(length(q.payload), 0) + coalesce(length(q.headers), 0) as size
                    from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry straight_join queue_kind k force index (primary) on k.p_kind = q.p_kind
                    where k.filter_index) n) s
            group by floor(s.sizes / 65536)) p;
    end if;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_part; end;
    if v_over then leave each_c; end if;
        select json_objectagg(q.entry, json_object('d', q.entry, 'v',
                if(q.pending, '{"": null}', concat(coalesce(q.payload, '{}'), '') collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */))),
            max(q.headers is not null)
        into v_documents, v_headed from json_table(v_part, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry for update /*!80000 of q */;
        call _queue_leaves(v_documents, false, v_leaves);
        if v_headed then
            select json_objectagg(q.entry, json_object('d', q.entry, 'v', concat(q.headers, '') collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */))
            into v_documents from json_table(v_part, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry where q.headers is not null for update /*!80000 of q */;
            call _queue_leaves(v_documents, false, v_more);
            set v_leaves = json_merge_preserve(v_leaves, v_more);
        end if;
        set v_crowded = null;
        if json_length(v_leaves) > 256 then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(m.d) into v_crowded
            from (
                select l.d from json_table(v_leaves, '$[*]' columns (d bigint path '$.d', p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', c longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.c')) l where l.c not in ('{}', '[]') group by l.d having count(*) > 256) m;
        end if;
        /*M!100600 set statement sql_safe_updates = 0 for */ delete t from json_table(v_part, '$[*]' columns (entry bigint path '$')) j -- what it had in it before it was replaced
            straight_join queue_term t force index (primary) on t.entry = j.entry;
        insert into queue_term (entry, term, place)
        select q.entry, cast(conv(left(sha2(concat(q.p_kind,
                if(q.pending or json_contains(v_crowded, concat(q.entry)), '=', concat(l.p, '=', l.c))), 256), 15), 16,
                10) as signed), coalesce(q.ready_at, q.due_at, q.created_at)
        from json_table(v_leaves, '$[*]' columns (d bigint path '$.d', p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', c longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.c')) l straight_join delayed_queue q force index (primary) on q.entry = l.d
        where l.c not in ('{}', '[]')
        on duplicate key update place = queue_term.place; -- a value that stands twice in an array
    end loop; end; close c;
end;
--;
-- changes: queue_term
drop procedure if exists _queue_forget_terms;
--;
create procedure _queue_forget_terms(in in_entries longtext character set utf8mb4, out out_rows bigint)
    comment 'Takes messages that have gone out of the index of filters.
in_entries: their entries, a JSON array.
Result: how many rows went.
Locks: these rows; what others have locked is left.
differs: the result is out_rows.'
begin
    set out_rows = 0;
    begin declare v_unlocked longtext character set utf8mb4;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(unlocked.entry, unlocked.term)) into v_unlocked
        from (select t.entry, t.term from json_table(coalesce(in_entries, '[]'), '$[*]' columns (entry bigint path '$')) j
            straight_join queue_term t force index (primary) on t.entry = j.entry order by t.entry, t.term
        for update /*!80000 of t */ skip locked) unlocked;
        if v_unlocked is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete t from json_table(v_unlocked, '$[*]' columns (entry bigint path '$[0]', term bigint path '$[1]')) unlocked
                straight_join queue_term t force index (primary) on t.entry = unlocked.entry and t.term = unlocked.term;
            set out_rows = out_rows + json_length(v_unlocked);
        end if;
    end;
end;
--;
-- calls: _queue_forget_terms
drop procedure if exists _queue_prune_terms;
--;
create procedure _queue_prune_terms(in in_max bigint, out out_pruned bigint)
    comment 'Takes messages that have gone out of the index of filters. Each session goes through it bit by bit, from a
place that chance gave it.
in_max: how many rows to look at.
Result: how many rows went.
Locks: the rows; what others have locked is left.
differs: the result is out_pruned.'
begin
    declare v_low bigint default @pyqueue_terms;
    declare v_high, v_rows, v_gone_rows bigint;
    declare v_left bigint default in_max;
    declare v_gone longtext character set utf8mb4;
    declare v_round int default 0;
    set out_pruned = 0;
    if v_low is null then -- many that come new needn't all look at the same
        select min(t.entry) + floor((max(t.entry) - min(t.entry)) * rand()) into v_low from queue_term t;
    end if;
    while v_low is not null and v_round < 2 do
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select max(w.entry), count(*), json_arrayagg(if(q.entry is null, w.entry, null)),
            sum(q.entry is null) into v_high, v_rows, v_gone, v_gone_rows
        from (select t.entry from queue_term t force index (primary) where t.entry >= v_low
            order by t.entry limit v_left) w
            left join delayed_queue q force index (primary) on q.entry = w.entry;
        if v_gone_rows > 0 then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(g.entry) into v_gone
            from (select distinct j.entry from json_table(v_gone, '$[*]' columns (entry bigint path '$')) j
                where j.entry is not null) g;
            call _queue_forget_terms(v_gone, v_gone_rows);
            set out_pruned = out_pruned + v_gone_rows;
        end if;
        set v_round = v_round + 1, v_left = v_left - v_rows;
        if v_left = 0 then
            set v_round = 2;
        else
            set v_low = -9223372036854775808, v_high = v_low; -- the end: from the beginning again
        end if;
    end while;
    set @pyqueue_terms = v_high + 1; -- a message goes with all its rows
end;
--;
-- calls: _queue_boolean, _queue_forget_terms, _queue_index
-- changes: queue_kind
drop procedure if exists _queue_define_filter;
--;
create procedure _queue_define_filter(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4)
    comment 'Sets filter_index of a kind, and puts the messages that it has into the index of filters, those that
aren''t in it, or takes them out.
in_kind, in_options: those of queue_define.
Errors: PQ002.
Locks: none but what it changes.
differs: PostgreSQL''s is given whether it is on.'
begin
    declare v_on boolean;
    declare v_rows bigint;
    declare v_entries longtext character set utf8mb4;
    if json_contains_path(in_options, 'one', '$.filter_index') then
        call _queue_boolean(in_options, 'filter_index', v_on);
        set v_on = coalesce(v_on, false);
        update queue_kind k set k.filter_index = v_on where k.p_kind = in_kind;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(q.entry) into v_entries from delayed_queue q force index (delayed_queue_key)
        where q.p_kind = in_kind and v_on = ((select 1 from queue_term t where t.entry = q.entry limit 1) is null);
        if v_on then
            call _queue_index(coalesce(v_entries, '[]'));
        else
            call _queue_forget_terms(v_entries, v_rows);
        end if;
    end if;
end;
--;
drop procedure if exists _queue_look_where;
--;
create procedure _queue_look_where(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_now bigint, in in_many int,
    in in_path longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_text longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_number double, inout out_rank int,
    inout out_place bigint, inout out_entry bigint, out out_entries longtext character set utf8mb4, out out_rows int)
    comment 'Looks through the ready line, or through the timetable, for messages that a filter may match, without a
lock. Whether all of the filter matches see _queue_matches.
in_kind: the kind. in_now: what is scheduled or due later than that is passed over. in_many: how many. in_path, in_text,
in_number: see _queue_first_of.
out_rank, out_place, out_entry: from behind which place on, and that of the last one found; out_rank NULL: the
timetable, where the place is a date.
out_entries: a JSON array of entries, in the order of delivery, or by their dates; NULL for none. out_rows: how many, 0
once there are no more.
differs: on PostgreSQL it is a part of _queue_take_where.'
begin
    declare v_rank int;
    declare v_place, v_entry bigint;
    -- a path finds the first of a name that stands twice, on MariaDB
    declare v_name longblob default concat('"', substring_index(in_path, '."', -1));
    if out_rank is null then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(c.entry), count(*), json_extract(json_arrayagg(c.due_at), concat('$[', count(*) - 1, ']')),
            json_extract(json_arrayagg(c.entry), concat('$[', count(*) - 1, ']'))
        into out_entries, out_rows, v_place, v_entry
        from (
            select q.entry, q.due_at from delayed_queue q force index (delayed_queue_due)
            where q.p_kind = in_kind and q.due_at between out_place and in_now
                and (q.due_at > out_place or q.entry > out_entry)
                and (in_path is null or /*M!100600 if(locate('\\', q.payload) > 0 or locate(v_name, q.payload, locate(v_name, q.payload) + 1) > 0, true, */
if(in_number is null, json_unquote(json_extract(q.payload, in_path)) = in_text, if(json_type(json_extract(q.payload, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'),
json_extract(q.payload, in_path) + 0e0 = in_number, false)) /*M!100600 ) */ or /*M!100600 if(locate('\\', q.headers) > 0 or locate(v_name, q.headers, locate(v_name, q.headers) + 1) > 0, true, */
if(in_number is null, json_unquote(json_extract(q.headers, in_path)) = in_text, if(json_type(json_extract(q.headers, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'),
json_extract(q.headers, in_path) + 0e0 = in_number, false)) /*M!100600 ) */)
            order by q.due_at, q.entry limit in_many) c;
    else
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(c.entry), count(*),
            json_extract(json_arrayagg(c.ready_rank), concat('$[', count(*) - 1, ']')),
            json_extract(json_arrayagg(c.ready_at), concat('$[', count(*) - 1, ']')),
            json_extract(json_arrayagg(c.entry), concat('$[', count(*) - 1, ']'))
        into out_entries, out_rows, v_rank, v_place, v_entry
        from (
            select q.entry, q.ready_rank, q.ready_at from delayed_queue q force index (delayed_queue_ready)
            where q.ready_kind = in_kind and (q.ready_rank = out_rank and q.ready_at = out_place and q.entry > out_entry
                    or q.ready_rank = out_rank and q.ready_at > out_place or q.ready_rank > out_rank)
                and q.scheduled_at <= in_now and (in_path is null or q.pending or /*M!100600 if(locate('\\', q.payload) > 0 or locate(v_name, q.payload, locate(v_name, q.payload) + 1) > 0, true, */
if(in_number is null, json_unquote(json_extract(q.payload, in_path)) = in_text, if(json_type(json_extract(q.payload, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'),
json_extract(q.payload, in_path) + 0e0 = in_number, false)) /*M!100600 ) */ or /*M!100600 if(locate('\\', q.headers) > 0 or locate(v_name, q.headers, locate(v_name, q.headers) + 1) > 0, true, */
if(in_number is null, json_unquote(json_extract(q.headers, in_path)) = in_text, if(json_type(json_extract(q.headers, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'),
json_extract(q.headers, in_path) + 0e0 = in_number, false)) /*M!100600 ) */)
            order by q.ready_rank, q.ready_at, q.entry limit in_many) c;
    end if;
    if out_rows > 0 then
        set out_rank = v_rank, out_place = v_place, out_entry = v_entry;
    end if;
end;
--;
-- calls: _queue_matches
-- changes: delayed_queue
drop procedure if exists _queue_take_candidates;
--;
create procedure _queue_take_candidates(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_entries longtext character set utf8mb4, in in_max int,
    in in_now bigint, in in_most int, in in_where longtext character set utf8mb4, inout out_entries longtext character set utf8mb4, inout out_number int,
    inout out_expired int, inout out_ends int)
    comment 'Takes those of some messages that a filter matches, in their order, until there are enough: looks, locks,
and sees that nothing has changed.
in_entries: the messages, a JSON array; NULL for none. in_where: the filter, see _queue_where. The other parameters are
those of _queue_take_where; to out_entries and the counts what is taken is added. What has come due goes into the ready
line.
Locks: what is taken; what others have locked is passed over.
differs: on PostgreSQL a statement locks just what a filter matches; InnoDB locks what it reads.'
begin
    declare v_entry, v_found, v_due bigint;
    declare v_matches, v_held, v_ends boolean default false;
    declare v_payload, v_headers longtext character set utf8mb4;
    declare c cursor for
        select j.entry from /*M!100600 (select * from */ json_table(coalesce(in_entries, '[]'), '$[*]' columns (place for ordinality, entry bigint path '$')) j /*M!100600 limit 1000000000) j */ order by j.place;
    declare continue handler for not found begin end;
    open c; begin declare v_over boolean default false; messages: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_entry; end;
    if v_over then leave messages; end if;
        if out_number >= in_max then
            leave messages;
        end if;
        call _queue_matches(v_entry, in_where, v_matches, v_payload, v_headers);
        if v_matches then
            set v_found = null;
            select q.entry, q.due_at, q.reserved_at is not null, q.pending is not null or q.semaphores is not null
                or q.attempts >= coalesce(q.max_attempts, in_most)
            into v_found, v_due, v_held, v_ends
            from delayed_queue q force index (primary)
            where q.entry = v_entry and q.p_kind = in_kind and q.scheduled_at <= in_now
                and (q.ready_rank is not null or q.due_at <= in_now)
                and concat(if(q.pending_payload is null and q.pending_bytes is null, q.payload, q.pending_payload), '')
                    <=> v_payload
                and concat(if(q.pending_payload is null and q.pending_bytes is null, q.headers, q.pending_headers), '')
                    <=> v_headers
            for update skip locked;
            if v_found is not null then
                if v_due is not null then -- as in _queue_promote
                    update delayed_queue q
                    set q.ready_rank = -q.priority, q.due_at = null, q.ready_at = greatest(v_due, if(exists (
                        select 1 from queue_cursor c where c.p_kind = in_kind), in_now - 1000000 + out_number, 0))
                    where q.entry = v_found;
                end if;
                set out_entries = json_array_append(out_entries, '$', v_found + 0), out_number = out_number + 1,
                    out_expired = out_expired + v_held, out_ends = out_ends + v_ends;
            end if;
        end if;
    end loop; end; close c;
end;
--;
-- calls: _queue_forget_terms, _queue_take_candidates
drop procedure if exists _queue_find_terms;
--;
create procedure _queue_find_terms(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max int, in in_now bigint, in in_most int,
    in in_where longtext character set utf8mb4, in in_path longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_text longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_number double,
    inout out_entries longtext character set utf8mb4, inout out_number int, inout out_expired int, inout out_ends int)
    comment 'The next messages of a kind that a filter matches, locked, by the index that queue_term is: those that have
the rarest value of the filter (the rarest of those that fewer than 1000 have, else any), 1000 at a time, by when they
came due; of these in the order of delivery. So priorities are exact among 1000, and the cost is that of as many
messages as have that value and stand before the last one taken, those that are held and those given back for later
among them.
in_path, in_text, in_number: see _queue_first_of. The other parameters are those of _queue_take_where; to out_entries
and the counts what is taken is added.
Locks: the messages; what others have locked is passed over.'
begin
    declare v_term, v_one, v_gone_rows bigint;
    declare v_at, v_many int default 0;
    declare v_least int default 1001;
    declare v_other bigint default cast(conv(left(sha2(concat(in_kind, '', '=', ''), 256), 15), 16, 10) as signed);
    declare v_place, v_entry bigint default 0;
    declare v_rows int default 1000;
    declare v_list, v_found, v_gone longtext character set utf8mb4;
    declare v_name longblob default concat('"', substring_index(in_path, '."', -1)); -- see _queue_look_where
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(h.term) into v_list
    from (
        select cast(conv(left(sha2(concat(in_kind, w.p, '=', w.c), 256), 15), 16, 10) as signed) as term
        from json_table(in_where, '$[*]' columns (d bigint path '$.d', p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', c longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.c')) w where w.c not in ('{}', '[]')) h;
    while v_at < json_length(v_list) do -- the rarest
        set v_one = json_extract(v_list, concat('$[', v_at, ']')), v_at = v_at + 1;
        if json_length(v_list) > 1 then
            select count(*) into v_many from (
                select 1 from queue_term t force index (queue_term_place)
                    where t.term = v_one and t.place <= in_now limit 1000) c;
        end if;
        if v_many < v_least then
            set v_term = v_one, v_least = v_many;
        end if;
    end while;
    while v_rows = 1000 and out_number < in_max do
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(w.entry, w.place)), count(*) into v_found, v_rows
        from (
            select r.entry, r.place from (
                (select t.entry, t.place from queue_term t force index (queue_term_place)
                    where t.term = v_term and t.place between v_place and in_now
                        and (t.place > v_place or t.entry > v_entry)
                    order by t.place, t.entry limit 1000)
                union all
                (select o.entry, o.place from queue_term o force index (queue_term_place)
                    where o.term = v_other and o.place between v_place and in_now
                        and (o.place > v_place or o.entry > v_entry)
                    order by o.place, o.entry limit 1000)) r
            order by r.place, r.entry limit 1000) w;
        set v_entry = json_extract(v_found, concat('$[', v_rows - 1, '][0]')),
            v_place = json_extract(v_found, concat('$[', v_rows - 1, '][1]'));
        if v_rows > 0 then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(g.entry) into v_gone
            from (
                select j.entry from json_table(v_found, '$[*]' columns (entry bigint path '$[0]')) j
                    left join delayed_queue q force index (primary) on q.entry = j.entry where q.entry is null) g;
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(c.entry) into v_list
            from (
                select q.entry
                from json_table(v_found, '$[*]' columns (entry bigint path '$[0]')) j
                    straight_join delayed_queue q force index (primary) on q.entry = j.entry
                where q.p_kind = in_kind and q.scheduled_at <= in_now
                    and (q.ready_rank is not null or q.due_at <= in_now)
                    and (in_path is null or q.pending or /*M!100600 if(locate('\\', q.payload) > 0 or locate(v_name, q.payload, locate(v_name, q.payload) + 1) > 0, true, */
if(in_number is null, json_unquote(json_extract(q.payload, in_path)) = in_text, if(json_type(json_extract(q.payload, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'),
json_extract(q.payload, in_path) + 0e0 = in_number, false)) /*M!100600 ) */ or /*M!100600 if(locate('\\', q.headers) > 0 or locate(v_name, q.headers, locate(v_name, q.headers) + 1) > 0, true, */
if(in_number is null, json_unquote(json_extract(q.headers, in_path)) = in_text, if(json_type(json_extract(q.headers, in_path)) in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'),
json_extract(q.headers, in_path) + 0e0 = in_number, false)) /*M!100600 ) */)
                order by -q.priority, coalesce(q.ready_at, q.due_at), q.entry limit 1000) c;
            if v_gone is not null then
                call _queue_forget_terms(v_gone, v_gone_rows);
            end if;
            call _queue_take_candidates(in_kind, v_list, in_max, in_now, in_most, in_where, out_entries, out_number,
                out_expired, out_ends);
        end if;
    end while;
end;
--;
-- calls: _queue_find_terms, _queue_first_of, _queue_look_where, _queue_take_candidates
drop procedure if exists _queue_take_where;
--;
create procedure _queue_take_where(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max int, in in_now bigint, in in_most int,
    in in_where longtext character set utf8mb4, out out_entries longtext character set utf8mb4, out out_number int, out out_expired int, out out_ends int)
    comment 'The next messages of a kind that a filter matches, in the order of delivery, locked: what _queue_take does
for calls without one. It neither uses nor changes the cursor of the session.
in_kind: the kind. in_max: how many. in_now: the time of the call. in_most: how many deliveries a message of the kind
may have. in_where: the filter, see _queue_where.
Result: see _queue_scan.
Without a filter_index, or where the filter has nothing but empty objects and arrays, the ready line is read from its
beginning until in_max match, and all that has come due: as many messages as stand before them. With it see
_queue_find_terms.
What was pushed onto a hold that has expired may match: such a message is taken, to be ended and make room for that.
Locks: the messages; what others have locked is passed over.
differs: looks first, and locks what it found, see _queue_take_candidates.'
begin
    declare v_path, v_text longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_number double;
    declare v_rank int;
    declare v_place, v_entry bigint default 0;
    declare v_rows, v_many int;
    declare v_list, v_due longtext character set utf8mb4;
    declare v_filter boolean default false;
    declare v_one, v_two, v_three int default 0;
    declare continue handler for not found begin end;
    set out_entries = '[]', out_number = 0, out_expired = 0, out_ends = 0;
    select k.filter_index into v_filter from queue_kind k where k.p_kind = in_kind;
    call _queue_first_of(in_where, v_path, v_text, v_number);
    if v_filter and exists (select 1
        from json_table(in_where, '$[*]' columns (d bigint path '$.d', p longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.p', c longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$.c')) w
        where w.c not in ('{}', '[]')) then
        call _queue_find_terms(in_kind, in_max, in_now, in_most, in_where, v_path, v_text, v_number, out_entries,
            out_number, out_expired, out_ends);
    else
        -- what has come due and is asked for, and as much of it, goes into the line first
        set v_due = '[]', v_rows = 1000;
        while v_rows = 1000 and v_one < in_max do
            call _queue_look_where(in_kind, in_now, 1000, v_path, v_text, v_number, v_rank, v_place, v_entry, v_list,
                v_rows);
            if v_rows > 0 then
                /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(c.entry) into v_list
                from (
                    select q.entry from json_table(v_list, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry order by q.priority desc, q.due_at, q.entry limit 1000) c;
                call _queue_take_candidates(in_kind, v_list, in_max, in_now, in_most, in_where, v_due, v_one, v_two,
                    v_three);
            end if;
        end while;
        set v_many = greatest(in_max, 20), v_rows = v_many, v_rank = -32768, v_place = 0, v_entry = 0;
        while v_rows > 0 and out_number < in_max do
            call _queue_look_where(in_kind, in_now, v_many, v_path, v_text, v_number, v_rank, v_place, v_entry, v_list,
                v_rows);
            call _queue_take_candidates(in_kind, v_list, in_max, in_now, in_most, in_where, out_entries, out_number,
                out_expired, out_ends);
            set v_many = least(4 * v_many, greatest(in_max, 5000));
        end while;
    end if;
    set out_entries = nullif(out_entries, '[]');
end;
--;
-- calls: _queue_bury, _queue_check_inbox_row, _queue_check_json, _queue_fail, _queue_key, _queue_push, _queue_put,
--     queue_now
-- changes: queue_inbox
drop procedure if exists _queue_drain_inbox;
--;
create procedure _queue_drain_inbox()
    comment 'Takes what has landed out of the inbox, at most 1000 rows: pushes what no trigger has pushed. What can''t
be pushed becomes a dead letter with the reason. It comes before its caller reads the clock, so that what is taken in is
ready for it.
Locks: the rows; what others have locked is left. They are pushed in their order, not in that of their keys: a call that
so waits crosswise with another is made again, see _queue_retry.
differs: PostgreSQL''s is the trigger itself.'
begin
    declare v_first, v_id, v_now, v_at, v_entry bigint;
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_new_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_ids, v_payload, v_headers, v_options longtext character set utf8mb4;
    declare v_bytes longblob;
    declare v_priority, v_attempts, v_max_attempts, v_guarded int;
    declare v_delay decimal(30,6);
    declare v_error text character set utf8mb4;
    declare v_outcome varchar(10) character set utf8mb4;
    declare c cursor for
        select i.id from json_table(v_ids, '$[*]' columns (id bigint path '$')) j straight_join queue_inbox i force index (primary) on i.id = j.id
        where not i.taken order by i.id;
    select min(i.id) into v_first from queue_inbox i;
    if v_first is not null then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(o.id) into v_ids
        from (select i.id from queue_inbox i order by i.id limit 1000 for update skip locked) o;
    end if;
    if v_ids is not null then
        call queue_now(v_now);
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_id; end;
        if v_over then leave each_c; end if;
            select i.p_kind, i.p_key, i.payload, i.payload_bytes, i.headers, i.priority, i.delay_seconds,
                i.scheduled_at, i.attempts, i.max_attempts, null, null
            into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts, v_max_attempts,
                v_error, v_entry
            from queue_inbox i where i.id = v_id for update;
            begin
                declare exit handler for sqlstate 'PQ001', sqlstate 'PQ002', sqlstate 'PQ003', sqlstate 'PQ004',
                    sqlstate 'PQ007'
                    get diagnostics condition 1 v_error = message_text;
                -- who takes it in is not who put it there
                select count(k.roles) into v_guarded from queue_kind k where k.p_kind = v_kind;
                if v_guarded > 0 then
                    call _queue_fail('PQ007', 'kind', v_kind,
                        'takes nothing from an inbox without its trigger, since that can''t say who wrote it');
                end if;
                call _queue_check_inbox_row(v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts,
                    v_max_attempts, v_options);
                call _queue_push(v_kind, v_key, v_payload, v_bytes, v_options, v_new_key, v_at, v_outcome);
            end;
            if v_error is not null then
                if v_key is null then
                    call _queue_key(v_now, v_key);
                end if;
                if v_payload is not null then
                    begin -- what is no JSON to all is kept as bytes
                        declare exit handler for sqlstate 'PQ003' set v_bytes = v_payload, v_payload = null;
                        call _queue_check_json(v_payload, 'PQ003', 'payload');
                    end;
                end if;
                set v_payload = coalesce(v_payload, if(v_bytes is null, 'null', null));
                call _queue_put(v_entry, v_kind, v_key, v_payload, v_bytes, null, 0, v_now, v_now, 0, null, 'ignore',
                    null, null, null, null, null, null, v_at, v_outcome);
                if v_outcome = 'created' then
                    call _queue_bury(v_entry, v_error, v_now);
                end if;
            end if;
        end loop; end; close c;
        /*M!100600 set statement sql_safe_updates = 0 for */ delete i from json_table(v_ids, '$[*]' columns (id bigint path '$')) j straight_join queue_inbox i force index (primary) on i.id = j.id;
    end if;
end;
--;
-- calls: _queue_check_json, _queue_check_payload, _queue_fail
drop procedure if exists _queue_check_inbox_row;
--;
create procedure _queue_check_inbox_row(in in_payload longtext character set utf8mb4, in in_payload_bytes longblob, in in_headers longtext character set utf8mb4,
    in in_priority int, in in_delay_seconds decimal(30,6), in in_scheduled_at bigint, in in_attempts int,
    in in_max_attempts int, out out_options longtext character set utf8mb4)
    comment 'One row of the inbox, checked.
in_payload, in_payload_bytes: its payload, as one or the other. The other parameters are its other columns.
Result: its options.
Errors: PQ003 for its payload, and where its headers are no JSON.
differs: a row can''t be a parameter. _queue_push, which is called with the options, checks all else. The result is
out_options.'
begin
    set out_options = null;
    if in_payload_bytes is null then
        call _queue_check_payload(in_payload, 'payload');
    elseif in_payload is not null then
        call _queue_fail('PQ003', 'payload', in_payload, 'must not stand beside payload_bytes');
    end if;
    if in_headers is not null then
        call _queue_check_json(in_headers, 'PQ003', 'headers');
    end if;
    if coalesce(in_headers, in_priority, in_delay_seconds, in_scheduled_at, in_attempts, in_max_attempts) is not null
        then
        set out_options = json_object('headers', json_extract(coalesce(in_headers, 'null'), '$'), 'priority',
            in_priority + 0, 'delay_seconds', in_delay_seconds + 0, 'scheduled_at', in_scheduled_at + 0, 'attempts',
            in_attempts + 0, 'max_attempts', in_max_attempts + 0);
    end if;
end;
--;
-- changes: queue_stage, queue_stage_part
drop procedure if exists _queue_stage_remove;
--;
create procedure _queue_stage_remove(in in_part bigint, in in_max bigint, out out_removed bigint)
    comment 'Removes what was staged under a part, and the part once that is all.
in_part: the part, locked. in_max: how many messages at the most.
out_removed: how many messages.'
begin
    delete from queue_stage where queue_stage.part = in_part limit in_max;
    set out_removed = row_count();
    if out_removed < in_max then
        delete p from queue_stage_part p where p.part = in_part;
    end if;
end;
--;
-- calls: _queue_stage_remove
-- changes: queue_stage_done, queue_stream_kept, queue_stream_part, queue_stream_plan, queue_write
drop procedure if exists _queue_stage_prune;
--;
create procedure _queue_stage_prune(in in_now bigint, in in_max bigint, out out_pruned bigint)
    comment 'Removes what writers and readers of batches have left: stages older than a day and those of batches that
are done, batches not committed, or kept, for a week, what came of those that were published, and queries of which
nothing came for a year.
in_now: the time of the call. in_max: how many rows of each at the most.
out_pruned: how many rows.
Locks: the rows; what others have locked is left.'
begin
    declare v_part, v_rows bigint;
    declare v_query varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default '';
    declare continue handler for not found begin end;
    set out_pruned = 0;
    parts: loop
        set v_part = null;
        select p.part into v_part
        from (
            select n.part from queue_stage_part n force index (queue_stage_part_begun)
            where n.begun_at <= in_now - 86400000000 order by n.begun_at limit 100) j
            straight_join queue_stage_part p force index (primary) on p.part = j.part
        limit 1 for update /*!80000 of p */ skip locked;
        while v_part is null and v_query is not null do -- query by query: one may have many parts
            select p.part into v_part
            from (
                select n.part from queue_stage_part n force index (queue_stage_part_batch)
                where n.query = v_query and n.batch <= (select d.batch from queue_stage_done d where d.query = v_query)
                order by n.batch limit 100) j
                straight_join queue_stage_part p force index (primary) on p.part = j.part
            limit 1 for update /*!80000 of p */ skip locked;
            if v_part is null then
                select min(n.query) into v_query from queue_stage_part n where n.query > v_query;
            end if;
        end while;
        if v_part is null or out_pruned >= in_max then
            leave parts;
        end if;
        call _queue_stage_remove(v_part, in_max - out_pruned, v_rows);
        set out_pruned = out_pruned + v_rows;
    end loop;
    -- looked for without a lock, which the first row behind the end of the range would get as well
    begin declare v_unlocked longtext character set utf8mb4;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(unlocked.source, unlocked.part)) into v_unlocked
        from (select p.source, p.part from (select n.source, n.part from queue_stream_part n force index (queue_stream_part_begun)
            where n.begun_at <= in_now - 604800000000 order by n.begun_at limit in_max) n
            straight_join queue_stream_part p force index (primary) on p.source = n.source and p.part = n.part
        where p.begun_at <= in_now - 604800000000
        for update /*!80000 of p */ skip locked) unlocked;
        if v_unlocked is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete p from json_table(v_unlocked, '$[*]' columns (source varchar(230) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', part int path '$[1]')) unlocked
                straight_join queue_stream_part p force index (primary) on p.source = unlocked.source and p.part = unlocked.part;
            set out_pruned = out_pruned + json_length(v_unlocked);
        end if;
    end;
    begin declare v_unlocked longtext character set utf8mb4;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(unlocked.source, unlocked.part, unlocked.place)) into v_unlocked
        from (select k.source, k.part, k.place from (select n.source, n.part, n.place from queue_stream_kept n force index (queue_stream_kept_at)
            where n.kept_at <= in_now - 604800000000 order by n.kept_at limit in_max) n
            straight_join queue_stream_kept k force index (primary)
                on k.source = n.source and k.part = n.part and k.place = n.place
        where k.kept_at <= in_now - 604800000000
        for update /*!80000 of k */ skip locked) unlocked;
        if v_unlocked is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete k from json_table(v_unlocked, '$[*]' columns (source varchar(230) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', part int path '$[1]', place int path '$[2]')) unlocked
                straight_join queue_stream_kept k force index (primary) on k.source = unlocked.source and k.part = unlocked.part and k.place = unlocked.place;
            set out_pruned = out_pruned + json_length(v_unlocked);
        end if;
    end;
    begin declare v_unlocked longtext character set utf8mb4;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(unlocked.source) into v_unlocked
        from (select l.source from (select n.source from queue_stream_plan n force index (queue_stream_plan_begun)
            where n.begun_at <= in_now - 604800000000 order by n.begun_at limit in_max) n
            straight_join queue_stream_plan l force index (primary) on l.source = n.source
        where l.begun_at <= in_now - 604800000000
        for update /*!80000 of l */ skip locked) unlocked;
        if v_unlocked is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete l from json_table(v_unlocked, '$[*]' columns (source varchar(230) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) unlocked
                straight_join queue_stream_plan l force index (primary) on l.source = unlocked.source;
            set out_pruned = out_pruned + json_length(v_unlocked);
        end if;
    end;
    begin declare v_unlocked longtext character set utf8mb4;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(unlocked.id) into v_unlocked
        from (select w.id from (select n.id from queue_write n force index (queue_write_at)
            where n.written_at <= in_now - 604800000000 order by n.written_at limit in_max) n
            straight_join queue_write w force index (primary) on w.id = n.id
        where w.written_at <= in_now - 604800000000
        for update /*!80000 of w */ skip locked) unlocked;
        if v_unlocked is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete w from json_table(v_unlocked, '$[*]' columns (id bigint path '$')) unlocked
                straight_join queue_write w force index (primary) on w.id = unlocked.id;
            set out_pruned = out_pruned + json_length(v_unlocked);
        end if;
    end;
    begin declare v_unlocked longtext character set utf8mb4;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(unlocked.query) into v_unlocked
        from (select d.query from (select n.query from queue_stage_done n force index (queue_stage_done_at)
            where n.done_at <= in_now - 31536000000000 order by n.done_at limit in_max) n
            straight_join queue_stage_done d force index (primary) on d.query = n.query
        where d.done_at <= in_now - 31536000000000
        for update /*!80000 of d */ skip locked) unlocked;
        if v_unlocked is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete d from json_table(v_unlocked, '$[*]' columns (query varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) unlocked
                straight_join queue_stage_done d force index (primary) on d.query = unlocked.query;
            set out_pruned = out_pruned + json_length(v_unlocked);
        end if;
    end;
end;
--;
-- calls: _queue_integer, _queue_text
-- changes: queue_write
drop procedure if exists _queue_stage_note;
--;
create procedure _queue_stage_note(in in_query text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint, in in_options longtext character set utf8mb4,
    in in_now bigint, in in_messages bigint, in in_pushed bigint, in in_differing bigint)
    comment 'Notes what came of a write, where it has a name.
in_query, in_batch: whose batch it is. in_options: job, and refused, of queue_stage_publish. in_now: the time of the
call. in_messages, in_pushed, in_differing: as in queue_stage_publish.
Errors: PQ002 for refused.
Locks: none.'
begin
    declare v_refused bigint;
    declare v_job text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    call _queue_text(in_options, 'job', v_job);
    call _queue_integer(in_options, 'refused', 0, 9223372036854775807, v_refused);
    if coalesce(in_query, v_job) is not null then
        insert into queue_write (query, batch, job, written_at, messages, pushed, differing, refused)
        values (in_query, in_batch, left(v_job, 200), in_now, in_messages, in_pushed, in_differing,
            coalesce(v_refused, 0));
    end if;
end;
--;
-- calls: _queue_check_json, _queue_epoch, _queue_fail, _queue_stage_put_each
-- changes: delayed_queue, queue_stage, queue_stage_part
drop procedure if exists _queue_stage_put;
--;
create procedure _queue_stage_put(in in_parts longtext character set utf8mb4, in in_held longtext character set utf8mb4, in in_now bigint, out out_messages bigint,
    out out_pushed bigint, out out_differing bigint, out out_rest longtext character set utf8mb4)
    comment 'Pushes what is staged, and takes it out of the stage. But what has the key of a message that the caller is
about to end stays there: it is pushed once that message has gone, by a second call for the rest.
in_parts: a JSON array of {part, messages}: each what queue_stage_begin answered, and how many messages were staged
under it. in_held: what the caller holds, and will have ended before a second call, as _queue_stream_held answers it;
NULL: nothing. in_now: the time of the call.
out_messages, out_pushed, out_differing: messages, pushed and differing of queue_stage_publish. out_rest: the parts for
a second call, NULL: none. What stays counts among the messages alone.
Errors: PQ001 for parts, PQ004 where one isn''t there or has not so many messages; for a message PQ001, PQ002 and PQ003,
naming its row and its key.
Locks: the parts, in their order; else as queue_push_many. What a second call puts in waits for nobody: the keys are
those of messages that this transaction has ended.
differs: messages of one time are delivered in the order of their keys.'
begin
    declare v_expected, v_shift, v_first bigint;
    declare v_bad, v_gone longtext character set utf8mb4;
    declare v_found, v_special int;
    declare v_counted boolean;
    call _queue_check_json(coalesce(in_parts, 'null'), 'PQ003', 'parts');
    if coalesce(json_type(in_parts), 'NULL') <> 'ARRAY' then
        call _queue_fail('PQ001', 'parts', in_parts, 'must be a JSON array of {part, messages}');
    end if;
    select min(j.one), sum(j.messages) into v_bad, v_expected from (
        select p.messages, if(p.part regexp '^[0-9]{1,18}$|^[0-8][0-9]{18}$'
            and p.messages regexp '^[0-9]{1,18}$', null, p.one) as one
        from json_table(in_parts, '$[*]'
            columns (one json path '$', part varchar(40) character set utf8mb4 path '$.part',
            messages varchar(40) character set utf8mb4 path '$.messages')) p) j;
    if v_bad is not null then
        call _queue_fail('PQ001', 'parts', v_bad, 'must have a part of queue_stage_begin and a number of messages');
    end if;
    select count(distinct l.part) into v_found from (
        select p.part from /*M!100600 (select * from */ json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j /*M!100600 limit 1000000000) j */
            straight_join queue_stage_part p force index (primary) on p.part = j.part
        order by j.part limit 1000000000 for update /*!80000 of p */) l;
    if v_found <> json_length(in_parts) then
        call _queue_fail('PQ004', 'parts', in_parts, 'must be staged, and published once');
    end if;
    -- what is as messages mostly are is pushed by one statement
    select count(*), coalesce(sum(((char_length(s.p_kind) between 1 and 95 and char_length(s.p_key) between 1 and 200
and locate(char(0), s.p_kind) = 0 and locate(char(0), s.p_key) = 0
and (length(s.p_kind) + length(s.p_key) = char_length(s.p_kind) + char_length(s.p_key)
or hex(concat(s.p_kind, s.p_key)) not regexp '^(..)*ED[AB]')
and if(s.payload_bytes is not null, s.payload is null,
if(length(s.payload) > 65535
or length(s.payload) - length(replace(replace(s.payload, '{', ''), '[', '')) > 99, false,
json_valid(s.payload) and json_depth(if(json_valid(s.payload), s.payload, 'null')) <= 31)
and (locate('\\', cast(s.payload as binary)) = 0
or replace(s.payload, '\\\\', '') not regexp '\\\\u0000|\\\\[^"/bfnrtu\\\\]')
/*M!100600 and (s.payload not regexp '[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}'
or replace(replace(s.payload, '\\\\', ''), '\\"', '') not regexp concat('"[^"]*+"(*SKIP)(*FAIL)',
'|[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}')) */)
and if(s.headers is null, true, locate('"', s.headers) > 0 and locate('\\', s.headers) = 0
and if(length(s.headers) > 65535 or locate('{', s.headers, 2) > 0 or locate('[', s.headers) > 0, false,
json_type(if(json_valid(s.headers), s.headers, 'null')) = 'OBJECT')
/*M!100600 and s.headers not regexp concat('"[^"]*+"(*SKIP)(*FAIL)',
'|[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}') */)
and coalesce(s.priority between -32768 and 32767, true)
and if(s.scheduled_at is null, coalesce(s.delay_seconds between 0 and 1000000000, true),
s.delay_seconds is null and s.scheduled_at between 100000000000000 and 253402300799999999)
and coalesce(s.attempts between 0 and 1000000000, true)
and coalesce(s.max_attempts between 1 and 1000000000, true))
        and k.payload_shape is null and coalesce(k.dedup_seconds, 0) = 0 and coalesce(k.log_seconds, 0) = 0
        and coalesce(k.draining, false) = false and coalesce(k.filter_index, false) = false
            and k.roles is null) is not true), 0) > 0
    into out_messages, v_special
    from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j straight_join queue_stage s force index (queue_stage_of_part) on s.part = j.part
        left join queue_kind k force index (primary) on k.p_kind = s.p_kind;
    if out_messages <> coalesce(v_expected, 0) then
        call _queue_fail('PQ004', 'messages', out_messages,
            concat('must be the ', coalesce(v_expected, 0), ' that were staged'));
    end if;
    -- of a client that counts the rows that are found, row_count() of an insert counts keys that are taken as well
    update queue_stage_part p set p.job = p.job where p.part = json_value(in_parts, '$[0].part');
    set v_counted = row_count() = 0;
    call _queue_epoch(v_shift);
    set v_first = ((uuid_short() << 8) & 9223372036854775807) + v_shift;
    if v_special then
        call _queue_stage_put_each(in_parts, out_pushed);
        set v_counted = true;
    else
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at)
        select ((uuid_short() << 8) & 9223372036854775807) + v_shift, m.p_kind, m.p_key, m.payload, m.payload_bytes,
            m.headers, coalesce(m.priority, 0), o.due, o.due, in_now, coalesce(m.attempts, 0), m.max_attempts,
            if(o.due <= in_now, -coalesce(m.priority, 0), null), if(o.due <= in_now, o.due, null),
            if(o.due > in_now, o.due, null)
        from (
            select s.id,
                coalesce(s.scheduled_at, in_now + cast(coalesce(s.delay_seconds, 0) * 1000000 as signed)) as due
            from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j straight_join queue_stage s force index (queue_stage_of_part) on s.part = j.part
            order by s.p_key, s.p_kind, s.id limit 1000000000) o
            straight_join queue_stage m force index (primary) on m.id = o.id
            left join delayed_queue q force index (delayed_queue_key) on q.p_kind = m.p_kind and q.p_key = m.p_key
        where q.entry is null
        on duplicate key update entry = delayed_queue.entry;
        set out_pushed = row_count();
    end if;
    set out_differing = 0, out_rest = null;
    if not v_counted or out_pushed < out_messages then
        -- others have put in higher numbers since, too
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select if(v_counted, out_pushed,
                count(distinct if(q.entry > v_first and q.created_at = in_now, q.entry, null))),
            coalesce(sum(q.entry is not null and h.entry is null
            and not if(s.payload_bytes is not null, q.payload_bytes <=> s.payload_bytes,
                /*!80017 q.payload <=> cast(coalesce(s.payload, 'null') as json) */
                /*M!100600 cast(q.payload as binary) <=> cast(coalesce(s.payload, 'null') as binary) */)), 0),
            -- what has a key of after the snapshot may be held as well
            if(sum(h.entry is not null or q.entry is null and in_held is not null) > 0,
            json_arrayagg(if(h.entry is null and (q.entry is not null or in_held is null), s.id, null)), null)
        into out_pushed, out_differing, v_gone
        from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j straight_join queue_stage s force index (queue_stage_of_part) on s.part = j.part
            left join delayed_queue q force index (delayed_queue_key) on q.p_kind = s.p_kind and q.p_key = s.p_key
            -- by the entry: for a kind and a key no server makes an index of what it lists
            left join (select d.entry from json_table(in_held, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j straight_join delayed_queue d force index (primary) on d.entry = j.entry and d.secret = unhex(j.secret) limit 1000000000 for update /*!80000 of d */) h
                on h.entry = q.entry;
    end if;
    if v_gone is null then
        /*M!100600 set statement sql_safe_updates = 0 for */ delete s from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j straight_join queue_stage s force index (queue_stage_of_part) on s.part = j.part;
        /*M!100600 set statement sql_safe_updates = 0 for */ delete p from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j
            straight_join queue_stage_part p force index (primary) on p.part = j.part;
    else
        /*M!100600 set statement sql_safe_updates = 0 for */ delete s from json_table(v_gone, '$[*]' columns (id bigint path '$')) j
            straight_join queue_stage s force index (primary) on s.id = j.id;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_object('part', j.part + 0, 'messages', (
            select count(*) from queue_stage s where s.part = j.part))) into out_rest
        from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j;
    end if;
end;
--;
-- calls: _queue_check_inbox_row, _queue_push
drop procedure if exists _queue_stage_put_each;
--;
create procedure _queue_stage_put_each(in in_parts longtext character set utf8mb4, out out_pushed bigint)
    comment 'Pushes what is staged message by message, in the order of the keys: where one of them has no key, is wrong,
or is of a kind with a shape or a memory of keys; and where its JSON takes more than a glance.
in_parts: those of queue_stage_publish, locked. out_pushed: how many became messages.
Errors: those of queue_push, naming the key; then the call has to be undone.
Locks: as queue_push.
differs: on PostgreSQL the trigger of queue_inbox does it.'
begin
    declare v_id, v_at bigint;
    declare v_kind, v_key, v_new_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_payload, v_headers, v_options longtext character set utf8mb4;
    declare v_bytes longblob;
    declare v_priority, v_attempts, v_max_attempts int;
    declare v_delay decimal(30,6);
    declare v_error varchar(128) character set utf8mb4;
    declare v_outcome varchar(10) character set utf8mb4;
    declare c cursor for
        select s.id from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j straight_join queue_stage s force index (queue_stage_of_part) on s.part = j.part
        order by s.p_key, s.p_kind, s.id;
    declare exit handler for sqlstate 'PQ001', sqlstate 'PQ002', sqlstate 'PQ003' begin
        get diagnostics condition 1 v_error = message_text;
        set v_error = left(concat('message (key ', coalesce(concat('"', left(v_key, 40), '"'), 'NULL'), '): ', v_error),
            128);
        resignal set message_text = v_error;
    end;
    set out_pushed = 0;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_id; end;
    if v_over then leave each_c; end if;
        select s.p_kind, s.p_key, s.payload, s.payload_bytes, s.headers, s.priority, s.delay_seconds, s.scheduled_at,
            s.attempts, s.max_attempts
        into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts, v_max_attempts
        from queue_stage s where s.id = v_id;
        call _queue_check_inbox_row(v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts,
            v_max_attempts, v_options);
        call _queue_push(v_kind, v_key, v_payload, v_bytes, v_options, v_new_key, v_at, v_outcome);
        set out_pushed = out_pushed + (v_outcome = 'created');
    end loop; end; close c;
end;
--;
-- calls: _queue_check_name, _queue_fail
drop procedure if exists _queue_check_batch;
--;
create procedure _queue_check_batch(in in_name varchar(100) character set utf8mb4, in in_query text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint)
    comment 'Refuses what can''t be a batch of a query.
in_name: what the query is called in the message. in_query: the query. in_batch: the number of the batch.
Errors: PQ001.'
begin
    call _queue_check_name(in_query, 200, in_name);
    if in_batch >= 0 is not true then
        call _queue_fail('PQ001', 'batch', in_batch, 'must be 0 or more');
    end if;
end;
--;
-- calls: _queue_fail
-- changes: queue_stage_done
drop procedure if exists _queue_batch_done;
--;
create procedure _queue_batch_done(in in_query text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint, in in_now bigint,
    in in_run text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_job text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, out out_new boolean)
    comment 'Notes that a batch of a query is done, in the transaction that does it.
in_query: the query. in_batch: its number; they only go up. in_now: the time of the call. in_run, in_job: what runs the
query, and the write that does the batch; NULL where nobody says.
Result: whether it wasn''t done before.
Errors: PQ004 where another write of the same run has done it: that is no replay, and what this one has would be lost.
Locks: the row of the query, so that of two who do the same batch the second waits and finds it done.
differs: the result is a parameter, out_new.'
begin
    declare v_batch bigint;
    declare v_run, v_job text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    set in_run = left(in_run, 200), in_job = left(in_job, 200);
    insert into queue_stage_done (query, batch, done_at) values (in_query, -1, in_now)
    on duplicate key update query = queue_stage_done.query;
    select d.batch, d.run, d.job into v_batch, v_run, v_job from queue_stage_done d where d.query = in_query for update;
    set out_new = v_batch < in_batch;
    if out_new then
        update queue_stage_done d set d.batch = in_batch, d.run = in_run, d.job = in_job, d.done_at = in_now
        where d.query = in_query;
    elseif v_batch = in_batch and v_run = in_run and v_job <> in_job then
        call _queue_fail('PQ004', 'batch', in_batch,
            'must be ended by one write: another one of this run has ended it');
    end if;
end;
--;
drop procedure if exists _queue_stream_held;
--;
create procedure _queue_stream_held(in in_source text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_batch bigint, out out_list longtext character set utf8mb4, out out_number int)
    comment 'What a read, or all reads of a batch, were handed out.
in_source: the read; or in_stream and in_batch: the batch; what isn''t asked for is NULL.
out_list: a JSON array of [entry, secret], in the order of the entries. out_number: how many.
Locks: the parts, since an old snapshot may not have them.'
begin
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select coalesce(json_arrayagg(json_array(s.entry, s.secret)), '[]'), count(*) into out_list, out_number
    from (
        select cast(left(r.receipt, char_length(r.receipt) - 33) as signed) as entry, right(r.receipt, 32) as secret
        from (
            (select p.receipts from queue_stream_part p where p.source = in_source for update)
            union all
            (select p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch for update)) h
            straight_join json_table(h.receipts, '$[*]' columns (receipt varchar(60) character set utf8mb4 path '$')) r
        order by 1 limit 1000000000) s;
end;
--;
-- changes: queue_stream_part
drop procedure if exists _queue_stream_trim;
--;
create procedure _queue_stream_trim(in in_source text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    in in_batch bigint, out out_lost bigint)
    comment 'Forgets the receipts of a read, or of all reads of a batch, that somebody else''s delivery or an end has
made void.
in_source: the read; or in_stream and in_batch: the batch; what isn''t asked for is NULL.
Result: how many.
Locks: the parts in which something was lost.
differs: the result is a parameter, out_lost.'
begin
    declare v_source varchar(230) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_part int;
    declare v_old, v_receipts longtext character set utf8mb4;
    declare c cursor for
        select p.source, p.part, p.receipts from queue_stream_part p where p.source = in_source
        union all
        select p.source, p.part, p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch;
    set out_lost = 0;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_source, v_part, v_old; end;
    if v_over then leave each_c; end if;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select coalesce(json_arrayagg(s.receipt), '[]') into v_receipts
        from (
            select r.receipt
            from /*M!100600 (select * from */ json_table(v_old, '$[*]' columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r /*M!100600 limit 1000000000) r */
                straight_join delayed_queue q force index (primary)
                    on q.entry = cast(left(r.receipt, char_length(r.receipt) - 33) as signed)
                        and q.secret = unhex(right(r.receipt, 32))
            where q.reserved_by is not null
            order by r.place limit 1000000000) s;
        if json_length(v_receipts) < json_length(v_old) then
            set out_lost = out_lost + json_length(v_old) - json_length(v_receipts);
            update queue_stream_part p set p.receipts = v_receipts where p.source = v_source and p.part = v_part;
        end if;
    end loop; end; close c;
end;
--;
-- calls: _queue_check_nack, _queue_fail, _queue_nack
drop procedure if exists _queue_stream_fail;
--;
create procedure _queue_stream_fail(in in_failed longtext character set utf8mb4, in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint,
    in in_now bigint, out out_failed bigint)
    comment 'Gives back what failed of a batch. A receipt that is held by nobody any more is left out.
in_failed: a JSON array of {receipt, and options of queue_nack}. in_stream, in_batch: the batch. in_now: the time of the
call.
out_failed: how many.
Errors: PQ002, PQ005.
Locks: as _queue_nack.'
begin
    declare v_bad, v_options longtext character set utf8mb4;
    declare v_entry bigint;
    declare v_secret binary(16);
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_others boolean;
    declare c cursor for -- dead letters are put in in the order of their keys, as everywhere
        select r.receipt, q.entry, q.secret, r.options, b.receipt is null
        from (
            select f.receipt, cast(left(f.receipt, char_length(f.receipt) - 33) as signed) as entry,
                right(f.receipt, 32) as secret, json_remove(f.one, '$.receipt') as options
            from json_table(in_failed, '$[*]'
                columns (one json path '$', receipt varchar(60) character set utf8mb4 path '$.receipt')) f
            limit 1000000000) r
            straight_join delayed_queue q force index (primary) on q.entry = r.entry and q.secret = unhex(r.secret)
            left join (
                select h.receipt from queue_stream_part p
                    straight_join json_table(p.receipts, '$[*]' columns (receipt varchar(60) character set utf8mb4 path '$')) h
                where p.stream = in_stream and p.batch = in_batch limit 1000000000 for update /*!80000 of p */) b
                on b.receipt = r.receipt
        order by q.p_key, q.p_kind for update /*!80000 of q */;
    if json_valid(in_failed) is not true or json_type(in_failed) <> 'ARRAY' or exists (
        select 1 from json_table(in_failed, '$[*]' columns (one json path '$')) f where json_type(f.one) <> 'OBJECT')
            then
        call _queue_fail('PQ002', 'failed', in_failed, 'must be a JSON array of {receipt, and options of queue_nack}');
    end if;
    select min(coalesce(f.receipt, 'null')) into v_bad
    from json_table(in_failed, '$[*]' columns (receipt longtext character set utf8mb4 path '$.receipt')) f
    where (f.receipt collate utf8mb4_bin regexp '^[0-9]{1,19}-[0-9a-f]{32}\\z' and lpad(f.receipt, 52, '0') < '9223372036854775808') is not true;
    if v_bad is not null then
        call _queue_fail('PQ005', 'failed', v_bad, 'must be what queue_stream_reserve answered');
    end if;
    set out_failed = 0;
    open c; begin declare v_over boolean default false; each_c: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_bad, v_entry, v_secret, v_options, v_others; end;
    if v_over then leave each_c; end if;
        if v_others then
            call _queue_fail('PQ005', 'failed', v_bad, 'must be what queue_stream_reserve answered for this batch');
        end if;
        call _queue_check_nack(v_options);
        call _queue_nack(v_entry, v_secret, v_options, in_now, v_outcome);
        set out_failed = out_failed + (v_outcome <> 'lost');
    end loop; end; close c;
end;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_integer, _queue_stage_prune, _queue_stage_remove,
--     _queue_text, queue_now
-- changes: queue_stage_part
drop procedure if exists queue_stage_begin;
--;
create procedure queue_stage_begin(in in_job text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4)
    comment 'Begins to stage messages. Staged rows of queue_stage are no messages until queue_stage_publish makes all of
them messages at once. Insert them in the same transaction; a transaction that fails leaves nothing. What was staged and
not published goes after a day.
in_job: what the part belongs to, 1 to 200 characters: queue_stage_abort removes all parts of it.
in_options: what it is for, as in queue_stage_publish. What an earlier run of the query has staged goes at once, and
what was staged for a batch that is done goes with queue_prune.
- query: the query that writes. Allowed: a text. Default: none.
- batch: the number of its batch. Allowed: 0 or more. Default: none.
- run: the run of the query. Allowed: a text. Default: none.
Result: part, the number to put into queue_stage.part.
Errors: PQ001 for job, PQ002 for options.
Locks: the parts of earlier runs; what others have locked is left.
Where the idea comes from: the staging tables of bulk loaders; writers that stage under a job and commit once.'
begin
    declare v_now, v_batch, v_part, v_pruned, v_rows bigint;
    declare v_query, v_run text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare c cursor for -- nobody can publish them any more
            select p.part
            from (
                select n.part from queue_stage_part n force index (queue_stage_part_run)
                where n.query = v_query and n.run <> v_run limit 1000000000) j
                straight_join queue_stage_part p force index (primary) on p.part = j.part
            order by j.part for update /*!80000 of p */ skip locked;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_name(in_job, 200, 'job');
        call _queue_check_options(in_options, 'query,batch,run', 'options');
        call _queue_text(in_options, 'query', v_query);
        call _queue_integer(in_options, 'batch', 0, 9223372036854775807, v_batch);
        call _queue_text(in_options, 'run', v_run);
        call _queue_stage_prune(v_now, 1000, v_pruned);
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_part; end;
        if v_over then leave each_c; end if;
            call _queue_stage_remove(v_part, 9223372036854775807, v_rows);
        end loop; end; close c;
        set v_part = uuid_short() & 9223372036854775807;
        insert into queue_stage_part (part, job, query, batch, run, begun_at)
        values (v_part, in_job, v_query, v_batch, v_run, v_now);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_part as part;
end;
--;
-- calls: _queue_batch_done, _queue_check_batch, _queue_check_options, _queue_integer, _queue_stage_note,
--     _queue_stage_put, _queue_text, queue_now
drop procedure if exists queue_stage_publish;
--;
create procedure queue_stage_publish(in in_parts longtext character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'Pushes what is staged, all of it or, with an error, nothing, and takes it out of the stage. A key that is
taken is ignored.
in_parts: a JSON array of {part, messages}: each what queue_stage_begin returned, and how many messages were staged
under it.
in_options: what names this work, so that the same batch is published once.
- query: the query that writes. Allowed: 1 to 200 characters. Default: none.
- batch: the number of its batch, which only goes up. Allowed: 0 or more. Default: none.
- run: the run of the query, as in queue_stream_commit. Allowed: a text. Default: none.
- job: the write that does the batch, as in queue_stream_commit. Allowed: a text. Default: none.
- refused: how many rows the writer has made dead letters of, for the view queue_writes. Allowed: 0 or more. Default: 0.
Result: outcome: published, or replayed where the batch was published before, and then nothing happens; messages: how
many were published, those whose keys are taken among them; pushed: how many of these became messages; differing: how
many have another payload than the message that has their key. A write that names a query or a job stands in the view
queue_writes, too. On PostgreSQL, where parts is empty, it is about what the transaction has put into queue_inbox.
Errors: PQ001 for parts, query and batch, PQ002 for options. PQ004 where a part isn''t there (published before,
aborted, past its day, lost in a crash of the server, staged after the snapshot of a transaction) or has not so many
messages. PQ004, too, where another job of the same run has done the batch. For a message the error of a push, naming
its key.
Locks: the row of the query and the parts, in their order; else as queue_push_many.
Where the idea comes from: the transactional sinks of Spark and Flink.
differs: messages of one time are delivered in the order of their keys.'
begin
    declare v_now, v_batch, v_messages, v_pushed, v_differing bigint;
    declare v_query, v_run, v_job text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_rest longtext character set utf8mb4;
    declare v_new boolean default true;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_options(in_options, 'query,batch,run,job,refused', 'options');
        call _queue_text(in_options, 'query', v_query);
        call _queue_integer(in_options, 'batch', 0, 9223372036854775807, v_batch);
        if v_query is not null or v_batch is not null then
            call _queue_check_batch('query', v_query, v_batch);
            call _queue_text(in_options, 'run', v_run);
            call _queue_text(in_options, 'job', v_job);
            call _queue_batch_done(v_query, v_batch, v_now, v_run, v_job, v_new);
        end if;
        set v_messages = 0, v_pushed = 0, v_differing = 0;
        if v_new then
            call _queue_stage_put(in_parts, null, v_now, v_messages, v_pushed, v_differing, v_rest);
            call _queue_stage_note(v_query, v_batch, in_options, v_now, v_messages, v_pushed, v_differing);
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select if(v_new, 'published', 'replayed') as outcome, v_messages as messages, v_pushed as pushed,
        v_differing as differing;
end;
--;
-- calls: _queue_check_name, _queue_stage_remove
drop procedure if exists queue_stage_abort;
--;
create procedure queue_stage_abort(in in_job text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Removes what is staged under a job and not published.
in_job: what was given to queue_stage_begin.
Result: removed: how many messages.
Errors: PQ001 for job.
Locks: the parts, in their order.'
begin
    declare v_removed, v_part, v_rows bigint;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare c cursor for
            select p.part from queue_stage_part p force index (queue_stage_part_job)
            where p.job = in_job order by p.part for update;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_name(in_job, 200, 'job');
        set v_removed = 0;
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_part; end;
        if v_over then leave each_c; end if;
            call _queue_stage_remove(v_part, 9223372036854775807, v_rows);
            set v_removed = v_removed + v_rows;
        end loop; end; close c;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_removed as removed;
end;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_limited_until, _queue_permits_ready, _queue_use, queue_now
drop procedure if exists queue_stream_ready;
--;
create procedure queue_stream_ready(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Whether a reserve would find something: what a reader of batches asks before it plans one.
in_kind: the kind.
Result: ready: false where nothing is ready, or the kind is paused or at its limits. True also where there is room at a
semaphore that something waits for, or a group is to be looked at.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: none.
differs: true also while something waits in queue_inbox to be taken in, of whatever kind.'
begin
    declare v_now, v_until, v_due bigint;
    declare v_limit int;
    declare v_rate decimal(30,6);
    declare v_expires decimal(20,6);
    declare v_paused, v_guarded, v_room boolean;
    call queue_now(v_now);
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    select max(k.paused), max(k.max_reserved), max(k.rate_per_second), max(k.semaphores),
        max(k.expires_seconds)
    into v_paused, v_limit, v_rate, v_guarded, v_expires from queue_kind k where k.p_kind = in_kind;
    if v_expires is not null then -- as in _queue_ready
        begin declare v_own boolean; declare v_tries int default 0; again: loop begin
            declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_use(in_kind, v_expires, v_now);
            call _queue_commit(v_own);
            leave again;
        end; end loop; end;
    end if;
    call _queue_limited_until(in_kind, v_limit, v_rate, v_now, v_until);
    if v_guarded then
        call _queue_permits_ready(in_kind, v_now, v_room);
    end if;
    select count(*) into v_due from queue_group_due d straight_join queue_group g on g.group_name = d.group_name
    where in_kind in (g.then_kind, g.fail_kind);
    select v_paused is not true and v_until is null
        and (exists (select 1 from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.scheduled_at <= v_now)
            or exists (select 1 from delayed_queue d force index (delayed_queue_due)
                where d.p_kind = in_kind and d.due_at between 0 and v_now)
            or exists (select 1 from queue_inbox i where not i.taken)
            -- as in _queue_ready: a reserve finds these, too
            or coalesce(v_room, false) or v_due > 0) as ready;
end;
--;
-- calls: _queue_check_name, _queue_stream_trim, queue_now
-- changes: queue_stream_part, queue_stream_plan
drop procedure if exists queue_stream_plan;
--;
create procedure queue_stream_plan(in in_source text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Begins a read of queue_stream_reserve, or begins it anew after whoever read it has gone: from then on only
the parts that were handed out are handed out again, whatever the reader is told to take now, and whoever holds an older
plan is refused. What somebody else has by now, or what has ended, is forgotten. The rest isn''t pruned for another
week.
in_source: what names the read, the same when it is done again, 1 to 200 characters.
Result: plan: a number to hand to queue_stream_reserve; parts: a JSON array of the parts that were handed out, or that
are kept; NULL: none was, and the read is a new one.
Errors: PQ001 for source.
Locks: the row of the read; waits for calls of queue_stream_reserve that are under way.
Where the idea comes from: the fencing tokens of leases.'
begin
    declare v_now, v_plan, v_lost bigint;
    declare v_parts longtext character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_name(in_source, 200, 'source');
        call queue_now(v_now);
        insert into queue_stream_plan (source, plan, sealed, begun_at) values (in_source, 1, false, v_now)
        on duplicate key update plan = queue_stream_plan.plan + 1, begun_at = v_now;
        -- whoever was handing out has ended or waits for this row
        select l.plan into v_plan from queue_stream_plan l where l.source = in_source for update;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(s.part) into v_parts
        from (
            select p.part from queue_stream_part p where p.source = in_source
                order by p.part limit 1000000000 lock in share mode) s;
        if v_parts is null then
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(s.part) into v_parts
            from (
                select distinct k.part from queue_stream_kept k where k.source = in_source
                    order by k.part limit 1000000000) s;
        end if;
        if v_parts is not null then
            update queue_stream_plan l set l.sealed = true where l.source = in_source;
            call _queue_stream_trim(in_source, null, null, v_lost);
            -- so that none of it is pruned
            update queue_stream_part p set p.begun_at = v_now where p.source = in_source;
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_plan as plan, v_parts as parts;
end;
--;
-- calls: _queue_boolean, _queue_check_batch, _queue_check_roles, _queue_fail, _queue_integer, _queue_receipts,
--     _queue_reserve, _queue_text, queue_now
-- changes: queue_stream_part
drop procedure if exists queue_stream_reserve;
--;
create procedure queue_stream_reserve(in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint, in in_part int,
    in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages int, in in_options longtext character set utf8mb4)
    comment 'queue_reserve for one part of a batch. Who asks again for the same part gets the same messages, as far as
they are still held for it, and no others, whatever it wants to take now. So a task that fails is run again, and a batch
is replayed. queue_stream_commit ends the batch.
in_stream: what names the reader, 1 to 200 characters; its first 160 and the batch and the part are the worker.
in_batch: the number of the batch, they only go up.
in_part: the part of it, from 0.
in_kind and in_max_messages: those of queue_reserve.
in_options: those of queue_reserve, and four more.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
- source: what names the read, where a batch has several. Allowed: 1 to 230 characters. Default: the stream and the
  batch, with / between.
- plan: what queue_stream_plan returned for it. The call is refused where the read was planned again since. Allowed: a
  number. Default: none.
- follows: a part that goes on where the one before it was full, and is empty where it wasn''t. Allowed: true, false.
  Default: false.
- adopt: what an earlier run was handed out for another stream or batch is of these from now on. Allowed: true, false.
  Default: false.
Result: that of queue_reserve; where the batch is committed already what it has kept, see queue_stream_commit.
Errors: PQ007 for a kind that is for others. PQ001 for stream, batch, part, kind and max_messages, PQ002 for options,
PQ004 for plan.
Locks: as queue_reserve; the plan, shared; a second call for the same part waits for the first.
Where the idea comes from: the offsets of a log, for a queue that has none.'
begin
    declare v_list longtext character set utf8mb4;
    declare v_source text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_now, v_entry, v_plan, v_newest bigint;
        declare v_number int;
        declare v_sealed, v_follows, v_adopts, v_new, v_done, v_wanted boolean default false;
        declare v_options, v_receipts, v_entries, v_kinds longtext character set utf8mb4;
        declare v_seed varchar(64) character set ascii;
        declare continue handler for not found begin end;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        set v_source = null, v_list = null;
        call _queue_check_batch('stream', in_stream, in_batch);
        if in_part >= 0 is not true then
            call _queue_fail('PQ001', 'part', in_part, 'must be 0 or more');
        end if;
        if json_type(if(json_valid(in_options), in_options, 'null')) = 'OBJECT' then
            call _queue_text(in_options, 'source', v_source);
            call _queue_integer(in_options, 'plan', 1, 9223372036854775807, v_plan);
            call _queue_boolean(in_options, 'follows', v_follows);
            call _queue_boolean(in_options, 'adopt', v_adopts);
            set v_options = json_remove(in_options, '$.source', '$.plan', '$.follows', '$.adopt');
        else
            set v_options = in_options;
        end if;
        set v_source = coalesce(v_source, concat(in_stream, '/', in_batch));
        if char_length(v_source) between 1 and 230 is not true then
            call _queue_fail('PQ002', 'source', v_source, 'must have 1 to 230 characters');
        end if;
        call queue_now(v_now);
        -- what it handed out before, too: a source may have been of another kind then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(s.p_kind) into v_kinds
        from (
            select in_kind as p_kind
            union select k.p_kind from queue_stream_kept k where k.source = v_source and k.part = in_part
            union select q.p_kind
            from queue_stream_part p
                join json_table(p.receipts, '$[*]' columns (receipt varchar(60) character set utf8mb4 path '$')) e
                straight_join delayed_queue q force index (primary)
                    on q.entry = cast(substring_index(e.receipt, '-', 1) as signed)
            where p.source = v_source and p.part = in_part) s;
        call _queue_check_roles(v_kinds);
        set v_list = null;
        -- EXISTS in an IF would lock what it reads, here and below
        select exists (select 1 from queue_stage_done d where d.query = in_stream and d.batch >= in_batch) into v_done;
        if v_plan is not null and not v_done then
            select l.plan, l.sealed into v_newest, v_sealed from queue_stream_plan l
                where l.source = v_source lock in share mode;
            if not v_newest <=> v_plan then
                call _queue_fail('PQ004', 'plan', v_plan,
                    'must be the newest of its source: another run reads it now');
            end if;
            -- what has parts and none that is held was ended for another stream
            select v_sealed and not exists (select 1 from queue_stream_part p where p.source = v_source) into v_done;
        end if;
        if not v_done then
            select not v_sealed and (coalesce(v_follows, false) = false or exists (
                select 1 from queue_stream_part b where b.source = v_source and b.part = in_part - 1
                    and b.handed >= b.wanted)) into v_wanted;
            if v_wanted then
                insert into queue_stream_part (source, part, stream, batch, wanted, begun_at)
                values (v_source, in_part, in_stream, in_batch, coalesce(in_max_messages, 1), v_now)
                on duplicate key update part = queue_stream_part.part;
                select p.receipts is null into v_new from queue_stream_part p -- which is locked by now
                    where p.source = v_source and p.part = in_part;
            end if;
            if v_new then
                call _queue_reserve(in_kind, concat(left(in_stream, 160), '/', in_batch, '/', in_part), in_max_messages,
                    v_options, v_entry, v_entries, v_seed);
                set v_entries = coalesce(v_entries, json_array(v_entry + 0));
                /*M!100600 set statement group_concat_max_len = 1000000000 for */ select coalesce(json_arrayagg(s.receipt), '[]') into v_receipts
                from (
                    select concat(q.entry, '-', lower(hex(q.secret))) as receipt
                    from /*M!100600 (select * from */ json_table(v_entries, '$[*]' columns (place for ordinality, entry bigint path '$')) j /*M!100600 limit 1000000000) j */ straight_join delayed_queue q force index (primary) on q.entry = j.entry order by j.place limit 1000000000) s;
                update queue_stream_part p set p.receipts = v_receipts, p.handed = json_length(v_receipts)
                where p.source = v_source and p.part = in_part;
            else
                if v_adopts then
                    update queue_stream_part p set p.stream = in_stream, p.batch = in_batch
                    where p.source = v_source and p.part = in_part;
                end if;
                -- what somebody else has by now isn't handed out; it stays written down, since an earlier try may have
                -- had it
                select p.receipts into v_receipts from queue_stream_part p
                    where p.source = v_source and p.part = in_part;
            end if;
            call _queue_receipts(coalesce(v_receipts, '[]'), v_list, v_number);
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    if v_list is null then
        select k.p_kind, k.p_key, k.payload, k.payload_bytes, k.headers, k.priority, k.scheduled_at,
            k.scheduled_at_initially, k.created_at, k.reserved_at, k.attempts, k.reserved_by, k.receipt, k.errors
        from queue_stream_kept k where k.source = v_source and k.part = in_part order by k.place;
    else
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            concat(q.entry, '-', lower(hex(q.secret))) as receipt, q.errors
        from /*M!100600 (select * from */ json_table(v_list, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j /*M!100600 limit 1000000000) j */ straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.secret = unhex(j.secret) order by j.place;
    end if;
end;
--;
-- calls: _queue_check_batch, _queue_stream_trim
drop procedure if exists queue_stream_renew;
--;
create procedure queue_stream_renew(in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint)
    comment 'Forgets what a batch has lost, after queue_stream_commit has refused it for that: who then reads it again
gets, and ends, the rest. Whatever was made of the batch before is to be thrown away.
in_stream, in_batch: as in queue_stream_reserve.
Result: lost: how many messages.
Errors: PQ001 for stream and batch.
Locks: the parts in which something was lost.'
begin
    declare v_lost bigint;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_batch('stream', in_stream, in_batch);
        call _queue_stream_trim(null, in_stream, in_batch, v_lost);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_lost as lost;
end;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_seconds, _queue_extend_with_permits, _queue_integer,
--     _queue_lock, _queue_stream_held, queue_now
drop procedure if exists queue_stream_extend;
--;
create procedure queue_stream_extend(in in_source text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_seconds double, in in_options longtext character set utf8mb4)
    comment 'Keeps the holds of a read: queue_extend for every message that it was handed out. With 0 seconds they go to
whoever asks first, the read itself if it is done again before anybody else comes.
in_source: as in queue_stream_reserve. in_seconds: 0 to a year (31536000), from now.
in_options: what else is to be known.
- plan: the number that queue_stream_plan answered. Where the read was planned again since, nothing happens: it is for
  others to keep. Allowed: 1 or more. Default: whichever it is.
Result: extended and lost: how many messages; none of both once the batch is committed.
Errors: PQ001 for source and seconds, PQ002 for options.
Locks: the messages, in the order of their entries.'
begin
    declare v_now, v_until, v_extended, v_plan, v_newest bigint;
    declare v_number int;
    declare v_list, v_slots longtext character set utf8mb4;
    declare v_outcomes longtext character set ascii;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_name(in_source, 230, 'source');
        call _queue_check_seconds(in_seconds);
        set v_until = v_now + cast(round(in_seconds * 1000000) as signed);
        call _queue_check_options(in_options, 'plan', 'options');
        call _queue_integer(in_options, 'plan', 1, 9223372036854775807, v_plan);
        call _queue_stream_held(in_source, null, null, v_list, v_number);
        call _queue_lock(v_list);
        select max(l.plan) into v_newest from queue_stream_plan l where l.source = in_source;
        if not coalesce(v_plan, v_newest) <=> v_newest then
            set v_list = '[]', v_number = 0;
        end if;
        select coalesce(sum(q.semaphores is null), 0) into v_extended
        from json_table(v_list, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.secret = unhex(j.secret) where q.reserved_by is not null for update /*!80000 of q */;
        /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(v_list, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.secret = unhex(j.secret)
        set q.scheduled_at = v_until where q.semaphores is null and q.reserved_by is not null;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(q.entry, r.place)) into v_slots
        from json_table(v_list, '$[*]' columns (place for ordinality, entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]')) r
            straight_join delayed_queue q force index (primary) on q.entry = r.entry and q.secret = unhex(r.secret)
        where q.semaphores is not null for update /*!80000 of q */;
        if v_slots is not null then
            set v_outcomes = repeat('l', v_number);
            call _queue_extend_with_permits(v_slots, in_seconds, v_now, v_outcomes);
            set v_extended = v_extended + char_length(replace(v_outcomes, 'l', ''));
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_extended as extended, v_number - v_extended as lost;
end;
--;
-- calls: _queue_check_batch
drop procedure if exists queue_stream_done;
--;
create procedure queue_stream_done(in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint)
    comment 'Whether a batch is committed already: what a reader asks that is to write its result somewhere else, after
it has read the batch and before it writes. A batch that is replayed after its end has no messages any more, and nothing
is to be written for it.
in_stream, in_batch: as in queue_stream_reserve.
Result: done: true or false.
Errors: PQ001 for stream and batch.
Locks: none.'
begin
    call _queue_check_batch('stream', in_stream, in_batch);
    select exists (select 1 from queue_stage_done d where d.query = in_stream and d.batch >= in_batch) as done;
end;
--;
-- calls: _queue_ack_many, _queue_batch_done, _queue_boolean, _queue_check_batch, _queue_check_options, _queue_fail,
--     _queue_lock, _queue_stage_note, _queue_stage_put, _queue_stream_fail, _queue_stream_held, _queue_text,
--     queue_now
-- changes: queue_stream_kept, queue_stream_part, queue_stream_plan
drop procedure if exists queue_stream_commit;
--;
create procedure queue_stream_commit(in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint, in in_options longtext character set utf8mb4)
    comment 'Ends a batch: it acknowledges what the parts of the batch were handed out. In the same transaction it
publishes what came of it and gives back what failed. What is published under the kind and key of a message of the batch
is put in once that message has ended, as a new message; where it doesn''t end, but goes back for another try, its key
is taken.
in_stream, in_batch: as in queue_stream_reserve.
in_options: what came of the batch.
- parts: what to publish, as in queue_stage_publish. Allowed: an array of {part, messages}. Default: none.
- failed: what of the batch to give back. Allowed: an array of {receipt, and options of queue_nack}. Default: none.
- whole: refuses the batch where any of its messages is no longer held for it; queue_stream_renew forgets those.
  Allowed: true, false. Default: false.
- keep: keeps what the batch had read, so that its replay reads it again, until queue_stream_forget or the end of the
  next batch. Allowed: true, false. Default: false.
- run: what runs the query. Allowed: a text. Default: none.
- job: the write that does the batch, so that a second write isn''t taken for a replay. Allowed: a text. Default: none.
- refused: as in queue_stage_publish. Allowed: 0 or more. Default: 0.
Result: outcome: committed, or replayed where it was committed before, and then nothing happens; acked, failed, lost:
how many messages, where acked counts those too that went on along their route; published: how many were staged; pushed,
differing: how many of these, as in queue_stage_publish.
Errors: PQ001 for stream, batch and parts, PQ002 for options. PQ004 for whole, for parts that aren''t there, and where
another job of the same run has ended the batch. PQ005 for what is no receipt in failed, and for one that is held, but
not for the batch; PQ003 for a payload there. For a message that is published the error of a push, naming its key.
Locks: the row of the stream, then the messages, in the order of their entries, then as queue_stage_publish.
Where the idea comes from: a consumer''s offsets and a producer''s messages in one transaction, as Kafka has it.'
begin
    declare v_new boolean;
    declare v_acked, v_failed, v_lost, v_published, v_pushed, v_differing bigint;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_now bigint;
        declare v_whole, v_keep boolean default false;
        declare v_number int;
        declare v_list, v_receipts, v_rest longtext character set utf8mb4;
        declare v_count, v_more, v_others bigint;
        declare v_run, v_job text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
        declare v_outcomes longtext character set ascii;
        declare c cursor for
            select p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch
                order by p.source, p.part for update;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        set v_new = null, v_acked = null, v_failed = null, v_lost = null, v_published = null, v_pushed = null,
            v_differing = null;
        call _queue_check_batch('stream', in_stream, in_batch);
        call _queue_check_options(in_options, 'parts,failed,whole,keep,run,job,refused', 'options');
        call _queue_boolean(in_options, 'whole', v_whole);
        call _queue_boolean(in_options, 'keep', v_keep);
        call queue_now(v_now);
        call _queue_text(in_options, 'run', v_run);
        call _queue_text(in_options, 'job', v_job);
        call _queue_batch_done(in_stream, in_batch, v_now, v_run, v_job, v_new);
        set v_acked = 0, v_failed = 0, v_lost = 0, v_published = 0, v_pushed = 0, v_differing = 0;
        if v_new then
            call _queue_stream_held(null, in_stream, in_batch, v_list, v_number);
            call _queue_lock(v_list);
            if v_keep then
                -- a read of the same name was done before
                delete k from queue_stream_part p straight_join queue_stream_kept k on k.source = p.source
                where p.stream = in_stream and p.batch = in_batch;
                insert into queue_stream_kept
                select p.source, p.part, r.place, in_stream, in_batch, v_now, q.p_kind, q.p_key, q.payload,
                    q.payload_bytes, q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially, q.created_at,
                    q.reserved_at, q.attempts, q.reserved_by, r.receipt, q.errors
                from queue_stream_part p
                    straight_join json_table(p.receipts, '$[*]' columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r
                    straight_join delayed_queue q force index (primary)
                        on q.entry = cast(left(r.receipt, char_length(r.receipt) - 33) as signed)
                            and q.secret = unhex(right(r.receipt, 32))
                where p.stream = in_stream and p.batch = in_batch;
            end if;
            delete k from queue_stream_kept k where k.stream = in_stream and k.batch + 0 < in_batch;
            if json_contains_path(in_options, 'one', '$.parts') then
                call _queue_stage_put(json_extract(in_options, '$.parts'), v_list, v_now, v_published, v_pushed, v_differing, v_rest);
            end if;
            if json_contains_path(in_options, 'one', '$.failed') then
                call _queue_stream_fail(json_extract(in_options, '$.failed'), in_stream, in_batch, v_now, v_failed);
            end if;
            open c; begin declare v_over boolean default false; each_c: loop
            begin declare continue handler for not found set v_over = true; fetch c into v_receipts; end;
            if v_over then leave each_c; end if;
                call _queue_ack_many(coalesce(v_receipts, '[]'), null, v_outcomes);
                set v_acked = v_acked + char_length(replace(v_outcomes, 'l', ''));
            end loop; end; close c;
            set v_lost = v_number - v_acked - v_failed;
            if v_whole and v_lost > 0 then
                call _queue_fail('PQ004', 'batch', in_batch,
                    concat(v_lost, ' of its messages are no longer held for it'));
            end if;
            if v_rest is not null then -- what has the keys of messages that were there until now
                call _queue_stage_put(v_rest, null, v_now, v_count, v_more, v_others, v_rest);
                set v_pushed = v_pushed + v_more, v_differing = v_differing + v_others;
            end if;
            if json_contains_path(in_options, 'one', '$.parts') then
                call _queue_stage_note(in_stream, in_batch, in_options, v_now, v_published, v_pushed, v_differing);
            end if;
            delete l from queue_stream_part p straight_join queue_stream_plan l on l.source = p.source
            where p.stream = in_stream and p.batch + 0 <= in_batch;
            delete p from queue_stream_part p where p.stream = in_stream and p.batch + 0 <= in_batch;
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select if(v_new, 'committed', 'replayed') as outcome, v_acked as acked, v_failed as failed, v_lost as lost,
        v_published as published, v_pushed as pushed, v_differing as differing;
end;
--;
-- calls: _queue_check_name
-- changes: queue_stream_kept, queue_stream_part, queue_stream_plan
drop procedure if exists queue_stream_forget;
--;
create procedure queue_stream_forget(in in_source text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Forgets a read: what it was handed out, and what queue_stream_commit has kept of it. For whoever reads,
and has noted himself that the batch is done, or has given back what he held: he will not ask for it again. What is
held stays held.
in_source: the read, as in queue_stream_plan, 1 to 230 characters.
Result: forgotten: how many messages were kept.
Errors: PQ001 for source.
Locks: the rows.'
begin
    declare v_forgotten bigint;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_name(in_source, 230, 'source');
        delete k from queue_stream_kept k where k.source = in_source;
        set v_forgotten = row_count();
        delete p from queue_stream_part p where p.source = in_source;
        delete l from queue_stream_plan l where l.source = in_source;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_forgotten as forgotten;
end;
--;
-- calls: _queue_add_error, _queue_bury, _queue_defaults, _queue_end, _queue_permits_note
-- changes: delayed_queue, queue_count
drop procedure if exists _queue_release_worker;
--;
create procedure _queue_release_worker(in in_worker varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_kinds longtext character set utf8mb4, in in_now bigint,
    in in_max int, out out_freed int, out out_done boolean)
    comment 'Frees what a worker that is gone holds.
in_worker: the worker. in_kinds: where it holds messages, a JSON array of kinds; NULL: anywhere. in_now: the time of the
call. in_max: how many messages at the most. out_freed: how many those were. out_done: whether that was all.
Locks: the messages, in the order of their entries; what others have locked is left for the next time.'
begin
    declare v_list, v_more, v_errors, v_semaphores longtext character set utf8mb4;
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_place int default 0;
    declare v_left int default in_max;
    declare v_entry bigint;
    declare v_pending, v_paused boolean;
    declare v_attempts, v_most, v_own, v_defined int;
    declare v_none decimal(30,6);
    declare v_error longtext character set utf8mb4 default concat('worker ', in_worker, ' is gone');
    declare c cursor for -- dead letters are put in in the order of their keys, as everywhere
        select q.entry from json_table(v_list, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry order by q.p_key, q.p_kind;
    if in_kinds is null then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(h.entry) into v_list
        from (select q.entry from delayed_queue q where q.reserved_by = in_worker
            and q.scheduled_at > in_now limit in_max) h;
    end if;
    while v_place < json_length(in_kinds) and v_left > 0 do
        set v_kind = json_unquote(json_extract(in_kinds, concat('$[', v_place, ']'))), v_place = v_place + 1;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(h.entry) into v_more
        from (
            select q.entry from delayed_queue q force index (delayed_queue_ready)
            where q.ready_kind = v_kind and q.reserved_by = in_worker and q.scheduled_at > in_now limit v_left) h;
        set v_list = if(v_list is null, v_more, json_merge_preserve(v_list, coalesce(v_more, '[]')));
        set v_left = in_max - coalesce(json_length(v_list), 0);
    end while;
    select count(distinct j.entry) into v_left
    from json_table(coalesce(v_list, '[]'), '$[*]' columns (entry bigint path '$')) j;
    -- what was read may have changed since
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(l.entry), count(*) into v_list, out_freed
    from (
        select q.entry
        from (select distinct j.entry from json_table(coalesce(v_list, '[]'), '$[*]' columns (entry bigint path '$')) j) d
            straight_join delayed_queue q force index (primary) on q.entry = d.entry
        where q.reserved_by = in_worker and q.scheduled_at > in_now
        order by d.entry limit 1000000000 for update /*!80000 of q */ skip locked) l;
    set out_done = v_left < in_max and out_freed = v_left;
    if out_freed > 0 then
        insert into queue_count (id, p_kind, expired)
        select uuid_short(), q.p_kind, count(*)
        from json_table(v_list, '$[*]' columns (entry bigint path '$')) j straight_join delayed_queue q force index (primary) on q.entry = j.entry
        group by q.p_kind;
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_entry; end;
        if v_over then leave each_c; end if;
            select q.p_kind, q.attempts, q.max_attempts, q.pending, q.errors, q.semaphores
            into v_kind, v_attempts, v_own, v_pending, v_errors, v_semaphores
            from delayed_queue q where q.entry = v_entry for update;
            select min(k.max_attempts), max(k.paused), count(*) into v_most, v_paused, v_defined
            from queue_kind k where k.p_kind = v_kind;
            if v_defined = 0 then
                call _queue_defaults(v_none, v_most, v_none, v_none, v_none, v_none);
            end if;
            if v_attempts >= coalesce(v_own, v_most) and v_paused is not true then
                call _queue_bury(v_entry, v_error, in_now);
            elseif v_pending is not null then
                call _queue_end(v_entry, null, null, in_now);
            else
                call _queue_add_error(v_errors, in_now, v_attempts, in_worker, v_error, v_errors);
                -- to the end of the line, as _queue_nack: where sessions keep a cursor, its old place is seen by few
                update delayed_queue q
                set q.scheduled_at = in_now, q.ready_rank = -q.priority, q.ready_at = in_now, q.due_at = null,
                    q.reserved_at = null, q.reserved_by = null, q.secret = null, q.errors = v_errors
                where q.entry = v_entry;
                call _queue_permits_note(v_entry, v_semaphores);
            end if;
        end loop; end; close c;
    end if;
end;
--;
drop procedure if exists _queue_server_run;
--;
create procedure _queue_server_run(out out_run bigint)
    comment 'Names the run of the server: another one after a start, after a failover, and at another node of a cluster.
out_run: a number, never 0: its id and when it started, with which UUID_SHORT() begins. That counts on in the bits
behind, so that the name changes once in 16 million of its numbers, too. Two starts in one second have the same.
differs: the result is out_run.'
begin
    set out_run = 1 + (uuid_short() >> 24);
end;
--;
-- calls: _queue_release_worker, _queue_server_run
-- changes: queue_worker
drop procedure if exists _queue_reap;
--;
create procedure _queue_reap(in in_now bigint, in in_max int, in in_spared varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */,
    out out_reaped longtext character set utf8mb4)
    comment 'queue_reap without its transaction. Nobody is presumed dead because the server was away: whose last
heartbeat is of another run of it, another node''s included, and who would be dead by that, or was alive by a session
there, is judged by its heartbeat from now on, with all of its timeout; once, until it beats again. So is one whose
heartbeat is of the future, since the clock was set back. Who loses a session has reconnect_seconds for that.
in_now: the time of the call. in_max: how many messages at the most. in_spared: a worker that is there; NULL: nobody
knows of one. out_reaped: a JSON array of arrays: the worker, and how many of its messages were freed.
Locks: the rows of the workers, which others may be reaping: those are passed over; the messages.'
begin
    declare v_left int default in_max;
    declare v_freed int;
    declare v_run bigint;
    declare v_done boolean;
    declare v_kinds, v_away longtext character set utf8mb4;
    declare v_next, v_worker varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_last varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default '';
    declare continue handler for not found begin end;
    set out_reaped = '[]';
    call _queue_server_run(v_run);
    -- who was there before the server was away, or its clock was set back, has its timeout to come back; who lost a
    -- session, reconnect_seconds
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(o.worker) into v_away
    from (
        select w.worker from queue_worker w
        where w.server_run not in (0, v_run)
            and (w.session_lock is not null or w.heartbeat_at + w.timeout_seconds * 1000000 <= in_now)
            or w.session_lock is null and w.heartbeat_at > in_now
            or if(w.reconnect_seconds > 0 and w.session_lock is not null, not if(w.session_lock is null, abs(in_now - w.heartbeat_at) < w.timeout_seconds * 1000000, is_used_lock(w.session_lock) <=> w.session_id), false)
        for update skip locked) o;
    if v_away is not null then
        /*M!100600 set statement sql_safe_updates = 0 for */ update json_table(v_away, '$[*]' columns (worker varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j
            straight_join queue_worker w force index (primary) on w.worker = j.worker
        set w.heartbeat_at = in_now
            - if(w.session_lock is not null and w.server_run in (0, v_run),
                greatest(w.timeout_seconds - w.reconnect_seconds, 0) * 1000000, 0),
            w.server_run = 0, w.session_lock = null, w.session_id = null;
    end if;
    workers: loop
        set v_next = null, v_worker = null, v_kinds = null;
        select w.worker into v_next from queue_worker w
        where w.worker > v_last and not w.worker <=> in_spared and w.server_run in (0, v_run)
            and not if(w.session_lock is null, abs(in_now - w.heartbeat_at) < w.timeout_seconds * 1000000, is_used_lock(w.session_lock) <=> w.session_id)
        order by w.worker limit 1;
        if v_next is null or v_left <= 0 then
            leave workers;
        end if;
        -- by now it may be back, or another may have freed what it held
        select w.worker, w.kinds into v_worker, v_kinds from queue_worker w
        where w.worker = v_next and w.server_run in (0, v_run) and not if(w.session_lock is null, abs(in_now - w.heartbeat_at) < w.timeout_seconds * 1000000, is_used_lock(w.session_lock) <=> w.session_id)
        for update skip locked;
        if v_worker is not null then
            call _queue_release_worker(v_worker, v_kinds, in_now, v_left, v_freed, v_done);
            set v_left = v_left - v_freed;
            if v_done then
                delete w from queue_worker w where w.worker = v_worker;
            end if;
            if v_done or v_freed > 0 then
                set out_reaped = json_array_append(out_reaped, '$', json_array(v_worker, v_freed + 0));
            end if;
        end if;
        set v_last = v_next;
    end loop;
end;
--;
-- calls: _queue_boolean, _queue_check_headers, _queue_check_kinds, _queue_check_name, _queue_check_options,
--     _queue_groups_due, _queue_number, _queue_server_run, queue_now
-- changes: queue_worker
drop procedure if exists queue_heartbeat;
--;
create procedure queue_heartbeat(in in_worker text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4)
    comment 'Registers a worker, or says that it is still there. What a registered worker holds is freed as soon as it
is known to be dead, see queue_reap. A worker that never registered is left to the timeouts of its messages.
in_worker: the name that it reserves with, 1 to 200 characters. Each process needs a name of its own, for its whole
life, so that what a dead process held isn''t taken for what the next one holds.
in_options: what isn''t given stays as it is, but for session, which is to be given in each call; null brings the
default back.
- timeout_seconds: the worker is dead when it was silent for so long. Allowed: 1 to 86400 (a day). Default: 30.
- kinds: where it holds messages, so that not all have to be looked through. Allowed: an array of 1 to 100 kinds.
  Default: null (any kind).
- info: what people should see of it. Allowed: an object of strings, numbers, booleans and nulls. Default: none.
- session: the worker is alive as long as this session is, silent or not. For a session of its own, behind no pooler
  that shares sessions. Allowed: true, false. Default: false.
- reconnect_seconds: how long it has to come back once that session has ended. Allowed: 0 to 86400. Default: 0.
- stop: the worker leaves in good order. What it holds is left to the timeouts. Allowed: true, false. Default: false.
- upkeep: whether it may be one that "reaps". Allowed: true, false. Default: true.
Result: worker; alive: false once it has left; started_at, heartbeat_at and expires_at, microseconds, the last NULL
where it is alive by its session or has left; reaps: whether it is one of the two that should call queue_reap every
second, and queue_tick and queue_prune now and then. They are the two living ones with upkeep that registered first:
two, because one of them may be the one that dies.
Errors: PQ001 for worker and kinds, PQ002 for options, PQ003 for info.
Locks: the worker. With session also a lock of the session, which has one until it ends: the sign that its workers are
gone.
Where the idea comes from: the workers of Chapman, which have an identity.
differs: the lock of the session is a named one, which RELEASE_ALL_LOCKS() gives up. Other nodes of a cluster that is
written to at several don''t see it, so there session says nothing and the worker is alive by its heartbeat: expires_at
says until when.'
begin
    declare v_alive, v_reaps boolean;
    declare v_now, v_started, v_expires bigint;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_looked, v_run bigint;
        declare v_timeout, v_reconnect decimal(30,6);
        declare v_kinds, v_info longtext character set utf8mb4;
        declare v_session, v_stop, v_upkeep boolean;
        declare v_others int;
        declare v_lock varchar(64) character set utf8mb4 default concat('pyqueue.worker.',
            left(sha2(concat(connection_id(), '.', database()), 256), 40));
        declare continue handler for not found begin end;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        set v_alive = null, v_started = null, v_expires = null, v_reaps = null;
        call _queue_check_name(in_worker, 200, 'worker');
        call _queue_check_options(in_options, 'timeout_seconds,kinds,info,session,reconnect_seconds,stop,upkeep',
            'options');
        call _queue_number(in_options, 'timeout_seconds', 1, 86400, v_timeout);
        call _queue_number(in_options, 'reconnect_seconds', 0, 86400, v_reconnect);
        if json_type(json_extract(in_options, '$.kinds')) <> 'NULL' then
            call _queue_check_kinds(json_extract(in_options, '$.kinds'), v_kinds);
        end if;
        call _queue_check_headers(json_extract(in_options, '$.info'), 'info', v_info);
        call _queue_boolean(in_options, 'session', v_session);
        call _queue_boolean(in_options, 'stop', v_stop);
        call _queue_groups_due(v_now, v_looked);
        call _queue_boolean(in_options, 'upkeep', v_upkeep);
        call _queue_server_run(v_run);
        select if(w.server_run in (0, v_run) and not if(w.session_lock is null, abs(v_now - w.heartbeat_at) < w.timeout_seconds * 1000000, is_used_lock(w.session_lock) <=> w.session_id), null, w.started_at)
        into v_started from queue_worker w where w.worker = in_worker for update;
        set v_alive = not coalesce(v_stop, false), v_reaps = false, v_started = coalesce(v_started, v_now);
        if v_alive and v_session then
            -- a lock that the other nodes can't see would be no sign of life; it takes two milliseconds to find out
            /*M!100600 select count(*) into v_others from information_schema.global_variables v
            where v.variable_name = 'WSREP_ON' and v.variable_value = 'ON'; */
            /*!80017 select count(*) into v_others from performance_schema.global_variables v
            where v.variable_name = 'group_replication_single_primary_mode' and v.variable_value = 'OFF'; */
        end if;
        if v_others = 0 then
            -- kept until the session ends: no rollback would bring back what a call gave up
            if coalesce(is_used_lock(v_lock), 0) <> connection_id() then -- it would be counted
                do get_lock(v_lock, 0);
            end if;
        else
            set v_lock = null;
        end if;
        if v_alive then
            set v_timeout = coalesce(v_timeout, 30), v_reconnect = coalesce(v_reconnect, 0),
                v_upkeep = coalesce(v_upkeep, true);
            insert into queue_worker (worker, kinds, info, started_at, heartbeat_at, timeout_seconds, session_lock,
                session_id, reconnect_seconds, upkeep, server_run)
            values (in_worker, v_kinds, v_info, v_started, v_now, v_timeout, v_lock,
                if(v_lock is null, null, connection_id()), v_reconnect, v_upkeep, v_run)
            on duplicate key update kinds = if(json_contains_path(in_options, 'one', '$.kinds'), v_kinds, kinds),
                info = if(json_contains_path(in_options, 'one', '$.info'), v_info, info),
                timeout_seconds = if(json_contains_path(in_options, 'one', '$.timeout_seconds'), v_timeout, timeout_seconds),
                reconnect_seconds = if(json_contains_path(in_options, 'one', '$.reconnect_seconds'), v_reconnect, reconnect_seconds),
                upkeep = if(json_contains_path(in_options, 'one', '$.upkeep'), v_upkeep, upkeep), started_at = v_started, heartbeat_at = v_now,
                session_lock = v_lock, session_id = if(v_lock is null, null, connection_id()), server_run = v_run;
            select if(v_lock is null, v_now + w.timeout_seconds * 1000000, null), w.upkeep and not exists (
                select 1 from queue_worker o
                where o.upkeep and (o.started_at < v_started or o.started_at = v_started and o.worker < in_worker)
                    and if(o.session_lock is null, abs(v_now - o.heartbeat_at) < o.timeout_seconds * 1000000, is_used_lock(o.session_lock) <=> o.session_id) limit 1 offset 1)
            into v_expires, v_reaps from queue_worker w where w.worker = in_worker;
        else
            delete w from queue_worker w where w.worker = in_worker;
        end if;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select in_worker as worker, v_alive as alive, v_started as started_at, v_now as heartbeat_at,
        v_expires as expires_at, v_reaps as reaps;
end;
--;
-- calls: _queue_groups_due, _queue_members_settle, _queue_permits_sweep, _queue_reap, queue_now
drop procedure if exists queue_reap;
--;
create procedure queue_reap()
    comment 'Frees at once what dead workers hold. A registered worker is dead if its session has ended, or if its
heartbeat is too old. One reserve or pop in twenty does the same by the way, once its session has been there for as long
as the worker''s timeout.
Result: a row for each worker that was found dead: worker, and freed, how many messages it held. One call frees at most
1000 together, so it may have to be made again. Nor are messages freed that others have locked; the next call sees to
these. A worker that holds nothing more is forgotten; if it comes back, its heartbeat registers it anew. A freed
message can be taken from now on. It stands last among those of its priority. The delivery counts as an attempt, as one
that expires does, and is counted as expired. An error says that the worker is gone. If it was the last delivery that
the message may have, the message becomes a dead letter, in a paused kind not before it goes on. The receipt is lost
from now on, though nobody else has got the message yet: the message will be delivered, and an ack now would have it
done twice. Holds that have expired are free already and stay as they are. Permits of semaphores whose holds have ended
or expired are given to who waits for them.
Errors: none.
Locks: the dead workers, and the messages in the order of their entries. What others have locked is left out, so two
calls free once. Semaphores.
Where the idea comes from: the workers of Chapman, which have an identity.'
begin
    declare v_now, v_looked bigint;
    declare v_reaped longtext character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_groups_due(v_now, v_looked);
        call _queue_reap(v_now, 1000, null, v_reaped);
        if @pyqueue_members is not null then
            call _queue_members_settle();
        end if;
        call _queue_permits_sweep(v_now);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select r.worker, r.freed
    from /*M!100600 (select * from */ json_table(v_reaped, '$[*]' columns (place for ordinality, worker varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', freed bigint path '$[1]')) r /*M!100600 limit 1000000000) r */
    order by r.place;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_check_roles;
--;
create procedure _queue_check_roles(in in_kinds longtext character set utf8mb4)
    comment 'Refuses a session that may not use a kind, see the option roles of queue_define. The owner of the queue may
use all.
in_kinds: a JSON array of the kinds; NULL or one that nobody has restricted: anybody may.
Errors: PQ007 for the first kind that isn''t for the login of the session.
differs: the login is the name in user(), which the session can''t change; a routine that runs as its owner can''t ask
for the roles of its caller.'
begin
    declare v_user varchar(300) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default left(user(), char_length(user()) - locate('@', reverse(user())));
    declare v_owner varchar(300) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
        default left(current_user(), char_length(current_user()) - locate('@', reverse(current_user())));
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_roles longtext character set utf8mb4;
    declare continue handler for not found begin end;
    if v_user <> v_owner then
        select k.p_kind, k.roles into v_kind, v_roles
        from json_table(in_kinds, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j straight_join queue_kind k on k.p_kind = j.p_kind
        where k.roles is not null and not json_contains(k.roles, json_quote(v_user))
        order by k.p_kind limit 1;
    end if;
    if v_kind is not null then
        call _queue_fail('PQ007', 'kind', v_kind,
            concat('is for ', left(v_roles, 300), ', not for ', left(v_user, 80)));
    end if;
end;
--;
-- calls: _queue_fail
drop procedure if exists _queue_check_shape;
--;
create procedure _queue_check_shape(in in_shape longtext character set utf8mb4, out out_shape longtext character set utf8mb4)
    comment 'Refuses what can''t be a payload_shape.
in_shape: the option.
Result: the shape, NULL for none.
Errors: PQ002.'
begin
    declare v_wrong int default 0;
    declare v_type varchar(20) character set utf8mb4 default json_type(in_shape);
    set out_shape = null;
    if v_type = 'OBJECT' then
        select count(*) into v_wrong
            from json_table(in_shape, '$.*' columns (type varchar(20) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$', value json path '$')) r
        where (json_type(r.value) = 'STRING'
            and r.type in ('string', 'number', 'integer', 'boolean', 'object', 'array')) is not true;
        set out_shape = in_shape;
    end if;
    if v_wrong > 0 or v_type not in ('OBJECT', 'NULL') then
        call _queue_fail('PQ002', 'payload_shape', in_shape,
            'must be an object of fields and their types: string, number, integer, boolean, object, array');
    end if;
end;
--;
drop procedure if exists _queue_defaults;
--;
create procedure _queue_defaults(out out_timeout_seconds decimal(20,6), out out_max_attempts int,
    out out_backoff_seconds decimal(30,6), out out_backoff_factor decimal(30,6),
    out out_backoff_max_seconds decimal(30,6), out out_jitter decimal(30,6))
    comment 'The settings of a kind that nobody defined; those of the columns of queue_kind are the same.
out_timeout_seconds, out_max_attempts, out_backoff_seconds, out_backoff_factor, out_backoff_max_seconds, out_jitter: the
settings; all others are off.
differs: PostgreSQL answers a row of queue_kind.'
begin
    set out_timeout_seconds = 300, out_max_attempts = 25, out_backoff_seconds = 1, out_backoff_factor = 2,
        out_backoff_max_seconds = 3600, out_jitter = 0.2;
end;
--;
-- calls: _queue_check_name, _queue_check_roles
-- changes: queue_kind
drop procedure if exists _queue_set_state;
--;
create procedure _queue_set_state(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_state varchar(10) character set utf8mb4, out out_changed boolean)
    comment 'Pauses a kind, drains it, or ends both.
in_kind: the kind. in_state: paused, draining; NULL: neither.
Result: whether that changed anything.
Errors: PQ001 for kind.
Locks: the settings of the kind.
differs: the result is a parameter, out_changed.'
begin
    declare v_paused, v_draining boolean;
    declare continue handler for not found begin end;
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    insert into queue_kind (p_kind) values ('') on duplicate key update p_kind = ''; -- as queue_define
    if in_state is not null then
        insert into queue_kind (p_kind) values (in_kind) on duplicate key update p_kind = in_kind;
    end if;
    select k.paused, k.draining into v_paused, v_draining from queue_kind k where k.p_kind = in_kind for update;
    set out_changed = coalesce(case in_state when 'paused' then not v_paused when 'draining' then not v_draining
        else v_paused or v_draining end, false);
    if out_changed then
        update queue_kind k
        set k.paused = in_state is not null and (v_paused or in_state = 'paused'),
            k.draining = in_state is not null and (v_draining or in_state = 'draining')
        where k.p_kind = in_kind;
    end if;
end;
--;
-- changes: queue_use
drop procedure if exists _queue_use;
--;
create procedure _queue_use(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_expires decimal(20,6), in in_now bigint)
    comment 'Notes that a kind with expires_seconds is used, once in a quarter of that time, and removes notes that are
past it.
in_kind: the kind. in_expires: its expires_seconds. in_now: the time of the call.
Locks: none that anybody waits for.'
begin
    declare v_used bigint;
    select max(u.used_at) into v_used from queue_use u where u.p_kind = in_kind;
    if coalesce(v_used <= in_now - in_expires * 250000, true) then
        insert into queue_use (id, p_kind, used_at) values (uuid_short(), in_kind, in_now);
        begin declare v_unlocked longtext character set utf8mb4;
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(unlocked.id) into v_unlocked
            from (select u.id from queue_use u force index (queue_use_newest)
                where u.p_kind = in_kind and u.used_at <= in_now - in_expires * 1000000 order by u.used_at limit 100
            for update /*!80000 of u */ skip locked) unlocked;
            if v_unlocked is not null then
                /*M!100600 set statement sql_safe_updates = 0 for */ delete u from json_table(v_unlocked, '$[*]' columns (id bigint unsigned path '$')) unlocked
                    straight_join queue_use u force index (primary) on u.id = unlocked.id;
            end if;
        end;
    end if;
end;
--;
-- calls: _queue_end
-- changes: queue_bucket, queue_kind, queue_slot, queue_subscription, queue_use
drop procedure if exists _queue_expire;
--;
create procedure _queue_expire(in in_now bigint, in in_max bigint, out out_gone bigint)
    comment 'Removes kinds that are unused for longer than their expires_seconds: their messages, then their
subscriptions and settings. One that is the dead_letter_kind of another stays.
in_now: the time of the call. in_max: how many messages at the most; a kind that has more goes in several calls.
Result: how many rows went.
Locks: the settings of these kinds, and their messages in the order of their entries; what others have locked is left.
differs: the result is out_gone.'
begin
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_since, v_used, v_left, v_entry bigint;
    declare v_entries longtext character set utf8mb4;
    declare c cursor for
        select k.p_kind, in_now - k.expires_seconds * 1000000 from queue_kind k
        where k.expires_seconds is not null
            and (
                select u.id from queue_use u where u.p_kind = k.p_kind
                    and u.used_at > in_now - k.expires_seconds * 1000000 limit 1) is null
            and (select o.p_kind from queue_kind o where o.dead_letter_kind = k.p_kind limit 1) is null
        order by k.p_kind;
    declare m cursor for
        select j.entry from /*M!100600 (select * from */ json_table(v_entries, '$[*]' columns (entry bigint path '$')) j /*M!100600 limit 1000000000) j */ order by j.entry;
    declare continue handler for not found begin end;
    set out_gone = 0;
    open c; begin declare v_over boolean default false; kinds: loop
    begin declare continue handler for not found set v_over = true; fetch c into v_kind, v_since; end;
    if v_over then leave kinds; end if;
        if out_gone >= in_max then
            leave kinds;
        end if;
        set v_left = null, v_used = null;
        select k.expires_seconds into v_left from queue_kind k where k.p_kind = v_kind for update skip locked;
        if v_left is null then
            iterate kinds;
        end if;
        delete u from queue_use u where u.p_kind = v_kind;
        select max(if(q.reserved_at is not null and q.scheduled_at > in_now, in_now,
            greatest(q.created_at, coalesce(q.reserved_at, 0))))
        into v_used from delayed_queue q force index (delayed_queue_key) where q.p_kind = v_kind;
        if v_used > v_since then
            insert into queue_use (id, p_kind, used_at) values (uuid_short(), v_kind, v_used);
            iterate kinds;
        end if;
        set v_left = in_max - out_gone, v_entries = null;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(o.entry) into v_entries
        from (
            select q.entry from delayed_queue q force index (delayed_queue_key)
            where q.p_kind = v_kind and greatest(q.created_at, coalesce(q.reserved_at, 0)) <= v_since
                and (q.reserved_at is null or q.scheduled_at <= in_now)
            order by q.entry limit v_left for update skip locked) o;
        if v_entries is not null then
            open m; begin declare v_over boolean default false; each_m: loop
            begin declare continue handler for not found set v_over = true; fetch m into v_entry; end;
            if v_over then leave each_m; end if;
                call _queue_end(v_entry, 'dropped', null, in_now);
            end loop; end; close m;
            set out_gone = out_gone + json_length(v_entries);
        end if;
        set v_used = null;
        select min(q.entry) into v_used from delayed_queue q force index (delayed_queue_key) where q.p_kind = v_kind;
        if v_used is null then
            delete s from queue_subscription s where s.p_kind = v_kind;
            delete l from queue_slot l where l.p_kind = v_kind;
            delete b from queue_bucket b where b.p_kind = v_kind;
            delete k from queue_kind k where k.p_kind = v_kind;
            set out_gone = out_gone + 1;
        end if;
    end loop; end; close c;
end;
--;
-- calls: _queue_set_state
drop procedure if exists queue_drain;
--;
create procedure queue_drain(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Drains a kind: it takes nothing in any more, and what is there is finished. Each push is refused, whatever
its way. A move into the kind is refused, too, and its message stays with who holds it. A redrive leaves dead letters of
the kind where they are, and a schedule waits. Reserve, pop, ack, nack, extend and moves out of it go on. What is held
can be finished or given back. What waits for its time is delivered then. What dies elsewhere still finds its
dead-letter kind. The kind is empty where its total in queue_stats is 0; queue_resume ends the draining.
in_kind: the kind.
Result: changed: false where it was drained already.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind. What was pushed by a transaction that is still open comes in all the same.
Where the idea comes from: the drain of Keuss.'
begin
    declare v_changed boolean;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_set_state(in_kind, 'draining', v_changed);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_changed as changed;
end;
--;
-- calls: _queue_check_dead_letter_kind, _queue_check_name, _queue_check_options, _queue_check_roles,
--     _queue_check_shape, _queue_define_filter, _queue_define_limits, _queue_expire, _queue_fail, _queue_integer,
--     _queue_number, _queue_text, queue_now
-- changes: queue_kind, queue_log_epoch, queue_use
drop procedure if exists queue_define;
--;
create procedure queue_define(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4)
    comment 'Sets how a kind behaves. A kind that nobody has defined works with the defaults.
in_kind: the kind, 1 to 100 characters.
in_options: an option that isn''t given stays as it is. An option that is null goes back to its default; max_attempts
becomes null, for ever.
- timeout_seconds: how long a hold lasts. Allowed: 0.001 to 31536000 (a year). Default: 300.
- max_attempts: how many deliveries a message may have. After the last one it becomes a dead letter. Allowed: 1 to
  1000000000, null for any number. Default: 25.
- backoff_seconds: how long a message waits after its first failure, see queue_nack. Allowed: 0 to 31536000 (a year).
  Default: 1.
- backoff_factor: by how much the wait grows with each failure. Allowed: 1 to 100. Default: 2.
- backoff_max_seconds: the longest wait after a failure. Allowed: 0 to 31536000 (a year). Default: 3600.
- jitter: which share of the wait is taken off at random, at most. Allowed: 0 to 1. Default: 0.2.
- dead_letter_kind: where dead letters go. A circle of kinds is refused. Allowed: a kind, 1 to 100 characters.
  Default: <kind>.dead.
- dedup_seconds: for how long a push still ignores the key of a message that was acked, popped or moved away. Allowed:
  0 to 315360000 (10 years). Default: 0.
- history_seconds: for how long a message that has ended stays in queue_history. Allowed: 0 to 315360000 (10 years).
  Default: 0.
- payload_shape: the fields that a payload must have, and their types. Allowed: an object of names and types, which
  are string, number, integer, boolean, object and array. Default: null.
- expires_seconds: how long the kind may be unused. After that it goes, with its settings, subscriptions and messages,
  at the next queue_prune or the next queue_define of such a kind. Who defines a kind, takes from it or asks whether
  there is something uses it, even in vain (queue_reserve, queue_pop, queue_wait, queue_listen, queue_stream_ready; it
  is noted every quarter of that time). So does each message that comes in or is delivered. While messages are held,
  the kind stays. Allowed: 1 to 315360000 (10 years). Default: null (never).
- max_reserved: how many messages of the kind are held at once, by all consumers together. At the limit a reserve
  returns fewer messages or none. What is being reserved while the first limit is set isn''t counted. Below a lowered
  limit nothing is reserved until less is held. An expired hold gives up its place to the reserve that wants it, and
  then can''t be extended. Allowed: 1 to 10000. Default: null (any number).
- rate_per_second: how many messages queue_reserve and queue_pop deliver in a second, together and with repeated
  deliveries. What isn''t used is saved for a second (one message at the least), and may come at once. Allowed: 0.001
  to 1000000. Default: null (any rate).
- filter_index: keeps an index for the option where of queue_reserve. Each push then writes one row more for each
  value. Turning it on indexes the messages of the kind, some hundred a second or more. A message that another
  transaction has pushed by then and not committed is indexed by the next queue_define with this option. Allowed:
  true, false. Default: false.
- log_seconds: for how long the log keeps what comes in and what ends, see queue_read. Allowed: 0 to 315360000 (10
  years). Default: 0.
- roles: who may use the kind: put messages in, also by a topic, a route, a move, a group or a schedule, take them, look
  at them, and change the kind. A login may that is one of them or, on PostgreSQL, a member of one. The owner of the
  queue always may. Dead letters are for the same ones. Allowed: an array of 1 to 32 names of roles, on MariaDB and
  MySQL of accounts, without a host. Default: null (all).
A time in seconds counts as it is set when it is looked at. So a change also concerns what has ended already.
Result: the settings.
Errors: PQ001 for kind, PQ002 for options, PQ004 for a circle, PQ007 for who may not use the kind.
Locks: other definitions wait until the transaction ends. With filter_index so does who changes a message that is put
into the index; nothing else waits. A limit that changes waits for reserves of the kind that are under way.'
begin
    declare v_max_attempts, v_now, v_gone bigint;
    declare v_there int;
    declare v_timeout, v_backoff, v_factor, v_longest, v_jitter, v_dedup, v_history, v_expires, v_log decimal(30,6);
    declare v_dead_letter_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_shape, v_roles, v_before longtext character set utf8mb4;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        call _queue_check_options(in_options, concat('timeout_seconds,max_attempts,backoff_seconds,backoff_factor,',
            'backoff_max_seconds,jitter,dead_letter_kind,dedup_seconds,history_seconds,payload_shape,expires_seconds,',
            'max_reserved,rate_per_second,filter_index,log_seconds,roles'), 'options');
        -- two that define at once could close a circle of dead letters. The row, which is no kind, stays: where one
        -- that is waited for goes away, InnoDB lets those who wait deadlock
        insert into queue_kind (p_kind) values ('') on duplicate key update p_kind = '';
        call queue_now(v_now);
        call _queue_number(in_options, 'timeout_seconds', 0.001, 31536000, v_timeout);
        call _queue_integer(in_options, 'max_attempts', 1, 1000000000, v_max_attempts);
        call _queue_number(in_options, 'dedup_seconds', 0, 315360000, v_dedup);
        call _queue_number(in_options, 'history_seconds', 0, 315360000, v_history);
        call _queue_number(in_options, 'backoff_seconds', 0, 31536000, v_backoff);
        call _queue_number(in_options, 'backoff_factor', 1, 100, v_factor);
        call _queue_number(in_options, 'backoff_max_seconds', 0, 31536000, v_longest);
        call _queue_number(in_options, 'jitter', 0, 1, v_jitter);
        call _queue_number(in_options, 'expires_seconds', 1, 315360000, v_expires);
        call _queue_number(in_options, 'log_seconds', 0, 315360000, v_log);
        call _queue_check_shape(json_extract(in_options, '$.payload_shape'), v_shape);
        set v_roles = json_extract(in_options, '$.roles');
        if json_type(v_roles) <> 'NULL' then
            begin
                declare exit handler for 1142, 1143
                    call _queue_fail('PQ002', 'roles', v_roles,
                        'needs that the owner of the queue may read mysql.user');
                if json_type(v_roles) <> 'ARRAY' or json_length(v_roles) not between 1 and 32 or exists (
                    select 1 from json_table(v_roles, '$[*]' columns (name json path '$')) n
                    where json_type(n.name) <> 'STRING' or char_length(json_unquote(n.name)) not between 1 and 80)
                        then
                    call _queue_fail('PQ002', 'roles', v_roles, 'must be an array of 1 to 32 names of accounts');
                elseif exists (select 1 from mysql.user u where u.user = '') then
                    call _queue_fail('PQ002', 'roles', v_roles,
                        'refused while the server has an account without a name');
                end if;
            end;
        end if;
        call _queue_text(in_options, 'dead_letter_kind', v_dead_letter_kind);
        if json_contains_path(in_options, 'one', '$.dead_letter_kind') then
            call _queue_check_dead_letter_kind(in_kind, v_dead_letter_kind);
            call _queue_check_roles(json_array(v_dead_letter_kind));
        end if;
        insert into queue_kind (p_kind) values (in_kind) on duplicate key update p_kind = in_kind;
        select k.roles into v_before from queue_kind k where k.p_kind = in_kind;
        update queue_kind k
        set k.timeout_seconds = if(json_contains_path(in_options, 'one', '$.timeout_seconds'), coalesce(v_timeout, default(k.timeout_seconds)),
                k.timeout_seconds),
            k.max_attempts = if(json_contains_path(in_options, 'one', '$.max_attempts'), v_max_attempts, k.max_attempts),
            k.dead_letter_kind = if(json_contains_path(in_options, 'one', '$.dead_letter_kind'), v_dead_letter_kind, k.dead_letter_kind),
            k.dedup_seconds = if(json_contains_path(in_options, 'one', '$.dedup_seconds'), coalesce(v_dedup, default(k.dedup_seconds)),
                k.dedup_seconds),
            k.history_seconds = if(json_contains_path(in_options, 'one', '$.history_seconds'), coalesce(v_history, default(k.history_seconds)),
                k.history_seconds),
            k.payload_shape = if(json_contains_path(in_options, 'one', '$.payload_shape'), v_shape, k.payload_shape),
            k.backoff_seconds = if(json_contains_path(in_options, 'one', '$.backoff_seconds'), coalesce(v_backoff, default(k.backoff_seconds)),
                k.backoff_seconds),
            k.backoff_factor = if(json_contains_path(in_options, 'one', '$.backoff_factor'), coalesce(v_factor, default(k.backoff_factor)),
                k.backoff_factor),
            k.backoff_max_seconds = if(json_contains_path(in_options, 'one', '$.backoff_max_seconds'),
                coalesce(v_longest, default(k.backoff_max_seconds)), k.backoff_max_seconds),
            k.jitter = if(json_contains_path(in_options, 'one', '$.jitter'), coalesce(v_jitter, default(k.jitter)), k.jitter),
            k.expires_seconds = if(json_contains_path(in_options, 'one', '$.expires_seconds'), v_expires, k.expires_seconds),
            k.log_seconds = if(json_contains_path(in_options, 'one', '$.log_seconds'), coalesce(v_log, 0), k.log_seconds),
            k.roles = if(json_contains_path(in_options, 'one', '$.roles'), nullif(v_roles, 'null'), k.roles)
        where k.p_kind = in_kind;
        insert into queue_kind (p_kind, roles)
        select coalesce(k.dead_letter_kind, concat(left(k.p_kind, 95), '.dead')), k.roles from queue_kind k
        where k.p_kind = in_kind and k.roles is not null
        on duplicate key update roles = if(queue_kind.roles is null
            or cast(queue_kind.roles as char) <=> v_before, k.roles, queue_kind.roles);
        select count(*) into v_there from queue_log_epoch e where e.floor = 0 and e.id = 0;
        if v_log > 0 and v_there = 0 then -- the first epoch of the log
            insert into queue_log_epoch (floor, id) values (0, 0) on duplicate key update floor = 0;
        end if;
        select max(k.expires_seconds) into v_expires from queue_kind k where k.p_kind = in_kind;
        if v_expires is not null then -- it is used, and a few others that are not go
            insert into queue_use (id, p_kind, used_at) values (uuid_short(), in_kind, v_now);
            call _queue_expire(v_now, 1000, v_gone);
        end if;
        call _queue_define_limits(in_kind, in_options, v_now);
        call _queue_define_filter(in_kind, in_options);
        select k.* from queue_kind k where k.p_kind = in_kind;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
end;
--;
-- calls: _queue_check_dead_letter_kind, _queue_check_name, _queue_check_roles, _queue_end, _queue_fail, queue_now
-- changes: queue_bucket, queue_kind, queue_slot, queue_subscription, queue_use
drop procedure if exists queue_drop;
--;
create procedure queue_drop(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Removes a kind: its messages, its settings and its subscriptions. Schedules of it stay,
so do semaphores, groups and the places of readers. Its history, the keys that it remembers and its log go with the next
queue_prune.
in_kind: the kind.
Result: the settings it had.
Errors: PQ007 for a kind that is for others. PQ001 for kind, PQ004 while messages are held, and where the default
dead-letter kind would close a circle; then nothing is removed.
Locks: the messages, in the order of their entries; other definitions wait until the transaction ends.'
begin
    declare v_now, v_entry, v_free, v_held bigint;
    declare v_dead_letter_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare continue handler for not found begin end;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare c cursor for
            select q.entry from delayed_queue q force index (delayed_queue_key) where q.p_kind = in_kind
                order by q.entry;
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call queue_now(v_now);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        insert into queue_kind (p_kind) values ('') on duplicate key update p_kind = ''; -- as queue_define
        open c; begin declare v_over boolean default false; each_c: loop
        begin declare continue handler for not found set v_over = true; fetch c into v_entry; end;
        if v_over then leave each_c; end if;
            set v_free = null;
            select q.entry into v_free from delayed_queue q
            where q.entry = v_entry and (q.reserved_at is null or q.scheduled_at <= v_now) for update;
            if v_free is not null then
                call _queue_end(v_free, 'dropped', null, v_now);
            end if;
        end loop; end; close c;
        select min(q.entry) into v_held from delayed_queue q force index (delayed_queue_key)
        where q.p_kind = in_kind and q.reserved_at is not null and q.scheduled_at > v_now lock in share mode;
        if v_held is not null then
            call _queue_fail('PQ004', 'kind', in_kind, 'refused while messages are held');
        end if;
        select k.dead_letter_kind into v_dead_letter_kind from queue_kind k where k.p_kind = in_kind;
        if v_dead_letter_kind is not null then
            call _queue_check_dead_letter_kind(in_kind, null);
        end if;
        -- so that it has settings to show
        insert into queue_kind (p_kind) values (in_kind) on duplicate key update p_kind = in_kind;
        select k.* from queue_kind k where k.p_kind = in_kind;
        delete k from queue_kind k where k.p_kind = in_kind;
        delete s from queue_subscription s where s.p_kind = in_kind;
        delete u from queue_use u where u.p_kind = in_kind;
        delete l from queue_slot l where l.p_kind = in_kind;
        delete b from queue_bucket b where b.p_kind = in_kind;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
end;
--;
-- calls: _queue_set_state
drop procedure if exists queue_pause;
--;
create procedure queue_pause(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Pauses a kind: queue_reserve and queue_pop get nothing; push, ack, nack, extend and move go on, and nothing
dies.
in_kind: the kind.
Result: changed: false where it was paused already.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind.'
begin
    declare v_changed boolean;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_set_state(in_kind, 'paused', v_changed);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_changed as changed;
end;
--;
-- calls: _queue_set_state
drop procedure if exists queue_resume;
--;
create procedure queue_resume(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Ends the pause of a kind, and its draining.
in_kind: the kind.
Result: changed: false where it was neither paused nor drained.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind.'
begin
    declare v_changed boolean;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        call _queue_set_state(in_kind, null, v_changed);
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_changed as changed;
end;
--;
-- changes: queue_count
drop procedure if exists _queue_fold_counts;
--;
create procedure _queue_fold_counts(in in_max int, out out_folded bigint)
    comment 'Folds appended counters into one row a kind.
in_max: how many rows to look at.
Result: how many rows went.
Locks: the rows; what others have locked is left.
out_folded: the result.'
begin
    declare v_ids longtext character set utf8mb4;
    declare v_kinds int;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(o.id) into v_ids
    from (select c.id from queue_count c order by c.id limit in_max for update skip locked) o;
    select count(distinct c.p_kind) into v_kinds
    from json_table(coalesce(v_ids, '[]'), '$[*]' columns (id bigint unsigned path '$')) j
        straight_join queue_count c force index (primary) on c.id = j.id;
    set out_folded = coalesce(json_length(v_ids), 0) - v_kinds;
    if out_folded > 0 then
        insert into queue_count (id, p_kind, pushed, reserved, popped, acked, nacked, moved, dead, expired, lost)
        select uuid_short(), c.p_kind, sum(c.pushed), sum(c.reserved), sum(c.popped), sum(c.acked), sum(c.nacked),
            sum(c.moved), sum(c.dead), sum(c.expired), sum(c.lost)
        from json_table(v_ids, '$[*]' columns (id bigint unsigned path '$')) j
            straight_join queue_count c force index (primary) on c.id = j.id group by c.p_kind;
        /*M!100600 set statement sql_safe_updates = 0 for */ delete c from json_table(v_ids, '$[*]' columns (id bigint unsigned path '$')) j
            straight_join queue_count c force index (primary) on c.id = j.id;
    end if;
end;
--;
-- calls: _queue_prune_log
-- changes: queue_dedup, queue_history
drop procedure if exists _queue_prune_kind;
--;
create procedure _queue_prune_kind(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_now bigint, in in_max int,
    out out_pruned bigint)
    comment 'Removes the history, the remembered keys and the log of a kind that are past their time, the oldest first.
What the kind doesn''t keep at all is past its time, whatever the clock says.
in_kind: the kind. in_now: the time of the call. in_max: how many at the most.
Result: how many.
Locks: the rows; what others have locked is left.
out_pruned: the result.'
begin
    declare v_history, v_dedup decimal(20,6) default 0;
    declare v_left int;
    declare v_since, v_logged bigint;
    declare continue handler for not found begin end;
    select k.history_seconds, k.dedup_seconds into v_history, v_dedup from queue_kind k where k.p_kind = in_kind;
    set v_since = if(v_history = 0, 9223372036854775807, in_now - v_history * 1000000), out_pruned = 0;
    begin declare v_unlocked longtext character set utf8mb4;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(unlocked.p_kind, unlocked.finished_at, unlocked.entry)) into v_unlocked
        from (select h.p_kind, h.finished_at, h.entry from queue_history h force index (primary)
        where h.p_kind = in_kind and h.finished_at <= v_since order by h.finished_at, h.entry limit in_max
        for update /*!80000 of h */ skip locked) unlocked;
        if v_unlocked is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete h from json_table(v_unlocked, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', finished_at bigint path '$[1]', entry bigint path '$[2]')) unlocked
                straight_join queue_history h force index (primary) on h.p_kind = unlocked.p_kind and h.finished_at = unlocked.finished_at and h.entry = unlocked.entry;
            set out_pruned = out_pruned + json_length(v_unlocked);
        end if;
    end;
    set v_since = if(v_dedup = 0, 9223372036854775807, in_now - v_dedup * 1000000), v_left = in_max - out_pruned;
    begin declare v_unlocked longtext character set utf8mb4;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(unlocked.p_kind, unlocked.p_key)) into v_unlocked
        from (select d.p_kind, d.p_key from (
                select n.p_key from queue_dedup n force index (queue_dedup_ended)
                where n.p_kind = in_kind and n.ended_at <= v_since order by n.ended_at limit v_left) j
            straight_join queue_dedup d force index (primary) on d.p_kind = in_kind and d.p_key = j.p_key
        where d.ended_at <= v_since
        for update /*!80000 of d */ skip locked) unlocked;
        if v_unlocked is not null then
            /*M!100600 set statement sql_safe_updates = 0 for */ delete d from json_table(v_unlocked, '$[*]' columns (p_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', p_key varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[1]')) unlocked
                straight_join queue_dedup d force index (primary) on d.p_kind = unlocked.p_kind and d.p_key = unlocked.p_key;
            set out_pruned = out_pruned + json_length(v_unlocked);
        end if;
    end;
    set v_left = greatest(in_max - out_pruned, 0);
    call _queue_prune_log(in_kind, in_now, v_left, v_logged);
    set out_pruned = out_pruned + v_logged;
end;
--;
-- calls: _queue_prune_kind, _queue_ticks
drop procedure if exists _queue_prune_by_the_way;
--;
create procedure _queue_prune_by_the_way(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_now bigint, in in_max int)
    comment 'A little of what queue_prune does, for one kind, from within queue_reserve and queue_pop. Where that is
slow, because a snapshot keeps the dead rows before the living ones, the session leaves it for 50 times as long as it
took: 2% of the time at most.
in_kind: the kind. in_now: the time of the call. in_max: how many rows at the most.'
begin
    declare v_start, v_took, v_pruned bigint;
    call _queue_ticks(v_start);
    if @pyqueue_prune is null or v_start >= @pyqueue_prune or @pyqueue_prune > v_start + 3600000000 then
        call _queue_prune_kind(in_kind, in_now, in_max, v_pruned);
        call _queue_ticks(v_took);
        set v_took = v_took - v_start;
        if v_took > 10000 + 50 * in_max then
            set @pyqueue_prune = v_start + 50 * v_took;
        end if;
    end if;
end;
--;
-- calls: _queue_fold_counts, _queue_groups_due, _queue_prune_by_the_way, _queue_prune_terms, _queue_reap
drop procedure if exists _queue_upkeep;
--;
create procedure _queue_upkeep(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_keeps boolean, in in_now bigint, in in_max int,
    in in_worker text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Now and then a little of what queue_prune does, at the end of one queue_reserve or queue_pop in twenty.
in_kind: the kind. in_keeps: whether it has a history or remembers keys. in_now: the time of the call. in_max: how many
rows, about twice of what ends between two such calls. in_worker: who calls; NULL: it has no name. Where another
registered worker is gone, some of what it held is freed too; who calls is there, and has just got messages.'
begin
    declare v_folded, v_looked, v_pruned bigint;
    declare v_filter, v_late boolean;
    declare v_reaped longtext character set utf8mb4;
    -- not EXISTS in an IF, which would lock the row
    select max(k.filter_index) into v_filter from queue_kind k where k.p_kind = in_kind;
    if v_filter then
        call _queue_prune_terms(10 * in_max, v_pruned);
    end if;
    call _queue_groups_due(in_now, v_looked);
    -- Whatever ended the session that a client had before may have ended those of workers that live. They have the
    -- timeout of their heartbeat to come back, so a session that is new here doesn't reap.
    if @pyqueue_reap <= in_now then
        select min(@pyqueue_reap + w.timeout_seconds * 1000000 <= in_now) into v_late from queue_worker w
        where not w.worker <=> in_worker and not if(w.session_lock is null, abs(in_now - w.heartbeat_at) < w.timeout_seconds * 1000000, is_used_lock(w.session_lock) <=> w.session_id);
        if v_late then
            call _queue_reap(in_now, 100, in_worker, v_reaped);
        end if;
    else
        set @pyqueue_reap = in_now;
    end if;
    if rand() < 0.01 then
        call _queue_fold_counts(10000, v_folded); -- nobody may ever call queue_prune
        call _queue_prune_by_the_way(in_kind, in_now, 1000);
    elseif in_keeps then
        call _queue_prune_by_the_way(in_kind, in_now, in_max);
    end if;
end;
--;
-- calls: _queue_check_count, _queue_drain_inbox, _queue_expire, _queue_fold_counts, _queue_groups_due,
--     _queue_log_horizon, _queue_permits_sweep, _queue_prune_groups, _queue_prune_kind, _queue_prune_terms,
--     _queue_stage_prune, queue_now
-- changes: queue_epoch
drop procedure if exists queue_prune;
--;
create procedure queue_prune(in in_max_rows bigint)
    comment 'Clears away what is past its time, in chunks. That is history, remembered keys and the log, older than
history_seconds, dedup_seconds and log_seconds of their kind say now; what was staged and never published; kinds that
are unused for longer than their expires_seconds; groups past their keep_seconds. It also removes messages that have
gone from the index of filters (each call looks at a part of it), and folds counters. Permits of semaphores whose holds
have expired go to who waits for them. Any number of sessions may call it at any time. queue_reserve and queue_pop do
a little of it by the way, so a kind that is in use needs nobody who calls it.
in_max_rows: how many rows to look at, 1 to 1000000; NULL: 10000.
Result: pruned: how many rows went; 0 when there is nothing left to do.
Errors: PQ001 for max_rows. On PostgreSQL there may be a warning: others may create in the schema of the queue, or
have; or anybody may execute its routines. It says what to do about it. Another warning says that a sequence was
behind its table, and has been set.
Locks: the rows; what others have locked is left.
differs: it also takes in what has landed in queue_inbox, where the server allows no trigger.'
begin
    declare v_pruned bigint;
    begin declare v_own boolean; declare v_tries int default 0; again: loop begin
        declare v_now, v_rows, v_known, v_before bigint;
        declare v_left bigint default coalesce(in_max_rows, 10000);
        declare v_kind, v_history, v_dedup, v_log varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default '';
        declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
        declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
        call _queue_begin(v_own);
        set v_pruned = null;
        call _queue_drain_inbox();
        call queue_now(v_now);
        call _queue_check_count(v_left, 'max_rows', 1000000);
        call _queue_fold_counts(v_left, v_pruned);
        call _queue_stage_prune(v_now, v_left, v_rows);
        set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
        call _queue_expire(v_now, greatest(v_left, 1), v_rows);
        set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
        call _queue_groups_due(v_now, v_rows);
        call _queue_prune_groups(v_now, greatest(v_left, 1), v_rows);
        if @pyqueue_own then
            call _queue_log_horizon(v_now, v_known); -- noted for readers in transactions
        end if;
        set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
        call _queue_prune_terms(greatest(v_left, 1), v_rows);
        set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
        while v_kind is not null and v_left > 0 do
            select min(h.p_kind) into v_history from queue_history h where h.p_kind > v_kind;
            select min(d.p_kind) into v_dedup from queue_dedup d where d.p_kind > v_kind;
            select min(l.p_kind) into v_log from queue_log l where l.p_kind > v_kind;
            select min(o.p_kind) into v_kind
                from (select v_history as p_kind union all select v_dedup union all select v_log) o;
            if v_kind is not null then
                call _queue_prune_kind(v_kind, v_now, v_left, v_rows);
                set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
            end if;
        end while;
        call _queue_permits_sweep(v_now);
        -- epochs that no server is in any more
        select min(n.epoch) into v_before
            from (select e.epoch from queue_epoch e order by e.epoch desc, e.id desc limit 100) n;
        begin declare v_unlocked longtext character set utf8mb4;
            /*M!100600 set statement group_concat_max_len = 1000000000 for */ select json_arrayagg(json_array(unlocked.epoch, unlocked.id)) into v_unlocked
            from (select e.epoch, e.id from queue_epoch e where e.epoch < v_before order by e.epoch, e.id limit 1000
            for update /*!80000 of e */ skip locked) unlocked;
            if v_unlocked is not null then
                /*M!100600 set statement sql_safe_updates = 0 for */ delete e from json_table(v_unlocked, '$[*]' columns (epoch bigint path '$[0]', id bigint path '$[1]')) unlocked
                    straight_join queue_epoch e force index (primary) on e.epoch = unlocked.epoch and e.id = unlocked.id;
            end if;
        end;
        call _queue_commit(v_own);
        leave again;
    end; end loop; end;
    select v_pruned as pruned;
end;
--;
-- Every message, with real timestamps and its state. The secrets of receipts don't show.
-- - p_kind: the kind.
-- - p_key: the key.
-- - state: scheduled, ready, reserved, expired or waiting, see queue_get.
-- - payload: the payload where it is JSON.
-- - payload_bytes: the payload where it is binary.
-- - headers: the headers.
-- - priority: a higher one is delivered first.
-- - scheduled_at: the delivery time; while somebody holds the message, the end of the hold.
-- - scheduled_at_initially: the delivery time as first asked for.
-- - created_at: when this entry came to be.
-- - reserved_at: when the present delivery began; NULL where nobody holds the message.
-- - attempts: how many deliveries it has had.
-- - max_attempts: how many it may have, where that differs from its kind.
-- - reserved_by: the worker that holds it.
-- - age: the time since created_at, an interval on PostgreSQL, in seconds on MariaDB and MySQL.
-- - errors: the last ten: an array of {at, attempt, by, error}.
-- - source_kind: of a dead letter, the kind that it came from.
-- - source_key: of a dead letter, the key that it had there.
-- - entry: the number of the entry.
-- Times are of UTC.
-- differs: there is no type for an age; a view has no comment, and can't call queue_now(): it has that clock's
-- expression.
create or replace view queue_messages as
select q.p_kind, q.p_key,
    case when q.reserved_at is null and q.ready_at is null and q.due_at is null then 'waiting'
        when q.reserved_at is null then if(q.scheduled_at <= n.now, 'ready', 'scheduled')
        else if(q.scheduled_at <= n.now, 'expired', 'reserved') end as state,
    q.payload, q.payload_bytes, q.headers, q.priority,
    timestamp '1970-01-01 00:00:00.000000' + interval q.scheduled_at microsecond as scheduled_at,
    timestamp '1970-01-01 00:00:00.000000' + interval q.scheduled_at_initially microsecond as scheduled_at_initially,
    timestamp '1970-01-01 00:00:00.000000' + interval q.created_at microsecond as created_at,
    timestamp '1970-01-01 00:00:00.000000' + interval q.reserved_at microsecond as reserved_at,
    q.attempts, q.max_attempts, q.reserved_by, cast((n.now - q.created_at) / 1000000 as decimal(20,6)) as age, q.errors,
    q.source_kind, q.source_key, q.entry
from delayed_queue q
    cross join (select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) as now) n;
--;
-- A row a kind that has messages, settings or a past. The view counts the messages, so its cost grows with them.
-- - p_kind: the kind.
-- - paused: whether reserves get nothing, see queue_pause.
-- - ready: how many messages may be taken now.
-- - scheduled: how many have a delivery time in the future.
-- - reserved: how many are held.
-- - expired: how many holds have passed their timeout, and nobody has taken the message since.
-- - waiting: how many wait in line, for an order key or semaphores.
-- - total: how many there are.
-- - next_at: when the next scheduled one falls due.
-- - oldest_ready_seconds: for how long the oldest ready one has been ready.
-- - pushed_total: how many were pushed so far.
-- - reserved_total: how many deliveries there were so far.
-- - popped_total: how many were popped so far.
-- - acked_total: how many were acked so far.
-- - nacked_total: how many were nacked so far.
-- - moved_total: how many were moved on so far.
-- - dead_total: how many became dead letters so far.
-- - expired_total: how many holds have expired so far.
-- - lost_total: how many receipts that were given to queue_next for this kind were lost.
-- - draining: whether pushes are refused, see queue_drain. The draining is done where total is 0.
-- Times are of UTC.
-- differs: a view has no comment, and can't call queue_now(): it has that clock's expression.
create or replace view queue_stats as
select u.p_kind, max(u.paused) as paused, cast(sum(u.ready) as signed) as ready,
    cast(sum(u.scheduled) as signed) as scheduled, cast(sum(u.reserved) as signed) as reserved,
    cast(sum(u.expired) as signed) as expired, cast(sum(u.waiting) as signed) as waiting,
    cast(sum(u.total) as signed) as total, timestamp '1970-01-01 00:00:00.000000' +
    interval max(u.next_at) microsecond as next_at, max(u.oldest_ready) * 0.000001 as oldest_ready_seconds,
    cast(sum(u.pushed_total) as signed) as pushed_total, cast(sum(u.reserved_total) as signed) as reserved_total,
    cast(sum(u.popped_total) as signed) as popped_total, cast(sum(u.acked_total) as signed) as acked_total,
    cast(sum(u.nacked_total) as signed) as nacked_total, cast(sum(u.moved_total) as signed) as moved_total,
    cast(sum(u.dead_total) as signed) as dead_total, cast(sum(u.expired_total) as signed) as expired_total,
    cast(sum(u.lost_total) as signed) as lost_total,
    max(u.draining) as draining
from (
    select q.p_kind, 0 as paused,
        count(case when q.reserved_at is null and q.scheduled_at <= n.now
        and coalesce(q.ready_at, q.due_at) is not null then 1 end) as ready,
            count(case when q.reserved_at is null and q.scheduled_at > n.now
            and coalesce(q.ready_at, q.due_at) is not null then 1 end) as scheduled,
        count(case when q.reserved_at is not null and q.scheduled_at > n.now then 1 end) as reserved,
        count(case when q.reserved_at is not null and q.scheduled_at <= n.now then 1 end) as expired,
        count(case when coalesce(q.ready_at, q.due_at, q.reserved_at) is null then 1 end) as waiting,
        count(*) as total,
        min(case when q.scheduled_at > n.now and q.reserved_at is null
        and coalesce(q.ready_at, q.due_at) is not null then q.scheduled_at end) as next_at,
        max(case when q.reserved_at is null and q.scheduled_at <= n.now
        and coalesce(q.ready_at, q.due_at) is not null then n.now - q.scheduled_at end) as oldest_ready,
        count(case when q.source_kind is null then 1 end) as pushed_total, sum(q.deliveries) as reserved_total,
        0 as popped_total, 0 as acked_total, 0 as nacked_total, 0 as moved_total, 0 as dead_total, 0 as expired_total,
        0 as lost_total, 0 as draining
    from delayed_queue q
        cross join (select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) as now) n
    group by q.p_kind
    union all
    select c.p_kind, 0, 0, 0, 0, 0, 0, 0, null, null, coalesce(sum(c.pushed), 0), coalesce(sum(c.reserved), 0),
        coalesce(sum(c.popped), 0), coalesce(sum(c.acked), 0), coalesce(sum(c.nacked), 0), coalesce(sum(c.moved), 0),
        coalesce(sum(c.dead), 0), coalesce(sum(c.expired), 0), coalesce(sum(c.lost), 0), 0
    from queue_count c group by c.p_kind
    union all
    select s.p_kind, s.paused, 0, 0, 0, 0, 0, 0, null, null, 0, 0, 0, 0, 0, 0, 0, 0, 0, s.draining
    from queue_kind s where s.p_kind <> '') u
group by u.p_kind;
--;
-- A row a registered worker, see queue_heartbeat. The view reads all messages, so its cost grows with them.
-- - worker: its name.
-- - kinds: where it holds messages; NULL: anywhere.
-- - info: what it says of itself.
-- - started_at: since when it is there.
-- - heartbeat_at: its last heartbeat.
-- - timeout_seconds: for how long it may be silent.
-- - by_session: whether it is alive as long as its session is.
-- - alive: whether it is alive.
-- - reserved: how many messages it holds.
-- Times are of UTC.
-- differs: a view has no comment, and can't call queue_now(): it has that clock's expression.
create or replace view queue_workers as
select w.worker, w.kinds, w.info,
    timestamp '1970-01-01 00:00:00.000000' + interval w.started_at microsecond as started_at,
    timestamp '1970-01-01 00:00:00.000000' + interval w.heartbeat_at microsecond as heartbeat_at,
    w.timeout_seconds, w.session_lock is not null as by_session,
    if(w.session_lock is null, abs(n.now - w.heartbeat_at) < w.timeout_seconds * 1000000, is_used_lock(w.session_lock) <=> w.session_id) as alive, coalesce(h.reserved, 0) as reserved
from queue_worker w
    cross join (select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) as now) n
    left join (
        select q.reserved_by, count(*) as reserved
        from delayed_queue q
            cross join (select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) as now) m
        where q.reserved_by is not null and q.scheduled_at > m.now group by q.reserved_by) h
        on h.reserved_by = w.worker;
--;
-- A row a batch that was published in the last week, where its writer had a name. What was replayed has none.
-- - written_at: when.
-- - query: the query or reader whose batch it was; NULL: the writer had none.
-- - batch: the number of its batch.
-- - job: the write that did it.
-- - messages: how many were staged.
-- - pushed: how many of these became messages.
-- - ignored: how many didn't, since their keys were taken or remembered.
-- - differing: how many have another payload than the message that has their key; NULL: nobody looked.
-- - refused: how many rows the writer had made dead letters of, since they could be no messages; among messages, too.
-- Times are of UTC.
-- differs: a view has no comment. On MariaDB payloads are compared as text.
create or replace view queue_writes as
select timestamp '1970-01-01 00:00:00.000000' + interval w.written_at microsecond as written_at, w.query, w.batch,
    w.job, w.messages, w.pushed, w.messages - w.pushed as ignored, w.differing, w.refused
from queue_write w;
--;
-- A row a subscription, see queue_subscribe.
-- - pattern: which topics.
-- - p_kind: the kind that gets a copy of each message of these topics.
-- - subscribed_at: since when.
-- Times are of UTC.
-- differs: a view has no comment.
create or replace view queue_subscriptions as
select s.pattern, s.p_kind, timestamp '1970-01-01 00:00:00.000000' +
    interval s.subscribed_at microsecond as subscribed_at
from queue_subscription s;
--;
-- A row a schedule, see queue_schedule.
-- - name: its name.
-- - p_kind: the kind that it pushes to.
-- - payload: the payload of each push.
-- - push_options: the options of each push.
-- - rule: every_seconds, daily_at or cron, and the time zone.
-- - catch_up: what becomes of late occurrences: last, all or skip.
-- - paused: whether it is paused.
-- - until: its end.
-- - next_at: when it is due next; NULL: never again.
-- - last_at: for when it last made a message.
-- Times are of UTC.
-- differs: a view has no comment.
create or replace view queue_schedules as
select r.name, r.p_kind, r.payload, r.push_options, r.rule, r.catch_up, r.paused,
    timestamp '1970-01-01 00:00:00.000000' + interval r.until_at microsecond as until,
    timestamp '1970-01-01 00:00:00.000000' + interval r.next_at microsecond as next_at,
    timestamp '1970-01-01 00:00:00.000000' + interval r.last_at microsecond as last_at
from queue_recurring r;
--;
-- A row a group, see queue_group.
-- - group_name: its name.
-- - then_kind: the kind of its continuation.
-- - state: open; closed: all members are known and some aren't done; done; failed.
-- - members: how many members it has.
-- - done: how many are done.
-- - dead: how many are dead.
-- - created_at: when it was made.
-- - finished_at: when it finished.
-- Times are of UTC.
-- differs: a view has no comment.
create or replace view queue_groups as
select g.group_name, g.then_kind,
    case when g.failed then 'failed' when g.finished_at is not null then 'done' when g.closed then 'closed'
    else 'open' end as state, (select count(*) from queue_group_member m where m.group_name = g.group_name) as members,
    (select count(m.done_at) from queue_group_member m where m.group_name = g.group_name) as done,
    (select count(*) from queue_group_member m where m.group_name = g.group_name
        and (m.outcome = 'dead' or m.error is not null and m.done_at is null)) as dead,
    timestamp '1970-01-01 00:00:00.000000' + interval g.created_at microsecond as created_at,
    timestamp '1970-01-01 00:00:00.000000' + interval g.finished_at microsecond as finished_at
from queue_group g;
--;
-- A row a semaphore, see queue_semaphore.
-- - name: its name.
-- - capacity: how many messages that name it may be held at once.
-- - held: how many are held.
-- - waiting: how many stand in its line. A message that lacks several semaphores stands in the line of one of them.
-- differs: a view has no comment, and can't call queue_now(): it has that clock's expression.
create or replace view queue_semaphores as
select s.name, s.capacity,
    (select count(*) from queue_semaphore_permit h
        where h.name = s.name
            and h.until > timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))) as held,
    (select count(*) from queue_semaphore_wait w where w.name = s.name) as waiting
from queue_semaphore s;
--;
-- A row a reader of the log, see queue_read.
-- - reader: its name.
-- - name: the kind, topic or pattern that it reads.
-- - events: which events it sees.
-- - position: it is done up to there.
-- - behind: how many events it is going to see after that. They are looked at one by one to be counted.
-- - missed: up to which position the log has lost what the reader hasn't read. It acks that to go on. NULL: nothing.
-- - created_at: when it first read.
-- Times are of UTC.
-- differs: a view has no comment.
create or replace view queue_readers as
select r.reader, r.name, r.events, r.position,
    (select count(*) from queue_log l
        where r.matcher is null and l.p_kind = r.name and not l.topic_only and l.position > r.position
            and find_in_set(l.event, r.events))
    + (select count(*) from queue_log l
        where r.matcher is null and l.topic = r.name and l.copy_of is null and l.position > r.position
            and l.p_kind <> r.name
            and find_in_set(l.event, r.events))
    + (select count(*) from queue_log l
        where r.matcher is not null and l.position > r.position and concat('.', l.name) regexp coalesce(r.matcher, 'x')
            and find_in_set(l.event, r.events)) as behind,
    (select max(g.position) from queue_log_gone g
        where g.position > r.position and find_in_set(g.event, r.events)
            and if(r.matcher is null, g.p_kind = r.name or g.name = r.name,
                g.name <> '' and concat('.', g.name) regexp coalesce(r.matcher, 'x'))) as missed,
    timestamp '1970-01-01 00:00:00.000000' + interval r.created_at microsecond as created_at
from queue_reader r;
