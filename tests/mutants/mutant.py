"""What a mutant is, and how some are drawn."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.txt")


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Args:
        file: from the root of the tree.
        start: where what is replaced begins.
        end: where it ends.
        text: what comes there.
        sort: of the change, a key of the weights.
        source: the file's text.
        around: where the routine begins and its body ends, in SQL.
    """

    file: str
    start: int
    end: int
    text: str
    sort: str
    source: str
    around: tuple[int, int] = (0, 0)

    @property
    def name(self) -> str:
        """What `--only` takes."""
        start = self.source.rfind("\n", 0, self.start) + 1
        line = self.source.count("\n", 0, self.start) + 1
        return (
            f"{self.file}:{line}:{self.start - start + 1} {self.sort} {short(self.old)} -> {short(self.text)}"
        )

    @property
    def old(self) -> str:
        """What is replaced."""
        return self.source[self.start : self.end]

    @property
    def mutated(self) -> str:
        """The file's text with the change."""
        return self.source[: self.start] + self.text + self.source[self.end :]

    @property
    def line(self) -> str:
        """The line in which the change begins."""
        start = self.source.rfind("\n", 0, self.start) + 1
        return self.source[start : self.source.find("\n", self.start)].strip()


def short(text: str) -> str:
    """Return a text in one line, of no more than 70 characters."""
    text = " ".join(text.split())
    return repr(text if len(text) <= 70 else f"{text[:34]} … {text[-33:]}")


def draw(mutants: Iterable[Mutant], weights: dict[str, int], seed: int) -> Iterator[Mutant]:
    """Give all mutants in an order that the seed says: a sort by its weight, then one of that."""
    chance = random.Random(seed)
    left: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        left[mutant.sort].append(mutant)
    while left:
        sorts = sorted(left)
        [sort] = chance.choices(sorts, [weights[sort] for sort in sorts])
        yield left[sort].pop(chance.randrange(len(left[sort])))
        if not left[sort]:
            del left[sort]


def equivalent() -> dict[tuple[str, str, str], str]:
    """Return why no test can see a mutant, by file, by the change as its name has it, and by line."""
    found: dict[tuple[str, str, str], str] = {}
    for block in EQUIVALENT.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines:
            file, change, line, *reason = lines
            found[file, change, line] = " ".join(reason)
    return found


def key(mutant: Mutant) -> tuple[str, str, str]:
    """Return what `equivalent` has a mutant by: numbers of lines change too often."""
    return mutant.file, mutant.name.partition(" ")[2], mutant.line
