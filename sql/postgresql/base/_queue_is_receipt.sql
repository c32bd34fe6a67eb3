create or replace function _queue_is_receipt(in_receipt text) returns boolean language sql immutable
    return octet_length(in_receipt) >= 34 and octet_length(in_receipt) <= 51 and in_receipt ~ '^[0-9]+-[0-9a-f]+$'
        and substr(in_receipt, octet_length(in_receipt) - 32, 1) = '-';

comment on function _queue_is_receipt(text) is
$$Whether a text has the form of a receipt: an entry number, a dash and 32 hexadecimal digits. No counted repetition,
with which a regular expression takes ten times as long.
in_receipt: the text.
Result: true or false; NULL for NULL.
differs: on MariaDB and MySQL it is an expression, which tools/expand_mysql.py writes out.$$;
