"""The checker finds each kind of wrong, and lets pass what is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.concurrency.checker import Checker
from tests.concurrency.history import NEVER, Call, Recorder, read

if TYPE_CHECKING:
    from pathlib import Path


def push(key: str = "a", at: float = 0) -> Call:
    return Call("push", at, at + 0.1, "in", answer=[key])


def reserve(receipt: str, at: float, attempts: int = 1, *, kind: str = "in", **about: Any) -> Call:
    return Call("reserve", at, at + 0.1, kind, seconds=10, answer=[["a", receipt, attempts]], **about)


def use(op: str, receipt: str, at: float, outcome: str | None, **about: Any) -> Call:
    if outcome is None:
        return Call(op, at, NEVER, receipts=[receipt], **about)
    return Call(op, at, at + 0.1, receipts=[receipt], answer=[outcome], **about)


def end(op: str, at: float, transaction: str) -> Call:
    return Call(op, at, at + 0.1, transaction=transaction)


def refused(op: str, at: float) -> Call:
    keys, receipts = (["a"], []) if op == "push" else ([], ["r"])
    return Call(op, at, at + 0.1, keys=keys, receipts=receipts, refused="53100")


RIGHT: dict[str, list[Call]] = {
    "acked": [push(), reserve("r", 1), use("ack", "r", 2, "acked")],
    "an ack that perhaps was": [push(), reserve("r", 1), use("ack", "r", 2, None)],
    "expired, then late": [
        push(),
        reserve("r", 1),
        reserve("s", 12, 2),
        use("ack", "r", 13, "lost"),
        use("ack", "s", 14, "acked"),
    ],
    "late, but nobody had it": [push(), reserve("r", 1), use("ack", "r", 30, "acked")],
    "moved": [
        push(),
        reserve("r", 1),
        use("move", "r", 2, "moved"),
        reserve("s", 3, kind="out"),
        use("ack", "s", 4, "acked"),
    ],
    "nacked, then again": [
        push(),
        reserve("r", 1),
        use("nack", "r", 2, "retry"),
        reserve("s", 3, 2),
        use("ack", "s", 4, "acked"),
    ],
    "rolled back, then again": [
        push(),
        reserve("r", 1, transaction="t"),
        use("ack", "r", 2, "acked", transaction="t"),
        end("rollback", 3, "t"),
        reserve("s", 4),
        use("ack", "s", 5, "acked"),
    ],
    "killed in a transaction": [
        push(),
        reserve("r", 1, transaction="t"),
        use("ack", "r", 2, "acked", transaction="t"),
        reserve("s", 3),
        use("ack", "s", 4, "acked"),
    ],
    "refused, then done": [
        push(),
        reserve("r", 1),
        refused("ack", 2),
        reserve("s", 12, 2),
        use("ack", "s", 13, "acked"),
    ],
    "a refused push": [refused("push", 0)],
    "never committed": [Call("push", 0, 0.1, "in", answer=["b"], transaction="t"), end("rollback", 1, "t")],
}

WRONG: dict[str, tuple[str, list[Call]]] = {
    "lost": ("a was acked 0 times", [push()]),
    "lost though delivered": ("a was acked 0 times", [push(), reserve("r", 1)]),
    "lost in a rolled back transaction": (
        "a was acked 0 times",
        [
            push(),
            reserve("r", 1),
            use("ack", "r", 2, "acked", transaction="t"),
            end("rollback", 3, "t"),
        ],
    ),
    "refused and done": ("a was acked 0 times", [push(), reserve("r", 1), refused("ack", 2)]),
    "refused and there": (
        "a is there, and was refused",
        [refused("push", 0), reserve("r", 1), use("ack", "r", 2, "acked")],
    ),
    "a receipt twice": (
        "was given twice",
        [push(), reserve("r", 1), reserve("r", 12, 2), use("ack", "r", 13, "acked")],
    ),
    "two holds": (
        "while r held it",
        [push(), reserve("r", 1), reserve("s", 5, 2), use("ack", "s", 6, "acked")],
    ),
    "two holds after an extension": (
        "while r held it",
        [
            push(),
            reserve("r", 1),
            use("extend", "r", 9, "extended", seconds=10),
            reserve("s", 15, 2),
            use("ack", "s", 16, "acked"),
        ],
    ),
    "taken out of an open transaction": (
        "while r held it",
        [
            push(),
            reserve("r", 1, transaction="t"),
            reserve("s", 2),
            end("rollback", 3, "t"),
            use("ack", "s", 4, "acked"),
        ],
    ),
    "the same attempt twice": (
        "don't follow",
        [push(), reserve("r", 1), reserve("s", 20), use("ack", "s", 21, "acked")],
    ),
    "attempts backwards": (
        "don't follow",
        [push(), reserve("r", 1, 2), reserve("s", 20, 1), use("ack", "s", 21, "acked")],
    ),
    "an ack by one who lost it": (
        "acked by r though s has it since",
        [push(), reserve("r", 1), reserve("s", 12, 2), use("ack", "r", 13, "acked")],
    ),
    "an extension by one who lost it": (
        "extended by r though s has it since",
        [
            push(),
            reserve("r", 1),
            reserve("s", 12, 2),
            use("extend", "r", 13, "extended", seconds=1),
            use("ack", "s", 14, "acked"),
        ],
    ),
    "lost while it held": (
        "was lost while it held",
        [
            push(),
            reserve("r", 1),
            use("ack", "r", 2, "lost"),
            reserve("s", 12, 2),
            use("ack", "s", 13, "acked"),
        ],
    ),
    "acked and moved": (
        "ended 2 times",
        [push(), reserve("r", 1), use("ack", "r", 2, "acked"), use("move", "r", 3, "moved")],
    ),
    "in both kinds": (
        "a was acked 2 times",
        [
            push(),
            reserve("r", 1),
            use("ack", "r", 2, "acked"),
            reserve("s", 3, kind="out"),
            use("ack", "s", 4, "acked"),
        ],
    ),
    "delivered after the end": (
        "after it was acked",
        [push(), reserve("r", 1), use("ack", "r", 2, "acked"), reserve("s", 3, 2)],
    ),
}


@pytest.mark.parametrize("calls", RIGHT.values(), ids=list(RIGHT))
def test_what_is_right_passes(calls: list[Call]) -> None:
    assert Checker(calls).check() == []


@pytest.mark.parametrize(("finding", "calls"), WRONG.values(), ids=list(WRONG))
def test_what_is_wrong_is_found(finding: str, calls: list[Call]) -> None:
    assert any(finding in text for text in Checker(calls).check())


def test_a_history_is_read_as_it_was_written_up_to_where_the_process_died(tmp_path: Path) -> None:
    path = tmp_path / "w.jsonl"
    recorder = Recorder(path)
    recorder.record("push", lambda: 1, lambda _: ["a"], kind="in", transaction="1")
    with pytest.raises(ZeroDivisionError):
        recorder.record("ack", lambda: 1 // 0, lambda _: [], receipts=["r"])
    recorder.close()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"n": 3, "op": "re')
    answered, unanswered = read([path])
    assert (answered.op, answered.answer, answered.transaction) == ("push", ["a"], "w.jsonl:1")
    assert answered.start <= answered.end < NEVER
    telling = Recorder(tmp_path / "v.jsonl", lambda error: type(error).__name__)
    with pytest.raises(ZeroDivisionError):
        telling.record("ack", lambda: 1 // 0, lambda _: [], receipts=["r"])
    telling.close()
    [told] = read([tmp_path / "v.jsonl"])
    assert (told.refused, told.answer, told.end < NEVER) == ("ZeroDivisionError", None, True)
    assert (unanswered.op, unanswered.receipts, unanswered.end, unanswered.answer) == (
        "ack",
        ["r"],
        NEVER,
        None,
    )
