"""What the files of `sql/mysql` leave out because each would repeat it, and what stands for it there.

Types:

- `collate exact`: the collation in which a text is itself and no other. Its name differs between the servers,
  and a parameter has to say its character set, too.
- A text of a routine that says neither a collation nor a character set is one of utf8mb4, whatever the
  database has.

Statements:

- `begin atomic … end atomic;`: a call of a public procedure, whole or not at all. The name is standard SQL's,
  which has a block of that kind; MariaDB and MySQL have none. The block knows `v_own`, see _queue_begin.
- `for each c into v_a, v_b do … end each;`: what is between, for each row of the cursor c. Standard SQL's FOR
  has its own variables; MariaDB's does, and MySQL has none. A label may stand before it.
- `delete t from … skip locked by (key type, …) into v_n;`: removes rows of t, whose primary key that is, but
  leaves those that others have locked; v_n, where it is given, becomes greater by as many. No server has a
  DELETE that passes these over, so the rows are read and locked first.

Rows of lists, which are JSON arrays here:

- `unnest(v_list) j (entry bigint, place int)`: the rows of a list, as in standard SQL and on PostgreSQL. Of
  arrays, the first column is their first element and so on; where there is one column, each element is a
  value of it. A column `for ordinality` is the place in the list, from 1.
- `messages(v_entries) q`: the messages that a list of entries names, as far as they are there, in its order.
- `deliveries(v_receipts) q`: the messages that are held under these receipts, as _queue_receipts takes them
  apart. Of both the row of the list is j, with its columns entry and place; of messages it has its place
  `with ordinality`.
- `staged(v_parts) s`: the rows of stages, of the parts that a list of objects names.
- `documents(v_documents) r`: the documents that _queue_leaves takes apart, number d and text v.
- `leaves(v_leaves) l`: what it makes of them, document d, path p and value c.
- `for update of q`: locks these rows alone. MySQL takes it; MariaDB has no such words, and would lock the
  same, since a list has nothing to lock.

Expressions, which stand in queries, where no procedure can be called:

- `v_options ? 'name'`, `v_options -> 'name'`: whether a JSON object has the name, and what it has there, as
  PostgreSQL writes it. NULL where it is NULL.
- `_queue_is_alive(w, v_now)`: whether the registered worker w is alive, by its session or by its heartbeat.
- `_queue_is_receipt(v_receipt)`: whether a text has the form of a receipt, NULL for NULL.
- `_queue_is_plain_row(s)`: whether a row of the inbox or of a stage is as most are, so that it needs no more
  than to be put in. Not where that would take long to say: its JSON is long or may be deep.
- `may match(q)`: whether the payload or the headers of a message may have the value of a filter that is
  looked for first, see _queue_first_of. It knows in_path, in_text, in_number and v_name, the name at the end
  of the path. On MariaDB a path finds the first of a name that stands twice: such a document may match.

No server takes these as they stand, so nothing is installed by mistake without them. What creates a routine
or a trigger also gets in front of it what drops the one that is there, since MySQL has no CREATE OR REPLACE;
and the delimiters of their own client.

Besides, what a session of MariaDB has set for its own statements isn't for these: one that puts rows together
(`json_arrayagg`, `group_concat`) is not cut off, and a DELETE or UPDATE of what a list names (`json_table`)
is meant. And a list that a variable has, and that is sorted, is a table of its own there, see _SORTED.
"""

from __future__ import annotations

import re
import textwrap
from typing import Final

COLLATION: Final = "collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */"
CHARACTER_SET: Final = "character set utf8mb4"
_TABLE: Final = re.compile(r"^create table\b", re.MULTILINE)
_TYPED: Final = re.compile(r"\b((?:long)?text|varchar\(\d+\)) collate exact\b")
_TEXT: Final = re.compile(
    r"'(?:[^'\\]|\\.)*'|--[^\n]*"  # what is no code
    r"|(?P<type>(?<! as) (?:(?:long)?text|(?:var)?char\(\d+\)))(?!\w| (?:character set|collate)\b)",
    re.DOTALL,
)
_BARE: Final = re.compile(r"\bcollate exact\b")
_ATOMIC: Final = re.compile(r"^( *)begin atomic\n(.*?)^\1end atomic;\n", re.DOTALL | re.MULTILINE)
_DECLARES: Final = re.compile(
    r"(?:(?:^ *--[^\n]*\n)*^ *declare\b(?:[^\n]*\n)*?[^\n]*;(?: *--[^\n]*)?\n)*", re.MULTILINE
)
# The handlers are of the block that has the cursors: MySQL leaves one open that is further in.
_SHELL: Final = """\
begin declare v_own boolean; declare v_tries int default 0; again: loop begin
{declares}    declare exit handler for 1213, 1020, 1467 call _queue_retry(v_own, v_tries);
    declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
    call _queue_begin(v_own);
{body}    call _queue_commit(v_own);
    leave again;
end; end loop; end;
"""

_EACH: Final = re.compile(
    r"^( *)(?:(\w+): )?for each (\w+) into ([^;]*?) do\n(.*?)^\1end each;\n", re.DOTALL | re.MULTILINE
)
# The handler is of the fetch alone: a SELECT INTO of the body may find nothing, too.
_LOOP: Final = """\
open {cursor}; begin declare v_over boolean default false; {label}: loop
begin declare continue handler for not found set v_over = true; fetch {cursor} into {into}; end;
if v_over then leave {label}; end if;
{body}end loop; end; close {cursor};
"""

_UNLOCKED: Final = re.compile(
    r"^( *)delete (\w+) from ([^;]*?)\s+skip locked\s+by \(([^;]*?)\)(?:\s+into (\w+))?;\n", re.MULTILINE
)
_REMOVED: Final = """\
begin declare v_unlocked longtext;
    select json_arrayagg({found}) into v_unlocked
    from (select {keys} from {rows}
    for update of {alias} skip locked) unlocked;
    if v_unlocked is not null then
        delete {alias} from unnest(v_unlocked) unlocked ({key})
            straight_join {table} {alias} force index (primary) on {same};
{counted}    end if;
end;
"""

_NESTED: Final = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
_MESSAGES: Final = re.compile(rf"\bmessages\(({_NESTED})\)( with ordinality)? (\w+)")
_DELIVERIES: Final = re.compile(rf"\bdeliveries\(({_NESTED})\) (\w+)")
_JOINED: Final = "straight_join delayed_queue {0} force index (primary) on {0}.entry = j.entry"
_LEAVES: Final = re.compile(rf"\bleaves\(({_NESTED})\) (\w+)")
_LEAF: Final = "d bigint path '$.d', p longtext collate exact path '$.p', c longtext collate exact path '$.c'"
_DOCUMENTS: Final = re.compile(rf"\bdocuments\(({_NESTED})\) (\w+)")
_DOCUMENT: Final = "d bigint path '$.d', v longtext collate exact path '$.v'"
_UNNEST: Final = re.compile(rf"\bunnest\(({_NESTED})\) (\w+) \(({_NESTED})\)")
_OF: Final = re.compile(r"\bfor update of (\w+)\b")
_HAS: Final = re.compile(r"\b(\w+) \? '(\w+)'")
_GET: Final = re.compile(r"\b(\w+) -> '(\w+)'")
_ALIVE: Final = re.compile(r"\b_queue_is_alive\((\w+), ([\w.]+)\)")
_LIVES: Final = (
    r"if(\1.session_lock is null, abs(\2 - \1.heartbeat_at) < \1.timeout_seconds * 1000000,"
    r" is_used_lock(\1.session_lock) <=> \1.session_id)"
)
_RECEIPT: Final = re.compile(r"\b_queue_is_receipt\(([\w.]+)\)")
_FORM: Final = (
    r"(\1 collate utf8mb4_bin regexp '^[0-9]{1,19}-[0-9a-f]{32}\\\\z'"
    r" and lpad(\1, 52, '0') < '9223372036854775808')"
)
_STAGED: Final = re.compile(r"\bstaged\((\w+)\) (\w+)")
_PARTS: Final = (
    r"json_table(\1, '$[*]' columns (part bigint path '$.part')) j"
    r" straight_join queue_stage \2 force index (queue_stage_of_part) on \2.part = j.part"
)
_PLAIN_ROW: Final = re.compile(r"\b_queue_is_plain_row\((\w+)\)")
# MySQL reads 100 levels of JSON, and fails where there are more.
_PLAIN: Final = r"""(char_length(row.p_kind) between 1 and 95 and char_length(row.p_key) between 1 and 200
and locate(char(0), row.p_kind) = 0 and locate(char(0), row.p_key) = 0
and (length(row.p_kind) + length(row.p_key) = char_length(row.p_kind) + char_length(row.p_key)
or hex(concat(row.p_kind, row.p_key)) not regexp '^(..)*ED[AB]')
and if(row.payload_bytes is not null, row.payload is null,
if(length(row.payload) > 65535
or length(row.payload) - length(replace(replace(row.payload, '{', ''), '[', '')) > 99, false,
json_valid(row.payload) and json_depth(if(json_valid(row.payload), row.payload, 'null')) <= 31)
and (locate('\\', cast(row.payload as binary)) = 0
or replace(row.payload, '\\\\', '') not regexp '\\\\u0000|\\\\[^"/bfnrtu\\\\]')
/*M!100600 and (row.payload not regexp '[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}'
or replace(replace(row.payload, '\\\\', ''), '\\"', '') not regexp concat('"[^"]*+"(*SKIP)(*FAIL)',
'|[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}')) */)
and if(row.headers is null, true, locate('"', row.headers) > 0 and locate('\\', row.headers) = 0
and if(length(row.headers) > 65535 or locate('{', row.headers, 2) > 0 or locate('[', row.headers) > 0, false,
json_type(if(json_valid(row.headers), row.headers, 'null')) = 'OBJECT')
/*M!100600 and row.headers not regexp concat('"[^"]*+"(*SKIP)(*FAIL)',
'|[0-9][.]([^0-9]|$)|[0-9]{310}|[0-9][eE][+]?[0-9]{3}') */)
and coalesce(row.priority between -32768 and 32767, true)
and if(row.scheduled_at is null, coalesce(row.delay_seconds between 0 and 1000000000, true),
row.delay_seconds is null and row.scheduled_at between 100000000000000 and 253402300799999999)
and coalesce(row.attempts between 0 and 1000000000, true)
and coalesce(row.max_attempts between 1 and 1000000000, true))"""

_MAY_MATCH: Final = re.compile(r"\bmay match\((\w+)\)")
_NUMBERS: Final = "'INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'"
_MATCHES: Final = f"""\
/*M!100600 if(locate('\\\\', {{0}}) > 0 or locate(v_name, {{0}}, locate(v_name, {{0}}) + 1) > 0, true, */
if(in_number is null, json_unquote(json_extract({{0}}, in_path)) = in_text, \
if(json_type(json_extract({{0}}, in_path)) in ({_NUMBERS}),
json_extract({{0}}, in_path) + 0e0 = in_number, false)) /*M!100600 ) */"""

_CREATED: Final = re.compile(r"^create (procedure|function|trigger) (\w+)\b.*;\n\Z", re.DOTALL | re.MULTILINE)
_STATEMENT: Final = re.compile(r"^( +)(select|insert|delete|update)\b[^;]*;", re.MULTILINE)
_CURSOR: Final = re.compile(r"cursor for(?: *--[^\n]*)?\n(?: *--[^\n]*\n)*\Z")
_SETTING: Final = "/*M!100600 set statement {} for */ "
_LIST: Final = re.compile(
    r"\bjson_table\((?:coalesce\()?(?:v|in|out)_\w+(?:, '\[\]'\))?, '[^']*' columns"
    rf" \((?P<columns>{_NESTED})\)\) (?P<alias>\w+)\b"
)
# MariaDB takes a list for one of 40 rows. A sort has room for so many, and goes through two files where there
# are more, which took 600 µs of a hundred. Of a table it knows how many rows it has; one of longer texts is a
# file itself.
_SORTED: Final = "/*M!100600 (select * from */ {0} /*M!100600 limit 1000000000) {1} */"


def expand(text: str) -> str:
    """Return the text of a file as the servers take it.

    Args:
        text: as it stands in `sql/mysql`.
    """
    text = spell_out(_UNLOCKED.sub(_removed, text))
    text = _TYPED.sub(rf"\1 {CHARACTER_SET} {COLLATION}", text)
    text = _STATEMENT.sub(_set_up, text)
    text = _ATOMIC.sub(_shell, _EACH.sub(_loop, _BARE.sub(COLLATION, text)))
    return _CREATED.sub(_replaced, text)


def spell_out(text: str) -> str:
    """Return a text with its words for types, lists and expressions written out; statements stay as they are.

    Args:
        text: of `sql/mysql`, whole or in part.
    """
    text = _DELIVERIES.sub(_held, _MESSAGES.sub(_named, text))
    text = _LEAVES.sub(rf"json_table(\1, '$[*]' columns ({_LEAF})) \2", _UNNEST.sub(_rows, text))
    text = _DOCUMENTS.sub(rf"json_table(\1, '$.*' columns ({_DOCUMENT})) \2", text)
    text = _PLAIN_ROW.sub(lambda row: _PLAIN.replace("row.", f"{row[1]}."), _STAGED.sub(_PARTS, text))
    text = _MAY_MATCH.sub(_may_match, _RECEIPT.sub(_FORM, _ALIVE.sub(_LIVES, text)))
    text = _HAS.sub(r"json_contains_path(\1, 'one', '$.\2')", text)
    text = _GET.sub(r"json_extract(\1, '$.\2')", text)
    text = _OF.sub(r"for update /*!80000 of \1 */", text)
    if _TABLE.search(text):  # which says it once, for all of its columns
        return text
    return _TEXT.sub(lambda found: found[0] + f" {CHARACTER_SET}" * bool(found["type"]), text)


def _named(messages: re.Match[str]) -> str:
    entries, places, alias = messages.groups()
    columns = "place for ordinality, entry bigint" if places else "entry bigint"
    return f"unnest({entries}) j ({columns}) {_JOINED.format(alias)}"


def _held(deliveries: re.Match[str]) -> str:
    receipts, alias = deliveries.groups()
    columns = "entry bigint, secret char(32), place int"
    return f"unnest({receipts}) j ({columns}) {_JOINED.format(alias)} and {alias}.secret = unhex(j.secret)"


def _rows(unnest: re.Match[str]) -> str:
    value, alias, columns = unnest.groups()
    names = [one.strip() for one in columns.split(",")]
    typed = [one for one in names if not one.endswith(" for ordinality")]
    paths = ["$"] if len(typed) == 1 else [f"$[{place}]" for place in range(len(typed))]
    for one, path in zip(typed, paths, strict=True):
        names[names.index(one)] = f"{one} path '{path}'"
    return f"json_table({value}, '$[*]' columns ({', '.join(names)})) {alias}"


def _may_match(message: re.Match[str]) -> str:
    return " or ".join(_MATCHES.format(f"{message[1]}.{column}") for column in ("payload", "headers"))


def _replaced(created: re.Match[str]) -> str:
    kind, name = created.groups()
    text = created[0].removesuffix(";\n")
    return f"drop {kind} if exists {name};\ndelimiter $$\n{text} $$\ndelimiter ;\n"


def _removed(statement: re.Match[str]) -> str:
    indent, alias, rows, key, counter = statement.groups()
    table = re.search(rf"\b((?:queue|delayed)_\w+) {alias}\b", rows)
    assert table is not None, statement[0]
    names = [column.split()[0] for column in key.split(",")]
    found = ", ".join(f"unlocked.{name}" for name in names)
    parts = {
        "found": f"json_array({found})" if len(names) > 1 else found,
        "keys": ", ".join(f"{alias}.{name}" for name in names),
        "rows": rows,
        "alias": alias,
        "key": key,
        "table": table[1],
        "same": " and ".join(f"{alias}.{name} = unlocked.{name}" for name in names),
        "counted": f"        set {counter} = {counter} + json_length(v_unlocked);\n" if counter else "",
    }
    return textwrap.indent(_REMOVED.format(**parts), indent)


def _set_up(statement: re.Match[str]) -> str:
    text, indent, verb = statement[0], *statement.groups()
    text = _LIST.sub(_sorted, text)
    setting = None
    if "json_arrayagg(" in text or "group_concat(" in text:
        setting = "group_concat_max_len = 1000000000"
    elif verb in {"delete", "update"} and "json_table(" in text:
        setting = "sql_safe_updates = 0"
    if setting is None or _CURSOR.search(statement.string[: statement.start()]):
        return text
    return indent + _SETTING.format(setting) + text[len(indent) :]


def _sorted(rows: re.Match[str]) -> str:
    long = re.search(r"\b(?:longtext|text|json)\b", rows["columns"])
    if long or f"order by {rows['alias']}." not in rows.string:
        return rows[0]
    return _SORTED.format(rows[0], rows["alias"])


def _loop(block: re.Match[str]) -> str:
    indent, label, cursor, into, body = block.groups()
    before, after = (textwrap.indent(part, indent) for part in _LOOP.split("{body}"))
    names = {"cursor": cursor, "into": " ".join(into.split()), "label": label or f"each_{cursor}"}
    return before.format(**names) + _EACH.sub(_loop, body) + after.format(**names)


def _shell(block: re.Match[str]) -> str:
    before, between, after = (
        textwrap.indent(part, block[1]) for part in re.split("{declares}|{body}", _SHELL)
    )
    declares = _DECLARES.match(block[2])
    at = declares.end() if declares else 0
    return before + block[2][:at] + between + block[2][at:] + after
