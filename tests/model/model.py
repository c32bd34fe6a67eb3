"""The queue as the contract and the routines' comments describe it, in plain Python and without a database.

Each method is the routine of that name, and returns what the routine answers. Parameters are sound: what is
refused is the matter of other tests, but for what a kind's state refuses.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

from tests.model.entries import SECOND, Content, Entry, Kind, Memory, Pending, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

T = TypeVar("T")


class RefusedByState(Exception):  # noqa: N818 -- named after what happened
    """The routine has to refuse this now."""


class Misfit(Exception):  # noqa: N818 -- named after what happened
    """The payload is not of its kind."""


class Model:
    """All kinds, all messages, and the time."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.entries: dict[tuple[str, str], Entry] = {}
        self.kinds: dict[str, Kind] = defaultdict(Kind)
        self.memories: dict[tuple[str, str], Memory] = {}
        self.history: list[tuple[Any, ...]] = []
        """What has to be kept."""
        self.ever_ended: list[tuple[Any, ...]] = []
        """What may be."""
        self._call = 0

    def set_time(self, us: int) -> None:
        """The time is another; it may be an earlier one."""
        self.now = us
        self._age()

    def _age(self) -> None:
        """Note what may be cleared away from now on, whenever anybody does."""
        for (kind, _), memory in self.memories.items():
            if not self._within_dedup(kind, memory):
                memory.doubtful = True
        self.history = [row for row in self.history if self.kinds[row[0]].settings["history_seconds"]]

    def _within_dedup(self, kind: str, memory: Memory) -> bool:
        seconds = self.kinds[kind].settings["dedup_seconds"]
        return seconds > 0 and memory.ended_at > self.now - seconds * SECOND

    def remembers(self, kind: str, key: str) -> bool | None:
        """Whether a push of that key is ignored because of one that ended; None: that can't be known."""
        memory = self.memories.get((kind, key))
        if memory is None or not self._within_dedup(kind, memory):
            return False
        return None if memory.doubtful else True

    def fits(self, kind: str, payload: Any) -> bool:
        """Whether a payload is of its kind; the model knows of one shape only."""
        shape = self.kinds[kind].settings["payload_shape"]
        return shape is None or (isinstance(payload, dict) and set(payload) == set(shape))

    # -- looking

    def of(self, kind: str) -> list[Entry]:
        """The messages of a kind, in order of delivery."""
        return sorted((e for e in self.entries.values() if e.kind == kind), key=Entry.rank)

    def holding(self, receipt: str) -> Entry | None:
        """The message that a receipt still names."""
        return next((e for e in self.entries.values() if e.receipt == receipt), None)

    def stats(self, kind: str) -> dict[str, Any]:
        """What queue_stats says of a kind."""
        states = [e.state(self.now) for e in self.of(kind)]
        waiting = [e.scheduled_at for e in self.of(kind) if e.state(self.now) == "scheduled"]
        ready = [e.scheduled_at for e in self.of(kind) if e.state(self.now) == "ready"]
        return {
            "paused": self.kinds[kind].paused,
            **{state: states.count(state) for state in ("ready", "scheduled", "reserved", "expired")},
            "waiting": 0,
            "total": len(states),
            "next_at": min(waiting, default=None),
            "oldest_ready_seconds": (self.now - min(ready)) / SECOND if ready else None,
            **{f"{name}_total": count for name, count in self.kinds[kind].counts.items()},
        }

    # -- putting in

    def all_or_none(self, steps: Iterable[Callable[[], T]]) -> list[T]:
        """Take the steps of one call; where one is refused none was taken."""
        before = copy.deepcopy(self.__dict__)
        try:
            return [step() for step in steps]
        except Misfit:
            self.__dict__.update(before)
            raise

    def new_call(self) -> None:
        """Begin a call: what one call puts in has no order of its own, but for a plain batch."""
        self._call += 1

    def push(self, kind: str, key: str, content: Content, options: Mapping[str, Any], place: int = 0) -> str:
        """Put one message; `place` is where it stands in a batch."""
        if not self.fits(kind, content.payload):
            raise Misfit
        if self.remembers(kind, key):
            return "ignored"
        at = self.now + options.get("delay_seconds", 0) * SECOND
        entry = self._new(
            kind,
            key,
            content,
            options.get("priority", 0),
            options.get("scheduled_at", at),
            attempts=options.get("attempts", 0),
            max_attempts=options.get("max_attempts"),
        )
        entry.number = (self._call, place)
        return self._put(entry, options.get("on_duplicate", "ignore"))

    def _new(self, kind: str, key: str, content: Content, priority: int, at: int, **more: Any) -> Entry:
        return Entry(kind, key, content, priority, at, self.now, (self._call, 0), **more)

    def _put(self, entry: Entry, on_duplicate: str) -> str:
        there = self.entries.get((entry.kind, entry.key))
        if there is None:
            self.entries[entry.kind, entry.key] = entry
            self.kinds[entry.kind].counts["pushed"] += 1
            return "created"
        if on_duplicate == "ignore":
            return "ignored"
        content = entry.content if on_duplicate in ("replace", "keep_time") else None
        at = entry.scheduled_at if on_duplicate in ("replace", "push_back") else None
        state = there.state(self.now)
        pending = there.pending or Pending()
        newest = Pending(content or pending.content, at if at is not None else pending.at)
        if state == "reserved":
            there.pending = newest
            return "held"
        there.content = newest.content or there.content
        there.pending = None
        if state == "expired":
            there.attempts = 0
            there.let_go(max(newest.at or 0, self.now) if at is None else at)
        elif at is not None:
            there.let_go(at)
        return "replaced"

    def _keep(self, entry: Entry, outcome: str, to_kind: str | None = None) -> None:
        """Keep what the kind wants kept of a message that ends."""
        settings = self.kinds[entry.kind].settings
        if settings["history_seconds"]:
            self.history.append(entry.ended(outcome, to_kind, self.now))
            self.ever_ended.append(self.history[-1])
        if settings["dedup_seconds"] and outcome in ("acked", "popped", "moved"):
            self.memories[entry.kind, entry.key] = Memory(self.now)

    def _end(self, entry: Entry) -> None:
        """Remove a message; what was pushed onto it while it was held is put in now, as a new entry."""
        del self.entries[entry.kind, entry.key]
        if entry.pending:
            content, at = entry.pending.content or entry.content, max(entry.pending.at or 0, self.now)
            self._put(
                self._new(
                    entry.kind, entry.key, content, entry.priority, at, max_attempts=entry.max_attempts
                ),
                "ignore",
            )

    # -- taking out

    def walk(self, kind: str, most: int) -> tuple[list[Entry], bool]:
        """What a reserve or pop of so many gets, and whether it met something that it couldn't deliver.

        On the way, what can't have another delivery ends: a newer push takes its place, or it is dead.
        """
        met, got = False, list[Entry]()
        while not self.kinds[kind].paused and len(got) < most:
            ready = [e for e in self.of(kind) if e.scheduled_at <= self.now and e not in got]
            if not ready:
                break
            entry = ready[0]
            self.kinds[kind].counts["expired"] += entry.reserved_at is not None
            if entry.pending:
                met = True
                self._end(entry)
            elif entry.attempts >= self.most_attempts(entry) or not self.fits(kind, entry.content.payload):
                met = True
                self._bury(entry)
            else:
                got.append(entry)
        return got, met

    def reserve(self, got: Iterable[Entry], worker: str, timeout_seconds: float) -> None:
        """Hold what a walk got."""
        for entry in got:
            entry.hold(self.now, self.now + round(timeout_seconds * SECOND), worker)
            self.kinds[entry.kind].counts["reserved"] += 1

    def pop(self, got: Iterable[Entry]) -> None:
        """Remove what a walk got."""
        for entry in got:
            self.kinds[entry.kind].counts["popped"] += 1
            self._keep(entry, "popped")
            del self.entries[entry.kind, entry.key]

    def most_attempts(self, entry: Entry) -> float:
        """How many deliveries it may have."""
        return entry.max_attempts or self.kinds[entry.kind].settings["max_attempts"] or float("inf")

    def dead_letter_kind(self, kind: str) -> str:
        """Where the dead letters of a kind go."""
        settings = self.kinds[kind].settings if kind in self.kinds else {}
        return settings.get("dead_letter_kind") or f"{kind}.dead"

    def _bury(self, entry: Entry) -> None:
        kind = self.dead_letter_kind(entry.kind)
        dead = self._new(kind, entry.key, entry.content, entry.priority, self.now, initially=entry.initially)
        dead.source = Source(entry.kind, entry.key, entry.priority)
        while (kind, dead.key) in self.entries:
            dead.suffixed = True
            dead.key += "~?"
        self.entries[kind, dead.key] = dead
        self.kinds[entry.kind].counts["dead"] += 1
        self._keep(entry, "dead", kind)
        self._end(entry)

    # -- ending a delivery

    def ack(self, receipt: str) -> str:
        """The work is done."""
        if not (entry := self.holding(receipt)):
            return "lost"
        self.kinds[entry.kind].counts["acked"] += 1
        self._keep(entry, "acked")
        self._end(entry)
        return "acked"

    def extend(self, receipt: str, seconds: float) -> str:
        """Hold it for so long from now."""
        if not (entry := self.holding(receipt)):
            return "lost"
        entry.scheduled_at = self.now + round(seconds * SECOND)
        return "extended"

    def nack(self, receipt: str, options: Mapping[str, Any]) -> str:
        """Back for a later try."""
        if not (entry := self.holding(receipt)):
            return "lost"
        if "payload" in options and not self.fits(entry.kind, options["payload"]):
            raise Misfit
        kind, counts = self.kinds[entry.kind], options.get("count", True)
        kind.counts["nacked"] += 1
        if "payload" in options:
            entry.content = Content(options["payload"], None, entry.content.headers)
        if options.get("final") or (counts and entry.attempts >= self.most_attempts(entry)):
            self._bury(entry)
            return "dead"
        if entry.pending:
            self._end(entry)
            return "retry"
        s = kind.settings
        backoff = min(
            s["backoff_seconds"] * s["backoff_factor"] ** (entry.attempts - 1), s["backoff_max_seconds"]
        )
        delay = options.get("delay_seconds", backoff if counts else 0)
        entry.let_go(self.now + round(delay * SECOND))
        entry.attempts -= not counts
        return "retry"

    def move(self, receipt: str, to_kind: str, options: Mapping[str, Any]) -> str:
        """To the next kind, as a new entry."""
        if not (entry := self.holding(receipt)):
            return "lost"
        payload, payload_bytes, headers = entry.content
        if "payload" in options:
            payload, payload_bytes = options["payload"], None
        if not self.fits(to_kind, payload):
            raise Misfit
        self.kinds[entry.kind].counts["moved"] += 1
        self._keep(entry, "moved", to_kind)
        moved = self._new(
            to_kind,
            options.get("key", entry.key),
            Content(payload, payload_bytes, options.get("headers", headers)),
            options.get("priority", entry.priority),
            self.now + options.get("delay_seconds", 0) * SECOND,
        )
        self._end(entry)
        outcome = self._put(moved, options.get("on_duplicate", "ignore"))
        return "duplicate" if outcome == "ignored" else "moved"

    def redrive(self, kind: str, most: int | None) -> tuple[int, int]:
        """Dead letters back to where they came from; so many are looked at, by key."""
        dead = [e for e in self.of(kind) if e.source and not e.pending and e.state(self.now) != "reserved"]
        looked_at = sorted(dead, key=lambda e: e.key)[:most]
        went = 0
        for entry in sorted(looked_at, key=lambda e: (e.source or ("", ""))[1::-1]):
            assert entry.source
            back = self._new(
                *entry.source[:2], entry.content, entry.source.priority, self.now, initially=entry.initially
            )
            if self._put(back, "ignore") == "created":
                del self.entries[entry.kind, entry.key]
                went += 1
        return went, len(looked_at) - went

    # -- by an operator

    def remove(self, kind: str, key: str) -> str:
        """Remove one that nobody holds."""
        entry = self.entries.get((kind, key))
        if entry is None:
            return "absent"
        if entry.state(self.now) == "reserved":
            return "held"
        self._keep(entry, "removed")
        del self.entries[kind, key]
        return "removed"

    def purge(self, kind: str, most: int | None, left: Sequence[str]) -> int:
        """Remove what nobody holds; of no more than so many, those that aren't left on the server."""
        free = [e for e in self.of(kind) if e.state(self.now) != "reserved"]
        gone = [e for e in free if e.key not in left]
        for entry in gone:
            self._keep(entry, "removed")
            del self.entries[kind, entry.key]
        return min(len(free), len(free) if most is None else most)

    def define(self, kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Set how a kind behaves."""
        if "dead_letter_kind" in options:
            self._refuse_a_circle(kind, options["dead_letter_kind"])
        self.kinds[kind].settings |= options
        self._age()
        return self.kinds[kind].settings

    def _refuse_a_circle(self, kind: str, to: str | None) -> None:
        to = to or f"{kind}.dead"
        for _ in range(20):  # there are not so many kinds
            if to == kind:
                raise RefusedByState("a circle of dead letters")
            to = self.dead_letter_kind(to)

    def drop(self, kind: str) -> dict[str, Any]:
        """Remove a kind with its messages, unless some are held."""
        if any(e.state(self.now) == "reserved" for e in self.of(kind)):
            raise RefusedByState("messages are held")
        if self.kinds[kind].settings["dead_letter_kind"]:
            self._refuse_a_circle(kind, None)
        for entry in self.of(kind):
            del self.entries[kind, entry.key]
        had, self.kinds[kind].settings = self.kinds[kind].settings, Kind().settings
        self.kinds[kind].paused = False
        self._age()
        return had

    def set_paused(self, kind: str, paused: bool) -> bool:
        """Pause or resume; whether that changed anything."""
        changed = self.kinds[kind].paused != paused
        self.kinds[kind].paused = paused
        return changed
