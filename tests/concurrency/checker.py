"""Says what is wrong with a history. It knows the contract, and nothing of how the queue does it.

It judges only what the calls prove from outside: a call that was answered took effect between its start and
its end; one that wasn't may have, at any time. Each key is pushed once, so a kind and a key name one entry.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tests.concurrency.history import NEVER, Call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SLACK = 0.05
"""Seconds by which a hold may end early: the server's clock may be slewed against the one of the history."""

ENDS_ENTRY = ("acked", "moved", "dead")
RELEASES = ("ack", "nack", "move")


class Hold(NamedTuple):
    """A time in which a delivery surely had its message."""

    start: float
    end: float


@dataclass
class Delivery:
    """A message that was handed out, to a client that lived to hear of it."""

    key: tuple[str, str]
    receipt: str
    attempts: int
    start: float
    end: float
    """When it had surely happened: the answer, or that of the commit."""
    answered: float
    fate: str
    """kept, undone or unknown, with its transaction."""
    seconds: float
    undone: float = NEVER
    """When its transaction began to roll back, or may have."""
    uses: list[Use] = field(default_factory=list["Use"])

    def holds(self) -> Iterator[Hold]:
        """Yield the times of holding, but for what ends them."""
        yield Hold(self.answered, min(self.start + self.seconds - SLACK, self.undone))
        for use in self.uses:
            if use.outcome == "extended" and use.fate == "kept":
                yield Hold(use.call.end, use.call.start + use.call.seconds - SLACK)

    def released(self) -> float:
        """Return the time at which its holder first gave it away, or may have."""
        return min((use.call.start for use in self.uses if use.call.op in RELEASES), default=NEVER)


@dataclass
class Use:
    """A receipt in a call."""

    call: Call
    outcome: str | None
    """None: nobody knows."""
    end: float
    fate: str


class Checker:
    """The findings about a history, one text each; empty is good.

    Args:
        calls: the history.
        timed: whether the server's clock went as ours did; else nobody knows how long a hold lasted.
    """

    def __init__(self, calls: Iterable[Call], *, timed: bool = True) -> None:
        self._timed = timed
        self.wrong: list[str] = []
        self._calls = list(calls)
        self._ends = {call.transaction: call for call in self._calls if call.op in ("commit", "rollback")}
        self._deliveries: dict[str, Delivery] = {}
        self._entries: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
        self._read_deliveries()
        self._read_uses()

    def check(self) -> list[str]:
        """Return everything that is wrong."""
        for entry, deliveries in self._entries.items():
            deliveries.sort(key=lambda delivery: delivery.start)
            if self._timed:
                self._check_holds(entry, deliveries)
            self._check_attempts(entry, deliveries)
            self._check_uses(entry, deliveries)
            self._check_ends(entry, deliveries)
        self._check_nothing_lost()
        return self.wrong

    def _fate(self, call: Call) -> tuple[str, float]:
        """Return kept, undone or unknown, and when that had happened."""
        if call.refused:
            return "undone", call.end
        if call.transaction is None:
            return ("kept" if call.end < NEVER else "unknown"), call.end
        end = self._ends.get(call.transaction)
        if end is None or end.end == NEVER:
            return "unknown", NEVER
        return ("kept" if end.op == "commit" else "undone"), end.end

    def _read_deliveries(self) -> None:
        for call in self._calls:
            if call.op != "reserve":
                continue
            fate, end = self._fate(call)
            last = self._ends.get(call.transaction) if call.transaction else None
            for key, receipt, attempts in call.answer or ():
                if receipt in self._deliveries:
                    self.wrong.append(f"receipt {receipt} was given twice")
                # a transaction that never came to its end held the message, but nobody knows for how long
                undone = NEVER if fate == "kept" else last.start if last else call.end
                delivery = Delivery(
                    (call.kind, key), receipt, attempts, call.start, end, call.end, fate, call.seconds, undone
                )
                self._deliveries[receipt] = delivery
                self._entries[delivery.key].append(delivery)

    def _read_uses(self) -> None:
        for call in sorted(self._calls, key=lambda call: call.start):
            fate, end = self._fate(call)
            for place, receipt in enumerate(call.receipts):
                outcome = call.answer[place] if call.answer else None
                self._deliveries[receipt].uses.append(Use(call, outcome, end, fate))

    def _check_holds(self, entry: tuple[str, str], deliveries: list[Delivery]) -> None:
        for holder in deliveries:
            released = holder.released()
            for hold in holder.holds():
                for other in deliveries:
                    if (
                        other is not holder
                        and hold.start <= other.start
                        and other.answered <= min(hold.end, released)
                    ):
                        self.wrong.append(f"{entry} went to {other.receipt} while {holder.receipt} held it")

    def _check_attempts(self, entry: tuple[str, str], deliveries: list[Delivery]) -> None:
        kept = sorted((d for d in deliveries if d.fate == "kept"), key=lambda d: d.attempts)
        for earlier, later in pairwise(kept):
            if earlier.attempts == later.attempts or later.end < earlier.start:
                self.wrong.append(
                    f"{entry}: attempts {earlier.attempts} and {later.attempts} don't follow on another"
                )

    def _check_uses(self, entry: tuple[str, str], deliveries: list[Delivery]) -> None:
        for delivery in deliveries:
            for number, use in enumerate(delivery.uses):
                if use.outcome is None:
                    continue
                if use.outcome == "lost":
                    held = any(h.start <= use.call.start and use.call.end <= h.end for h in delivery.holds())
                    released = any(before.call.op in RELEASES for before in delivery.uses[:number])
                    if self._timed and held and not released:
                        self.wrong.append(
                            f"{entry}: {use.call.op} of {delivery.receipt} was lost while it held"
                        )
                    continue
                for other in deliveries:
                    if other.fate == "kept" and other.start > delivery.end and other.end < use.call.start:
                        since = f"though {other.receipt} has it since"
                        self.wrong.append(f"{entry}: {use.outcome} by {delivery.receipt} {since}")

    def _check_ends(self, entry: tuple[str, str], deliveries: list[Delivery]) -> None:
        ends = [use for d in deliveries for use in d.uses if use.fate == "kept" and use.outcome in ENDS_ENTRY]
        if len(ends) > 1:
            self.wrong.append(f"{entry} ended {len(ends)} times: {[use.outcome for use in ends]}")
        for end in ends:
            for delivery in deliveries:
                if delivery.start > end.end:
                    self.wrong.append(f"{entry} went to {delivery.receipt} after it was {end.outcome}")

    def _check_nothing_lost(self) -> None:
        acked: dict[str, int] = defaultdict(int)
        perhaps: set[str] = set()
        for (_, key), deliveries in self._entries.items():
            for use in (use for d in deliveries for use in d.uses if use.call.op == "ack"):
                acked[key] += use.fate == "kept" and use.outcome == "acked"
                if use.fate == "unknown" and use.outcome in (None, "acked"):
                    perhaps.add(key)
        there = {key for _, key in self._entries}
        for call in self._calls:
            if call.refused:
                self.wrong += [f"{key} is there, and was refused" for key in call.keys if key in there]
            for key in (call.answer or ()) if call.op == "push" and self._fate(call)[0] == "kept" else ():
                if acked[key] > 1 or (acked[key] == 0 and key not in perhaps):
                    self.wrong.append(f"{key} was acked {acked[key]} times")
