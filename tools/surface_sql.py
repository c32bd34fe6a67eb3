"""The part of the public surface that is SQL: routines, their options and rights, views, tables, errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pyqueue_sql import errors
from pyqueue_sql.schema.routine_mysql import parse as parse_routine
from tools import comments, house, reference
from tools.expand_mysql import spell_out
from tools.freeze_mysql import split

if TYPE_CHECKING:
    from pathlib import Path

MYSQL: Final = "mariadb+mysql"
"""What the dialect of both is called here."""
RETURNS: Final = re.compile(r" returns (.*)$")


def items() -> dict[str, str]:
    """Return what is promised, by its name."""
    found: dict[str, str] = {}
    rights = reference.rights()
    for names in reference.public().values():
        for name, files in sorted(names.items()):
            for dialect, path in files.items():
                found |= (_postgresql if dialect == "postgresql" else _mysql)(name, path, dialect)
            said = reference.comment(next(iter(files.values())))
            found[f"routine {name}"] = _with("", said.purpose)
            for option in said.options:
                found[f"routine {name} option {option.name}"] = _with(option.default, option.text)
    for path in house.files(reference.POSTGRESQL, "view"):
        name = house.name(path)
        found[f"view {name}"] = ""
        for number, option in enumerate(reference.comment(path).options, start=1):
            found[f"view {name} column {option.name}"] = str(number)
    for name in reference.TABLES:
        found[f"table {name}"] = ""
        text = house.file(reference.POSTGRESQL, name, "table").read_text(encoding="utf-8")
        for _, column, _ in reference.COLUMN.findall(text):
            found[f"table {name} column {column}"] = ""
    for name, roles in sorted(rights.items()):
        if not name.startswith("_"):
            found |= {f"role {role} may {name}": "" for role in sorted(roles)}
    for one in vars(errors).values():
        if isinstance(one, type) and issubclass(one, errors.QueueError) and one.sqlstate:
            found[f"error {one.sqlstate}"] = f"{one.errno} {one.__name__}"
    return found


def _with(default: str, text: str) -> str:
    """Return what is said of something by default, and whether its text calls it deprecated."""
    return ", ".join(one for one in (default, "deprecated" if "Deprecated:" in text else "") if one)


def _postgresql(name: str, path: Path, _: str) -> dict[str, str]:
    call, columns = reference.called(path)
    returns = RETURNS.search(call)
    found = {f"postgresql {name}": ""}
    inner = RETURNS.sub("", call).partition("(")[2].removesuffix(")")
    for number, given in enumerate(filter(None, reference.TOP_COMMA.split(inner)), start=1):
        kind = given.strip()
        optional = " default " in kind
        found[f"postgresql {name} parameter {number}"] = kind if optional else f"{kind}, required"
    answers = reference.TOP_COMMA.split(columns) if columns else [returns[1]] if returns else []
    for number, column in enumerate(answers, start=1):
        found[f"postgresql {name} answers {number}"] = column.strip()
    return found


def _mysql(name: str, path: Path, dialect: str) -> dict[str, str]:
    parts = split(spell_out(path.read_text(encoding="utf-8")))
    [one] = [made for part in parts if (made := parse_routine(part[:-1]))]
    # a procedure and its short form, a function, have the same name
    whose = f"{MYSQL} {name}" if dialect == "mysql" else f"{MYSQL} short {name}"
    found = {whose: ""}
    inner = re.sub(r"\bcollate /\*.*?\*/(?:/\*.*?\*/)?", "", one.parameters[1:-1])
    for number, text in enumerate(filter(str.strip, reference.TOP_COMMA.split(inner)), start=1):
        given = reference.PARAMETER.match(comments.line(text))
        assert given is not None, text
        way = "out " if given[1] == "out" else ""
        found[f"{whose} parameter {number}"] = f"{way}{given[2]} {given[3].strip()}, required"
    returns = next((trait for trait in one.traits if trait.startswith("returns ")), "")
    if returns:
        found[f"{whose} answers 1"] = returns.removeprefix("returns ")
    return found
