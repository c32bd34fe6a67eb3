-- frozen from sql/postgresql by tools.freeze; never edited
create or replace function _queue_intruders(in_schema oid, out fault text, out remedy text) language plpgsql
    set search_path = pg_catalog, pg_temp as $$
declare
    v_schema text;
    v_owner oid;
    v_creators text;
begin
    select quote_ident(n.nspname), case when r.rolname = 'pg_database_owner' then d.datdba else n.nspowner end
    into v_schema, v_owner
    from pg_namespace n join pg_roles r on r.oid = n.nspowner, pg_database d
    where n.oid = in_schema and d.datname = current_database();
    select string_agg(distinct case when a.grantee = 0 then 'public'
        else quote_ident(r.rolname) end, ', ') into v_creators
    from pg_namespace n, aclexplode(n.nspacl) a left join pg_roles r on r.oid = a.grantee
    where n.oid = in_schema and a.privilege_type = 'CREATE' and a.grantee <> n.nspowner
        and (a.grantee = 0 or not pg_has_role(a.grantee, current_user, 'member'));
    if v_creators is not null then
        fault := format('in the schema %s others may create: %s', v_schema, v_creators);
        remedy := format('revoke create on schema %s from %s', v_schema, v_creators);
    elsif not pg_has_role(v_owner, current_user, 'member') then
        fault := format('the schema %s belongs to another role, %s, which may create in it', v_schema,
            v_owner::regrole);
        remedy := format('alter schema %s owner to %I; or let %s install', v_schema, current_user, v_owner::regrole);
    else
        select format('in the schema %s others have made %s', v_schema, string_agg(o.name, ', ' order by o.name)),
            string_agg(o.undo, '; ' order by o.name)
        into fault, remedy
        from (
            select p.oid::regprocedure::text as name, 'drop routine ' || p.oid::regprocedure::text as undo
            from pg_proc p
            where p.pronamespace = in_schema and not pg_has_role(p.proowner, current_user, 'member')
            union all
            select p.oid::regoperator::text, format('drop operator %s (%s, %s)', p.oid::regoper,
                case when p.oprleft = 0 then 'none' else format_type(p.oprleft, null) end,
                format_type(p.oprright, null))
            from pg_operator p
            where p.oprnamespace = in_schema and not pg_has_role(p.oprowner, current_user, 'member')
            union all
            select c.oid::regclass::text, 'drop table ' || c.oid::regclass::text
            from pg_class c
            where c.relnamespace = in_schema and c.relname ~ '^(queue_|delayed_queue)'
                and not pg_has_role(c.relowner, current_user, 'member')
            limit 10) o
        having count(*) > 0;
    end if;
    remedy := remedy || '; or a schema of its own: pyqueue upgrade --schema pyqueue';
end $$;
--;
comment on function _queue_intruders(oid) is
$$Who may put something into the schema of the queue beside its owner, those who may become him, and superusers. An
overload of our names, or at an installation a function or an operator, would run with the rights of the owner. Tables
and types of others do no harm.
in_schema: the schema.
Result: fault, NULL: there is none; remedy: what to do about it.
Locks: none.
differs: only here. On MariaDB and MySQL a name leads to one database, and nobody can make an operator.$$;
--;
-- Refuses a schema in which others may create: what they put there could run with the rights of the owner.
do $$
declare
    v_fault text;
    v_remedy text;
begin
    select i.fault, i.remedy into v_fault, v_remedy
    from _queue_intruders(
        (pg_catalog.quote_ident(pg_catalog.current_schema())::pg_catalog.regnamespace)::pg_catalog.oid) i;
    if v_fault is not null then
        raise exception using errcode = 'invalid_schema_definition', message = v_fault, hint = v_remedy;
    end if;
end $$;
--;
create or replace function queue_now() returns bigint language sql volatile parallel safe
    return (date_part('epoch', clock_timestamp()) * 1000000)::bigint;
--;
comment on function queue_now() is
$$The clock of the queue: the database's wall clock at this moment, in microseconds since 1970-01-01 UTC. Every routine
reads it once a call. It is not the transaction's start, and no caller can shift it; a test sets the time by replacing
this routine as its owner.$$;
--;
create or replace function queue_time(in_timestamp timestamptz) returns bigint
    language sql immutable strict parallel safe return (extract(epoch from in_timestamp) * 1000000)::bigint;
--;
comment on function queue_time(timestamptz) is
$$A timestamp as the queue's integer.
in_timestamp: any timestamp with time zone.
Result: microseconds since 1970-01-01 UTC; NULL for NULL.$$;
--;
create or replace function queue_timestamp(in_time bigint) returns timestamptz
    language sql immutable strict parallel safe return timestamptz '1970-01-01 00:00:00+00'
        + (in_time / 1000000) * interval '1 second' + (in_time % 1000000) * interval '1 microsecond';
--;
comment on function queue_timestamp(bigint) is
$$The queue's integer as a timestamp.
in_time: microseconds since 1970-01-01 UTC.
Result: a timestamp with time zone; NULL for NULL.$$;
--;
create or replace function _queue_ticks() returns bigint language sql volatile as $$
    select (date_part('epoch', clock_timestamp()) * 1000000)::bigint;
$$;
--;
comment on function _queue_ticks() is
$$The real time in microseconds since 1970-01-01 UTC, for measuring how long something takes; what a message's times are
compared with is queue_now(). A test that wants no scan to be slow lets it stand still.$$;
--;
create or replace function _queue_fail(in_code text, in_name text, in_value text, in_allowed text) returns void
    language plpgsql as $$
declare
    v_most constant integer := case in_code when 'PQ006' then 1000000 else 40 end;
begin
    raise exception using errcode = in_code, message = in_name || ' '
        || coalesce('"' || left(in_value, v_most) || case when char_length(in_value) > v_most then '…'
            else '' end || '"', 'NULL')
        || ': ' || in_allowed;
end $$;
--;
comment on function _queue_fail(text, text, text, text) is
$$Raises the error of a bad value.
in_code: the SQLSTATE, one a cause: PQ001 a parameter, PQ002 an option, PQ003 a payload, PQ004 refused in this state,
PQ005 a receipt, PQ006 receipts that are lost, PQ007 a kind that is for others.
in_name: the parameter or option. in_value: its value, cut at 40 characters unless it is a list of receipts. in_allowed:
what is allowed.$$;
--;
-- calls: _queue_fail
create or replace function _queue_check_name(in_text text, in_most integer, in_name text) returns void
    language plpgsql as $$
begin
    if in_text is null or in_text = '' or char_length(in_text) > in_most then
        perform _queue_fail('PQ001', in_name, in_text, 'must have 1 to ' || in_most || ' characters');
    end if;
end $$;
--;
comment on function _queue_check_name(text, integer, text) is
$$Refuses what can't be a kind, a key, or the name of something else.
in_text: the name. in_most: the longest it may be: 200 characters for a key, 95 for a kind where messages are put in, so
that <kind>.dead fits into the 100 of every other routine. in_name: the parameter's name for the message.
Errors: PQ001.$$;
--;
create or replace function _queue_check_writable() returns void language plpgsql as $$
begin
    if current_setting('transaction_read_only') = 'on' then
        raise read_only_sql_transaction using message = 'messages are taken where they can be written: '
            || case when pg_is_in_recovery() then 'this server is a standby' else 'this transaction is read-only' end;
    end if;
end $$;
--;
comment on function _queue_check_writable() is
$$Refuses to take messages where nothing can be written, in words of its own: the server's would come with the whole
statement.
Errors: the server's 25006.
differs: only here. The error of MariaDB and MySQL is one line.$$;
--;
-- calls: _queue_fail
create or replace function _queue_check_count(in_count bigint, in_name text, in_most bigint) returns void
    language plpgsql as $$
begin
    if in_count is null or in_count < 1 or in_count > in_most then
        perform _queue_fail('PQ001', in_name, in_count::text, 'must be a whole number from 1 to ' || in_most);
    end if;
end $$;
--;
comment on function _queue_check_count(bigint, text, bigint) is
$$Refuses a number of messages that is none.
in_count: the number. in_name: the parameter's name. in_most: the largest allowed.
Errors: PQ001.$$;
--;
-- calls: _queue_fail
create or replace function _queue_check_seconds(in_seconds double precision) returns void language plpgsql as $$
begin
    if in_seconds is null or in_seconds < 0 or in_seconds > 31536000 then -- NaN is greater than any number
        perform _queue_fail('PQ001', 'seconds', in_seconds::text, 'must be a number from 0 to 31536000');
    end if;
end $$;
--;
comment on function _queue_check_seconds(double precision) is
$$Refuses a length of time that no hold can have.
in_seconds: the seconds.
Errors: PQ001.$$;
--;
-- calls: _queue_check_name, _queue_fail
create or replace function _queue_check_kinds(in_kinds jsonb) returns text[] language plpgsql as $$
declare
    v_kinds text[];
begin
    if jsonb_typeof(in_kinds) = 'string' then
        v_kinds := array[in_kinds #>> '{}'];
    elsif jsonb_typeof(in_kinds) = 'array' and jsonb_array_length(in_kinds) between 1 and 100
        and not in_kinds @? '$[*] ? (@.type() != "string")' then
        v_kinds := array(select k.kind from jsonb_array_elements_text(in_kinds) with ordinality k (kind, n)
            order by k.n);
    else
        perform _queue_fail('PQ001', 'kinds', in_kinds::text, 'must be a kind or a JSON array of 1 to 100 kinds');
    end if;
    perform _queue_check_name(k.kind, 100, 'kinds[' || k.n - 1 || ']') from unnest(v_kinds) with ordinality k (kind, n);
    return v_kinds;
end $$;
--;
comment on function _queue_check_kinds(jsonb) is
$$The kinds that a consumer names.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
Result: the kinds, in their order.
Errors: PQ001.$$;
--;
-- calls: _queue_fail, _queue_is_huge
create or replace function _queue_check_payload(in_payload jsonb, in_name text) returns void
    language plpgsql as $$
begin
    if jsonb_path_exists(in_payload, '$.**{31}') then
        perform _queue_fail('PQ003', in_name, in_payload::text, 'must be at most 31 levels deep');
    elsif _queue_is_huge(in_payload) then
        perform _queue_fail('PQ003', in_name, in_payload::text, 'must have no number beyond 1.8e308');
    end if;
end $$;
--;
comment on function _queue_check_payload(jsonb, text) is
$$Refuses JSON that not every server can hold.
in_payload: the payload; NULL: nothing is refused. in_name: the parameter's name for the message.
Errors: PQ003 where it is deeper than 31 levels (a scalar is one level), or has a number beyond double precision.$$;
--;
-- calls: _queue_check_payload, _queue_fail
create or replace function _queue_check_headers(in_headers jsonb, in_name text) returns jsonb
    language plpgsql as $$
begin
    if coalesce(jsonb_typeof(in_headers), 'null') = 'null' then
        return null;
    elsif jsonb_typeof(in_headers) <> 'object'
        or jsonb_path_exists(in_headers, 'strict $.* ? (@.type() == "object" || @.type() == "array")') then
        perform _queue_fail('PQ003', in_name, in_headers::text, 'must be a JSON object with scalar values');
    end if;
    perform _queue_check_payload(in_headers, in_name);
    return nullif(in_headers, '{}');
end $$;
--;
comment on function _queue_check_headers(jsonb, text) is
$$Refuses headers that are no object of scalars.
in_headers: the headers. in_name: the parameter's name for the message.
Result: the headers, NULL where there are none.
Errors: PQ003.$$;
--;
-- calls: _queue_fail
create or replace function _queue_check_options(in_options jsonb, in_allowed text[], in_name text) returns void
    language plpgsql as $$
declare
    v_unknown text;
begin
    if in_options is null or jsonb_typeof(in_options) = 'null' then
        return;
    elsif jsonb_typeof(in_options) <> 'object' then
        perform _queue_fail('PQ002', in_name, in_options::text, 'must be a JSON object');
    end if;
    if in_options - in_allowed <> '{}' then
        select k.name into v_unknown from jsonb_object_keys(in_options - in_allowed) k (name)
        order by k.name collate "C" limit 1;
        perform _queue_fail('PQ002', in_name, v_unknown, 'unknown, allowed are '
            || coalesce(nullif(array_to_string(in_allowed, ', '), ''), 'none'));
    end if;
end $$;
--;
comment on function _queue_check_options(jsonb, text[], text) is
$$Refuses options that are no object and options that nobody knows.
in_options: the options. in_allowed: the names a routine knows. in_name: the parameter's name for the message.
Errors: PQ002.$$;
--;
-- calls: _queue_fail
create or replace function _queue_number(in_options jsonb, in_option text, in_least numeric,
    in_most numeric) returns numeric
    language plpgsql as $$
declare
    v_value constant jsonb := in_options -> in_option;
begin
    if v_value is null or jsonb_typeof(v_value) = 'null' then
        return null;
    elsif jsonb_typeof(v_value) <> 'number' or v_value::numeric < in_least or v_value::numeric > in_most then
        perform _queue_fail('PQ002', in_option, v_value #>> '{}',
            'must be a number from ' || in_least || ' to ' || in_most);
    end if;
    return v_value::numeric;
end $$;
--;
comment on function _queue_number(jsonb, text, numeric, numeric) is
$$A number out of the options.
in_options: the options. in_option: its name. in_least, in_most: the range allowed.
Result: the number; NULL where it isn't given.
Errors: PQ002.$$;
--;
-- calls: _queue_fail, _queue_number
create or replace function _queue_integer(in_options jsonb, in_option text, in_least bigint,
    in_most bigint) returns bigint
    language plpgsql as $$
declare
    v_value constant numeric := _queue_number(in_options, in_option, in_least::numeric, in_most::numeric);
begin
    if v_value <> trunc(v_value) then
        perform _queue_fail('PQ002', in_option, v_value::text, 'must be a whole number');
    end if;
    return v_value;
end $$;
--;
comment on function _queue_integer(jsonb, text, bigint, bigint) is
$$A whole number out of the options.
in_options: the options. in_option: its name. in_least, in_most: the range allowed.
Result: the number; NULL where it isn't given.
Errors: PQ002.$$;
--;
-- calls: _queue_fail
create or replace function _queue_boolean(in_options jsonb, in_option text) returns boolean language plpgsql as $$
declare
    v_value constant jsonb := in_options -> in_option;
begin
    if v_value is null or jsonb_typeof(v_value) = 'null' then
        return null;
    elsif jsonb_typeof(v_value) <> 'boolean' then
        perform _queue_fail('PQ002', in_option, v_value #>> '{}', 'must be true or false');
    end if;
    return v_value::boolean;
end $$;
--;
comment on function _queue_boolean(jsonb, text) is
$$A boolean out of the options.
in_options: the options. in_option: its name.
Result: true or false; NULL where it isn't given.
Errors: PQ002.$$;
--;
-- calls: _queue_fail
create or replace function _queue_text(in_options jsonb, in_option text) returns text language plpgsql as $$
declare
    v_value constant jsonb := in_options -> in_option;
begin
    if jsonb_typeof(v_value) not in ('string', 'null') then
        perform _queue_fail('PQ002', in_option, v_value #>> '{}', 'must be a string');
    end if;
    return v_value #>> '{}';
end $$;
--;
comment on function _queue_text(jsonb, text) is
$$A string out of the options.
in_options: the options. in_option: its name.
Result: the string; NULL where it isn't given.
Errors: PQ002.$$;
--;
-- calls: _queue_fail, queue_time
create or replace function _queue_instant(in_options jsonb, in_option text) returns bigint language plpgsql as $$
declare
    v_at constant jsonb := nullif(in_options -> in_option, 'null');
    v_time numeric;
begin
    if v_at is null then
        return null;
    elsif jsonb_typeof(v_at) = 'number' then
        v_time := v_at::numeric;
    elsif jsonb_typeof(v_at) = 'string'
        and v_at #>> '{}' ~ ('^[0-9]{4}-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:[0-9][0-9](:[0-9][0-9]([.][0-9]{1,6})?)?'
            || '(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$') then
        begin
            v_time := queue_time((v_at #>> '{}')::timestamptz);
        exception when datetime_field_overflow or invalid_datetime_format or invalid_time_zone_displacement_value then
            v_time := null;
        end;
    end if;
    -- up to the last microsecond of the year 9999
    if v_time is null or v_time <> trunc(v_time) or v_time < 100000000000000 or v_time > 253402300799999999 then
        perform _queue_fail('PQ002', in_option, v_at #>> '{}',
            'must be microseconds since 1970 (10^14 or more) or ISO 8601 with an offset');
    end if;
    return v_time::bigint;
end $$;
--;
comment on function _queue_instant(jsonb, text) is
$$A time out of the options: microseconds since 1970, or ISO 8601 with an offset; a value under 10^14 is refused, so
that nobody's seconds pass for microseconds.
in_options: the options. in_option: its name.
Result: microseconds since 1970; NULL where it isn't given.
Errors: PQ002.$$;
--;
create or replace function _queue_is_huge(in_json jsonb) returns boolean language sql immutable
    return octet_length(in_json::text) > 308 -- as many digits such a number has, so most needn't be walked through
        and in_json @? 'strict $.** ? (@.abs() > 1.7976931348623157e308)';
--;
comment on function _queue_is_huge(jsonb) is
$$Whether JSON has a number beyond double precision, which neither MySQL nor most clients can read.
in_json: the JSON.
differs: MySQL refuses such a number itself, and _queue_check_json looks for its digits on MariaDB.$$;
--;
-- calls: _queue_fail
create or replace function _queue_check_json(in_json text, in_code text, in_name text) returns void
    language plpgsql as $$
begin
    perform in_json::jsonb;
exception when data_exception or program_limit_exceeded then
    perform _queue_fail(in_code, in_name, in_json, case sqlstate
        when '22P05' then 'must not contain ' || chr(92) || 'u0000'
        else 'must be JSON, not too deep, with numbers up to 1.8e308' end);
end $$;
--;
comment on function _queue_check_json(text, text, text) is
$$Refuses a text that is no JSON, or none that every server can hold.
in_json: the text; NULL: nothing is refused. in_code: the SQLSTATE of the error. in_name: the parameter's name for the
message.
Errors: the one given, for what is no JSON, lone surrogates, and \u0000.
differs: on MariaDB and MySQL it is for all JSON, which a routine is given as text there. The text isn't NULL there, and
PQ003 is for what MySQL can't hold.$$;
--;
create or replace function _queue_is_receipt(in_receipt text) returns boolean language sql immutable
    return octet_length(in_receipt) >= 34 and octet_length(in_receipt) <= 51 and in_receipt ~ '^[0-9]+-[0-9a-f]+$'
        and substr(in_receipt, octet_length(in_receipt) - 32, 1) = '-';
--;
comment on function _queue_is_receipt(text) is
$$Whether a text has the form of a receipt: an entry number, a dash and 32 hexadecimal digits. No counted repetition,
with which a regular expression takes ten times as long.
in_receipt: the text.
Result: true or false; NULL for NULL.
differs: on MariaDB and MySQL it is an expression, which tools/expand_mysql.py writes out.$$;
--;
-- calls: _queue_fail, _queue_is_receipt
create or replace function _queue_receipt(in_receipt text, out entry bigint, out secret bytea) language plpgsql as $$
begin
    if _queue_is_receipt(in_receipt) is not true then
        perform _queue_fail('PQ005', 'receipt', in_receipt, 'must be what queue_reserve answered');
    end if;
    entry := left(in_receipt, -33)::bigint;
    secret := decode(right(in_receipt, 32), 'hex');
end $$;
--;
comment on function _queue_receipt(text) is
$$Takes a receipt apart.
in_receipt: what queue_reserve answered.
Result: the entry it names and the secret of the delivery.
Errors: PQ005 where it has another form.$$;
--;
-- calls: _queue_fail, _queue_is_receipt
create or replace function _queue_receipts(in_receipts jsonb, out receipts text[], out entries bigint[],
    out secrets bytea[], out places bigint[]) language plpgsql as $$
declare
    v_bad bigint;
begin
    in_receipts := coalesce(nullif(in_receipts, 'null'), '[]');
    if jsonb_typeof(in_receipts) <> 'array' or jsonb_array_length(in_receipts) > 10000 then
        perform _queue_fail('PQ005', 'receipts', in_receipts::text, 'must be a JSON array of at most 10000 receipts');
    end if;
    select coalesce(array_agg(e.receipt), '{}'),
        min(e.n) filter (where _queue_is_receipt(e.receipt) is not true) into receipts, v_bad
    from jsonb_array_elements_text(in_receipts) with ordinality e (receipt, n);
    if v_bad is not null then
        perform _queue_fail('PQ005', 'receipts', coalesce(receipts[v_bad], 'null'),
            'must be what queue_reserve answered');
    end if;
    select coalesce(array_agg(s.entry), '{}'), coalesce(array_agg(s.secret), '{}'), coalesce(array_agg(s.n), '{}')
    into entries, secrets, places
    from (
        select distinct on (1, 2) left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret,
            e.n
        from unnest(receipts) with ordinality e (receipt, n) order by 1, 2, 3) s;
end $$;
--;
comment on function _queue_receipts(jsonb) is
$$Takes an array of receipts apart.
in_receipts: a JSON array of what queue_reserve answered, at most 10000; NULL: none.
Result: the receipts as they came; entries, secrets and places (from 1, where a receipt stands first), each receipt once
and in the order of the entries, which is the order in which every routine locks rows.
Errors: PQ005 with the first that has another form.$$;
--;
create or replace function _queue_setting(in_what text) returns text language sql as $$
    select 'pyqueue.s' || to_hex(hashtextextended(in_what, pg_sequence_last_value('queue_secret'::regclass)));
$$;
--;
comment on function _queue_setting(text) is
$$The setting in which a session keeps something that it may not write itself. Its name can't be guessed: it comes from
a number (queue_secret) that the owner alone can read, and settings like it are in no list.
in_what: what is kept there: the cursor of a kind, a row of queue_cursor ('cursor ' and the kind), what is left of its
limits ('limits ' and the kind, see _queue_admit), and notes of a call.
Result: the name of the setting.
differs: only here. What a session keeps stands in user variables on MariaDB and MySQL, and is checked in each call.$$;
--;
create or replace function _queue_savepoint() returns boolean language sql volatile
    return case
        when coalesce(current_setting('pyqueue.savepoints', true), '') !~ '^([0-9]|[12][0-9]|3[01])?$' then false
        else set_config('pyqueue.savepoints',
            (coalesce(nullif(current_setting('pyqueue.savepoints', true), '')::integer, 0) + 1)::text, true) <> '' end;
--;
comment on function _queue_savepoint() is
$$Whether a call may write behind a savepoint, and counts it: 32 a transaction. More than 64 in one would slow down all
sessions.
Result: true or false.
differs: only here. A call on MariaDB and MySQL has one savepoint, which it gives up at its end.$$;
--;
create or replace function _queue_state(in_ready_at bigint, in_due_at bigint, in_reserved_at bigint,
    in_scheduled_at bigint, in_now bigint) returns text language sql immutable
    return case when num_nonnulls(in_ready_at, in_due_at, in_reserved_at) = 0 then 'waiting'
        when in_reserved_at is null then case when in_scheduled_at <= in_now then 'ready' else 'scheduled' end
        when in_scheduled_at <= in_now then 'expired' else 'reserved' end;
--;
comment on function _queue_state(bigint, bigint, bigint, bigint, bigint) is
$$The state of a message.
in_ready_at, in_due_at, in_reserved_at, in_scheduled_at: its columns. in_now: the time of the call.
Result: waiting (in a line), scheduled, ready, reserved, or expired: the timeout passed, anyone may have it, its late
ack still counts until then.
differs: on MariaDB and MySQL it is an expression: a function can't be created on every server.$$;
--;
create or replace function _queue_add_error(in_errors jsonb, in_now bigint, in_attempt integer, in_by text,
    in_error text)
    returns jsonb language plpgsql as $$
begin
    if in_error is null then
        return in_errors;
    end if;
    return case when jsonb_array_length(in_errors) >= 10 then in_errors - 0 else coalesce(in_errors, '[]') end
        || jsonb_build_object('at', in_now, 'attempt', in_attempt, 'by', in_by, 'error', left(in_error, 10000));
end $$;
--;
comment on function _queue_add_error(jsonb, bigint, integer, text, text) is
$$Adds an error to the errors of a message.
in_errors: those so far. in_now: the time of the call. in_attempt, in_by: the delivery and the worker. in_error: the
text, cut at 10000 characters; NULL for none.
Result: the errors, at most the last ten.$$;
--;
create or replace function _queue_newest(in_row delayed_queue) returns delayed_queue language plpgsql as $$
begin
    if in_row.pending ? 'content' then
        in_row.payload := case when in_row.pending_bytes is null then in_row.pending -> 'payload' end;
        in_row.payload_bytes := in_row.pending_bytes;
        in_row.headers := nullif(in_row.pending -> 'headers', 'null');
    end if;
    return in_row;
end $$;
--;
comment on function _queue_newest(delayed_queue) is
$$A message with its newest content.
in_row: the message.
Result: the message, its payload and headers replaced by those that were pushed onto it while it was held, if any.
differs: a row can't be a parameter on MariaDB and MySQL, where what is pending has columns of its own.$$;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_state, queue_now
create or replace function queue_get(in_kind text, in_key text)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, state text, errors jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_name(in_key, 200, 'key');
    return query
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            _queue_state(q.ready_at, q.due_at, q.reserved_at, q.scheduled_at, v_now), q.errors
        from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
end $$;
--;
comment on function queue_get(text, text) is
$$Looks at one message and changes nothing.
in_kind: the kind. in_key: the key.
Result: the columns, times in microseconds; state: scheduled, ready, reserved, expired, waiting (in line for something
else than time); and errors, the last ten, the newest last: a JSON array of {at, attempt, by, error}, NULL for none. No
row where there is no message.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key.
Locks: none.$$;
--;
-- calls: _queue_check_count, _queue_check_name, _queue_check_options, _queue_check_roles, _queue_state, _queue_where,
--     queue_now
create or replace function queue_peek(in_kind text, in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, state text, errors jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_most constant integer := coalesce(in_max_messages, 1);
    v_where jsonb;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_count(v_most::bigint, 'max_messages', 10000::bigint);
    perform _queue_check_options(in_options, '{where}'::text[], 'options');
    v_where := _queue_where(in_options);
    return query
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            _queue_state(q.ready_at, q.due_at, q.reserved_at, q.scheduled_at, v_now), q.errors
        from (
            (select l.entry, 1 as part, -l.priority::integer as rank, l.ready_at as place from delayed_queue l
                where l.p_kind = in_kind and l.ready_at is not null
                    and (v_where is null or l.payload @> v_where or l.headers @> v_where)
                order by l.p_kind, -l.priority::integer, l.ready_at, l.entry limit v_most)
            union all
            (select t.entry, case when t.scheduled_at <= v_now then 1 else 2 end,
                case when t.scheduled_at <= v_now then -t.priority::integer end, t.due_at from delayed_queue t
                where t.p_kind = in_kind and t.due_at is not null
                    and (v_where is null or t.payload @> v_where or t.headers @> v_where)
                order by t.p_kind, t.due_at limit v_most)
            union all
            (select w.entry, 3, null, w.entry from delayed_queue w
                where w.p_kind = in_kind and w.order_waits
                    and (v_where is null or w.payload @> v_where or w.headers @> v_where)
                order by w.p_kind, w.order_key, w.entry limit v_most)
            union all
            (select w.entry, 3, null, w.entry from queue_semaphore_wait w
                where w.p_kind between in_kind and in_kind and (v_where is null or ( -- BETWEEN, and not EXISTS: ADR 13
                    select coalesce(m.payload @> v_where, false) or coalesce(m.headers @> v_where, false)
                        from delayed_queue m where m.entry = w.entry))
                order by w.p_kind, w.name, w.entry limit v_most)) p
        join delayed_queue q on q.entry between p.entry and p.entry
        order by p.part, p.rank, p.place, p.entry limit v_most;
end $$;
--;
comment on function queue_peek(text, integer, jsonb) is
$$Looks at messages of a kind and changes nothing.
in_kind: the kind.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: which ones.
- where: shows only messages that contain this object, as in queue_reserve. The call reads what stands before them,
  whatever index the kind has. Allowed: an object of at most 16 values. Default: all messages.
Result: the columns, times in microseconds, state and errors (see queue_get), in the order of delivery: first what is
ready or held in its place, then what waits for its time, then what waits in the lines of order keys and semaphores.
Where more waits in lines than is asked for, the lines decide which of it is shown.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages, PQ002 for options.
Locks: none.$$;
--;
create or replace function _queue_misfit(in_shape jsonb, in_payload jsonb) returns text language plpgsql as $$
declare
    v_field record;
begin
    if in_payload is null then
        return 'must be JSON, as payload_shape of its kind says';
    elsif jsonb_typeof(in_payload) <> 'object' then
        return 'must be an object, as payload_shape of its kind says';
    end if;
    select f.name, f.type into v_field
    from jsonb_each_text(in_shape) f (name, type)
    where jsonb_typeof(in_payload -> f.name) is distinct from replace(f.type, 'integer', 'number')
        or f.type = 'integer' and (in_payload -> f.name)::numeric % 1 <> 0
    order by f.name collate "C" limit 1;
    return case when found then format('must have %s as %s, as payload_shape of its kind says',
        to_json(left(v_field.name, 40)), v_field.type) end;
end $$;
--;
comment on function _queue_misfit(jsonb, jsonb) is
$$Why a payload isn't of its kind.
in_shape: payload_shape of the kind: fields and their types. in_payload: the payload; NULL: it is binary.
Result: what it must be; NULL where it fits.$$;
--;
-- calls: _queue_fail, _queue_misfit
create or replace function _queue_check_fit(in_shape jsonb, in_payload jsonb, in_name text) returns void
    language plpgsql as $$
declare
    v_misfit constant text := _queue_misfit(in_shape, in_payload);
begin
    if v_misfit is not null then
        perform _queue_fail('PQ003', in_name, in_payload::text, v_misfit);
    end if;
end $$;
--;
comment on function _queue_check_fit(jsonb, jsonb, text) is
$$Refuses a payload that is not of its kind.
in_shape: payload_shape of the kind, not NULL. in_payload: the payload; NULL: it is binary. in_name: the parameter's
name for the message.
Errors: PQ003.$$;
--;
-- calls: _queue_check_headers, _queue_check_options, _queue_check_roles, _queue_fail, _queue_instant, _queue_integer,
--     _queue_number, _queue_semaphores, _queue_text
create or replace function _queue_push_options(in_options jsonb, in_now bigint,
    out scheduled_at bigint, out priority smallint, out headers jsonb, out attempts integer, out max_attempts integer,
    out on_duplicate text, out route jsonb, out order_key text, out semaphores text[]) language plpgsql as $$
declare
    v_delay numeric;
    v_time numeric;
begin
    in_options := nullif(in_options, 'null');
    perform _queue_check_options(in_options,
        '{delay_seconds, scheduled_at, priority, headers, attempts, max_attempts, on_duplicate}'::text[]
            || '{route, group, order_key, semaphores}'::text[], 'options');
    scheduled_at := in_now;
    if in_options ?| '{delay_seconds,scheduled_at}' then
        v_delay := _queue_number(in_options, 'delay_seconds', 0::numeric, 253402300799::numeric);
        v_time := in_now + coalesce(v_delay, 0) * 1000000;
        if in_options ->> 'scheduled_at' is not null and v_delay is not null then
            perform _queue_fail('PQ002', 'scheduled_at', in_options ->> 'scheduled_at',
                'must not stand beside delay_seconds');
        elsif v_time > 253402300799999999 then -- the last microsecond of the year 9999
            perform _queue_fail('PQ002', 'delay_seconds', v_delay::text, 'must end before the year 10000');
        end if;
        scheduled_at := coalesce(_queue_instant(in_options, 'scheduled_at'), v_time::bigint);
    end if;
    priority := coalesce(case when in_options ? 'priority'
        then _queue_integer(in_options, 'priority', (-32768)::bigint, 32767::bigint) end, 0);
    attempts := 0;
    on_duplicate := 'ignore';
    if (in_options - '{delay_seconds,scheduled_at,priority}'::text[] <> '{}') is not true then
        return;
    end if;
    headers := _queue_check_headers(in_options -> 'headers', 'headers');
    attempts := coalesce(_queue_integer(in_options, 'attempts', 0::bigint, 1000000000::bigint), 0);
    max_attempts := _queue_integer(in_options, 'max_attempts', 1::bigint, 1000000000::bigint);
    on_duplicate := coalesce(_queue_text(in_options, 'on_duplicate'), 'ignore');
    if on_duplicate not in ('ignore', 'replace', 'keep_time', 'push_back') then
        perform _queue_fail('PQ002', 'on_duplicate', on_duplicate, 'must be ignore, replace, keep_time or push_back');
    end if;
    if in_options -> 'route' <> 'null' then
        route := in_options -> 'route';
        if jsonb_typeof(route) <> 'array' or jsonb_array_length(route) > 32
            or route @? '$[*] ? (@.type() != "string")'
            or exists (select from jsonb_array_elements_text(route) r (kind)
                where char_length(r.kind) not between 1 and 95) then
            perform _queue_fail('PQ002', 'route', route::text,
                'must be an array of at most 32 kinds of 1 to 95 characters');
        end if;
        perform _queue_check_roles(array(select jsonb_array_elements_text(route)));
        route := nullif(route, '[]');
    end if;
    order_key := _queue_text(in_options, 'order_key');
    if char_length(order_key) not between 1 and 200 then
        perform _queue_fail('PQ002', 'order_key', order_key, 'must have 1 to 200 characters');
    end if;
    if in_options -> 'semaphores' <> 'null' then
        semaphores := _queue_semaphores(in_options);
    end if;
    if char_length(_queue_text(in_options, 'group')) not between 1 and 100 then
        perform _queue_fail('PQ002', 'group', in_options ->> 'group', 'must have 1 to 100 characters');
    end if;
end $$;
--;
comment on function _queue_push_options(jsonb, bigint) is
$$The options of a push, checked.
in_options: see queue_push; NULL for the defaults. in_now: the time of the call.
Result: each option, or its default; but for group, which is for _queue_enrol.
Errors: PQ002, and PQ003 for headers.$$;
--;
-- calls: _queue_check_name, _queue_check_payload, _queue_fail, _queue_push_options
create or replace function _queue_message(in_message jsonb, in_number bigint, in_defaults jsonb, in_now bigint,
    out p_key text, out scheduled_at bigint, out priority smallint, out headers jsonb, out attempts integer,
    out max_attempts integer, out on_duplicate text, out route jsonb, out order_key text, out semaphores text[])
    language plpgsql as $$
declare
    v_place constant text := 'messages[' || in_number - 1 || ']';
    v_own jsonb;
    v_options record;
begin
    if jsonb_typeof(in_message) <> 'object' then
        perform _queue_fail('PQ001', v_place, in_message::text, 'must be an object {key, payload, and push options}');
    elsif jsonb_typeof(in_message -> 'key') <> 'string' then
        perform _queue_fail('PQ001', v_place || '.key', in_message ->> 'key', 'must be a string');
    end if;
    p_key := in_message ->> 'key';
    perform _queue_check_name(p_key, 200, v_place || '.key');
    perform _queue_check_payload(in_message -> 'payload', v_place || '.payload');
    v_own := in_message - '{key,payload}'::text[];
    if v_own ?| '{delay_seconds,scheduled_at}' then
        in_defaults := in_defaults - '{delay_seconds,scheduled_at}'::text[];
    end if;
    v_options := _queue_push_options(coalesce(in_defaults, '{}') || v_own, in_now);
    scheduled_at := v_options.scheduled_at;
    priority := v_options.priority;
    headers := v_options.headers;
    attempts := v_options.attempts;
    max_attempts := v_options.max_attempts;
    on_duplicate := v_options.on_duplicate;
    route := v_options.route;
    order_key := v_options.order_key;
    semaphores := v_options.semaphores;
end $$;
--;
comment on function _queue_message(jsonb, bigint, jsonb, bigint) is
$$One message of a batch, checked.
in_message: {key, payload, and push options}. in_number: its place, from 1. in_defaults: the options of the batch; those
of the message win. in_now: the time of the call.
Result: its key, and each option, or its default.
Errors: PQ001, PQ002, PQ003, naming the place as messages[0], messages[1], ….$$;
--;
create or replace function _queue_is_plain(in_message jsonb) returns boolean language sql immutable
    return (jsonb_typeof(in_message) = 'object' and in_message ? 'payload'
        and coalesce(jsonb_typeof(in_message -> 'key'), 'null') in ('string', 'null')
        and coalesce(char_length(in_message ->> 'key'), 1) between 1 and 200
        and not jsonb_path_exists(in_message, '$.**{32}') and not _queue_is_huge(in_message)
        and (not in_message ? 'order_key' or jsonb_typeof(in_message -> 'order_key') = 'string'
            and char_length(in_message ->> 'order_key') between 1 and 200)
        and (in_message - '{key,payload,order_key,semaphores}'::text[] = '{}'
            or in_message - '{key,payload,order_key,semaphores}'::text[]
                - '{delay_seconds,headers,max_attempts,priority,scheduled_at}'::text[] = '{}'
            and in_message @? '$ ? ((!exists (@.priority) || @.priority.type() == "number"
                && @.priority.floor() == @.priority && @.priority.abs() < 32768)
                && (!exists (@.max_attempts) || @.max_attempts.type() == "number"
                && @.max_attempts.floor() == @.max_attempts && @.max_attempts >= 1 && @.max_attempts <= 1000000000)
                && (!exists (@.scheduled_at) || @.scheduled_at.type() == "number" && !exists (@.delay_seconds)
                && @.scheduled_at.floor() == @.scheduled_at
                && @.scheduled_at >= 100000000000000 && @.scheduled_at <= 253402300799999999)
                && (!exists (@.delay_seconds) || @.delay_seconds.type() == "number"
                && @.delay_seconds >= 0 && @.delay_seconds <= 31536000)
                && (!exists (@.headers) || @.headers.type() == "object" && !exists (@.headers.keyvalue()
                    ? (@.value.type() == "object" || @.value.type() == "array"))))')) is true;
--;
comment on function _queue_is_plain(jsonb) is
$$Whether a message of a batch is right as far as that can be seen at once: a payload, and perhaps a key, a time, a
priority, attempts, headers and its turn. All others are for _queue_message.
in_message: {key, payload, and push options}.
Result: true or false.
differs: on MariaDB and MySQL it is a part of _queue_push_plain.$$;
--;
create or replace function _queue_key(in_now bigint) returns text language sql volatile
    return overlay(lpad(to_hex(in_now / 1000), 12, '0') placing '-' from 9 for 0)
        || '-7' || lpad(to_hex(in_now % 1000 * 4096 / 1000), 3, '0')
        || '-' || substr(gen_random_uuid()::text, 20);
--;
comment on function _queue_key(bigint) is
$$A key for a message that came without: a UUID of version 7, so that new keys stand at the end of the index.
in_now: the time of the call.
Result: the UUID; its order is that of the microseconds, then random.
Where the idea comes from: RFC 9562, section 6.2, method 3.$$;
--;
create or replace function _queue_key_behind(in_key text, in_number bigint) returns text language sql immutable
    return left(in_key, 24)
        || lpad(to_hex((('x' || right(in_key, 12))::bit(48)::bigint + in_number) % 281474976710656), 12, '0');
--;
comment on function _queue_key_behind(text, bigint) is
$$A key of a batch whose messages came without: one behind another, in the order of the batch.
in_key: what _queue_key has made for the call. in_number: how many places behind it.
Result: a UUID, like that one but for its last 48 bits.
Where the idea comes from: RFC 9562, section 6.2, method 2.
differs: on MariaDB and MySQL it is a part of queue_push_many.$$;
--;
-- calls: _queue_index, _queue_line_up, _queue_newest, _queue_wake
-- changes: delayed_queue, queue_count
create or replace function _queue_put_onto(in_row delayed_queue, in_on_duplicate text, in_now bigint,
    out entry bigint, out scheduled_at bigint, out outcome text, out waits_for text[]) language plpgsql as $$
declare
    v_content constant boolean := in_on_duplicate in ('replace', 'keep_time');
    v_time constant boolean := in_on_duplicate in ('replace', 'push_back');
    v_old delayed_queue;
    v_at bigint;
begin
    select q.* into v_old from delayed_queue q
    where q.p_kind = in_row.p_kind and q.p_key = in_row.p_key for update;
    if not found then
        return;
    end if;
    entry := v_old.entry;
    if v_old.reserved_at is not null and v_old.scheduled_at > in_now then
        update delayed_queue q
        set pending = coalesce(q.pending, '{}')
                || case when v_content then jsonb_build_object('content', true, 'payload', in_row.payload, 'headers',
                    in_row.headers)
                    else '{}' end
                || case when v_time then jsonb_build_object('scheduled_at', in_row.scheduled_at) else '{}' end,
            pending_bytes = case when v_content then in_row.payload_bytes else q.pending_bytes end
        where q.entry = v_old.entry;
        perform _queue_index(array[v_old.entry]) where v_content;
        scheduled_at := v_old.scheduled_at;
        outcome := 'held';
        return;
    end if;
    -- what nobody holds changes at once; an expired hold ends here, so that its late ack can't remove what is new
    if v_old.reserved_at is not null then
        insert into queue_count (p_kind, reserved) values (in_row.p_kind, 1);
    end if;
    v_at := case when v_time then in_row.scheduled_at when v_old.reserved_at is null then v_old.scheduled_at
        else greatest((v_old.pending ->> 'scheduled_at')::bigint, in_now) end;
    v_old := _queue_newest(v_old);
    update delayed_queue q
    set payload = case when v_content then in_row.payload else v_old.payload end,
        payload_bytes = case when v_content then in_row.payload_bytes else v_old.payload_bytes end,
        headers = case when v_content then in_row.headers else v_old.headers end,
        pending = null, pending_bytes = null,
        scheduled_at = v_at,
        -- what waits in a line goes on waiting
        ready_at = case when v_at <= in_now and q.order_waits is null then v_at end,
        due_at = case when v_at > in_now and q.order_waits is null then v_at end,
        -- a message that was sent to wait after its hold has its secret still
        attempts = case when q.secret is null then q.attempts else 0 end,
        reserved_at = null, reserved_by = null, secret = null
    where q.entry = v_old.entry;
    if v_old.semaphores is not null then
        waits_for := coalesce(_queue_line_up(array[v_old.entry]), '{}');
    end if;
    perform _queue_wake(in_row.p_kind, in_row.p_key);
    scheduled_at := v_at;
    outcome := 'replaced';
end $$;
--;
comment on function _queue_put_onto(delayed_queue, text, bigint) is
$$A push onto a key that is taken.
in_row: what is pushed, as in _queue_put: p_kind, p_key, payload, payload_bytes, headers and scheduled_at count.
in_on_duplicate: replace (content and time), keep_time (content only) or push_back (time only); content is the payload
with its headers. in_now: the time of the call.
Result: as of _queue_put. outcome: replaced; held, where somebody holds the message: the newest is kept beside it and
delivered once the present delivery is done; NULL where the message has gone.
Locks: the message.$$;
--;
-- calls: _queue_index, _queue_line_up, _queue_log, _queue_put_onto, _queue_take_back, _queue_wake
-- changes: delayed_queue, queue_group_member
create or replace function _queue_put(in_row delayed_queue, in_on_duplicate text, in_since bigint, in_now bigint,
    out entry bigint, out scheduled_at bigint, out outcome text, out waits_for text[]) language plpgsql as $$
declare
    v_asks boolean; v_filter boolean; v_logs boolean;
begin
    if in_since is not null then -- apart: a kind without a memory doesn't pay for it
        if coalesce((
            select d.ended_at from queue_dedup d
            where d.p_kind = in_row.p_kind and d.p_key = in_row.p_key) > in_since, false) then
            outcome := 'ignored'; -- also where it came back, by a move, say
            select q.scheduled_at into scheduled_at from delayed_queue q
            where q.p_kind = in_row.p_kind and q.p_key = in_row.p_key;
            return;
        end if;
    end if;
    while outcome is null loop
        insert into delayed_queue as q (p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at, route, member, order_key,
            order_waits, semaphores)
        values (in_row.p_kind, in_row.p_key, in_row.payload, in_row.payload_bytes, in_row.headers, in_row.priority,
            in_row.scheduled_at, in_row.scheduled_at, in_now, in_row.attempts, in_row.max_attempts,
            case when in_row.scheduled_at <= in_now and num_nonnulls(in_row.order_waits, in_row.semaphores) = 0
                then in_row.scheduled_at end,
            case when in_row.scheduled_at > in_now and in_row.order_waits is null then in_row.scheduled_at end,
            in_row.route, in_row.member, in_row.order_key, in_row.order_waits, in_row.semaphores)
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry, q.scheduled_at, 'created', (
            select k.filter_index or k.log_seconds > 0 from queue_kind k where k.p_kind = q.p_kind)
        into entry, scheduled_at, outcome, v_asks;
        if outcome is null and in_on_duplicate = 'ignore' then
            select q.scheduled_at into scheduled_at from delayed_queue q
            where q.p_kind = in_row.p_kind and q.p_key = in_row.p_key;
            outcome := 'ignored';
        elsif outcome is null then -- NULL again: it went away in between, so that it can be put in now
            select o.* into entry, scheduled_at, outcome, waits_for
            from _queue_put_onto(in_row, in_on_duplicate, in_now) o;
        end if;
    end loop;
    if outcome = 'created' then
        perform _queue_wake(in_row.p_kind, in_row.p_key);
        if in_since is not null and _queue_take_back(array[entry], in_now) <> '{}' then
            entry := null;
            scheduled_at := null;
            outcome := 'ignored';
        end if;
    end if;
    if outcome not in ('created', 'replaced') then
        return;
    end if;
    if v_asks or outcome = 'replaced' then
        select k.filter_index, k.log_seconds > 0 into v_filter, v_logs from queue_kind k
        where k.p_kind = in_row.p_kind;
    end if;
    if v_filter then
        perform _queue_index(array[entry]);
    end if;
    if outcome = 'created' and in_row.semaphores is not null then
        waits_for := coalesce(_queue_line_up(array[entry]), '{}');
    end if;
    if outcome = 'created' and in_row.member is not null then -- + 0: ADR 13
        update queue_group_member m set entry = _queue_put.entry, error = null
        where m.member = in_row.member and m.done_at + 0 is null;
    end if;
    if v_logs and (outcome = 'created' or in_on_duplicate in ('replace', 'keep_time')) then
        perform _queue_log(array[entry], array[replace(outcome, 'created', 'pushed')], null::text, in_now);
    end if;
end $$;
--;
comment on function _queue_put(delayed_queue, text, bigint, bigint) is
$$Puts one message into a kind, whose columns are checked already: into the index of filters, the line of its
semaphores, its group and the log too.
in_row: the message: p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, attempts, max_attempts,
route, semaphores, member where it goes on as the member that it was, and order_key and order_waits where its place
in the line is known; no other column counts. in_on_duplicate: what to do where the key is taken. in_since: a key that
has ended later than that, a time in microseconds, is ignored; NULL: none is. in_now: the time of the call.
Result: entry and scheduled_at of the message that is there now; outcome: created, ignored, replaced, held; waits_for:
what _queue_permits_settle is to be told of a message with semaphores, at the end of the call; NULL: nothing.
Locks: the message of that key, where in_on_duplicate changes it; waits for a transaction that is putting the same
key.$$;
--;
-- calls: _queue_check_fit, _queue_check_name, _queue_check_roles, _queue_enrol, _queue_fail, _queue_join_line,
--     _queue_key, _queue_line, _queue_permits_settle, _queue_push_options, _queue_put, queue_now
create or replace function _queue_push(in_kind text, in_key text, in_payload jsonb, in_payload_bytes bytea,
    in_options jsonb, out p_kind text, out p_key text, out scheduled_at bigint, out outcome text) language plpgsql as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
    v_now constant bigint := queue_now();
    v_timeout constant text := current_setting('lock_timeout');
    v_shape jsonb;
    v_since bigint;
    v_draining boolean;
    v_restricted boolean;
    v_on_duplicate text := 'ignore';
    v_row delayed_queue;
    v_order text;
    v_put record;
begin
    v_row.p_kind := in_kind;
    v_row.p_key := coalesce(in_key, _queue_key(v_now));
    v_row.payload := case when in_payload_bytes is null then coalesce(in_payload, 'null') end;
    v_row.payload_bytes := in_payload_bytes;
    perform _queue_check_name(in_kind, 95, 'kind');
    perform _queue_check_name(v_row.p_key, 200, 'key');
    select k.payload_shape, v_now - (nullif(k.dedup_seconds, 0) * 1000000)::bigint, k.draining, k.roles is not null
    into v_shape, v_since, v_draining, v_restricted
    from queue_kind k where k.p_kind = in_kind;
    if v_restricted then
        perform _queue_check_roles(array[in_kind]);
    end if;
    if v_draining then
        perform _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    elsif v_shape is not null then
        perform _queue_check_fit(v_shape, v_row.payload, 'payload');
    end if;
    v_row.scheduled_at := v_now;
    v_row.priority := 0;
    v_row.attempts := 0;
    if in_options is not null then
        select o.* into v_row.scheduled_at, v_row.priority, v_row.headers, v_row.attempts, v_row.max_attempts,
            v_on_duplicate, v_row.route, v_order, v_row.semaphores
        from _queue_push_options(in_options, v_now) o;
    end if;
    if v_order is null then
        v_put := _queue_put(v_row, v_on_duplicate, v_since, v_now);
    end if;
    for v_try in 1 .. case when v_order is null then 0 else 2147483647 end loop
        begin
            -- rows are locked before keys are put in, everywhere; with the key in, who is putting a first one in is
            -- waited for a moment only: after that it joins its line later
            perform set_config('lock_timeout', '10', true) where v_try = 1;
            v_row.order_waits := _queue_line(in_kind, array[v_order], array[v_row.p_key], v_on_duplicate <> 'ignore',
                false) <> '{}' or null;
            v_row.order_key := case when v_try = 1 or v_row.order_waits then v_order end;
            v_put := _queue_put(v_row, v_on_duplicate, v_since, v_now);
            if v_put.outcome = 'created' and v_row.order_key is null then
                perform _queue_join_line(array[v_put.entry], array[v_order]);
            end if;
            perform set_config('lock_timeout', v_timeout, true) where v_try = 1;
            exit;
        -- all that it did and locked is undone: again
        exception when sqlstate 'PQ00A' or deadlock_detected or lock_not_available or unique_violation then
            if sqlstate in ('55P03', '23505') and v_try > 1 or sqlstate = '40P01' and (not v_own or v_try > 20) then
                raise;
            end if;
        end;
    end loop;
    p_kind := in_kind;
    p_key := v_row.p_key;
    scheduled_at := v_put.scheduled_at;
    outcome := v_put.outcome;
    if outcome = 'created' and in_options ->> 'group' is not null then
        perform _queue_enrol(array[in_options ->> 'group'], array[v_put.entry]);
    end if;
    if v_put.waits_for is not null then
        perform _queue_permits_settle(array[v_put.entry], v_put.waits_for, true, v_now);
    end if;
end $$;
--;
comment on function _queue_push(text, text, jsonb, bytea, jsonb) is
$$Puts one message, whose payload is checked already but for payload_shape: queue_push and queue_push_bytes.
in_payload, in_payload_bytes: one of the two; neither: a payload of JSON null. The other parameters, the result, the
errors and the locks are those of queue_push.$$;
--;
-- calls: _queue_enrol, _queue_index, _queue_is_plain, _queue_join_line, _queue_line, _queue_line_up, _queue_log,
--     _queue_message, _queue_permits_settle, _queue_push_options, _queue_put_onto, _queue_semaphores,
--     _queue_take_back
-- changes: delayed_queue
create or replace function _queue_push_batch(in_kind queue_kind, in_messages jsonb, in_options jsonb, in_now bigint,
    in_changes boolean, in_sorted boolean) returns table (p_key text, outcome text) language plpgsql as $$
declare
    v_default constant record := _queue_push_options(in_options, in_now);
    v_more constant boolean :=
        in_messages @? '$[*] ? (exists (@.group) || exists (@.order_key) || exists (@.semaphores))';
    v_since constant bigint := in_now - (nullif(in_kind.dedup_seconds, 0) * 1000000)::bigint;
    v_heads jsonb; v_keys text[]; v_entries bigint[]; v_late bigint[] := '{}';
    v_each record; v_row delayed_queue; v_put record;
    v_onto bigint[] := '{}'; v_logged bigint[]; v_outcomes text[]; v_waits_for text[];
begin
    if in_changes or v_default.order_key is not null or v_more and in_messages @? '$[*].order_key' then
        -- locked is what is changed, and who is first in a line: 0; else the message that comes first in it. What comes
        -- behind that waits at once. In_sorted, all have to be in before one may wait for who puts a first one in
        select coalesce(jsonb_object_agg(o.order_key, m.n order by m.n desc)
                filter (where not in_sorted and o.order_key is not null), '{}')
            || _queue_line(in_kind.p_kind, array_agg(o.order_key), array_agg(m.message ->> 'key'), in_changes, false)
        into v_heads
        from jsonb_array_elements(in_messages) with ordinality m (message, n), lateral (
            select (case when m.message ? 'order_key' then m.message else in_options end) ->> 'order_key') o (order_key)
        where in_changes or o.order_key is not null;
    end if;
    with e as materialized (
        -- what most messages are is checked at once, all others one by one
        select m.n, nextval('delayed_queue_entry_seq'::regclass) as entry, m.message, case
            when jsonb_typeof(m.message) = 'object' then nullif(m.message - '{key,payload}'::text[], '{}') end as own,
            coalesce(m.message ->> 'order_key', v_default.order_key) as order_key, _queue_is_plain(m.message)
                and (v_default.semaphores is null or not m.message ? 'order_key') as plain
        from jsonb_array_elements(in_messages) with ordinality m (message, n)),
    m as materialized (
        select e.n, e.entry, (e.message ->> 'key') collate "C" as p_key, e.message -> 'payload' as payload,
            coalesce((e.own -> 'scheduled_at')::bigint,
                (in_now + (e.own -> 'delay_seconds')::numeric * 1000000)::bigint, v_default.scheduled_at)
                as scheduled_at, coalesce((e.own -> 'priority')::smallint, v_default.priority) as priority,
            case when e.own ? 'headers' then nullif(e.own -> 'headers', '{}') else v_default.headers end as headers,
            v_default.attempts, coalesce((e.own -> 'max_attempts')::integer, v_default.max_attempts) as max_attempts,
            v_default.route, e.order_key collate "C", case
            when (v_heads ->> e.order_key)::integer < e.n then true end as waits, case
            when e.own ? 'semaphores' is not true then v_default.semaphores when e.own -> 'semaphores' <> 'null'
            then _queue_semaphores(coalesce(in_options, '{}') || e.message) end as semaphores
        from e where e.plain
        union all
        select e.n, e.entry, o.p_key collate "C", coalesce(e.message -> 'payload', 'null'), o.scheduled_at, o.priority,
            o.headers, o.attempts, o.max_attempts, o.route, o.order_key collate "C", case
            when (v_heads ->> o.order_key)::integer < e.n then true end, o.semaphores
        from e, _queue_message(e.message, e.n, in_options, in_now) o where not e.plain),
    i as (
        insert into delayed_queue as q (entry, p_kind, p_key, payload, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at, route, order_key, order_waits,
            semaphores)
        select m.entry, in_kind.p_kind, m.p_key, m.payload, m.headers, m.priority, m.scheduled_at, m.scheduled_at,
            in_now, m.attempts, m.max_attempts,
            case when m.scheduled_at <= in_now and num_nonnulls(m.waits, m.semaphores) = 0 then m.scheduled_at end,
            case when m.scheduled_at > in_now and m.waits is null then m.scheduled_at end, m.route,
            case when v_heads ? m.order_key then m.order_key end, m.waits, m.semaphores
        from m
        where v_since is null or coalesce(( -- not EXISTS: that may be planned as a hash of the whole memory
            select r.ended_at from queue_dedup r where r.p_kind = in_kind.p_kind and r.p_key = m.p_key) <= v_since,
                true)
        order by case when in_sorted then m.p_key end, m.n
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry)
    select array_agg(m.p_key order by m.n), array_agg(i.entry order by m.n) into v_keys, v_entries
    from m left join i on i.entry = m.entry;
    if v_since is not null then
        v_late := _queue_take_back(array_remove(v_entries, null), in_now);
    end if;
    if not in_sorted and exists (
        select from jsonb_each_text(v_heads) h (order_key, first)
        where h.first <> '0' and (v_entries[h.first::integer] is null or v_entries[h.first::integer] = any (v_late))
    ) then
        raise exception using errcode = 'PQ00A'; -- one that was to be first isn't put in, so another one is
    elsif in_sorted and v_heads is not null then
        perform _queue_join_line(array_agg(v_entries[m.n]), array_agg(o.order_key))
        from jsonb_array_elements(in_messages) with ordinality m (message, n), lateral (
            select (case when m.message ? 'order_key' then m.message else in_options end) ->> 'order_key') o (order_key)
        where o.order_key is not null and not v_heads ? o.order_key and v_entries[m.n] is not null
            and v_entries[m.n] <> all (v_late);
    end if;
    v_logged := v_entries;
    if in_changes then
        v_outcomes := array_fill(null::text, array[jsonb_array_length(in_messages)]);
        for v_each in
            select o.*, m.n, v_keys[m.n] as key, coalesce(m.message -> 'payload', 'null') as payload
            from jsonb_array_elements(in_messages) with ordinality m (message, n),
                _queue_message(m.message, m.n, in_options, in_now) o
            where v_entries[m.n] is null and o.on_duplicate <> 'ignore'
                and (v_since is null or coalesce((
                    select r.ended_at from queue_dedup r
                    where r.p_kind = in_kind.p_kind and r.p_key = v_keys[m.n]) <= v_since, true))
            order by v_keys[m.n] collate "C", m.n
        loop
            -- one that came after the lock above: to wait for it here, out of order, could be a deadlock
            perform from delayed_queue q where q.p_kind = in_kind.p_kind
                and q.p_key = v_each.key for update skip locked;
            if not found then
                raise exception using errcode = 'PQ00A';
            end if;
            select in_kind.p_kind, v_each.key, v_each.payload, v_each.headers, v_each.scheduled_at
            into v_row.p_kind, v_row.p_key, v_row.payload, v_row.headers, v_row.scheduled_at;
            v_put := _queue_put_onto(v_row, v_each.on_duplicate, in_now);
            v_outcomes[v_each.n] := v_put.outcome;
            v_waits_for := v_waits_for || v_put.waits_for;
            if v_put.outcome = 'replaced' then
                v_onto := v_onto || v_put.entry;
                v_logged[v_each.n] := case when v_each.on_duplicate <> 'push_back' then v_put.entry end;
            end if;
        end loop;
    end if;
    if in_kind.filter_index or v_onto <> '{}' then -- who had to wait asks anew
        perform _queue_index(array_remove(v_entries || v_onto, null));
    end if;
    if v_more and in_messages @? '$[*].group' or in_options ? 'group' then
        perform _queue_enrol(array_agg(o.name), array_agg(v_entries[m.n]))
        from jsonb_array_elements(in_messages) with ordinality m (message, n), lateral (
            select (case when m.message ? 'group' then m.message else in_options end) ->> 'group') o (name)
        where v_entries[m.n] is not null and v_entries[m.n] <> all (v_late) and o.name is not null;
    end if;
    if v_waits_for is not null or v_default.semaphores is not null or v_more and in_messages @? '$[*].semaphores' then
        perform _queue_permits_settle(v_onto, v_waits_for || _queue_line_up(v_entries), true, in_now);
    end if;
    if in_kind.log_seconds > 0 then
        perform _queue_log(v_logged, v_outcomes, null::text, in_now);
    end if;
    return query
        select r.p_key, coalesce(r.outcome, case when r.entry is null or r.entry = any (v_late) then 'ignored'
            else 'created' end)
        from unnest(v_keys, v_entries, v_outcomes) r (p_key, entry, outcome);
end $$;
--;
comment on function _queue_push_batch(queue_kind, jsonb, jsonb, bigint, boolean, boolean) is
$$Puts many messages into a kind in one statement, then those whose keys were taken onto what is there, one by one.
in_kind: the settings of the kind. in_messages, in_options: as in queue_push_many. in_now: the time of the call.
in_changes: whether one of them has another on_duplicate than ignore. in_sorted: whether in the order of their keys;
else in their own.
Result: a row a message, in their order, which is that of their entries too.
Errors: PQ00A where it has to be made again.
Locks: with order keys as _queue_line; with in_changes what has one of the keys, in the order of the entries; waits
for other transactions that are putting one of the keys.
differs: on MariaDB and MySQL there is _queue_push_plain besides, for messages without the rarer options.$$;
--;
-- calls: _queue_index, _queue_is_plain, _queue_key, _queue_key_behind, _queue_log, _queue_push_options,
--     _queue_savepoint, _queue_take_back
-- changes: delayed_queue
create or replace function _queue_push_new(in_kind queue_kind, in_messages jsonb, in_options jsonb, in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_timeout constant text := current_setting('lock_timeout');
    v_all record; v_key text; v_keys text[]; v_entries bigint[];
begin
    if in_options ?| '{group,order_key,semaphores}'
        or jsonb_array_length(in_messages) < 2 -- the savepoint costs more than is saved
        or coalesce(current_setting('pyqueue.taken', true), '') >= (in_now - 60000000)::text
        or coalesce(current_setting('pyqueue.met', true), '') >= (in_now - 1000000)::text
        or exists (
            select from jsonb_array_elements(in_messages) m (message)
            where not (_queue_is_plain(m.message) and not m.message ?| '{order_key,semaphores}'))
        or not _queue_savepoint() then
        return null;
    end if;
    v_all := _queue_push_options(in_options, in_now);
    v_key := _queue_key(in_now);
    begin
        perform set_config('lock_timeout', '10', true);
        with i as (
            insert into delayed_queue as q (p_kind, p_key, payload, headers, priority, scheduled_at,
                scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at, route)
            select in_kind.p_kind, coalesce(m.message ->> 'key', _queue_key_behind(v_key, m.n)), m.message -> 'payload',
                case when m.message ? 'headers' then nullif(m.message -> 'headers', '{}') else v_all.headers end,
                coalesce((m.message -> 'priority')::smallint, v_all.priority), m.at, m.at, in_now, v_all.attempts,
                coalesce((m.message -> 'max_attempts')::integer, v_all.max_attempts),
                case when m.at <= in_now then m.at end, case when m.at > in_now then m.at end, v_all.route
            from (
                select j.n, j.message, coalesce((j.message -> 'scheduled_at')::bigint,
                    (in_now + (j.message -> 'delay_seconds')::numeric * 1000000)::bigint, v_all.scheduled_at) as at
                from jsonb_array_elements(in_messages) with ordinality j (message, n) offset 0) m
            returning q.p_key, q.entry)
        select array_agg(i.p_key), array_agg(i.entry) into v_keys, v_entries from i;
        perform set_config('lock_timeout', v_timeout, true);
        if in_kind.dedup_seconds > 0 and _queue_take_back(v_entries, in_now) <> '{}' then
            raise unique_violation; -- what is remembered is taken
        end if;
        if in_kind.filter_index then
            perform _queue_index(v_entries);
        end if;
        if in_kind.log_seconds > 0 then
            perform _queue_log(v_entries, null::text[], null::text, in_now);
        end if;
    exception when unique_violation or lock_not_available or deadlock_detected then
        perform set_config(case sqlstate when '23505' then 'pyqueue.taken' else 'pyqueue.met' end, in_now::text, false);
        return null;
    end;
    return v_keys;
end $$;
--;
comment on function _queue_push_new(queue_kind, jsonb, jsonb, bigint) is
$$queue_push_many for messages that are a payload each, perhaps with a key, a time, a priority, attempts and headers,
where none of the keys is taken: in their order, by one INSERT that looks for no key before it puts it in. Where one is
taken, or somebody else is putting it, all of that is undone, and the session doesn't try again for a minute, or a
second.
in_kind: the settings of the kind. in_messages, in_options: as in queue_push_many. in_now: the time of the call.
Result: the keys, in their order; NULL: nothing is done.
Errors: PQ002 and PQ003 for the options.
Locks: waits for nobody longer than 10 ms.
differs: InnoDB looks for a key while it puts it in, so _queue_push_plain is for taken keys, too.$$;
--;
-- calls: _queue_check_payload, _queue_is_heard, _queue_is_huge, _queue_key, _queue_push, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_push(in_kind text, in_key text default null, in_payload jsonb default null,
    in_options jsonb default null, out p_kind text, out p_key text, out scheduled_at bigint, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_key text := in_key;
begin
    if v_key is null then
        v_key := _queue_key(v_now);
    end if;
    if in_options is null and char_length(in_kind) between 1 and 95 and char_length(v_key) between 1 and 200
        and not (jsonb_path_exists(in_payload, '$.**{31}') or _queue_is_huge(in_payload)) then
        -- most pushes: a new key in a kind that asks for nothing more
        insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at, ready_at)
        select in_kind, v_key, in_payload, v_now, v_now, v_now, v_now
        where not exists (
            select from queue_kind k where k.p_kind = in_kind
                and (k.payload_shape is not null or k.dedup_seconds > 0 or k.draining or k.filter_index
                or k.log_seconds > 0 or k.roles is not null))
        on conflict on constraint delayed_queue_pkey do nothing;
        if found then
            p_kind := in_kind; p_key := v_key; scheduled_at := v_now; outcome := 'created';
            if statement_timestamp() > transaction_timestamp() + interval '5 ms' or _queue_is_heard(in_kind) then
                perform _queue_wake(in_kind, v_key);
            end if;
            return;
        end if;
    end if;
    perform _queue_check_payload(in_payload, 'payload');
    select p.* into p_kind, p_key, scheduled_at, outcome
        from _queue_push(in_kind, in_key, in_payload, null::bytea, in_options) p;
end $$;
--;
comment on function queue_push(text, text, jsonb, jsonb) is
$$Puts one message into a kind.
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
  route stays with a message that is given back, moved, dead or redriven. A push onto its key doesn't change it.
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
Where the idea comes from: INSERT IGNORE on (kind, key), A. Nedelcu's delayed queue.$$;
--;
-- calls: _queue_fail, _queue_push
create or replace function queue_push_bytes(in_kind text, in_key text default null, in_payload_bytes bytea default null,
    in_options jsonb default null, out p_kind text, out p_key text, out scheduled_at bigint, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
begin
    if in_payload_bytes is null then
        perform _queue_fail('PQ003', 'payload_bytes', null, 'must be bytes (none at all, '''', is fine)');
    end if;
    select p.* into p_kind, p_key, scheduled_at, outcome
        from _queue_push(in_kind, in_key, null::jsonb, in_payload_bytes, in_options) p;
end $$;
--;
comment on function queue_push_bytes(text, text, bytea, jsonb) is
$$Puts one message with a binary payload into a kind; it comes back byte for byte.
in_payload_bytes: the payload. The other parameters, the result, the errors and the locks are those of queue_push.$$;
--;
-- calls: _queue_check_fit, _queue_check_name, _queue_check_roles, _queue_fail, _queue_key, _queue_key_behind,
--     _queue_push_batch, _queue_push_new, _queue_savepoint, _queue_wake, queue_now
create or replace function queue_push_many(in_kind text, in_messages jsonb, in_options jsonb default null)
    returns table (p_key text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
    v_now constant bigint := queue_now();
    v_kind queue_kind;
    v_timeout constant text := current_setting('lock_timeout');
    v_ignores boolean; v_ordered boolean; v_quick boolean;
    v_key text; v_keys text[];
begin
    in_messages := coalesce(nullif(in_messages, 'null'), '[]'); in_options := nullif(in_options, 'null');
    if (char_length(in_kind) between 1 and 95) is not true then
        perform _queue_check_name(in_kind, 95, 'kind');
    elsif jsonb_typeof(in_messages) <> 'array' then
        perform _queue_fail('PQ001', 'messages', in_messages::text,
            'must be a JSON array of {key, payload, and push options}');
    end if;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    v_kind.p_kind := in_kind;
    if v_kind.roles is not null then
        perform _queue_check_roles(array[in_kind]);
    end if;
    if v_kind.draining then
        perform _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    elsif v_kind.payload_shape is not null then
        perform _queue_check_fit(v_kind.payload_shape, coalesce(m.message -> 'payload', 'null'),
            'messages[' || m.n - 1 || '].payload')
        from jsonb_array_elements(in_messages) with ordinality m (message, n) where jsonb_typeof(m.message) = 'object';
    end if;
    v_keys := _queue_push_new(v_kind, in_messages, in_options, v_now);
    if v_keys is not null then
        perform _queue_wake(in_kind, null);
        return query select k.p_key, 'created'::text from unnest(v_keys) k (p_key);
        return;
    end if;
    if in_messages @? '$[*] ? (!exists (@.key) || @.key == null)' then
        v_key := _queue_key(v_now);
        select jsonb_agg(case
            when jsonb_typeof(m.message) = 'object' and coalesce(m.message -> 'key', 'null') = 'null'
            then m.message || jsonb_build_object('key', _queue_key_behind(v_key, m.n)) else m.message end order by m.n)
        into in_messages from jsonb_array_elements(in_messages) with ordinality m (message, n);
    end if;
    v_ignores := coalesce(in_options ->> 'on_duplicate', 'ignore') = 'ignore'
        and not in_messages @? '$[*].on_duplicate';
    v_ordered := in_options ->> 'order_key' is not null or in_messages @? '$[*].order_key';
    v_quick := v_ignores and jsonb_array_length(in_messages) > 1
        and coalesce(current_setting('pyqueue.met', true), '') < (v_now - 1000000)::text and _queue_savepoint();
    if v_ignores and not v_ordered and not v_quick then
        return query select b.p_key, b.outcome
            from _queue_push_batch(v_kind, in_messages, in_options, v_now, false, true) b;
        perform _queue_wake(in_kind, null);
        return;
    end if;
    for v_try in 1 .. 2147483647 loop
        begin
            -- in the order of delivery, in which nobody may be waited for
            perform set_config('lock_timeout', '10', true) where v_quick;
            return query select b.p_key, b.outcome
                from _queue_push_batch(v_kind, in_messages, in_options, v_now, not v_ignores, not v_quick) b;
            perform case when v_quick then set_config('lock_timeout', v_timeout, true) end, _queue_wake(in_kind, null);
            return;
        -- all that it did and locked is undone: again
        exception when sqlstate 'PQ00A' or deadlock_detected or lock_not_available or unique_violation then
            if sqlstate in ('55P03', '23505') and not v_quick or sqlstate = '40P01' and (not v_own or v_try > 20) then
                raise;
            end if;
            -- where batches overlap, the other order costs less
            perform set_config('pyqueue.met', v_now::text, false) where v_quick;
            v_quick := false;
        end;
    end loop;
end $$;
--;
comment on function queue_push_many(text, jsonb, jsonb) is
$$Puts many messages into a kind: all or, with an error, none.
in_kind: the kind, 1 to 95 characters. in_messages: a JSON array of objects {key, payload, and push options}, see
queue_push; without a key each gets a time-ordered UUID; NULL: none. Duplicates inside the batch are treated as if
pushed one after another. in_options: push options for all; those of a message win.
Result: a row a message, in their order: p_key, outcome as in queue_push.
Errors: PQ007 for a kind that is for others. PQ001, PQ002, PQ003, naming the message as messages[0], messages[1], …;
PQ004 while the kind is drained, and for a group that has finished.
Locks: none, or with on_duplicate the messages whose keys are taken, in the order of their entries (where one turns up
out of order, the call undoes what it did and begins again); what others are putting in is waited for in the order of
the keys, so that overlapping batches don't deadlock.
Where the idea comes from: for the keys, RFC 9562, section 6.2, method 2.$$;
--;
-- changes: delayed_queue
create or replace function _queue_promote(in_kind text, in_low bigint, in_high bigint, in_floor bigint, in_max integer)
    returns bigint language plpgsql as $$
declare
    v_tids tid[];
    v_first bigint;
begin
    -- the best of what has come due, and few of them: a transaction that stays open keeps them from others
    v_tids := array(select c.tid from (
        select d.ctid as tid, d.priority, d.due_at, d.entry from delayed_queue d
        where d.p_kind = in_kind and d.due_at between in_low and in_high
        order by d.p_kind, d.due_at limit 1000) c
        order by c.priority desc, c.due_at, c.entry limit greatest(in_max, 20));
    if v_tids = '{}' then
        return null;
    end if;
    v_tids := array(select l.tid from (
        select d.ctid as tid, d.due_at, d.entry from delayed_queue d
        where d.ctid = any (v_tids) and d.p_kind || '' = in_kind and d.due_at + 0 <= in_high for update skip locked) l
        order by l.due_at, l.entry);
    if v_tids = '{}' then -- another transaction has all of these: the first of the others
        v_tids := array(select d.ctid from delayed_queue d
            where d.p_kind = in_kind and d.due_at between in_low and in_high
            order by d.p_kind, d.due_at limit greatest(in_max, 20) for update skip locked);
    end if;
    with u as (
        update delayed_queue q set ready_at = greatest(q.due_at, in_floor + t.place), due_at = null
        from unnest(v_tids) with ordinality t (tid, place) where q.ctid = t.tid returning q.ready_at)
    select min(u.ready_at) into v_first from u;
    return v_first;
end $$;
--;
comment on function _queue_promote(text, bigint, bigint, bigint, integer) is
$$Moves messages that have come due from the timetable into the ready line.
in_kind: the kind. in_low, in_high: the part of the timetable. in_floor: the earliest place in the line that they may
get: where sessions no longer look at the line's beginning, a place that nobody would see is none; those that would have
an earlier one stand behind it in their order, a microsecond apart. in_max: how many were asked for; 20 at the least are
moved, the best of the 1000 that came due first.
Result: the first place given; NULL where there was nothing.
Locks: those messages; what others have locked is left out.$$;
--;
create or replace function _queue_scan(in_kind text, in_now bigint, in_max integer, in_most integer,
    in_cursor queue_cursor, in_from text, in_low bigint, out tids tid[], out expired bigint, out ends bigint,
    out last bigint, out last_entry bigint) language plpgsql as $$
declare
    v_rank constant bigint := in_cursor.ranks[1];
    v_places constant bigint[] := case in_from when 'marks' then in_cursor.older_places else in_cursor.places end;
    v_entries constant bigint[] := case in_from when 'marks' then in_cursor.older_entries else in_cursor.entries end;
    v_low bigint;
    v_entry bigint;
begin
    if in_from = 'start' then
        select array_agg(r.tid), count(r.reserved_at), count(*) filter (where r.ends) into tids, expired, ends from (
            select q.ctid as tid, q.reserved_at, q.pending is not null or q.semaphores is not null
                or q.attempts >= coalesce(q.max_attempts, in_most) as ends
            from delayed_queue q
            where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) r;
    elsif cardinality(in_cursor.ranks) = 1 then -- one priority in use: what stands before it, then it and what follows
        v_low := least(v_places[1], in_low);
        v_entry := case when v_low = in_low then 0 else v_entries[1] end;
        select array_agg(r.tid), count(r.reserved_at), count(*) filter (where r.ends), case when min(r.rank) = v_rank
            and max(r.rank) = v_rank then max(r.ready_at) end, (array_agg(r.entry))[count(*)]
        into tids, expired, ends, last, last_entry
        from (select l.* from (
            select * from (
                select q.ctid as tid, q.reserved_at, -q.priority::integer as rank, q.ready_at, q.entry,
                    q.pending is not null or q.semaphores is not null
                    or q.attempts >= coalesce(q.max_attempts, in_most) as ends
                from delayed_queue q
                where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                    and -q.priority::integer < v_rank
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) a
            union all
            select * from (
                select q.ctid, q.reserved_at, -q.priority::integer, q.ready_at, q.entry,
                    q.pending is not null or q.semaphores is not null or q.attempts >= coalesce(q.max_attempts, in_most)
                from delayed_queue q
                where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                    and (-q.priority::integer, q.ready_at, q.entry) >= (v_rank, v_low, v_entry)
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) b
            ) l limit in_max) r;
    else
        select array_agg(r.tid), count(r.reserved_at), count(*) filter (where r.ends) into tids, expired, ends from (
            select l.tid, l.reserved_at, l.ends
            from unnest(-2147483648::bigint || in_cursor.ranks, 0::bigint || v_places, 0::bigint || v_entries,
                    in_cursor.ranks || 2147483648) a (rank, place, entry, next_rank),
                lateral (
                    select q.ctid as tid, q.reserved_at, q.pending is not null or q.semaphores is not null
                        or q.attempts >= coalesce(q.max_attempts, in_most) as ends
                    from delayed_queue q
                    where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                        and (-q.priority::integer, q.ready_at, q.entry)
                            >= (a.rank, least(a.place, in_low), case when a.place >= in_low then 0 else a.entry end)
                        and -q.priority::integer < a.next_rank
                    order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) l
            limit in_max) r;
    end if;
end $$;
--;
comment on function _queue_scan(text, bigint, integer, integer, queue_cursor, text, bigint) is
$$The next messages of the ready line, locked.
in_kind: the kind. in_now: the time of the call. in_max: how many. in_most: how many deliveries a message of the
kind may have. in_cursor: the cursor. in_from: where to begin: start, cursor (its places) or marks (its older marks).
in_low: no later than this place, NULL for none.
Result: tids, row identifiers (NULL for none); expired: how many of them are expired holds; ends: how many name
semaphores or can't be delivered; last and last_entry, the place that they give, where one priority is in use and all
are of it. A lane with the gap behind it is one range of the index, so a priority that comes new is found where it
stands.
Locks: the messages; what others have locked is left out.$$;
--;
-- calls: _queue_effort, _queue_find_expired, _queue_keep_cursor, _queue_look_back, _queue_promote, _queue_scan,
--     _queue_setting, _queue_shared_cursor, _queue_ticks
create or replace function _queue_take(in_kind text, in_max integer, in_now bigint, in_most integer, out tids tid[],
    out expired bigint, out ends bigint, out slow boolean) language plpgsql as $$
declare
    v_name constant text := _queue_setting('cursor ' || in_kind);
    v_text constant text := current_setting(v_name, true);
    v_cursor queue_cursor := nullif(v_text, '')::queue_cursor;
    v_from text := 'start';
    v_start constant bigint := _queue_ticks();
    v_effort bigint := _queue_effort();
    v_found bigint; v_took bigint;
    v_low bigint; v_first bigint; v_last bigint; v_entry bigint;
    v_back record;
begin
    if v_text is null then
        v_cursor := _queue_shared_cursor(in_kind, in_now);
        if v_cursor.p_kind is not null and random() < 0.95 then
            v_cursor.marks_at := v_start + 1000000; -- many that come new needn't all look from the marks at once
        end if;
        perform set_config(v_name, case when v_cursor.p_kind is null then '' else v_cursor::text end, false);
    end if;
    if v_cursor.turn_at > v_start + 4000000 or greatest(v_cursor.start_at, v_cursor.marks_at) > v_start + 3600000000
        then
        v_cursor := null; -- the clock was set back: it is of the future
    end if;
    slow := coalesce(v_cursor.took > 5000, false);
    if slow and v_start >= v_cursor.marks_at then -- one look from the marks is enough for all sessions
        v_cursor.marks_at := greatest(v_cursor.marks_at, (
            select least(c.marks_at, v_start + 1000000) from queue_cursor c where c.p_kind = in_kind
                order by c.id desc limit 1));
    end if;
    if slow or v_start < v_cursor.start_at + (case when random() < 0.9 then 1000000 else 0 end) then
        v_from := case when v_start < v_cursor.marks_at then 'cursor' else 'marks' end;
    end if;
    if slow and (v_from = 'marks' or v_start >= v_cursor.start_at) then
        -- what the scan from the cursor can't see: holds that have expired, and a step of the look back
        if v_start >= v_cursor.marks_at then
            select f.tids, f.low into tids, v_cursor.hold_from
                from _queue_find_expired(in_kind, v_cursor.hold_from, in_now, in_max) f;
        end if;
        if tids is null and v_start >= v_cursor.start_at then
            v_back := _queue_look_back(in_kind, in_now, in_max, v_cursor);
            tids := v_back.tids;
            v_cursor := v_back.moved;
        end if;
        perform set_config(v_name, v_cursor::text, false);
        if tids is not null then
            return;
        end if;
        v_effort := _queue_effort();
    end if;
    loop
        v_low := case v_from when 'start' then 0 when 'marks' then v_cursor.due_older else v_cursor.due end;
        if exists (select from delayed_queue d where d.p_kind = in_kind and d.due_at between v_low and in_now) then
            v_found := _queue_effort();
            v_first := _queue_promote(in_kind, v_low, in_now, case when slow then in_now - 1000000 else 0 end, in_max);
            for i in 1 .. case when slow or v_from = 'start' then 0 else cardinality(v_cursor.ranks) end loop
                if v_first <= v_cursor.places[i] then
                    v_cursor.places[i] := v_first;
                    v_cursor.entries[i] := 0;
                end if;
                if v_first <= v_cursor.newer_places[i] then
                    v_cursor.newer_places[i] := v_first;
                    v_cursor.newer_entries[i] := 0;
                end if;
                if v_first <= v_cursor.older_places[i] then
                    v_cursor.older_places[i] := v_first;
                    v_cursor.older_entries[i] := 0;
                end if;
            end loop;
            v_effort := v_effort + _queue_effort() - v_found;
        end if;
        select s.tids, s.expired, s.ends, s.last, s.last_entry into tids, expired, ends, v_last, v_entry
        from _queue_scan(in_kind, in_now, in_max, in_most, v_cursor, v_from, v_first) s;
        v_took := _queue_effort() - v_effort;
        exit when tids is not null or v_from = 'start' or slow;
        v_from := 'start'; -- nothing there: look from the start, unless that is known to be slow
        v_effort := _queue_effort();
    end loop;
    if v_from = 'start' and (v_cursor.p_kind is not null or v_took > 10 + in_max)
        or v_start >= least(v_cursor.marks_at, v_cursor.turn_at) or v_took > 60 + 3 * in_max and v_last is null then
        perform _queue_keep_cursor(in_kind, v_name, v_cursor, v_from, v_start, v_took, in_max, tids, in_now);
    elsif v_last >= v_cursor.places[1] then -- the common case of the same
        v_cursor.places[1] := v_last;
        v_cursor.entries[1] := v_entry;
        perform set_config(v_name, v_cursor::text, false);
    elsif v_first is not null and v_from <> 'start' then
        perform set_config(v_name, v_cursor::text, false);
    end if;
end $$;
--;
comment on function _queue_take(text, integer, bigint, integer) is
$$The next messages of a kind, in the order of delivery, locked: the one way in which a message is taken.
in_kind: the kind. in_max: how many. in_now: the time of the call. in_most: how many deliveries a message of the kind
may have.
Result: tids, expired and ends, see _queue_scan, the last two NULL where nobody has counted; slow, whether a scan from
the start is, so that the ends of holds have to be noted in queue_hold.
Locks: the messages, and as many (20 at the least) that have come due; what others have locked is passed over.

Where entries that died lie before the living ones, because nobody cleaned them away yet or an open snapshot forbids it,
a scan from the start gets slow. So each session keeps a cursor, in a setting of its own, and scans from where it last
found something. It looks again from the older marks, where the cursor was 2 to 4 s ago, every 0.4 to 0.8 s, so that
what was committed late is found; and from the start after 200 times what that costs (_queue_effort), 5 ms at the least,
or up to 1 s later, since a session that calls seldom would do so in each call. Where one costs over 5 ms, expired
holds are found by the notes in queue_hold, what is further back is looked through in small steps, 2% of the time, and
sessions share the looks from the marks by way of queue_cursor. While no session took 64 messages by slow scans, and
where they are fast, none keeps a cursor, and the order is exact; with one a message that is pushed with a time in the
past may come a second late.
A cursor is whole once 64 messages were taken by slow scans, where another session has one, or after a scan that cost
over 20 ms. Its fields are the columns of queue_cursor.$$;
--;
-- calls: _queue_bury, _queue_end, _queue_misfit, _queue_settings
create or replace function _queue_end_undeliverable(in_tids tid[], in_now bigint) returns void language plpgsql as $$
declare
    v_row delayed_queue;
    v_shape jsonb;
begin
    for v_row in
        select q.* from delayed_queue q where q.ctid = any (in_tids) and q.scheduled_at <= in_now
        order by q.p_key, q.p_kind -- as everywhere
    loop
        if v_row.pending is not null then
            perform _queue_end(array[v_row.entry], null::bytea[], null::text, null::text, in_now);
        else
            v_shape := (_queue_settings(v_row.p_kind)).payload_shape;
            perform _queue_bury(v_row.entry, coalesce('payload ' || case when v_shape is not null
                then _queue_misfit(v_shape, v_row.payload) end, 'expired'), in_now);
        end if;
    end loop;
end $$;
--;
comment on function _queue_end_undeliverable(tid[], bigint) is
$$Ends what was taken and can't be delivered: where something newer was pushed while it was held, that is put in; where
it was the last delivery the message may have, or its payload is not of its kind, it becomes a dead letter.
in_tids: messages, locked already; those that are held again are left alone. in_now: the time of the call.
differs: on MariaDB and MySQL one message, because a procedure has no arrays.$$;
--;
-- calls: _queue_advance, _queue_blocked, _queue_end, _queue_groups_due, _queue_misfit, _queue_permits_settle,
--     _queue_setting, _queue_take, _queue_take_where, _queue_take_with_permits
-- changes: delayed_queue, queue_count, queue_hold
create or replace function _queue_deliver(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint,
    in_worker text, in_seed bytea, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql as $$
declare
    v_pops constant boolean := in_until is null;
    v_take record;
    v_tids tid[]; v_expired bigint; v_slow boolean; v_ended bigint[]; v_held boolean;
begin
    perform _queue_groups_due(in_now);
    if in_where is null then
        v_take := _queue_take(in_kind.p_kind, in_max, in_now, coalesce(in_kind.max_attempts, 2147483647));
    else
        v_take := _queue_take_where(in_kind, in_max, in_now, in_where);
    end if;
    if v_take.ends = 0 and not in_kind.semaphores
        and (in_kind.payload_shape is null or not exists (
            select from delayed_queue q where q.ctid = any (v_take.tids)
                and _queue_misfit(in_kind.payload_shape, q.payload) is not null))
        and (not v_pops or _queue_blocked(v_take.tids) = '{}') then -- most calls: all can be delivered
        v_tids := v_take.tids;
        v_expired := v_take.expired;
        v_slow := v_take.slow;
    elsif v_take.tids is not null or in_kind.semaphores then
        select p.tids, p.expired, p.slow, p.ended, p.held into v_tids, v_expired, v_slow, v_ended, v_held
        from _queue_take_with_permits(in_kind, in_max, in_now, in_until, in_where, v_take.tids, v_take.slow) p;
    end if;
    if v_expired > 0 then
        insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_expired, v_expired);
    end if;
    if v_tids <> '{}' and not v_pops then
        if v_slow then
            insert into queue_hold (p_kind, until, entries)
            select in_kind.p_kind, in_until, array_agg(q.entry) from delayed_queue q where q.ctid = any (v_tids);
        end if;
        return query
            update delayed_queue q
            set scheduled_at = in_until, reserved_at = in_now, attempts = q.attempts + 1, reserved_by = in_worker,
                secret = substr(sha256(in_seed || int8send(q.entry)), 1, 16)
            from unnest(v_tids) t (tid) where q.ctid = t.tid
            returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
                q.entry || '-' || encode(q.secret, 'hex'), q.errors;
    elsif v_tids <> '{}' then
        return query
            select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                q.scheduled_at_initially, q.created_at, in_now, q.attempts + 1, null::text, null::text, q.errors
            from unnest(v_tids) t (tid) join delayed_queue q on q.ctid = t.tid;
        v_ended := v_ended || array( -- NULL where no semaphore matters
            select q.entry from delayed_queue q where v_ended is not null and q.ctid = any (v_tids));
        if in_kind.history_seconds > 0 or in_kind.dedup_seconds > 0 or in_kind.log_seconds > 0 then
            perform _queue_end(array(select q.entry from unnest(v_tids) t (tid) join delayed_queue q on q.ctid = t.tid),
                null::bytea[], 'popped', null::text, in_now);
        else
            with d as (delete from delayed_queue q where q.ctid = any (v_tids) returning q.source_kind, q.order_key)
            insert into queue_count (p_kind, pushed, popped)
            select in_kind.p_kind, count(*) - count(d.source_kind), count(*) from d
            having count(d.order_key) = 0 or _queue_advance( -- all of them are deleted by now
                array_agg(in_kind.p_kind) filter (where d.order_key is not null),
                array_agg(d.order_key) filter (where d.order_key is not null), in_now, null::bigint[]) is not null;
        end if;
    end if;
    if v_ended <> '{}' then
        perform _queue_permits_settle(v_ended, null::text[], not v_held, in_now);
    elsif current_setting(_queue_setting('settle'), true) <> '' then
        perform _queue_permits_settle(null::bigint[], null::text[], false, in_now);
    end if;
end $$;
--;
comment on function _queue_deliver(queue_kind, integer, bigint, bigint, text, bytea, jsonb) is
$$The verb deliver: chooses messages, holds them for a worker, or ends them at once for a pop, and answers them.
queue_reserve and queue_pop do it themselves in the most frequent case alone: one message, from the cursor on. What
needs a closer look is for _queue_take_with_permits.
in_kind: the settings of the kind. in_max: how many messages. in_now: the time of the call. in_until: when the hold
ends; NULL: they end, as popped.
in_worker: who takes them. in_seed: what their secrets are made of, with their entries. in_where: what they must match,
see _queue_where; NULL: anything.
Result: that of queue_reserve and queue_pop; the receipt of a popped message is NULL.
Locks: those of queue_reserve and queue_pop.
differs: a procedure of MariaDB and MySQL can't hand rows to another one, so it hands over entries there.$$;
--;
-- calls: _queue_admit, _queue_admitted, _queue_check_count, _queue_check_name, _queue_check_options,
--     _queue_check_roles, _queue_check_writable, _queue_defaults, _queue_deliver, _queue_effort, _queue_fail,
--     _queue_keep_cursor, _queue_no_look_is_due, _queue_number, _queue_setting, _queue_ticks, _queue_upkeep,
--     _queue_use, _queue_where, queue_now
-- changes: delayed_queue, queue_hold
create or replace function queue_reserve(in_kind text, in_worker text default null,
    in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now(); v_ticks constant bigint := _queue_ticks();
    v_worker constant text := coalesce(in_worker, left(session_user, 180) || '/' || pg_backend_pid());
    v_seed constant bytea := uuid_send(gen_random_uuid()); -- one a call: it takes 4 µs
    v_name constant text := _queue_setting('cursor ' || in_kind);
    v_text constant text := current_setting(v_name, true);
    v_cursor queue_cursor := nullif(v_text, '')::queue_cursor; v_quiet constant boolean := v_cursor.ranks is null;
    v_left integer := coalesce(in_max_messages, 1);
    v_kind queue_kind; v_limited boolean; v_admission record;
    v_receipts text[] := '{}'; v_where jsonb;
    v_until bigint; v_entry bigint; v_place bigint; v_tid tid; v_effort bigint;
begin
    if (char_length(in_kind) between 1 and 100 and v_left between 1 and 10000
        and char_length(v_worker) between 1 and 200
        and current_setting('transaction_read_only') = 'off') is not true then
        perform _queue_check_writable();
        perform _queue_check_name(in_kind, 100, 'kind');
        perform _queue_check_count(v_left::bigint, 'max_messages', 10000::bigint);
        perform _queue_fail('PQ001', 'worker', v_worker, 'must have 1 to 200 characters');
    end if;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if not found then
        v_kind := _queue_defaults();
    end if;
    v_kind.p_kind := in_kind;
    if v_kind.roles is not null then
        perform _queue_check_roles(array[in_kind]);
    end if;
    v_until := v_now + v_kind.timeout_seconds * 1000000;
    if in_options is not null then
        perform _queue_check_options(in_options, '{timeout_seconds, where}'::text[], 'options');
        v_where := _queue_where(in_options);
        v_until := coalesce(v_now + _queue_number(in_options, 'timeout_seconds', 0.001, 31536000::numeric) * 1000000,
            v_until);
    end if;
    if v_kind.expires_seconds is not null then
        perform _queue_use(v_kind, v_now);
    end if;
    if v_kind.paused then
        return;
    elsif random() < 0.05 then
        perform _queue_upkeep(v_kind, v_now, 40 * v_left::bigint);
    end if;
    v_limited := coalesce(v_kind.max_reserved, v_kind.rate_per_second) is not null;
    if v_limited then
        v_admission := _queue_admit(v_kind, v_left, v_now);
        v_left := v_admission.allowed;
    end if;
    if v_left = 1 and v_where is null and v_kind.payload_shape is null
        and _queue_no_look_is_due(v_text, v_cursor, v_ticks) then
        -- most calls: one message that nobody had; what _queue_take does, in one statement
        v_effort := case when v_quiet then _queue_effort() end;
        update delayed_queue q
        set scheduled_at = v_until, reserved_at = v_now, attempts = q.attempts + 1, reserved_by = v_worker,
            secret = v_seed
        where q.pending is null and q.semaphores is null and q.reserved_at is null
            and q.attempts < coalesce(q.max_attempts, v_kind.max_attempts, 2147483647) and q.ctid = (
            select l.ctid from delayed_queue l
            where l.p_kind = in_kind and l.ready_at is not null and l.scheduled_at <= v_now
                and (v_quiet or l.reserved_at is null)
                and (-l.priority::integer, l.ready_at, l.entry) >= (coalesce(v_cursor.ranks[1], -2147483648),
                    coalesce(v_cursor.places[1], 0), coalesce(v_cursor.entries[1], 0))
                and -l.priority::integer <= coalesce(v_cursor.ranks[1], 2147483647)
                and not exists (select from delayed_queue d where d.p_kind = in_kind
                    and d.due_at between coalesce(v_cursor.due, 0) and v_now)
                and not exists (
                    select from delayed_queue h where h.p_kind = in_kind and h.ready_at is not null
                        and -h.priority::integer < v_cursor.ranks[1] and h.scheduled_at <= v_now)
            order by l.p_kind, -l.priority::integer, l.ready_at, l.entry limit 1 for update skip locked)
        returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            q.entry || '-' || encode(v_seed, 'hex'), q.errors, q.entry, q.ready_at, q.ctid
        into p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially,
            created_at, reserved_at, attempts, reserved_by, receipt, errors, v_entry, v_place, v_tid;
        if found then
            if v_cursor.took > 5000 and v_until < v_now + greatest(v_kind.timeout_seconds, 10) * 1000000 then
                insert into queue_hold (p_kind, until, entries) values (in_kind, v_until, array[v_entry]);
            end if;
            if not v_quiet then
                v_cursor.places[1] := v_place;
                v_cursor.entries[1] := v_entry;
                perform set_config(v_name, v_cursor::text, false);
            elsif v_cursor.p_kind is not null or _queue_effort() - v_effort > 11 then -- as in _queue_take
                perform _queue_keep_cursor(in_kind, v_name, v_cursor, 'start', v_ticks, _queue_effort() - v_effort, 1,
                    array[v_tid], v_now);
            end if;
            if v_limited then
                perform _queue_admitted(v_kind, v_admission.state, v_admission.slots, v_admission.numbers,
                    array[receipt], v_now);
            end if;
            return next;
            return;
        end if;
    end if;
    if not v_limited then
        for v_try in 1 .. case v_left when 1 then 0 else 3 end loop -- a savepoint is 5% of what one message costs
            begin
                return query select m.* from _queue_deliver(v_kind, v_left, v_now, v_until, v_worker, v_seed,
                    v_where) m;
                return;
            -- SKIP LOCKED waits where a row has just been updated and locked anew: again
            exception when deadlock_detected then
            end;
        end loop;
        return query select m.* from _queue_deliver(v_kind, v_left, v_now, v_until, v_worker, v_seed, v_where) m;
        return;
    end if;
    if v_left > 0 then
        for p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially, created_at,
            reserved_at, attempts, reserved_by, receipt, errors in
            select m.* from _queue_deliver(v_kind, v_left, v_now, v_until, v_worker, v_seed, v_where) m
        loop
            v_receipts := v_receipts || receipt;
            return next;
        end loop;
    end if;
    perform _queue_admitted(v_kind, v_admission.state, v_admission.slots, v_admission.numbers, v_receipts, v_now);
end $$;
--;
comment on function queue_reserve(text, text, integer, jsonb) is
$$Takes ready messages of a kind. Nobody else gets them until their timeout has passed. If the consumer dies, the
messages come back by themselves.
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
delivery and can't be guessed: queue_ack, queue_nack, queue_move and queue_extend want it. errors: see queue_get. No
row where nothing is ready or the kind is paused; fewer rows where max_reserved or rate_per_second of the kind allow
no more. Order: priority, then delivery time, then entry. Where several consumers reserve at once, that order is best
effort. High priorities can keep low ones waiting without an end. A message that names semaphores is taken with a permit
of each, or goes to wait in line, see queue_semaphore. A call waits for their rows where others are taking or giving
permits. A message becomes a dead letter here if its last delivery (max_attempts) has expired, or if its payload is not
of its kind (payload_shape).
Errors: PQ007 for a kind that is for others. PQ001 for kind, worker and max_messages, PQ002 for options.
Locks: the messages. The call passes over what others have locked, so no call waits for another, but for semaphores.
See _queue_take for the rest, and _queue_admit for what a kind with limits locks before.
Where the idea comes from: the visibility timeout of SQS; SELECT … FOR UPDATE SKIP LOCKED.$$;
--;
-- calls: _queue_admit, _queue_admitted, _queue_advance, _queue_check_count, _queue_check_name, _queue_check_options,
--     _queue_check_roles, _queue_check_writable, _queue_defaults, _queue_deliver, _queue_effort, _queue_keep_cursor,
--     _queue_no_look_is_due, _queue_setting, _queue_ticks, _queue_upkeep, _queue_use, _queue_where, queue_now
-- changes: delayed_queue, queue_count
create or replace function queue_pop(in_kind text, in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, errors jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now(); v_ticks constant bigint := _queue_ticks();
    v_name constant text := _queue_setting('cursor ' || in_kind);
    v_text constant text := current_setting(v_name, true);
    v_cursor queue_cursor := nullif(v_text, '')::queue_cursor; v_quiet constant boolean := v_cursor.ranks is null;
    v_left integer := coalesce(in_max_messages, 1); v_rows integer := 0;
    v_kind queue_kind; v_admission record; v_where jsonb;
    v_pushed integer; v_order text;
    v_entry bigint; v_place bigint; v_effort bigint;
begin
    if (char_length(in_kind) between 1 and 100 and v_left between 1 and 10000
        and current_setting('transaction_read_only') = 'off') is not true then
        perform _queue_check_writable();
        perform _queue_check_name(in_kind, 100, 'kind');
        perform _queue_check_count(v_left::bigint, 'max_messages', 10000::bigint);
    elsif in_options is not null then
        perform _queue_check_options(in_options, '{where}'::text[], 'options');
        v_where := _queue_where(in_options);
    end if;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if not found then
        v_kind := _queue_defaults();
        v_kind.p_kind := in_kind;
    end if;
    if v_kind.roles is not null then
        perform _queue_check_roles(array[in_kind]);
    end if;
    if v_kind.expires_seconds is not null then
        perform _queue_use(v_kind, v_now);
    end if;
    if v_kind.paused then
        return;
    elsif random() < 0.05 then
        perform _queue_upkeep(v_kind, v_now, 40 * v_left::bigint);
    end if;
    if v_kind.rate_per_second is not null then
        v_kind.max_reserved := null; -- nothing is held
        v_admission := _queue_admit(v_kind, v_left, v_now);
        v_left := v_admission.allowed;
    end if;
    if v_left = 1 and v_kind.rate_per_second is null and v_where is null and v_kind.payload_shape is null
        and (v_kind.history_seconds > 0 or v_kind.dedup_seconds > 0 or v_kind.log_seconds > 0) is not true
        and (not v_quiet or coalesce(v_cursor.slow_taken, 0) < 63)
        and _queue_no_look_is_due(v_text, v_cursor, v_ticks) then
        -- as in queue_reserve
        v_effort := case when v_quiet then _queue_effort() end;
        delete from delayed_queue q
        where q.pending is null and q.semaphores is null and q.reserved_at is null
            and q.attempts < coalesce(q.max_attempts, v_kind.max_attempts, 2147483647) and q.ctid = (
            select l.ctid from delayed_queue l
            where l.p_kind = in_kind and l.ready_at is not null and l.scheduled_at <= v_now
                and (v_quiet or l.reserved_at is null)
                and (-l.priority::integer, l.ready_at, l.entry) >= (coalesce(v_cursor.ranks[1], -2147483648),
                    coalesce(v_cursor.places[1], 0), coalesce(v_cursor.entries[1], 0))
                and -l.priority::integer <= coalesce(v_cursor.ranks[1], 2147483647)
                and not exists (select from delayed_queue d where d.p_kind = in_kind
                    and d.due_at between coalesce(v_cursor.due, 0) and v_now)
                and not exists (
                    select from delayed_queue h where h.p_kind = in_kind and h.ready_at is not null
                        and -h.priority::integer < v_cursor.ranks[1] and h.scheduled_at <= v_now)
            order by l.p_kind, -l.priority::integer, l.ready_at, l.entry limit 1 for update skip locked)
        returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, v_now, q.attempts + 1, null::text, q.errors,
            (q.source_kind is null)::integer, q.entry, q.ready_at, q.order_key
        into p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially,
            created_at, reserved_at, attempts, reserved_by, errors, v_pushed, v_entry, v_place, v_order;
        if found then
            insert into queue_count (p_kind, pushed, popped) values (in_kind, v_pushed, 1);
            if v_order is not null then
                perform _queue_advance(array[in_kind], array[v_order], v_now, null::bigint[]);
            end if;
            if not v_quiet then
                v_cursor.places[1] := v_place;
                v_cursor.entries[1] := v_entry;
                perform set_config(v_name, v_cursor::text, false);
            elsif _queue_effort() - v_effort > 11 then
                -- a whole cursor is made by _queue_take, out of what is still there
                v_cursor.p_kind := in_kind;
                v_cursor.slow_taken := case when _queue_effort() - v_effort < 20000
                    then coalesce(v_cursor.slow_taken, 0) + 1 else 64 end;
                perform set_config(v_name, v_cursor::text, false);
            elsif v_cursor.p_kind is not null then
                perform _queue_keep_cursor(in_kind, v_name, v_cursor, 'start', v_ticks, 0::bigint, 1, null::tid[],
                    v_now);
            end if;
            return next;
            return;
        end if;
    end if;
    -- as in queue_reserve
    for v_try in 1 .. case when v_left > 1 and v_kind.rate_per_second is null then 3 else 0 end loop
        begin
            return query
                select m.p_kind, m.p_key, m.payload, m.payload_bytes, m.headers, m.priority, m.scheduled_at,
                    m.scheduled_at_initially, m.created_at, m.reserved_at, m.attempts, m.reserved_by, m.errors
                from _queue_deliver(v_kind, v_left, v_now, null::bigint, null::text, null::bytea, v_where) m;
            return;
        exception when deadlock_detected then
        end;
    end loop;
    if v_left > 0 then
        return query
            select m.p_kind, m.p_key, m.payload, m.payload_bytes, m.headers, m.priority, m.scheduled_at,
                m.scheduled_at_initially, m.created_at, m.reserved_at, m.attempts, m.reserved_by, m.errors
            from _queue_deliver(v_kind, v_left, v_now, null::bigint, null::text, null::bytea, v_where) m;
        get diagnostics v_rows = row_count;
    end if;
    if v_kind.rate_per_second is not null then
        perform _queue_admitted(v_kind, v_admission.state, null::integer[], null::bigint[],
            array_fill(null::text, array[v_rows]), v_now);
    end if;
end $$;
--;
comment on function queue_pop(text, integer, jsonb) is
$$Takes ready messages of a kind and removes them. They are delivered at most once: there is no way back.
in_kind: the kind.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: which ones.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
Result: the columns of each message as it was, and errors (see queue_get), times in microseconds; reserved_at and
attempts are of this delivery. Order, paused kinds and rate_per_second as in queue_reserve. max_reserved doesn't
matter, since nothing is held. A message that names semaphores is taken only where there is a permit of each, which it
has until the transaction ends; what follows is not counted.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages, PQ002 for options.
Locks: as queue_reserve; with rate_per_second as _queue_admit before the messages.$$;
--;
-- calls: _queue_check_seconds, _queue_extend_with_permits, _queue_receipt, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_extend(in_receipt text, in_seconds double precision, out receipt text,
    out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipt record;
    v_kind text;
begin
    v_receipt := _queue_receipt(in_receipt);
    perform _queue_check_seconds(in_seconds);
    update delayed_queue q set scheduled_at = v_now + (in_seconds * 1000000)::bigint
    where q.entry = v_receipt.entry and q.secret = v_receipt.secret and q.semaphores is null
        and q.reserved_by is not null
    returning q.p_kind into v_kind;
    receipt := in_receipt;
    outcome := 'extended';
    if v_kind is null then
        if _queue_extend_with_permits(array[v_receipt.entry], array[v_receipt.secret], in_seconds, v_now) = '{}' then
            outcome := 'lost';
        end if;
    elsif in_seconds = 0 then
        perform _queue_wake(v_kind, null);
    end if;
end $$;
--;
comment on function queue_extend(text, double precision) is
$$Keeps the hold of a message for so long from now; the receipt stays the same.
in_receipt: what queue_reserve answered. in_seconds: 0 to a year (31536000).
Result: receipt, outcome: extended; lost where somebody else has got the message since, or it was acked, moved or
removed; and where its hold has expired and a permit of one of its semaphores is somebody else's, or, in a kind with
max_reserved, its place was wanted.
Errors: PQ005 for what is no receipt, PQ001 for seconds.
Locks: the message.$$;
--;
-- calls: _queue_check_seconds, _queue_extend_with_permits, _queue_receipts, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_extend_many(in_receipts jsonb, in_seconds double precision)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts record;
    v_outcomes text[];
    v_place bigint;
    v_kind text;
    v_guarded bigint[];
begin
    v_receipts := _queue_receipts(in_receipts);
    perform _queue_check_seconds(in_seconds);
    v_outcomes := array_fill('lost'::text, array[cardinality(v_receipts.receipts)]);
    -- all in the order of their entries, where some name semaphores: those are extended after the others
    perform q.entry from delayed_queue q where q.entry = any (v_receipts.entries) and exists (
        select from unnest(v_receipts.entries) r (entry) join delayed_queue m on m.entry between r.entry and r.entry
            where m.semaphores is not null)
        order by q.entry + 0 for update;
    for v_place, v_kind in
        update delayed_queue q set scheduled_at = v_now + (in_seconds * 1000000)::bigint
        from unnest(v_receipts.entries, v_receipts.secrets, v_receipts.places) r (entry, secret, place)
        where q.entry between r.entry and r.entry and q.secret = r.secret and q.semaphores is null
            and q.reserved_by is not null
        returning r.place, q.p_kind
    loop
        v_outcomes[v_place] := 'extended';
        if in_seconds = 0 then
            perform _queue_wake(v_kind, null);
        end if;
    end loop;
    if v_outcomes @> array['lost'] then
        v_guarded := _queue_extend_with_permits(v_receipts.entries, v_receipts.secrets, in_seconds, v_now);
        foreach v_place in array v_guarded loop
            v_outcomes[v_receipts.places[v_place]] := 'extended';
        end loop;
    end if;
    return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;
--;
comment on function queue_extend_many(jsonb, double precision) is
$$Keeps the holds of many messages: queue_extend for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_seconds: 0 to a year (31536000).
Result: a row a receipt, in their order: receipt, outcome: extended, lost; one that stands twice is lost the second
time.
Errors: PQ005 with the first that is no receipt, PQ001 for seconds; then nothing is extended.
Locks: the messages, in the order of their entries.$$;
--;
-- calls: _queue_check_options, _queue_fail, _queue_is_receipt, _queue_setting, _queue_text, queue_ack,
--     queue_ack_many, queue_reserve
-- changes: queue_count
create or replace function queue_next(in_receipts jsonb, in_kind text, in_worker text default null,
    in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_options jsonb;
    v_timeout constant text := current_setting('lock_timeout');
    v_lost text[];
    v_permits text;
    v_tries integer := 0;
begin
    if in_options is not null then
        perform _queue_check_options(in_options, '{timeout_seconds, where, lost}'::text[], 'options');
        if _queue_text(in_options, 'lost') <> 'error' then
            perform _queue_fail('PQ002', 'lost', in_options ->> 'lost', 'must be error');
        end if;
        v_options := nullif(nullif(in_options, 'null') - 'lost'::text, '{}');
    end if;
    if in_receipts is not null then
        if (case jsonb_typeof(in_receipts) when 'array' then
            jsonb_array_length(in_receipts) = 1 and _queue_is_receipt(in_receipts ->> 0) end) then -- most calls
            v_lost := case (queue_ack(in_receipts ->> 0)).outcome when 'lost' then array[in_receipts ->> 0] end;
        else
            v_lost := array(select a.receipt from queue_ack_many(in_receipts) a where a.outcome = 'lost');
        end if;
        if v_lost <> '{}' and in_options ->> 'lost' is not null then
            perform _queue_fail('PQ006', 'receipts', array_to_string(v_lost, ', '), 'lost, so nothing was done');
        end if;
        v_permits := _queue_setting('permits');
        if current_setting(v_permits, true) = 'locked' then -- to wait for others now could be a deadlock
            perform set_config(v_permits, 'held', true);
            v_tries := 3;
        end if;
    end if;
    <<taking>>
    begin
        for v_try in 1 .. v_tries loop
            begin
                -- SKIP LOCKED may wait, see queue_reserve: for somebody who waits for a semaphore that is locked here
                perform set_config('lock_timeout', '10', true);
                return query select m.* from queue_reserve(in_kind, in_worker, in_max_messages, v_options) m;
                perform set_config('lock_timeout', v_timeout, true);
                exit taking;
            exception when lock_not_available or deadlock_detected then
            end;
        end loop;
        return query select m.* from queue_reserve(in_kind, in_worker, in_max_messages, v_options) m;
    end taking;
    if current_setting(v_permits, true) = 'held' then
        perform set_config(v_permits, 'locked', true);
    end if;
    if v_lost <> '{}' then
        insert into queue_count (p_kind, lost) values (in_kind, cardinality(v_lost));
    end if;
end $$;
--;
comment on function queue_next(jsonb, text, text, integer, jsonb) is
$$The loop of a consumer in one call: it acks what is done, as queue_ack_many does, and takes the next messages, as
queue_reserve does, in one transaction. What is acked first goes on along its route, finishes its group, and gives its
turn to who is next in the line of its order key, at its semaphores and under max_reserved. So the same call may take
what it has freed.
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
semaphores others have locked are left to the next call, and so are those that it would make dead letters.$$;
--;
-- calls: _queue_ticks
create or replace function _queue_effort() returns bigint language sql volatile as $$
    select case when current_setting('track_counts')::boolean then (
        pg_stat_get_xact_tuples_returned('delayed_queue_ready'::regclass)
        + pg_stat_get_xact_tuples_returned('delayed_queue_due'::regclass)) / 4
        + (pg_stat_get_xact_blocks_fetched('delayed_queue_ready'::regclass)
        + pg_stat_get_xact_blocks_fetched('delayed_queue_due'::regclass)) / 2 else _queue_ticks() end;
$$;
--;
comment on function _queue_effort() is
$$What the scans of this transaction have cost so far, in microseconds of an idle machine, by what they read of the two
indexes that they walk: 1/4 for an entry, living or not, and 1/2 for a page. Only the difference of two calls means
something. A busy machine changes nothing in it, as it would in a time. Where the server counts nothing (track_counts),
it is one, and sessions keep a cursor sooner.
differs: MariaDB and MySQL count too much, or in too slow a place, so a scan is timed there.$$;
--;
create or replace function _queue_no_look_is_due(in_text text, in_cursor queue_cursor, in_ticks bigint) returns boolean
    language sql volatile
    return in_text is not null and (in_cursor.ranks is null or cardinality(in_cursor.ranks) = 1
        and in_cursor.turn_at <= in_ticks + 4000000 and in_ticks < least(in_cursor.marks_at, in_cursor.turn_at)
        and in_ticks < in_cursor.start_at + (case
            when in_cursor.took <= 5000 and random() < 0.95 then 1000000 else 0 end));
--;
comment on function _queue_no_look_is_due(text, queue_cursor, bigint) is
$$Whether a message can be taken in one statement: from the start where the session keeps no cursor, or from the only
place of its cursor, with no look from the marks or the start due.
in_text: what the session keeps; NULL: it has not called yet. in_cursor: the same as a cursor. in_ticks: the real time.
Result: true or false.
differs: on MariaDB and MySQL a condition in _queue_reserve and _queue_take_onward.$$;
--;
-- changes: queue_hold
create or replace function _queue_find_expired(in_kind text, in_low bigint, in_now bigint, in_max integer,
    out tids tid[], out low bigint) language plpgsql as $$
declare
    v_hold record;
    v_end bigint[];
    v_found tid[];
begin
    low := in_low;
    for v_hold in
        select h.ctid as tid, h.until, h.entries, h.line from queue_hold h
        where h.p_kind = in_kind and h.until between in_low and in_now order by h.p_kind, h.until limit 100
    loop
        if v_hold.line is not null then -- what is held from this place of the ready line to the next one noted
            v_end := (
                select n.line[2:] from queue_hold n
                where n.p_kind = in_kind and n.until >= v_hold.until and n.line > v_hold.line
                    and n.line[1] = v_hold.line[1]
                order by n.p_kind, n.until limit 1);
            if v_end is null then -- the newest: as far as messages were taken
                select array[q.ready_at, q.entry] into v_end from delayed_queue q
                where q.p_kind = in_kind and -q.priority::integer = v_hold.line[1] and q.ready_at is not null
                    and (q.ready_at, q.entry) >= (v_hold.line[2], v_hold.line[3]) and q.reserved_at is null
                    and q.scheduled_at <= in_now
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1;
            end if;
            v_hold.entries := array(
                select q.entry from delayed_queue q
                where q.p_kind = in_kind and -q.priority::integer = v_hold.line[1] and q.ready_at is not null
                    and (q.ready_at, q.entry) >= (v_hold.line[2], v_hold.line[3])
                    and (q.ready_at, q.entry) < (coalesce(v_end[1], 9223372036854775807), coalesce(v_end[2], 0))
                    and q.reserved_at is not null);
        end if;
        v_found := array(
            select q.ctid from delayed_queue q
            where q.entry = any (v_hold.entries) and q.p_kind || '' = in_kind and q.reserved_at is not null
                and q.scheduled_at <= in_now
            order by q.entry + 0 limit in_max for update skip locked);
        if v_found <> '{}' then -- there may be more of this call: the note stays
            tids := v_found;
            return;
        end if;
        insert into queue_hold (p_kind, until, entries) -- what was extended is looked at again
        select in_kind, min(q.scheduled_at), array_agg(q.entry) from delayed_queue q
        where q.entry = any (v_hold.entries) and q.p_kind || '' = in_kind and q.scheduled_at > in_now
            and q.reserved_at is not null
        having count(*) > 0;
        delete from queue_hold h
        where h.ctid = any (array(select o.ctid from queue_hold o where o.ctid = v_hold.tid for update skip locked));
        low := v_hold.until;
    end loop;
end $$;
--;
comment on function _queue_find_expired(text, bigint, bigint, integer) is
$$Holds that have expired, by what queue_reserve noted of their ends.
in_kind: the kind. in_low: where to begin, a time in microseconds. in_now: the time of the call. in_max: how many.
Result: tids, row identifiers (NULL for none), and low, where to begin the next time.
Locks: the messages, and the notes that are done with; what others have locked is left out.
differs: only here. InnoDB takes entries that died out of an index soon, so looks from the start find expired holds.$$;
--;
-- changes: queue_cursor
create or replace function _queue_forget_cursors(in_kind text, in_before bigint) returns void
    language plpgsql as $$
begin
    delete from queue_cursor c
    where c.ctid = any (array(
        select o.ctid from queue_cursor o
        where o.p_kind = in_kind and o.id < coalesce(in_before, 9223372036854775807) for update skip locked));
end $$;
--;
comment on function _queue_forget_cursors(text, bigint) is
$$Removes shared cursors that nobody needs any longer.
in_kind: the kind. in_before: those with a smaller number; NULL: all.
Locks: their rows; what others have locked is left.$$;
--;
create or replace function _queue_shared_cursor(in_kind text, in_now bigint) returns queue_cursor language plpgsql as $$
declare
    v_cursor queue_cursor;
begin
    select c.* into v_cursor from queue_cursor c where c.p_kind = in_kind order by c.id desc limit 1;
    if in_now < any (v_cursor.places) then
        return null;
    end if;
    return v_cursor;
end $$;
--;
comment on function _queue_shared_cursor(text, bigint) is
$$The cursor that another session left for those that have none.
in_kind: the kind. in_now: the time of the call.
Result: the cursor; NULL where there is none, or it is of the future.$$;
--;
-- calls: _queue_effort, _queue_forget_cursors, _queue_promote, _queue_ticks
create or replace function _queue_look_back(in_kind text, in_now bigint, in_max integer,
    in_cursor queue_cursor, out tids tid[], out moved queue_cursor) language plpgsql as $$
declare
    v_lane constant integer := in_cursor.back_lane;
    v_high constant bigint := least(in_cursor.back_place,
        case when v_lane = 0 then in_cursor.due else in_cursor.places[v_lane] end);
    v_low constant bigint := greatest(v_high - in_cursor.back_span, 0);
    v_effort constant bigint := _queue_effort();
    v_start constant bigint := _queue_ticks();
    v_took bigint;
    v_first bigint;
begin
    moved := in_cursor;
    if v_lane = 0 then
        v_first := _queue_promote(in_kind, v_low, v_high, in_now - 1000000, in_max);
    else
        select array_agg(r.tid) into tids from (
            select q.ctid as tid from delayed_queue q
            where q.p_kind = in_kind and -q.priority::integer = in_cursor.ranks[v_lane]
                and q.ready_at between v_low and v_high
                and (q.ready_at, q.entry) < (in_cursor.places[v_lane], in_cursor.entries[v_lane])
                and q.scheduled_at <= in_now
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) r;
    end if;
    v_took := _queue_ticks() - v_start;
    moved.back_span := case when v_took < 2000 then least(in_cursor.back_span * 2, 1000000000000000)
        when v_took > 10000 then greatest(in_cursor.back_span / 2, 1000) else in_cursor.back_span end;
    moved.start_at := v_start + 50 * v_took;
    moved.back_took := in_cursor.back_took + _queue_effort() - v_effort;
    if tids is not null or v_first is not null then
        -- where one was, more may be: soon again here, and in between at the others
        moved.start_at := v_start + 2 * v_took;
        -- what has come due stands before the cursor now
        moved.marks_at := case when v_first is null then in_cursor.marks_at else 0 end;
    elsif v_low > 0 then
        moved.back_place := v_low - 1;
    else -- this lane is done; after the last one, what the whole round cost says whether a scan from the start is slow
        moved.back_place := 9223372036854775807;
        moved.back_span := 100000; -- the recent past is where there is much
        moved.back_lane := v_lane + 1;
        if moved.back_lane > cardinality(in_cursor.ranks) then
            moved.back_lane := 0;
            moved.took := moved.back_took;
            moved.back_took := 0;
            if moved.took <= 5000 then
                perform _queue_forget_cursors(in_kind, null::bigint);
            end if;
        end if;
    end if;
end $$;
--;
comment on function _queue_look_back(text, bigint, integer, queue_cursor) is
$$One step of the look at what lies behind the cursor: a part of the timetable or of a lane, going back in time, as long
as takes 2 to 10 ms; the next step comes when it has been 2% of the time that passed. Steps are timed, so that they are
rarer where the machine is busy; what a round costs is counted, see _queue_effort.
in_kind: the kind. in_now: the time of the call. in_max: how many. in_cursor: the cursor.
Result: tids of ready messages that were found, locked; moved, the cursor as it is now.
Locks: those messages; what others have locked is left out.
differs: only here. InnoDB takes entries that died out of an index soon, so a look from the start costs less.$$;
--;
-- calls: _queue_forget_cursors
-- changes: queue_cursor, queue_hold
create or replace function _queue_keep_cursor(in_kind text, in_name text, in_cursor queue_cursor, in_from text,
    in_start bigint, in_took bigint, in_max integer, in_tids tid[], in_now bigint) returns void language plpgsql as $$
declare
    v_known constant boolean := in_cursor.ranks is not null;
    v_cursor queue_cursor := in_cursor;
    v_turns constant boolean := coalesce(v_known and in_start >= in_cursor.turn_at, false);
    v_lane integer := 1;
    v_rank bigint;
    v_last bigint;
    v_entry bigint;
    v_id bigint;
begin
    if in_from = 'start' and in_took <= 10 + in_max then
        perform set_config(in_name, '', false);
        perform _queue_forget_cursors(in_kind, null::bigint);
        return;
    end if;
    if not v_known then
        v_cursor.p_kind := in_kind;
        v_cursor.slow_taken := coalesce(in_cursor.slow_taken, 0) + coalesce(cardinality(in_tids), 0);
        if in_from = 'start' and v_cursor.slow_taken < 64 and in_took < 20000
            and not exists (select from queue_cursor c where c.p_kind = in_kind) then
            perform set_config(in_name, v_cursor::text, false);
            return;
        end if;
        v_cursor.start_at := 0;
        v_cursor.marks_at := 0;
        v_cursor.turn_at := in_start + 2000000;
        v_cursor.took := 0;
        v_cursor.due := in_now;
        v_cursor.due_newer := in_now - 2000000;
        v_cursor.due_older := in_now - 2000000;
        v_cursor.back_lane := 0;
        v_cursor.back_place := 9223372036854775807;
        v_cursor.back_span := 100000;
        v_cursor.back_took := 0;
        v_cursor.hold_from := in_now;
        v_cursor.ranks := '{}';
        v_cursor.places := '{}';
        v_cursor.entries := '{}';
        v_cursor.newer_places := '{}';
        v_cursor.newer_entries := '{}';
        v_cursor.older_places := '{}';
        v_cursor.older_entries := '{}';
    end if;
    if in_from = 'start' then
        v_cursor.start_at := in_start + greatest(200 * in_took, 5000);
        v_cursor.took := in_took;
    elsif in_from = 'marks' then
        v_cursor.marks_at := in_start + least(greatest(400000, 30 * in_took), 800000);
    end if;
    v_cursor.due := least((
        select d.due_at from delayed_queue d
        where d.p_kind = in_kind
            and d.due_at >= case in_from when 'start' then 0 when 'marks' then v_cursor.due_older else v_cursor.due end
        order by d.p_kind, d.due_at limit 1), in_now);
    v_cursor.due_newer := least(v_cursor.due_newer, v_cursor.due); -- a mark is never ahead of its place
    v_cursor.due_older := least(v_cursor.due_older, v_cursor.due);
    for v_rank, v_last, v_entry in
        select -q.priority::integer, max(q.ready_at), (array_agg(q.entry order by q.ready_at desc, q.entry desc))[1]
        from unnest(in_tids) t (tid), lateral (select m.* from delayed_queue m where m.ctid = t.tid offset 0) q
            group by 1 order by 1
    loop
        while v_cursor.ranks[v_lane] < v_rank loop
            v_lane := v_lane + 1;
        end loop;
        if v_cursor.ranks[v_lane] = v_rank then
            v_cursor.places[v_lane] := v_last;
            v_cursor.entries[v_lane] := v_entry;
            if (v_last, v_entry) < (v_cursor.newer_places[v_lane], v_cursor.newer_entries[v_lane]) then
                v_cursor.newer_places[v_lane] := v_last;
                v_cursor.newer_entries[v_lane] := v_entry;
            end if;
            if (v_last, v_entry) < (v_cursor.older_places[v_lane], v_cursor.older_entries[v_lane]) then
                v_cursor.older_places[v_lane] := v_last;
                v_cursor.older_entries[v_lane] := v_entry;
            end if;
        elsif cardinality(v_cursor.ranks) < 32 then
            v_cursor.ranks := v_cursor.ranks[:v_lane - 1] || v_rank || v_cursor.ranks[v_lane:];
            v_cursor.places := v_cursor.places[:v_lane - 1] || v_last || v_cursor.places[v_lane:];
            v_cursor.entries := v_cursor.entries[:v_lane - 1] || v_entry || v_cursor.entries[v_lane:];
            v_last := v_last - 2000000;
            v_cursor.newer_places := v_cursor.newer_places[:v_lane - 1] || v_last || v_cursor.newer_places[v_lane:];
            v_cursor.newer_entries := v_cursor.newer_entries[:v_lane - 1] || 0::bigint ||
                v_cursor.newer_entries[v_lane:];
            v_cursor.older_places := v_cursor.older_places[:v_lane - 1] || v_last || v_cursor.older_places[v_lane:];
            v_cursor.older_entries := v_cursor.older_entries[:v_lane - 1] || 0::bigint ||
                v_cursor.older_entries[v_lane:];
        end if;
    end loop;
    if v_turns then
        v_cursor.due_older := v_cursor.due_newer;
        v_cursor.due_newer := v_cursor.due;
        v_cursor.older_places := v_cursor.newer_places;
        v_cursor.older_entries := v_cursor.newer_entries;
        v_cursor.newer_places := v_cursor.places;
        v_cursor.newer_entries := v_cursor.entries;
        v_cursor.turn_at := in_start + 2000000;
    end if;
    if (v_turns or not v_known) and in_tids is not null or v_cursor.took > 5000 and (v_turns or in_from = 'marks') then
        insert into queue_cursor overriding user value select (v_cursor).* returning id into v_id;
        perform _queue_forget_cursors(in_kind, v_id - 100);
    end if;
    if cardinality(v_cursor.ranks) = 1 and v_cursor.took > 5000
        and (v_turns or not v_known or in_cursor.took <= 5000) then
        insert into queue_hold (p_kind, until, entries, line)
        select in_kind, in_now + coalesce(max(k.timeout_seconds), 300) * 1000000, '{}',
            v_cursor.ranks || v_cursor.places || v_cursor.entries
        from queue_kind k where k.p_kind = in_kind;
    end if;
    perform set_config(in_name, v_cursor::text, false);
end $$;
--;
comment on function _queue_keep_cursor(text, text, queue_cursor, text, bigint, bigint, integer, tid[], bigint) is
$$Brings the cursor of a session up to date after a scan, or forgets it where a scan from the start has become fast
again.
in_kind: the kind. in_name: the setting that holds the cursor. in_cursor: as it was. in_from: where the scan began, see
_queue_scan. in_start: when, in microseconds of the real clock. in_took: what it cost, see _queue_effort. in_max: how
many were asked for. in_tids: what it found. in_now: the time of the call.
Locks: shared cursors that are past their time; what others have locked is left.$$;
--;
create or replace function _queue_is_heard(in_kind text) returns boolean language sql volatile
    return not (pg_try_advisory_lock(hashoid('delayed_queue'::regclass), hashtext(in_kind) & 15)
        and pg_advisory_unlock(hashoid('delayed_queue'::regclass), hashtext(in_kind) & 15));
--;
comment on function _queue_is_heard(text) is
$$Whether a session listens to the kind, or to another one of its channel: each that does has a shared advisory lock,
until it ends. To find that out a lock is taken and given back at once, which costs 0.3 µs and no row.
in_kind: the kind.
Result: false: nobody does. Another call that asks at the same instant passes for one that listens.
Locks: an advisory lock of the session, for that instant; it never waits.
differs: only here. MariaDB and MySQL have no NOTIFY; queue_wait looks.$$;
--;
-- calls: _queue_is_heard, _queue_ticks
create or replace function _queue_wake(in_kind text, in_key text) returns void language plpgsql as $$
declare
    v_slot constant integer := hashtext(in_kind) & 15;
    v_late constant boolean := statement_timestamp() > transaction_timestamp() + interval '5 ms';
    v_event regclass;
    v_time bigint;
    v_mark bigint;
    v_own bigint;
    v_writer bigint;
    v_status text;
begin
    if not _queue_is_heard(in_kind) then
        if v_late then
            perform pg_try_advisory_xact_lock_shared(hashoid('delayed_queue'::regclass), 16 + v_slot);
        end if;
        return;
    elsif not v_late then
        v_event := (array[
            'queue_event_0'::regclass, 'queue_event_1'::regclass, 'queue_event_2'::regclass, 'queue_event_3'::regclass,
            'queue_event_4'::regclass, 'queue_event_5'::regclass, 'queue_event_6'::regclass, 'queue_event_7'::regclass,
            'queue_event_8'::regclass, 'queue_event_9'::regclass, 'queue_event_10'::regclass,
            'queue_event_11'::regclass, 'queue_event_12'::regclass, 'queue_event_13'::regclass,
            'queue_event_14'::regclass, 'queue_event_15'::regclass])[v_slot + 1];
        v_time := _queue_ticks() / 1000;
        v_mark := pg_sequence_last_value(v_event);
        if v_mark >> 21 between v_time - 49 and v_time then
            v_own := pg_current_xact_id()::text::bigint;
            v_writer := v_own + ((v_mark - v_own + 1048576) & 2097151) - 1048576;
            for i in 1 .. 10 loop
                v_status := pg_xact_status(v_writer::text::xid8);
                -- from there on it may be our own
                exit when v_status is distinct from 'in progress' or v_writer >= v_own;
                perform pg_sleep(0.0005);
            end loop;
            if v_status = 'committed'
                and pg_try_advisory_xact_lock_shared(hashoid('delayed_queue'::regclass), 16 + v_slot) then
                return;
            end if;
        else
            perform setval(v_event, (v_time << 21) + (q.xmin::text::bigint & 2097151))
            from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
        end if;
    end if;
    perform pg_notify('pyqueue_' || v_slot, in_kind);
end $$;
--;
comment on function _queue_wake(text, text) is
$$Notifies the sessions that wait for a kind, if there are any, that something may be taken or falls due earlier than
they know. All that changes that calls it.
in_kind: the kind. in_key: a message of it that this transaction wrote; NULL: none is known, and others rely on no event
of this one.

NOTIFY makes commits wait for one another, so there is one in 50 ms a channel where that is enough: where another has
committed in that time, its event reached all who wait, and each of them looks again 50 ms later. So that nothing waits
for a poll because its event was left out: the mark of an event (queue_event) counts once the transaction that wrote it,
or its part up to a savepoint, has committed, which those that come later wait for, 6 ms at the most; and who leaves an
event out holds a shared advisory lock until it ends, by which queue_listen knows that something may yet come. A
transaction that has been going on (over 5 ms) always notifies, since its commit may be far; where nobody listens it
holds that lock, for those who begin to. PostgreSQL itself drops duplicates within a transaction.
Locks: advisory ones, for which it doesn't wait; one of them until the transaction ends.
Where the idea comes from: the signaller of Keuss, which thins its events to one in 50 ms.
differs: only here. MariaDB and MySQL have no NOTIFY; queue_wait looks.$$;
--;
-- calls: _queue_is_heard, _queue_setting, _queue_ticks
create or replace function _queue_wake_limited(in_kind text) returns void language plpgsql as $$
declare
    v_slot constant integer := hashtext(in_kind) & 15;
    v_time constant bigint := _queue_ticks();
    v_name text := _queue_setting('freed ' || v_slot);
begin
    if v_time - coalesce(nullif(current_setting(v_name, true), '')::bigint, 0) not between 0 and 49999
        and _queue_is_heard(in_kind) then
        v_name := set_config(v_name, v_time::text, false);
        perform pg_notify('pyqueue_' || v_slot, in_kind);
    end if;
end $$;
--;
comment on function _queue_wake_limited(text) is
$$Notifies the sessions that wait for a kind with max_reserved, if there are any, that a message of it has ended: there
may be room. A session does so once in 50 ms a channel: who waits looks again 50 ms after each event, and each second
while there is no room. What it did last is rolled back with its transaction.
in_kind: the kind.
Locks: as _queue_is_heard.
differs: only here. MariaDB and MySQL have no NOTIFY; queue_wait looks.$$;
--;
-- calls: _queue_limited_until, _queue_permits_ready, _queue_setting, _queue_shared_cursor, _queue_use
create or replace function _queue_ready(in_kind text, in_now bigint, out ready boolean,
    out next_at bigint) language plpgsql as $$
declare
    v_cursor queue_cursor;
    v_end bigint;
    v_kind queue_kind;
    v_slot bigint;
begin
    ready := false;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if v_kind.expires_seconds is not null then -- who waits for it uses it
        perform _queue_use(v_kind, in_now);
    end if;
    if v_kind.paused then
        return;
    end if;
    if coalesce(v_kind.max_reserved, v_kind.rate_per_second) is not null then
        next_at := _queue_limited_until(v_kind, in_now);
        if next_at is not null then
            return;
        end if;
    end if;
    if v_kind.semaphores then
        select s.ready, s.next_at into ready, v_slot from _queue_permits_ready(in_kind, in_now) s;
        if ready then
            return;
        end if;
    end if;
    if exists (select from queue_group_due) and exists ( -- a reserve looks whether all is done
        select from queue_group_due d join queue_group g on g.group_name between d.group_name and d.group_name
        where in_kind in (g.then_kind, g.fail_kind)
            and d.writer is distinct from pg_current_xact_id_if_assigned()::text::bigint) then
        ready := true;
        return;
    end if;
    v_cursor := nullif(current_setting(_queue_setting('cursor ' || in_kind), true), '')::queue_cursor;
    if v_cursor.p_kind is null then
        v_cursor := _queue_shared_cursor(in_kind, in_now);
    end if;
    if v_cursor.took > 5000 then -- a look from the start is slow
        ready := exists (
                select from delayed_queue d where d.p_kind = in_kind and d.due_at between v_cursor.due and in_now)
            or exists (
                select from unnest(-2147483648::bigint || v_cursor.ranks, 0::bigint || v_cursor.places,
                        v_cursor.ranks || 2147483648) a (rank, place, next_rank),
                    lateral (
                        select from delayed_queue q
                        where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                            and (-q.priority::integer, q.ready_at, q.entry) >= (a.rank, a.place, 0)
                            and -q.priority::integer < a.next_rank
                        order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1) l)
            or exists (
                select from (
                    select o.entries from queue_hold o where o.p_kind = in_kind
                        and o.until between v_cursor.hold_from and in_now
                    order by o.p_kind, o.until limit 100) h, delayed_queue q
                where q.entry = any (h.entries) and q.reserved_at is not null and q.scheduled_at <= in_now);
        if not ready then
            next_at := least(
                (select d.due_at from delayed_queue d where d.p_kind = in_kind and d.due_at > in_now
                    order by d.p_kind, d.due_at limit 1),
                (select h.until from queue_hold h where h.p_kind = in_kind and h.until > in_now
                    order by h.p_kind, h.until limit 1), v_slot);
        end if;
        return;
    end if;
    next_at := (
        select d.due_at from delayed_queue d where d.p_kind = in_kind and d.due_at is not null
            order by d.p_kind, d.due_at limit 1);
    ready := coalesce(next_at <= in_now, false) or (
        select true from delayed_queue q where q.p_kind = in_kind and q.ready_at is not null
            and q.scheduled_at <= in_now
        order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1) is not null;
    if ready then
        next_at := null;
        return;
    end if;
    select min(l.scheduled_at) into v_end from (
        select q.scheduled_at from delayed_queue q where q.p_kind = in_kind and q.ready_at is not null
            and (-q.priority::integer, q.ready_at, q.entry) >= (-32768, 0, 0) -- ADR 13
        order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 100) l;
    next_at := least(next_at, v_end, v_slot);
end $$;
--;
comment on function _queue_ready(text, bigint) is
$$Whether a message of a kind may be taken, and if not, when the next may be; no message is locked.
in_kind: the kind. in_now: the time of the call.
Result: ready: false also while the kind is paused or at its limits; others may be taking what is there. next_at: when
the next delayed message falls due, or one of the first 100 holds in the ready line ends; NULL: none. Where a scan from
the start is slow, what a reserve would find from its cursor on is ready, and holds by the notes of their ends; at the
limits next_at is what _queue_limited_until answers.$$;
--;
-- calls: _queue_check_kinds, _queue_fail, _queue_ready, _queue_ticks, queue_now
create or replace function queue_wait(in_kinds jsonb,
    in_timeout_seconds double precision default null) returns table (p_kind text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_kinds constant text[] := _queue_check_kinds(in_kinds);
    v_timeout constant double precision := coalesce(in_timeout_seconds, 5);
    v_until bigint;
    v_left bigint;
    v_pause double precision := 0.005;
begin
    if v_timeout < 0 or v_timeout > 300 then -- NaN is greater than any number
        perform _queue_fail('PQ001', 'timeout_seconds', in_timeout_seconds::text, 'must be a number from 0 to 300');
    end if;
    v_until := _queue_ticks() + least(v_timeout, 5) * 1000000;
    loop
        foreach p_kind in array v_kinds loop
            if (_queue_ready(p_kind, queue_now())).ready then
                return next;
                return;
            end if;
        end loop;
        v_left := v_until - _queue_ticks();
        exit when v_left not between 1 and 5000000; -- over that the clock was set back
        perform pg_sleep(least(v_pause, v_left / 1000000.0));
        v_pause := least(v_pause * 1.5, 0.1);
    end loop;
end $$;
--;
comment on function queue_wait(jsonb, double precision) is
$$Waits until a message of one of the kinds may be taken.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
in_timeout_seconds: how long at the most, 0 to 300; NULL: 5.
Result: p_kind: the first of the kinds that may have something. Another consumer may be about to take it. No row where
the time is over. A paused kind has nothing. On PostgreSQL the call waits 5 s at the most, whatever it is given; if the
server's clock is set back meanwhile, as much longer. A statement that waits is an open snapshot, behind which nothing
can be cleaned away; clients LISTEN there, see queue_listen. Under REPEATABLE READ and SERIALIZABLE the call sees what
was there when the transaction began, and no more.
Errors: PQ001 for kinds and timeout_seconds.
Locks: no row.
Where the idea comes from: the long poll of SQS.$$;
--;
-- calls: _queue_check_kinds, _queue_ready, queue_now
create or replace function queue_listen(in_kinds jsonb)
    returns table (p_kind text, channel text, ready boolean, next_at bigint, next_seconds numeric)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_class constant integer := hashoid('delayed_queue'::regclass);
    v_slot integer;
    v_pending boolean;
begin
    foreach p_kind in array _queue_check_kinds(in_kinds) loop
        v_slot := hashtext(p_kind) & 15;
        channel := 'pyqueue_' || v_slot;
        for i in 1 .. 100 loop -- only a push that asks at this instant is in the way
            exit when pg_try_advisory_lock_shared(v_class, v_slot);
            perform pg_sleep(0.001);
        end loop;
        -- before the look: what is committed by now, it sees
        v_pending := not (pg_try_advisory_lock(v_class, 16 + v_slot) and pg_advisory_unlock(v_class, 16 + v_slot));
        select r.ready, r.next_at into ready, next_at from _queue_ready(p_kind, v_now) r;
        if v_pending then
            next_at := least(next_at, v_now + 1000000);
        end if;
        next_seconds := (next_at - v_now) / 1000000.0;
        return next;
    end loop;
end $$;
--;
comment on function queue_listen(jsonb) is
$$Marks this session as one that listens to kinds, so that pushes to them notify, and says what may be taken now.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
Result: a row a kind: p_kind; channel: what to LISTEN on; ready: something may be taken, unless others are about to;
next_at, in microseconds: when to look again at the latest, whatever comes. That is when the next delayed message
falls due or a hold ends. It is within a second where a transaction that is still open may have pushed something.
NULL: nothing is known of. next_seconds: the same from now. A paused kind is never ready, and going on with it is an
event. How to wait: call this, LISTEN on the channels, and then look: call this again, and reserve what is ready.
Where nothing is, wait for an event on any of the channels, whatever it says, no longer than next_seconds and your own
poll. Look again 50, 250 and 1250 ms after the wait began, and after each event: an event is sent at most once in 50
ms a channel, and a push may have been committing. What was ready and then couldn't be reserved counts as not ready.
Without LISTEN, or behind a pooler that shares sessions, don't call this: poll. The mark lasts as long as the session,
or until pg_advisory_unlock_all().
Errors: PQ001 for kinds.
Locks: a shared advisory lock of the session for each channel, 16 at the most; it waits for none of them.
Where the idea comes from: LISTEN and NOTIFY, as Keuss uses its signaller.
differs: only here. MariaDB and MySQL have no LISTEN; queue_wait looks.$$;
--;
-- calls: _queue_boolean, _queue_check_options, _queue_check_payload, _queue_number, _queue_text
create or replace function _queue_check_nack(in_options jsonb) returns void language plpgsql as $$
begin
    if in_options is not null then
        perform _queue_check_options(in_options, '{delay_seconds, error, payload, final, count}'::text[], 'options');
        perform _queue_number(in_options, 'delay_seconds', 0::numeric, 31536000::numeric);
        perform _queue_text(in_options, 'error');
        perform _queue_boolean(in_options, 'final');
        perform _queue_boolean(in_options, 'count');
        perform _queue_check_payload(in_options -> 'payload', 'payload') where in_options ? 'payload';
    end if;
end $$;
--;
comment on function _queue_check_nack(jsonb) is
$$Refuses options that queue_nack doesn't know.
in_options: the options.
Errors: PQ002, and PQ003 for the payload.$$;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_payload, _queue_push_options, _queue_text
create or replace function _queue_check_move(in_to_kind text, in_options jsonb, in_now bigint, in_place text)
    returns void language plpgsql as $$
begin
    perform _queue_check_name(in_to_kind, 95, in_place || 'to_kind');
    if coalesce(in_options, 'null') = 'null' then
        return;
    end if;
    perform _queue_check_options(in_options, '{payload, headers, key, delay_seconds, priority, on_duplicate}'::text[],
        in_place || 'options');
    perform _queue_push_options(in_options - '{payload, key}'::text[], in_now);
    perform _queue_check_payload(in_options -> 'payload', in_place || 'payload') where in_options ? 'payload';
    perform _queue_check_name(in_options ->> 'key', 200, in_place || 'key')
        where _queue_text(in_options, 'key') is not null;
end $$;
--;
comment on function _queue_check_move(text, jsonb, bigint, text) is
$$Refuses a target and options that queue_move doesn't know.
in_to_kind, in_options: those of queue_move. in_now: the time of the call. in_place: what stands before the names in
errors.
Errors: PQ001, PQ002, PQ003.$$;
--;
-- calls: _queue_check_name, _queue_fail, _queue_settings
create or replace function _queue_check_dead_letter_kind(in_kind text, in_dead_letter_kind text) returns void
    language plpgsql as $$
declare
    v_next text := in_dead_letter_kind;
begin
    if v_next is null then
        v_next := left(in_kind, 95) || '.dead';
    else
        perform _queue_check_name(v_next, 100, 'dead_letter_kind');
    end if;
    for i in 1 .. 1000 loop
        if v_next = in_kind then
            perform _queue_fail('PQ004', 'dead_letter_kind', coalesce(in_dead_letter_kind, v_next),
                'refused, dead letters would come back to the kind they came from');
        end if;
        v_next := coalesce((_queue_settings(v_next)).dead_letter_kind, left(v_next, 95) || '.dead');
    end loop;
end $$;
--;
comment on function _queue_check_dead_letter_kind(text, text) is
$$Refuses a circle of dead letters.
in_kind: the kind that is defined. in_dead_letter_kind: where its dead letters would go; NULL: the default.
Errors: PQ001 for a name that can't be a kind, PQ004 for a circle.$$;
--;
-- calls: _queue_advance, _queue_log_open, _queue_newest, _queue_permits_note, _queue_put, _queue_wake_limited
-- changes: delayed_queue, queue_count, queue_dedup, queue_history, queue_log
create or replace function _queue_end(in_entries bigint[], in_secrets bytea[], in_outcome text, in_to_kind text,
    in_now bigint, out places bigint[], out guarded bigint[]) language plpgsql as $$
declare
    v_gone record;
    v_again delayed_queue;
begin
    select coalesce(array_agg(d.place), '{}') as places, array_agg(d.entry) as entries,
        array_agg(d.entry) filter (where d.guarded) as guarded,
        array_agg(d.message) filter (where d.pending) as again,
        array_agg(d.p_kind) filter (where d.order_key is not null) as of_orders,
        array_agg(d.order_key) filter (where d.order_key is not null) as orders,
        array_agg(d.entry) filter (where k.history_seconds > 0) as kept,
        array_agg(d.entry) filter (where k.dedup_seconds > 0) as remembered,
        array_agg(d.entry) filter (where k.log_seconds > 0) as logged,
        array_agg(d.p_kind) filter (where k.max_reserved is not null) as limited
    into v_gone
    from (
        select r.place, q.p_kind, q.entry, q.order_key, q.semaphores is not null as guarded,
            q.pending is not null as pending, case when q.pending is not null then q end as message
        from unnest(in_entries, in_secrets) with ordinality r (entry, secret, place)
        join delayed_queue q on q.entry between r.entry and r.entry and (in_secrets is null or q.secret = r.secret)
        for update of q) d
    left join queue_kind k on k.p_kind = d.p_kind and in_outcome <> 'dropped' -- by index queue_kind_keeps
        and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.max_reserved is not null or k.log_seconds > 0);
    if v_gone.kept is not null then
        insert into queue_history
        select q.p_kind, q.p_key, q.entry, in_outcome, in_to_kind, q.payload, q.payload_bytes, q.headers, q.priority,
            q.scheduled_at_initially, q.created_at, case when in_outcome = 'popped' then in_now else q.reserved_at end,
            in_now, q.attempts + (in_outcome = 'popped')::integer,
            case when in_outcome <> 'popped' then q.reserved_by end, q.errors, null::jsonb
        from delayed_queue q where q.entry = any (v_gone.kept);
    end if;
    if v_gone.remembered is not null and in_outcome in ('acked', 'popped', 'moved') then
        insert into queue_dedup (p_kind, p_key, ended_at)
        select q.p_kind, q.p_key, in_now from delayed_queue q where q.entry = any (v_gone.remembered)
        order by 2, 1 on conflict on constraint queue_dedup_pkey do update set ended_at = excluded.ended_at;
    end if;
    if v_gone.logged is not null then
        perform _queue_log_open();
        insert into queue_log (event, name, p_kind, p_key, entry, to_kind, created_at)
        select in_outcome, q.p_kind, q.p_kind, q.p_key, q.entry, in_to_kind, in_now
        from delayed_queue q where q.entry = any (v_gone.logged) order by q.entry + 0;
    end if;
    with d as (
        delete from delayed_queue q where q.entry = any (v_gone.entries)
        returning q.p_kind, q.source_kind, q.reserved_at)
    insert into queue_count (p_kind, pushed, reserved, popped, acked, moved, dead)
    select d.p_kind, count(*) - count(d.source_kind),
        case when in_outcome in ('acked', 'moved', 'removed', 'dropped') then count(d.reserved_at) end,
        case in_outcome when 'popped' then count(*) end, case in_outcome when 'acked' then count(*) end,
        case in_outcome when 'moved' then count(*) end, case in_outcome when 'dead' then count(*) end
    from d group by d.p_kind;
    places := v_gone.places;
    guarded := v_gone.guarded;
    if v_gone.orders is not null then
        perform _queue_advance(array_agg(o.p_kind), array_agg(o.order_key), in_now, null::bigint[])
        from (select distinct u.p_kind, u.order_key
            from unnest(v_gone.of_orders, v_gone.orders) u (p_kind, order_key)) o;
    end if;
    if v_gone.limited is not null then
        perform _queue_wake_limited(k.name) from (select distinct n.name from unnest(v_gone.limited) n (name)) k;
    end if;
    foreach v_again in array coalesce(v_gone.again, '{}') loop
        exit when in_outcome in ('removed', 'dropped'); -- it goes, too
        if in_outcome is not null then
            v_again.member := null;
        end if;
        v_again := _queue_newest(v_again);
        v_again.scheduled_at := greatest((v_again.pending ->> 'scheduled_at')::bigint, in_now);
        v_again.attempts := 0;
        -- nobody comes or goes in its line until this commits, since its first has just ended; the next is first by now
        select bool_or(true) into v_again.order_waits from delayed_queue f
        where f.p_kind = v_again.p_kind and f.order_key = v_again.order_key and f.order_key is not null
            and f.order_waits is null;
        perform _queue_permits_note(array[p.entry])
        from _queue_put(v_again, 'ignore', null::bigint, in_now) p where p.waits_for is not null;
    end loop;
end $$;
--;
comment on function _queue_end(bigint[], bytea[], text, text, bigint) is
$$The verb end: counts and removes what has ended, and does what hangs on it, in one order of locks. What its kind
wants kept is kept (history, key, log); the next of its line is first; what was pushed onto it while it was held is put
in, as a new entry with the same route before it, and the same semaphores; which is the same member of its group where
it takes the place of this one, and stands at the end of the line of its order key.
in_entries: the messages; where they are of several kinds or stand in lines they are locked already. in_secrets: of
their receipts; a message that has another one stays; NULL: whatever they are. in_outcome: acked, popped, moved, dead,
removed, of which what is pending goes too; dropped: the same with its kind, so that nothing is kept; NULL: it makes
room for what is pending, and nothing is kept. in_to_kind: where it went, NULL: nowhere.
in_now: the time of the call.
Result: places: which of them ended, from 1; guarded: those of them that name semaphores, NULL: none.
Its caller ends the members of groups, and at the end of the call has _queue_permits_settle free the semaphores. That
they were held is counted here where they were acked, moved, removed or dropped; else by whoever ends the hold. What is
plain ends in one statement in queue_ack, queue_ack_many, queue_pop and _queue_deliver.
Locks: the messages, in the order in which they are given; the next in their lines, in the order of their entries; then
the keys of what is pending.
differs: on MariaDB and MySQL one message, because a procedure has no arrays.$$;
--;
-- calls: _queue_add_error, _queue_end, _queue_index, _queue_log, _queue_members_end, _queue_settings, _queue_wake
-- changes: delayed_queue, queue_group_member, queue_kind
create or replace function _queue_bury(in_entry bigint, in_error text,
    in_now bigint) returns void language plpgsql as $$
declare
    v_dead delayed_queue;
    v_settings queue_kind;
    v_kind text;
    v_suffix text := '';
    v_letter bigint;
begin
    -- history has them too
    update delayed_queue q set errors = _queue_add_error(q.errors, in_now, q.attempts, q.reserved_by, in_error)
    where q.entry = in_entry returning q.* into v_dead;
    v_settings := _queue_settings(v_dead.p_kind);
    v_kind := coalesce(v_settings.dead_letter_kind, left(v_dead.p_kind, 95) || '.dead');
    if v_settings.roles is not null and (_queue_settings(v_kind)).roles is null then -- a dead letter that dies again
        insert into queue_kind as k (p_kind, roles) values (v_kind, v_settings.roles)
        on conflict on constraint queue_kind_pkey do update set roles = excluded.roles where k.roles is null;
    end if;
    perform _queue_end(array[in_entry], null::bytea[], 'dead', v_kind, in_now);
    loop
        insert into delayed_queue (p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, ready_at, errors, source_kind, source_key, source_priority, route,
            member, source_order_key, semaphores)
        values (v_kind, left(v_dead.p_key, 200 - char_length(v_suffix)) || v_suffix, v_dead.payload,
            v_dead.payload_bytes, v_dead.headers, v_dead.priority, in_now, v_dead.scheduled_at_initially, in_now,
            in_now, v_dead.errors, coalesce(v_dead.source_kind, v_dead.p_kind),
            coalesce(v_dead.source_key, v_dead.p_key), coalesce(v_dead.source_priority, v_dead.priority), v_dead.route,
            v_dead.member, coalesce(v_dead.order_key, v_dead.source_order_key), v_dead.semaphores)
        on conflict on constraint delayed_queue_pkey do nothing
        returning entry into v_letter;
        exit when found;
        v_suffix := '~' || v_dead.entry || v_suffix; -- an entry number is used once
    end loop;
    perform _queue_index(array[v_letter]);
    perform _queue_wake(v_kind, null);
    perform _queue_log(array[v_letter], null::text[], null::text, in_now);
    if v_dead.member is not null then
        -- + 0: ADR 13
        update queue_group_member m set entry = v_letter, error = in_error
        where m.member = v_dead.member and m.done_at + 0 is null;
        perform _queue_members_end(array[v_dead.member], 'dead', null::jsonb, in_now)
        from queue_group_member m join queue_group g on g.group_name between m.group_name and m.group_name
        where m.member = v_dead.member and m.done_at + 0 is null and g.on_dead <> 'wait';
    end if;
end $$;
--;
comment on function _queue_bury(bigint, text, bigint) is
$$Moves a message to the dead-letter kind of its kind, with its errors. A key that is taken there gets a suffix; kind,
key, priority and order key are remembered for queue_redrive; those of a dead letter that dies again are still those of
its origin.
in_entry: the message, locked already. in_error: why it died. in_now: the time of the call.
Where its group doesn't wait for it, its member is done: at the end of the call its caller has _queue_members_settle
see to that.
Locks: the next in its line; waits for a transaction that is putting the same dead letter.$$;
--;
-- calls: _queue_add_error, _queue_bury, _queue_check_fit, _queue_end, _queue_index, _queue_line_up, _queue_settings,
--     _queue_wake
-- changes: delayed_queue, queue_count
create or replace function _queue_nack(in_entry bigint, in_secret bytea, in_options jsonb, in_now bigint) returns text
    language plpgsql as $$
declare
    v_counts constant boolean := coalesce((in_options ->> 'count')::boolean, true);
    v_error constant text := in_options ->> 'error';
    v_row delayed_queue;
    v_kind queue_kind;
    v_delay numeric;
    v_at bigint;
begin
    select q.* into v_row from delayed_queue q where q.entry = in_entry and q.secret = in_secret for update;
    if not found then
        return 'lost';
    end if;
    v_kind := _queue_settings(v_row.p_kind);
    insert into queue_count (p_kind, nacked, reserved)
        values (v_row.p_kind, 1, (v_row.reserved_at is not null)::integer);
    if in_options ? 'payload' then
        perform _queue_check_fit(v_kind.payload_shape, in_options -> 'payload', 'payload')
            where v_kind.payload_shape is not null;
        update delayed_queue q set payload = in_options -> 'payload', payload_bytes = null where q.entry = in_entry;
        perform _queue_index(array[in_entry]) where v_kind.filter_index;
    end if;
    if coalesce((in_options ->> 'final')::boolean, false)
        or v_counts and v_row.attempts >= coalesce(v_row.max_attempts, v_kind.max_attempts, 2147483647) then
        perform _queue_bury(in_entry, coalesce(v_error, 'nacked'), in_now);
        return 'dead';
    elsif v_row.pending is not null then
        perform _queue_end(array[in_entry], null::bytea[], null::text, null::text, in_now);
        return 'retry';
    end if;
    v_delay := coalesce((in_options ->> 'delay_seconds')::numeric, case when v_counts and v_error is not null then
        least(v_kind.backoff_seconds * v_kind.backoff_factor ^ least(v_row.attempts - 1, 100),
            v_kind.backoff_max_seconds)
        * (1 - v_kind.jitter * random()::numeric) end, 0);
    v_at := in_now + v_delay * 1000000;
    update delayed_queue q
    set scheduled_at = v_at, ready_at = case when v_at <= in_now then v_at end, due_at = case
        when v_at > in_now then v_at end, reserved_at = null, reserved_by = null, secret = null,
        attempts = q.attempts - case when v_counts then 0 else 1 end,
        errors = _queue_add_error(q.errors, in_now, q.attempts, q.reserved_by, v_error)
    where q.entry = in_entry;
    if v_row.semaphores is not null then
        perform _queue_line_up(array[in_entry]);
    end if;
    perform _queue_wake(v_row.p_kind, v_row.p_key);
    return 'retry';
end $$;
--;
comment on function _queue_nack(bigint, bytea, jsonb, bigint) is
$$Gives one message back.
in_entry, in_secret: its receipt, taken apart. in_options: those of queue_nack, checked. in_now: the time of the call.
Result: the outcome: retry, dead, lost.
Locks: the message; as _queue_bury where it dies.$$;
--;
-- calls: _queue_lock_lines
create or replace function _queue_lock_moves(in_entries bigint[], in_secrets bytea[], in_to_kinds text[],
    in_keys text[])
    returns bigint[] language plpgsql as $$
declare
    v_targets bigint[];
begin
    v_targets := array(
        select t.entry
        from unnest(in_entries, in_secrets, in_to_kinds, in_keys) m (entry, secret, to_kind, key)
        join delayed_queue s on s.entry between m.entry and m.entry and s.secret = m.secret
        cross join lateral ( -- OFFSET: ADR 13
            select o.entry from delayed_queue o where o.p_kind = m.to_kind
                and o.p_key = coalesce(m.key, s.p_key) offset 0) t);
    if exists (
        select from unnest(in_entries) e (entry) join delayed_queue s on s.entry between e.entry and e.entry
            where s.order_key is not null) then
        v_targets := v_targets || array( -- who is first where they go
            select t.entry
            from unnest(in_entries, in_to_kinds) m (entry, to_kind)
            join delayed_queue s on s.entry between m.entry and m.entry
            cross join lateral (
                (select h.entry from delayed_queue h
                    where h.p_kind = m.to_kind and h.order_key = s.order_key and h.order_key is not null
                        and h.order_waits is null)
                union all
                (select w.entry from delayed_queue w -- BETWEEN: ADR 13
                    where w.p_kind = m.to_kind and w.order_key between s.order_key and s.order_key and w.order_waits
                    order by w.p_kind, w.order_key, w.entry limit 1)) t);
    end if;
    if cardinality(in_entries) > 1 or v_targets <> '{}' then
        perform _queue_lock_lines(in_entries, v_targets);
    end if;
    return array(
        select m.n
        from unnest(in_entries, in_secrets, in_to_kinds, in_keys) with ordinality m (entry, secret, to_kind, key, n)
        join delayed_queue s on s.entry between m.entry and m.entry and s.secret = m.secret
        order by coalesce(m.key, s.p_key) collate "C", m.to_kind collate "C" nulls first, s.entry);
end $$;
--;
comment on function _queue_lock_moves(bigint[], bytea[], text[], text[]) is
$$Locks what moves need, sources, the messages that have the keys of the targets, and those
before and behind them in the lines of their order keys, in the order of their entries, so that
moves in opposite directions don't deadlock.
in_entries, in_secrets: the receipts, taken apart. in_to_kinds, in_keys: where each goes; key NULL: its own.
Result: the places (from 1) of the moves whose message is there, in the order in which keys are put in everywhere: by
key, then kind. What only ends comes first, for its key is free then.
Locks: as said.$$;
--;
-- calls: _queue_check_fit, _queue_check_headers, _queue_end, _queue_fail, _queue_join_line, _queue_lock_moves,
--     _queue_members_end, _queue_members_settle, _queue_permits_settle, _queue_put
-- changes: queue_history
create or replace function _queue_move(in_entries bigint[], in_secrets bytea[], in_to_kinds text[],
    in_options jsonb[], in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_outcomes text[] := array_fill('lost'::text, array[cardinality(in_entries)]);
    v_place bigint;
    v_row delayed_queue;
    v_to_kind text;
    v_options jsonb;
    v_shape jsonb; v_draining boolean;
    v_put record;
    v_members bigint[];
    v_settle bigint[] := in_entries; v_names text[];
    v_order text; v_created bigint[]; v_orders text[];
begin
    foreach v_place in array _queue_lock_moves(in_entries, in_secrets, in_to_kinds,
        array(select o.options ->> 'key' from unnest(in_options) with ordinality o (options, n) order by o.n))
    loop
        select q.* into v_row from delayed_queue q where q.entry = in_entries[v_place]
            and q.secret = in_secrets[v_place] for update;
        continue when not found;
        v_names := v_names || v_row.semaphores;
        v_options := in_options[v_place];
        v_to_kind := in_to_kinds[v_place];
        perform _queue_end(array[v_row.entry], null::bytea[], case when v_to_kind is null then 'acked' else 'moved' end,
            v_to_kind, in_now);
        if v_options ? 'result' then
            update queue_history h set result = v_options -> 'result'
            where h.p_kind = v_row.p_kind and h.finished_at = in_now and h.entry = v_row.entry;
        end if;
        if v_to_kind is null then
            v_outcomes[v_place] := 'acked';
            v_members := case when v_row.member is null then v_members else v_members || v_row.member end;
            continue;
        end if;
        if v_options ? 'payload' then
            v_row.payload := v_options -> 'payload';
            v_row.payload_bytes := null;
        end if;
        select k.payload_shape, k.draining and v_to_kind <> v_row.p_kind into v_shape, v_draining
        from queue_kind k where k.p_kind = v_to_kind;
        if v_draining then
            perform _queue_fail('PQ004', format('to_kind of "%s"', left(v_row.p_key, 40)), v_to_kind,
                'takes in nothing while it is drained');
        elsif v_shape is not null then
            perform _queue_check_fit(v_shape, v_row.payload, format('payload of "%s"', left(v_row.p_key, 40)));
        end if;
        v_row.p_kind := v_to_kind;
        v_row.p_key := coalesce(v_options ->> 'key', v_row.p_key);
        if v_options ? 'headers' then
            v_row.headers := _queue_check_headers(v_options -> 'headers', 'headers');
        end if;
        v_row.priority := coalesce((v_options ->> 'priority')::numeric::smallint, v_row.priority);
        v_row.scheduled_at := in_now + (coalesce((v_options ->> 'delay_seconds')::numeric, 0) * 1000000)::bigint;
        v_row.attempts := 0;
        v_row.max_attempts := null;
        if (v_options ->> 'next')::boolean then
            v_row.route := nullif(v_row.route - 0, '[]');
        end if;
        v_order := v_row.order_key;
        v_row.order_key := null; -- it takes its place once all are in
        v_put := _queue_put(v_row, coalesce(v_options ->> 'on_duplicate', 'ignore'), null::bigint, in_now);
        v_settle := v_settle || v_put.entry;
        v_names := v_names || v_put.waits_for;
        v_outcomes[v_place] := case v_put.outcome when 'ignored' then 'duplicate' else 'moved' end;
        if v_put.outcome <> 'created' then
            perform _queue_members_end(array[v_row.member], 'duplicate', v_options -> 'result', in_now)
                where v_row.member is not null;
        elsif v_order is not null then
            v_created := v_created || v_put.entry;
            v_orders := v_orders || v_order;
        end if;
    end loop;
    perform _queue_join_line(v_created, v_orders) where v_created is not null;
    perform _queue_members_end(v_members, 'acked', in_options[1] -> 'result', in_now) where v_members is not null;
    perform _queue_members_settle(in_now);
    perform _queue_permits_settle(v_settle, v_names, true, in_now)
        where v_names is not null or v_members is not null or 'duplicate' = any (v_outcomes);
    return v_outcomes;
end $$;
--;
comment on function _queue_move(bigint[], bytea[], text[], jsonb[], bigint) is
$$Acks messages, or moves them on, in the order of their keys: what _queue_move_many does once.
in_entries, in_secrets, in_to_kinds, in_options, in_now: as there.
Result: as there.
Errors: those of queue_move; PQ00A where it has to be made again.
Locks: as _queue_lock_moves; then as _queue_end and the keys of the targets; then the lines of order keys as
_queue_join_line, once all keys are in; then as _queue_members_settle and _queue_permits_settle.
differs: on MariaDB and MySQL one message, which is moved.$$;
--;
-- calls: _queue_move
create or replace function _queue_move_many(in_entries bigint[], in_secrets bytea[], in_to_kinds text[],
    in_options jsonb[], in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
begin
    if not exists (
        select from unnest(in_entries) e (entry) join delayed_queue q on q.entry between e.entry and e.entry
            where q.order_key is not null)
    then
        return _queue_move(in_entries, in_secrets, in_to_kinds, in_options, in_now);
    end if;
    for v_try in 1 .. 2147483647 loop
        begin
            return _queue_move(in_entries, in_secrets, in_to_kinds, in_options, in_now);
        exception when sqlstate 'PQ00A' or deadlock_detected then -- all that it did and locked is undone: again
            if sqlstate <> 'PQ00A' and (not v_own or v_try > 20) then raise; end if;
        end;
    end loop;
end $$;
--;
comment on function _queue_move_many(bigint[], bytea[], text[], jsonb[], bigint) is
$$Acks messages, or moves them on, each to a kind of its own.
in_entries, in_secrets: the receipts, taken apart, each once. in_to_kinds: where each goes; NULL: it is acked.
in_options: the options of each, those of queue_move, checked; for an ack result, and next: true where this is the next
step of its route. in_now: the time of the call.
Result: the outcomes, in their order: acked, moved, duplicate, lost.
Errors: those of queue_move; under REPEATABLE READ and SERIALIZABLE 40001.
Locks: as _queue_move.
differs: on MariaDB and MySQL the whole call is made again.$$;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles, _queue_fail, _queue_text
create or replace function _queue_check_ack(in_options jsonb) returns void language plpgsql as $$
begin
    perform _queue_check_options(in_options, '{result, to, payload}'::text[], 'options');
    perform _queue_check_payload(in_options -> 'result', 'result');
    if jsonb_path_exists(in_options -> 'result', '$.**{28}') then
        perform _queue_fail('PQ003', 'result', (in_options -> 'result')::text, 'must be at most 28 levels deep');
    end if;
    perform _queue_check_payload(in_options -> 'payload', 'payload') where in_options ? 'payload';
    if _queue_text(in_options, 'to') is not null then
        perform _queue_check_name(in_options ->> 'to', 95, 'to');
        perform _queue_check_roles(array[in_options ->> 'to']);
    end if;
end $$;
--;
comment on function _queue_check_ack(jsonb) is
$$Refuses options that queue_ack doesn't know.
in_options: those of queue_ack.
Errors: PQ001, PQ002, PQ003.$$;
--;
-- calls: _queue_end, _queue_lock_lines, _queue_members_end, _queue_members_settle, _queue_move_many,
--     _queue_permits_settle
create or replace function _queue_ack_many(in_entries bigint[], in_secrets bytea[], in_options jsonb, in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_outcomes text[] := array_fill('lost'::text, array[cardinality(in_entries)]);
    v_look record; v_done record;
    v_members bigint[]; v_place bigint;
begin
    select min(q.p_kind) <> max(q.p_kind) or bool_or(q.order_key is not null) as mixed,
        in_options is not null or bool_or(q.route is not null and q.source_kind is null) as onward,
        bool_or(q.member is not null) as grouped
    into v_look from delayed_queue q where q.entry = any (in_entries);
    if v_look.onward then
        return (
            select _queue_move_many(in_entries, in_secrets, array_agg(coalesce(in_options ->> 'to', case
                    when q.source_kind is null then q.route ->> 0 end) order by r.n), array_agg(coalesce(
                nullif(in_options, 'null'), '{}') - '{to}'::text[] || '{"next": true}' order by r.n), in_now)
            from unnest(in_entries, in_secrets) with ordinality r (entry, secret, n)
            left join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret);
    elsif v_look.grouped or v_look.mixed and cardinality(in_entries) > 1 then
        -- to wait for a message with another deleted, whose key a dead letter may be waiting for, could be a deadlock
        perform _queue_lock_lines(in_entries, null::bigint[]);
        v_members := array(
            select q.member from unnest(in_entries, in_secrets) r (entry, secret)
            join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
            where q.member is not null);
    end if;
    v_done := _queue_end(in_entries, in_secrets, 'acked', null::text, in_now);
    foreach v_place in array v_done.places loop
        v_outcomes[v_place] := 'acked';
    end loop;
    perform _queue_members_end(v_members, 'acked', null::jsonb, in_now) where v_members <> '{}';
    perform _queue_members_settle(in_now);
    perform _queue_permits_settle(v_done.guarded, null::text[], true, in_now)
        where v_done.guarded is not null or v_members <> '{}';
    return v_outcomes;
end $$;
--;
comment on function _queue_ack_many(bigint[], bytea[], jsonb, bigint) is
$$The long way of queue_ack and queue_ack_many: with options, on a route, in a group, or with semaphores.
in_entries, in_secrets: the receipts, taken apart, each once. in_options: those of queue_ack, checked. in_now: the time
of the call.
Result: the outcomes, in the order of the receipts: acked, moved, duplicate, lost.
Locks: where one moves on, as _queue_move_many; else as _queue_end, then as _queue_members_settle, then semaphores.
differs: on MariaDB and MySQL it is queue_ack_many without its transaction.$$;
--;
-- calls: _queue_ack_many, _queue_advance, _queue_check_ack, _queue_is_receipt, _queue_receipt, _queue_wake_limited,
--     queue_now
-- changes: delayed_queue, queue_count
create or replace function queue_ack(in_receipt text, in_options jsonb default null, out receipt text, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_done record;
    v_receipt record;
begin
    if _queue_is_receipt(in_receipt) is not true then
        perform _queue_receipt(in_receipt);
    elsif in_options is not null then
        perform _queue_check_ack(in_options);
    end if;
    receipt := in_receipt;
    delete from delayed_queue q
    where q.entry = left(in_receipt, -33)::bigint and q.secret = decode(right(in_receipt, 32), 'hex')
        and q.route is null and q.member is null and q.semaphores is null and q.pending is null and in_options is null
        and (
            select k.p_kind from queue_kind k where k.p_kind = q.p_kind
                and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0)) is null
    returning q.p_kind, (q.source_kind is null)::integer as pushed, q.order_key, exists (
        select from queue_kind k where k.p_kind = q.p_kind and k.max_reserved is not null) as limited
    into v_done;
    if found then
        outcome := 'acked';
        insert into queue_count (p_kind, pushed, acked, reserved) values (v_done.p_kind, v_done.pushed, 1, 1);
        if v_done.order_key is not null then
            perform _queue_advance(array[v_done.p_kind], array[v_done.order_key], queue_now(), null::bigint[]);
        end if;
        if v_done.limited then
            perform _queue_wake_limited(v_done.p_kind);
        end if;
    else
        v_receipt := _queue_receipt(in_receipt);
        outcome := (_queue_ack_many(array[v_receipt.entry], array[v_receipt.secret], in_options, queue_now()))[1];
    end if;
end $$;
--;
comment on function queue_ack(text, jsonb) is
$$The work is done: removes the message. It is kept in queue_history where the kind has history_seconds. What was pushed
onto it while it was held is put in now.
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
Where the idea comes from: Keuss's pipelines, with their direct, choice and sink links.$$;
--;
-- calls: _queue_ack_many, _queue_advance, _queue_check_ack, _queue_lock_lines, _queue_permits_settle,
--     _queue_receipts, _queue_savepoint, _queue_wake_limited, queue_now
-- changes: delayed_queue, queue_count
create or replace function queue_ack_many(in_receipts jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off set enable_bitmapscan = off as $$
declare
    v_now constant bigint := queue_now();
    v_timeout constant text := current_setting('lock_timeout');
    v_given text[]; v_entries bigint[];
    v_kind text; v_ordered boolean; v_guarded boolean; v_limited boolean;
    v_next bigint[]; v_gone text[]; v_dead bigint; v_done boolean;
    v_receipts record; v_outcomes text[]; v_each text[];
begin
    -- most batches: all are held, once, and nothing but their turns and slots hangs on their end, in one kind
    begin
        if in_options is null and jsonb_array_length(in_receipts) <= 10000 then
            select array_agg(r.receipt), array_agg(r.entry) into v_given, v_entries
            from (
                select e.receipt, left(e.receipt, -33)::bigint as entry
                from jsonb_array_elements_text(in_receipts) e (receipt) order by 2) r;
            select q.p_kind, q.order_key is not null, q.semaphores is not null, exists (
                select from queue_kind k where k.p_kind = q.p_kind and k.max_reserved is not null)
            into v_kind, v_ordered, v_guarded, v_limited
            from delayed_queue q
            where q.entry = v_entries[1] and (
                select k.p_kind from queue_kind k where k.p_kind = q.p_kind
                    and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0)) is null;
        end if;
        if v_kind is not null and _queue_savepoint() then
            v_next := case when v_ordered then _queue_lock_lines(v_entries, null::bigint[]) else '{}' end;
            -- a call may be waiting for the key of one that is gone, and have the next one locked
            perform set_config('lock_timeout', '10', true);
            with d as (
                delete from delayed_queue q
                where q.entry = any (v_entries) and q.p_kind || '' = v_kind and q.pending is null and q.route is null
                    and q.member is null and (v_ordered or q.order_key is null)
                    and (v_guarded or q.semaphores is null)
                returning q.entry || '-' || encode(q.secret, 'hex') as receipt, q.source_kind)
            select array_agg(d.receipt), count(d.source_kind) into v_gone, v_dead from d;
            perform set_config('lock_timeout', v_timeout, true);
            v_done := v_gone = v_given;
            if v_done is not true then
                raise exception using errcode = 'PQ00A';
            end if;
        end if;
    -- all of it is undone; what has another form is for _queue_receipts to name
    exception when sqlstate 'PQ00A' or deadlock_detected or lock_not_available or invalid_text_representation
        or numeric_value_out_of_range or invalid_parameter_value then
        if sqlstate = '55P03' and v_next is null then
            raise;
        end if;
    end;
    if v_done then
        insert into queue_count (p_kind, pushed, acked, reserved)
        select v_kind, n - v_dead, n, n from cardinality(v_gone) n;
        if v_next <> '{}' then
            perform _queue_advance(null::text[], null::text[], v_now, v_next);
        end if;
        if v_limited then
            perform _queue_wake_limited(v_kind);
        end if;
        if v_guarded then
            perform _queue_permits_settle(v_entries, null::text[], true, v_now);
        end if;
        return query select e.receipt, 'acked' from jsonb_array_elements_text(in_receipts) e (receipt);
        return;
    end if;
    v_receipts := _queue_receipts(in_receipts);
    if in_options is not null then
        perform _queue_check_ack(in_options);
    end if;
    v_each := _queue_ack_many(v_receipts.entries, v_receipts.secrets, in_options, v_now);
    for i in 1 .. cardinality(v_each) loop
        v_outcomes[v_receipts.places[i]] := v_each[i];
    end loop;
    return query select r.receipt, coalesce(r.outcome, 'lost')
        from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;
--;
comment on function queue_ack_many(jsonb, jsonb) is
$$The work of many messages is done: queue_ack for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: as in queue_ack, for each of them.
Result: a row a receipt, in their order: receipt, outcome: acked, moved, duplicate, lost; a receipt that stands twice is
lost the second time.
Errors: PQ005 with the first that is no receipt, and those of queue_ack; then nothing is acked.
Locks: as queue_ack, all in the order of their entries.$$;
--;
-- calls: _queue_check_nack, _queue_members_settle, _queue_nack, _queue_permits_settle, _queue_receipt, queue_now
create or replace function queue_nack(in_receipt text, in_options jsonb default null, out receipt text,
    out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_names text[];
    v_receipt record;
begin
    v_receipt := _queue_receipt(in_receipt);
    perform _queue_check_nack(in_options);
    receipt := in_receipt;
    select q.semaphores into v_names from delayed_queue q where q.entry = v_receipt.entry;
    outcome := _queue_nack(v_receipt.entry, v_receipt.secret, in_options, v_now);
    if v_names is not null or outcome = 'dead' then
        perform _queue_members_settle(v_now);
        perform _queue_permits_settle(array[v_receipt.entry], v_names, true, v_now);
    end if;
end $$;
--;
comment on function queue_nack(text, jsonb) is
$$Gives a message back for a later try. A nack of the last delivery that it may have (max_attempts) makes it a dead
letter.
in_receipt: what queue_reserve returned.
in_options: why, and until when.
- delay_seconds: how long the message waits. Allowed: 0 to 31536000 (a year). Default: without an error 0; with an
  error the back-off of the kind, which is backoff_seconds * backoff_factor ^ (attempts - 1), at most
  backoff_max_seconds, less up to the share jitter of it at random.
- error: what went wrong. The last ten are kept with the message. Allowed: a text. Default: none, the message didn't
  fail.
- payload: takes the place of the payload. Allowed: JSON. Default: the payload stays.
- final: makes the message a dead letter at once. Allowed: true, false. Default: false.
- count: false means that the delivery doesn't count as an attempt, and that there is no back-off: a snooze, or a
  shutdown. Allowed: true, false. Default: true.
Result: receipt, outcome: retry, dead, lost (see queue_ack). What was pushed onto the message while it was held takes
its place, with the time it asks for.
Errors: PQ005 for what is no receipt, PQ002 for options, PQ003 for the payload.
Locks: the message, and where it dies its key in the dead-letter kind; its semaphores.$$;
--;
-- calls: _queue_check_nack, _queue_lock_lines, _queue_members_settle, _queue_nack, _queue_permits_settle,
--     _queue_receipts, queue_now
create or replace function queue_nack_many(in_receipts jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts record;
    v_outcomes text[];
    v_one record;
    v_names text[];
begin
    v_receipts := _queue_receipts(in_receipts);
    perform _queue_check_nack(in_options);
    v_outcomes := array_fill('lost'::text, array[cardinality(v_receipts.receipts)]);
    perform _queue_lock_lines(v_receipts.entries, null::bigint[]);
    for v_one in -- dead letters are put in in the order of their keys, as everywhere
        select r.entry, r.secret, r.place, q.semaphores
            from unnest(v_receipts.entries, v_receipts.secrets, v_receipts.places)
            r (entry, secret, place)
        join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
        order by q.p_key, q.p_kind
    loop
        v_outcomes[v_one.place] := _queue_nack(v_one.entry, v_one.secret, in_options, v_now);
        v_names := v_names || v_one.semaphores;
    end loop;
    perform _queue_members_settle(v_now);
    perform _queue_permits_settle(v_receipts.entries, v_names, true, v_now)
        where v_names is not null or 'dead' = any (v_outcomes);
    return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;
--;
comment on function queue_nack_many(jsonb, jsonb) is
$$Gives many messages back: queue_nack for each, in one call.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: those of queue_nack, for all.
Result: a row a receipt, in their order: receipt, outcome: retry, dead, lost; one that stands twice is lost the second
time.
Errors: PQ005 with the first that is no receipt, PQ002 for options, PQ003 for the payload; then nothing is given back.
Locks: as queue_nack, in the order of the entries.$$;
--;
-- calls: _queue_check_move, _queue_check_roles, _queue_move_many, _queue_receipt, queue_now
create or replace function queue_move(in_receipt text, in_to_kind text, in_options jsonb default null,
    out receipt text, out outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipt record;
begin
    v_receipt := _queue_receipt(in_receipt);
    perform _queue_check_move(in_to_kind, in_options, v_now, '');
    perform _queue_check_roles(array[in_to_kind]);
    receipt := in_receipt;
    outcome := (_queue_move_many(array[v_receipt.entry], array[v_receipt.secret], array[in_to_kind],
        array[coalesce(nullif(in_options, 'null'), '{}')], v_now))[1];
end $$;
--;
comment on function queue_move(text, text, jsonb) is
$$Moves a message on to the next kind, atomically: it is in one of the two at every instant.
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
Where the idea comes from: Keuss's move-to-queue.$$;
--;
-- calls: _queue_check_move, _queue_check_options, _queue_check_roles, _queue_fail, _queue_move_many, _queue_receipts,
--     queue_now
create or replace function queue_move_many(in_moves jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts record;
    v_moves jsonb[];
    v_kinds text[];
    v_outcomes text[];
    v_each text[];
begin
    in_moves := coalesce(nullif(in_moves, 'null'), '[]');
    in_options := coalesce(nullif(in_options, 'null'), '{}');
    if jsonb_typeof(in_moves) <> 'array' or in_moves @? '$[*] ? (@.type() != "object")' then
        perform _queue_fail('PQ001', 'moves', in_moves::text,
            'must be a JSON array of {receipt, to_kind, and move options}');
    end if;
    v_receipts := _queue_receipts(jsonb_path_query_array(in_moves, 'strict $[*].receipt', silent => true));
    if cardinality(v_receipts.receipts) <> jsonb_array_length(in_moves) then
        perform _queue_fail('PQ005', 'moves', in_moves::text, 'must have a receipt each');
    end if;
    perform _queue_check_options(in_options, '{payload, headers, key, delay_seconds, priority, on_duplicate}'::text[],
        'options');
    v_kinds := array(select m.move ->> 'to_kind' from jsonb_array_elements(in_moves) with ordinality m (move, n)
        order by m.n);
    v_moves := array(select in_options || (m.move - '{receipt, to_kind}'::text[])
        from jsonb_array_elements(in_moves) with ordinality m (move, n) order by m.n);
    for i in 1 .. cardinality(v_kinds) loop
        perform _queue_check_move(v_kinds[i], nullif(v_moves[i], '{}'), v_now, 'moves[' || i - 1 || '].');
    end loop;
    perform _queue_check_roles(v_kinds);
    v_outcomes := array_fill('lost'::text, array[cardinality(v_kinds)]);
    v_each := _queue_move_many(v_receipts.entries, v_receipts.secrets,
        array(select v_kinds[p.place] from unnest(v_receipts.places) with ordinality p (place, n) order by p.n),
        array(select v_moves[p.place] from unnest(v_receipts.places) with ordinality p (place, n) order by p.n), v_now);
    for i in 1 .. cardinality(v_each) loop
        v_outcomes[v_receipts.places[i]] := v_each[i];
    end loop;
    return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;
--;
comment on function queue_move_many(jsonb, jsonb) is
$$Moves many messages on, each to a kind of its own: queue_move for each, in one call and one transaction.
in_moves: a JSON array of at most 10000 objects {receipt, to_kind, and move options}; NULL: none. in_options: move
options for all; those of a move win.
Result: a row a move, in their order: receipt, outcome: moved, duplicate, lost; a receipt that stands twice is lost the
second time.
Errors: those of queue_move, naming the place as moves[0], moves[1], …; then nothing is moved.
Locks: as queue_move, all in the order of their entries.$$;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_end, _queue_permits_settle, queue_now
create or replace function queue_remove(in_kind text, in_key text, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_row delayed_queue;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_name(in_key, 200, 'key');
    select q.* into v_row from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
    if not found then
        outcome := 'absent';
    elsif v_row.reserved_at is not null and v_row.scheduled_at > v_now then
        outcome := 'held';
    else
        perform _queue_end(array[v_row.entry], null::bytea[], 'removed', null::text, v_now);
        perform _queue_permits_settle(array[v_row.entry], v_row.semaphores, true, v_now)
            where v_row.semaphores is not null;
        outcome := 'removed';
    end if;
end $$;
--;
comment on function queue_remove(text, text) is
$$Removes a message that nobody holds.
in_kind: the kind. in_key: the key.
Result: outcome: removed, held (it stays), absent.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key.
Locks: the message, the next in the line of its order key, and its semaphores.$$;
--;
-- calls: _queue_check_count, _queue_check_name, _queue_check_roles, _queue_end, _queue_permits_settle, queue_now
create or replace function queue_purge(in_kind text, in_max_messages bigint default null, out purged bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_gone record;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_count(coalesce(in_max_messages, 1), 'max_messages', 9223372036854775807);
    v_gone := _queue_end(array(
        select p.entry from delayed_queue p
        where p.p_kind = in_kind and (p.reserved_at is null or p.scheduled_at <= v_now)
        limit in_max_messages for update skip locked), null::bytea[], 'removed', null::text, v_now);
    purged := cardinality(v_gone.places);
    perform _queue_permits_settle(v_gone.guarded, null::text[], true, v_now) where v_gone.guarded is not null;
end $$;
--;
comment on function queue_purge(text, bigint) is
$$Removes the messages of a kind that nobody holds.
in_kind: the kind. in_max_messages: how many at the most, NULL: all.
Result: purged: how many.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages.
Locks: the messages; what others have locked is left. Then the next in the lines of their order keys, and their
semaphores.$$;
--;
-- calls: _queue_check_count, _queue_check_name, _queue_check_roles, _queue_end, _queue_join_line, _queue_line,
--     _queue_permits_settle, _queue_put, queue_now
-- changes: delayed_queue
create or replace function queue_redrive(in_kind text, in_max_messages bigint default null, out went bigint,
    out stayed bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_own constant boolean := pg_current_xact_id_if_assigned() is null;
    v_now constant bigint := queue_now();
    v_dead delayed_queue; v_row delayed_queue;
    v_put record;
    v_last text collate "C";
    v_look bigint := coalesce(in_max_messages, 9223372036854775807);
    v_entries bigint[];
    v_orders text[];
    v_names text[];
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_count(v_look, 'max_messages', 9223372036854775807);
    for v_try in 1 .. 2147483647 loop
        begin
            went := 0;
            v_last := null;
            v_orders := null;
            v_names := null;
            loop -- of those that came from one key only one can go
                v_entries := array(
                    select q.entry from delayed_queue q
                    where q.p_kind = in_kind and q.source_kind is not null and q.pending is null
                        and (q.reserved_at is null or q.scheduled_at <= v_now)
                        and (select t.entry from delayed_queue t
                            where t.p_kind = q.source_kind and t.p_key = q.source_key) is null
                        and (select k.draining from queue_kind k where k.p_kind = q.source_kind) is not true
                    order by q.p_kind, q.p_key limit v_look);
                exit when cardinality(v_entries) < v_look or in_max_messages <= (
                    select count(distinct (q.source_kind, q.source_key)) from delayed_queue q
                    where q.entry = any (v_entries));
                v_look := v_look * 2;
            end loop;
            -- rows are locked before keys are put in, everywhere
            perform _queue_line(l.source_kind, array_agg(l.source_order_key), array_agg(l.source_key), false, false)
            from delayed_queue l
            where l.entry = any (v_entries) and l.source_order_key is not null
            group by l.source_kind order by l.source_kind;
            v_entries := null;
            for v_dead in
                with l as materialized (
                    select q from delayed_queue q
                    where q.p_kind = in_kind and q.source_kind is not null and q.pending is null
                        and (q.reserved_at is null or q.scheduled_at <= v_now)
                        and (select t.entry from delayed_queue t
                            where t.p_kind = q.source_kind and t.p_key = q.source_key) is null
                        and (select k.draining from queue_kind k where k.p_kind = q.source_kind) is not true
                    order by q.p_kind, q.p_key limit v_look for update skip locked),
                n as (
                    select l.q, row_number() over (
                        partition by (l.q).source_kind, (l.q).source_key order by (l.q).p_key) as nth
                    from l),
                d as (select n.q from n where n.nth = 1 order by (n.q).p_key limit in_max_messages)
                select (d.q).* from d order by (d.q).source_key, (d.q).source_kind, (d.q).p_key
            loop
                v_last := greatest(v_last, v_dead.p_key);
                v_row := v_dead;
                v_row.p_kind := v_dead.source_kind;
                v_row.p_key := v_dead.source_key;
                v_row.priority := v_dead.source_priority;
                v_row.scheduled_at := v_now;
                v_row.attempts := 0;
                v_row.max_attempts := null;
                v_put := _queue_put(v_row, 'ignore', null::bigint, v_now);
                if v_put.outcome = 'created' then
                    update delayed_queue q set errors = v_dead.errors,
                        scheduled_at_initially = v_dead.scheduled_at_initially
                    where q.entry = v_put.entry and v_dead.errors is not null;
                    v_names := v_names || v_dead.semaphores;
                    if v_dead.source_order_key is not null then
                        v_entries := v_entries || v_put.entry;
                        v_orders := v_orders || v_dead.source_order_key;
                    end if;
                    perform _queue_end(array[v_dead.entry], null::bytea[], 'moved', v_dead.source_kind, v_now);
                    went := went + 1;
                end if;
            end loop;
            perform _queue_join_line(v_entries, v_orders) where v_orders is not null;
            perform _queue_permits_settle(null::bigint[], v_names, true, v_now) where v_names is not null;
            exit;
        exception when sqlstate 'PQ00A' or deadlock_detected then -- all that it did and locked is undone: again
            if sqlstate <> 'PQ00A' and (not v_own or v_try > 20) then raise; end if;
        end;
    end loop;
    select count(*) into stayed from delayed_queue q
    where q.p_kind = in_kind and q.p_key <= case when went = in_max_messages then v_last
            else (select max(m.p_key) from delayed_queue m where m.p_kind = in_kind) end
        and q.source_kind is not null and q.pending is null and (q.reserved_at is null or q.scheduled_at <= v_now)
        and ((select t.entry from delayed_queue t where t.p_kind = q.source_kind and t.p_key = q.source_key) is not null
            or (select k.draining from queue_kind k where k.p_kind = q.source_kind));
end $$;
--;
comment on function queue_redrive(text, bigint) is
$$Sends dead letters back to the kinds they came from. Each is a new entry with attempts 0. It keeps its key, priority,
errors, route and semaphores, and stands at the end of the line of its order key. The dead letter has ended by that:
it counts as moved, in history and log too.
in_kind: the dead-letter kind.
in_max_messages: how many go at the most, in the order of their keys; NULL: all. Those that can't go are passed over,
however many there are. Of several that came from the same key the first in that order goes.
Result: went: how many; stayed: how many whose key is taken where they came from, or where that is drained. Those up to
the last one that went are counted, or all where fewer went than were asked for.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages.
Locks: the dead letters that go, and the first of the lines. What others hold or have locked stays.$$;
--;
-- changes: delayed_queue, queue_dedup
create or replace function _queue_take_back(in_entries bigint[], in_now bigint) returns bigint[] language plpgsql as $$
declare
    v_late bigint[];
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        -- an end that was committed after the snapshot can't be seen: putting its key in makes the server report it
        insert into queue_dedup (p_kind, p_key, ended_at)
        select q.p_kind, q.p_key, 0 from delayed_queue q where q.entry = any (in_entries) order by q.p_key, q.p_kind
        on conflict on constraint queue_dedup_pkey do nothing;
        delete from queue_dedup d
        where d.ended_at = 0 and (d.p_kind, d.p_key) in (
            select q.p_kind, q.p_key from delayed_queue q where q.entry = any (in_entries));
    end if;
    with d as (
        delete from delayed_queue q
        where q.entry = any (array(
            select e.entry from unnest(in_entries) e (entry), -- OFFSET: ADR 13
                lateral (select n.p_kind, n.p_key from delayed_queue n where n.entry = e.entry offset 0) o
                join queue_kind k on k.p_kind = o.p_kind,
                lateral (select d.ended_at from queue_dedup d where d.p_kind = o.p_kind
                and d.p_key = o.p_key offset 0) m
            where m.ended_at > in_now - nullif(k.dedup_seconds, 0) * 1000000))
        returning q.entry)
    select coalesce(array_agg(d.entry), '{}') into v_late from d;
    return v_late;
end $$;
--;
comment on function _queue_take_back(bigint[], bigint) is
$$Takes back what a push has just put in although its key is remembered: a push that had to wait for the end of the
message before can see only then that there was one.
in_entries: what was put in. in_now: the time of the call.
Result: the entries taken back.
Errors: under REPEATABLE READ and SERIALIZABLE the server's own 40001.
differs: on MariaDB and MySQL _queue_put reads the memory again, with a lock, and takes back what it has just put in.$$;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_roles, _queue_fail, _queue_index, _queue_instant,
--     _queue_integer, _queue_log, _queue_text, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_replay(in_kind text, in_filter jsonb default null, out went bigint, out stayed bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_outcome constant text := _queue_text(in_filter, 'outcome');
    v_key constant text := _queue_text(in_filter, 'p_key');
    v_from constant bigint := coalesce(_queue_instant(in_filter, 'from'), 0);
    v_to constant bigint := coalesce(_queue_instant(in_filter, 'to'), 9223372036854775807);
    v_limit constant bigint := coalesce(_queue_integer(in_filter, 'limit', 1::bigint, 10000::bigint), 1000);
    v_to_kind constant text := coalesce(_queue_text(in_filter, 'to_kind'), in_kind);
    v_entries bigint[];
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_options(in_filter, '{outcome, p_key, from, to, limit, to_kind}'::text[], 'filter');
    perform _queue_check_name(v_to_kind, 100, 'to_kind');
    perform _queue_check_roles(array[in_kind, v_to_kind]);
    if v_outcome not in ('acked', 'popped', 'moved', 'dead', 'removed') then
        perform _queue_fail('PQ002', 'outcome', v_outcome, 'must be acked, popped, moved, dead or removed');
    elsif exists (select from queue_kind k where k.p_kind = v_to_kind and k.draining) then
        perform _queue_fail('PQ004', 'to_kind', v_to_kind, 'takes in nothing while it is drained');
    end if;
    with h as materialized (
        select nextval('delayed_queue_entry_seq'::regclass) as entry, o.*
        from (
            (select e.* from queue_history e
                where v_key is null and e.p_kind = in_kind and e.finished_at >= v_from and e.finished_at < v_to
                    and e.outcome = coalesce(v_outcome, e.outcome)
                order by e.p_kind, e.finished_at, e.entry limit v_limit)
            union all
            (select e.* from queue_history e
                where e.p_kind = in_kind and e.p_key = v_key and e.finished_at >= v_from and e.finished_at < v_to
                    and e.outcome = coalesce(v_outcome, e.outcome)
                order by e.finished_at + 0, e.entry limit v_limit) -- + 0: ADR 13
            ) o (p_kind, p_key, old)),
    i as (
        insert into delayed_queue as q (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, ready_at)
        select h.entry, v_to_kind, h.p_key, h.payload, h.payload_bytes, h.headers, h.priority, v_now, v_now, v_now,
            v_now
        from h order by h.p_key, h.finished_at desc, h.entry desc -- of one key the newest
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry)
    select array(select i.entry from i order by i.entry), (select count(*) from h) into v_entries, stayed;
    went := cardinality(v_entries);
    stayed := stayed - went;
    if went > 0 then
        perform _queue_index(v_entries);
        perform _queue_wake(v_to_kind, null);
        perform _queue_log(v_entries, null::text[], null::text, v_now);
    end if;
end $$;
--;
comment on function queue_replay(text, jsonb) is
$$Puts what a kind keeps in queue_history back, as new entries with attempts 0 that are ready now, in the order in which
they had ended.
in_kind: the kind whose history it is.
in_filter: which of it, all conditions together.
- outcome: how it ended. Allowed: acked, popped, moved, dead, removed. Default: any.
- p_key: its key. Allowed: 1 to 200 characters. Default: any.
- from: when it ended, from this time on. Allowed: as scheduled_at of queue_push. Default: the oldest.
- to: when it ended, before this time. Allowed: as scheduled_at of queue_push. Default: the newest.
- limit: how many, the oldest first. For more go on by from and to. Allowed: 1 to 10000. Default: 1000.
- to_kind: where it goes. Allowed: a kind, 1 to 100 characters. Default: the kind itself.
Result: went: how many; stayed: how many whose key is taken there, or that a newer one of their key went instead of. A
key that is only remembered (dedup_seconds) doesn't hinder it. What isn't of the payload_shape there is dead at the
next reserve.
Errors: PQ007 for a kind that is for others. PQ001 for kind and to_kind, PQ002 for filter, PQ004 where the target is
drained.
Locks: none; keys are put in in their order.$$;
--;
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
--;
comment on function _queue_semaphores(jsonb) is
$$The semaphores of a push, checked.
in_options: those of a push, with semaphores.
Result: their names, in order.
Errors: PQ002, also for one that isn't there, and together with an order key.$$;
--;
-- calls: _queue_setting
-- changes: queue_semaphore
create or replace function _queue_permits_lock(in_names text[], in_wait boolean) returns text[] language plpgsql as $$
declare
    v_locked text[];
begin
    if in_wait then
        -- with those of who may be next, because to lock them later would be out of order; BETWEEN: ADR 13
        v_locked := array(
            select s.name from queue_semaphore s
            where s.name = any (in_names || array(
                select a.name
                from (select distinct n.name from unnest(in_names) n (name)) d, lateral (
                    select w.entry from queue_semaphore_wait w
                    where w.name between d.name and d.name order by w.name, w.entry limit 3) l
                join delayed_queue q on q.entry between l.entry and l.entry, unnest(q.semaphores) a (name)))
            order by s.name for update);
        perform set_config(_queue_setting('permits'), 'locked', true);
    else
        v_locked := array(
            select s.name from queue_semaphore s where s.name = any (in_names) order by s.name for update skip locked);
    end if;
    -- an old snapshot fails on what is written
    update queue_semaphore s set capacity = s.capacity where s.name = any (v_locked);
    return v_locked;
end $$;
--;
comment on function _queue_permits_lock(text[], boolean) is
$$Locks semaphores: who has locked one takes its free permits, and nobody else. The last that a call locks, so that
whoever waits for one keeps nobody waiting that has it.
in_names: the semaphores. in_wait: false: what others have locked is left out, which is for who has locked some already.
Result: the names of those that are there and locked.
Locks: these rows, in the order of their names.$$;
--;
-- changes: queue_semaphore, queue_semaphore_permit
create or replace function _queue_permits_room(in_name text, in_all boolean,
    in_now bigint) returns bigint language plpgsql as $$
declare
    v_permit record;
    v_held bigint;
    v_room bigint;
    v_lowered boolean;
begin
    for v_permit in
        select h.entry from queue_semaphore_permit h
        where h.name = in_name and h.until between 0 and in_now order by h.name, h.until limit 100
    loop
        select case when q.reserved_at is not null then q.scheduled_at else 0 end into v_held
        from delayed_queue q where q.entry = v_permit.entry for update skip locked;
        if v_held > in_now then
            update queue_semaphore_permit h set until = v_held where h.entry = v_permit.entry and h.name = in_name;
        elsif v_held is not null or not exists (select from delayed_queue q where q.entry = v_permit.entry) then
            delete from queue_semaphore_permit h where h.entry = v_permit.entry and h.name = in_name;
        end if;
    end loop;
    select s.capacity - (select count(*) from queue_semaphore_permit h where h.name = in_name), s.lowered
    into v_room, v_lowered from queue_semaphore s where s.name = in_name;
    if v_lowered and v_room >= 0 then
        update queue_semaphore s set lowered = false where s.name = in_name;
    end if;
    if v_room <= 0 and not in_all then
        -- taken back, not passed over: who takes such a message by its promise does so without the lock of the
        -- semaphore
        with o as (
            select h.entry from queue_semaphore_permit h
            where h.name = in_name and h.until < 0 and abs(h.until + in_now) >= 1000000 limit 100
            for update skip locked),
        d as (
            delete from queue_semaphore_permit h using o where h.entry = o.entry and h.name = in_name
            returning h.entry)
        select v_room + count(*) into v_room from d;
    end if;
    return v_room;
end $$;
--;
comment on function _queue_permits_room(text, boolean, bigint) is
$$How many permits of a semaphore are free; those of holds that have expired, or whose message has gone, are freed, 100
at the most.
in_name: the semaphore, locked already. in_all: whether all those count that were told that there is room, and that
nobody holds yet; false: in the last second, or the next one where the clock was set back, where there is no room
otherwise.
in_now: the time of the call.
Result: the number, which may be negative; NULL where there is no such semaphore: then it keeps nobody waiting.
Locks: the messages whose holds have expired; what others have locked is left.$$;
--;
-- calls: _queue_wake
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create or replace function _queue_permits_wake(in_name text, in_max bigint, in_now bigint) returns bigint
    language plpgsql as $$
declare
    v_next bigint[];
    v_alone boolean[];
begin
    select array_agg(n.entry), array_agg(n.alone) into v_next, v_alone
    from (
        select q.entry, q.alone
        from (
            select w.entry from queue_semaphore_wait w where w.name between in_name and in_name -- BETWEEN: ADR 13
            order by w.name, w.entry limit in_max + 20) l,
            lateral (
                select m.entry, cardinality(m.semaphores) = 1 as alone from delayed_queue m
                where m.entry between l.entry and l.entry and num_nonnulls(m.ready_at, m.due_at, m.reserved_at) = 0
                for update skip locked) q
        limit in_max) n;
    v_next := v_next[: coalesce(array_position(v_alone, false) - 1, cardinality(v_next))];
    if v_next <> '{}' then
        delete from queue_semaphore_wait w where w.entry = any (v_next);
        insert into queue_semaphore_permit (entry, name, until)
        select n.entry, s.name, -in_now from unnest(v_next) n (entry), queue_semaphore s where s.name = in_name
        on conflict on constraint queue_semaphore_permit_pkey do update set until = -in_now;
        update delayed_queue q set ready_at = in_now where q.entry = any (v_next);
        perform _queue_wake(k.p_kind, k.p_key)
        from (select q.p_kind, min(q.p_key) as p_key from delayed_queue q where q.entry = any (v_next) group by 1) k;
    end if;
    return coalesce(cardinality(v_next), 0);
end $$;
--;
comment on function _queue_permits_wake(text, bigint, bigint) is
$$Wakes who is next in the line of a semaphore, all in a few statements, up to the first that names another one, which
is left to _queue_permits_next.
in_name: the semaphore. in_max: how many there is room for, at most 10000. in_now: the time of the call.
Result: how many went to the ready line, each with a permit promised.
Locks: the messages; what others have locked is passed over.
differs: on MariaDB and MySQL it looks for room itself, in several lines at once.$$;
--;
-- calls: _queue_permits_lock, _queue_permits_room, _queue_permits_wake, _queue_wake
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create or replace function _queue_permits_next(in_name text, in_kind text, in_max bigint, in_now bigint) returns bigint
    language plpgsql as $$
declare
    v_room bigint := coalesce(_queue_permits_room(in_name, in_kind is null, in_now), 9223372036854775807);
    v_looks integer := 100;
    v_last bigint := -1;
    v_woken bigint := 0;
    v_most bigint;
    v_set bigint;
    v_wait record;
    v_row delayed_queue;
    v_lacks text;
begin
    while in_kind is null and v_room > 0 and v_woken < in_max loop -- most of them
        v_most := least(v_room, in_max - v_woken, 10000);
        v_set := _queue_permits_wake(in_name, v_most, in_now);
        v_room := v_room - v_set;
        v_woken := v_woken + v_set;
        exit when v_set < v_most;
    end loop;
    while v_room > 0 and v_woken < in_max and v_looks > 0 loop
        select l.entry, l.p_kind into v_wait
        from (
            (select w.entry, w.p_kind from queue_semaphore_wait w
                where in_kind is null and (w.name, w.entry) > (in_name, v_last) and w.name <= in_name
                order by w.name, w.entry limit 1)
            union all
            (select w.entry, w.p_kind from queue_semaphore_wait w
                where (w.p_kind, w.name, w.entry) > (in_kind, in_name, v_last)
                    and (w.p_kind, w.name) <= (in_kind, in_name)
                order by w.p_kind, w.name, w.entry limit 1)) l;
        exit when not found;
        v_last := v_wait.entry;
        v_looks := v_looks - 1;
        select q.* into v_row from delayed_queue q where q.entry = v_last for update skip locked;
        if not found or num_nonnulls(v_row.ready_at, v_row.due_at, v_row.reserved_at) > 0 then
            delete from queue_semaphore_wait w
            where w.entry = v_last and not exists (
                select from delayed_queue q where q.entry = v_last
                    and num_nonnulls(q.ready_at, q.due_at, q.reserved_at) = 0);
            perform _queue_wake(v_wait.p_kind, null) where not found; -- who has locked it may be undone
            continue;
        end if;
        v_row.semaphores := array(
            select s.name from queue_semaphore s where s.name = any (v_row.semaphores) order by s.name);
        continue when not v_row.semaphores <@ (_queue_permits_lock(v_row.semaphores, false) || in_name);
        v_lacks := (
            select n.name from unnest(v_row.semaphores) n (name)
            where n.name <> in_name and _queue_permits_room(n.name, in_kind is null, in_now) <= 0 order by 1 limit 1);
        if v_lacks is not null then
            update queue_semaphore_wait w set name = v_lacks where w.entry = v_last;
            continue;
        end if;
        update delayed_queue q set ready_at = in_now where q.entry = v_last;
        delete from queue_semaphore_wait w where w.entry = v_last;
        insert into queue_semaphore_permit (entry, name, until)
        select v_last, n.name, -in_now from unnest(v_row.semaphores) n (name)
        on conflict on constraint queue_semaphore_permit_pkey do update set until = -in_now;
        perform _queue_wake(v_row.p_kind, v_row.p_key);
        v_room := v_room - 1;
        v_looks := v_looks + 1;
        v_woken := v_woken + 1;
    end loop;
    return v_woken;
end $$;
--;
comment on function _queue_permits_next(text, text, bigint, bigint) is
$$Wakes who is next in the line of a semaphore: those that lack nothing else, the oldest first. One that lacks another
goes to the line of that, 100 at the most; the others stay where they are.
in_name: the semaphore, locked already. in_kind: only what waits in this kind, which somebody asks for, past whoever was
told that there is room a second ago or longer; NULL: any kind, as many as there is room for. in_max: how many at the
most. in_now: the time of the call.
Result: how many went to the ready line, where they stand last of their priority.
Locks: these messages, and their other semaphores; what others have locked stays as it is.$$;
--;
-- calls: _queue_setting
create or replace function _queue_permits_note(in_entries bigint[]) returns void language plpgsql as $$
begin
    perform set_config(t.name,
        (coalesce(nullif(current_setting(t.name, true), '')::bigint[], '{}') || in_entries)::text, true)
    from _queue_setting('settle') t (name) where in_entries <> '{}';
end $$;
--;
comment on function _queue_permits_note(bigint[]) is
$$Notes that messages which name semaphores have ended or changed, for _queue_permits_settle at the end of the call.
in_entries: their entries.
differs: most routines hand _queue_permits_settle what they have ended; MariaDB and MySQL note it all, with the names of
the semaphores.$$;
--;
-- calls: _queue_permits_lock, _queue_permits_next, _queue_permits_wake, _queue_setting
-- changes: queue_semaphore_permit, queue_semaphore_wait
create or replace function _queue_permits_settle(in_entries bigint[], in_names text[], in_wait boolean,
    in_now bigint) returns void language plpgsql as $$
declare
    v_noted constant bigint[] := nullif(current_setting(_queue_setting('settle'), true), '')::bigint[];
    v_names text[];
    v_locked text[];
    v_name text;
    v_freed bigint;
begin
    if v_noted <> '{}' then -- by _queue_permits_note
        perform set_config(_queue_setting('settle'), '', true);
        in_entries := in_entries || v_noted;
        in_names := in_names || array(
            select a.name from delayed_queue q, unnest(q.semaphores) a (name) where q.entry = any (v_noted));
    end if;
    delete from queue_semaphore_wait w
    where w.entry = any (in_entries) and not exists (
        select from delayed_queue q where q.entry between w.entry and w.entry
            and num_nonnulls(q.ready_at, q.due_at, q.reserved_at) = 0);
    v_names := array(
        select n.name from unnest(in_names) n (name) where n.name is not null
        union select h.name from queue_semaphore_permit h where h.entry = any (in_entries));
    if v_names = '{}' then
        return;
    end if;
    delete from queue_semaphore_permit h
    where h.entry = any (in_entries) and not exists (
        select from delayed_queue q
        where q.entry between h.entry and h.entry and case when q.reserved_at is not null then q.scheduled_at > in_now
            else q.ready_at is not null and h.until < 0 end);
    get diagnostics v_freed = row_count;
    -- where as many go on to who is next, the number of permits that are taken stays, and nobody need be waited for
    if v_freed > 0 and cardinality(v_names) = 1
        and not (select s.lowered from queue_semaphore s where s.name = v_names[1])
        and _queue_permits_wake(v_names[1], v_freed, in_now) = v_freed
    then
        return;
    end if;
    v_locked := _queue_permits_lock(v_names, in_wait);
    v_names := array(
        select n.name from unnest(v_names) n (name)
        where (n.name = any (v_locked) or (select s.name from queue_semaphore s where s.name = n.name) is null)
            and exists (select from queue_semaphore_wait w where w.name between n.name and n.name));
    while v_names <> '{}' loop
        v_name := v_names[1];
        if cardinality(v_names) > 1 then -- the line whose first is the oldest
            select n.name into v_name from unnest(v_names) n (name)
            order by (
                select w.entry from queue_semaphore_wait w
                where w.name between n.name and n.name order by w.name, w.entry limit 1) limit 1;
        end if;
        if _queue_permits_next(v_name, null, case when cardinality(v_names) > 1 then 1
            else 9223372036854775807 end, in_now) = 0
            or cardinality(v_names) = 1 then
            v_names := array_remove(v_names, v_name);
        end if;
    end loop;
end $$;
--;
comment on function _queue_permits_settle(bigint[], text[], boolean, bigint) is
$$Frees the permits of messages that are held or ready no more, and wakes who is next: the end of each call that ends
holds, or puts in what waits. After it a call puts in no key and waits for no message.
in_entries: these messages, as far as they are there. in_names: semaphores at which somebody may be next besides; NULL:
none.
in_wait: see _queue_permits_lock. in_now: the time of the call.
Locks: where each permit of one semaphore goes on to who is next, those messages alone; else the semaphores, in the
order of their names; then as _queue_permits_next.$$;
--;
-- calls: _queue_permits_lock, _queue_permits_next
create or replace function _queue_permits_look(in_kind text, in_max bigint,
    in_now bigint) returns bigint language plpgsql as $$
declare
    v_name text;
    v_woken bigint := 0;
begin
    for v_name in
        with recursive l (name, n) as (
            (select w.name, 1 from queue_semaphore_wait w where w.p_kind between in_kind and in_kind
                order by w.p_kind, w.name limit 1)
            union all
            select (
                select w.name from queue_semaphore_wait w
                where (w.p_kind, w.name) > (in_kind, l.name) and w.p_kind <= in_kind order by w.p_kind, w.name limit 1),
                    l.n + 1
            from l where l.name is not null and l.n < 100)
        select l.name from l
        where l.name is not null and coalesce((
            select s.capacity > (
                select count(*) from queue_semaphore_permit h where h.name = s.name
                    and (h.until > in_now or abs(h.until + in_now) < 1000000))
            from queue_semaphore s where s.name = l.name), true)
        order by 1
    loop
        exit when v_woken >= in_max;
        if _queue_permits_lock(array[v_name], false) <> '{}'
            or not exists (select from queue_semaphore s where s.name = v_name) then
            v_woken := v_woken + _queue_permits_next(v_name, in_kind, in_max - v_woken, in_now);
        end if;
    end loop;
    return v_woken;
end $$;
--;
comment on function _queue_permits_look(text, bigint, bigint) is
$$Looks whether there is room by now for what waits in a kind, though nobody said so: a hold has expired, or whoever was
told that there is room, a second ago or longer, isn't taken. What a reserve does that finds too little ready.
in_kind: the kind. in_max: how many are wanted. in_now: the time of the call.
Result: how many went to the ready line; of 100 semaphores at the most.
Locks: these semaphores and as _queue_permits_next; what others have locked is left.$$;
--;
-- calls: _queue_permits_settle
create or replace function _queue_permits_sweep(in_now bigint) returns void language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_names constant text[] := array(
        select s.name from queue_semaphore s
        where ( -- not EXISTS: that may be planned as a scan of all that wait
                select w.entry from queue_semaphore_wait w
                where w.name between s.name and s.name order by w.name, w.entry limit 1) is not null
            and s.capacity > (select count(*) from queue_semaphore_permit h
                where h.name = s.name and (h.until < 0 or h.until > in_now))
        order by s.name limit 1000);
begin
    perform _queue_permits_settle(null::bigint[], v_names, false, in_now) where v_names <> '{}';
end $$;
--;
comment on function _queue_permits_sweep(bigint) is
$$Wakes who waits for a semaphore of which permits are free or their holds have expired, in whatever kind.
in_now: the time of the call.
Locks: 1000 semaphores at the most, then as _queue_permits_next; what others have locked is left.$$;
--;
-- changes: delayed_queue, queue_kind, queue_semaphore_wait
create or replace function _queue_line_up(in_entries bigint[]) returns text[] language plpgsql as $$
declare
    v_kinds text[]; v_names text[];
begin
    with l as materialized (
        select q.entry, q.p_kind, q.semaphores, q.ready_at is null as stands,
            q.reserved_at is null and q.due_at is null as placed,
            exists (select from queue_semaphore s where s.name = any (q.semaphores)) as waits
        from delayed_queue q
        where q.entry = any (in_entries) and q.semaphores is not null and q.source_kind is null),
    u as (
        update delayed_queue q set ready_at = case when q.ready_at is null then q.scheduled_at end
        where q.entry = any (array(select l.entry from l where l.placed and l.stands <> l.waits))),
    i as (
        insert into queue_semaphore_wait (entry, name, p_kind)
        select l.entry, l.semaphores[1], l.p_kind from l where l.placed and l.waits
        on conflict on constraint queue_semaphore_wait_pkey do nothing)
    select array_agg(distinct l.p_kind), array_agg(distinct a.name) filter (where l.placed and l.waits)
    into v_kinds, v_names from l, unnest(l.semaphores) a (name);
    -- an INSERT of nothing locks the table, too, which queue_drop has locked before it locks messages
    if exists (
        select from unnest(v_kinds) n (kind)
        where not exists (select from queue_kind k where k.p_kind = n.kind and k.semaphores))
    then
        insert into queue_kind as k (p_kind, semaphores)
        select n.kind, true from unnest(v_kinds) n (kind) order by n.kind collate "C"
        on conflict on constraint queue_kind_pkey do update set semaphores = true where not k.semaphores;
    end if;
    return v_names;
end $$;
--;
comment on function _queue_line_up(bigint[]) is
$$Puts messages that name semaphores in line for them, out of the ready line; _queue_permits_settle wakes those for
which there is room. What is delayed waits for its time first. Their kind is marked, so that queue_reserve knows.
in_entries: messages; those without semaphores, and dead letters, which need none, stay as they are. Those whose
semaphores aren't there, or have gone while a batch was put in, are ready.
Result: the names of the semaphores; NULL: none.
Locks: the messages; the settings of a kind that had no such message before.$$;
--;
-- changes: delayed_queue
create or replace function _queue_line(in_kind text, in_orders text[], in_keys text[], in_changes boolean,
    in_again boolean)
    returns jsonb language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_line bigint[];
    v_headed jsonb;
    v_alone bigint[];
    v_heads bigint[];
begin
    v_line := array(
        select e.entry
        from (select distinct u.order_key from unnest(in_orders) u (order_key)) o,
            lateral (
                (select h.entry from delayed_queue h
                    where h.p_kind = in_kind and h.order_key = o.order_key and h.order_key is not null
                        and h.order_waits is null)
                union all
                (select w.entry from delayed_queue w -- BETWEEN: ADR 13
                    where w.p_kind = in_kind and w.order_key between o.order_key and o.order_key and w.order_waits
                    order by w.p_kind, w.order_key, w.entry limit 1)) e);
    if v_line = '{}' and not in_changes then
        return '{}';
    elsif in_keys is not null then
        -- to wait for one of the keys with a row locked could be a deadlock with who ends both
        v_line := v_line || array(
            select k.entry
            from unnest(in_keys) n (name), lateral ( -- one by one: as a join it may be planned as a scan of the kind
                select q.entry from delayed_queue q where q.p_kind = in_kind and q.p_key = n.name limit 1) k);
    end if;
    if in_changes then
        perform q.entry from delayed_queue q where q.entry = any (v_line) order by q.entry + 0 for update;
    elsif in_again then -- whoever has locked a first one needs nobody behind it
        v_heads := array(select q.entry from delayed_queue q where q.entry = any (v_line) and q.order_waits is null);
        v_line := array(select q.entry from delayed_queue q
            where q.entry = any (v_heads) for no key update skip locked);
        if cardinality(v_line) < cardinality(v_heads) then
            raise exception using errcode = 'PQ00A';
        end if;
    end if;
    select coalesce(jsonb_object_agg(l.order_key, 0), '{}'),
        array_agg(l.head) filter (where not l.waits or current_setting('transaction_isolation') <> 'read committed')
    into v_headed, v_alone
    from (
        select k.order_key, max(k.entry) filter (where k.order_waits is null) as head, bool_or(k.order_waits is true)
            or in_again and exists (
                select from delayed_queue w
                where w.p_kind = in_kind and w.order_key between k.order_key and k.order_key and w.order_waits) as waits
        from (
            select q.entry, q.order_key, q.order_waits from delayed_queue q
            where q.entry = any (v_line) order by q.entry + 0 for no key update) k
        where k.order_key is not null
        group by k.order_key) l
    where l.head is not null;
    if v_alone is not null then
        -- nothing changes, but who ends the first with a snapshot that can't see what comes behind it gets the server's
        -- 40001
        update delayed_queue q set order_key = q.order_key where q.entry = any (v_alone);
    end if;
    return v_headed;
end $$;
--;
comment on function _queue_line(text, text[], text[], boolean, boolean) is
$$Locks the lines that something is to be put behind, so that nobody ends the first of one, and goes without the new
one, until this transaction ends.
in_kind: the kind. in_orders: order keys. in_keys: the keys that are to be put in; NULL: they are in
already. in_changes: whether messages that have such a key are to be changed. in_again: true: what others have locked is
PQ00A, on which the caller undoes what it did and begins again, since to wait with keys put in could be a deadlock.
Result: an object with 0 for each that has a first one.
Locks: the first of each line, and but for in_again the one behind it, with in_keys the messages of these keys too, in
the order of their entries: a reserve passes such a first one over until then.
Errors: under REPEATABLE READ and SERIALIZABLE the server's own 40001.
differs: MariaDB and MySQL have a row a line in queue_order, since their locking reads see what is committed.$$;
--;
-- calls: _queue_line
-- changes: delayed_queue
create or replace function _queue_join_line(in_entries bigint[], in_orders text[]) returns void
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_kind record;
    v_headed jsonb;
    v_index text;
begin
    for v_kind in
        select q.p_kind, array_agg(q.entry) as entries, array_agg(o.order_key) as orders
        from unnest(in_entries, in_orders) o (entry, order_key),
            lateral (select e.p_kind, e.entry from delayed_queue e where e.entry = o.entry offset 0) q
        group by q.p_kind order by q.p_kind
    loop
        loop
            begin
                v_headed := _queue_line(v_kind.p_kind, v_kind.orders, null::text[], false, true);
                if v_headed <> '{}' and exists (
                    select from unnest(v_kind.entries, v_kind.orders) o (entry, order_key), lateral (
                        (select h.entry from delayed_queue h
                            where h.p_kind = v_kind.p_kind and h.order_key = o.order_key and h.order_key is not null
                                and h.order_waits is null)
                        union all
                        (select w.entry from delayed_queue w -- BETWEEN: ADR 13
                            where w.p_kind = v_kind.p_kind and w.order_key between o.order_key and o.order_key
                                and w.order_waits
                            order by w.p_kind desc, w.order_key desc, w.entry desc limit 1)) l
                    where v_headed ? o.order_key and l.entry > o.entry)
                then -- the next in a line always has a higher number, so that who ends the first may wait for it
                    raise exception using errcode = 'PQ00A';
                end if;
                update delayed_queue q
                set order_key = n.order_key, order_waits = n.waits, ready_at = case
                    when n.waits is null then q.ready_at end, due_at = case when n.waits is null then q.due_at end
                from (
                    select o.entry, o.order_key, case when v_headed ? o.order_key
                        or row_number() over (partition by o.order_key order by o.entry) > 1 then true end as waits
                    from unnest(v_kind.entries, v_kind.orders) o (entry, order_key)
                    -- who is first is put in in the order of the lines
                    order by o.order_key collate "C", o.entry offset 0) n
                where q.entry between n.entry and n.entry;
                exit;
            exception when unique_violation then
                get stacked diagnostics v_index = constraint_name;
                if v_index <> 'delayed_queue_first' then
                    raise;
                elsif current_setting('transaction_isolation') <> 'read committed' then
                    raise serialization_failure using message
                        = 'could not serialize access due to a concurrent push of the same order key';
                end if; -- else another was put in first: behind that
            end;
        end loop;
    end loop;
end $$;
--;
comment on function _queue_join_line(bigint[], text[]) is
$$Messages that were just put in take their places in the lines of their order keys: at the end, where all but the first
of a line wait. The lines of a kind have to have their first one, see _queue_advance.
in_entries: the messages, which have a place or a date. in_orders: the order key of each.
Errors: PQ00A where a line is locked, or has one with a higher number: the caller undoes what it did, and begins again.
Under REPEATABLE READ and SERIALIZABLE 40001.
Locks: as _queue_line; waits for another transaction that is putting a first one of the same line.$$;
--;
-- calls: _queue_wake
-- changes: delayed_queue
create or replace function _queue_advance(in_kinds text[], in_orders text[], in_now bigint,
    in_next bigint[]) returns bigint language plpgsql as $$
declare
    v_next bigint[] := in_next;
    v_kinds text[];
    v_rows bigint;
begin
    loop
        if v_next is null then
            v_next := array(
                select n.entry
                from unnest(in_kinds, in_orders) l (p_kind, order_key),
                    lateral (
                        select w.entry from delayed_queue w -- BETWEEN: ADR 13
                        where w.p_kind = l.p_kind and w.order_key between l.order_key and l.order_key and w.order_waits
                        order by w.p_kind, w.order_key, w.entry limit 1) n
                where ( -- not EXISTS: that may be planned as a scan of all lines
                    select h.entry from delayed_queue h
                    where h.p_kind = l.p_kind and h.order_key = l.order_key and h.order_key is not null
                        and h.order_waits is null) is null);
            if v_next = '{}' then
                return 0;
            end if;
            perform q.entry from delayed_queue q where q.entry = any (v_next) order by q.entry + 0 for no key update;
        end if;
        with u as (
            update delayed_queue q
            set order_waits = null, ready_at = case when q.scheduled_at <= in_now then in_now end,
                due_at = case when q.scheduled_at > in_now then q.scheduled_at end
            where q.entry = any (v_next) and coalesce(q.order_waits, false)
            returning q.p_kind)
        select array_agg(distinct u.p_kind), count(*) into v_kinds, v_rows from u;
        perform _queue_wake(k.name, null) from unnest(v_kinds) k (name);
        if v_rows = cardinality(v_next) then
            return v_rows;
        end if;
        v_next := null; -- one was removed in between: then it is the turn of the one behind it
    end loop;
end $$;
--;
comment on function _queue_advance(text[], text[], bigint, bigint[]) is
$$The first of lines have ended, in this transaction: the next of each, that of the lowest entry, gets its place in the
ready line, or its date in the timetable where its delivery time has not come, and who waits for it is woken. What ends
a message that stands in a line calls it.
in_kinds, in_orders: the lines, a kind and an order key each; where there is a first one nothing happens. in_now: the
time of the call. in_next: the next ones, where they are known and locked (see _queue_lock_lines); NULL: they aren't.
Result: how many.
Errors: under REPEATABLE READ and SERIALIZABLE the server's own 40001.
Locks: the next ones, in the order of their entries.$$;
--;
create or replace function _queue_lock_lines(in_entries bigint[],
    in_others bigint[]) returns bigint[] language plpgsql as $$
declare
    v_next bigint[]; v_lock bigint[];
begin
    if not exists (
        select from unnest(in_entries) e (entry) join delayed_queue q on q.entry between e.entry and e.entry
            where q.order_key is not null)
    then
        perform q.entry from delayed_queue q where q.entry = any (in_entries || in_others)
            order by q.entry + 0 for update;
        return '{}';
    end if;
    for v_try in 1 .. 2147483647 loop
        begin
            v_lock := in_entries || in_others || v_next;
            perform q.entry from delayed_queue q where q.entry = any (v_lock) order by q.entry + 0 for update;
            v_next := array(
                select n.entry
                from unnest(in_entries) e (entry) join delayed_queue q on q.entry between e.entry and e.entry
                    and q.order_key is not null, lateral (
                        select w.entry from delayed_queue w -- BETWEEN: ADR 13
                        where w.p_kind = q.p_kind and w.order_key between q.order_key and q.order_key
                            and w.order_waits
                        order by w.p_kind, w.order_key, w.entry limit 1) n);
            -- nobody is waited for out of order, so what isn't locked yet is passed over where another has it
            if v_try = 1 and v_next <> '{}' then
                v_lock := v_lock || array(
                    select q.entry from delayed_queue q where q.entry = any (v_next) for update skip locked);
            end if;
            if not exists (select unnest(v_next) except select unnest(v_lock)) then
                return v_next;
            end if;
            raise exception using errcode = 'PQ00A';
        -- all is unlocked, and locked again in order, with who came next
        exception when sqlstate 'PQ00A' or deadlock_detected then
            if sqlstate = '40P01' and v_try > 1 then raise; end if; -- SKIP LOCKED may wait, see ADR 8
        end;
    end loop;
end $$;
--;
comment on function _queue_lock_lines(bigint[], bigint[]) is
$$Locks messages that are to end and who comes next in the lines of their order keys, so that nobody is waited for once
one of them has ended: that could be a deadlock.
in_entries: the messages. in_others: what else to lock; NULL: nothing.
Result: who comes next.
Locks: as said, in the order of their entries.
differs: a line has a row of its own in queue_order on MariaDB and MySQL, and that is locked instead.$$;
--;
create or replace function _queue_blocked(in_tids tid[]) returns tid[] language plpgsql as $$
declare
    v_next bigint[];
    v_tids tid[];
    v_locked bigint[];
begin
    select array_agg(n.entry), array_agg(q.ctid) into v_next, v_tids
    from delayed_queue q, lateral (
        select w.entry from delayed_queue w -- BETWEEN: ADR 13
        where w.p_kind = q.p_kind and w.order_key between q.order_key and q.order_key and w.order_waits
        order by w.p_kind, w.order_key, w.entry limit 1) n
    where q.ctid = any (in_tids) and q.order_key is not null;
    if v_next is null then
        return '{}';
    end if;
    v_locked := array(select q.entry from delayed_queue q where q.entry = any (v_next) for update skip locked);
    return array(select n.tid from unnest(v_next, v_tids) n (entry, tid) where n.entry <> all (v_locked));
end $$;
--;
comment on function _queue_blocked(tid[]) is
$$Whom a pop leaves alone: to wait for the next in a line with others taken already could be a deadlock.
in_tids: the row identifiers of messages that were taken.
Result: those of which somebody has locked the next in the line of their order key.
Locks: the next of the others.
differs: a line has a row of its own in queue_order on MariaDB and MySQL, and that is locked instead.$$;
--;
create or replace function _queue_permits_ready(in_kind text, in_now bigint, out ready boolean,
    out next_at bigint) language plpgsql as $$
begin
    with recursive l (name, n) as (
        (select w.name, 1 from queue_semaphore_wait w where w.p_kind between in_kind and in_kind
            order by w.p_kind, w.name limit 1)
        union all
        select (
            select w.name from queue_semaphore_wait w
            where (w.p_kind, w.name) > (in_kind, l.name) and w.p_kind <= in_kind order by w.p_kind, w.name limit 1),
                l.n + 1
        from l where l.name is not null and l.n < 100)
    select coalesce(bool_or(coalesce(s.capacity, 1) > (
            select count(*) from queue_semaphore_permit h where h.name = l.name
                and (h.until > in_now or abs(h.until + in_now) < 1000000))), false),
        min((select min(case when h.until < 0 then 1000000 - h.until else h.until end) from queue_semaphore_permit h
            where h.name = l.name and (h.until > in_now or abs(h.until + in_now) < 1000000)))
    into ready, next_at
    from l left join queue_semaphore s on s.name = l.name where l.name is not null;
end $$;
--;
comment on function _queue_permits_ready(text, bigint) is
$$Whether there may be room for what waits in a kind for semaphores, and if not, when the next hold of one ends; nothing
is locked.
in_kind: the kind. in_now: the time of the call.
Result: ready, next_at, as _queue_ready; of 100 semaphores at the most.$$;
--;
-- calls: _queue_end_undeliverable, _queue_members_settle, _queue_misfit, _queue_permits_lock, _queue_permits_room,
--     _queue_permits_settle, _queue_setting
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create or replace function _queue_permits_take(in_tids tid[], in_kind queue_kind, in_until bigint, in_held boolean,
    in_now bigint, out tids tid[], out ended bigint[], out expired bigint, out held boolean,
    out passed tid[], out named boolean) language plpgsql as $$
declare
    v_ended tid[];
    v_entries bigint[]; v_names text[]; v_locked text[];
    v_left bigint[] := '{}';
    v_rows bigint;
    v_rooms jsonb;
    v_row record; v_lacks text;
begin
    held := in_held;
    select array_agg(q.ctid) filter (where f.fits), coalesce(array_agg(q.ctid) filter (where not f.fits), '{}'),
        coalesce(array_agg(q.entry) filter (where not f.fits), '{}'),
        count(q.reserved_at) filter (where f.fits or not in_held),
        coalesce(bool_or(q.semaphores is not null and q.source_kind is null), false)
    into tids, v_ended, ended, expired, named
    from delayed_queue q, lateral (
        select q.pending is null and q.attempts < coalesce(q.max_attempts, in_kind.max_attempts, 2147483647)
            and (in_kind.payload_shape is null
                or _queue_misfit(in_kind.payload_shape, q.payload) is null) as fits offset 0) f
    where q.ctid = any (in_tids) and q.scheduled_at <= in_now;
    passed := '{}';
    if held then -- a key may be waited for, which nobody does who has locked a semaphore: the next call ends them
        passed := v_ended;
        ended := '{}';
    elsif v_ended <> '{}' then
        perform _queue_end_undeliverable(v_ended, in_now);
    end if;
    if not named then
        return;
    end if;
    v_names := array(
        select distinct a.name from delayed_queue q, unnest(q.semaphores) a (name)
        where q.ctid = any (tids) and q.source_kind is null);
    v_entries := array(select q.entry from delayed_queue q where q.ctid = any (tids));
    if v_names = '{}' then
        return;
    elsif not in_held and not exists (select from queue_semaphore s where s.name = any (v_names) and s.lowered) then
        -- all that are promised: nothing is given or freed, so no semaphore needs to be locked; who wants a permit that
        -- was promised takes the promise back, see _queue_permits_room
        update queue_semaphore_permit h set until = in_until where h.entry = any (v_entries) and h.until < 0;
        get diagnostics v_rows = row_count;
        if v_rows = (
            select sum(cardinality(q.semaphores)) from delayed_queue q
            where q.entry = any (v_entries) and q.source_kind is null) then
            return;
        end if;
    end if;
    -- of what was ended; from now on nothing is
    perform _queue_members_settle(in_now) where current_setting(_queue_setting('members'), true) <> '';
    held := true;
    v_locked := _queue_permits_lock(v_names, not in_held);
    delete from queue_semaphore_permit h where h.name = any (v_locked) and h.entry = any (v_entries);
    select jsonb_object_agg(n.name, _queue_permits_room(n.name, false, in_now)) into v_rooms
        from unnest(v_locked) n (name);
    if (v_names <@ v_locked or not in_held) and not exists ( -- most calls: all are locked, and have room for all
        select from (
            select a.name, count(*) as wanted from delayed_queue q, unnest(q.semaphores) a (name)
            where q.ctid = any (tids) and q.source_kind is null group by 1) w
        where (v_rooms ->> w.name)::bigint < w.wanted)
    then
        insert into queue_semaphore_permit (entry, name, until)
        select q.entry, a.name, in_until from delayed_queue q, unnest(q.semaphores) a (name)
        where q.ctid = any (tids) and q.source_kind is null and a.name = any (v_locked);
        return;
    end if;
    for v_row in
        select q.ctid as tid, q.entry, q.reserved_at,
            array(select s.name from queue_semaphore s where s.name = any (q.semaphores) order by s.name) as names
        from delayed_queue q where q.ctid = any (tids) and q.semaphores is not null and q.source_kind is null
        order by -q.priority::integer, q.ready_at, q.entry
    loop
        v_lacks := (select n.name from unnest(v_row.names) n (name) where (v_rooms ->> n.name)::bigint <= 0 limit 1);
        if v_row.names <@ v_locked and v_lacks is null then
            insert into queue_semaphore_permit (entry, name, until) select v_row.entry, n.name, in_until
                from unnest(v_row.names) n (name);
            v_rooms := v_rooms || coalesce((
                select jsonb_object_agg(n.name, (v_rooms ->> n.name)::bigint - 1) from unnest(v_row.names) n (name)),
                    '{}');
            continue;
        end if;
        tids := array_remove(tids, v_row.tid);
        if v_lacks is null then
            passed := passed || v_row.tid;
            expired := expired - (v_row.reserved_at is not null)::integer;
            continue;
        end if;
        v_left := v_left || v_row.entry;
        update delayed_queue q set ready_at = null, reserved_at = null, reserved_by = null where q.ctid = v_row.tid;
        insert into queue_semaphore_wait (entry, name, p_kind) values (v_row.entry, v_lacks, in_kind.p_kind)
        on conflict on constraint queue_semaphore_wait_pkey do update set name = excluded.name;
    end loop;
    perform _queue_permits_settle(v_left, v_names, false, in_now) where v_left <> '{}';
end $$;
--;
comment on function _queue_permits_take(tid[], queue_kind, bigint, boolean, bigint) is
$$Of messages that were taken from the ready line, those that can be delivered, each with a permit of all of its
semaphores; one that lacks any goes to wait in line, with none. What can't be delivered for other reasons is ended.
in_tids: row identifiers, locked already. in_kind: the settings of their kind. in_until: when the holds end. in_held:
whether the call has locked a semaphore before. in_now: the time of the call.
Result: tids: those that can be delivered; ended: the entries of those that were ended, which the caller settles at its
end; expired: how many holds ended with this; held: whether the call has locked a semaphore by now; passed: those that
are left as they are, and that to take more finds again; named: whether any names semaphores.
Locks: the permits where all were promised before; else the semaphores, in the order of their names; where it isn't the
first time, what others have locked is left.$$;
--;
-- calls: _queue_blocked, _queue_members_settle, _queue_permits_look, _queue_permits_take, _queue_setting,
--     _queue_take, _queue_take_where
create or replace function _queue_take_with_permits(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint,
    in_where jsonb, in_tids tid[], in_slow boolean, out tids tid[], out expired bigint, out slow boolean,
    out ended bigint[], out held boolean) language plpgsql as $$
declare
    v_name constant text := _queue_setting('cursor ' || in_kind.p_kind);
    v_cursor text;
    v_guarded boolean := in_kind.semaphores;
    v_looked boolean := false;
    v_rounds integer := 0;
    v_found tid[] := in_tids;
    v_passed tid[] := '{}';
    v_take record;
    v_permits record;
begin
    tids := '{}';
    expired := 0;
    slow := in_slow;
    ended := '{}';
    -- by queue_next, for what it acks
    held := coalesce(current_setting(_queue_setting('permits'), true) = 'held', false);
    loop
        if v_found is null or v_found = '{}' then
            exit when v_looked or not v_guarded;
            perform _queue_members_settle(in_now) where current_setting(_queue_setting('members'), true) <> '';
            exit when _queue_permits_look(in_kind.p_kind, in_max::bigint - cardinality(tids), in_now) = 0;
            v_looked := true;
            held := true;
        else
            if in_until is null then
                v_passed := v_passed || _queue_blocked(v_found);
                v_found := array(select f.tid from unnest(v_found) f (tid) where f.tid <> all (v_passed));
            end if;
            v_permits := _queue_permits_take(v_found, in_kind, coalesce(in_until, in_now + 1), held, in_now);
            v_guarded := v_guarded or v_permits.named; -- or the mark of the kind was lost
            held := v_permits.held;
            tids := array(
                select q.ctid from delayed_queue q where q.ctid = any (tids || v_permits.tids)
                order by -q.priority::integer, q.ready_at, q.entry);
            v_passed := v_passed || v_permits.passed;
            ended := ended || v_permits.ended;
            expired := expired + v_permits.expired;
            v_rounds := v_rounds + (v_permits.ended = '{}')::integer;
            exit when cardinality(tids) = in_max or v_rounds = 100
                or not v_guarded and v_permits.ended = '{}' and v_passed = '{}';
        end if;
        v_cursor := current_setting(v_name, true);
        if in_where is null then
            v_take := _queue_take(in_kind.p_kind, in_max + cardinality(v_passed), in_now,
                coalesce(in_kind.max_attempts, 2147483647));
        else
            v_take := _queue_take_where(in_kind, in_max + cardinality(v_passed), in_now, in_where);
        end if;
        slow := slow or v_take.slow;
        v_found := array(
            select f.tid from (
                select t.tid, t.n from unnest(v_take.tids) with ordinality t (tid, n)
                union all select k.tid, 0 from unnest(tids || v_passed) k (tid)) f
            group by f.tid having min(f.n) > 0 order by min(f.n));
        if cardinality(v_found) > in_max - cardinality(tids) then -- the cursor is behind what is left for the next call
            perform set_config(v_name, v_cursor, false) where in_where is null;
            v_found := v_found[:in_max - cardinality(tids)];
        end if;
    end loop;
    perform _queue_members_settle(in_now) where current_setting(_queue_setting('members'), true) <> '';
    if not v_guarded then
        ended := null;
    end if;
end $$;
--;
comment on function _queue_take_with_permits(queue_kind, integer, bigint, bigint, jsonb, tid[], boolean) is
$$What _queue_deliver does where not all that _queue_take has found can be delivered, or may name semaphores. One that
names semaphores is taken with a permit of each, or goes to wait in line; what can't be delivered is ended; and others
are looked for.
in_kind: the settings of the kind. in_max: how many. in_now: the time of the call. in_until: when the holds end; NULL:
the call ends what it takes, so that the next in the lines of their order keys are locked; none of these comes with the
first. in_where: what they must match, see _queue_where; NULL: anything. in_tids, in_slow: what was found first.
Result: tids: row identifiers of those that can be delivered, in the order of delivery; expired: how many holds ended
with this; slow: as of _queue_take; ended, held: as of _queue_permits_take, ended NULL where none names semaphores. At
its end the caller has _queue_permits_settle free the permits of what was ended.
Locks: as _queue_take, for a pop the next in the lines, then the semaphores, see _queue_permits_take; no message is
waited for.$$;
--;
-- calls: _queue_permits_lock, _queue_permits_room, _queue_permits_settle, _queue_wake
-- changes: delayed_queue, queue_semaphore_permit
create or replace function _queue_extend_with_permits(in_entries bigint[], in_secrets bytea[],
    in_seconds double precision, in_now bigint)
    returns bigint[] language plpgsql as $$
declare
    v_until constant bigint := in_now + (in_seconds * 1000000)::bigint;
    v_row record;
    v_places bigint[] := '{}';
begin
    perform q.entry from delayed_queue q where q.entry = any (in_entries) and q.semaphores is not null
        order by q.entry + 0 for update;
    perform _queue_permits_lock(array(
        select distinct a.name
        from unnest(in_entries, in_secrets) r (entry, secret)
        cross join lateral ( -- OFFSET: ADR 13
            select m.entry, m.semaphores from delayed_queue m
                where m.entry = r.entry and m.secret = r.secret offset 0) q,
            unnest(q.semaphores) a (name)
        where in_seconds > 0 and not exists (select from queue_semaphore_permit h
            where h.entry = q.entry and h.name = a.name)), true);
    for v_row in
        select r.place, q.entry, q.reserved_by, q.p_kind, array(
            select s.name from queue_semaphore s
            where in_seconds > 0 and s.name = any (q.semaphores) and q.source_kind is null and not exists (
                select from queue_semaphore_permit h where h.entry = q.entry and h.name = s.name) order by 1) as missing
        from unnest(in_entries, in_secrets) with ordinality r (entry, secret, place)
        join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
        where q.semaphores is not null order by q.entry + 0
    loop
        continue when v_row.reserved_by is null or exists (
            select from unnest(v_row.missing) n (name) where _queue_permits_room(n.name, false, in_now) <= 0);
        update delayed_queue q set scheduled_at = v_until where q.entry = v_row.entry;
        update queue_semaphore_permit h set until = v_until where h.entry = v_row.entry;
        insert into queue_semaphore_permit (entry, name, until) select v_row.entry, n.name, v_until
            from unnest(v_row.missing) n (name);
        v_places := v_places || v_row.place;
        perform _queue_wake(v_row.p_kind, null) where in_seconds = 0;
    end loop;
    perform _queue_permits_settle(array(select in_entries[p.place] from unnest(v_places) p (place)), null::text[],
        true, in_now) where in_seconds = 0;
    return v_places;
end $$;
--;
comment on function _queue_extend_with_permits(bigint[], bytea[], double precision, bigint) is
$$Extends the holds of messages that name semaphores. One whose hold has expired, and whose permits were given to
others, is extended where there is room again, and otherwise not; its ack still counts.
in_entries, in_secrets: the receipts, taken apart. in_seconds: see queue_extend. in_now: the time of the call.
Result: which of the receipts were extended, by their places, from 1.
Locks: the messages in the order of their entries; then the semaphores of which one has no permit any more.$$;
--;
-- calls: _queue_check_name, _queue_fail, _queue_permits_lock, _queue_permits_settle, queue_now
-- changes: queue_semaphore, queue_semaphore_permit
create or replace function queue_semaphore(in_name text, in_capacity bigint, out name text, out capacity bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
begin
    perform _queue_check_name(in_name, 100, 'name');
    if in_capacity not between 0 and 1000000 then
        perform _queue_fail('PQ001', 'capacity', in_capacity::text, 'must be an integer from 0 to 1000000');
    end if;
    name := in_name;
    capacity := in_capacity;
    perform _queue_permits_lock(array[in_name], true);
    if in_capacity is null then
        delete from queue_semaphore s where s.name = in_name;
    elsif not exists (select from queue_semaphore s where s.name = in_name) then -- made again: who holds has a permit
        insert into queue_semaphore_permit (entry, name, until)
        select q.entry, in_name, q.scheduled_at from delayed_queue q
        where in_name = any (q.semaphores) and q.source_kind is null and q.reserved_at is not null
            and q.scheduled_at > v_now
        on conflict on constraint queue_semaphore_permit_pkey do nothing;
    end if;
    -- who was told that there is room takes a permit without the lock of the semaphore: what there is no room for any
    -- more is taken back
    with o as (
        select h.entry from queue_semaphore_permit h
        where h.name = in_name and (h.until < 0 or in_capacity is null) order by h.until, h.entry desc
        limit greatest((
            select count(*) from queue_semaphore_permit c where c.name = in_name) - coalesce(in_capacity, 0), 0)
        for update skip locked) -- who is taking one of them, or gives it back, is first
    delete from queue_semaphore_permit h using o where h.entry = o.entry and h.name = in_name;
    insert into queue_semaphore as s (name, capacity, lowered)
    select in_name, in_capacity, count(*) > in_capacity from queue_semaphore_permit c where c.name = in_name
    having in_capacity is not null
    on conflict on constraint queue_semaphore_pkey
        do update set capacity = excluded.capacity, lowered = excluded.lowered;
    perform _queue_permits_settle(null::bigint[], array[in_name], false, v_now);
end $$;
--;
comment on function queue_semaphore(text, bigint) is
$$Defines a semaphore, or changes its capacity: how many messages that name it, in option semaphores of a push, may be
held at once, of whatever kinds. A message holds a permit of each that it names from its reserve until its ack, nack or
move, or until its hold expires or its worker is reaped. A message that can't have all of them waits in line, outside
of the ready line, in state waiting. It has none while it waits, so two can't block one another. When permits get free,
those are woken that lack nothing else, the oldest (by entry) first. A message that lacks more waits on. It can wait
without an end where others always take what it lacks. It is woken in the transaction that ends the hold, or that
gives a larger capacity. A hold that has expired is found by queue_reap, by queue_prune, and by whoever wants one of
its permits. A reserve looks for one, too, where it finds nothing else in the kind of a message that waits. The late ack
of that hold still counts; a late queue_extend is lost unless there is room.
in_name: its name, 1 to 100 characters.
in_capacity: 0 to 1000000; 0: nothing that names it is delivered. Below what is held now: nothing more is delivered
until enough is given back. NULL: it is removed, and keeps nobody waiting any more who named it. Where it wasn't
there, all messages are read: those that are held and name it have permits from the beginning.
Result: name and capacity, as they are now.
Errors: PQ001 for name and capacity.
Locks: the semaphore. All who change how many of its permits are taken wait for one another's transactions: keep those
short.
Where the idea comes from: Chapman's semaphores.$$;
--;
-- calls: _queue_setting
create or replace function _queue_limited_until(in_kind queue_kind, in_now bigint) returns bigint language plpgsql as $$
declare
    v_state constant bigint[] := nullif(
        current_setting(_queue_setting('limits ' || in_kind.p_kind), true), '')::bigint[];
    v_step constant numeric := 1000000000.0 * least(greatest(floor(in_kind.rate_per_second), 1),
        16) / in_kind.rate_per_second;
    v_until bigint;
    v_held bigint;
    v_end bigint;
begin
    if v_step is not null and (v_state[2] > 0 and in_now - v_state[3] between 0 and 1000000) is not true then
        select ceil(min(case when b.spent_at <= in_now * 1000 + 1000000000 then b.spent_at +
            v_step end) / 1000) into v_until
        from queue_bucket b where b.p_kind = in_kind.p_kind;
    end if;
    if in_kind.max_reserved is not null then
        select count(*), min(t.scheduled_at) into v_held, v_end
        from (
            select q.scheduled_at from queue_slot s,
                lateral (
                    select c.entry, c.secret from queue_claim c where c.p_kind = s.p_kind and c.slot = s.slot
                    order by c.p_kind desc, c.slot desc, c.number desc limit 1) n, delayed_queue q
            where s.p_kind = in_kind.p_kind and q.entry between n.entry and n.entry and q.secret = n.secret
                and q.scheduled_at > in_now
            limit in_kind.max_reserved) t;
        if v_held = in_kind.max_reserved then
            v_until := greatest(v_until, least(v_end, in_now + 1000000));
        end if;
    end if;
    return case when v_until > in_now then v_until end;
end $$;
--;
comment on function _queue_limited_until(queue_kind, bigint) is
$$Until when the limits of a kind let nothing be taken, for those that wait.
in_kind: its settings. in_now: the time of the call.
Result: when there is a token again; while all slots are taken, when one of their holds ends, within a second, since an
event that one is free may have been left out (see _queue_wake_limited). NULL: there is room.$$;
--;
-- calls: _queue_integer, _queue_number, _queue_wake
-- changes: delayed_queue, queue_bucket, queue_claim, queue_kind, queue_slot
create or replace function _queue_define_limits(in_kind queue_kind, in_options jsonb, in_now bigint) returns queue_kind
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_most constant integer := _queue_integer(in_options, 'max_reserved', 1::bigint, 10000::bigint);
    v_rate constant numeric := _queue_number(in_options, 'rate_per_second', 0.001, 1000000::numeric);
    v_parts constant integer := least(greatest(floor(v_rate), 1), 16);
    v_held bigint;
begin
    if in_options ? 'max_reserved' and v_most is distinct from in_kind.max_reserved then
        if v_most is null then
            delete from queue_slot s where s.p_kind = in_kind.p_kind;
            delete from queue_claim c where c.p_kind = in_kind.p_kind;
        else
            if in_kind.max_reserved is null then -- what is held already has slots as well
                insert into queue_claim (p_kind, slot, number, entry, secret)
                select q.p_kind, row_number() over (order by q.entry), 1, q.entry, q.secret
                from delayed_queue q
                where q.p_kind = in_kind.p_kind and q.ready_at is not null and q.secret is not null
                    and q.scheduled_at > in_now;
                get diagnostics v_held = row_count;
                -- a hold that has expired has none, so that it can't be extended
                update delayed_queue q set reserved_by = null
                where q.p_kind = in_kind.p_kind and q.ready_at is not null and q.reserved_at is not null
                    and q.scheduled_at <= in_now;
            end if;
            insert into queue_slot (p_kind, slot)
            select in_kind.p_kind, n from generate_series(1, greatest(v_most, v_held)) n
            on conflict on constraint queue_slot_pkey do nothing;
        end if;
        in_kind.max_reserved := v_most;
    end if;
    if in_options ? 'rate_per_second' and v_rate is distinct from in_kind.rate_per_second then
        delete from queue_bucket b where b.p_kind = in_kind.p_kind;
        insert into queue_bucket (p_kind, part, spent_at)
        select in_kind.p_kind, n, in_now * 1000 - (1000000000.0 / v_rate * (v_parts - n))::bigint
        from generate_series(0, v_parts - 1) n where v_rate is not null;
        in_kind.rate_per_second := v_rate;
    end if;
    if in_options ?| '{max_reserved, rate_per_second}' then
        update queue_kind k set max_reserved = in_kind.max_reserved, rate_per_second = in_kind.rate_per_second
        where k.p_kind = in_kind.p_kind;
        perform _queue_wake(in_kind.p_kind, null);
    end if;
    return in_kind;
end $$;
--;
comment on function _queue_define_limits(queue_kind, jsonb, bigint) is
$$Sets max_reserved and rate_per_second of a kind, with the slots and the tokens that they need. What is held when the
first limit is set counts; what goes above a limit that is lowered keeps its slot until its hold ends. A rate begins
with one token.
in_kind: the settings that it had, whose row is there. in_options: those of queue_define. in_now: the time of the call.
Result: the settings that it has.
Errors: PQ002.
Locks: the rows of the limits that change: it waits for reserves of the kind that are under way.$$;
--;
-- changes: delayed_queue, queue_claim, queue_slot
create or replace function _queue_slots(in_kind text, in_most integer, in_first integer, in_max integer, in_now bigint,
    out slots integer[], out numbers bigint[]) language plpgsql as $$
declare
    v_low integer := case when in_first between 1 and in_most then in_first else 1 + floor(random() * in_most) end;
    v_high integer := 2147483647;
    v_wrap constant integer := v_low - 1;
    v_want integer := in_max;
    v_locked integer[];
    v_free record;
    v_over boolean;
    v_number bigint;
    v_most integer;
begin
    if in_max = 1 and in_first between 1 and in_most then -- mostly the slot that the session had last
        perform from queue_slot s where s.p_kind = in_kind and s.slot = in_first for update skip locked;
        if found then
            select n.number into v_number
            from (
                select c.number, c.entry, c.secret from queue_claim c where c.p_kind = in_kind and c.slot = in_first
                order by c.p_kind desc, c.slot desc, c.number desc limit 1) n
            where not exists (
                    select from delayed_queue q
                    where q.entry between n.entry and n.entry and q.secret = n.secret
                        and (q.scheduled_at > in_now or q.reserved_by is not null))
                and not exists (select from queue_slot s where s.p_kind = in_kind and s.slot > in_most);
            if found then
                slots := array[in_first];
                numbers := array[v_number];
                return;
            end if;
        end if;
    end if;
    slots := '{}';
    numbers := '{}';
    v_over := exists (select from queue_slot s where s.p_kind = in_kind and s.slot > in_most);
    if v_over then
        v_low := 1;
        v_want := 2000000000;
    end if;
    loop
        v_locked := array(
            select s.slot from queue_slot s
            where s.p_kind = in_kind and s.slot between v_low and v_high
                and not exists (
                    select from (
                        select c.entry, c.secret from queue_claim c where c.p_kind = s.p_kind and c.slot = s.slot
                        order by c.p_kind desc, c.slot desc, c.number desc limit 1) n, delayed_queue q
                    where q.entry between n.entry and n.entry and q.secret = n.secret and q.scheduled_at > in_now)
            order by s.p_kind, s.slot limit v_want - cardinality(slots) for update of s skip locked);
        for i in 1 .. 2 loop -- as it is now that they are locked
            select coalesce(array_agg(s.slot), '{}') as slots, coalesce(array_agg(coalesce(c.number, 0)), '{}')
                as numbers, array_agg(q.entry) filter (where q.reserved_by is not null) as expired
            into v_free
            from unnest(v_locked) s (slot)
            left join lateral (
                select n.number, n.entry, n.secret from queue_claim n where n.p_kind = in_kind and n.slot = s.slot
                order by n.p_kind desc, n.slot desc, n.number desc limit 1) c on true
            left join delayed_queue q on q.entry between c.entry and c.entry and q.secret = c.secret
            where q.entry is null or q.scheduled_at <= in_now and (i = 1 or q.reserved_by is null);
            exit when v_free.expired is null;
            update delayed_queue q set reserved_by = null -- so that it can't be extended any more
            where q.entry = any (array(
                select e.entry from delayed_queue e where e.entry = any (v_free.expired) and e.scheduled_at <= in_now
                order by e.entry + 0 for update skip locked));
        end loop;
        slots := slots || v_free.slots;
        numbers := numbers || v_free.numbers;
        exit when cardinality(slots) = v_want;
        if v_locked <> '{}' then
            v_low := v_locked[cardinality(v_locked)] + 1;
        elsif v_low > v_wrap and v_high > v_wrap and v_wrap > 0 and not v_over then
            v_low := 1;
            v_high := v_wrap;
        else
            exit;
        end if;
    end loop;
    if v_over then -- or not any more: what a definition has given since isn't taken away
        select k.max_reserved into v_most from queue_kind k where k.p_kind = in_kind for share skip locked;
        in_most := coalesce(v_most, in_most);
        v_want := greatest(in_most - (
            -- what others have locked counts
            select count(*) from queue_slot s where s.p_kind = in_kind and s.slot <> all (slots)), 0);
        delete from queue_claim c where c.p_kind = in_kind and c.slot > v_most and c.slot = any (slots);
        delete from queue_slot s where s.p_kind = in_kind and s.slot > v_most and s.slot = any (slots);
        select coalesce(array_agg(f.slot), '{}'), coalesce(array_agg(f.number), '{}') into slots, numbers
        from (
            select f.slot, f.number from unnest(slots, numbers) f (slot, number) where f.slot <= in_most
            order by f.slot limit least(v_want, in_max)) f;
    end if;
end $$;
--;
comment on function _queue_slots(text, integer, integer, integer, bigint) is
$$Free slots of a kind with max_reserved, locked until the transaction ends: nothing is there, or what is isn't held any
more. A hold that has expired gives up its slot here for good: without reserved_by it can't be extended any more, though
an ack of it still counts.
in_kind: the kind. in_most: its max_reserved. in_first: the slot to try first, 0: any. in_max: how many. in_now: the
time of the call.
Result: slots, as many as there are, and for each the number of its last claim, 0 where there is none.
While more slots are taken than in_most, because it was lowered, all free ones are locked and counted, so that nobody
gets one before fewer are taken; those above it that are free are removed, unless it is about to change.
Locks: the slots, then messages whose hold has expired, in the order of their entries; what others have locked counts as
taken. While more are taken, the settings of the kind, shared.$$;
--;
-- changes: queue_bucket
create or replace function _queue_lease_tokens(in_kind text, in_rate numeric, in_need integer, in_more integer,
    in_now bigint, in_back bigint, out back bigint, out got bigint) language plpgsql as $$
declare
    v_parts constant integer := least(greatest(floor(in_rate), 1), 16);
    v_step constant numeric := 1000000000.0 * v_parts / in_rate;
    v_now constant bigint := in_now * 1000;
    v_least constant numeric := v_now - greatest(1000000000, 1.5 * v_step); -- so far back the tokens are saved
    v_first constant integer := floor(random() * v_parts);
    v_low integer := v_first;
    v_high integer := v_parts - 1;
    v_part integer;
    v_spent numeric;
    v_given bigint;
    v_taken bigint;
begin
    got := 0;
    back := in_back;
    loop
        select b.part, case when b.spent_at > v_now + 1000000000 then v_now else b.spent_at end into v_part, v_spent
        from queue_bucket b
        where b.p_kind = in_kind and b.part between v_low and v_high
            and (b.spent_at <= v_now - v_step * (1 - back) or b.spent_at > v_now + 1000000000)
        order by b.p_kind, b.part limit 1 for update skip locked;
        if found then
            v_given := least(back, greatest(floor((v_spent - v_least + 1) / v_step), 0)); -- what it has room for
            v_spent := greatest(v_spent - v_step * v_given, v_least);
            v_taken := least(floor((v_now - v_spent) / v_step), in_need + in_more - got);
            update queue_bucket b set spent_at = v_spent + v_step * v_taken
                where b.p_kind = in_kind and b.part = v_part;
            got := got + v_taken;
            back := back - v_given;
            exit when got >= in_need and back = 0;
            v_low := v_part + 1;
        elsif v_high >= v_first and v_first > 0 then
            v_low := 0;
            v_high := v_first - 1;
        else
            exit;
        end if;
    end loop;
end $$;
--;
comment on function _queue_lease_tokens(text, numeric, integer, integer, bigint, bigint) is
$$Takes tokens of a kind with rate_per_second.
in_kind: the kind. in_rate: its rate. in_need: how many are needed, in_more: how many may be taken ahead. in_now: the
time of the call.
in_back: how many, taken before, are given back, to as many parts as it takes: none saves more than it may.
Result: got: how many; back: those for which there was no part to give them to.
A part saves a second of its tokens, or one and a half where that is more. Where the clock was set back it begins anew.
Locks: the parts it takes from; those that others have locked are passed over.$$;
--;
-- calls: _queue_lease_tokens, _queue_setting, _queue_slots
create or replace function _queue_admit(in_kind queue_kind, in_max integer, in_now bigint, out allowed integer,
    out state bigint[], out slots integer[], out numbers bigint[]) language plpgsql as $$
declare
    v_age bigint;
    v_lease record;
    v_slots record;
begin
    allowed := in_max;
    state := coalesce(nullif(current_setting(_queue_setting('limits ' || in_kind.p_kind), true), '')::bigint[],
        '{0, 0, 0}');
    if in_kind.rate_per_second is not null then
        v_age := in_now - state[3];
        allowed := case when v_age between 0 and 1000000 then least(in_max, state[2]) else 0 end;
        if allowed < in_max then -- what it has taken ahead isn't enough
            v_lease := _queue_lease_tokens(in_kind.p_kind, in_kind.rate_per_second, in_max,
                case when v_age between 0 and 250000 then floor(in_kind.rate_per_second / 320)::integer
                else 0 end, in_now, state[2]);
            if v_lease.got > 0 then
                allowed := least(in_max, v_lease.got);
                state[2:3] := array[v_lease.got, in_now];
            elsif v_lease.back = 0 then
                allowed := 0;
                state[2] := 0;
            end if;
        end if;
    end if;
    if allowed > 0 and in_kind.max_reserved is not null then
        v_slots := _queue_slots(in_kind.p_kind, in_kind.max_reserved, state[1]::integer, allowed, in_now);
        slots := v_slots.slots;
        numbers := v_slots.numbers;
        allowed := cardinality(slots);
        state[1] := coalesce(slots[1], 0);
    end if;
end $$;
--;
comment on function _queue_admit(queue_kind, integer, bigint) is
$$For how many messages of a kind with max_reserved or rate_per_second there are slots and tokens.
in_kind: the settings of the kind. in_max: how many are wanted. in_now: the time of the call.
Result: allowed; state, which _queue_admitted keeps for the session: the slot it had last, which is free once it has
acked; the tokens that it has taken ahead, and when: 50 ms of the tokens of a part of the bucket, if it took some within
the last quarter of a second; it keeps them for a second, and gives back what is left when it takes some again. slots,
numbers: the slots, see _queue_slots; NULL: the kind has none.
Locks: as _queue_lease_tokens and _queue_slots.$$;
--;
-- calls: _queue_lease_tokens, _queue_setting
-- changes: queue_claim, queue_slot
create or replace function _queue_admitted(in_kind queue_kind, in_state bigint[], in_slots integer[],
    in_numbers bigint[], in_receipts text[], in_now bigint) returns void language plpgsql as $$
declare
    v_ahead constant bigint := floor(in_kind.rate_per_second / 320);
begin
    if in_kind.rate_per_second is not null then
        in_state[2] := in_state[2] - cardinality(in_receipts);
        if in_state[2] > v_ahead then -- what is not taken ahead is for whoever wants it
            perform _queue_lease_tokens(in_kind.p_kind, in_kind.rate_per_second, 0, 0, in_now, in_state[2] - v_ahead);
            in_state[2] := v_ahead;
        end if;
    end if;
    if in_slots is not null and in_receipts <> '{}' then
        insert into queue_claim (p_kind, slot, number, entry, secret)
        select in_kind.p_kind, a.slot, a.number + 1, left(a.receipt, -33)::bigint, decode(right(a.receipt, 32), 'hex')
        from unnest(in_slots, in_numbers, in_receipts) a (slot, number, receipt) where a.receipt is not null
        on conflict on constraint queue_claim_pkey do nothing; -- with an old snapshot this is a serialization error
        if random() < 0.05 then -- claims that count no more, at most once a second a slot
            with o as (
                select s.slot, s.kept, n.number from unnest(in_slots, in_numbers) n (slot, number)
                join queue_slot s on s.p_kind = in_kind.p_kind and s.slot = n.slot
                where n.number - s.kept >= 16 and s.kept_at not between in_now - 1000000 and in_now),
            -- up to which they are gone, so that under an old snapshot neither the slot nor they become long to read
            u as (
                update queue_slot s set kept = o.number, kept_at = in_now from o
                    where s.p_kind = in_kind.p_kind and s.slot = o.slot)
            delete from queue_claim c using o
            where c.p_kind = in_kind.p_kind and c.slot = o.slot and c.number >= o.kept and c.number < o.number;
        end if;
    end if;
    perform set_config(_queue_setting('limits ' || in_kind.p_kind), in_state::text, false);
end $$;
--;
comment on function _queue_admitted(queue_kind, bigint[], integer[], bigint[], text[], bigint) is
$$Counts the tokens that were used, gives back what was neither used nor taken ahead, and puts the deliveries in their
slots. Now and then it removes claims of these slots that count no more. The state of the session is rolled back with
the transaction, as all custom settings are.
in_kind: the settings of the kind. in_state, in_slots, in_numbers: what it answered. in_receipts: the deliveries, as
many as were allowed or fewer. in_now: the time of the call.
Locks: the slots, which are locked already; a part of the bucket, as _queue_lease_tokens.$$;
--;
-- calls: _queue_permits_note, _queue_put
-- changes: queue_group
create or replace function _queue_group_check(in_group text, in_now bigint) returns void language plpgsql as $$
declare
    v_group queue_group;
    v_kind text;
    v_failed boolean;
    v_row delayed_queue;
    v_put record;
begin
    -- + 0: ADR 13
    select g.* into v_group from queue_group g where g.group_name = in_group and g.finished_at + 0 is null for update;
    if not found then
        return;
    end if;
    v_failed := v_group.on_dead = 'fail' and exists (
        select from queue_group_member m where m.group_name = in_group and m.outcome = 'dead');
    if not v_failed and (exists (select from queue_group_member m where m.group_name = in_group and m.done_at is null)
        or not (v_group.closed or coalesce(v_group.expected <= (
            select count(*) from queue_group_member m where m.group_name = in_group), false)))
    then
        return;
    end if;
    update queue_group g
    set finished_at = in_now, failed = v_failed, forget_at = in_now + (g.keep_seconds * 1000000)::bigint
    where g.group_name = in_group;
    v_kind := case when v_failed then v_group.fail_kind else v_group.then_kind end;
    if v_kind is not null then
        v_row.p_kind := v_kind;
        v_row.p_key := v_group.then_key;
        v_row.payload := v_group.then_payload || jsonb_build_object('results', coalesce((
            select jsonb_agg(jsonb_build_object('kind', m.p_kind, 'key', m.p_key, 'outcome', m.outcome)
                || case when m.result is not null then jsonb_build_object('result', m.result) else '{}' end
                || case when m.error is not null then jsonb_build_object('error', m.error) else '{}' end
                    order by m.member)
            from queue_group_member m where m.group_name = in_group and m.done_at is not null), '[]'));
        v_row.priority := v_group.then_priority;
        v_row.scheduled_at := in_now + v_group.then_delay;
        v_row.attempts := 0;
        v_put := _queue_put(v_row, 'replace', null::bigint, in_now);
        perform _queue_permits_note(array[v_put.entry]) where v_put.waits_for is not null;
    end if;
end $$;
--;
comment on function _queue_group_check(text, bigint) is
$$Finishes a group where all is done, or where it has failed: pushes what follows it.
in_group: the group. in_now: the time of the call.
Locks: the group, and where it finishes the message that has the key of the continuation. Where that waits for
semaphores, the call's _queue_permits_settle sees to it, or the next _queue_permits_sweep.$$;
--;
-- calls: _queue_wake
-- changes: queue_group_due
create or replace function _queue_group_note(in_group text) returns void language plpgsql as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        insert into queue_group_due (group_name, writer) values (in_group, pg_current_xact_id()::text::bigint)
        on conflict on constraint queue_group_due_pkey do nothing;
        perform _queue_wake(g.then_kind, null) from queue_group g where g.group_name = in_group;
    end if;
end $$;
--;
comment on function _queue_group_note(text) is
$$Notes that a group has to be looked at once this transaction has ended, where its snapshot can't see who else has
ended a member, or closed the group: see _queue_groups_due.
in_group: the group.
Locks: none.$$;
--;
-- calls: _queue_group_check
-- changes: queue_group_due
create or replace function _queue_groups_due(in_now bigint) returns bigint language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_group text;
    v_writers bigint[];
    v_looked bigint := 0;
begin
    if not exists (select from queue_group_due) then
        return 0;
    end if;
    foreach v_group in array array(select distinct d.group_name
        from (select o.group_name from queue_group_due o limit 1000) d order by 1) loop
        begin
            -- its own transaction may have to leave a note for those that come after it
            v_writers := array(
                select d.writer from queue_group_due d
                where d.group_name = v_group
                    and d.writer is distinct from pg_current_xact_id_if_assigned()::text::bigint
                    for update skip locked);
            continue when v_writers = '{}';
            begin
                perform from queue_group g where g.group_name = v_group for update skip locked;
                if found then
                    perform _queue_group_check(v_group, in_now);
                    -- + 0: ADR 13
                    if exists (select from queue_group g where g.group_name = v_group and g.finished_at + 0 is null)
                        then
                        raise exception using errcode = 'PQ00A';
                    end if;
                elsif exists (select from queue_group g where g.group_name = v_group) then
                    v_writers := '{}'; -- who has it locked may not see what this one sees
                end if;
            exception when sqlstate 'PQ00A' then
                null; -- not all is done; the group isn't kept from others for that
            end;
            delete from queue_group_due d where d.group_name = v_group and d.writer = any (v_writers);
            v_looked := v_looked + cardinality(v_writers);
        exception when serialization_failure then
            null; -- this snapshot is too old for it: the next one sees to it
        end;
    end loop;
    return v_looked;
end $$;
--;
comment on function _queue_groups_due(bigint) is
$$Finishes groups whose last members ended in transactions that couldn't see one another: what whoever reserves, polls,
beats, reaps or prunes does by the way.
in_now: the time of the call.
Result: how many notes went.
Locks: the groups that finish, what others have locked is left; then as _queue_group_check.$$;
--;
-- calls: _queue_setting
-- changes: queue_group_member
create or replace function _queue_members_end(in_members bigint[], in_outcome text, in_result jsonb,
    in_now bigint) returns void
    language plpgsql as $$
declare
    v_ended bigint[];
begin
    with d as (
        update queue_group_member m
        set done_at = in_now, outcome = in_outcome, result = in_result, error = case
            when in_outcome = 'dead' then m.error end
        where m.member = any (in_members) and m.done_at + 0 is null -- + 0: ADR 13
        returning m.member)
    select array_agg(d.member) into v_ended from d;
    perform set_config(t.name,
        (coalesce(nullif(current_setting(t.name, true), '')::bigint[], '{}') || v_ended)::text, true)
    from _queue_setting('members') t (name) where v_ended is not null;
end $$;
--;
comment on function _queue_members_end(bigint[], text, jsonb, bigint) is
$$Members of groups are done. They are noted for _queue_members_settle, so that a call locks the stripes of all that it
ends before it locks a group.
in_members: the members; those that are done already stay as they are. in_outcome: acked, duplicate, dead, gone.
in_result: of each of them, NULL: none. in_now: the time of the call.
Locks: none that others want, since who ends a member has its message.$$;
--;
-- calls: _queue_group_check, _queue_group_note, _queue_setting
create or replace function _queue_members_settle(in_now bigint) returns void
    language plpgsql as $$
declare
    v_name text; v_noted constant text := _queue_setting('members');
    v_members constant bigint[] := nullif(current_setting(v_noted, true), '')::bigint[];
begin
    if v_members is null then
        return;
    end if;
    -- queue_next: who has a group locked waits for no key any more
    perform set_config(v_noted, '', true), set_config(_queue_setting('permits'), 'locked', true);
    perform s.stripe
    from (select distinct m.group_name, m.stripe from queue_group_member m where m.member = any (v_members)) d
    join queue_group_stripe s on s.group_name between d.group_name and d.group_name and s.stripe = d.stripe
    order by s.stripe, s.group_name for update of s;
    perform _queue_group_note(d.group_name)
    from (select distinct m.group_name from queue_group_member m where m.member = any (v_members)) d;
    for v_name in
        select distinct d.group_name
        from (
            select m.group_name, m.stripe, bool_or(m.outcome = 'dead') as dead
            from (select e.* from queue_group_member e where e.member = any (v_members) offset 0) m -- ADR 13
            group by m.group_name, m.stripe) d
        where d.dead or (
            select o.member from queue_group_member o
            where o.group_name = d.group_name and o.stripe = d.stripe and o.done_at is null limit 1) is null
        order by 1
    loop
        perform _queue_group_check(v_name, in_now);
    end loop;
end $$;
--;
comment on function _queue_members_settle(bigint) is
$$The members that this call has ended, all of them: the last one of a group has it finish. After it a call ends no
message and puts in no key, but that of a continuation; semaphores come next.
in_now: the time of the call.
A snapshot that can't see who else ends one leaves a note, see _queue_group_note.
Locks: their stripes, in order, until the transaction ends: of two that end at the same moment the second one sees the
first. Then as _queue_group_check, in the order of the groups' names.$$;
--;
-- calls: _queue_fail
-- changes: delayed_queue, queue_group_member
create or replace function _queue_enrol(in_groups text[], in_entries bigint[]) returns void language plpgsql as $$
declare
    v_name text;
    v_finished_at bigint;
begin
    for v_name in select distinct u.name collate "C" from unnest(in_groups) u (name) order by 1 loop
        select g.finished_at into v_finished_at from queue_group g where g.group_name = v_name for share;
        if not found then
            perform _queue_fail('PQ002', 'group', v_name, 'must be there: queue_group makes it');
        elsif v_finished_at is not null then
            perform _queue_fail('PQ004', 'group', v_name, 'takes in nothing, it has finished');
        end if;
    end loop;
    insert into queue_group_member (member, group_name, stripe, p_kind, p_key, entry)
    select q.entry, u.name, q.entry % 32, q.p_kind, q.p_key, q.entry
    from unnest(in_groups, in_entries) u (name, entry) join delayed_queue q on q.entry between u.entry and u.entry;
    update delayed_queue q set member = q.entry where q.entry = any (in_entries);
end $$;
--;
comment on function _queue_enrol(text[], bigint[]) is
$$Makes messages members of groups.
in_groups: the group of each. in_entries: the messages, just put in.
Errors: PQ002 for a group that isn't there, PQ004 for one that has finished.
Locks: the groups, shared, in the order of their names: they can't finish before the transaction ends. Waits for one
that is finishing.$$;
--;
-- calls: _queue_group_check, _queue_groups_due, _queue_members_end, _queue_members_settle
-- changes: queue_group, queue_group_member, queue_group_stripe
create or replace function _queue_prune_groups(in_now bigint, in_max bigint) returns bigint language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_left bigint := in_max;
    v_pruned bigint := 0;
    v_rows bigint;
    v_last bigint;
    v_some bigint[];
    v_gone bigint[] := '{}';
    v_names text[] := '{}';
    v_places bigint[] := '{}';
    v_group record;
begin
    for v_group in
        select g.group_name, g.checked_to from queue_group g where g.finished_at is null
            order by g.checked_at limit in_max
    loop
        select count(*), max(o.member),
            array_agg(o.member) filter (where o.done_at is null
            and (select q.entry from delayed_queue q where q.entry = o.entry) is null)
        into v_rows, v_last, v_some
        from (
            select m.member, m.entry, m.done_at from queue_group_member m
            where m.group_name = v_group.group_name and m.member > v_group.checked_to order by m.member limit v_left) o;
        v_gone := v_gone || v_some;
        v_names := v_names || v_group.group_name;
        v_places := v_places || case when v_rows < v_left then 0 else v_last end;
        v_left := v_left - greatest(v_rows, 1);
        exit when v_left <= 0;
    end loop;
    -- of all groups at once, before one is locked: a stripe that is waited for may be of who wants that next
    v_gone := array( -- another prune may have found the same
        select m.member from queue_group_member m
        where m.member = any (v_gone) order by m.member + 0 for update skip locked);
    perform _queue_members_end(v_gone, 'gone', null::jsonb, in_now) where v_gone <> '{}';
    perform _queue_members_settle(in_now);
    perform _queue_groups_due(in_now);
    for v_group in
        select n.group_name, n.place from unnest(v_names, v_places) n (group_name, place)
    loop
        perform from queue_group g where g.group_name = v_group.group_name for no key update skip locked;
        if found then
            perform _queue_group_check(v_group.group_name, in_now) where not exists (
                select from queue_group_member m where m.group_name = v_group.group_name and m.done_at is null);
            update queue_group g set checked_at = in_now, checked_to = v_group.place
            where g.group_name = v_group.group_name;
        end if;
    end loop;
    -- last, because who waits for one of their stripes may have others
    for v_group in
        select g.group_name from queue_group g where g.forget_at <= in_now
            order by g.forget_at limit in_max for update skip locked
    loop
        continue when ( -- who ends a member late, of a group that has failed, wants the group next
            select count(*) from queue_group_stripe s where s.group_name = v_group.group_name) > (
            select count(*) from (
                select s.stripe from queue_group_stripe s
                where s.group_name = v_group.group_name for update skip locked) l);
        delete from queue_group_member m
        where m.member = any (array(
            select o.member from queue_group_member o where o.group_name = v_group.group_name
            limit in_max - v_pruned for update skip locked));
        get diagnostics v_rows = row_count;
        v_pruned := v_pruned + v_rows;
        exit when v_pruned >= in_max;
        continue when exists (select from queue_group_member m where m.group_name = v_group.group_name);
        delete from queue_group_stripe s where s.group_name = v_group.group_name;
        delete from queue_group g where g.group_name = v_group.group_name;
        v_pruned := v_pruned + 1;
    end loop;
    return v_pruned;
end $$;
--;
comment on function _queue_prune_groups(bigint, bigint) is
$$Forgets groups that have finished and are past their keep_seconds. Of the others it ends members whose message has
gone without an ack, and finishes those where nobody saw that all is done: those first that it has not looked at for
longest.
in_now: the time of the call. in_max: how many rows to look at, of each sort.
Result: how many were forgotten.
Locks: as _queue_members_settle. Then the groups that are forgotten; what others have locked is left.$$;
--;
-- calls: _queue_boolean, _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles,
--     _queue_fail, _queue_group_check, _queue_group_note, _queue_integer, _queue_members_end, _queue_members_settle,
--     _queue_number, _queue_permits_settle, _queue_text, queue_now
-- changes: queue_group, queue_group_stripe
create or replace function queue_group(in_group text, in_then_kind text default null,
    in_then_payload jsonb default null, in_options jsonb default null, out group_name text, out state text,
    out members bigint, out done bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_group queue_group;
    v_new boolean;
    v_dead bigint[];
begin
    perform _queue_check_name(in_group, 100, 'group');
    perform _queue_check_name(in_then_kind, 95, 'then_kind') where in_then_kind is not null;
    perform _queue_check_payload(in_then_payload, 'then_payload');
    if jsonb_typeof(in_then_payload) <> 'object' then
        perform _queue_fail('PQ003', 'then_payload', in_then_payload::text, 'must be a JSON object');
    end if;
    perform _queue_check_options(in_options,
        '{close, members, on_dead, fail_kind, key, priority, delay_seconds, keep_seconds}'::text[], 'options');
    perform _queue_boolean(in_options, 'close');
    perform _queue_integer(in_options, 'members', 0::bigint, 1000000000::bigint);
    if _queue_text(in_options, 'on_dead') not in ('wait', 'report', 'fail') then
        perform _queue_fail('PQ002', 'on_dead', in_options ->> 'on_dead', 'must be wait, report or fail');
    end if;
    perform _queue_check_name(in_options ->> 'fail_kind', 95, 'fail_kind')
        where _queue_text(in_options, 'fail_kind') is not null;
    perform _queue_check_name(in_options ->> 'key', 200, 'key') where _queue_text(in_options, 'key') is not null;
    perform _queue_check_roles(array[in_then_kind, in_options ->> 'fail_kind']);
    perform _queue_integer(in_options, 'priority', (-32768)::bigint, 32767::bigint);
    perform _queue_number(in_options, 'delay_seconds', 0::numeric, 31536000::numeric);
    perform _queue_number(in_options, 'keep_seconds', 0::numeric, 3153600000::numeric);
    insert into queue_group (group_name, then_kind, then_payload, then_key, then_priority, then_delay, on_dead, closed,
        keep_seconds, created_at)
    select in_group, in_then_kind, '{}', in_group, 0, 0, 'wait', false, 86400, v_now where in_then_kind is not null
    on conflict on constraint queue_group_pkey do nothing;
    v_new := found;
    -- who ends a member locks it before the group; one that is dying has been told what that does
    perform q.entry from delayed_queue q
    where in_options ->> 'on_dead' <> 'wait' and q.entry = any (array(
        select m.entry
        from queue_group g join queue_group_member m on m.group_name between g.group_name and g.group_name
        where g.group_name = in_group and g.on_dead = 'wait' and m.done_at is null))
    order by q.entry + 0 for update;
    select g.* into v_group from queue_group g where g.group_name = in_group for update;
    if not found then
        perform _queue_check_name(in_then_kind, 95, 'then_kind');
    end if;
    perform _queue_check_roles(array[v_group.then_kind, v_group.fail_kind]); -- what is changed is what they get
    if v_group.finished_at is null then
        if v_new then
            insert into queue_group_stripe (group_name, stripe) select in_group, s.stripe
                from generate_series(0, 31) s (stripe);
        end if;
        update queue_group g
        set then_kind = coalesce(in_then_kind, g.then_kind), then_payload = coalesce(in_then_payload, g.then_payload),
            then_key = coalesce(in_options ->> 'key', g.then_key),
            on_dead = coalesce(in_options ->> 'on_dead', g.on_dead),
            then_priority = coalesce((in_options ->> 'priority')::numeric::smallint, g.then_priority),
            then_delay = coalesce(((in_options ->> 'delay_seconds')::numeric * 1000000)::bigint, g.then_delay),
            fail_kind = coalesce(in_options ->> 'fail_kind', g.fail_kind),
            expected = coalesce((in_options ->> 'members')::numeric::bigint, g.expected),
            closed = g.closed or coalesce((in_options ->> 'close')::boolean, false),
            keep_seconds = coalesce((in_options ->> 'keep_seconds')::numeric, g.keep_seconds)
        where g.group_name = in_group;
        if in_options ->> 'on_dead' <> 'wait' then -- of those that have died, too
            v_dead := array(
                select m.member from queue_group_member m, lateral ( -- OFFSET: ADR 13
                    select q.source_kind from delayed_queue q where q.entry = m.entry offset 0) l
                where m.group_name = in_group and m.done_at is null and l.source_kind is not null);
            perform _queue_members_end(v_dead, 'dead', null::jsonb, v_now) where v_dead <> '{}';
            perform _queue_members_settle(v_now);
        end if;
        perform _queue_group_note(in_group);
        perform _queue_group_check(in_group, v_now);
        perform _queue_permits_settle(null::bigint[], null::text[], true, v_now);
    end if;
    select v.group_name, v.state, v.members, v.done into group_name, state, members, done
    from queue_groups v where v.group_name = in_group;
end $$;
--;
comment on function queue_group(text, text, jsonb, jsonb) is
$$Makes a group, or changes one that has not finished. When all of its members are done, the queue pushes one more
message, once: the continuation. Messages become members by option group of a push. A member is done when it is acked,
or at the end of its route.
in_group: its name, 1 to 100 characters.
in_then_kind: the kind of the continuation, 1 to 95 characters; NULL: as it was.
in_then_payload: a JSON object; NULL: as it was, at first {}. The results are put into it as results: an array, in the
order of the pushes, of {kind, key, outcome, result, error}. kind and key are those of the push, result is what the
ack gave. All together are one payload: 10000 results of 1 kB are 10 MB, and MySQL and MariaDB want max_allowed_packet
to be as large.
in_options: each is kept where it isn't given again.
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
Locks: where on_dead was wait, and is no longer, the members that aren't done, in the order of their entries. Then the
group; waits for pushes of members that haven't committed. Acks of the last members of a group, and of a group of a
few, wait for one another's transactions. Under REPEATABLE READ and SERIALIZABLE the last ack may not see that it is
the last: then whoever next reserves, waits, sends a heartbeat, reaps or prunes finishes the group, and queue_wait and
queue_listen say that then_kind may have something.
Where the idea comes from: Chapman's groups, whose last job starts the next step.$$;
--;
-- calls: _queue_check_name, _queue_fail
create or replace function _queue_check_topic(in_topic text, in_name text) returns void language plpgsql as $$
begin
    perform _queue_check_name(in_topic, 255, in_name);
    if '.' || in_topic || '.' like '%..%' then
        perform _queue_fail('PQ001', in_name, in_topic, 'must be words with a dot between them');
    elsif in_name = 'topic' and in_topic ~ '[*#]' then
        perform _queue_fail('PQ001', in_name, in_topic, 'must not contain * or #');
    elsif in_topic ~ '[^.][*#]|[*#][^.]' then
        perform _queue_fail('PQ001', in_name, in_topic, 'must have * and # as words of their own');
    elsif in_topic ~ '#.*#.*#.*#' then
        perform _queue_fail('PQ001', in_name, in_topic, 'must have at most three #');
    end if;
end $$;
--;
comment on function _queue_check_topic(text, text) is
$$Refuses what can't be a topic or a pattern: words with a dot between them, 255 characters in all.
in_topic: it. in_name: topic, or pattern, in which a word may be * or #; of these at most three, so that no matching
takes long.
Errors: PQ001.$$;
--;
create or replace function _queue_matcher(in_pattern text) returns text language plpgsql as $$
declare
    v_matcher text := '^';
    v_word text;
begin
    foreach v_word in array string_to_array(in_pattern, '.') loop
        v_matcher := v_matcher || case v_word
            when '*' then '[.][^.]+'
            when '#' then '(?:[.][^.]+)*'
            else '[.]' || regexp_replace(v_word, '([][' || repeat(chr(92), 2) || '^$|?+(){}])',
                repeat(chr(92), 3) || '1', 'g') end;
    end loop;
    return v_matcher || '$';
end $$;
--;
comment on function _queue_matcher(text) is
$$The regular expression of a pattern: for a topic with a dot before it.
in_pattern: the pattern, checked.
Result: the expression. Nothing of the pattern but * and # means anything in it.$$;
--;
create or replace function _queue_subscribed(in_topic text) returns text[] language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_words constant text[] := string_to_array(in_topic, '.');
    v_heads constant text[] := array(
        select array_to_string(v_words[:n], '.') from generate_series(0, cardinality(v_words)) n);
begin
    return array(
        select distinct m.p_kind
        -- before 17 no index takes two lists
        from unnest(v_heads) h (head), unnest(array['', v_words[cardinality(v_words)]]) t (tail),
            lateral (
                select s.p_kind from queue_subscription s
                where s.head = h.head and s.tail = t.tail
                    -- in this order
                    and case when '.' || in_topic like s.sketch escape '|' then '.' || in_topic ~ s.matcher end
                offset 0) m -- on its own, a look at the index for each pair
        order by m.p_kind);
end $$;
--;
comment on function _queue_subscribed(text) is
$$The kinds that get a copy of what is published to a topic. Looked at are the subscriptions whose words before the
first wildcard are those the topic begins with, and whose last word is a wildcard or that of the topic.
in_topic: the topic, checked.
Result: the kinds, in their order, each once.
Locks: none.$$;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_check_topic, _queue_matcher, queue_now
-- changes: queue_subscription
create or replace function queue_subscribe(in_pattern text, in_kind text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
declare
    v_words text[];
    v_wild integer;
begin
    perform _queue_check_topic(in_pattern, 'pattern');
    perform _queue_check_name(in_kind, 95, 'kind');
    perform _queue_check_roles(array[in_kind]);
    v_words := string_to_array(in_pattern, '.');
    v_wild := least(array_position(v_words, '*'), array_position(v_words, '#'));
    insert into queue_subscription (pattern, p_kind, head, tail, sketch, matcher, subscribed_at)
    values (in_pattern, in_kind, array_to_string(v_words[:coalesce(v_wild - 1, cardinality(v_words))], '.'),
        case when v_words[cardinality(v_words)] in ('*', '#') then '' else v_words[cardinality(v_words)] end,
        (select string_agg(case w.word when '*' then '.%' when '#' then '%'
            else '.' || regexp_replace(w.word, '([|%_])', '|' || chr(92) || '1', 'g') end, '' order by w.n)
                from unnest(v_words) with ordinality w (word, n)),
        _queue_matcher(in_pattern), queue_now())
    on conflict on constraint queue_subscription_pkey do nothing;
    changed := found;
end $$;
--;
comment on function queue_subscribe(text, text) is
$$Has a kind get a copy of each message that is published to a topic of a pattern, from now on.
in_pattern: words with a dot between them, 1 to 255 characters, in which the word * stands for one word and the word #
for any number of words, also none; at most three #. "order.*.paid" and "order.#" are patterns. in_kind: the kind, 1 to
95 characters; nobody has to have defined it.
Result: changed: false where that kind had that pattern already.
Errors: PQ007 for a kind that is for others. PQ001 for pattern and kind.
Locks: none.
Where the idea comes from: the topic exchange of AMQP.$$;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_check_topic
-- changes: queue_subscription
create or replace function queue_unsubscribe(in_pattern text, in_kind text, out changed boolean)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
begin
    perform _queue_check_topic(in_pattern, 'pattern');
    perform _queue_check_name(in_kind, 95, 'kind');
    perform _queue_check_roles(array[in_kind]);
    delete from queue_subscription s where s.pattern = in_pattern and s.p_kind = in_kind;
    changed := found;
end $$;
--;
comment on function queue_unsubscribe(text, text) is
$$Ends a subscription. What the kind has got stays there.
in_pattern: the pattern, as it was subscribed. in_kind: the kind.
Result: changed: false where that kind didn't have that pattern.
Errors: PQ007 for a kind that is for others. PQ001 for pattern and kind.
Locks: the subscription.$$;
--;
-- calls: _queue_check_fit, _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles,
--     _queue_check_topic, _queue_fail, _queue_index, _queue_key, _queue_log, _queue_permits_settle, _queue_push,
--     _queue_push_options, _queue_put_onto, _queue_subscribed, _queue_take_back, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_publish(in_topic text, in_key text default null, in_payload jsonb default null,
    in_options jsonb default null)
    returns table (p_kind text, p_key text, scheduled_at bigint, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_key constant text := coalesce(in_key, _queue_key(v_now));
    v_kinds text[];
    v_kind record; v_row delayed_queue; v_put record; v_outcome text;
    v_settle bigint[]; v_names text[];
    v_made bigint[];
    v_logs boolean;
    v_onto jsonb := '{}';
    v_filter boolean := false;
    v_options record;
begin
    perform _queue_check_topic(in_topic, 'topic');
    perform _queue_check_name(v_key, 200, 'key');
    in_payload := coalesce(in_payload, 'null');
    perform _queue_check_payload(in_payload, 'payload');
    perform _queue_check_options(in_options,
        '{delay_seconds, scheduled_at, priority, headers, attempts, max_attempts, on_duplicate}'::text[], 'options');
    v_options := _queue_push_options(in_options, v_now);
    v_kinds := _queue_subscribed(in_topic);
    for v_kind in
        select k.p_kind, k.payload_shape, k.draining, k.filter_index, k.log_seconds > 0 as logs, k.roles
            from queue_kind k
        where k.p_kind = any (v_kinds)
            and (k.payload_shape is not null or k.draining or k.filter_index or k.log_seconds > 0
            or k.roles is not null) order by k.p_kind
    loop
        perform _queue_check_roles(array[v_kind.p_kind]) where v_kind.roles is not null;
        if v_kind.draining then
            perform _queue_fail('PQ004', 'topic', in_topic,
                format('refused, "%s" takes in nothing while it is drained', left(v_kind.p_kind, 40)));
        end if;
        v_filter := v_filter or v_kind.filter_index;
        v_logs := v_kind.logs or v_logs;
        continue when v_kind.payload_shape is null;
        perform _queue_check_fit(v_kind.payload_shape, in_payload, format('payload for "%s"', left(v_kind.p_kind, 40)));
    end loop;
    with i as (
        insert into delayed_queue as q (p_kind, p_key, payload, headers, priority, scheduled_at, scheduled_at_initially,
            created_at, attempts, max_attempts, ready_at, due_at)
        select t.p_kind, v_key, in_payload, v_options.headers, v_options.priority, v_options.scheduled_at,
            v_options.scheduled_at, v_now, v_options.attempts, v_options.max_attempts, case
            when v_options.scheduled_at <= v_now then v_options.scheduled_at end, case
                when v_options.scheduled_at > v_now then v_options.scheduled_at end
        from unnest(v_kinds) t (p_kind)
        where coalesce((
            select r.ended_at from queue_dedup r where r.p_kind = t.p_kind and r.p_key = v_key) <= v_now - (
            select (nullif(k.dedup_seconds, 0) * 1000000)::bigint from queue_kind k where k.p_kind = t.p_kind), true)
        order by t.p_kind collate "C"
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry)
    select coalesce(array_agg(i.entry), '{}') into v_made from i;
    perform _queue_take_back(v_made, v_now);
    perform _queue_wake(t.p_kind, v_key) from unnest(v_kinds) t (p_kind) where v_made <> '{}';
    if v_options.on_duplicate <> 'ignore' then
        v_row.p_key := v_key;
        v_row.payload := in_payload;
        v_row.headers := v_options.headers;
        v_row.scheduled_at := v_options.scheduled_at;
        for v_kind in
            select q.p_kind, q.entry = any (v_made) as made from delayed_queue q
            where q.p_kind = any (v_kinds) and q.p_key = v_key
                and coalesce((
                    select r.ended_at from queue_dedup r where r.p_kind = q.p_kind and r.p_key = v_key) <= v_now - (
                    select (nullif(k.dedup_seconds, 0) * 1000000)::bigint from queue_kind k
                    where k.p_kind = q.p_kind), true)
            order by q.entry + 0 for update -- + 0: ADR 13
        loop
            v_row.p_kind := v_kind.p_kind;
            v_outcome := 'created';
            if not v_kind.made then
                v_put := _queue_put_onto(v_row, v_options.on_duplicate, v_now);
                v_outcome := v_put.outcome;
                v_settle := v_settle || v_put.entry;
                v_names := v_names || v_put.waits_for;
            end if;
            v_onto := v_onto || jsonb_build_object(v_kind.p_kind, v_outcome);
        end loop;
        -- what went away in between can be put in now; where its key is remembered, as in a push, it is ignored
        select v_onto || coalesce(jsonb_object_agg(t.p_kind, p.outcome), '{}') into v_onto
        from unnest(v_kinds) t (p_kind), _queue_push(t.p_kind, v_key, in_payload, null::bytea, in_options) p
        where not v_onto ? t.p_kind;
    end if;
    if v_filter or v_settle <> '{}' then -- who had to wait asks anew
        perform _queue_index(array(select q.entry from delayed_queue q
            where q.p_kind = any (v_kinds) and q.p_key = v_key
            and (q.entry = any (v_made) or v_onto ->> q.p_kind in ('created', 'replaced'))));
    end if;
    if v_logs then
        perform _queue_log(array_agg(l.entry order by l.made desc, l.p_kind),
            array_agg(case when l.made then 'pushed' else 'replaced' end order by l.made desc, l.p_kind), in_topic,
            v_now)
        from (
            select q.p_kind, q.entry, q.entry = any (v_made) as made from delayed_queue q
            where q.p_kind = any (v_kinds) and q.p_key = v_key) l
        where l.made or v_onto ->> l.p_kind = 'replaced' and v_options.on_duplicate in ('replace', 'keep_time');
    end if;
    perform _queue_permits_settle(v_settle, v_names, true, v_now) where v_names is not null;
    return query
        select t.p_kind, v_key, q.scheduled_at,
            case when q.entry = any (v_made) then 'created' else coalesce(v_onto ->> t.p_kind, 'ignored') end
        from unnest(v_kinds) t (p_kind) left join lateral ( -- OFFSET: ADR 13
            select o.entry, o.scheduled_at from delayed_queue o
                where o.p_kind = t.p_kind and o.p_key = v_key offset 0) q on true
        order by t.p_kind collate "C";
end $$;
--;
comment on function queue_publish(text, text, jsonb, jsonb) is
$$Puts a copy of one message into each kind that is subscribed to its topic: into all, or into none. The copies are
messages like any other. A kind that is subscribed by several patterns gets one.
in_topic: words with a dot between them, 1 to 255 characters, without * and #.
in_key: the key that each copy has, 1 to 200 characters; NULL: a time-ordered UUID, the same for all. In each kind it
promises what it does in a push.
in_payload: JSON, as in queue_push, with the fields that payload_shape of each of the kinds wants. Bytes can't be
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
Where the idea comes from: the topic exchange of AMQP.$$;
--;
create or replace function _queue_cron_field(in_field text, in_least integer, in_most integer,
    in_names text) returns bigint
    language plpgsql as $$
declare
    v_names constant text[] := string_to_array(in_names, ',');
    v_mask bigint := 0;
    v_part text;
    v_piece text[];
    v_from integer;
    v_to integer;
begin
    if coalesce(in_field, '') = '' then
        return null;
    end if;
    foreach v_part in array string_to_array(lower(in_field), ',') loop
        v_piece := regexp_match(v_part, '^(?:[*]|([a-z]{3}|[0-9]{1,2})(?:-([a-z]{3}|[0-9]{1,2}))?)(?:/([0-9]{1,2}))?$');
        if v_piece is null then
            return null;
        elsif v_piece[1] is null then
            v_from := in_least;
            v_to := in_most;
        else
            v_from := case when v_piece[1] ~ '[0-9]' then v_piece[1]::integer
                else array_position(v_names, v_piece[1]) - 1 + in_least end;
            v_to := case when v_piece[2] ~ '[0-9]' then v_piece[2]::integer
                when v_piece[2] is not null then array_position(v_names, v_piece[2]) - 1 + in_least
                when v_piece[3] is not null then in_most else v_from end;
        end if;
        if (v_from >= in_least and v_to <= in_most and v_from <= v_to
            and coalesce(v_piece[3]::integer, 1) > 0) is not true then
            return null;
        end if;
        for i in v_from .. v_to by coalesce(v_piece[3]::integer, 1) loop
            v_mask := v_mask | (1::bigint << i);
        end loop;
    end loop;
    return v_mask;
end $$;
--;
comment on function _queue_cron_field(text, integer, integer, text) is
$$One field of a cron expression as a mask, a bit a value.
in_field: values, ranges and steps with commas between them: *, 5, 1-5, */10, 10/5, mon-fri. in_least, in_most: the
range of its values.
in_names: names of its values from the least on, with commas between them.
Result: the mask; NULL for what is no such field.$$;
--;
-- calls: _queue_cron_field, _queue_fail, _queue_number, _queue_text
create or replace function _queue_rule(in_options jsonb) returns queue_recurring language plpgsql as $$
declare
    v_rule queue_recurring;
    v_daily constant text := _queue_text(in_options, 'daily_at');
    v_cron constant text := _queue_text(in_options, 'cron');
    v_zone constant text := _queue_text(in_options, 'time_zone');
    v_every constant numeric := _queue_number(in_options, 'every_seconds', 1::numeric, 315360000::numeric);
    v_fields text[];
begin
    if num_nonnulls(v_every, v_daily, v_cron) <> 1 then
        perform _queue_fail('PQ002', 'options', in_options::text, 'must have one of every_seconds, daily_at, cron');
    elsif v_every is not null then
        if v_zone is not null then
            perform _queue_fail('PQ002', 'time_zone', v_zone, 'must not stand beside every_seconds');
        end if;
        v_rule.every := (v_every * 1000000)::bigint;
        v_rule.rule := jsonb_build_object('every_seconds', v_every);
        return v_rule;
    elsif v_daily is not null then
        if v_daily !~ '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$' then
            perform _queue_fail('PQ002', 'daily_at', v_daily, 'must be a time of the day: 09:30 or 09:30:00');
        end if;
        v_fields := array[substr(v_daily, 4, 2), left(v_daily, 2), '*', '*', '*',
            coalesce(nullif(substr(v_daily, 7), ''), '0')];
        v_rule.rule := jsonb_build_object('daily_at', v_daily, 'time_zone', coalesce(v_zone, 'UTC'));
    else
        v_fields := regexp_split_to_array(btrim(v_cron), '[[:space:]]+');
        v_rule.rule := jsonb_build_object('cron', v_cron, 'time_zone', coalesce(v_zone, 'UTC'));
    end if;
    v_rule.minutes := _queue_cron_field(v_fields[1], 0, 59, null);
    v_rule.hours := _queue_cron_field(v_fields[2], 0, 23, null);
    v_rule.days := _queue_cron_field(v_fields[3], 1, 31, null);
    v_rule.months := _queue_cron_field(v_fields[4], 1, 12, 'jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec');
    v_rule.weekdays := _queue_cron_field(v_fields[5], 0, 7, 'sun,mon,tue,wed,thu,fri,sat');
    v_rule.weekdays := v_rule.weekdays & 127 | (v_rule.weekdays >> 7); -- 7 is Sunday too
    v_rule.seconds := _queue_cron_field(coalesce(v_fields[6], '0'), 0, 59, null);
    v_rule.either_day := left(v_fields[3], 1) <> '*' and left(v_fields[5], 1) <> '*';
    if cardinality(v_fields) > 6
        or num_nulls(v_rule.minutes, v_rule.hours, v_rule.days, v_rule.months, v_rule.weekdays, v_rule.seconds) > 0 then
        perform _queue_fail('PQ002', 'cron', v_cron,
            'must be minute hour day month weekday, perhaps second, as cron has them');
    elsif v_zone ~ '^[+-]([01][0-9]|2[0-3]):[0-5][0-9]$' then
        v_rule.zone_seconds := (left(v_zone, 1) || '1')::integer
            * (substr(v_zone, 2, 2)::integer * 3600 + substr(v_zone, 5, 2)::integer * 60);
    elsif coalesce(v_zone, 'UTC') = 'UTC' then
        v_rule.zone_seconds := 0;
    elsif exists (select from pg_catalog.pg_timezone_names z where z.name = v_zone) then
        v_rule.zone := v_zone;
    else
        perform _queue_fail('PQ002', 'time_zone', v_zone, 'must be a zone that the server knows, or an offset: +02:00');
    end if;
    return v_rule;
end $$;
--;
comment on function _queue_rule(jsonb) is
$$The rule of a schedule out of its options.
in_options: see queue_schedule; of these every_seconds, daily_at, cron and time_zone.
Result: a row of queue_recurring with what makes the rule.
Errors: PQ002.$$;
--;
create or replace function _queue_zone_offset(in_zone text, in_at bigint) returns bigint language sql volatile
    return extract(epoch from to_timestamp(in_at) at time zone in_zone)::bigint - in_at;
--;
comment on function _queue_zone_offset(text, bigint) is
$$How far a zone is ahead of UTC.
in_zone: its name. in_at: when, in seconds since 1970-01-01 UTC.
Result: seconds.$$;
--;
-- calls: _queue_zone_offset
create or replace function _queue_zone_change(in_zone text, in_from bigint,
    in_to bigint) returns bigint language plpgsql as $$
declare
    v_offset constant bigint := _queue_zone_offset(in_zone, in_from);
    v_before bigint := in_from;
    v_change bigint := in_to;
    v_middle bigint;
begin
    while v_change - v_before > 1 loop
        v_middle := (v_before + v_change) / 2;
        if _queue_zone_offset(in_zone, v_middle) = v_offset then
            v_before := v_middle;
        else
            v_change := v_middle;
        end if;
    end loop;
    return v_change;
end $$;
--;
comment on function _queue_zone_change(text, bigint, bigint) is
$$When a zone changes its offset.
in_zone: its name. in_from, in_to: two times with different offsets, in seconds since 1970-01-01 UTC.
Result: the first second of the other offset.$$;
--;
create or replace function _queue_next_local(in_rule queue_recurring,
    in_local bigint) returns bigint language plpgsql as $$
declare
    v_first constant bigint := (in_local + 1) / 86400;
    v_least integer := (in_local + 1) % 86400;
    v_date date;
    v_on_day boolean;
    v_on_weekday boolean;
begin
    for v_day in v_first .. v_first + 2922 loop -- from one 29 February to the next it may be eight years
        v_date := date '1970-01-01' + v_day::integer;
        v_on_day := (in_rule.days >> extract(day from v_date)::integer) & 1 = 1;
        v_on_weekday := (in_rule.weekdays >> extract(dow from v_date)::integer) & 1 = 1;
        if (in_rule.months >> extract(month from v_date)::integer) & 1 = 1
            and (v_on_day and v_on_weekday or in_rule.either_day and (v_on_day or v_on_weekday)) then
            for v_hour in v_least / 3600 .. 23 loop
                continue when (in_rule.hours >> v_hour) & 1 = 0;
                for v_minute in greatest(v_least / 60 - v_hour * 60, 0) .. 59 loop
                    continue when (in_rule.minutes >> v_minute) & 1 = 0;
                    for v_second in greatest(v_least - v_hour * 3600 - v_minute * 60, 0) .. 59 loop
                        if (in_rule.seconds >> v_second) & 1 = 1 then
                            return v_day * 86400::bigint + v_hour * 3600 + v_minute * 60 + v_second;
                        end if;
                    end loop;
                end loop;
            end loop;
        end if;
        v_least := 0;
    end loop;
    return null;
end $$;
--;
comment on function _queue_next_local(queue_recurring, bigint) is
$$The next local time of a rule.
in_rule: the rule, one with sets. in_local: a local time, in seconds since 1970-01-01 there.
Result: the first one after it, in such seconds; NULL where there is none within eight years.$$;
--;
-- calls: _queue_next_local, _queue_zone_change, _queue_zone_offset
create or replace function _queue_next_tick(in_rule queue_recurring,
    in_after bigint) returns bigint language plpgsql as $$
declare
    v_after bigint := in_after / 1000000;
    v_offset bigint := coalesce(in_rule.zone_seconds, _queue_zone_offset(in_rule.zone, v_after));
    v_local bigint := v_after + v_offset;
    v_late bigint;
    v_at bigint;
begin
    if in_rule.every is not null then
        v_at := (in_after / in_rule.every + 1) * in_rule.every;
        return case when v_at > in_rule.until_at then null else v_at end;
    end if;
    loop
        v_local := _queue_next_local(in_rule, v_local);
        v_at := v_local - v_offset;
        exit when v_at is null or in_rule.zone is null;
        if in_rule.hours = 16777215 then
            -- in every hour: as real time goes on, through the doubled hour twice
            exit when _queue_zone_offset(in_rule.zone, v_at) = v_offset;
            v_after := _queue_zone_change(in_rule.zone, v_after, v_at);
            v_offset := _queue_zone_offset(in_rule.zone, v_after);
            v_local := v_after + v_offset - 1;
        else
            -- once a local time: the first time that the clock shows it, or when it jumps over it
            v_offset := _queue_zone_offset(in_rule.zone, v_local - 86400);
            v_late := _queue_zone_offset(in_rule.zone, v_local + 86400);
            v_at := case when _queue_zone_offset(in_rule.zone, v_local - v_offset) = v_offset then v_local - v_offset
                when _queue_zone_offset(in_rule.zone, v_local - v_late) = v_late then v_local - v_late
                else _queue_zone_change(in_rule.zone, v_local - 86400, v_local + 86400) end;
            exit when v_at > v_after;
        end if;
    end loop;
    return case when v_at * 1000000 > in_rule.until_at then null else v_at * 1000000 end;
end $$;
--;
comment on function _queue_next_tick(queue_recurring, bigint) is
$$When a rule is due next.
in_rule: the rule. in_after: after when, in microseconds since 1970-01-01 UTC.
Result: such microseconds; NULL: never again.$$;
--;
-- calls: _queue_boolean, _queue_check_fit, _queue_check_name, _queue_check_options, _queue_check_payload,
--     _queue_check_roles, _queue_fail, _queue_instant, _queue_next_tick, _queue_push_options, _queue_rule,
--     _queue_text, queue_now
-- changes: queue_recurring
create or replace function queue_schedule(in_name text, in_kind text, in_payload jsonb default null,
    in_options jsonb default null, out name text, out p_kind text, out next_at bigint)
    language plpgsql
    security definer set search_path from current as $$
declare
    v_now constant bigint := queue_now();
    v_rules constant text[] := '{every_seconds, daily_at, cron, time_zone, catch_up, until, paused}';
    v_pushes constant text[] := '{delay_seconds, priority, headers, max_attempts}';
    v_new queue_recurring;
    v_old queue_recurring;
begin
    perform _queue_check_name(in_name, 100, 'name');
    perform _queue_check_name(in_kind, 95, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_roles(array(select r.p_kind from queue_recurring r where r.name = in_name));
    in_payload := coalesce(in_payload, 'null');
    perform _queue_check_payload(in_payload, 'payload');
    perform _queue_check_options(in_options, v_rules || v_pushes, 'options');
    perform _queue_check_fit(k.payload_shape, in_payload, 'payload') from queue_kind k
        where k.p_kind = in_kind and k.payload_shape is not null;
    v_new := _queue_rule(in_options);
    v_new.push_options := in_options - v_rules;
    perform _queue_push_options(v_new.push_options, v_now);
    v_new.catch_up := coalesce(_queue_text(in_options, 'catch_up'), 'last');
    if v_new.catch_up not in ('all', 'last', 'skip') then
        perform _queue_fail('PQ002', 'catch_up', v_new.catch_up, 'must be all, last or skip');
    end if;
    v_new.until_at := _queue_instant(in_options, 'until');
    v_new.paused := coalesce(_queue_boolean(in_options, 'paused'), false);
    select r.* into v_old from queue_recurring r where r.name = in_name for update;
    if not v_old.paused and v_old.next_at <= v_now and row(v_old.every, v_old.seconds, v_old.minutes, v_old.hours,
        v_old.days, v_old.months, v_old.weekdays, v_old.either_day, v_old.zone, v_old.zone_seconds)
        is not distinct from row(v_new.every, v_new.seconds, v_new.minutes, v_new.hours, v_new.days, v_new.months,
        v_new.weekdays, v_new.either_day, v_new.zone, v_new.zone_seconds) then -- due, and not made yet
        v_new.next_at := case when v_old.next_at <= coalesce(v_new.until_at, v_old.next_at) then v_old.next_at end;
    else
        v_new.next_at := _queue_next_tick(v_new, v_now);
    end if;
    if v_new.next_at is null and v_new.until_at is null then
        perform _queue_fail('PQ002', 'cron', in_options ->> 'cron', 'must be a time that comes');
    end if;
    insert into queue_recurring as r (name, p_kind, payload, push_options, rule, every, seconds, minutes, hours, days,
        months, weekdays, either_day, zone, zone_seconds, catch_up, until_at, paused, next_at)
    values (in_name, in_kind, in_payload, v_new.push_options, v_new.rule, v_new.every, v_new.seconds, v_new.minutes,
        v_new.hours, v_new.days, v_new.months, v_new.weekdays, v_new.either_day, v_new.zone, v_new.zone_seconds,
        v_new.catch_up, v_new.until_at, v_new.paused, v_new.next_at)
    on conflict on constraint queue_recurring_pkey do update
    set p_kind = excluded.p_kind, payload = excluded.payload, push_options = excluded.push_options,
        rule = excluded.rule, every = excluded.every, seconds = excluded.seconds, minutes = excluded.minutes,
        hours = excluded.hours, days = excluded.days, months = excluded.months, weekdays = excluded.weekdays,
        either_day = excluded.either_day, zone = excluded.zone, zone_seconds = excluded.zone_seconds,
        catch_up = excluded.catch_up, until_at = excluded.until_at, paused = excluded.paused,
        next_at = excluded.next_at;
    name := in_name;
    p_kind := in_kind;
    next_at := v_new.next_at;
end $$;
--;
comment on function queue_schedule(text, text, jsonb, jsonb) is
$$Has a message pushed again and again, by queue_tick. A schedule of that name is replaced. What it is due for already
stays due where its rule is the same.
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
Where the idea comes from: cron.$$;
--;
-- calls: _queue_check_name, _queue_check_roles
-- changes: queue_recurring
create or replace function queue_unschedule(in_name text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    perform _queue_check_name(in_name, 100, 'name');
    perform _queue_check_roles(array(select r.p_kind from queue_recurring r where r.name = in_name));
    delete from queue_recurring r where r.name = in_name;
    changed := found;
end $$;
--;
comment on function queue_unschedule(text) is
$$Ends a schedule. What it has pushed stays.
in_name: its name.
Result: changed: false where there was none of that name.
Errors: PQ007 for a kind that is for others, PQ001 for name.
Locks: the schedule.$$;
--;
-- calls: _queue_next_tick, _queue_put, queue_now, queue_timestamp
-- changes: queue_recurring
create or replace function queue_tick(out ticked bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_left integer := 1000;
    v_rule queue_recurring;
    v_at bigint; v_next bigint; v_end bigint;
    v_seconds bigint;
    v_row delayed_queue;
begin
    ticked := 0;
    for v_rule in
        with d as materialized (
            select r.* from queue_recurring r
            where r.next_at <= v_now and not r.paused
                and not exists (select from queue_kind k where k.p_kind = r.p_kind and k.draining)
            order by r.next_at limit 100 for update of r skip locked)
        select d.* from d order by d.p_kind, d.name
    loop
        exit when v_left <= 0;
        v_at := v_rule.next_at;
        if v_rule.catch_up <> 'all' then
            v_end := least(v_now, v_rule.until_at);
            -- from as late as there is one, so that what was missed for months isn't gone through one by one
            foreach v_seconds in array '{60, 600, 3600, 21600, 86400, 604800, 2764800, 31622400}'::bigint[] loop
                v_next := _queue_next_tick(v_rule, greatest(v_end - v_seconds * 1000000, v_at - 1));
                exit when v_next <= v_end;
            end loop;
            while v_next <= v_end loop
                v_at := v_next;
                v_next := _queue_next_tick(v_rule, v_at);
            end loop;
        end if;
        if v_rule.catch_up = 'skip' and v_at < v_now - 60000000 then
            v_at := _queue_next_tick(v_rule, v_at);
        end if;
        while v_at <= v_now and v_left > 0 loop
            v_row.p_kind := v_rule.p_kind;
            v_row.p_key := v_rule.name || '@' ||
                to_char(queue_timestamp(v_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
            v_row.payload := v_rule.payload;
            v_row.headers := nullif(nullif(v_rule.push_options -> 'headers', 'null'), '{}');
            v_row.priority := coalesce((v_rule.push_options ->> 'priority')::numeric, 0)::smallint;
            v_row.scheduled_at := v_now
                + (coalesce((v_rule.push_options ->> 'delay_seconds')::numeric, 0) * 1000000)::bigint;
            v_row.attempts := 0;
            v_row.max_attempts := (v_rule.push_options ->> 'max_attempts')::numeric::integer;
            if (_queue_put(v_row, 'ignore', null::bigint, v_now)).outcome = 'created' then
                ticked := ticked + 1;
            end if;
            v_rule.last_at := v_at;
            v_at := _queue_next_tick(v_rule, v_at);
            v_left := v_left - 1;
        end loop;
        update queue_recurring r set next_at = v_at, last_at = v_rule.last_at where r.name = v_rule.name;
    end loop;
end $$;
--;
comment on function queue_tick() is
$$Pushes what the schedules are due for, see queue_schedule: at most 1000 messages and 100 schedules a call, those first
that have been due the longest. Any number may call it at any time, and a worker does so now and then: an occurrence
makes one message, because only one call at a time has a schedule, and because its message has a key. A kind that is
drained gets none; it is caught up with once that ends. What isn't of its payload_shape is dead at the next reserve.
Result: ticked: how many messages were made.
Locks: the schedules that are due; what others have locked is passed over.$$;
--;
-- calls: _queue_setting
create or replace function _queue_log_open() returns void language plpgsql as $$
declare
    v_name constant text := _queue_setting('log');
    v_own constant text := pg_current_xact_id()::text;
    v_floor bigint;
begin
    if current_setting(v_name, true) is distinct from v_own then
        -- before the first position is drawn: whoever sees a position that this transaction has drawn sees the lock
        select s.last_value - case when s.is_called then 0 else 1 end into v_floor from queue_log_position_seq s;
        perform pg_advisory_xact_lock_shared(hashoid('queue_log'::regclass), (v_floor & 2147483647)::integer);
        perform set_config(v_name, v_own, true); -- goes back with a savepoint, as the lock does
    end if;
end $$;
--;
comment on function _queue_log_open() is
$$What comes before each append to the log: once a transaction, a shared advisory lock whose number is the position
after which those of this transaction come, until it ends.
Locks: that one, for which it never waits.$$;
--;
-- calls: _queue_log_open
-- changes: queue_log
create or replace function _queue_log(in_entries bigint[], in_events text[], in_topic text, in_now bigint) returns void
    language plpgsql as $$
begin
    if not exists (
        select from unnest(in_entries) e (entry), -- OFFSET: ADR 13
            lateral (select m.p_kind from delayed_queue m where m.entry = e.entry offset 0) q
            join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0) then
        return;
    end if;
    perform _queue_log_open();
    if in_topic is null then
        insert into queue_log (event, name, p_kind, p_key, entry, payload, payload_bytes, headers, created_at)
        select coalesce(e.event, 'pushed'), q.p_kind, q.p_kind, q.p_key, q.entry, q.payload, q.payload_bytes, q.headers,
            in_now
        from unnest(in_entries, in_events) with ordinality e (entry, event, n),
            lateral (select m.* from delayed_queue m where m.entry = e.entry offset 0) q
        join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0
        order by e.n;
        return;
    end if;
    with m as materialized (
        select q.*, coalesce(e.event, 'pushed') as event, row_number() over (order by e.n) as n
        from unnest(in_entries, in_events) with ordinality e (entry, event, n),
            lateral (select o.* from delayed_queue o where o.entry = e.entry offset 0) q
        join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0),
    f as (
        insert into queue_log (event, name, topic, p_kind, p_key, entry, payload, payload_bytes, headers, created_at)
        select m.event, in_topic, in_topic, m.p_kind, m.p_key, m.entry, m.payload, m.payload_bytes, m.headers, in_now
        from m where m.n = 1
        returning position)
    insert into queue_log (event, topic, copy_of, p_kind, p_key, entry, payload, payload_bytes, headers, created_at)
    select m.event, in_topic, f.position, m.p_kind, m.p_key, m.entry, m.payload, m.payload_bytes, m.headers, in_now
    from m cross join f where m.n > 1
    order by m.n;
end $$;
--;
comment on function _queue_log(bigint[], text[], text, bigint) is
$$Appends messages that came in to the log, where their kinds have log_seconds.
in_entries: the messages, in their order. in_events: of each, pushed or replaced; NULL: pushed. in_topic: what was
published: the first of them stands under it, the others are its copies; NULL: each stands under its kind. in_now: the
time of the call.
Locks: as _queue_log_open.$$;
--;
-- calls: _queue_settings
-- changes: queue_log, queue_log_gone
create or replace function _queue_prune_log(in_kind text, in_now bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_seconds constant numeric := (_queue_settings(in_kind)).log_seconds;
    v_since constant bigint := case when v_seconds = 0 then 9223372036854775807
        else in_now - (v_seconds * 1000000)::bigint end;
    v_old tid[];
    v_pruned bigint;
begin
    -- the oldest tells whether there is anything to do; else all that is young would be looked at. BETWEEN: ADR 13
    if coalesce((select l.created_at from queue_log l where l.p_kind between in_kind and in_kind
            order by l.p_kind, l.position limit 1) > v_since, true) then
        return 0;
    end if;
    v_old := array(
        select o.ctid from queue_log o
        where o.created_at + 0 <= v_since and o.ctid = any (array(
            select i.ctid from queue_log i where i.p_kind between in_kind and in_kind
            order by i.p_kind, i.position limit in_max))
        for update skip locked);
    v_pruned := cardinality(v_old);
    with o as materialized (
        select l.position, l.event, c.p_kind, c.entry, case when c.p_kind is null then coalesce(l.name, '')
            else '' end as name
        from queue_log l
        left join lateral (
            select n.p_kind, n.entry from queue_log n
            where n.topic between l.topic and l.topic and n.copy_of = l.position and n.p_kind <> in_kind
            order by n.topic, n.copy_of, n.position limit 1) c on true
        where l.ctid = any (v_old)),
    g as (
        insert into queue_log_gone (p_kind, name, event, position)
        select in_kind, o.name, o.event, max(o.position) from o group by o.name, o.event),
    u as (
        update queue_log l set p_kind = o.p_kind, entry = o.entry, topic_only = true
        from o where l.position between o.position and o.position and o.p_kind is not null)
    delete from queue_log l using o where l.position between o.position and o.position and o.p_kind is null;
    if v_pruned > 0 then
        delete from queue_log_gone g
        where g.ctid = any (array(
            select o.ctid from queue_log_gone o
            where o.p_kind = in_kind and exists (
                select from queue_log_gone n
                where n.p_kind = o.p_kind and n.name = o.name and n.event = o.event and n.position > o.position)
            for update skip locked));
    end if;
    return v_pruned;
end $$;
--;
comment on function _queue_prune_log(text, bigint, bigint) is
$$Removes from the log what of a kind is older than its log_seconds, or all where it has none, the oldest first, and
notes up to where. What stands under a topic stays there as long as another kind keeps a copy, for the readers of the
topic.
in_kind: the kind. in_now: the time of the call. in_max: how many rows at the most.
Result: how many, those that stay for a topic included.
Locks: the rows; what others have locked is left.$$;
--;
create or replace function _queue_log_horizon() returns bigint language plpgsql as $$
declare
    v_last bigint;
    v_floor bigint;
begin
    select s.last_value - case when s.is_called then 0 else 1 end into v_last from queue_log_position_seq s;
    -- a lock has room for 31 bits, and may be newer than the line above
    select min(s.last_value - ((s.last_value - l.objid::bigint) & 2147483647)) into v_floor
    from pg_locks l, queue_log_position_seq s
    where l.locktype = 'advisory' and l.objsubid = 2
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and l.classid::bigint = hashoid('queue_log'::regclass)::bigint & 4294967295;
    return least(v_last, v_floor);
end $$;
--;
comment on function _queue_log_horizon() is
$$The position up to which whoever has drawn one has ended: with a snapshot that is taken later all of that can be seen.
The open transactions count that have appended, no others.
Result: the position.
Locks: none.$$;
--;
create or replace function _queue_read(in_reader queue_reader, in_max integer, in_until bigint) returns setof queue_log
    language plpgsql as $$
declare
    v_events constant text[] := string_to_array(in_reader.events, ',');
begin
    if in_reader.matcher is not null then
        return query
            select l.* from queue_log l
            where l.position > in_reader.position and l.position <= in_until and l.event = any (v_events)
                and '.' || l.name ~ in_reader.matcher
            order by l.position limit in_max;
    else
        -- rows are compared as a whole, or all that is of any kind might be read in the order of its positions
        return query
            select u.* from (
                (select l.* from queue_log l
                    where (l.p_kind, l.position) > (in_reader.name, in_reader.position)
                        and (l.p_kind, l.position) <= (in_reader.name, in_until) and l.event = any (v_events)
                        and not l.topic_only
                    order by l.p_kind, l.position limit in_max)
                union all
                (select l.* from queue_log l
                    where l.topic = in_reader.name and l.copy_of is null and l.position > in_reader.position
                        and l.position <= in_until and l.p_kind <> in_reader.name and l.event = any (v_events)
                    order by l.topic, l.copy_of, l.position limit in_max)) u
            order by u.position limit in_max;
    end if;
end $$;
--;
comment on function _queue_read(queue_reader, integer, bigint) is
$$What a reader reads next.
in_reader: the reader. in_max: how many rows. in_until: the last position.
Result: the rows of the log, in their order.
Locks: none.$$;
--;
-- calls: _queue_log_horizon, _queue_read
-- changes: queue_log_known
create or replace function _queue_log_known(in_reader queue_reader, in_max integer,
    in_last bigint) returns bigint language plpgsql set enable_seqscan = off as $$
declare
    v_horizon constant bigint := _queue_log_horizon();
    v_known bigint;
    v_last bigint;
begin
    if current_setting('transaction_isolation') in ('read committed', 'read uncommitted') then
        if random() < 0.01 then -- not with a snapshot that is kept, to which others would have deleted the same
            delete from queue_log_known n
            where n.ctid = any (array(
                select o.ctid from queue_log_known o
                    where o.position < (select m.position from queue_log_known m order by m.position desc limit 1)
                order by o.position limit 1000 for update skip locked));
        end if;
        return v_horizon;
    end if;
    v_known := greatest(in_reader.position,
        (select n.position from queue_log_known n order by n.position desc limit 1));
    if v_horizon > v_known then
        insert into queue_log_known (position) values (v_horizon);
    end if;
    select coalesce(max(r.position), in_last) into v_last from _queue_read(in_reader, in_max, in_last) r;
    if v_last > v_known and v_last - v_known <= 100000 and v_last - v_known = (
        select count(*) from queue_log l where l.position > v_known and l.position <= v_last) then
        return v_last;
    end if;
    return v_known;
end $$;
--;
comment on function _queue_log_known(queue_reader, integer, bigint) is
$$Up to which position the log is complete in the eyes of the caller's transaction. In READ COMMITTED that is the
horizon. A snapshot that is kept may be older than the end of a transaction that isn't open any more; so there it is
what was known before it was taken, and what follows without a gap. What is known now is noted for later.
in_reader: who reads; up to its place the log is complete. in_max: how many messages it wants. in_last: the last
position that it sees.
Result: the position.
Locks: none; notes that others have locked are left.$$;
--;
create or replace function _queue_log_missed(in_reader queue_reader) returns bigint language plpgsql
    set enable_seqscan = off as $$
declare
    v_events constant text[] := string_to_array(in_reader.events, ',');
begin
    if in_reader.matcher is not null then
        return (
            select max(g.position) from queue_log_gone g
            where g.position > in_reader.position and g.event = any (v_events) and g.name <> ''
                and '.' || g.name ~ in_reader.matcher);
    end if;
    return greatest(
        (select max(g.position) from queue_log_gone g
            where g.p_kind = in_reader.name and g.position > in_reader.position and g.event = any (v_events)),
        (select max(g.position) from queue_log_gone g
            where g.name = in_reader.name and g.position > in_reader.position and g.event = any (v_events)));
end $$;
--;
comment on function _queue_log_missed(queue_reader) is
$$Up to which position the log has no longer what a reader hasn't read.
in_reader: the reader.
Result: the position; NULL where nothing is missing.
Locks: none.$$;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_roles, _queue_check_topic, _queue_fail,
--     _queue_log_horizon, _queue_log_missed, _queue_matcher, _queue_text, queue_now
-- changes: queue_reader
create or replace function _queue_reader(in_name text, in_reader text,
    in_options jsonb) returns queue_reader language plpgsql as $$
declare
    v_now constant bigint := queue_now();
    v_from constant text := coalesce(_queue_text(in_options, 'from'), 'oldest');
    v_wanted constant jsonb := nullif(in_options -> 'events', 'null');
    v_events text;
    v_bad text;
    v_matcher constant text := case when in_name ~ '(^|[.])[*#]([.]|$)' then _queue_matcher(in_name) end;
    v_ended text;
    v_reader queue_reader;
begin
    perform _queue_check_name(in_name, 255, 'name');
    if v_matcher is not null then
        perform _queue_check_topic(in_name, 'pattern');
    end if;
    perform _queue_check_roles(case when v_matcher is null then array[in_name] else array(
        select k.p_kind from queue_kind k where k.roles is not null and '.' || k.p_kind ~ v_matcher) end);
    perform _queue_check_name(in_reader, 200, 'reader');
    perform _queue_check_options(in_options, '{from, events}'::text[], 'options');
    if v_from not in ('oldest', 'now') then
        perform _queue_fail('PQ002', 'from', v_from, 'must be oldest or now');
    end if;
    if v_wanted is not null then
        if jsonb_typeof(v_wanted) <> 'array' or v_wanted = '[]' then
            perform _queue_fail('PQ002', 'events', v_wanted #>> '{}', 'must be an array of events');
        end if;
        select min(e.event::text) filter (where jsonb_typeof(e.event) <> 'string'
                or e.event #>> '{}' <> all ('{pushed, replaced, acked, popped, moved, dead, removed}')),
            string_agg(distinct (e.event #>> '{}') collate "C", ',' order by (e.event #>> '{}') collate "C")
        into v_bad, v_events from jsonb_array_elements(v_wanted) e (event);
        if v_bad is not null then
            perform _queue_fail('PQ002', 'events', v_bad,
                'must be pushed, replaced, acked, popped, moved, dead, removed');
        end if;
    end if;
    select r.* into v_reader from queue_reader r where r.reader = in_reader;
    v_ended := substring(v_events from 'acked|popped|moved|dead|removed');
    if v_ended is not null and v_events is distinct from v_reader.events and not exists (
        select from queue_kind k where case when v_matcher is null then k.p_kind = in_name
            else '.' || k.p_kind ~ v_matcher end)
        and not exists (select from queue_log l where v_matcher is null and l.p_kind = in_name)
        and not exists (select from queue_log_gone g where v_matcher is null and g.p_kind = in_name) then
        perform _queue_fail('PQ002', 'events', v_ended,
            'must be pushed or replaced, for no kind of such a name is defined');
    end if;
    if v_reader.reader is null then
        insert into queue_reader (reader, name, matcher, events, position, created_at)
        values (in_reader, in_name, v_matcher, coalesce(v_events, 'pushed,replaced'), 0, v_now)
        on conflict on constraint queue_reader_pkey do nothing
        returning * into v_reader;
        if found then
            update queue_reader r
            set position = case v_from when 'now' then _queue_log_horizon()
                else coalesce(_queue_log_missed(v_reader), 0) end where r.reader = in_reader;
        end if;
        select r.* into v_reader from queue_reader r where r.reader = in_reader;
    end if;
    if v_reader.name <> in_name then
        perform _queue_fail('PQ004', 'reader', in_reader,
            format('reads "%s", see queue_read_end', left(v_reader.name, 40)));
    elsif v_events <> v_reader.events then
        update queue_reader r set events = v_events, looked = 0 where r.reader = in_reader returning r.* into v_reader;
    end if;
    v_reader.position := greatest(v_reader.position, v_reader.looked);
    return v_reader;
end $$;
--;
comment on function _queue_reader(text, text, jsonb) is
$$The reader that queue_read was called for, made where it is new.
in_name, in_reader, in_options, and the errors: those of queue_read.
Result: the reader; its position is where this read begins.
Locks: none, but where it is made or its events change that reader; waits for another transaction that is making it.$$;
--;
-- calls: _queue_check_count, _queue_fail, _queue_log_known, _queue_log_missed, _queue_prune_by_the_way, _queue_read,
--     _queue_reader, queue_now
-- changes: queue_reader
create or replace function queue_read(in_name text, in_reader text, in_max_messages integer default null,
    in_options jsonb default null)
    returns table ("position" bigint, event text, topic text, p_kind text, p_key text, entry bigint, payload jsonb,
        payload_bytes bytea, headers jsonb, to_kind text, created_at bigint) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_max constant integer := coalesce(in_max_messages, 1);
    v_reader queue_reader;
    v_known bigint; v_last bigint;
    v_rows integer;
    v_missed bigint;
begin
    perform _queue_check_count(v_max::bigint, 'max_messages', 10000::bigint);
    v_reader := _queue_reader(in_name, in_reader, in_options);
    select l.position into v_last from queue_log l order by l.position desc limit 1; -- ADR 13
    if v_last > v_reader.position then
        v_known := _queue_log_known(v_reader, v_max, v_last);
        return query
            select r.position, r.event, r.topic, r.p_kind, r.p_key, r.entry, r.payload, r.payload_bytes, r.headers,
                r.to_kind, r.created_at
            from _queue_read(v_reader, v_max, v_known) r;
        get diagnostics v_rows = row_count;
        if v_rows = 0 and v_known > v_reader.position + 1000 then
            update queue_reader r set looked = v_known where r.reader = in_reader and r.events = v_reader.events;
        end if;
    end if;
    -- after the rows: what was pruned before they were read is noted by now
    v_missed := _queue_log_missed(v_reader);
    if v_missed is not null then
        perform _queue_fail('PQ004', 'reader', in_reader,
            format('has missed what was pruned, ack %s to go on', v_missed));
    end if;
    if v_known is not null and random() < 0.01 then -- at the end: an error would undo it
        perform _queue_prune_by_the_way(l.p_kind, queue_now(), 1000::bigint)
        from (select o.p_kind from queue_log o order by o.position limit 1) l;
    end if;
end $$;
--;
comment on function queue_read(text, text, integer, jsonb) is
$$Reads the log of the kinds that have log_seconds (see queue_define) from where a reader left off. Any number of
readers each read all of it. They take nothing from a consumer or from one another. The next read begins at the same
place until queue_read_ack.
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
has pushed to a kind with a log and stays open keeps the readers where it began; others don't. In a transaction of
REPEATABLE READ or SERIALIZABLE, where a position was left out by one that was undone, what follows may come a read
later. What vanishes with its kind (queue_drop, expires_seconds) leaves no event.
Errors: PQ007 for a kind that is for others. PQ001 for name, reader and max_messages, PQ002 for options; PQ004 where the
reader reads another name, and where it has fallen behind log_seconds: the error names the position that it acks to go
on with what is kept.
Locks: none, but for a new reader.
Where the idea comes from: the streams of Keuss, the event log of Chapman; the order from Kafka's last stable offset.$$;
--;
-- calls: _queue_check_name, _queue_fail
-- changes: queue_reader
create or replace function queue_read_ack(in_reader text, in_position bigint, out reader text, out "position" bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off as $$
declare
    v_position bigint;
begin
    perform _queue_check_name(in_reader, 200, 'reader');
    select r.position into v_position from queue_reader r where r.reader = in_reader for update;
    if not found then
        perform _queue_fail('PQ004', 'reader', in_reader, 'has read nothing yet');
    end if;
    if (in_position >= 0) is not true or in_position > v_position and in_position > greatest(v_position,
        (select l.position from queue_log l order by l.position desc limit 1), -- ADR 13
        (select max(g.position) from queue_log_gone g)) then
        perform _queue_fail('PQ001', 'position', in_position::text, 'must be one that queue_read has shown');
    end if;
    reader := in_reader;
    position := greatest(in_position, v_position);
    if in_position > v_position then
        update queue_reader r set position = in_position where r.reader = in_reader;
    end if;
end $$;
--;
comment on function queue_read_ack(text, bigint) is
$$A reader is done with the log up to a position: its next read begins after it.
in_reader: the reader. in_position: the last position that it is done with, as queue_read has shown it; one that is
behind its place leaves that as it is, so that an ack may come twice or late.
Result: reader, position: its place now.
Errors: PQ001 for reader and position, PQ004 for a reader that has never read.
Locks: the reader.$$;
--;
-- calls: _queue_check_name
-- changes: queue_reader
create or replace function queue_read_end(in_reader text, out changed boolean)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
begin
    perform _queue_check_name(in_reader, 200, 'reader');
    delete from queue_reader r where r.reader = in_reader;
    changed := found;
end $$;
--;
comment on function queue_read_end(text) is
$$Forgets a reader and its place. Nobody has to: a reader keeps nothing in the log.
in_reader: the reader.
Result: changed: false where there is none.
Errors: PQ001 for reader.
Locks: the reader.$$;
--;
-- calls: _queue_fail
create or replace function _queue_where(in_options jsonb) returns jsonb language plpgsql as $$
declare
    v_where constant jsonb := in_options -> 'where';
begin
    if v_where is null or v_where in ('null', '{}') then
        return null;
    elsif jsonb_typeof(v_where) <> 'object' then
        perform _queue_fail('PQ002', 'where', v_where::text, 'must be a JSON object');
    elsif jsonb_path_exists(v_where, '$.**{31}') then
        perform _queue_fail('PQ002', 'where', v_where::text, 'must be at most 31 levels deep');
    elsif jsonb_path_exists(v_where,
        'strict $.** ? (@.type() == "array")[*] ? (@.type() == "object" || @.type() == "array")') then
        perform _queue_fail('PQ002', 'where', v_where::text, 'must have no object and no array in an array');
    elsif 16 < (
        select count(*) from jsonb_path_query(v_where, 'strict $.**') v
        where jsonb_typeof(v) not in ('object', 'array') or v in ('{}', '[]')) then
        perform _queue_fail('PQ002', 'where', v_where::text, 'must have at most 16 values');
    end if;
    return v_where;
end $$;
--;
comment on function _queue_where(jsonb) is
$$The option where of queue_reserve, queue_pop and queue_peek: what payload or headers of a message must contain.
in_options: the options.
Result: the filter, NULL where there is none or all match.
Errors: PQ002.
A document contains a filter where it has all of its values at their places: an object each member of it, whatever else
it has; an array each value of it, in any order and number; a value the same one, numbers by what they are (1 is 1.0),
strings to the letter. An empty object or array wants one. An array in a document isn't looked into for a value that the
filter has outside of one.$$;
--;
create or replace function _queue_terms(in_kind text,
    in_document jsonb) returns bigint[] language sql stable parallel safe as $$
    with recursive n (path, value, depth) as (
        select '', in_document, 0
        union all
        select n.path || '.' || to_json(e.key)::text, e.value, n.depth + 1
        from n, jsonb_each(case when jsonb_typeof(n.value) = 'object' then n.value else '{}' end) e),
    l (path, value) as (
        select n.path, n.value from n where n.depth > 0
        union all
        select n.path || '[]', a.value
        from n, jsonb_array_elements(case when jsonb_typeof(n.value) = 'array' and n.depth > 0 then n.value
            else '[]' end) a)
    select coalesce(array_agg(distinct ('x' || left(encode(sha256(convert_to(in_kind || l.path || '='
        || case jsonb_typeof(l.value) when 'number' then trim_scale((l.value #>> '{}')::numeric)::text
            else l.value::text end, 'UTF8')),
        'hex'), 16))::bit(64)::bigint), '{}')
    from l where jsonb_typeof(l.value) not in ('object', 'array')
$$;
--;
comment on function _queue_terms(text, jsonb) is
$$The terms of a document, for queue_term: a number for each value that objects alone lead to, and for each that stands
in an array which they lead to. Values that are equal have the same, 1 and 1.0 too.
in_kind: the kind. in_document: payload, headers or a filter.
Result: the terms, each once.
differs: on MariaDB and MySQL _queue_leaves does it: a function can't be created on every server.$$;
--;
-- calls: _queue_terms
-- changes: queue_term
create or replace function _queue_index(in_entries bigint[]) returns void language plpgsql as $$
begin
    delete from queue_term t where t.entry = any (in_entries); -- what it had in it before it was replaced
    insert into queue_term (entry, term, place)
    select q.entry, t.term, coalesce(q.ready_at, q.due_at, q.created_at)
    from (select distinct n.entry from unnest(in_entries) n (entry)) e, -- OFFSET: ADR 13
        lateral (select m.* from delayed_queue m where m.entry = e.entry offset 0) q
        join queue_kind k on k.p_kind = q.p_kind and k.filter_index,
        lateral (select _queue_terms(q.p_kind, q.payload) || _queue_terms(q.p_kind, q.headers) as terms) d,
        lateral (
            select distinct u.term
            from unnest(case when cardinality(d.terms) <= 256 and q.pending is null
                then d.terms else _queue_terms(q.p_kind, '{"": null}'::jsonb) end) u (term)) t
    order by q.entry, t.term;
end $$;
--;
comment on function _queue_index(bigint[]) is
$$Puts messages into the index of filters, those of kinds that have one (filter_index), or anew where they are in it.
in_entries: the messages, just put in or locked. One that has more than 256 terms, or onto which something was pushed
while it was held, gets a single one, by which every filter finds it.
Locks: none but what it changes.$$;
--;
-- changes: queue_term
create or replace function _queue_forget_terms(in_entries bigint[]) returns bigint language plpgsql as $$
declare
    v_rows bigint;
begin
    delete from queue_term t
    where t.ctid = any (array(select g.ctid from queue_term g where g.entry = any (in_entries) for update skip locked));
    get diagnostics v_rows = row_count;
    return v_rows;
end $$;
--;
comment on function _queue_forget_terms(bigint[]) is
$$Takes messages that have gone out of the index of filters.
in_entries: their entries.
Result: how many rows went.
Locks: these rows; what others have locked is left.$$;
--;
-- calls: _queue_forget_terms, _queue_terms
create or replace function _queue_find_terms(in_kind text, in_max integer, in_now bigint, in_where jsonb,
    in_terms bigint[])
    returns tid[] language plpgsql as $$
declare
    v_terms bigint[] := in_terms[:1];
    v_found bigint[];
    v_gone bigint[];
    v_rows bigint;
    v_place bigint := -1;
    v_entry bigint := 0;
    v_tids tid[] := '{}';
begin
    if cardinality(in_terms) > 1 then -- the rarest
        v_terms := array(
            select t.term
            from unnest(in_terms) t (term), lateral (
                select count(*) as n from (
                    select from queue_term x where x.term = t.term and x.place <= in_now limit 1000) c) c
            order by c.n limit 1);
    end if;
    v_terms := v_terms || _queue_terms(in_kind, '{"": null}'::jsonb); -- see _queue_index
    loop
        with w as materialized (
            select x.entry, x.place
            from unnest(v_terms) t (term), lateral (
                select y.entry, y.place from queue_term y
                where y.term = t.term and (y.place, y.entry) > (v_place, v_entry) and y.place <= in_now
                order by y.term, y.place, y.entry limit 1000) x
            order by x.place, x.entry limit 1000),
        m as (
            select w.entry, q.p_kind, -q.priority::integer as rank, coalesce(q.ready_at, q.due_at) as place,
                (q.scheduled_at <= in_now
                and (q.ready_at is not null or q.due_at <= in_now)
                    and case when q.pending ? 'content' then q.pending -> 'payload' @> in_where
                        or q.pending -> 'headers' @> in_where
                        else q.payload @> in_where or q.headers @> in_where end) as fits
            from w left join delayed_queue q on q.entry between w.entry and w.entry)
        select (select count(*) from w), (select max(w.place) from w),
            (select max(w.entry) from w where w.place = (select max(o.place) from w o)),
            array_agg(m.entry order by m.rank, m.place, m.entry) filter (where m.fits and m.p_kind = in_kind),
            array_agg(m.entry) filter (where m.p_kind is null)
        into v_rows, v_place, v_entry, v_found, v_gone from m;
        perform _queue_forget_terms(v_gone) where v_gone is not null;
        v_tids := v_tids || array( -- the kind isn't asked for again, or it might be read as a whole
            select q.ctid from unnest(v_found) with ordinality c (entry, n)
                join delayed_queue q on q.entry between c.entry and c.entry
            where q.scheduled_at <= in_now and (q.ready_at is not null or q.due_at <= in_now)
                and case when q.pending ? 'content' then q.pending -> 'payload' @> in_where
                    or q.pending -> 'headers' @> in_where else q.payload @> in_where or q.headers @> in_where end
                and q.ctid <> all (v_tids)
            order by c.n limit in_max - cardinality(v_tids) for update of q skip locked);
        exit when v_rows < 1000 or cardinality(v_tids) >= in_max;
    end loop;
    return v_tids;
end $$;
--;
comment on function _queue_find_terms(text, integer, bigint, jsonb, bigint[]) is
$$The next messages of a kind that a filter matches, locked, by the index that queue_term is: those that have the rarest
value of the filter (the rarest of those that fewer than 1000 have, else any), 1000 at a time, by when they came due; of
these in the order of delivery. So priorities are exact among 1000, and the cost is that of as many messages as have
that value and stand before the last one taken, those that are held and those given back for later among them.
in_kind: the kind. in_max: how many. in_now: the time of the call. in_where: the filter. in_terms: its terms, one at the
least.
Result: row identifiers; what has come due may be in the timetable still.
Locks: the messages; what others have locked is passed over.$$;
--;
-- calls: _queue_find_terms, _queue_terms
-- changes: delayed_queue
create or replace function _queue_take_where(in_kind queue_kind, in_max integer, in_now bigint, in_where jsonb,
    out tids tid[], out expired bigint, out ends bigint, out slow boolean) language plpgsql as $$
declare
    v_terms bigint[];
    v_due tid[];
    v_found tid[];
begin
    slow := exists (select from queue_cursor c where c.p_kind = in_kind.p_kind);
    if in_kind.filter_index then
        v_terms := _queue_terms(in_kind.p_kind, in_where);
    end if;
    if v_terms <> '{}' then
        v_found := _queue_find_terms(in_kind.p_kind, in_max, in_now, in_where, v_terms);
        v_due := array(select q.ctid from delayed_queue q where q.ctid = any (v_found) and q.due_at + 0 is not null
            order by q.due_at + 0, q.entry);
    else
        -- what has come due and is asked for, and as much of it, goes into the line first
        v_due := array(
            select d.ctid from delayed_queue d
            where d.p_kind = in_kind.p_kind and d.due_at between 0 and in_now
                and (d.payload @> in_where or d.headers @> in_where)
            order by d.p_kind, d.due_at limit 1000);
        if v_due <> '{}' then
            v_due := array(
                select d.ctid from delayed_queue d
                where d.ctid = any (v_due) and d.p_kind || '' = in_kind.p_kind and d.due_at + 0 <= in_now
                order by d.priority desc, d.due_at, d.entry limit in_max for update skip locked);
        end if;
    end if;
    if v_due <> '{}' then
        with u as ( -- as in _queue_promote
            update delayed_queue q
            set ready_at = greatest(q.due_at, case when slow then in_now - 1000000 + t.place else 0 end), due_at = null
            from unnest(v_due) with ordinality t (tid, place) where q.ctid = t.tid returning q.ctid as tid)
        select array(select f.tid from unnest(v_found) f (tid) where f.tid <> all (v_due)) || array_agg(u.tid)
        into v_found from u;
    end if;
    if v_terms is null or v_terms = '{}' then
        v_found := array(
            select q.ctid from delayed_queue q
            where q.p_kind = in_kind.p_kind and q.ready_at is not null and q.scheduled_at <= in_now
                and case when q.pending ? 'content' then q.pending -> 'payload' @> in_where
                    or q.pending -> 'headers' @> in_where else q.payload @> in_where or q.headers @> in_where end
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked);
    end if;
    select array_agg(t.tid order by -q.priority::integer, q.ready_at, q.entry), count(q.reserved_at),
        count(*) filter (where q.pending is not null or q.semaphores is not null
            or q.attempts >= coalesce(q.max_attempts, in_kind.max_attempts, 2147483647))
    into tids, expired, ends
    from unnest(v_found) t (tid), lateral (select m.* from delayed_queue m where m.ctid = t.tid offset 0) q;
end $$;
--;
comment on function _queue_take_where(queue_kind, integer, bigint, jsonb) is
$$The next messages of a kind that a filter matches, in the order of delivery, locked: what _queue_take does for calls
without one. It neither uses nor changes the cursor of the session.
in_kind: the settings of the kind. in_max: how many. in_now: the time of the call. in_where: the filter, see
_queue_where.
Result: as of _queue_take.
Without a filter_index, or where the filter has nothing but empty objects and arrays, the ready line is read from its
beginning until in_max match, and all that has come due: as many messages as stand before them. With it see
_queue_find_terms.
What was pushed onto a hold that has expired may match: such a message is taken, to be ended and make room for that.
Locks: the messages; what others have locked is passed over.$$;
--;
-- calls: _queue_forget_terms, _queue_setting
create or replace function _queue_prune_terms(in_max bigint) returns bigint language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_name constant text := _queue_setting('terms');
    -- many that come new needn't all look at the same
    v_low bigint := coalesce(nullif(current_setting(v_name, true), '')::bigint, (
        select l.low + ((l.high - l.low) * random())::bigint
        from (
            select (select t.entry from queue_term t order by t.entry limit 1) as low,
                (select t.entry from queue_term t order by t.entry desc limit 1) as high) l));
    v_high bigint;
    v_left bigint := in_max;
    v_rows bigint;
    v_gone bigint[];
    v_pruned bigint := 0;
begin
    for v_round in 1 .. case when v_low is null then 0 else 2 end loop
        select max(w.entry), count(*), array_agg(distinct w.entry) filter (where q.entry is null) into v_high, v_rows,
            v_gone
        from (select t.entry from queue_term t where t.entry >= v_low order by t.entry limit v_left) w
            left join lateral ( -- OFFSET: ADR 13
                select m.entry from delayed_queue m where m.entry = w.entry offset 0) q on true;
        if v_gone is not null then
            v_pruned := v_pruned + _queue_forget_terms(v_gone);
        end if;
        exit when v_rows = v_left;
        v_left := v_left - v_rows;
        v_low := -9223372036854775808; -- the end: from the beginning again
        v_high := v_low;
    end loop;
    if v_high is not null then
        perform set_config(v_name, (v_high + 1)::text, false); -- a message goes with all its rows
    end if;
    return v_pruned;
end $$;
--;
comment on function _queue_prune_terms(bigint) is
$$Takes messages that have gone out of the index of filters. Each session goes through it bit by bit, from a place that
chance gave it.
in_max: how many rows to look at.
Result: how many rows went.
Locks: the rows; what others have locked is left.$$;
--;
-- calls: _queue_forget_terms, _queue_index
create or replace function _queue_define_filter(in_kind text, in_on boolean) returns void language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
begin
    if in_on then
        for v_try in 1 .. 4 loop
            begin
                -- locked, so that nobody replaces one meanwhile
                perform _queue_index(array(
                    select q.entry from delayed_queue q
                    where q.p_kind = in_kind and not exists (select from queue_term t where t.entry = q.entry)
                        order by q.entry for update));
                return;
            exception when deadlock_detected then -- with a reserve, whose order is another, see ADR 8
                if v_try = 4 then raise; end if;
            end;
        end loop;
    else
        perform _queue_forget_terms(array(select q.entry from delayed_queue q where q.p_kind = in_kind));
    end if;
end $$;
--;
comment on function _queue_define_filter(text, boolean) is
$$Puts the messages that a kind has into the index of filters, those that aren't in it, or takes them out.
in_kind: the kind, whose filter_index is set already. in_on: whether it is on.
Locks: the messages that it puts in, in the order of their entries.$$;
--;
-- changes: queue_stage, queue_stage_part
create or replace function _queue_stage_remove(in_part bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off as $$
declare
    v_rows bigint;
begin
    delete from queue_stage s where s.ctid = any (array(
        select o.ctid from queue_stage o where o.part = in_part limit in_max));
    get diagnostics v_rows = row_count;
    if v_rows < in_max then
        delete from queue_stage_part p where p.part = in_part;
    end if;
    return v_rows;
end $$;
--;
comment on function _queue_stage_remove(bigint, bigint) is
$$Removes what was staged under a part, and the part once that is all.
in_part: the part, locked. in_max: how many messages at the most.
Result: how many messages.$$;
--;
-- calls: _queue_stage_remove
-- changes: queue_stage_done, queue_stream_kept, queue_stream_part, queue_stream_plan, queue_write
create or replace function _queue_stage_prune(in_now bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off as $$
declare
    v_pruned bigint := 0;
    v_rows bigint;
    v_part bigint;
    v_query text := '';
begin
    loop
        v_part := null;
        select p.part into v_part from queue_stage_part p
        where p.begun_at <= in_now - 86400000000 order by p.begun_at limit 1 for update skip locked;
        while v_part is null and v_query is not null loop -- query by query: one may have many parts
            select p.part into v_part from queue_stage_part p
            where p.query = v_query and p.batch <= (select d.batch from queue_stage_done d where d.query = v_query)
            order by p.query, p.batch limit 1 for update skip locked;
            if v_part is null then
                v_query := (select min(p.query) from queue_stage_part p where p.query > v_query);
            end if;
        end loop;
        exit when v_part is null or v_pruned >= in_max;
        v_pruned := v_pruned + _queue_stage_remove(v_part, in_max - v_pruned);
    end loop;
    delete from queue_stream_part p where p.ctid = any (array(
        select o.ctid from queue_stream_part o where o.begun_at <= in_now - 604800000000
        order by o.begun_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    v_pruned := v_pruned + v_rows;
    delete from queue_stream_kept k where k.ctid = any (array(
        select o.ctid from queue_stream_kept o where o.kept_at <= in_now - 604800000000
        order by o.kept_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    v_pruned := v_pruned + v_rows;
    delete from queue_stream_plan l where l.ctid = any (array(
        select o.ctid from queue_stream_plan o where o.begun_at <= in_now - 604800000000
        order by o.begun_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    v_pruned := v_pruned + v_rows;
    delete from queue_write w where w.ctid = any (array(
        select o.ctid from queue_write o where o.written_at <= in_now - 604800000000
        order by o.written_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    v_pruned := v_pruned + v_rows;
    delete from queue_stage_done d where d.ctid = any (array(
        select o.ctid from queue_stage_done o where o.done_at <= in_now - 31536000000000
        order by o.done_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    return v_pruned + v_rows;
end $$;
--;
comment on function _queue_stage_prune(bigint, bigint) is
$$Removes what writers and readers of batches have left: stages older than a day and those of batches that are done,
batches not committed, or kept, for a week, what came of those that were published, and queries of which nothing came
for a year.
in_now: the time of the call. in_max: how many rows of each at the most.
Result: how many rows.
Locks: the rows; what others have locked is left.$$;
--;
-- calls: _queue_integer, _queue_text
-- changes: queue_write
create or replace function _queue_stage_note(in_query text, in_batch bigint, in_options jsonb, in_now bigint,
    in_messages bigint, in_pushed bigint, in_differing bigint) returns void language plpgsql as $$
declare
    v_job constant text := _queue_text(in_options, 'job');
begin
    if coalesce(in_query, v_job) is not null then
        insert into queue_write (query, batch, job, written_at, messages, pushed, differing, refused)
        values (in_query, in_batch, v_job, in_now, in_messages, in_pushed, in_differing,
            coalesce(_queue_integer(in_options, 'refused', 0::bigint, 9223372036854775807), 0));
    end if;
end $$;
--;
comment on function _queue_stage_note(text, bigint, jsonb, bigint, bigint, bigint, bigint) is
$$Notes what came of a write, where it has a name.
in_query, in_batch: whose batch it is. in_options: job, and refused, of queue_stage_publish. in_now: the time of the
call. in_messages, in_pushed, in_differing: as in queue_stage_publish.
Errors: PQ002 for refused.
Locks: none.$$;
--;
-- calls: _queue_fail, _queue_setting
-- changes: queue_inbox, queue_stage, queue_stage_part
create or replace function _queue_stage_put(in_parts jsonb, in_secrets bytea[],
    out messages bigint, out pushed bigint, out differing bigint, out rest jsonb)
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_bad text;
    v_parts bigint[];
    v_expected bigint;
    v_rows bigint;
    v_name constant text := _queue_setting('taken_in');
    v_taken bigint[];
    v_left tid[];
begin
    if in_parts is null or jsonb_typeof(in_parts) <> 'array' then
        perform _queue_fail('PQ001', 'parts', in_parts::text, 'must be a JSON array of {part, messages}');
    end if;
    select min(e.part::text) into v_bad from jsonb_array_elements(in_parts) e (part)
    where ((e.part ->> 'part') ~ '^[0-9]{1,18}$|^[0-8][0-9]{18}$'
        and (e.part ->> 'messages') ~ '^[0-9]{1,18}$') is not true;
    if v_bad is not null then
        perform _queue_fail('PQ001', 'parts', v_bad, 'must have a part of queue_stage_begin and a number of messages');
    end if;
    select coalesce(array_agg(distinct (e.part ->> 'part')::bigint), '{}'),
        coalesce(sum((e.part ->> 'messages')::bigint), 0)
    into v_parts, v_expected from jsonb_array_elements(in_parts) e (part);
    perform p.part from queue_stage_part p where p.part = any (v_parts) order by p.part for update;
    get diagnostics v_rows = row_count;
    if v_rows <> jsonb_array_length(in_parts) then
        perform _queue_fail('PQ004', 'parts', in_parts::text, 'must be staged, and published once');
    end if;
    if v_parts <> '{}' then
        perform set_config(v_name, '', true);
    end if;
    insert into queue_inbox (p_kind, p_key, payload, payload_bytes, headers, priority, delay_seconds, scheduled_at,
        attempts, max_attempts)
    select s.p_kind, s.p_key, s.payload, s.payload_bytes, s.headers, s.priority, s.delay_seconds, s.scheduled_at,
        s.attempts, s.max_attempts
    from queue_stage s where s.part = any (v_parts);
    get diagnostics v_rows = row_count;
    if v_rows <> v_expected then
        perform _queue_fail('PQ004', 'messages', v_rows::text, 'must be the ' || v_expected || ' that were staged');
    end if;
    v_taken := coalesce(nullif(current_setting(v_name, true), '')::bigint[], '{0, 0}');
    messages := case when v_parts = '{}' then v_taken[1] else v_rows end;
    pushed := v_taken[2];
    perform set_config(v_name, '', true);
    differing := 0;
    if pushed < messages and v_parts <> '{}' then
        select count(*) filter (where d.differs and d.held is not true),
            array_agg(d.tid) filter (where d.held) into differing, v_left
        from (
            select s.ctid as tid, q.payload_bytes is distinct from s.payload_bytes
                or q.payload is distinct from case when s.payload_bytes is null
                    then coalesce(s.payload, 'null')::jsonb end as differs,
                -- CASE, so that it is hashed, and no join
                case when q.secret is not null then q.secret in (select unnest(in_secrets)) end as held
            from queue_stage s, lateral ( -- OFFSET, so that each is looked up, and not the kind read in its order
                select o.payload, o.payload_bytes, o.secret from delayed_queue o
                where o.p_kind = s.p_kind and o.p_key = s.p_key offset 0) q
            where s.part = any (v_parts)) d;
    end if;
    if v_left is null then
        delete from queue_stage s where s.part = any (v_parts);
        delete from queue_stage_part p where p.part = any (v_parts);
    else
        delete from queue_stage s where s.part = any (v_parts) and s.ctid not in (select unnest(v_left));
        select jsonb_agg(jsonb_build_object('part', p.part, 'messages', (
            select count(*) from queue_stage s where s.part = p.part))) into rest from unnest(v_parts) p (part);
    end if;
end $$;
--;
comment on function _queue_stage_put(jsonb, bytea[]) is
$$Pushes what is staged, and takes it out of the stage. But what has the key of a message that the caller is about to
end stays there: it is pushed once that message has gone, by a second call for the rest.
in_parts: a JSON array of {part, messages}: each what queue_stage_begin answered, and how many messages were staged
under it. in_secrets: those of what the caller holds, and will have ended before a second call; NULL: nothing.
Result: messages, pushed and differing, as in queue_stage_publish; rest: the parts for a second call, NULL: none. What
stays counts among the messages alone.
Errors: PQ001 for parts, PQ004 where one isn't there or has not so many messages; for a message PQ001, PQ002 and PQ003,
naming its row and its key.
Locks: the parts, in their order; else as queue_push_many. What a second call puts in waits for nobody: the keys are
those of messages that this transaction has ended.$$;
--;
-- calls: _queue_check_name, _queue_fail
create or replace function _queue_check_batch(in_name text, in_query text,
    in_batch bigint) returns void language plpgsql as $$
begin
    perform _queue_check_name(in_query, 200, in_name);
    if in_batch >= 0 is not true then
        perform _queue_fail('PQ001', 'batch', in_batch::text, 'must be 0 or more');
    end if;
end $$;
--;
comment on function _queue_check_batch(text, text, bigint) is
$$Refuses what can't be a batch of a query.
in_name: what the query is called in the message. in_query: the query. in_batch: the number of the batch.
Errors: PQ001.$$;
--;
-- calls: _queue_fail
-- changes: queue_stage_done
create or replace function _queue_batch_done(in_query text, in_batch bigint, in_now bigint, in_run text, in_job text)
    returns boolean language plpgsql as $$
begin
    insert into queue_stage_done as d (query, batch, run, job, done_at)
        values (in_query, in_batch, in_run, in_job, in_now)
    on conflict on constraint queue_stage_done_pkey do update
    set batch = excluded.batch, run = excluded.run, job = excluded.job, done_at = excluded.done_at
    where d.batch < excluded.batch;
    if found then
        return true;
    end if;
    if exists (
        select from queue_stage_done d
        where d.query = in_query and d.batch = in_batch and d.run = in_run and d.job <> in_job) then
        perform _queue_fail('PQ004', 'batch', in_batch::text,
            'must be ended by one write: another one of this run has ended it');
    end if;
    return false;
end $$;
--;
comment on function _queue_batch_done(text, bigint, bigint, text, text) is
$$Notes that a batch of a query is done, in the transaction that does it.
in_query: the query. in_batch: its number; they only go up. in_now: the time of the call. in_run, in_job: what runs the
query, and the write that does the batch; NULL where nobody says.
Result: whether it wasn't done before.
Errors: PQ004 where another write of the same run has done it: that is no replay, and what this one has would be lost.
Locks: the row of the query, so that of two who do the same batch the second waits and finds it done.$$;
--;
create or replace function _queue_stream_held(in_source text, in_stream text, in_batch bigint,
    out entries bigint[], out secrets bytea[])
    language plpgsql set enable_seqscan = off as $$
begin
    select coalesce(array_agg(s.entry order by s.entry), '{}'), coalesce(array_agg(s.secret order by s.entry), '{}')
    into entries, secrets
    from (
        select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret
        from (
            select p.receipts from queue_stream_part p where p.source = in_source
            union all
            select p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch) h,
            jsonb_array_elements_text(h.receipts) e (receipt)) s;
end $$;
--;
comment on function _queue_stream_held(text, text, bigint) is
$$What a read, or all reads of a batch, were handed out.
in_source: the read; or in_stream and in_batch: the batch; what isn't asked for is NULL.
Result: entries and secrets, in the order of the entries.$$;
--;
-- changes: queue_stream_part
create or replace function _queue_stream_trim(in_source text, in_stream text, in_batch bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_part record;
    v_receipts jsonb;
    v_lost bigint := 0;
begin
    for v_part in
        select p.source, p.part, p.receipts from queue_stream_part p where p.source = in_source
        union all
        select p.source, p.part, p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch
    loop
        select coalesce(jsonb_agg(e.receipt order by e.place), '[]') into v_receipts
        from jsonb_array_elements_text(v_part.receipts) with ordinality e (receipt, place),
            lateral (select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret) r,
            delayed_queue q
        where q.entry between r.entry and r.entry and q.secret = r.secret and q.reserved_by is not null;
        if v_receipts <> v_part.receipts then
            v_lost := v_lost + jsonb_array_length(v_part.receipts) - jsonb_array_length(v_receipts);
            update queue_stream_part p set receipts = v_receipts
                where p.source = v_part.source and p.part = v_part.part;
        end if;
    end loop;
    return v_lost;
end $$;
--;
comment on function _queue_stream_trim(text, text, bigint) is
$$Forgets the receipts of a read, or of all reads of a batch, that somebody else's delivery or an end has made void.
in_source: the read; or in_stream and in_batch: the batch; what isn't asked for is NULL.
Result: how many.
Locks: the parts in which something was lost.$$;
--;
-- calls: _queue_check_nack, _queue_fail, _queue_is_receipt, _queue_nack, _queue_permits_note
create or replace function _queue_stream_fail(in_failed jsonb, in_stream text, in_batch bigint,
    in_now bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_failed bigint := 0;
    v_entries bigint[] := '{}';
    v_bad text;
    v_one record;
begin
    if in_failed is null or jsonb_typeof(in_failed) <> 'array' or in_failed @? '$[*] ? (@.type() != "object")' then
        perform _queue_fail('PQ002', 'failed', in_failed::text,
            'must be a JSON array of {receipt, and options of queue_nack}');
    end if;
    select e.one ->> 'receipt' into v_bad from jsonb_array_elements(in_failed) e (one)
    where _queue_is_receipt(e.one ->> 'receipt') is not true limit 1;
    if found then
        perform _queue_fail('PQ005', 'failed', v_bad, 'must be what queue_stream_reserve answered');
    end if;
    for v_one in -- dead letters are put in in the order of their keys, as everywhere
        with f as materialized (
            select e.one ->> 'receipt' as receipt, left(e.one ->> 'receipt', -33)::bigint as entry,
                decode(right(e.one ->> 'receipt', 32), 'hex') as secret, e.one - 'receipt' as options
            from jsonb_array_elements(in_failed) e (one)),
        o as materialized ( -- of others, if anybody's
            select f.receipt from f
            except
            select e.receipt from queue_stream_part p, jsonb_array_elements_text(p.receipts) e (receipt)
            where p.stream = in_stream and p.batch = in_batch)
        select f.*, f.receipt in (select o.receipt from o) as is_of_others
        from f join delayed_queue q on q.entry between f.entry and f.entry and q.secret = f.secret
        order by q.p_key, q.p_kind
    loop
        if v_one.is_of_others then
            perform _queue_fail('PQ005', 'failed', v_one.receipt,
                'must be what queue_stream_reserve answered for this batch');
        end if;
        perform _queue_check_nack(v_one.options);
        if _queue_nack(v_one.entry, v_one.secret, v_one.options, in_now) <> 'lost' then
            v_failed := v_failed + 1;
            v_entries := v_entries || v_one.entry;
        end if;
    end loop;
    perform _queue_permits_note(v_entries);
    return v_failed;
end $$;
--;
comment on function _queue_stream_fail(jsonb, text, bigint, bigint) is
$$Gives back what failed of a batch. A receipt that is held by nobody any more is left out.
in_failed: a JSON array of {receipt, and options of queue_nack}. in_stream, in_batch: the batch. in_now: the time of the
call.
Result: how many. At its end the caller has _queue_members_settle and _queue_permits_settle see to the rest.
Errors: PQ002, PQ005.
Locks: as _queue_nack.$$;
--;
-- calls: _queue_check_fit, _queue_check_name, _queue_check_payload, _queue_check_roles, _queue_fail,
--     _queue_push_options
create or replace function _queue_check_inbox_row(in_row queue_inbox, in_now bigint) returns boolean
    language plpgsql as $$
declare
    v_payload jsonb; v_shape jsonb;
    v_draining boolean; v_restricted boolean;
begin
    perform _queue_check_name(in_row.p_kind, 95, 'kind');
    if in_row.p_key is not null then
        perform _queue_check_name(in_row.p_key, 200, 'key');
    end if;
    if in_row.payload_bytes is null then
        v_payload := coalesce(in_row.payload, 'null')::jsonb;
        perform _queue_check_payload(v_payload, 'payload');
    elsif in_row.payload is not null then
        perform _queue_fail('PQ003', 'payload', in_row.payload, 'must not stand beside payload_bytes');
    end if;
    select k.payload_shape, k.draining, k.roles is not null into v_shape, v_draining, v_restricted from queue_kind k
        where k.p_kind = in_row.p_kind;
    if v_restricted then
        perform _queue_check_roles(array[in_row.p_kind]);
    end if;
    if v_draining then
        perform _queue_fail('PQ004', 'kind', in_row.p_kind, 'takes in nothing while it is drained');
    elsif v_shape is not null then
        perform _queue_check_fit(v_shape, v_payload, 'payload');
    end if;
    perform _queue_push_options(jsonb_strip_nulls(jsonb_build_object('delay_seconds', in_row.delay_seconds,
        'scheduled_at', in_row.scheduled_at, 'priority', in_row.priority, 'attempts', in_row.attempts,
        'max_attempts', in_row.max_attempts)) || case when in_row.headers is null then '{}'
        else jsonb_build_object('headers', in_row.headers::jsonb) end, in_now);
    return true;
end $$;
--;
comment on function _queue_check_inbox_row(queue_inbox, bigint) is
$$One row of the inbox, checked.
in_row: the row. in_now: the time of the call.
Result: true.
Errors: PQ001, PQ002, PQ003, PQ004, and the server's own where a text is no JSON.
differs: on MariaDB and MySQL the rest of it is left to _queue_push.$$;
--;
-- calls: _queue_key_behind
-- changes: delayed_queue
create or replace function _queue_put_inbox_rows(in_first bigint, in_last bigint, in_key text, in_now bigint,
    in_keeps boolean, in_sorted boolean, out entries bigint[], out pushed bigint) language plpgsql as $$
begin
    with i as (
        insert into delayed_queue as q (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at)
        select l.entry, l.p_kind, l.p_key, l.payload, l.payload_bytes, l.headers, l.priority, l.scheduled_at,
            l.scheduled_at, in_now, l.attempts, l.max_attempts, case
            when l.scheduled_at <= in_now then l.scheduled_at end, case
                when l.scheduled_at > in_now then l.scheduled_at end
        from (
            select nextval('delayed_queue_entry_seq'::regclass) as entry, o.p_kind,
                coalesce(o.p_key, _queue_key_behind(in_key, o.id - in_first)) as p_key,
                case when o.payload_bytes is null then coalesce(o.payload, 'null')::jsonb end as payload,
                o.payload_bytes, nullif(nullif(o.headers::jsonb, 'null'), '{}') as headers,
                coalesce(o.priority, 0) as priority,
                coalesce(o.scheduled_at, in_now + (o.delay_seconds * 1000000)::bigint, in_now) as scheduled_at,
                coalesce(o.attempts, 0) as attempts, o.max_attempts
            from queue_inbox o
            where o.id between in_first and in_last -- nobody else's can be seen
            order by o.id offset 0) l -- numbered before they are sorted
        where not in_keeps or coalesce(( -- not EXISTS: that may be planned as a hash of the whole memory
            select d.ended_at from queue_dedup d where d.p_kind = l.p_kind and d.p_key = l.p_key) <= in_now - (
            select nullif(k.dedup_seconds, 0) * 1000000 from queue_kind k where k.p_kind = l.p_kind), true)
        order by case when in_sorted then l.p_key end, case when in_sorted then l.p_kind end, l.entry
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry)
    select coalesce(array_agg(i.entry order by i.entry) filter (where in_keeps), '{}'), count(*) into entries, pushed
        from i;
end $$;
--;
comment on function _queue_put_inbox_rows(bigint, bigint, text, bigint, boolean, boolean) is
$$Puts rows of the inbox into their kinds; a key that is taken or remembered is ignored.
in_first, in_last: the rows, checked. in_key: what _queue_key has made for those without. in_now: the time of the call.
in_keeps: whether a kind of theirs remembers keys, logs or indexes. in_sorted: whether in the order of their keys; else
in their own.
Result: entries, with in_keeps those of what was put in, in order, else none; pushed, how many there are.
Locks: waits for other transactions that are putting one of the keys.
differs: on MariaDB and MySQL _queue_push puts in one row after another.$$;
--;
-- calls: _queue_check_inbox_row, _queue_check_json, _queue_index, _queue_is_huge, _queue_key, _queue_key_behind,
--     _queue_log, _queue_put_inbox_rows, _queue_savepoint, _queue_setting, _queue_take_back, _queue_wake, queue_now
-- changes: delayed_queue, queue_inbox
create or replace function _queue_drain_inbox() returns trigger
    language plpgsql
    security definer set search_path from current set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_asks constant boolean := exists (select from queue_kind k
        where k.payload_shape is not null or k.draining or k.roles is not null);
    v_keeps constant boolean := exists (select from queue_kind k
        where k.dedup_seconds > 0 or k.log_seconds > 0 or k.filter_index);
    v_row record; v_ids record;
    v_entries bigint[];
    v_timeout constant text := current_setting('lock_timeout');
    v_key constant text := _queue_key(v_now); -- of rows without
    v_pushed bigint;
    v_sorted boolean; v_new boolean;
begin
    begin -- nothing is written in this block, so that it costs no transaction number
        select min(l.id) as first, max(l.id) as last, count(*) as number, count(case when (not (v_asks and coalesce((
            select k.payload_shape is not null or k.draining or k.roles is not null from queue_kind k
                where k.p_kind = l.p_kind), false))
            and char_length(l.p_kind) between 1 and 95 and coalesce(char_length(l.p_key), 1) between 1 and 200
            and (l.payload is null or l.payload_bytes is null
                and not _queue_is_huge(l.payload::jsonb) -- whose depth is at most the number of brackets, and one
                and (2 * octet_length(l.payload) - octet_length(replace(l.payload, '{',
                    '')) - octet_length(replace(l.payload, '[', '')) < 31
                    or not jsonb_path_exists(l.payload::jsonb, '$.**{31}')))
            and (l.headers is null or jsonb_typeof(l.headers::jsonb) = 'object' and not _queue_is_huge(l.headers::jsonb)
                and not jsonb_path_exists(l.headers::jsonb,
                    'strict $.* ? (@.type() == "object" || @.type() == "array")'))
            and coalesce(l.priority between -32768 and 32767, true)
            and case when l.scheduled_at is null then coalesce(l.delay_seconds between 0 and 1000000000, true)
                else l.delay_seconds is null and l.scheduled_at between 100000000000000 and 253402300799999999 end
            and coalesce(l.attempts between 0 and 1000000000, true)
            and coalesce(l.max_attempts between 1 and 1000000000, true)) is not true
            then _queue_check_inbox_row(row(l.*)::queue_inbox, v_now) end) as checked, coalesce(bool_or(v_keeps and (
            select k.dedup_seconds > 0 or k.log_seconds > 0 or k.filter_index from queue_kind k
            where k.p_kind = l.p_kind)), false) as keeps
        into v_ids from landed l;
    exception when others then
        for v_row in
            select row(l.*)::queue_inbox as message, row_number() over (order by l.id) as n from landed l order by l.id
        loop
            begin
                perform _queue_check_json((v_row.message).payload, 'PQ003', 'payload'),
                    _queue_check_json((v_row.message).headers, 'PQ003', 'headers');
                perform _queue_check_inbox_row(v_row.message, v_now);
            exception when others then
                raise exception using errcode = case when sqlstate like 'PQ%' then sqlstate else 'PQ003' end,
                    message = 'row ' || v_row.n || ' (key '
                        || coalesce('"' || left((v_row.message).p_key, 40) || '"', 'NULL') || '): ' || sqlerrm;
            end;
        end loop;
        raise;
    end;
    v_sorted := v_ids.first = v_ids.last or not _queue_savepoint()
        or coalesce(current_setting('pyqueue.met', true), '') >= (v_now - 1000000)::text;
    v_new := not v_sorted and not v_ids.keeps
        and coalesce(current_setting('pyqueue.taken', true), '') < (v_now - 60000000)::text;
    if v_sorted then
        select p.entries, p.pushed into v_entries, v_pushed
            from _queue_put_inbox_rows(v_ids.first, v_ids.last, v_key, v_now, v_ids.keeps, v_sorted) p;
    else
        for v_try in 1 .. 20 loop
            begin
                perform set_config('lock_timeout', case when v_ids.number < 10000 then '10'
                    else '100' end, true) where not v_sorted;
                if v_new then -- as in _queue_push_new
                    insert into delayed_queue (p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
                        scheduled_at_initially, created_at, attempts, max_attempts, ready_at, due_at)
                    select l.p_kind, coalesce(l.p_key, _queue_key_behind(v_key, l.id - v_ids.first)), case
                        when l.payload_bytes is null then coalesce(l.payload, 'null')::jsonb end, l.payload_bytes,
                        nullif(nullif(l.headers::jsonb, 'null'), '{}'), coalesce(l.priority, 0), t.at, t.at, v_now,
                        coalesce(l.attempts, 0), l.max_attempts, case when t.at <= v_now then t.at end, case
                        when t.at > v_now then t.at end
                    from landed l, lateral (
                        select coalesce(l.scheduled_at, v_now + (l.delay_seconds * 1000000)::bigint, v_now)) t (at);
                    v_pushed := v_ids.number;
                else
                    select p.entries, p.pushed into v_entries, v_pushed
                        from _queue_put_inbox_rows(v_ids.first, v_ids.last, v_key, v_now, v_ids.keeps, v_sorted) p;
                end if;
                perform set_config('lock_timeout', v_timeout, true);
                exit;
            exception when unique_violation or lock_not_available or deadlock_detected then
                if v_try = 20 or v_sorted and sqlstate = '55P03' or not v_new and sqlstate = '23505' then raise; end if;
                v_sorted := sqlstate <> '23505';
                v_new := false;
                perform set_config('pyqueue.' || case when v_sorted then 'met' else 'taken' end, v_now::text, false);
            end;
        end loop;
    end if;
    if v_ids.keeps then
        perform _queue_take_back(v_entries, v_now);
        perform _queue_index(v_entries), _queue_log(v_entries, null::text[], null::text, v_now);
    end if;
    perform _queue_wake(k.p_kind, null) from (select distinct l.p_kind from landed l) k;
    -- for queue_stage_publish in the same transaction: how many have landed, and how many are new
    perform set_config(t.name, array[coalesce(t.n[1], 0) + v_ids.number, coalesce(t.n[2], 0) + v_pushed]::text, true)
    from (select s.name, nullif(current_setting(s.name, true), '')::bigint[] as n
        from _queue_setting('taken_in') s (name)) t;
    delete from queue_inbox b where b.id between v_ids.first and v_ids.last; -- nobody else's can be seen
    return null;
end $$;
--;
comment on function _queue_drain_inbox() is
$$The trigger of queue_inbox: pushes the rows of a statement, in their order, and takes them out of the inbox. A key
that is taken or remembered is ignored.
Errors: those of queue_push, naming the row, from 1, and its key; then nothing of the statement is kept.
Locks: as queue_push_many; the first 32 statements of a transaction that have several rows wait for nobody longer than
10 ms, or with 10000 rows 100, before they sort them.$$;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_integer, _queue_stage_prune, _queue_stage_remove,
--     _queue_text, queue_now
-- changes: queue_stage_part
create or replace function queue_stage_begin(in_job text, in_options jsonb default null, out part bigint)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
declare
    v_now constant bigint := queue_now();
    v_query text;
    v_batch bigint;
    v_run text;
begin
    perform _queue_check_name(in_job, 200, 'job');
    perform _queue_check_options(in_options, '{query, batch, run}'::text[], 'options');
    v_query := _queue_text(in_options, 'query');
    v_batch := _queue_integer(in_options, 'batch', 0::bigint, 9223372036854775807);
    v_run := _queue_text(in_options, 'run');
    perform _queue_stage_prune(v_now, 1000::bigint);
    perform _queue_stage_remove(o.part, 9223372036854775807) -- nobody can publish it any more
    from (
        select p.part from queue_stage_part p
        where p.part = any (array( -- not OR: there are two such indexes; and in the order of that by runs
            (select n.part from queue_stage_part n where n.query = v_query and n.run < v_run order by n.query, n.run)
            union all
            (select n.part from queue_stage_part n where n.query = v_query and n.run > v_run order by n.query, n.run)))
        order by p.part + 0 for update skip locked) o; -- + 0: ADR 13
    -- The time first: who writes unlogged tables alone doesn't wait for the disk, and a crash may set a sequence back.
    -- A writer that lives on would publish what another has staged since under its number.
    part := v_now << 11 & 9223372036854775807 | nextval('queue_stage_part_part_seq'::regclass);
    insert into queue_stage_part (part, job, query, batch, run, begun_at)
    values (part, in_job, v_query, v_batch, v_run, v_now);
end $$;
--;
comment on function queue_stage_begin(text, jsonb) is
$$Begins to stage messages. Staged rows of queue_stage are no messages until queue_stage_publish makes all of them
messages at once. Insert them in the same transaction; a transaction that fails leaves nothing. What was staged and
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
Where the idea comes from: the staging tables of bulk loaders; writers that stage under a job and commit once.$$;
--;
-- calls: _queue_batch_done, _queue_check_batch, _queue_check_options, _queue_integer, _queue_stage_note,
--     _queue_stage_put, _queue_text, queue_now
create or replace function queue_stage_publish(in_parts jsonb, in_options jsonb default null, out outcome text,
    out messages bigint, out pushed bigint, out differing bigint)
    language plpgsql
    security definer set search_path from current as $$
declare
    v_now constant bigint := queue_now();
    v_query text;
    v_batch bigint;
begin
    perform _queue_check_options(in_options, '{query, batch, run, job, refused}'::text[], 'options');
    v_query := _queue_text(in_options, 'query');
    v_batch := _queue_integer(in_options, 'batch', 0::bigint, 9223372036854775807);
    if v_query is not null or v_batch is not null then
        perform _queue_check_batch('query', v_query, v_batch);
        if not _queue_batch_done(v_query, v_batch, v_now, _queue_text(in_options, 'run'),
            _queue_text(in_options, 'job')) then
            select 'replayed', 0, 0, 0 into outcome, messages, pushed, differing;
            return;
        end if;
    end if;
    outcome := 'published';
    select p.messages, p.pushed, p.differing into messages, pushed, differing
        from _queue_stage_put(in_parts, null::bytea[]) p;
    perform _queue_stage_note(v_query, v_batch, in_options, v_now, messages, pushed, differing);
end $$;
--;
comment on function queue_stage_publish(jsonb, jsonb) is
$$Pushes what is staged, all of it or, with an error, nothing, and takes it out of the stage. A key that is taken is
ignored.
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
Errors: PQ001 for parts, query and batch, PQ002 for options. PQ004 where a part isn't there (published before,
aborted, past its day, lost in a crash of the server, staged after the snapshot of a transaction) or has not so many
messages. PQ004, too, where another job of the same run has done the batch. For a message the error of a push, naming
its key.
Locks: the row of the query and the parts, in their order; else as queue_push_many.
Where the idea comes from: the transactional sinks of Spark and Flink.$$;
--;
-- calls: _queue_check_name, _queue_stage_remove
create or replace function queue_stage_abort(in_job text, out removed bigint)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
declare
    v_part bigint;
begin
    perform _queue_check_name(in_job, 200, 'job');
    removed := 0;
    for v_part in select p.part from queue_stage_part p where p.job = in_job order by p.part + 0 for update loop
        removed := removed + _queue_stage_remove(v_part, 9223372036854775807);
    end loop;
end $$;
--;
comment on function queue_stage_abort(text) is
$$Removes what is staged under a job and not published.
in_job: what was given to queue_stage_begin.
Result: removed: how many messages.
Errors: PQ001 for job.
Locks: the parts, in their order.$$;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_limited_until, _queue_permits_ready, _queue_use, queue_now
create or replace function queue_stream_ready(in_kind text, out ready boolean)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_kind queue_kind;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if v_kind.expires_seconds is not null then -- as in _queue_ready
        perform _queue_use(v_kind, v_now);
    end if;
    ready := v_kind.paused is not true and _queue_limited_until(v_kind, v_now) is null
        and (exists (select from delayed_queue q where q.p_kind = in_kind and q.ready_at is not null
            and q.scheduled_at <= v_now)
            or exists (select from delayed_queue d where d.p_kind = in_kind and d.due_at <= v_now)
            -- as in _queue_ready: a reserve finds these, too
            or coalesce(v_kind.semaphores, false) and (_queue_permits_ready(in_kind, v_now)).ready
            or exists (select from queue_group_due) and exists (
                select from queue_group_due d join queue_group g on g.group_name between d.group_name and d.group_name
                where in_kind in (g.then_kind, g.fail_kind)));
end $$;
--;
comment on function queue_stream_ready(text) is
$$Whether a reserve would find something: what a reader of batches asks before it plans one.
in_kind: the kind.
Result: ready: false where nothing is ready, or the kind is paused or at its limits. True also where there is room at a
semaphore that something waits for, or a group is to be looked at.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: none.$$;
--;
-- calls: _queue_check_name, _queue_stream_trim, queue_now
-- changes: queue_stream_part, queue_stream_plan
create or replace function queue_stream_plan(in_source text, out plan bigint, out parts jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off as $$
declare
    v_now constant bigint := queue_now();
begin
    perform _queue_check_name(in_source, 200, 'source');
    insert into queue_stream_plan as l (source, plan, sealed, begun_at) values (in_source, 1, false, v_now)
    on conflict on constraint queue_stream_plan_pkey do update set plan = l.plan + 1, begun_at = v_now
    returning l.plan into queue_stream_plan.plan;
    -- whoever was handing out has ended or waits for this row
    select jsonb_agg(p.part order by p.part) into parts from queue_stream_part p where p.source = in_source;
    if parts is null then
        select jsonb_agg(k.part order by k.part) into parts
            from (select distinct o.part from queue_stream_kept o where o.source = in_source) k;
    end if;
    if parts is not null then
        update queue_stream_plan l set sealed = true where l.source = in_source;
        perform _queue_stream_trim(in_source, null, null::bigint);
        update queue_stream_part p set begun_at = v_now where p.source = in_source; -- so that none of it is pruned
    end if;
end $$;
--;
comment on function queue_stream_plan(text) is
$$Begins a read of queue_stream_reserve, or begins it anew after whoever read it has gone: from then on only the parts
that were handed out are handed out again, whatever the reader is told to take now, and whoever holds an older plan is
refused. What somebody else has by now, or what has ended, is forgotten. The rest isn't pruned for another week.
in_source: what names the read, the same when it is done again, 1 to 200 characters.
Result: plan: a number to hand to queue_stream_reserve; parts: a JSON array of the parts that were handed out, or that
are kept; NULL: none was, and the read is a new one.
Errors: PQ001 for source.
Locks: the row of the read; waits for calls of queue_stream_reserve that are under way.
Where the idea comes from: the fencing tokens of leases.$$;
--;
-- calls: _queue_boolean, _queue_check_batch, _queue_check_roles, _queue_fail, _queue_integer, _queue_text, queue_now,
--     queue_reserve
-- changes: queue_stream_part
create or replace function queue_stream_reserve(in_stream text, in_batch bigint, in_part integer, in_kind text,
    in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_source text;
    v_plan bigint;
    v_newest bigint;
    v_sealed boolean := false;
    v_done boolean;
    v_follows boolean;
    v_adopts boolean;
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    if in_part >= 0 is not true then
        perform _queue_fail('PQ001', 'part', in_part::text, 'must be 0 or more');
    end if;
    v_source := coalesce(_queue_text(in_options, 'source'), in_stream || '/' || in_batch);
    if char_length(v_source) between 1 and 230 is not true then
        perform _queue_fail('PQ002', 'source', v_source, 'must have 1 to 230 characters');
    end if;
    -- what it handed out before, too: a source may have been of another kind then
    perform _queue_check_roles(in_kind ||
        array(select k.p_kind from queue_stream_kept k where k.source = v_source and k.part = in_part) || array(
        select q.p_kind
        from queue_stream_part p, jsonb_array_elements_text(p.receipts) e (receipt),
            lateral (select left(e.receipt, -33)::bigint as entry) r
        join delayed_queue q on q.entry between r.entry and r.entry
        where p.source = v_source and p.part = in_part));
    v_plan := _queue_integer(in_options, 'plan', 1::bigint, 9223372036854775807);
    v_follows := coalesce(_queue_boolean(in_options, 'follows'), false);
    v_adopts := _queue_boolean(in_options, 'adopt');
    v_done := exists (select from queue_stage_done d where d.query = in_stream and d.batch >= in_batch);
    if v_plan is not null and not v_done then
        select l.plan, l.sealed into v_newest, v_sealed from queue_stream_plan l where l.source = v_source for share;
        if v_newest is distinct from v_plan then
            perform _queue_fail('PQ004', 'plan', v_plan::text,
                'must be the newest of its source: another run reads it now');
        end if;
        -- what has parts and none that is held was ended for another stream
        v_done := v_sealed and not exists (select from queue_stream_part p where p.source = v_source);
    end if;
    if v_done then
        return query
            select k.p_kind, k.p_key, k.payload, k.payload_bytes, k.headers, k.priority, k.scheduled_at,
                k.scheduled_at_initially, k.created_at, k.reserved_at, k.attempts, k.reserved_by, k.receipt, k.errors
            from queue_stream_kept k where k.source = v_source and k.part = in_part order by k.place;
        return;
    end if;
    if not v_sealed and (not v_follows or exists (
        select from queue_stream_part b where b.source = v_source and b.part = in_part - 1 and b.handed >= b.wanted))
            then
        insert into queue_stream_part (source, part, stream, batch, wanted, begun_at)
        values (v_source, in_part, in_stream, in_batch, coalesce(in_max_messages, 1), v_now)
        on conflict on constraint queue_stream_part_pkey do nothing;
        if found then
            return query
                with r as materialized (
                    select m.*
                    from queue_reserve(in_kind, left(in_stream, 160) || '/' || in_batch || '/' || in_part,
                        in_max_messages, case jsonb_typeof(in_options)
                        when 'object' then in_options - '{source,plan,follows,adopt}'::text[] else in_options end) m),
                p as (
                    update queue_stream_part p
                    set receipts = (select coalesce(jsonb_agg(r.receipt), '[]') from r),
                        handed = (select count(*) from r)
                    where p.source = v_source and p.part = in_part)
                select r.* from r;
            return;
        end if;
    end if;
    if v_adopts then
        update queue_stream_part p set stream = in_stream, batch = in_batch
        where p.source = v_source and p.part = in_part and (p.stream <> in_stream or p.batch <> in_batch);
    end if;
    -- what somebody else has by now isn't handed out; it stays written down, since an earlier try may have had it
    return query
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by, e.receipt, q.errors
        from queue_stream_part p, jsonb_array_elements_text(p.receipts) with ordinality e (receipt, place),
            lateral (select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret) r
        join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
        where p.source = v_source and p.part = in_part
        order by e.place;
end $$;
--;
comment on function queue_stream_reserve(text, bigint, integer, text, integer, jsonb) is
$$queue_reserve for one part of a batch. Who asks again for the same part gets the same messages, as far as they are
still held for it, and no others, whatever it wants to take now. So a task that fails is run again, and a batch is
replayed. queue_stream_commit ends the batch.
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
- follows: a part that goes on where the one before it was full, and is empty where it wasn't. Allowed: true, false.
  Default: false.
- adopt: what an earlier run was handed out for another stream or batch is of these from now on. Allowed: true, false.
  Default: false.
Result: that of queue_reserve; where the batch is committed already what it has kept, see queue_stream_commit.
Errors: PQ007 for a kind that is for others. PQ001 for stream, batch, part, kind and max_messages, PQ002 for options,
PQ004 for plan.
Locks: as queue_reserve; the plan, shared; a second call for the same part waits for the first.
Where the idea comes from: the offsets of a log, for a queue that has none.$$;
--;
-- calls: _queue_check_batch, _queue_stream_trim
create or replace function queue_stream_renew(in_stream text, in_batch bigint, out lost bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan as $$
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    lost := _queue_stream_trim(null, in_stream, in_batch);
end $$;
--;
comment on function queue_stream_renew(text, bigint) is
$$Forgets what a batch has lost, after queue_stream_commit has refused it for that: who then reads it again gets, and
ends, the rest. Whatever was made of the batch before is to be thrown away.
in_stream, in_batch: as in queue_stream_reserve.
Result: lost: how many messages.
Errors: PQ001 for stream and batch.
Locks: the parts in which something was lost.$$;
--;
-- calls: _queue_check_name, _queue_check_options, _queue_check_seconds, _queue_extend_with_permits, _queue_integer,
--     _queue_stream_held, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_stream_extend(in_source text, in_seconds double precision,
    in_options jsonb default null, out extended bigint, out lost bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_plan bigint;
    v_held record;
    v_kinds text[];
begin
    perform _queue_check_name(in_source, 230, 'source');
    perform _queue_check_seconds(in_seconds);
    perform _queue_check_options(in_options, '{plan}'::text[], 'options');
    v_plan := _queue_integer(in_options, 'plan', 1::bigint, 9223372036854775807);
    v_held := _queue_stream_held(in_source, null, null::bigint);
    -- all at once: those that name semaphores are extended after the others
    perform q.entry from delayed_queue q where q.entry = any (v_held.entries) order by q.entry + 0 for update;
    if v_plan is not null
        and v_plan is distinct from (select l.plan from queue_stream_plan l where l.source = in_source) then
        extended := 0;
        lost := 0;
        return;
    end if;
    with u as (
        update delayed_queue q set scheduled_at = v_now + (in_seconds * 1000000)::bigint
        from unnest(v_held.entries, v_held.secrets) r (entry, secret)
        where q.entry between r.entry and r.entry and q.secret = r.secret and q.semaphores is null
            and q.reserved_by is not null
        returning q.p_kind)
    select count(*), array_agg(distinct u.p_kind) into extended, v_kinds from u;
    perform _queue_wake(k.name, null) from unnest(v_kinds) k (name) where in_seconds = 0;
    if extended < cardinality(v_held.entries) then
        extended := extended + cardinality(_queue_extend_with_permits(v_held.entries, v_held.secrets, in_seconds,
            v_now));
    end if;
    lost := cardinality(v_held.entries) - extended;
end $$;
--;
comment on function queue_stream_extend(text, double precision, jsonb) is
$$Keeps the holds of a read: queue_extend for every message that it was handed out. With 0 seconds they go to whoever
asks first, the read itself if it is done again before anybody else comes.
in_source: as in queue_stream_reserve. in_seconds: 0 to a year (31536000), from now.
in_options: what else is to be known.
- plan: the number that queue_stream_plan answered. Where the read was planned again since, nothing happens: it is for
  others to keep. Allowed: 1 or more. Default: whichever it is.
Result: extended and lost: how many messages; none of both once the batch is committed.
Errors: PQ001 for source and seconds, PQ002 for options.
Locks: the messages, in the order of their entries.$$;
--;
-- calls: _queue_check_batch
create or replace function queue_stream_done(in_stream text, in_batch bigint, out done boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    done := exists (select from queue_stage_done d where d.query = in_stream and d.batch >= in_batch);
end $$;
--;
comment on function queue_stream_done(text, bigint) is
$$Whether a batch is committed already: what a reader asks that is to write its result somewhere else, after it has read
the batch and before it writes. A batch that is replayed after its end has no messages any more, and nothing is to be
written for it.
in_stream, in_batch: as in queue_stream_reserve.
Result: done: true or false.
Errors: PQ001 for stream and batch.
Locks: none.$$;
--;
-- calls: _queue_ack_many, _queue_batch_done, _queue_boolean, _queue_check_batch, _queue_check_options, _queue_fail,
--     _queue_permits_settle, _queue_setting, _queue_stage_note, _queue_stage_put, _queue_stream_fail,
--     _queue_stream_held, _queue_text, queue_now
-- changes: queue_stream_kept, queue_stream_part, queue_stream_plan
create or replace function queue_stream_commit(in_stream text, in_batch bigint, in_options jsonb default null,
    out outcome text, out acked bigint, out failed bigint, out lost bigint, out published bigint,
    out pushed bigint, out differing bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_held record; v_put record;
    v_whole boolean;
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    perform _queue_check_options(in_options, '{parts, failed, whole, keep, run, job, refused}'::text[], 'options');
    v_whole := coalesce(_queue_boolean(in_options, 'whole'), false);
    outcome := case when _queue_batch_done(in_stream, in_batch, v_now,
        _queue_text(in_options, 'run'), _queue_text(in_options, 'job')) then 'committed' else 'replayed' end;
    select 0, 0, 0, 0, 0, 0 into acked, failed, lost, published, pushed, differing;
    if outcome = 'replayed' then
        return;
    end if;
    v_held := _queue_stream_held(null, in_stream, in_batch);
    perform q.entry from delayed_queue q where q.entry = any (v_held.entries) order by q.entry + 0 for update;
    if _queue_boolean(in_options, 'keep') then
        delete from queue_stream_kept k using queue_stream_part p -- a read of the same name was done before
        where p.stream = in_stream and p.batch = in_batch and k.source = p.source;
        insert into queue_stream_kept
        select p.source, p.part, e.place, in_stream, in_batch, v_now, q.p_kind, q.p_key, q.payload, q.payload_bytes,
            q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts,
            q.reserved_by, e.receipt, q.errors
        from queue_stream_part p, jsonb_array_elements_text(p.receipts) with ordinality e (receipt, place),
            lateral (select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret) r
        join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
        where p.stream = in_stream and p.batch = in_batch;
    end if;
    delete from queue_stream_kept k where k.stream = in_stream and k.batch < in_batch;
    if in_options ? 'parts' then
        v_put := _queue_stage_put(in_options -> 'parts', v_held.secrets);
        select v_put.messages, v_put.pushed, v_put.differing into published, pushed, differing;
    end if;
    if in_options ? 'failed' then
        failed := _queue_stream_fail(in_options -> 'failed', in_stream, in_batch, v_now);
    end if;
    -- all at once, so that semaphores are locked last
    select count(*) filter (where a.outcome <> 'lost'), count(*) filter (where a.outcome = 'lost') - failed into acked,
        lost
    from unnest(_queue_ack_many(v_held.entries, v_held.secrets, null::jsonb, v_now)) a (outcome);
    perform _queue_permits_settle(null::bigint[], null::text[], true, v_now)
        where current_setting(_queue_setting('settle'), true) <> ''; -- of what failed, and no ack has seen to
    if v_whole and lost > 0 then
        perform _queue_fail('PQ004', 'batch', in_batch::text, lost || ' of its messages are no longer held for it');
    end if;
    if in_options ? 'parts' then
        if v_put.rest is not null then -- what has the keys of messages that were there until now
            v_put := _queue_stage_put(v_put.rest, null::bytea[]);
            pushed := pushed + v_put.pushed;
            differing := differing + v_put.differing;
        end if;
        perform _queue_stage_note(in_stream, in_batch, in_options, v_now, published, pushed, differing);
    end if;
    with gone as (delete from queue_stream_part p where p.stream = in_stream and p.batch <= in_batch returning p.source)
    delete from queue_stream_plan l where l.source = any (array(select distinct g.source from gone g));
end $$;
--;
comment on function queue_stream_commit(text, bigint, jsonb) is
$$Ends a batch: it acknowledges what the parts of the batch were handed out. In the same transaction it publishes what
came of it and gives back what failed. What is published under the kind and key of a message of the batch is put in once
that message has ended, as a new message; where it doesn't end, but goes back for another try, its key is taken.
in_stream, in_batch: as in queue_stream_reserve.
in_options: what came of the batch.
- parts: what to publish, as in queue_stage_publish. Allowed: an array of {part, messages}. Default: none.
- failed: what of the batch to give back. Allowed: an array of {receipt, and options of queue_nack}. Default: none.
- whole: refuses the batch where any of its messages is no longer held for it; queue_stream_renew forgets those.
  Allowed: true, false. Default: false.
- keep: keeps what the batch had read, so that its replay reads it again, until queue_stream_forget or the end of the
  next batch. Allowed: true, false. Default: false.
- run: what runs the query. Allowed: a text. Default: none.
- job: the write that does the batch, so that a second write isn't taken for a replay. Allowed: a text. Default: none.
- refused: as in queue_stage_publish. Allowed: 0 or more. Default: 0.
Result: outcome: committed, or replayed where it was committed before, and then nothing happens; acked, failed, lost:
how many messages, where acked counts those too that went on along their route; published: how many were staged; pushed,
differing: how many of these, as in queue_stage_publish.
Errors: PQ001 for stream, batch and parts, PQ002 for options. PQ004 for whole, for parts that aren't there, and where
another job of the same run has ended the batch. PQ005 for what is no receipt in failed, and for one that is held, but
not for the batch; PQ003 for a payload there. For a message that is published the error of a push, naming its key.
Locks: the row of the stream, then the messages, in the order of their entries, then as queue_stage_publish.
Where the idea comes from: a consumer's offsets and a producer's messages in one transaction, as Kafka has it.$$;
--;
-- calls: _queue_check_name
-- changes: queue_stream_kept, queue_stream_part, queue_stream_plan
create or replace function queue_stream_forget(in_source text, out forgotten bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off as $$
begin
    perform _queue_check_name(in_source, 230, 'source');
    delete from queue_stream_kept k where k.source = in_source;
    get diagnostics forgotten = row_count;
    delete from queue_stream_part p where p.source = in_source;
    delete from queue_stream_plan l where l.source = in_source;
end $$;
--;
comment on function queue_stream_forget(text) is
$$Forgets a read: what it was handed out, and what queue_stream_commit has kept of it. For whoever reads, and has noted
himself that the batch is done, or has given back what he held: he will not ask for it again. What is held stays held.
in_source: the read, as in queue_stream_plan, 1 to 230 characters.
Result: forgotten: how many messages were kept.
Errors: PQ001 for source.
Locks: the rows.$$;
--;
create or replace function _queue_session_locks() returns integer[] language sql volatile
    return array(
        select l.objid::bigint::bit(32)::integer from pg_locks l
        where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.mode = 'ExclusiveLock' and l.objsubid = 2
            and l.classid::bigint = hashoid('queue_worker'::regclass) & 4294967295);
--;
comment on function _queue_session_locks() is
$$The locks that say that workers of this session are alive: one, once it has registered one.
Result: their numbers, as in queue_worker.
Locks: none.
differs: on MariaDB and MySQL the number of the session makes the name of its lock.$$;
--;
create or replace function _queue_is_alive(in_worker queue_worker, in_now bigint) returns boolean language sql volatile
    return case
        when in_worker.session_lock is null then
            abs(in_now - in_worker.heartbeat_at) < in_worker.timeout_seconds * 1000000
        when in_worker.session_id = pg_backend_pid() then in_worker.session_lock = any (_queue_session_locks())
        else not (pg_try_advisory_lock_shared(hashoid('queue_worker'::regclass), in_worker.session_lock)
            and pg_advisory_unlock_shared(hashoid('queue_worker'::regclass), in_worker.session_lock)) end;
--;
comment on function _queue_is_alive(queue_worker, bigint) is
$$Whether a registered worker is alive, by its session or by its heartbeat. A session can't see its own lock by trying
to take it, and looks for it. A heartbeat that is as far ahead is of a clock that was set back, and says nothing.
in_worker: its row. in_now: the time of the call.
Result: true or false; NULL where there is no row.
Locks: a shared advisory lock, for an instant; it never waits.
differs: on MariaDB and MySQL it is one expression, which tools/expand_mysql.py writes out.$$;
--;
create or replace function _queue_server_run() returns bigint language sql volatile
    return (extract(epoch from greatest(pg_postmaster_start_time(),
        pg_stat_get_bgwriter_stat_reset_time())) * 1000000)::bigint;
--;
comment on function _queue_server_run() is
$$Names the run of the server: another one after a start, after a failover, and after all sessions were lost in a crash,
since when its statistics count.
Result: a number, never 0.$$;
--;
-- calls: _queue_add_error, _queue_bury, _queue_end, _queue_settings, _queue_wake
-- changes: delayed_queue, queue_count, queue_semaphore_permit
create or replace function _queue_release_worker(in_worker text, in_kinds jsonb, in_now bigint,
    in_max integer, out freed integer, out done boolean) language plpgsql as $$
declare
    v_error constant text := 'worker ' || in_worker || ' is gone';
    v_entries bigint[];
    v_found integer;
    v_kinds text[];
    v_each record;
begin
    v_entries := array(
        with recursive k (p_kind) as (
            (select q.p_kind from delayed_queue q where in_kinds is null and q.ready_at is not null
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1)
            union all
            select (
                select q.p_kind from delayed_queue q where q.p_kind > k.p_kind and q.ready_at is not null
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1)
            from k where k.p_kind is not null)
        select l.entry
        from (select k.p_kind from k union select n.name from jsonb_array_elements_text(in_kinds) n (name)) a,
            lateral (
                select q.entry from delayed_queue q
                where q.p_kind = a.p_kind and q.ready_at is not null and q.reserved_by = in_worker
                    and q.scheduled_at > in_now
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max) l
        limit in_max);
    v_found := cardinality(v_entries);
    v_entries := array(
        select q.entry from delayed_queue q
        where q.entry = any (v_entries) and q.reserved_by = in_worker and q.scheduled_at > in_now
        order by q.entry + 0 for update skip locked);
    freed := cardinality(v_entries);
    done := v_found < in_max and freed = v_found;
    v_kinds := array(select q.p_kind from delayed_queue q where q.entry = any (v_entries));
    insert into queue_count (p_kind, reserved, expired)
    select k.p_kind, count(*), count(*) from unnest(v_kinds) k (p_kind) group by k.p_kind;
    update queue_semaphore_permit h set until = in_now where h.entry = any (v_entries); -- for whoever wants them
    perform _queue_wake(k.p_kind, null) from (select distinct n.p_kind from unnest(v_kinds) n (p_kind)) k;
    for v_each in
        select q.entry, d.dies
        from delayed_queue q, lateral _queue_settings(q.p_kind) k, lateral (
            select not k.paused and q.attempts >= coalesce(q.max_attempts, k.max_attempts, 2147483647)) d (dies)
        where q.entry = any (v_entries) and (q.pending is not null or d.dies)
        order by q.p_key, q.p_kind -- dead letters are put in in the order of their keys, as everywhere
    loop
        if v_each.dies then
            perform _queue_bury(v_each.entry, v_error, in_now);
        else
            perform _queue_end(array[v_each.entry], null::bytea[], null::text, null::text, in_now);
        end if;
    end loop;
    update delayed_queue q
    set scheduled_at = in_now, ready_at = in_now, reserved_at = null, reserved_by = null, secret = null,
        errors = _queue_add_error(q.errors, in_now, q.attempts, q.reserved_by, v_error)
    where q.entry = any (v_entries);
end $$;
--;
comment on function _queue_release_worker(text, jsonb, bigint, integer) is
$$Frees what a worker holds: see queue_reap.
in_worker: the worker. in_kinds: where it holds messages, a JSON array; NULL: anywhere. in_now: the time of the call.
in_max: how many.
Result: freed: how many were freed; done: whether it holds nothing more. Who holds a message isn't indexed, so that a
reserve stays cheap: the ready lines are read.
Locks: the messages, in the order of their entries; what others have locked is left for the next time.$$;
--;
-- calls: _queue_is_alive, _queue_release_worker, _queue_server_run
-- changes: queue_worker
create or replace function _queue_reap(in_now bigint) returns table (worker text, freed integer) language plpgsql as $$
declare
    v_run constant bigint := _queue_server_run();
    v_left integer := 1000;
    v_worker record;
    v_done boolean;
begin
    -- who was there before the server was away, or its clock was set back, has its timeout to come back; who lost a
    -- session, reconnect_seconds
    update queue_worker w set server_run = 0, session_lock = null, session_id = null,
        heartbeat_at = in_now - case when w.session_lock is not null and w.server_run in (0, v_run)
            then greatest(w.timeout_seconds - w.reconnect_seconds, 0) * 1000000 else 0 end
    where w.worker = any (array(
        select o.worker from queue_worker o
        where o.server_run not in (0, v_run) or o.session_lock is null and o.heartbeat_at > in_now
            or o.reconnect_seconds > 0 and o.session_lock is not null
            and not _queue_is_alive(o, in_now)
        for update skip locked));
    for v_worker in
        select w.worker, w.kinds from queue_worker w
        where not _queue_is_alive(w, in_now)
        order by w.worker for update skip locked
    loop
        worker := v_worker.worker;
        select r.freed, r.done into freed, v_done
        from _queue_release_worker(worker, v_worker.kinds, in_now, v_left) r;
        v_left := v_left - freed;
        if v_done then
            delete from queue_worker w where w.worker = v_worker.worker;
        end if;
        if v_done or freed > 0 then
            return next;
        end if;
        exit when v_left = 0;
    end loop;
end $$;
--;
comment on function _queue_reap(bigint) is
$$Frees what dead workers held, and forgets them. Nobody is presumed dead because the server was away: whose last
heartbeat is of another run of it, another node's included, is judged by its heartbeat from now on, with all of its
timeout; once, until it beats again. So is one whose heartbeat is of the future, since the clock was set back. Who loses
a session has reconnect_seconds for that.
in_now: the time of the call.
Result and locks: those of queue_reap.$$;
--;
-- calls: _queue_boolean, _queue_check_headers, _queue_check_kinds, _queue_check_name, _queue_check_options,
--     _queue_groups_due, _queue_is_alive, _queue_number, _queue_server_run, _queue_session_locks, queue_now
-- changes: queue_worker
create or replace function queue_heartbeat(in_worker text, in_options jsonb default null, out worker text,
    out alive boolean, out started_at bigint, out heartbeat_at bigint, out expires_at bigint, out reaps boolean)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_run constant bigint := _queue_server_run();
    v_class constant integer := hashoid('queue_worker'::regclass);
    v_new queue_worker; v_old queue_worker;
    v_lock integer; v_alive boolean;
begin
    perform _queue_check_name(in_worker, 200, 'worker');
    perform _queue_check_options(in_options, '{timeout_seconds, kinds, info, session, reconnect_seconds, stop,
        upkeep}'::text[], 'options');
    v_new.timeout_seconds := _queue_number(in_options, 'timeout_seconds', 1::numeric, 86400::numeric);
    v_new.reconnect_seconds := _queue_number(in_options, 'reconnect_seconds', 0::numeric, 86400::numeric);
    if jsonb_typeof(in_options -> 'kinds') <> 'null' then
        v_new.kinds := to_jsonb(_queue_check_kinds(in_options -> 'kinds'));
    end if;
    v_new.info := _queue_check_headers(in_options -> 'info', 'info');
    v_new.upkeep := coalesce(_queue_boolean(in_options, 'upkeep'), true);
    worker := in_worker;
    alive := not coalesce(_queue_boolean(in_options, 'stop'), false);
    heartbeat_at := v_now;
    select w.* into v_old from queue_worker w where w.worker = in_worker for update;
    v_alive := v_old.server_run not in (0, v_run) or _queue_is_alive(v_old, v_now);
    if alive and coalesce(_queue_boolean(in_options, 'session'), false) then
        -- kept until the session ends: no rollback would bring back what a call gave up
        v_new.session_lock := (_queue_session_locks())[1];
        v_new.session_id := pg_backend_pid();
        while v_new.session_lock is null loop
            v_lock := (random() * 4294967295)::bigint - 2147483648;
            v_new.session_lock := case when pg_try_advisory_lock(v_class, v_lock) then v_lock end;
        end loop;
    end if;
    perform _queue_groups_due(v_now);
    if not alive then
        delete from queue_worker w where w.worker = in_worker;
        started_at := case when v_alive then v_old.started_at else v_now end;
        reaps := false;
        return;
    end if;
    insert into queue_worker as w (worker, kinds, info, started_at, heartbeat_at, timeout_seconds, session_lock,
        session_id, reconnect_seconds, upkeep, server_run)
    values (in_worker, v_new.kinds, v_new.info, v_now, v_now, coalesce(v_new.timeout_seconds, 30), v_new.session_lock,
        v_new.session_id, coalesce(v_new.reconnect_seconds, 0), v_new.upkeep, v_run)
    on conflict on constraint queue_worker_pkey do update
    set kinds = case when in_options ? 'kinds' then excluded.kinds else w.kinds end,
        info = case when in_options ? 'info' then excluded.info else w.info end,
        timeout_seconds = case when in_options ? 'timeout_seconds' then excluded.timeout_seconds
        else w.timeout_seconds end, started_at = case when v_alive then w.started_at else excluded.started_at end,
        reconnect_seconds = case when in_options ? 'reconnect_seconds' then excluded.reconnect_seconds
        else w.reconnect_seconds end,
        upkeep = case when in_options ? 'upkeep' then excluded.upkeep else w.upkeep end, heartbeat_at = v_now,
        session_lock = excluded.session_lock, session_id = excluded.session_id, server_run = v_run
    returning w.* into v_new;
    started_at := v_new.started_at;
    expires_at := case when v_new.session_lock is null then v_now + v_new.timeout_seconds * 1000000 end;
    reaps := v_new.upkeep and not exists (
        select from queue_worker w
        where w.upkeep and (w.started_at, w.worker) < (v_new.started_at, in_worker) and _queue_is_alive(w, v_now)
        offset 1);
end $$;
--;
comment on function queue_heartbeat(text, jsonb) is
$$Registers a worker, or says that it is still there. What a registered worker holds is freed as soon as it is known to
be dead, see queue_reap. A worker that never registered is left to the timeouts of its messages.
in_worker: the name that it reserves with, 1 to 200 characters. Each process needs a name of its own, for its whole
life, so that what a dead process held isn't taken for what the next one holds.
in_options: what isn't given stays as it is, but for session, which is to be given in each call; null brings the
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
Where the idea comes from: the workers of Chapman, which have an identity.$$;
--;
-- calls: _queue_groups_due, _queue_members_settle, _queue_permits_sweep, _queue_reap, queue_now
create or replace function queue_reap() returns table (worker text, freed integer)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
begin
    perform _queue_groups_due(v_now);
    return query select r.worker, r.freed from _queue_reap(v_now) r;
    perform _queue_members_settle(v_now);
    perform _queue_permits_sweep(v_now);
end $$;
--;
comment on function queue_reap() is
$$Frees at once what dead workers hold. A registered worker is dead if its session has ended, or if its heartbeat is too
old. One reserve or pop in twenty does the same by the way, once its session has been there for as long as the
worker's timeout.
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
Where the idea comes from: the workers of Chapman, which have an identity.$$;
--;
-- calls: _queue_fail
create or replace function _queue_check_roles(in_kinds text[]) returns void language plpgsql as $$
declare
    v_kind record;
begin
    -- session_user, since any session may set its role to one that it is a member of, and no other
    select k.p_kind, k.roles into v_kind from queue_kind k
    where k.p_kind = any (in_kinds) and k.roles is not null and session_user <> current_user and not exists (
        select from jsonb_array_elements_text(k.roles) n (name) join pg_roles r on r.rolname = n.name::name
        where pg_has_role(session_user, r.oid, 'member'))
    order by k.p_kind limit 1;
    if found then
        perform _queue_fail('PQ007', 'kind', v_kind.p_kind,
            'is for ' || v_kind.roles::text || ', not for ' || session_user);
    end if;
end $$;
--;
comment on function _queue_check_roles(text[]) is
$$Refuses a session that may not use a kind, see the option roles of queue_define. The owner of the queue may use all.
in_kinds: the kinds; NULL or one that nobody has restricted: anybody may.
Errors: PQ007 for the first kind that isn't for the login of the session.$$;
--;
-- calls: _queue_fail
create or replace function _queue_check_shape(in_shape jsonb) returns jsonb language plpgsql as $$
begin
    if in_shape is null or jsonb_typeof(in_shape) = 'null' then
        return null;
    elsif jsonb_typeof(in_shape) <> 'object' or exists (
        select from jsonb_each(in_shape) f (name, type)
        where f.type not in ('"string"', '"number"', '"integer"', '"boolean"', '"object"', '"array"')) then
        perform _queue_fail('PQ002', 'payload_shape', in_shape::text,
            'must be an object of fields and their types: string, number, integer, boolean, object, array');
    end if;
    return in_shape;
end $$;
--;
comment on function _queue_check_shape(jsonb) is
$$Refuses what can't be a payload_shape.
in_shape: the option.
Result: the shape, NULL for none.
Errors: PQ002.$$;
--;
create or replace function _queue_defaults() returns queue_kind language sql immutable as $$
    select jsonb_populate_record(null::queue_kind, '{"timeout_seconds": 300, "max_attempts": 25, "backoff_seconds": 1,
        "backoff_factor": 2, "backoff_max_seconds": 3600, "jitter": 0.2, "paused": false, "dedup_seconds": 0,
        "history_seconds": 0, "draining": false, "semaphores": false, "filter_index": false, "log_seconds": 0}')
$$;
--;
comment on function _queue_defaults() is
$$The settings of a kind that nobody defined; those of the columns of queue_kind are the same. Immutable, so that a plan
has them as constants.
Result: a row of queue_kind, without a kind.$$;
--;
-- calls: _queue_defaults
create or replace function _queue_settings(in_kind text) returns queue_kind language plpgsql as $$
declare
    v_kind queue_kind;
begin
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if not found then
        v_kind := _queue_defaults();
        v_kind.p_kind := in_kind;
    end if;
    return v_kind;
end $$;
--;
comment on function _queue_settings(text) is
$$The settings of a kind; one that nobody defined has the defaults.
in_kind: the kind.
Result: the row of queue_kind, made up where there is none.
differs: on MariaDB and MySQL a call reads the columns that it needs; see _queue_defaults.$$;
--;
-- calls: _queue_check_name, _queue_check_roles, _queue_wake
-- changes: queue_kind
create or replace function _queue_set_state(in_kind text, in_state text) returns boolean language plpgsql as $$
declare
    v_changed boolean;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    if in_state is null then
        update queue_kind k set paused = false, draining = false where k.p_kind = in_kind and (k.paused or k.draining);
    else
        insert into queue_kind as k (p_kind, paused, draining)
            values (in_kind, in_state = 'paused', in_state = 'draining')
        on conflict on constraint queue_kind_pkey do update
        set paused = k.paused or excluded.paused, draining = k.draining or excluded.draining
        where excluded.paused and not k.paused or excluded.draining and not k.draining;
    end if;
    v_changed := found;
    if v_changed and in_state is distinct from 'draining' then
        perform _queue_wake(in_kind, null);
    end if;
    return v_changed;
end $$;
--;
comment on function _queue_set_state(text, text) is
$$Pauses a kind, drains it, or ends both.
in_kind: the kind. in_state: paused, draining; NULL: neither.
Result: whether that changed anything.
Errors: PQ001 for kind.
Locks: the settings of the kind.$$;
--;
-- changes: queue_use
create or replace function _queue_use(in_kind queue_kind, in_now bigint) returns void language plpgsql as $$
begin
    if current_setting('transaction_read_only') = 'on' then
        return; -- one may wait there as well
    end if;
    insert into queue_use (p_kind, used_at)
    select in_kind.p_kind, in_now
    where not exists (
        select from queue_use u
        where u.p_kind = in_kind.p_kind and u.used_at > in_now - (in_kind.expires_seconds * 250000)::bigint);
    if found then
        delete from queue_use u
        where u.ctid = any (array(
            select o.ctid from queue_use o
            where o.p_kind = in_kind.p_kind and o.used_at <= in_now - (in_kind.expires_seconds * 1000000)::bigint
            order by o.used_at limit 100 for update skip locked));
    end if;
end $$;
--;
comment on function _queue_use(queue_kind, bigint) is
$$Notes that a kind with expires_seconds is used, once in a quarter of that time, and removes notes that are past it.
in_kind: its settings. in_now: the time of the call.
Locks: none that anybody waits for.$$;
--;
-- calls: _queue_end
-- changes: queue_bucket, queue_claim, queue_kind, queue_semaphore_permit, queue_semaphore_wait, queue_slot,
--     queue_subscription, queue_use
create or replace function _queue_expire(in_now bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_gone bigint := 0;
    v_ended record;
    v_guarded bigint[];
    v_kind record;
begin
    if not exists (select from queue_kind k where k.expires_seconds is not null) then
        return 0;
    end if;
    begin
        -- before any row, because who defines a kind has the table first
        lock table queue_kind in row exclusive mode nowait;
    exception when lock_not_available then
        return 0;
    end;
    for v_kind in
        select k.p_kind, in_now - (k.expires_seconds * 1000000)::bigint as since
        from queue_kind k
        where k.expires_seconds is not null
            and not exists (
                select from queue_use u
                where u.p_kind = k.p_kind and u.used_at > in_now - (k.expires_seconds * 1000000)::bigint)
            and not exists (select from queue_kind o where o.dead_letter_kind = k.p_kind)
        order by k.p_kind for update of k skip locked
    loop
        exit when v_gone >= in_max;
        delete from queue_use u where u.p_kind = v_kind.p_kind;
        insert into queue_use (p_kind, used_at)
        select v_kind.p_kind, max(m.used_at)
        from (
            select case when q.reserved_at is not null and q.scheduled_at > in_now then in_now
                else greatest(q.created_at, q.reserved_at) end as used_at
            from delayed_queue q where q.p_kind = v_kind.p_kind) m
        having max(m.used_at) > v_kind.since;
        continue when found;
        v_ended := _queue_end(array(
            select o.entry from delayed_queue o
            where o.p_kind = v_kind.p_kind and greatest(o.created_at, o.reserved_at) <= v_kind.since
                and (o.reserved_at is null or o.scheduled_at <= in_now)
            -- + 0: the kind is to find them
            order by o.entry + 0 limit in_max - v_gone for update skip locked),
            null::bytea[], 'dropped', null::text, in_now);
        v_guarded := v_guarded || v_ended.guarded;
        v_gone := v_gone + cardinality(v_ended.places);
        if not exists (select from delayed_queue q where q.p_kind = v_kind.p_kind) then
            delete from queue_subscription s where s.p_kind = v_kind.p_kind;
            delete from queue_slot l where l.p_kind = v_kind.p_kind;
            delete from queue_claim c where c.p_kind = v_kind.p_kind;
            delete from queue_bucket b where b.p_kind = v_kind.p_kind;
            delete from queue_kind k where k.p_kind = v_kind.p_kind;
            v_gone := v_gone + 1;
        end if;
    end loop;
    delete from queue_semaphore_wait w where w.entry = any (v_guarded);
    update queue_semaphore_permit h set until = in_now where h.entry = any (v_guarded); -- for whoever wants them
    return v_gone;
end $$;
--;
comment on function _queue_expire(bigint, bigint) is
$$Removes kinds that are unused for longer than their expires_seconds: their messages, then their subscriptions and
settings. One that is the dead_letter_kind of another stays.
in_now: the time of the call. in_max: how many messages at the most; a kind that has more goes in several calls.
Result: how many rows went.
Locks: the settings of these kinds, and their messages in the order of their entries; what others have locked is
left.$$;
--;
-- calls: _queue_set_state
create or replace function queue_drain(in_kind text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    changed := _queue_set_state(in_kind, 'draining');
end $$;
--;
comment on function queue_drain(text) is
$$Drains a kind: it takes nothing in any more, and what is there is finished. Each push is refused, whatever its way. A
move into the kind is refused, too, and its message stays with who holds it. A redrive leaves dead letters of the kind
where they are, and a schedule waits. Reserve, pop, ack, nack, extend and moves out of it go on. What is held can be
finished or given back. What waits for its time is delivered then. What dies elsewhere still finds its dead-letter
kind. The kind is empty where its total in queue_stats is 0; queue_resume ends the draining.
in_kind: the kind.
Result: changed: false where it was drained already.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind. What was pushed by a transaction that is still open comes in all the same.
Where the idea comes from: the drain of Keuss.$$;
--;
-- calls: _queue_boolean, _queue_check_dead_letter_kind, _queue_check_name, _queue_check_options, _queue_check_roles,
--     _queue_check_shape, _queue_defaults, _queue_define_filter, _queue_define_limits, _queue_expire, _queue_fail,
--     _queue_integer, _queue_number, _queue_settings, _queue_text, queue_now
-- changes: queue_kind, queue_use
create or replace function queue_define(in_kind text, in_options jsonb default null) returns setof queue_kind
    language plpgsql
    security definer set search_path from current as $$
declare
    v_now constant bigint := queue_now();
    v_kind queue_kind;
    v_roles jsonb;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_options(in_options, '{timeout_seconds, max_attempts, backoff_seconds, backoff_factor,
        backoff_max_seconds, jitter, dead_letter_kind, dedup_seconds, history_seconds, payload_shape, expires_seconds,
        max_reserved, rate_per_second, filter_index, log_seconds, roles}'::text[], 'options');
    lock table queue_kind in share row exclusive mode; -- two that define at once could close a circle of dead letters
    v_kind := _queue_settings(in_kind);
    v_roles := v_kind.roles;
    v_kind := jsonb_populate_record(v_kind, ( -- what is null goes back to its default
        select jsonb_object_agg(d.name, d.value)
        from jsonb_each(to_jsonb(_queue_defaults()) || '{"max_attempts": null}') d (name, value)
        where in_options ? d.name and d.name not in ('max_reserved', 'rate_per_second')));
    v_kind.timeout_seconds := coalesce(
        _queue_number(in_options, 'timeout_seconds', 0.001, 31536000::numeric), v_kind.timeout_seconds);
    v_kind.max_attempts := coalesce(
        _queue_integer(in_options, 'max_attempts', 1::bigint, 1000000000::bigint), v_kind.max_attempts);
    v_kind.backoff_seconds := coalesce(
        _queue_number(in_options, 'backoff_seconds', 0::numeric, 31536000::numeric), v_kind.backoff_seconds);
    v_kind.backoff_factor := coalesce(
        _queue_number(in_options, 'backoff_factor', 1::numeric, 100::numeric), v_kind.backoff_factor);
    v_kind.backoff_max_seconds := coalesce(
        _queue_number(in_options, 'backoff_max_seconds', 0::numeric, 31536000::numeric), v_kind.backoff_max_seconds);
    v_kind.jitter := coalesce(_queue_number(in_options, 'jitter', 0::numeric, 1::numeric), v_kind.jitter);
    v_kind.dedup_seconds := coalesce(
        _queue_number(in_options, 'dedup_seconds', 0::numeric, 315360000::numeric), v_kind.dedup_seconds);
    v_kind.history_seconds := coalesce(
        _queue_number(in_options, 'history_seconds', 0::numeric, 315360000::numeric), v_kind.history_seconds);
    v_kind.payload_shape := coalesce(_queue_check_shape(in_options -> 'payload_shape'), v_kind.payload_shape);
    v_kind.expires_seconds := coalesce(
        _queue_number(in_options, 'expires_seconds', 1::numeric, 315360000::numeric), v_kind.expires_seconds);
    v_kind.filter_index := coalesce(_queue_boolean(in_options, 'filter_index'), v_kind.filter_index);
    v_kind.log_seconds := coalesce(
        _queue_number(in_options, 'log_seconds', 0::numeric, 315360000::numeric), v_kind.log_seconds);
    v_kind.roles := coalesce(nullif(in_options -> 'roles', 'null'), v_kind.roles);
    if in_options ? 'roles' and (jsonb_typeof(v_kind.roles) <> 'array'
        or jsonb_array_length(v_kind.roles) not between 1 and 32
        or exists (select from jsonb_array_elements(v_kind.roles) n (name)
            left join pg_roles r on r.rolname = n.name ->> 0 where r.oid is null))
    then
        perform _queue_fail('PQ002', 'roles', v_kind.roles::text, 'must be an array of 1 to 32 roles that there are');
    end if;
    if in_options ? 'dead_letter_kind' then
        v_kind.dead_letter_kind := _queue_text(in_options, 'dead_letter_kind');
        perform _queue_check_dead_letter_kind(in_kind, v_kind.dead_letter_kind);
        perform _queue_check_roles(array[v_kind.dead_letter_kind]);
    end if;
    insert into queue_kind (p_kind, timeout_seconds, max_attempts, backoff_seconds, backoff_factor, backoff_max_seconds,
        jitter, dead_letter_kind, paused, dedup_seconds, history_seconds, payload_shape, draining, expires_seconds,
        filter_index, log_seconds, roles)
    values (v_kind.p_kind, v_kind.timeout_seconds, v_kind.max_attempts, v_kind.backoff_seconds, v_kind.backoff_factor,
        v_kind.backoff_max_seconds, v_kind.jitter, v_kind.dead_letter_kind, v_kind.paused, v_kind.dedup_seconds,
        v_kind.history_seconds, v_kind.payload_shape, v_kind.draining, v_kind.expires_seconds, v_kind.filter_index,
        v_kind.log_seconds, v_kind.roles)
    on conflict on constraint queue_kind_pkey do update
    set timeout_seconds = excluded.timeout_seconds, max_attempts = excluded.max_attempts,
        backoff_seconds = excluded.backoff_seconds, backoff_factor = excluded.backoff_factor,
        backoff_max_seconds = excluded.backoff_max_seconds, jitter = excluded.jitter,
        dead_letter_kind = excluded.dead_letter_kind, dedup_seconds = excluded.dedup_seconds,
        history_seconds = excluded.history_seconds, payload_shape = excluded.payload_shape,
        expires_seconds = excluded.expires_seconds, filter_index = excluded.filter_index,
        log_seconds = excluded.log_seconds, roles = excluded.roles;
    if v_kind.roles is not null then -- its dead letters aren't for everybody, either
        insert into queue_kind as k (p_kind, roles)
            values (coalesce(v_kind.dead_letter_kind, left(in_kind, 95) || '.dead'), v_kind.roles)
        on conflict on constraint queue_kind_pkey do update set roles = excluded.roles
            where k.roles is null or k.roles = v_roles;
    end if;
    v_kind := _queue_define_limits(v_kind, in_options, v_now);
    perform _queue_define_filter(in_kind, v_kind.filter_index) where in_options ? 'filter_index';
    if v_kind.expires_seconds is not null then
        insert into queue_use (p_kind, used_at) values (in_kind, v_now);
        perform _queue_expire(v_now, 1000::bigint);
    end if;
    return next v_kind;
end $$;
--;
comment on function queue_define(text, jsonb) is
$$Sets how a kind behaves. A kind that nobody has defined works with the defaults.
in_kind: the kind, 1 to 100 characters.
in_options: an option that isn't given stays as it is. An option that is null goes back to its default; max_attempts
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
  returns fewer messages or none. What is being reserved while the first limit is set isn't counted. Below a lowered
  limit nothing is reserved until less is held. An expired hold gives up its place to the reserve that wants it, and
  then can't be extended. Allowed: 1 to 10000. Default: null (any number).
- rate_per_second: how many messages queue_reserve and queue_pop deliver in a second, together and with repeated
  deliveries. What isn't used is saved for a second (one message at the least), and may come at once. Allowed: 0.001
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
into the index; nothing else waits. A limit that changes waits for reserves of the kind that are under way.$$;
--;
-- calls: _queue_check_dead_letter_kind, _queue_check_name, _queue_check_roles, _queue_end, _queue_fail,
--     _queue_permits_settle, _queue_settings, queue_now
-- changes: queue_bucket, queue_claim, queue_kind, queue_slot, queue_subscription, queue_use
create or replace function queue_drop(in_kind text) returns setof queue_kind
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_kind queue_kind;
    v_gone record;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    lock table queue_kind in share row exclusive mode; -- as queue_define
    v_kind := _queue_settings(in_kind);
    v_gone := _queue_end(array(
        select p.entry from delayed_queue p
        -- + 0: the kind is to find them
        where p.p_kind = in_kind and (p.reserved_at is null or p.scheduled_at <= v_now)
            order by p.entry + 0 for update),
        null::bytea[], 'dropped', null::text, v_now); -- what was pushed meanwhile stays
    if exists (select from delayed_queue q where q.p_kind = in_kind and q.reserved_at is not null
        and q.scheduled_at > v_now) then
        perform _queue_fail('PQ004', 'kind', in_kind, 'refused while messages are held');
    end if;
    delete from queue_kind k where k.p_kind = in_kind;
    delete from queue_subscription s where s.p_kind = in_kind;
    delete from queue_use u where u.p_kind = in_kind;
    delete from queue_slot s where s.p_kind = in_kind;
    delete from queue_claim c where c.p_kind = in_kind;
    delete from queue_bucket b where b.p_kind = in_kind;
    perform _queue_check_dead_letter_kind(in_kind, null) where v_kind.dead_letter_kind is not null;
    perform _queue_permits_settle(v_gone.guarded, null::text[], true, v_now) where v_gone.guarded is not null;
    return next v_kind;
end $$;
--;
comment on function queue_drop(text) is
$$Removes a kind: its messages, its settings and its subscriptions. Schedules of it stay,
so do semaphores, groups and the places of readers. Its history, the keys that it remembers and its log go with the next
queue_prune.
in_kind: the kind.
Result: the settings it had.
Errors: PQ007 for a kind that is for others. PQ001 for kind, PQ004 while messages are held, and where the default
dead-letter kind would close a circle; then nothing is removed.
Locks: the messages, in the order of their entries; other definitions wait until the transaction ends.$$;
--;
-- calls: _queue_set_state
create or replace function queue_pause(in_kind text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    changed := _queue_set_state(in_kind, 'paused');
end $$;
--;
comment on function queue_pause(text) is
$$Pauses a kind: queue_reserve and queue_pop get nothing; push, ack, nack, extend and move go on, and nothing dies.
in_kind: the kind.
Result: changed: false where it was paused already.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind.$$;
--;
-- calls: _queue_set_state
create or replace function queue_resume(in_kind text, out changed boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    changed := _queue_set_state(in_kind, null);
end $$;
--;
comment on function queue_resume(text) is
$$Ends the pause of a kind, and its draining.
in_kind: the kind.
Result: changed: false where it was neither paused nor drained.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: the settings of the kind.$$;
--;
-- changes: queue_count
create or replace function _queue_fold_counts(in_max bigint) returns bigint language plpgsql as $$
declare
    v_folded bigint;
begin
    -- one at a time, so that no row need be locked before it is deleted, which would be as much WAL again
    if not pg_try_advisory_xact_lock(hashtextextended('queue_count', 'queue_count'::regclass::oid::bigint)) then
        return 0;
    end if;
    with d as (
        delete from queue_count c where c.ctid = any (array(select o.ctid from queue_count o limit in_max))
        returning c.*),
    i as (
        insert into queue_count
        select d.p_kind, sum(d.pushed), sum(d.reserved), sum(d.popped), sum(d.acked), sum(d.nacked), sum(d.moved),
            sum(d.dead), sum(d.expired), sum(d.lost)
        from d group by d.p_kind returning 1)
    select (select count(*) from d) - (select count(*) from i) into v_folded;
    return v_folded;
end $$;
--;
comment on function _queue_fold_counts(bigint) is
$$Folds appended counters into one row a kind.
in_max: how many rows to look at.
Result: how many rows went; 0 while another transaction folds.
Locks: the rows, and an advisory lock of the transaction.$$;
--;
-- calls: _queue_prune_log, _queue_settings
-- changes: queue_dedup, queue_history
create or replace function _queue_prune_kind(in_kind text, in_now bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off as $$
declare
    v_kind constant queue_kind := _queue_settings(in_kind);
    v_history_since constant bigint :=
        case when v_kind.history_seconds = 0 then 9223372036854775807
            else in_now - (v_kind.history_seconds * 1000000)::bigint end;
    v_dedup_since constant bigint :=
        case when v_kind.dedup_seconds = 0 then 9223372036854775807
            else in_now - (v_kind.dedup_seconds * 1000000)::bigint end;
    v_pruned bigint;
    v_rows bigint;
begin
    delete from queue_history h
    where h.ctid = any (array(
        select o.ctid from queue_history o
        where o.p_kind = in_kind and o.finished_at <= v_history_since
        order by o.p_kind, o.finished_at limit in_max for update skip locked));
    get diagnostics v_pruned = row_count;
    delete from queue_dedup d
    where d.ctid = any (array(
        select o.ctid from queue_dedup o
        where o.p_kind || '' = in_kind and o.ended_at <= v_dedup_since -- as queue_dedup_ended has it
        order by o.p_kind || '', o.ended_at limit in_max - v_pruned for update skip locked));
    get diagnostics v_rows = row_count;
    return v_pruned + v_rows + _queue_prune_log(in_kind, in_now, greatest(in_max - v_pruned - v_rows, 0));
end $$;
--;
comment on function _queue_prune_kind(text, bigint, bigint) is
$$Removes the history, the remembered keys and the log of a kind that are past their time, the oldest first. What the
kind doesn't keep at all is past its time, whatever the clock says.
in_kind: the kind. in_now: the time of the call. in_max: how many at the most.
Result: how many.
Locks: the rows; what others have locked is left.$$;
--;
-- calls: _queue_prune_kind, _queue_setting, _queue_ticks
create or replace function _queue_prune_by_the_way(in_kind text, in_now bigint,
    in_max bigint) returns void language plpgsql as $$
declare
    v_start constant bigint := _queue_ticks();
    v_name constant text := _queue_setting('prune');
    v_next constant bigint := nullif(current_setting(v_name, true), '')::bigint;
    v_took bigint;
begin
    if v_start < v_next and v_next < v_start + 3600000000 then
        return;
    end if;
    perform _queue_prune_kind(in_kind, in_now, in_max);
    v_took := _queue_ticks() - v_start;
    if v_took > 1000 + 20 * in_max then
        perform set_config(v_name, (v_start + 50 * v_took)::text, false);
    end if;
end $$;
--;
comment on function _queue_prune_by_the_way(text, bigint, bigint) is
$$A little of what queue_prune does, for one kind, from within queue_reserve and queue_pop. Where that is slow, because
a snapshot keeps the dead rows before the living ones, the session leaves it for 50 times as long as it took: 2% of the
time at most.
in_kind: the kind. in_now: the time of the call. in_max: how many rows at the most.$$;
--;
create or replace function _queue_mend_sequences() returns text[] language plpgsql as $$
declare
    v_mended text[] := '{}';
    v_behind record;
begin
    for v_behind in
        -- beyond what a sequence gave last there is nothing to read where all is well
        select s.*
        from (values
            ('delayed_queue_entry_seq'::regclass, 1000000000000::bigint, (select max(q.entry) from delayed_queue q
                where q.entry > (select coalesce(pg_sequence_last_value('delayed_queue_entry_seq'::regclass), 0)))),
            -- a reader's place may lie behind a log that was pruned
            ('queue_log_position_seq'::regclass, 1000000, greatest((select max(l.position) from queue_log l
                where l.position > (select coalesce(pg_sequence_last_value('queue_log_position_seq'::regclass), 0))),
                (select max(n.position) from queue_log_known n), (select max(g.position) from queue_log_gone g),
                (select max(greatest(r.position, r.looked)) from queue_reader r))),
            ('queue_log_known_id_seq'::regclass, 1000000, (select max(n.id) from queue_log_known n)),
            ('queue_cursor_id_seq'::regclass, 1000000, (select max(c.id) from queue_cursor c)),
            ('queue_inbox_id_seq'::regclass, 1000000, (select max(i.id) from queue_inbox i
                where i.id > (select coalesce(pg_sequence_last_value('queue_inbox_id_seq'::regclass), 0))))
            ) s (sequence, step, most)
        where s.most > coalesce(pg_sequence_last_value(s.sequence), 0)
    loop
        -- of two who find it out the second looks again
        perform pg_advisory_xact_lock(hashoid('queue_kind'::regclass), hashoid(v_behind.sequence));
        if v_behind.most > coalesce(pg_sequence_last_value(v_behind.sequence), 0) then
            perform setval(v_behind.sequence, v_behind.most + v_behind.step);
            v_mended := v_mended || format('sequence %s: it was behind its table',
                (select c.relname from pg_class c where c.oid = v_behind.sequence));
        end if;
    end loop;
    return v_mended;
end $$;
--;
comment on function _queue_mend_sequences() is
$$Finds sequences that are behind the numbers in their tables, and sets them far beyond: a logical replication takes the
rows alone to a copy, and who lets the copy take over may forget the sequences. New messages would come before those
that wait, and others end in an error. Numbers of messages are never used again. The sequences of queue_use,
queue_write and queue_stage_part are left alone: their numbers tell apart rows of the same microsecond alone.
Result: what was wrong, in words; empty: nothing.
Locks: an advisory lock of the transaction for each that is behind.
differs: only here. See _queue_epoch.$$;
--;
-- calls: _queue_fold_counts, _queue_groups_due, _queue_is_alive, _queue_members_settle, _queue_prune_by_the_way,
--     _queue_prune_terms, _queue_reap, _queue_setting
create or replace function _queue_upkeep(in_kind queue_kind, in_now bigint,
    in_max bigint) returns void language plpgsql as $$
declare
    v_name constant text := _queue_setting('reap');
    v_since constant bigint := nullif(current_setting(v_name, true), '')::bigint;
begin
    perform _queue_groups_due(in_now);
    perform _queue_prune_terms(10 * in_max) where in_kind.filter_index;
    -- Whatever ended the session that a client had before may have ended those of workers that live. They have the
    -- timeout of their heartbeat to come back, so a session that is new here doesn't reap.
    if v_since <= in_now then
        if (select bool_and(v_since + w.timeout_seconds * 1000000 <= in_now)
            from queue_worker w where not _queue_is_alive(w, in_now)) then
            perform _queue_reap(in_now);
            perform _queue_members_settle(in_now);
        end if;
    else
        perform set_config(v_name, in_now::text, false);
    end if;
    if random() < 0.01 then
        perform _queue_fold_counts(10000::bigint); -- nobody may ever call queue_prune
        perform _queue_prune_by_the_way(in_kind.p_kind, in_now, 1000::bigint);
    elsif in_kind.history_seconds > 0 or in_kind.dedup_seconds > 0 or in_kind.log_seconds > 0 then
        perform _queue_prune_by_the_way(in_kind.p_kind, in_now, in_max);
    end if;
end $$;
--;
comment on function _queue_upkeep(queue_kind, bigint, bigint) is
$$A little of what queue_prune and queue_reap do, in one of 20 calls of queue_reserve and queue_pop; of the counters in
one of 2,000.
in_kind: the kind. in_now: the time of the call. in_max: how many rows, about twice of what ends between two such
calls.$$;
--;
-- calls: _queue_check_count, _queue_expire, _queue_fold_counts, _queue_intruders, _queue_mend_sequences,
--     _queue_permits_sweep, _queue_prune_groups, _queue_prune_kind, _queue_prune_terms, _queue_stage_prune, queue_now
-- changes: queue_inbox
create or replace function queue_prune(in_max_rows bigint default null, out pruned bigint)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
declare
    v_now constant bigint := queue_now();
    v_most bigint := coalesce(in_max_rows, 10000);
    v_kind text := '';
    v_id bigint;
    v_found record;
    v_mended text;
begin
    perform _queue_check_count(v_most, 'max_rows', 1000000::bigint);
    foreach v_mended in array _queue_mend_sequences() loop
        raise warning using message = v_mended, hint = 'Its numbers go on behind them now; see docs/replication.md.';
    end loop;
    pruned := _queue_fold_counts(v_most);
    v_most := v_most + pruned; -- that isn't counted
    pruned := pruned + _queue_stage_prune(v_now, v_most - pruned);
    pruned := pruned + _queue_expire(v_now, greatest(v_most - pruned, 1));
    pruned := pruned + _queue_prune_groups(v_now, greatest(v_most - pruned, 1));
    pruned := pruned + _queue_prune_terms(greatest(v_most - pruned, 1));
    loop
        v_kind := least( -- ADR 13
            (select h.p_kind from queue_history h where h.p_kind > v_kind order by h.p_kind limit 1),
            (select d.p_kind from queue_dedup d where d.p_kind > v_kind order by d.p_kind limit 1),
            (select l.p_kind from queue_log l where l.p_kind > v_kind order by l.p_kind limit 1));
        exit when v_kind is null or v_most <= pruned;
        pruned := pruned + _queue_prune_kind(v_kind, v_now, v_most - pruned);
    end loop;
    perform _queue_permits_sweep(v_now);
    -- what came into the inbox while its trigger was off: while it was disabled, or for what a subscription brings
    for v_id in select b.id from queue_inbox b order by b.id limit 1000 for update skip locked loop
        begin
            with g as (delete from queue_inbox b where b.id = v_id returning b.*)
            insert into queue_inbox (p_kind, p_key, payload, payload_bytes, headers, priority, delay_seconds,
                scheduled_at, attempts, max_attempts)
            select g.p_kind, g.p_key, g.payload, g.payload_bytes, g.headers, g.priority, g.delay_seconds,
                g.scheduled_at, g.attempts, g.max_attempts
            from g;
        exception when sqlstate 'PQ001' or sqlstate 'PQ002' or sqlstate 'PQ003' or sqlstate 'PQ004'
            or sqlstate 'PQ007' then
            raise warning 'the row % of queue_inbox stays there: %', v_id, sqlerrm;
        end;
    end loop;
    for v_found in
        select i.fault, i.remedy from pg_class c, lateral _queue_intruders(c.relnamespace) i
        where c.oid = 'delayed_queue'::regclass and i.fault is not null
        union all -- they run with the rights of their owner, so anybody could take messages and drop queues
        select format('anybody may execute routines of the queue (%s), such as %s', count(*),
                min(p.oid::regprocedure::text)),
            'pyqueue upgrade takes that back; a restore without rights (pg_restore --no-acl) gives it'
        from pg_class c join pg_proc p on p.pronamespace = c.relnamespace
        where c.oid = 'delayed_queue'::regclass and p.prosecdef and p.proname ~ '^_?queue_' and exists (
            select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                where a.grantee = 0 and a.privilege_type = 'EXECUTE')
        having count(*) > 0
    loop
        raise warning using message = v_found.fault, hint = v_found.remedy;
    end loop;
end $$;
--;
comment on function queue_prune(bigint) is
$$Clears away what is past its time, in chunks. That is history, remembered keys and the log, older than
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
Locks: the rows; what others have locked is left.$$;
--;
-- Binds each routine to the schema that it is in. What a routine calls and reads is written without a schema, since any
-- will do; from here on it is named with it, and the search path of what runs as the owner has pg_catalog alone. So no
-- function, operator, type or table that somebody may one day put into the schema is taken for one of the server's or
-- for one of ours. What is left to an overload of our own names is a call that doesn't fit its parameters exactly:
-- there is none.
--
-- A routine that says enable_seqscan = off is planned by the order of indexes alone, and one that says
-- enable_hashjoin = off joins row by row: plans are kept, and a table may become a thousand times as large (ADR 13).
do $$
declare
    v_schema constant text := pg_catalog.quote_ident(pg_catalog.current_schema());
    v_routine record;
begin
    for v_routine in
        select p.oid::regprocedure as name, p.prosecdef, p.proconfig,
            replace(pg_get_functiondef(p.oid), p.prosrc, b.body) as text
        from pg_proc p, lateral (
            -- the name of a relation in a string, other strings and comments, and what is between them
            select string_agg(case
                when m.found[1] ~ '::regclass$'
                    then format('%L::regclass', v_schema || '.' || split_part(m.found[1], '''', 2))
                when m.found[1] ~ '^(''|--)' then m.found[1]
                else regexp_replace(m.found[1], -- not constraints, nor parameters as those of this routine
                    '(?<![[:alnum:]_.])(?!' || p.proname || '\.)(_?queue_|delayed_queue)(?![[:alnum:]_]*_pkey)',
                    replace(v_schema, '\', '\\') || '.\1', 'g') end, '' order by m.n) as body
            from regexp_matches(p.prosrc, '''[a-z0-9_]+''::regclass|''(?:[^'']|'''')*''|--[^\n]*|(?:[^''-]|-(?!-))+',
                'g')
                with ordinality m (found, n)) b
        where p.pronamespace = v_schema::regnamespace and p.proname ~ '^_?queue_' and p.prosqlbody is null
    loop
        execute v_routine.text;
        if v_routine.prosecdef then
            execute format('alter function %s set search_path to pg_catalog, pg_temp', v_routine.name);
        end if;
        if v_routine.proconfig @> '{enable_seqscan=off}' then
            execute format('alter function %s set enable_bitmapscan = off set enable_sort = off set jit = off',
                v_routine.name);
        end if;
        if v_routine.proconfig @> '{enable_hashjoin=off}' then
            execute format('alter function %s set enable_mergejoin = off', v_routine.name);
        end if;
    end loop;
end $$;
--;
create or replace trigger queue_inbox after insert on queue_inbox
    referencing new table as landed for each statement execute function _queue_drain_inbox();
--;
-- A session that replays for a replica (session_replication_role) pushes like any other.
alter table queue_inbox enable always trigger queue_inbox;
--;
comment on trigger queue_inbox on queue_inbox is
$$Pushes the rows of each statement; see _queue_drain_inbox.$$;
--;
create or replace view queue_messages as
select q.p_kind, q.p_key, _queue_state(q.ready_at, q.due_at, q.reserved_at, q.scheduled_at, n.now) as state,
    q.payload, q.payload_bytes, q.headers, q.priority, queue_timestamp(q.scheduled_at) as scheduled_at,
    queue_timestamp(q.scheduled_at_initially) as scheduled_at_initially, queue_timestamp(q.created_at) as created_at,
    queue_timestamp(q.reserved_at) as reserved_at, q.attempts, q.max_attempts, q.reserved_by,
    queue_timestamp(n.now) - queue_timestamp(q.created_at) as age, q.errors, q.source_kind, q.source_key, q.entry
from delayed_queue q cross join (select queue_now() as now) n;
--;
comment on view queue_messages is
$$Every message, with real timestamps and its state. The secrets of receipts don't show.
- p_kind: the kind.
- p_key: the key.
- state: scheduled, ready, reserved, expired or waiting, see queue_get.
- payload: the payload where it is JSON.
- payload_bytes: the payload where it is binary.
- headers: the headers.
- priority: a higher one is delivered first.
- scheduled_at: the delivery time; while somebody holds the message, the end of the hold.
- scheduled_at_initially: the delivery time as first asked for.
- created_at: when this entry came to be.
- reserved_at: when the present delivery began; NULL where nobody holds the message.
- attempts: how many deliveries it has had.
- max_attempts: how many it may have, where that differs from its kind.
- reserved_by: the worker that holds it.
- age: the time since created_at, an interval on PostgreSQL, in seconds on MariaDB and MySQL.
- errors: the last ten: an array of {at, attempt, by, error}.
- source_kind: of a dead letter, the kind that it came from.
- source_key: of a dead letter, the key that it had there.
- entry: the number of the entry.$$;
--;
create or replace view queue_stats as
select u.p_kind, bool_or(u.paused) as paused, sum(u.ready)::bigint as ready, sum(u.scheduled)::bigint as scheduled,
    sum(u.reserved)::bigint as reserved, sum(u.expired)::bigint as expired, sum(u.waiting)::bigint as waiting,
    sum(u.total)::bigint as total, queue_timestamp(max(u.next_at)) as next_at,
    max(u.oldest_ready) / 1000000.0 as oldest_ready_seconds, sum(u.pushed_total)::bigint as pushed_total,
    sum(u.reserved_total)::bigint as reserved_total, sum(u.popped_total)::bigint as popped_total,
    sum(u.acked_total)::bigint as acked_total, sum(u.nacked_total)::bigint as nacked_total,
    sum(u.moved_total)::bigint as moved_total, sum(u.dead_total)::bigint as dead_total,
    sum(u.expired_total)::bigint as expired_total, sum(u.lost_total)::bigint as lost_total,
    bool_or(u.draining) as draining
from (
    select q.p_kind, false as paused,
        count(*) filter (where q.reserved_at is null and q.scheduled_at <= n.now and not w.waits) as ready,
        count(*) filter (where q.reserved_at is null and q.scheduled_at > n.now and not w.waits) as scheduled,
        count(*) filter (where q.reserved_at is not null and q.scheduled_at > n.now) as reserved,
        count(*) filter (where q.reserved_at is not null and q.scheduled_at <= n.now) as expired,
        count(*) filter (where w.waits) as waiting,
        count(*) as total,
        min(q.scheduled_at) filter (where q.scheduled_at > n.now and q.reserved_at is null and not w.waits) as next_at,
        max(n.now - q.scheduled_at) filter (where q.reserved_at is null and q.scheduled_at <= n.now
            and not w.waits) as oldest_ready,
        count(*) filter (where q.source_kind is null) as pushed_total, count(q.reserved_at) as reserved_total,
        0::bigint as popped_total, 0::bigint as acked_total, 0::bigint as nacked_total, 0::bigint as moved_total,
        0::bigint as dead_total, 0::bigint as expired_total, 0::bigint as lost_total, false as draining
    from delayed_queue q cross join (select queue_now() as now) n
        cross join lateral (select num_nonnulls(q.ready_at, q.due_at, q.reserved_at) = 0 as waits) w
    group by q.p_kind
    union all
    select c.p_kind, false as paused, 0, 0, 0, 0, 0, 0, null as next_at, null as oldest_ready,
        coalesce(sum(c.pushed), 0)::bigint, coalesce(sum(c.reserved), 0)::bigint, coalesce(sum(c.popped), 0)::bigint,
        coalesce(sum(c.acked), 0)::bigint, coalesce(sum(c.nacked), 0)::bigint, coalesce(sum(c.moved), 0)::bigint,
        coalesce(sum(c.dead), 0)::bigint, coalesce(sum(c.expired), 0)::bigint, coalesce(sum(c.lost), 0)::bigint,
        false as draining
    from queue_count c group by c.p_kind
    union all
    select s.p_kind, s.paused, 0, 0, 0, 0, 0, 0, null as next_at, null as oldest_ready, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        s.draining
    from queue_kind s) u
group by u.p_kind;
--;
comment on view queue_stats is
$$A row a kind that has messages, settings or a past. The view counts the messages, so its cost grows with them.
- p_kind: the kind.
- paused: whether reserves get nothing, see queue_pause.
- ready: how many messages may be taken now.
- scheduled: how many have a delivery time in the future.
- reserved: how many are held.
- expired: how many holds have passed their timeout, and nobody has taken the message since.
- waiting: how many wait in line, for an order key or semaphores.
- total: how many there are.
- next_at: when the next scheduled one falls due.
- oldest_ready_seconds: for how long the oldest ready one has been ready.
- pushed_total: how many were pushed so far.
- reserved_total: how many deliveries there were so far.
- popped_total: how many were popped so far.
- acked_total: how many were acked so far.
- nacked_total: how many were nacked so far.
- moved_total: how many were moved on so far.
- dead_total: how many became dead letters so far.
- expired_total: how many holds have expired so far.
- lost_total: how many receipts that were given to queue_next for this kind were lost.
- draining: whether pushes are refused, see queue_drain. The draining is done where total is 0.$$;
--;
create or replace view queue_workers as
select w.worker, w.kinds, w.info, queue_timestamp(w.started_at) as started_at,
    queue_timestamp(w.heartbeat_at) as heartbeat_at, w.timeout_seconds, w.session_lock is not null as by_session,
    _queue_is_alive(w, n.now) as alive, coalesce(r.reserved, 0) as reserved
from queue_worker w cross join (select queue_now() as now) n left join (
    select q.reserved_by, count(*) as reserved from delayed_queue q cross join (select queue_now() as now) m
    where q.reserved_by is not null and q.scheduled_at > m.now group by q.reserved_by) r on r.reserved_by = w.worker;
--;
comment on view queue_workers is
$$A row a registered worker, see queue_heartbeat. The view reads all messages, so its cost grows with them.
- worker: its name.
- kinds: where it holds messages; NULL: anywhere.
- info: what it says of itself.
- started_at: since when it is there.
- heartbeat_at: its last heartbeat.
- timeout_seconds: for how long it may be silent.
- by_session: whether it is alive as long as its session is.
- alive: whether it is alive.
- reserved: how many messages it holds.$$;
--;
create or replace view queue_writes as
select queue_timestamp(w.written_at) as written_at, w.query, w.batch, w.job, w.messages, w.pushed,
    w.messages - w.pushed as ignored, w.differing, w.refused
from queue_write w;
--;
comment on view queue_writes is
$$A row a batch that was published in the last week, where its writer had a name. What was replayed has none.
- written_at: when.
- query: the query or reader whose batch it was; NULL: the writer had none.
- batch: the number of its batch.
- job: the write that did it.
- messages: how many were staged.
- pushed: how many of these became messages.
- ignored: how many didn't, since their keys were taken or remembered.
- differing: how many have another payload than the message that has their key; NULL: nobody looked.
- refused: how many rows the writer had made dead letters of, since they could be no messages; among messages, too.$$;
--;
create or replace view queue_subscriptions as
select s.pattern, s.p_kind, queue_timestamp(s.subscribed_at) as subscribed_at
from queue_subscription s;
--;
comment on view queue_subscriptions is
$$A row a subscription, see queue_subscribe.
- pattern: which topics.
- p_kind: the kind that gets a copy of each message of these topics.
- subscribed_at: since when.$$;
--;
create or replace view queue_schedules as
select r.name, r.p_kind, r.payload, r.push_options, r.rule, r.catch_up, r.paused, queue_timestamp(r.until_at) as until,
    queue_timestamp(r.next_at) as next_at, queue_timestamp(r.last_at) as last_at
from queue_recurring r;
--;
comment on view queue_schedules is
$$A row a schedule, see queue_schedule.
- name: its name.
- p_kind: the kind that it pushes to.
- payload: the payload of each push.
- push_options: the options of each push.
- rule: every_seconds, daily_at or cron, and the time zone.
- catch_up: what becomes of late occurrences: last, all or skip.
- paused: whether it is paused.
- until: its end.
- next_at: when it is due next; NULL: never again.
- last_at: for when it last made a message.$$;
--;
create or replace view queue_groups as
select g.group_name, g.then_kind,
    case when g.failed then 'failed' when g.finished_at is not null then 'done' when g.closed then 'closed'
    else 'open' end as state, m.members, m.done, m.dead, queue_timestamp(g.created_at) as created_at,
        queue_timestamp(g.finished_at) as finished_at
from queue_group g
cross join lateral (
    select count(*) as members, count(o.done_at) as done,
        count(*) filter (where o.outcome = 'dead' or o.error is not null and o.done_at is null) as dead
    from queue_group_member o where o.group_name = g.group_name) m;
--;
comment on view queue_groups is
$$A row a group, see queue_group.
- group_name: its name.
- then_kind: the kind of its continuation.
- state: open; closed: all members are known and some aren't done; done; failed.
- members: how many members it has.
- done: how many are done.
- dead: how many are dead.
- created_at: when it was made.
- finished_at: when it finished.$$;
--;
create or replace view queue_semaphores as
select s.name, s.capacity,
    (select count(*) from queue_semaphore_permit h where h.name = s.name and h.until > n.now) as held,
    (select count(*) from queue_semaphore_wait w where w.name = s.name) as waiting
from queue_semaphore s cross join (select queue_now() as now) n;
--;
comment on view queue_semaphores is
$$A row a semaphore, see queue_semaphore.
- name: its name.
- capacity: how many messages that name it may be held at once.
- held: how many are held.
- waiting: how many stand in its line. A message that lacks several semaphores stands in the line of one of them.$$;
--;
create or replace view queue_readers as
select r.reader, r.name, r.events, r.position, b.behind, m.missed,
    queue_timestamp(r.created_at) as created_at
from queue_reader r
cross join lateral (
    select (select count(*) from queue_log l
            where r.matcher is null and l.p_kind = r.name and not l.topic_only and l.position > r.position
                and l.event = any (e.events))
        + (select count(*) from queue_log l
            where r.matcher is null and l.topic = r.name and l.copy_of is null and l.position > r.position
                and l.p_kind <> r.name
                and l.event = any (e.events))
        + (select count(*) from queue_log l
            where r.matcher is not null and l.position > r.position and '.' || l.name ~ r.matcher
                and l.event = any (e.events)) as behind
    from (select string_to_array(r.events, ',') as events) e) b
cross join lateral (
    select max(g.position) as missed
    from queue_log_gone g
    where g.position > r.position and g.event = any (string_to_array(r.events, ','))
        and case when r.matcher is null then g.p_kind = r.name or g.name = r.name
            else g.name <> '' and '.' || g.name ~ r.matcher end) m;
--;
comment on view queue_readers is
$$A row a reader of the log, see queue_read.
- reader: its name.
- name: the kind, topic or pattern that it reads.
- events: which events it sees.
- position: it is done up to there.
- behind: how many events it is going to see after that. They are looked at one by one to be counted.
- missed: up to which position the log has lost what the reader hasn't read. It acks that to go on. NULL: nothing.
- created_at: when it first read.$$;
--;
-- Who may do what. Routines run with the rights of their owner; nothing is for PUBLIC.
--   queue_producer   puts messages in
--   queue_consumer   takes and finishes them
--   queue_operator   looks, and runs the queue: removes, pauses, redrives, defines
--   queue_observer   looks at kinds, keys, states, counters and workers; at no payload, header, result or error's text
--   queue_admin      all of these
-- Roles belong to the cluster: where they exist already they are used, and where the installer may not create them, the
-- owner of the routines is the only one who may call them until somebody creates the roles and upgrades again.
do $$
begin
    if not exists (select from pg_roles r where r.rolname = 'queue_producer') then
        create role queue_producer nologin;
    end if;
    if not exists (select from pg_roles r where r.rolname = 'queue_consumer') then
        create role queue_consumer nologin;
    end if;
    if not exists (select from pg_roles r where r.rolname = 'queue_operator') then
        create role queue_operator nologin;
    end if;
    if not exists (select from pg_roles r where r.rolname = 'queue_observer') then
        create role queue_observer nologin;
    end if;
    if not exists (select from pg_roles r where r.rolname = 'queue_admin') then
        create role queue_admin nologin;
    end if;
    grant queue_producer, queue_consumer, queue_operator, queue_observer to queue_admin;
exception when insufficient_privilege then
    raise notice 'the roles queue_producer, queue_consumer, queue_operator, queue_observer and queue_admin '
        'were not created: %', sqlerrm;
end $$;
--;
revoke all on table delayed_queue, queue_kind, queue_count, queue_cursor, queue_hold, queue_history, queue_dedup,
    queue_inbox, queue_stage, queue_stage_part, queue_stage_done, queue_write, queue_stream_part, queue_stream_plan,
    queue_stream_kept, queue_worker, queue_use, queue_subscription, queue_recurring, queue_group, queue_group_stripe,
    queue_group_due, queue_group_member, queue_semaphore, queue_semaphore_permit, queue_semaphore_wait,
    queue_semaphores, queue_slot, queue_claim, queue_bucket, queue_term, queue_log, queue_log_gone, queue_log_known,
    queue_reader, queue_readers, queue_messages, queue_stats, queue_workers, queue_writes, queue_subscriptions,
    queue_schedules, queue_groups from public;
--;
revoke all on sequence queue_event_0, queue_event_1, queue_event_2, queue_event_3, queue_event_4, queue_event_5,
    queue_event_6, queue_event_7, queue_event_8, queue_event_9, queue_event_10, queue_event_11,
    queue_event_12, queue_event_13, queue_event_14, queue_event_15, queue_secret from public;
--;
revoke all on function
    _queue_ack_many(bigint[], bytea[], jsonb, bigint),
    _queue_add_error(jsonb, bigint, integer, text, text),
    _queue_advance(text[], text[], bigint, bigint[]),
    _queue_batch_done(text, bigint, bigint, text, text),
    _queue_boolean(jsonb, text),
    _queue_blocked(tid[]),
    _queue_bury(bigint, text, bigint),
    _queue_check_ack(jsonb),
    _queue_check_batch(text, text, bigint),
    _queue_check_count(bigint, text, bigint),
    _queue_check_dead_letter_kind(text, text),
    _queue_check_fit(jsonb, jsonb, text),
    _queue_check_headers(jsonb, text),
    _queue_check_json(text, text, text),
    _queue_check_kinds(jsonb),
    _queue_check_move(text, jsonb, bigint, text),
    _queue_check_nack(jsonb),
    _queue_check_name(text, integer, text),
    _queue_check_options(jsonb, text[], text),
    _queue_check_payload(jsonb, text),
    _queue_check_roles(text[]),
    _queue_check_seconds(double precision),
    _queue_check_shape(jsonb),
    _queue_check_topic(text, text),
    _queue_check_writable(),
    _queue_cron_field(text, integer, integer, text),
    _queue_defaults(),
    _queue_define_filter(text, boolean),
    _queue_define_limits(queue_kind, jsonb, bigint),
    _queue_end(bigint[], bytea[], text, text, bigint),
    _queue_end_undeliverable(tid[], bigint),
    _queue_enrol(text[], bigint[]),
    _queue_expire(bigint, bigint),
    _queue_extend_with_permits(bigint[], bytea[], double precision, bigint),
    _queue_fail(text, text, text, text),
    _queue_find_expired(text, bigint, bigint, integer),
    _queue_find_terms(text, integer, bigint, jsonb, bigint[]),
    _queue_fold_counts(bigint),
    _queue_forget_cursors(text, bigint),
    _queue_forget_terms(bigint[]),
    _queue_release_worker(text, jsonb, bigint, integer),
    _queue_wake_limited(text),
    _queue_group_check(text, bigint),
    _queue_group_note(text),
    _queue_groups_due(bigint),
    _queue_index(bigint[]),
    _queue_instant(jsonb, text),
    _queue_integer(jsonb, text, bigint, bigint),
    _queue_intruders(oid),
    _queue_is_alive(queue_worker, bigint),
    _queue_is_heard(text),
    _queue_is_huge(jsonb),
    _queue_is_plain(jsonb),
    _queue_is_receipt(text),
    _queue_key(bigint),
    _queue_key_behind(text, bigint),
    _queue_check_inbox_row(queue_inbox, bigint),
    _queue_lease_tokens(text, numeric, integer, integer, bigint, bigint),
    _queue_limited_until(queue_kind, bigint),
    _queue_line(text, text[], text[], boolean, boolean),
    _queue_line_up(bigint[]),
    _queue_log(bigint[], text[], text, bigint),
    _queue_log_horizon(),
    _queue_log_known(queue_reader, integer, bigint),
    _queue_log_missed(queue_reader),
    _queue_log_open(),
    _queue_prune_log(text, bigint, bigint),
    _queue_read(queue_reader, integer, bigint),
    _queue_reader(text, text, jsonb),
    _queue_lock_lines(bigint[], bigint[]),
    _queue_lock_moves(bigint[], bytea[], text[], text[]),
    _queue_look_back(text, bigint, integer, queue_cursor),
    _queue_matcher(text),
    _queue_mend_sequences(),
    _queue_members_end(bigint[], text, jsonb, bigint),
    _queue_members_settle(bigint),
    _queue_message(jsonb, bigint, jsonb, bigint),
    _queue_misfit(jsonb, jsonb),
    _queue_move(bigint[], bytea[], text[], jsonb[], bigint),
    _queue_move_many(bigint[], bytea[], text[], jsonb[], bigint),
    _queue_nack(bigint, bytea, jsonb, bigint),
    _queue_newest(delayed_queue),
    _queue_next_local(queue_recurring, bigint),
    _queue_next_tick(queue_recurring, bigint),
    _queue_number(jsonb, text, numeric, numeric),
    _queue_admit(queue_kind, integer, bigint),
    _queue_admitted(queue_kind, bigint[], integer[], bigint[], text[], bigint),
    _queue_promote(text, bigint, bigint, bigint, integer),
    _queue_prune_by_the_way(text, bigint, bigint),
    _queue_prune_groups(bigint, bigint),
    _queue_prune_kind(text, bigint, bigint),
    _queue_prune_terms(bigint),
    _queue_push(text, text, jsonb, bytea, jsonb),
    _queue_push_batch(queue_kind, jsonb, jsonb, bigint, boolean, boolean),
    _queue_push_new(queue_kind, jsonb, jsonb, bigint),
    _queue_push_options(jsonb, bigint),
    _queue_put(delayed_queue, text, bigint, bigint),
    _queue_put_inbox_rows(bigint, bigint, text, bigint, boolean, boolean),
    _queue_put_onto(delayed_queue, text, bigint),
    _queue_shared_cursor(text, bigint),
    _queue_ready(text, bigint),
    _queue_reap(bigint),
    _queue_receipt(text),
    _queue_receipts(jsonb),
    _queue_keep_cursor(text, text, queue_cursor, text, bigint, bigint, integer, tid[], bigint),
    _queue_deliver(queue_kind, integer, bigint, bigint, text, bytea, jsonb),
    _queue_rule(jsonb),
    _queue_savepoint(),
    _queue_scan(text, bigint, integer, integer, queue_cursor, text, bigint),
    _queue_semaphores(jsonb),
    _queue_set_state(text, text),
    _queue_server_run(),
    _queue_session_locks(),
    _queue_setting(text),
    _queue_settings(text),
    _queue_permits_lock(text[], boolean),
    _queue_permits_look(text, bigint, bigint),
    _queue_permits_next(text, text, bigint, bigint),
    _queue_permits_note(bigint[]),
    _queue_permits_ready(text, bigint),
    _queue_permits_room(text, boolean, bigint),
    _queue_permits_settle(bigint[], text[], boolean, bigint),
    _queue_permits_sweep(bigint),
    _queue_permits_take(tid[], queue_kind, bigint, boolean, bigint),
    _queue_permits_wake(text, bigint, bigint),
    _queue_slots(text, integer, integer, integer, bigint),
    _queue_stage_note(text, bigint, jsonb, bigint, bigint, bigint, bigint),
    _queue_stage_prune(bigint, bigint),
    _queue_stage_put(jsonb, bytea[]),
    _queue_stage_remove(bigint, bigint),
    _queue_join_line(bigint[], text[]),
    _queue_state(bigint, bigint, bigint, bigint, bigint),
    _queue_stream_fail(jsonb, text, bigint, bigint),
    _queue_stream_held(text, text, bigint),
    _queue_stream_trim(text, text, bigint),
    _queue_subscribed(text),
    _queue_take(text, integer, bigint, integer),
    _queue_take_with_permits(queue_kind, integer, bigint, bigint, jsonb, tid[], boolean),
    _queue_take_back(bigint[], bigint),
    _queue_drain_inbox(),
    _queue_take_where(queue_kind, integer, bigint, jsonb),
    _queue_text(jsonb, text),
    _queue_terms(text, jsonb),
    _queue_ticks(),
    _queue_effort(),
    _queue_no_look_is_due(text, queue_cursor, bigint),
    _queue_upkeep(queue_kind, bigint, bigint),
    _queue_use(queue_kind, bigint),
    _queue_wake(text, text),
    _queue_where(jsonb),
    _queue_zone_change(text, bigint, bigint),
    _queue_zone_offset(text, bigint),
    queue_ack(text, jsonb),
    queue_ack_many(jsonb, jsonb),
    queue_define(text, jsonb),
    queue_drain(text),
    queue_drop(text),
    queue_extend(text, double precision),
    queue_extend_many(jsonb, double precision),
    queue_get(text, text),
    queue_group(text, text, jsonb, jsonb),
    queue_heartbeat(text, jsonb),
    queue_listen(jsonb),
    queue_move(text, text, jsonb),
    queue_move_many(jsonb, jsonb),
    queue_nack(text, jsonb),
    queue_nack_many(jsonb, jsonb),
    queue_next(jsonb, text, text, integer, jsonb),
    queue_now(),
    queue_pause(text),
    queue_peek(text, integer, jsonb),
    queue_pop(text, integer, jsonb),
    queue_prune(bigint),
    queue_publish(text, text, jsonb, jsonb),
    queue_purge(text, bigint),
    queue_push(text, text, jsonb, jsonb),
    queue_push_bytes(text, text, bytea, jsonb),
    queue_push_many(text, jsonb, jsonb),
    queue_reap(),
    queue_redrive(text, bigint),
    queue_remove(text, text),
    queue_read(text, text, integer, jsonb),
    queue_read_ack(text, bigint),
    queue_read_end(text),
    queue_replay(text, jsonb),
    queue_reserve(text, text, integer, jsonb),
    queue_resume(text),
    queue_schedule(text, text, jsonb, jsonb),
    queue_semaphore(text, bigint),
    queue_stage_abort(text),
    queue_stage_begin(text, jsonb),
    queue_stage_publish(jsonb, jsonb),
    queue_stream_commit(text, bigint, jsonb),
    queue_stream_done(text, bigint),
    queue_stream_extend(text, double precision, jsonb),
    queue_stream_forget(text),
    queue_stream_plan(text),
    queue_stream_ready(text),
    queue_stream_renew(text, bigint),
    queue_stream_reserve(text, bigint, integer, text, integer, jsonb),
    queue_subscribe(text, text),
    queue_tick(),
    queue_time(timestamptz),
    queue_timestamp(bigint),
    queue_unschedule(text),
    queue_unsubscribe(text, text),
    queue_wait(jsonb, double precision)
    from public;
--;
do $$
begin
    if (select count(*) from pg_roles r
        where r.rolname in ('queue_producer', 'queue_consumer', 'queue_operator', 'queue_observer', 'queue_admin')) = 5
        then
        execute format('grant usage on schema %I to queue_producer, queue_consumer, queue_operator, queue_observer',
            current_schema());
        grant execute on function
            queue_push(text, text, jsonb, jsonb),
            queue_push_bytes(text, text, bytea, jsonb),
            queue_push_many(text, jsonb, jsonb)
            to queue_producer;
        grant execute on function queue_publish(text, text, jsonb, jsonb) to queue_producer;
        grant execute on function
            queue_reserve(text, text, integer, jsonb),
            queue_pop(text, integer, jsonb),
            queue_next(jsonb, text, text, integer, jsonb),
            queue_extend(text, double precision),
            queue_extend_many(jsonb, double precision),
            queue_ack(text, jsonb),
            queue_ack_many(jsonb, jsonb),
            queue_nack(text, jsonb),
            queue_nack_many(jsonb, jsonb),
            queue_move(text, text, jsonb),
            queue_move_many(jsonb, jsonb),
            queue_wait(jsonb, double precision),
            queue_listen(jsonb),
            queue_heartbeat(text, jsonb)
            to queue_consumer;
        grant execute on function queue_stage_begin(text, jsonb), queue_stage_publish(jsonb, jsonb),
            queue_stage_abort(text)
            to queue_producer;
        grant execute on function
            queue_stream_plan(text),
            queue_stream_ready(text),
            queue_stream_renew(text, bigint),
            queue_stream_reserve(text, bigint, integer, text, integer, jsonb),
            queue_stream_extend(text, double precision, jsonb),
            queue_stream_forget(text),
            queue_stream_done(text, bigint),
            queue_stream_commit(text, bigint, jsonb)
            to queue_consumer;
        grant execute on function
            queue_get(text, text),
            queue_peek(text, integer, jsonb),
            queue_remove(text, text),
            queue_purge(text, bigint),
            queue_define(text, jsonb),
            queue_drop(text),
            queue_pause(text),
            queue_resume(text),
            queue_redrive(text, bigint)
            to queue_operator;
        grant execute on function queue_now(), queue_time(timestamptz), queue_timestamp(bigint)
            to queue_producer, queue_consumer, queue_operator, queue_observer;
        grant execute on function _queue_is_alive(queue_worker, bigint), _queue_session_locks(),
            _queue_state(bigint, bigint, bigint, bigint, bigint)
            to queue_operator, queue_observer; -- a view's functions are checked against who asks
        grant execute on function queue_tick(), queue_prune(bigint), queue_reap() to queue_consumer, queue_operator;
        grant execute on function queue_read(text, text, integer, jsonb), queue_read_ack(text, bigint),
            queue_read_end(text)
            to queue_consumer, queue_operator;
        grant execute on function queue_group(text, text, jsonb, jsonb) to queue_producer, queue_consumer,
            queue_operator;
        grant execute on function
            queue_subscribe(text, text),
            queue_unsubscribe(text, text),
            queue_schedule(text, text, jsonb, jsonb),
            queue_unschedule(text),
            queue_drain(text),
            queue_replay(text, jsonb),
            queue_semaphore(text, bigint)
            to queue_operator;
        grant insert, select on queue_inbox to queue_producer; -- Spark looks at the columns
        grant insert, select on queue_stage to queue_producer;
        grant select on queue_messages, queue_writes, queue_history, queue_schedules, queue_log to queue_operator;
        grant select on queue_stats, queue_worker, queue_workers, queue_subscriptions, queue_groups,
            queue_semaphores, queue_readers to queue_operator, queue_observer;
        -- what a look reads (pyqueue_sql/overview): columns, so that a new one is nobody's until it stands here
        grant select (p_kind, p_key, entry, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at,
            attempts, reserved_by, ready_at, due_at, max_attempts, source_kind, source_key, member, order_key)
            on delayed_queue to queue_operator, queue_observer;
        grant select (p_kind, paused, draining, dead_letter_kind) on queue_kind to queue_operator, queue_observer;
        grant select (name, p_kind, rule, catch_up, paused, until_at, next_at, last_at)
            on queue_recurring to queue_operator, queue_observer;
        grant select (group_name, then_kind, then_key, on_dead, fail_kind, expected, closed, created_at, finished_at,
            failed) on queue_group to queue_operator, queue_observer;
        grant select (member, group_name, p_kind, p_key, entry, done_at, outcome)
            on queue_group_member to queue_operator, queue_observer;
        grant select (payload, payload_bytes, headers, errors) on delayed_queue to queue_operator;
        grant select (error) on queue_group_member to queue_operator;
        grant select on queue_count, queue_semaphore, queue_semaphore_permit, queue_semaphore_wait to queue_operator,
            queue_observer;
        grant select (p_kind, p_key, state, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at,
            attempts, max_attempts, reserved_by, age, source_kind, source_key, entry)
            on queue_messages to queue_observer;
        grant select (p_kind, p_key, entry, outcome, to_kind, priority, scheduled_at_initially, created_at, reserved_at,
            finished_at, attempts, reserved_by) on queue_history to queue_observer;
        grant select (name, p_kind, rule, catch_up, paused, until, next_at, last_at)
            on queue_schedules to queue_observer;
    end if;
end $$;
