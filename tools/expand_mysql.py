"""What the files of `sql/mysql` leave out because each would repeat it, and what stands for it there.

- `collate exact`: the collation in which a text is itself and no other. Its name differs between the servers,
  and a parameter has to say its character set, too.
- `begin atomic … end atomic;`: a call of a public procedure, whole or not at all. The name is standard SQL's,
  which has a block of that kind; MariaDB and MySQL have none. The block knows `v_own`, see _queue_begin.
- `for each c into v_a, v_b do … end each;`: what is between, for each row of the cursor c. Standard SQL's FOR
  has its own variables; MariaDB's does, and MySQL has none. A label may stand before it.
- `entries(v_list) j`, `names(v_list) j`, `leaves(v_list) j`: the values of a JSON array as rows, what
  PostgreSQL has `unnest` for: entries of messages, names of semaphores, leaves of a document (_queue_leaves).
  `with ordinality`, the column place says which is which, from 1.
- `messages(v_list) q`: the messages whose entries are in a JSON array, as far as they are there; the row of
  the array is j, whose place is there `with ordinality`.
- `may match(q)`: whether the payload or the headers of a message may have the value of a filter that is
  looked for first, see _queue_first_of. It knows in_path, in_text, in_number and v_name, the name at the end
  of the path. On MariaDB a path finds the first of a name that stands twice: such a document may match.

No server takes these as they stand, so nothing is installed by mistake without them. What creates a routine
or a trigger also gets in front of it what drops the one that is there, since MySQL has no CREATE OR REPLACE;
and the delimiters of their own client.

Besides, what a session of MariaDB has set for its own statements isn't for these: one that puts rows together
(`json_arrayagg`, `group_concat`) is not cut off, and a DELETE or UPDATE of what a list names (`json_table`)
is meant.
"""

from __future__ import annotations

import re
import textwrap
from typing import Final

COLLATION: Final = "collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */"
_TYPED: Final = re.compile(r"\b((?:long)?text|varchar\(\d+\)) collate exact\b")
_BARE: Final = re.compile(r"\bcollate exact\b")
_ATOMIC: Final = re.compile(r"^( *)begin atomic\n(.*?)^\1end atomic;\n", re.DOTALL | re.MULTILINE)
_DECLARES: Final = re.compile(r"(?:^ *declare\b(?:[^\n]*\n)*?[^\n]*;(?: *--[^\n]*)?\n)*", re.MULTILINE)
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

_LIST: Final = r"\(((?:[^()]|\([^()]*\))*)\)( with ordinality)?"
_COLUMNS: Final = {
    "entries": "entry bigint path '$'",
    "names": "name varchar(100) collate exact path '$'",
    "leaves": "p longtext collate exact path '$.p', c longtext collate exact path '$.c'",
}
_ROWS: Final = re.compile(rf"\b({'|'.join(_COLUMNS)}){_LIST}")
_MESSAGES: Final = re.compile(rf"\bmessages{_LIST} (\w+)")
_FOUND: Final = r"entries(\1)\2 j straight_join delayed_queue \3 force index (primary) on \3.entry = j.entry"
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


def expand(text: str) -> str:
    """Return the text of a file as the servers take it.

    Args:
        text: as it stands in `sql/mysql`.
    """
    text = spell_out(text)
    text = _TYPED.sub(rf"\1 character set utf8mb4 {COLLATION}", text)
    text = _STATEMENT.sub(_set_up, text)
    text = _ATOMIC.sub(_shell, _EACH.sub(_loop, _BARE.sub(COLLATION, text)))
    return _CREATED.sub(_replaced, text)


def spell_out(text: str) -> str:
    """Return a text with what stands for the rows of a list, and for a condition, written out.

    Args:
        text: of `sql/mysql`, whole or in part.
    """
    text = _ROWS.sub(_rows, _MESSAGES.sub(_FOUND, text))
    return _MAY_MATCH.sub(
        lambda word: " or ".join(_MATCHES.format(f"{word[1]}.{column}") for column in ("payload", "headers")),
        text,
    )


def _rows(of: re.Match[str]) -> str:
    place = "place for ordinality, " if of[3] else ""
    return f"json_table({of[2]}, '$[*]' columns ({place}{_COLUMNS[of[1]]}))"


def _replaced(created: re.Match[str]) -> str:
    kind, name = created.groups()
    text = created[0].removesuffix(";\n")
    return f"drop {kind} if exists {name};\ndelimiter $$\n{text} $$\ndelimiter ;\n"


def _set_up(statement: re.Match[str]) -> str:
    text, indent, verb = statement[0], *statement.groups()
    setting = None
    if "json_arrayagg(" in text or "group_concat(" in text:
        setting = "group_concat_max_len = 1000000000"
    elif verb in {"delete", "update"} and "json_table(" in text:
        setting = "sql_safe_updates = 0"
    if setting is None or _CURSOR.search(statement.string[: statement.start()]):
        return text
    return indent + _SETTING.format(setting) + text[len(indent) :]


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
