"""Where a body of SQL can be changed, and into what.

It is read by token, not parsed: what comes out wrong the server refuses, and another one is drawn.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.mutants.mutant import ROOT, Mutant
from tools import house

WEIGHTS = {
    "conjunct": 4,
    "statement": 4,
    "bound": 3,
    "number": 3,
    "equal": 1,
    "connective": 2,
    "negation": 2,
    "lock": 3,
    "order": 2,
    "arithmetic": 2,
    "literal": 2,
    "boolean": 1,
    "concatenation": 1,
    "choice": 1,
}
KINDS = ("routine", "function", "trigger", "view")

STRING = {"postgresql": r"'(?:[^']|'')*'", "mysql": r"'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\\.)*\""}
TOKEN = (
    r"--[^\n]*|/\*.*?\*/|{}|\$\$|@[>?]|[a-z_@][\w$]*|\d+\.\d+|\d+"
    r"|::|<<|>>|:=|=>|->>|->|<=>|<=|>=|<>|!=|\|\||<@|&&|\S"
)
BODY = {
    "postgresql": re.compile(r"\bas \$\$(.*?)\$\$", re.DOTALL),
    "mysql": re.compile(r"^(?:\w+: *)?begin\b(.*?)^end(?: \w+)?;", re.DOTALL | re.MULTILINE),
}
VIEW = re.compile(r"^create or replace view \w+ as\b(.*?);$", re.DOTALL | re.MULTILINE)

CONDITIONS = {"where", "on", "and", "or", "not", "when", "if", "elseif", "elsif", "while", "until", "having"}
CLAUSES = CONDITIONS | {
    "set",
    "select",
    "values",
    "then",
    "else",
    "by",
    "declare",
    "into",
    "case",
    "return",
    ";",
}
ENDS = CONDITIONS - {"not", "if"} | {
    *(
        "then",
        "order",
        "group",
        "limit",
        "for",
        "returning",
        "else",
        "end",
        "loop",
        "join",
        "left",
        "cross",
        "do",
    ),
    *("straight_join", "union", "into", "offset", "returns", "window", "filter", "as", ";", ",", "$$"),
}
TYPES = {"varchar", "char", "decimal", "numeric", "datetime", "timestamp", "binary", "varbinary", "sysdate"}
BEGINNINGS = {
    "perform",
    "call",
    "update",
    "delete",
    "insert",
    "raise",
    "signal",
    "set",
    "with",
    "select",
    "return",
}
OPENED = {";", "then", "else", "loop", "begin", "do"}


class Token(NamedTuple):
    """A word, number, string or sign."""

    text: str
    start: int
    end: int
    depth: int
    """How many parentheses it stands in."""

    @property
    def word(self) -> str:
        """Its text in lower case."""
        return self.text.lower()


def mutants(dialect: str) -> Iterator[Mutant]:
    """Give every mutant of the SQL of a dialect."""
    for path in house.files(house.LIVE / dialect, *KINDS):
        if house.name(path) != "queue_now":  # tests put another one into its place
            yield from mutants_of(path, dialect)


def mutants_of(path: Path, dialect: str) -> Iterator[Mutant]:
    """Give every mutant of a file."""
    source = path.read_text(encoding="utf-8")
    seen: set[tuple[int, int, str]] = set()
    for body in (VIEW if house.kind(path) == "view" else BODY[dialect]).finditer(source):
        around = source.rfind("\ncreate ", 0, body.start(1)) + 1, body.end(1)
        for sort, start, end, text in Body(source, body.start(1), body.end(1), dialect).changes():
            if (start, end, text) not in seen and source[start:end].split() != text.split():
                seen.add((start, end, text))
                yield Mutant(str(path.relative_to(ROOT)), start, end, text, sort, source, around)


Change = tuple[str, int, int, str]


class Body:
    """The tokens of a body.

    Args:
        source: the file's text.
        start: where the body begins.
        end: where it ends.
        dialect: postgresql or mysql.
    """

    def __init__(self, source: str, start: int, end: int, dialect: str) -> None:
        self.source = source
        self.dialect = dialect
        self.tokens: list[Token] = []
        depth = 0
        pattern = re.compile(TOKEN.format(STRING[dialect]), re.IGNORECASE | re.DOTALL)
        for match in pattern.finditer(source, start, end):
            text = match[0]
            if text.startswith(("--", "/*")):
                continue
            depth -= text in (")", "]")
            self.tokens.append(Token(text, *match.span(), depth))
            depth += text in ("(", "[")
        self.tokens.append(Token(";", end, end, 0))
        self.words = [token.word for token in self.tokens]

    def changes(self) -> Iterator[Change]:
        """Give every change: its sort, where it begins and ends, what comes there."""
        for at in range(len(self.tokens) - 1):
            yield from self.comparison(at)
            yield from self.connective(at)
            yield from self.negation(at)
            yield from self.number(at)
            yield from self.lock(at)
            yield from self.order(at)
            yield from self.arithmetic(at)
            yield from self.literal(at)
            yield from self.choice(at)
            yield from self.statement(at)

    def word(self, at: int) -> str:
        """Return a token's text, empty where there is none."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def clause(self, at: int) -> str:
        """Return the last word before a token that says what sort of expression it stands in."""
        depth = self.tokens[at].depth
        for before in range(at - 1, -1, -1):
            token = self.tokens[before]
            if token.depth <= depth and token.word in CLAUSES:
                return token.word
            depth = min(depth, token.depth)
        return ""

    def until(self, at: int, ends: set[str]) -> int:
        """Return the first token from there on, in no deeper parentheses, that ends an expression."""
        depth, cases, between = self.tokens[at].depth, 0, 0
        while at < len(self.tokens) - 1:
            token = self.tokens[at]
            if token.depth < depth:
                return at
            if token.depth == depth:
                if token.word == "case":
                    cases += 1
                elif cases:
                    cases -= token.word == "end"
                elif token.word == "between":
                    between += 1
                elif token.word == "and" and between:
                    between -= 1
                elif token.word in ends:
                    return at
            at += 1
        return at

    def comparison(self, at: int) -> Iterator[Change]:
        """Change a comparison."""
        token = self.tokens[at]
        bounds = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
        if token.text in bounds:
            yield "bound", token.start, token.end, bounds[token.text]
        elif token.text in ("<>", "!="):
            yield "equal", token.start, token.end, "="
        elif token.text == "=" and self.clause(at) in CONDITIONS:
            yield "equal", token.start, token.end, "<>"

    def connective(self, at: int) -> Iterator[Change]:
        """Change AND and OR, leave out what one of them joins."""
        token = self.tokens[at]
        if token.word not in ("and", "or") or self.is_between(at):
            return
        yield "connective", token.start, token.end, "or" if token.word == "and" else "and"
        after = self.until(at + 1, ENDS)
        yield "conjunct", token.start, self.tokens[after - 1].end, ""
        first = self.first_before(at)
        if first is not None:
            yield "conjunct", self.tokens[first].start, self.tokens[at + 1].start, ""

    def is_between(self, at: int) -> bool:
        """Whether an AND is that of a BETWEEN."""
        depth = self.tokens[at].depth
        for before in range(at - 1, -1, -1):
            token = self.tokens[before]
            if token.depth < depth:
                return False
            if token.depth == depth and (token.word in ENDS or token.word in ("if", "not")):
                return False
            if token.depth == depth and token.word == "between":
                return True
        return False

    def first_before(self, at: int) -> int | None:
        """Return where the first of some conditions begins, where it ends at this token."""
        depth = self.tokens[at].depth
        for before in range(at - 1, -1, -1):
            token = self.tokens[before]
            if token.word == "if" and self.source[token.end] == "(":  # the function
                continue
            opened = token.depth == depth and token.word in (
                "where",
                "on",
                "when",
                "if",
                "elsif",
                "elseif",
                "having",
            )
            if opened or (token.depth == depth - 1 and token.text == "("):
                return before + 1
            if token.depth < depth or (token.depth == depth and token.word in ENDS | {"case", "select"}):
                return None
        return None

    def negation(self, at: int) -> Iterator[Change]:
        """Turn a condition round."""
        token, after = self.tokens[at], self.tokens[at + 1]
        if token.word == "is" and after.word == "not" and self.word(at + 2) == "null":
            yield "negation", token.start, self.tokens[at + 2].end, "is null"
        elif token.word == "is" and after.word == "null":
            yield "negation", token.start, after.end, "is not null"
        elif (
            token.word == "not"
            and self.word(at - 1) not in ("is", "if")
            and after.word not in ("null", "found")
        ):
            yield "negation", token.start, after.start, ""
        elif token.word in ("if", "elsif", "elseif") and after.text != "(" and self.word(at - 1) != "end":
            then = self.until(at + 1, {"then"})
            if self.word(then) == "then":
                condition = self.source[after.start : self.tokens[then - 1].end]
                yield "negation", after.start, self.tokens[then - 1].end, f"not ({condition})"

    def number(self, at: int) -> Iterator[Change]:
        """Have a number one off, a large one ten times off; turn a truth round."""
        token, before = self.tokens[at], self.word(at - 1)
        if token.word in ("true", "false"):
            yield "boolean", token.start, token.end, "false" if token.word == "true" else "true"
        if not token.text.isdigit() or (before == "(" and self.word(at - 2) in TYPES) or before == "offset":
            return
        value = int(token.text)
        others = (value * 10, value // 10) if value > 100 else (value + 1, value - 1) if value else (1,)
        for other in others:
            yield "number", token.start, token.end, str(other)

    def lock(self, at: int) -> Iterator[Change]:
        """Leave out a lock, or SKIP LOCKED."""
        token = self.tokens[at]
        if token.word == "skip" and self.word(at + 1) == "locked":
            yield "lock", token.start, self.tokens[at + 1].end, ""
        if token.word != "for":
            return
        last = at + 1
        while self.word(last) in ("no", "key"):
            last += 1
        if self.word(last) not in ("update", "share"):
            return
        if self.word(last + 1) == "of":
            last += 2
            while self.word(last + 1) == ",":
                last += 2
        if self.word(last + 1) == "skip":
            last += 2
        yield "lock", token.start, self.tokens[last].end, ""

    def order(self, at: int) -> Iterator[Change]:
        """Turn the order by one expression round, or leave it out."""
        if self.word(at) != "order" or self.word(at + 1) != "by":
            return
        ends = ENDS - {",", "filter"} | {"rows", "range", "separator"}
        starts = [at + 2]
        while True:
            stop = self.until(starts[-1], ends | {","})
            last = self.tokens[stop - 1]
            first = self.tokens[starts[-1]]
            expression = self.source[first.start : last.end]
            if last.word == "desc":
                yield "order", last.start, last.end, ""
            elif last.word != "asc" and not expression.isdigit():
                yield "order", last.end, last.end, " desc"
            another = self.word(stop) == ","
            if another:
                yield "order", first.start, self.tokens[stop + 1].start, ""
            elif len(starts) > 1:
                yield "order", self.tokens[starts[-1] - 1].start, last.end, ""
            else:
                yield "order", self.tokens[at].start, last.end, ""
            if not another:
                return
            starts.append(stop + 1)

    def arithmetic(self, at: int) -> Iterator[Change]:
        """Change an operator, leave out what is added or appended."""
        token, before, after = self.tokens[at], self.word(at - 1), self.word(at + 1)
        operand = re.match(r"[\w)\]']", before[-1:]) and before not in CLAUSES | {
            "between",
            "limit",
            "by",
            "in",
            "from",
        }
        if token.text in ("+", "-") and operand and after != "0":
            yield "arithmetic", token.start, token.end, "-" if token.text == "+" else "+"
            last = at + 1 + (self.word(at + 2) == "." and 2)
            if self.word(last + 1) != "(" and re.match(r"\w", after):
                yield "arithmetic", token.start, self.tokens[last].end, ""
        elif token.text == "||" and operand:
            stop = self.until(at + 1, ENDS | {"||", "as", "=", "<>", "collate", "from"})
            yield "concatenation", token.start, self.tokens[stop - 1].end, ""
        elif token.word == "concat" and after == "(":
            closed = self.until(at + 2, set())
            commas = [
                n
                for n in range(at + 2, closed)
                if self.tokens[n].text == "," and self.tokens[n].depth == token.depth + 1
            ]
            for comma, stop in itertools.pairwise([*commas, closed]):
                yield "concatenation", self.tokens[comma].start, self.tokens[stop - 1].end, ""

    def literal(self, at: int) -> Iterator[Change]:
        """Take another word of the same body."""
        token = self.tokens[at]
        if not re.fullmatch(r"'[\w.%-]{1,30}'", token.text) or re.match(r"'(PQ|\$)", token.text):
            return
        words = [one.text for one in self.tokens if re.fullmatch(r"'[\w.%-]{1,30}'", one.text)]
        words = [one for one in dict.fromkeys(words) if not re.match(r"'(PQ|\$)", one)]
        other = words[(words.index(token.text) + 1) % len(words)]
        yield "literal", token.start, token.end, other if other != token.text else "''"

    def choice(self, at: int) -> Iterator[Change]:
        """Take the other of two functions, or the second of what COALESCE is given."""
        token, after = self.tokens[at], self.word(at + 1)
        others = {"least": "greatest", "greatest": "least", "min": "max", "max": "min"}
        if after == "(" and token.word in others:
            yield "choice", token.start, token.end, others[token.word]
        if after == "(" and token.word == "coalesce":
            comma = self.until(at + 2, {","})
            if self.word(comma) == ",":
                yield "choice", self.tokens[at + 2].start, self.tokens[comma + 1].start, ""

    def statement(self, at: int) -> Iterator[Change]:
        """Leave out a statement."""
        token, nothing = self.tokens[at], "null" if self.dialect == "postgresql" else "do 0"
        if token.depth or not (at == 0 or self.word(at - 1) in OPENED):
            return
        sets = ":=" in (self.word(at + 1), self.word(at + 1) == "." and self.word(at + 3))
        if token.word not in BEGINNINGS and not (sets and "begin" in self.words[:at]):
            return
        stop = self.until(at, {";"})
        words = {one.word for one in self.tokens[at:stop]}
        reads = token.word in ("with", "select") and not words & {"insert", "update", "delete", "into"}
        returns = token.word == "return" and self.word(at + 1) not in ("next", "query", ";")
        if stop < len(self.tokens) - 1 and not reads and not returns:
            yield "statement", token.start, self.tokens[stop].start, nothing
