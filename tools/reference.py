"""The reference, docs/reference/: made of what the sources say of themselves.

`python -m tools.reference` writes it; a test compares. Routines and views come from the comments and
signatures in `sql/`, rights from its grants, errors, classes and methods from Python, commands from click.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pyqueue_sql import errors
from pyqueue_sql.schema.routine_mysql import parse as parse_routine
from tools import comments, house, reference_python
from tools.freeze_mysql import read, split
from tools.index import COMMENT_ON

DOCS: Final = house.LIVE.parent / "docs" / "reference"
POSTGRESQL: Final = house.LIVE / "postgresql"
MYSQL: Final = house.LIVE / "mysql"
WRITTEN: Final = "\n<!-- written by python -m tools.reference; never edited -->\n"
SIGNATURE = re.compile(
    r"create or replace function (\w+\(.*?\)(?: returns .*?)?)\s+(?:language|immutable|as)\b", re.DOTALL
)
PARAMETER = re.compile(r"^(?:(in|out|inout)\s+)?(\w+)\s+(.*?)(?:\s+character set .*)?$")
TOP_COMMA: Final = re.compile(r",\s*(?![^(]*\))")
GRANT = re.compile(
    r"grant (?:execute on (?:function|procedure)|select(?: \([^)]*\))?\s+on|insert, select on)"
    r" (.*?) to (queue_[^;]*);",
    re.DOTALL,
)
COLUMN = re.compile(r"^comment on column (\w+)\.(\w+) is '((?:[^']|'')*)';", re.MULTILINE)
TABLES: Final = ("delayed_queue", "queue_history", "queue_inbox")
"""Those that people read or write; queue_log is read by queue_read."""
TITLES: Final = {
    "messages": "Looking at messages",
    "arrive": "Putting messages in",
    "deliver": "Taking messages",
    "wake": "Waiting for messages",
    "end": "Finishing messages",
    "turns": "Semaphores",
    "groups": "Groups",
    "topics": "Topics",
    "schedules": "Schedules",
    "log": "The log",
    "history": "History",
    "settings": "Kinds",
    "workers": "Workers",
    "upkeep": "Upkeep",
    "staging": "Batches of Spark and other writers",
    "base": "Time",
}
SHORT: Final = (
    "A function of MariaDB and MySQL that answers JSON, one message a call. It is there where the server "
    "allows functions that write."
)
ROUTINES_HEAD = """# Routines

On PostgreSQL each routine is a function: `select * from queue_reserve('mail')`. Named parameters work,
too: `select * from queue_reserve('mail', in_max_messages => 10)`. On MariaDB and MySQL each is a
procedure with the same parameters in the same order: `call queue_reserve('mail', null, 10, null)`. There
all parameters have to be given, and NULL is the default.

Times are microseconds since 1970-01-01 UTC. Durations are seconds. Options are a JSON object; NULL, JSON
null and `{}` mean no options. An option that nobody knows is an error. The [errors](errors.md) have
codes. Words are explained in the [glossary](../glossary.md).

The roles say who may call a routine; `queue_admin` may call all.
"""
VIEWS_HEAD = """# Views and tables

Read the views and the history; never change the tables. In the views times are timestamps: with a time
zone on PostgreSQL, of UTC on MariaDB and MySQL. In the tables times are microseconds since 1970-01-01
UTC. `queue_observer` sees no column that has a payload, headers, a result or the text of an error.
"""
ERRORS_HEAD = """# Errors

A routine that fails has changed nothing. Each cause has a code of its own: an SQLSTATE on all servers,
and on MariaDB and MySQL a number as well. The text names the parameter, its value (cut at 40 characters)
and what is allowed. On MariaDB and MySQL the text ends after 128 characters. [From any SQL
client](../sql.md#errors) lists the errors of the servers themselves, such as text that is no JSON.

| SQLSTATE | number | Python | cause |
|---|---|---|---|
"""


def words(text: str) -> str:
    """Return a text as Markdown: names as code, and nothing that Markdown would take for its own."""
    text = re.sub(r"<(\w[\w ]*)>", r"&lt;\1&gt;", text).replace("|", "\\|").replace("*", "\\*")
    return re.sub(r"(?<![\w`])_?[a-z]\w*_\w+(?:\(\))?(?![\w`])", r"`\g<0>`", text)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def comment(path: Path) -> comments.Comment:
    """Return what a file says of the object that it creates."""
    if path.is_relative_to(MYSQL):
        [said] = [one.comment for part in split(read(path)) if (one := parse_routine(part.removesuffix(";")))]
    else:
        found = COMMENT_ON.search(path.read_text(encoding="utf-8"))
        said = (found[1] or found[2].replace("''", "'")) if found else ""
    return comments.parse(said)


def called(path: Path) -> tuple[str, str]:
    """Return how a function is called, and what its rows have."""
    found = SIGNATURE.search(path.read_text(encoding="utf-8"))
    assert found, path
    head, _, returns = comments.line(found[1]).partition(") returns ")
    name, _, inner = head.partition("(")
    given = TOP_COMMA.split(inner.removesuffix(")"))
    columns = [one.strip().removeprefix("out ") for one in given if one.strip().startswith("out ")]
    if table := re.match(r"table \((.*)\)$", returns):
        columns = TOP_COMMA.split(table[1])
        returns = ""
    taken = ", ".join(one.strip() for one in given if not one.strip().startswith("out "))
    return f"{name}({taken}){f' returns {returns}' if returns else ''}", ", ".join(map(str.strip, columns))


def _mysql(path: Path) -> str:
    """Return how a procedure or a function is called."""
    [one] = [found for part in split(read(path)) if (found := parse_routine(part[:-1]))]
    inner = re.sub(r"\bcollate /\*.*?\*/(?:/\*.*?\*/)?", "", one.parameters[1:-1])
    given = [PARAMETER.match(comments.line(text)) for text in TOP_COMMA.split(inner) if text.strip()]
    taken = ", ".join(f"{'out ' if one[1] == 'out' else ''}{one[2]} {one[3]}" for one in given if one)
    returns = next((f" {trait}" for trait in one.traits if trait.startswith("returns")), "")
    return f"{one.name}({taken}){returns}"


def rights() -> dict[str, list[str]]:
    """Return the roles that may call a routine, or look at a table or a view, by its name."""
    found: dict[str, list[str]] = {}
    for path in (POSTGRESQL / "grants.sql", MYSQL / "grants.sql", MYSQL / "grants_functions.sql"):
        for grant in GRANT.finditer(path.read_text(encoding="utf-8")):
            for name in re.findall(r"\b(queue_\w+|delayed_queue)", re.sub(r"\([^)]*\)", "", grant[1])):
                roles = found.setdefault(name, [])
                roles += [role for role in re.findall(r"queue_\w+", grant[2]) if role not in roles]
    return found


def _table(options: list[comments.Option], what: str) -> str:
    if any(one.allowed for one in options):
        head = f"| {what} | what it does | allowed | default |\n|---|---|---|---|\n"
        rows = ((f"`{one.name}`", words(one.text), words(one.allowed), words(one.default)) for one in options)
    else:
        head = f"| {what} | meaning |\n|---|---|\n"
        rows = ((f"`{one.name}`", words(one.text)) for one in options)
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def routine(name: str, files: dict[str, Path], roles: list[str]) -> str:
    """Return the section of a routine.

    Args:
        name: of the routine.
        files: by dialect.
        roles: who may call it.
    """
    said = comment(next(iter(files.values())))
    columns = ""
    text = f"### {name}\n\n{words(said.purpose)}\n\n```text\n"
    if "postgresql" in files:
        head, columns = called(files["postgresql"])
        text += f"-- PostgreSQL\n{head}\n"
    for dialect, title in (("mysql", "MariaDB, MySQL"), ("short", "short form, see below")):
        if dialect in files:
            text += f"-- {title}\n{_mysql(files[dialect])}\n"
    text += "```\n\n"
    text += "".join(f"- {words(names)}: {words(what)}\n" for names, what in said.parameters)
    if said.options:
        text += "\n" + _table(said.options, "option")
    if said.notes:
        text += f"\n{words(said.notes)}\n"
    for part in ("Result", "Errors", "Locks"):
        if part in said.parts:
            text += f"\n**{part}.** {_capital(words(said.parts[part]))}\n"
            if part == "Result" and columns:
                text += f"\n**Columns.** {', '.join(f'`{one}`' for one in TOP_COMMA.split(columns))}\n"
    if "mysql" in files and (why := comment(files["mysql"]).parts.get("differs")):
        text += f"\n**On MariaDB and MySQL.** {_capital(words(why))}\n"
    if "short" in files:
        text += f"\n**Short form.** {SHORT}\n"
    if roles:
        text += f"\n**Roles.** {', '.join(f'`{one}`' for one in roles)}\n"
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


def public() -> dict[str, dict[str, dict[str, Path]]]:
    """Return the files of public routines by room, name and dialect."""
    found: dict[str, dict[str, dict[str, Path]]] = {room: {} for room in TITLES}
    for dialect, kind, live in (
        ("postgresql", "routine", POSTGRESQL),
        ("mysql", "routine", MYSQL),
        ("short", "function", MYSQL),
    ):
        for path in house.files(live, kind):
            name = house.name(path)
            if not name.startswith("_"):
                here = found[path.parent.name].setdefault(name, {})
                # what is a function everywhere has no short form
                here["mysql" if dialect == "short" and "mysql" not in here else dialect] = path
    return found


def routines() -> str:
    """Return the page of the routines."""
    who = rights()
    text = ROUTINES_HEAD
    for room, names in public().items():
        if names:
            text += f"\n## {TITLES[room]}\n\n"
            text += "".join(routine(name, files, who.get(name, [])) for name, files in sorted(names.items()))
    return text.rstrip("\n") + "\n"


def views() -> str:
    """Return the page of the views, and of the tables that people look at."""
    who = rights()
    text = VIEWS_HEAD
    for path in house.files(POSTGRESQL, "view"):
        said = comment(path)
        text += f"\n## {house.name(path)}\n\n{words(said.purpose)}\n\n{_table(said.options, 'column')}"
        text += f"\n**Roles.** {', '.join(f'`{one}`' for one in who[house.name(path)])}\n"
    for name in TABLES:
        path = house.file(POSTGRESQL, name, "table")
        columns = [
            comments.Option(column, said.replace("''", "'"))
            for _, column, said in COLUMN.findall(path.read_text(encoding="utf-8"))
        ]
        purpose = comment(path).purpose.removesuffix(" (pyqueue_sql)")
        text += f"\n## {name}\n\n{words(purpose)}\n\n{_table(columns, 'column')}"
        if name in who:
            text += f"\n**Roles.** {', '.join(f'`{one}`' for one in who[name])}\n"
    return text


def codes() -> str:
    """Return the page of the errors."""
    text = ERRORS_HEAD
    for one in vars(errors).values():
        if isinstance(one, type) and issubclass(one, errors.QueueError) and one.sqlstate:
            said = comments.line(one.__doc__ or "")
            text += f"| `{one.sqlstate}` | {one.errno} | `{one.__name__}` | {words(said)} |\n"
    return text


def pages() -> dict[Path, str]:
    """Return the text of each page of the reference."""
    found = {
        "routines": routines(),
        "views": views(),
        "errors": codes(),
        "commands": reference_python.commands(),
        "python": reference_python.classes(),
    }
    return {DOCS / f"{name}.md": text + WRITTEN for name, text in found.items()}


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
