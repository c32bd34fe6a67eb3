"""The text of a routine of MariaDB and MySQL, taken apart so far that two texts can be compared.

What SHOW CREATE answers is the text that the routine was made from, but for its head, for the escapes in its
comment, and for the comments with a version, of which only what is for this server is kept.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

CREATE = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:definer\s*=\s*`[^`]*`@`[^`]*`\s+)?"
    r"(procedure|function|trigger)\s+(?:if not exists )?`?(\w+)`?",
    re.IGNORECASE,
)
QUIET = r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`[^`]*`|--\s[^\n]*|#[^\n]*|/\*.*?\*/"
"""What stands in quotation marks or in a comment."""
TRAIT = re.compile(
    r"\s*(?:comment\s+'(?P<comment>(?:[^'\\]|\\.|'')*)'"
    r"|(?P<words>returns\s+\w+)(?:\([\d,]*\))?(?:\s+(?:charset|character\s+set|collate)\s+\w+)*"
    r"|(?P<more>language\s+sql|(?:not\s+)?deterministic|(?:contains|no)\s+sql|(?:reads|modifies)\s+sql\s+data"
    r"|sql\s+security\s+\w+))",
    re.IGNORECASE | re.DOTALL,
)
HEAD = re.compile(r"\A((?:before|after) \w+) on `?(\w+)`? for each row\s+", re.IGNORECASE)
"""Of a trigger, which MySQL writes anew."""
DEFAULTS = {"language sql", "not deterministic", "contains sql", "sql security definer"}
"""What SHOW CREATE leaves out."""
ALIASES = {"returns json": "returns longtext", "returns boolean": "returns tinyint"}
"""What it calls types; JSON is text to MariaDB."""
AFTER_COMMENT = re.compile(r"(?<=\*/) +")
"""What MySQL's client puts there when it reads a dump."""
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


@dataclass(frozen=True)
class Routine:
    """A procedure, a function or a trigger; equal to another where it needn't be replaced by it."""

    kind: str
    name: str
    parameters: str
    """As written, but for blanks behind comments; of a trigger nothing."""
    traits: tuple[str, ...]
    """What stands between the parameters and the body: DETERMINISTIC and the like, the type of a result."""
    comment: str
    body: str
    """Likewise; of a trigger all that follows its name, the event in small letters."""
    text: str = field(compare=False)
    """The whole statement."""


def evaluated(text: str, version: int, mariadb: bool) -> str:
    r"""Return the text as the server keeps it: of `/*!80017 …*/` and `/*M!100600 …*/` what is for it.

    Args:
        text: SQL, in which MySQL alone is marked by a number of five digits and MariaDB alone by one of six.
        version: the server's, 80021 for 8.0.21, 100600 for 10.6.
        mariadb: whether it is MariaDB.
    """

    def kept(found: re.Match[str]) -> str:
        mine = (found[1] == "M") == mariadb and version >= int(found[2])
        # to MySQL what is for MariaDB is a comment like any other
        return found[3] if mine else found[0] if found[1] and not mariadb else ""

    return re.sub(r"/\*(M?)!(\d{5,6})(.*?)\*/", kept, text, flags=re.DOTALL)


@functools.lru_cache(1024)
def parse(text: str) -> Routine | None:
    """Return the routine that a statement creates, or None where it does something else.

    Args:
        text: one statement, also one of SHOW CREATE.
    """
    whole, text = text, AFTER_COMMENT.sub("", text)
    shade = _shade(text)
    found = CREATE.search(text)
    if not found or found.start() != len(shade) - len(shade.lstrip()):
        return None
    kind, name = found[1].lower(), found[2]
    if kind == "trigger":
        rest = text[found.end() :].strip()
        body = HEAD.sub(lambda head: f"{head[1].lower()} on {head[2]} for each row\n", rest)
        return Routine(kind, name, "", (), "", body, whole)
    opened = shade.index("(", found.end())
    closed = closing(shade, opened)
    at = closed + 1
    comment, traits = "", list[str]()
    while trait := TRAIT.match(text, at):
        at = trait.end()
        if trait["comment"] is not None:
            comment = _unescaped(trait["comment"])
        else:
            said = " ".join((trait["words"] or trait["more"]).lower().split())
            traits.append(ALIASES.get(said, said))
    kept = tuple(sorted(set(traits) - DEFAULTS))
    return Routine(kind, name, text[opened : closed + 1], kept, comment, text[at:].strip(), whole)


def _shade(text: str) -> str:
    """Return the text with blanks for what stands in quotation marks or in a comment."""
    return re.sub(QUIET, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL)


def closing(text: str, opened: int) -> int:
    """Return where the parenthesis that opens there is closed; what is quoted has to be shaded.

    Args:
        text: SQL.
        opened: the place of the parenthesis that opens.

    Raises:
        ValueError: nothing closes it.
    """
    depth = 0
    for at in range(opened, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at
    raise ValueError(f"no end of the parameters: {text[:60]!r}")


def _unescaped(literal: str) -> str:
    return re.sub(
        r"\\(.)|''",
        lambda found: ESCAPES.get(found[1], found[1]) if found[1] else "'",
        literal,
        flags=re.DOTALL,
    )
