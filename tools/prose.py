"""The prose of the pages: proselint's checks, our words, and sentences that one breath is enough for.

`python -m tools.prose` prints what it finds, as `make lint` does; it fails where there is anything.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from proselint.checks import __register__ as proselint_checks  # pyright: ignore[reportMissingTypeStubs]
from proselint.config import DEFAULT, Config  # pyright: ignore[reportMissingTypeStubs]
from proselint.registry import CheckRegistry  # pyright: ignore[reportMissingTypeStubs]
from proselint.registry.checks import Check, types  # pyright: ignore[reportMissingTypeStubs]
from proselint.tools import LintFile  # pyright: ignore[reportMissingTypeStubs]

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (
    "README.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "docs/howto/*.md",
    "docs/clients/*.md",
    "docs/reference/*.md",
)
UNREAD: Final = {"docs/mission.md"}
"""A table of tests, for those who work on the project."""
MOST_WORDS: Final = 32
"""Of a sentence."""
NOT_OURS: Final = ("typography", "lexical_illusions", "archaism")
"""Checks of proselint that are about print, that stumble where code was, or that call `for ever` old."""
WORDS: Final = {
    "in order to": "to",
    "utilize": "use",
    "utilise": "use",
    "prior to": "before",
    "subsequent to": "after",
    "in the event that": "if",
    "at this point in time": "now",
    "is able to": "can",
    "are able to": "can",
    "thereof": "of it",
    "therein": "in it",
    "be it": "whether",
    "upon": "on",
    "whilst": "while",
    "amongst": "among",
    "e\\.g\\.": "for example",
    "i\\.e\\.": "that is",
    "unack": "nack",
}
"""What isn't to be written, and what is."""
EMPTY: Final = ("simply", "obviously", "of course", "easily", "basically", "actually", "very", "just works")
"""Words that say nothing."""
RIDDLES: Final = (
    "who dies",
    "by doing nothing",
    "who only wants",
    "all others do",
    "is nobody's",
    "what that makes",
)
"""Halves of sentences that a reader has to complete."""
OURS: Final = (
    Check(types.PreferredForms(items=WORDS), path="ours.words", message="{1!r}: write {0!r}"),
    Check(types.Existence(items=EMPTY), path="ours.empty", message="{0!r} says nothing: leave it out"),
    Check(types.Existence(items=RIDDLES), path="ours.riddles", message="{0!r}: say it in a whole sentence"),
)
# what isn't prose: code, tables of values, the targets of links
CODE: Final = re.compile(
    r"^```.*?^```$|^ {4}[^\n]*$|^\|[^\n]*$|^<!--.*?-->|`[^`\n]*`|(?<=\])\([^)]*\)", re.MULTILINE | re.DOTALL
)
PARAGRAPH: Final = re.compile(r"\n\s*\n|^[#-] |^\d+\. ", re.MULTILINE)


def prose(text: str) -> str:
    """Return a page with its code blanked, line by line, so that places stay what they are."""
    return CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def long_sentences(text: str) -> list[tuple[int, str]]:
    """Return the sentences that are too long, each with its line.

    Args:
        text: a page without its code.
    """
    found: list[tuple[int, str]] = []
    for sentence in re.finditer(r"[^.!?:;]+(?:[.!?:;](?!\s)[^.!?:;]*)*", text):
        for part in PARAGRAPH.split(sentence[0]):
            words = part.split()
            if len(words) > MOST_WORDS:
                line = text.count("\n", 0, sentence.start() + sentence[0].index(part)) + 1
                found.append((line, f"{len(words)} words in a sentence: {' '.join(words[:6])} …"))
    return found


def findings(name: str, text: str) -> list[str]:
    """Return what is to be said of a page, a line each.

    Args:
        name: of the page.
        text: of the page.
    """
    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many((*proselint_checks, *OURS))
    # the first that fits a check counts
    checks = {**dict.fromkeys(NOT_OURS, False), "ours": True}
    checks |= {name: on for name, on in DEFAULT["checks"].items() if name not in checks}
    config: Config = {**DEFAULT, "checks": checks}
    plain = prose(text)
    said = [(one.pos[0], one.check_result.message) for one in LintFile(name, plain).lint(config)]
    return [f"{name}:{line}: {' '.join(what.split())}" for line, what in sorted(said + long_sentences(plain))]


def pages() -> list[Path]:
    """Return the pages that people read."""
    found = [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]
    return [path for path in found if path.relative_to(ROOT).as_posix() not in UNREAD]


def main() -> int:
    """Print the findings; returns 1 where there are any."""
    said = [
        line
        for path in pages()
        for line in findings(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    print("\n".join(said) or "prose: nothing to say")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
