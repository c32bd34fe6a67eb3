"""The comment of a routine, a view or a table, taken apart: what the reference is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PARAMETER = re.compile(r"(?:^|(?<=[.;] ))(in_\w+(?:(?:, | and )in_\w+)*): ", re.MULTILINE)
OPTION = re.compile(r"^- (\w+): ((?:.|\n  )+)", re.MULTILINE)
PART = re.compile(r"^(Result|Errors|Locks|Where the idea comes from|differs|out_\w+): ", re.MULTILINE)
LIMITS = re.compile(r"^(?P<text>.*?)\s+Allowed: (?P<allowed>.*?)\.\s+Default: (?P<default>.*)\.$")


@dataclass
class Option:
    """A line of a comment: an option of a routine, or a column of a view."""

    name: str
    text: str
    allowed: str = ""
    default: str = ""


@dataclass
class Comment:
    """A comment in its parts; each is a text in one line."""

    purpose: str
    parameters: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The names, with a comma or `and` between them, and what they are."""
    options: list[Option] = field(default_factory=list[Option])
    notes: str = ""
    """What stands behind the options."""
    parts: dict[str, str] = field(default_factory=dict[str, str])
    """By their first word: Result, Errors, Locks, differs …"""


def line(text: str) -> str:
    """Return a text as one line."""
    return " ".join(text.split())


def option(name: str, text: str) -> Option:
    """Return an option with its limits, where it says so.

    Args:
        name: of the option.
        text: what the comment says of it.
    """
    found = LIMITS.match(line(text))
    return Option(name, **found.groupdict()) if found else Option(name, line(text))


def parse(text: str) -> Comment:
    """Take a comment apart.

    Args:
        text: as the server has it.
    """
    pieces = PART.split(text)
    parts = {name: line(said) for name, said in zip(pieces[1::2], pieces[2::2], strict=True)}
    options = [option(one[1], one[2]) for one in OPTION.finditer(pieces[0])]
    before, *behind = OPTION.split(pieces[0])
    notes = line(" ".join(behind[2::3]))
    words = PARAMETER.split(before)
    parameters = list(zip(words[1::2], map(line, words[2::2]), strict=True))
    return Comment(line(words[0]), parameters, options, notes, parts)
