"""Lines of input: read one by one, so that any number of them fits, and named by their numbers."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import click

from pyqueue_sql.cli.common import Failure, failure

T = TypeVar("T")
R = TypeVar("R")

lines_option = click.option(
    "--batch", type=click.IntRange(1, 10_000), default=1, show_default=True, help="Lines of input to a call."
)


def lines() -> Iterator[tuple[int, str]]:
    """Read the input; give its lines and their numbers, without the empty ones."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise click.UsageError(f"line {number} is not in UTF-8: {error.reason}") from None
        if text:
            yield number, text


def to_object(number: int, text: str) -> dict[str, Any]:
    """Return the JSON object that a line is."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"line {number}: {text[:40]!r} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise click.UsageError(f"line {number}: {text[:40]!r} is no JSON object")
    return found  # pyright: ignore[reportUnknownVariableType]


def objects() -> Iterator[tuple[int, dict[str, Any]]]:
    """Read JSON objects, a line each."""
    for number, text in lines():
        yield number, to_object(number, text)


def deliveries(receipts: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give an object with a receipt for each argument, and for each line of the input where one is `-`.

    Args:
        receipts: receipts, which are line 0, or `-`: then lines that are a receipt, or what `reserve` wrote.
    """
    for one in receipts:
        if one != "-":
            yield 0, {"receipt": one}
            continue
        for number, text in lines():
            if not text.startswith("{"):
                yield number, {"receipt": text}
                continue
            found = to_object(number, text)
            if not isinstance(found.get("receipt"), str):
                raise click.UsageError(f"line {number}: {text[:40]!r} has no receipt")
            yield number, found


def in_batches(
    items: Iterable[tuple[int, T]], size: int, call: Callable[[list[T]], Iterable[R]]
) -> Iterator[R]:
    """Call with at most so many at a time, and give the answers.

    Args:
        items: with the numbers of their lines; 0 is an argument.
        size: of a batch.
        call: what to do with a batch, all of it or nothing.

    Raises:
        UsageError, Failure: as they come, with the lines they are about, and those that were done before.
            Receipts that are arguments are counted, as they have no line.
    """
    rest = iter(items)
    given = done = 0
    while True:
        try:
            batch = list(itertools.islice(rest, size))
        except click.UsageError as error:
            raise click.UsageError(f"{error.message}; {_so_far(given, done)}") from None
        if not batch:
            return
        numbers = [number for number, _ in batch if number]
        arguments = len(batch) - len(numbers)
        try:
            answers = call([item for _, item in batch])
        except Exception as error:
            found = failure(error)
            if found is None:
                raise
            if not (numbers or done):
                raise found from None
            which = [_named("receipt", given + 1, given + arguments)] if arguments else []
            which += [_named("line", numbers[0], numbers[-1])] if numbers else []
            said = f"{' and '.join(which)}: {found.message}; {_so_far(given, done)}"
            raise Failure(said, found.exit_code) from None
        yield from answers
        given += arguments
        done = numbers[-1] if numbers else done


def _named(what: str, first: int, last: int) -> str:
    return f"{what} {first}" if first == last else f"{what}s {first} to {last}"


def _so_far(given: int, done: int) -> str:
    """Say how many receipts of the command line, and which lines of the input, are done."""
    parts = [f"the receipts up to {given}"] if given else []
    parts += [f"the lines up to {done}"] if done else []
    return f"{' and '.join(parts)} are done" if parts else "no line is done"
