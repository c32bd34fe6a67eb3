"""A history: every call of a run, with the time before and after it, in files that only grow.

A line is written before a call and another after it, so that a process which is killed leaves calls whose
outcome nobody knows. The times are of the machine's monotonic clock, which all its processes share.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

T = TypeVar("T")
NEVER = float("inf")


@dataclass
class Call:
    """One call. Without an answer its end is NEVER, and it may or may not have taken place."""

    op: str
    start: float
    end: float = NEVER
    kind: str = ""
    """Of a reserve and a push."""
    receipts: list[str] = field(default_factory=list[str])
    """Of an ack, nack, move, extend."""
    seconds: float = 0
    """How long a reserve or an extend holds."""
    transaction: str | None = None
    """Names the transaction that it is part of; None: of its own."""
    keys: list[str] = field(default_factory=list[str])
    """Of a push: what is to be pushed."""
    refused: str = ""
    """The code of the error by which the server refused it: then it has no answer, and changed nothing."""
    answer: list[Any] | None = None
    """A reserve: [key, receipt, attempts] of each message; a push: its new keys; else the outcomes."""


class Recorder:
    """Writes the calls of one process, or thread, to a file of its own.

    Args:
        path: the file; it is created.
        refusal: the code of an error by which a server refuses a call, "" for any other;
            None: all are others.
    """

    def __init__(self, path: Path, refusal: Callable[[Exception], str] | None = None) -> None:
        self._refusal = refusal
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self._number = 0

    def record(self, op: str, call: Callable[[], T], answer: Callable[[T], list[Any]], **about: Any) -> T:
        """Make a call and write down what is known about it.

        Args:
            op: its name.
            call: what makes it.
            answer: turns its result into what `Call.answer` says.
            about: further fields of `Call`.
        """
        self._number += 1
        number = self._number
        self._write({"n": number, "op": op, "start": time.monotonic(), **about})
        try:
            result = call()
        except Exception as error:
            if self._refusal is not None and (code := self._refusal(error)):
                self._write({"n": number, "end": time.monotonic(), "refused": code})
            raise
        self._write({"n": number, "end": time.monotonic(), "answer": answer(result)})
        return result

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _write(self, line: dict[str, Any]) -> None:
        os.write(self._file, json.dumps(line).encode() + b"\n")


def read(paths: Iterable[Path]) -> list[Call]:
    """Return the calls in all files; a transaction gets a name that no other file has."""
    calls: list[Call] = []
    for path in paths:
        mine: dict[int, Call] = {}
        for text in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if not text.endswith("\n"):
                break  # its process was killed while it wrote
            line = json.loads(text)
            number = line.pop("n")
            if number in mine:
                one = mine[number]
                one.end, one.answer, one.refused = line["end"], line.get("answer"), line.get("refused", "")
            else:
                mine[number] = Call(**line)
                if mine[number].transaction is not None:
                    mine[number].transaction = f"{path.name}:{mine[number].transaction}"
        calls += mine.values()
    return calls
