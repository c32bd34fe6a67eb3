"""The queue as the contract and the routines' comments describe it, in plain Python and without a database.

Each method is the routine of that name, and returns what the routine answers. Parameters are sound: what is
refused is the matter of other tests, but for what a kind's state refuses. What a feature promises stands in a
module of its own; here is what messages go through.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tests.model.entries import (
    SECOND,
    Content,
    Entry,
    Follows,
    Kind,
    Member,
    Misfit,
    Pending,
    RefusedByState,
    Source,
)
from tests.model.groups import Group
from tests.model.limits import Bucket, free_places
from tests.model.log import Happened, Log
from tests.model.memory import Memory
from tests.model.semaphores import Semaphores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tests.model.schedules import Schedule

T = TypeVar("T")


ANY = (float("inf"), float("inf"))
"""Places of a kind without a limit."""


class Model:
    """All kinds, all messages, and the time."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.entries: dict[tuple[str, str], Entry] = {}
        self.kinds: dict[str, Kind] = defaultdict(Kind)
        self.memory, self.log, self.semaphores = Memory(), Log(), Semaphores()
        self.jittered: list[Entry] = []
        """Wait by a backoff, less up to a fifth of it: how long is the server's to choose."""
        self.groups: dict[str, Group] = {}
        self.gone: list[Member] = []
        """Members that vanished: they are done once somebody prunes."""
        self.buckets: dict[str, Bucket] = {}
        self.subscriptions: set[tuple[str, str]] = set()
        self.schedules: dict[str, Schedule] = {}
        self._call = self._serial = 0
        self._unsettled: list[Group] = []
        self._together = False

    def set_time(self, us: int) -> None:
        """The time is another; it may be an earlier one."""
        self.now = us
        for entry in self.entries.values():
            entry.lapsed |= entry.state(us) == "expired"
        self.memory.age(self.kinds, us)

    def new_call(self) -> None:
        """Begin a call: what one call puts in has no order of its own, but for a plain batch."""
        self._call += 1

    def all_or_none(self, steps: Iterable[Callable[[], T]]) -> list[T]:
        """Take the steps of one call; where one is refused none was taken."""
        before = copy.deepcopy(self.__dict__)
        try:
            return [step() for step in steps]
        except (Misfit, RefusedByState):
            self.__dict__.update(before)
            raise

    # -- looking

    def settings(self, kind: str) -> dict[str, Any]:
        """The settings of a kind."""
        return self.kinds[kind].settings

    def of(self, kind: str) -> list[Entry]:
        """The messages of a kind, in order of delivery."""
        return sorted((e for e in self.entries.values() if e.kind == kind), key=Entry.rank)

    def holding(self, receipt: str) -> Entry | None:
        """The message that a receipt still names."""
        return next((e for e in self.entries.values() if e.receipt == receipt), None)

    def remembers(self, kind: str, key: str) -> bool | None:
        """Whether a push of that key is ignored because of one that ended; None: that can't be known."""
        return self.memory.has(kind, key, self.kinds, self.now)

    def fits(self, kind: str, payload: Any) -> None:
        """Refuse a payload that is not of its kind."""
        if not Content(payload, None, None).fits(self.settings(kind)["payload_shape"]):
            raise Misfit

    def takes_in(self, kind: str) -> None:
        """Refuse what comes into a kind that is drained."""
        if self.kinds[kind].draining:
            raise RefusedByState("drained")

    def stats(self, kind: str) -> dict[str, Any]:
        """What queue_stats says of a kind; whether what needs slots waits for them isn't modelled."""
        states = [e.state(self.now) for e in self.of(kind)]
        some = {name: states.count(name) for name in ("ready", "scheduled", "reserved", "expired", "waiting")}
        waiting = [e.scheduled_at for e in self.of(kind) if e.state(self.now) == "scheduled"]
        ready = [e.scheduled_at for e in self.of(kind) if e.state(self.now) == "ready"]
        return {
            "paused": self.kinds[kind].paused,
            "draining": self.kinds[kind].draining,
            **some,
            "total": len(states),
            "next_at": min(waiting, default=None),
            "oldest_ready_seconds": (self.now - min(ready)) / SECOND if ready else None,
            **{f"{name}_total": count for name, count in self.kinds[kind].counts.items()},
        }

    # -- putting in

    def push(
        self,
        kind: str,
        key: str,
        content: Content,
        options: Mapping[str, Any],
        place: int = 0,
        topic: str | None = None,
    ) -> str:
        """Put one message; `place` is where it stands in a batch."""
        self.takes_in(kind)
        self.fits(kind, content.payload)
        if self.remembers(kind, key):
            return "ignored"
        group = self.groups.get(options.get("group", ""))
        entry = self._new(
            kind,
            key,
            content,
            options.get("priority", 0),
            options.get("scheduled_at", self.now + options.get("delay_seconds", 0) * SECOND),
            attempts=options.get("attempts", 0),
            max_attempts=options.get("max_attempts"),
            follows=Follows(
                tuple(options.get("route", ())),
                options.get("order_key"),
                tuple(options.get("semaphores", ())),
                Member(group.name, kind, key) if group else None,
            ),
        )
        entry.number = (self._call, place)
        if group and group.state != "open" and (kind, key) not in self.entries:
            raise RefusedByState("the group has finished")
        outcome = self._put(entry, options.get("on_duplicate", "ignore"), topic)
        if group and entry.follows.member and outcome == "created":
            group.members.append(entry.follows.member)
            self.finish(group)
        return outcome

    def push_many(
        self, kind: str, messages: Iterable[tuple[str, Content, Mapping[str, Any]]]
    ) -> list[tuple[str, str]]:
        """Put many, in their order."""
        self.takes_in(kind)
        answers = self.all_or_none(
            [
                lambda p=place, k=key, c=content, o=options: (k, self.push(kind, k, c, o, p))
                for place, (key, content, options) in enumerate(messages)
            ]
        )
        self.log.end_batch(self._call, {e.key: tuple(e.content) for e in self.of(kind) if not e.pending})
        return answers

    def publish(
        self, topic: str, key: str, content: Content, options: Mapping[str, Any]
    ) -> list[tuple[str, str]]:
        """A copy to each kind that is subscribed."""
        kinds = sorted(
            {kind for pattern, kind in self.subscriptions if matches(pattern.split("."), topic.split("."))}
        )
        for kind in kinds:
            self.takes_in(kind)
            self.fits(kind, content.payload)
        return self.all_or_none(
            [lambda k=kind: (k, self.push(k, key, content, options, topic=topic)) for kind in kinds]
        )

    def tick(self) -> int:
        """Push what the schedules are due for."""
        made = 0
        for schedule in self.schedules.values():
            if not self.kinds[schedule.kind].draining:
                for key in schedule.tick(self.now):
                    content = Content(schedule.payload, None, None)
                    entry = self._new(schedule.kind, key, content, schedule.priority, self.now)
                    made += self._put(entry, "ignore") == "created"
        return made

    def _new(self, kind: str, key: str, content: Content, priority: int, at: int, **more: Any) -> Entry:
        return Entry(kind, key, content, priority, at, self.now, (self._call, 0), **more)

    def _put(self, entry: Entry, on_duplicate: str, topic: str | None = None) -> str:
        there = self.entries.get((entry.kind, entry.key))
        if there is None:
            self._add(entry)
            self.kinds[entry.kind].counts["pushed"] += 1
            self._log(entry, "pushed", topic=topic)
            return "created"
        if on_duplicate == "ignore":
            return "ignored"
        content = entry.content if on_duplicate in ("replace", "keep_time") else None
        at = entry.scheduled_at if on_duplicate in ("replace", "push_back") else None
        state = there.state(self.now)
        pending = there.pending or Pending()
        newest = Pending(content or pending.content, at if at is not None else pending.at)
        self.semaphores.touch(there.semaphores, self.now)
        if state == "reserved":
            there.pending = newest
            return "held"
        there.content = newest.content or there.content
        there.pending = None
        if state == "expired":
            there.attempts = 0
            there.let_go(max(newest.at or 0, self.now) if at is None else at)
        else:
            there.let_go(there.scheduled_at if at is None else at)
        if content:
            self._log(there, "replaced", topic=topic)
        return "replaced"

    def _add(self, entry: Entry) -> None:
        """It is there now: at the end of the line of its order key, if it has one."""
        self._serial += 1
        entry.serial = self._serial
        entry.waits = bool(self._line(entry))
        self.entries[entry.kind, entry.key] = entry
        self.kinds[entry.kind].slotted |= bool(entry.semaphores)
        self.semaphores.touch(entry.semaphores, self.now)

    def _line(self, entry: Entry) -> list[Entry]:
        """Who stands in the line of a message's order key, the first one first."""
        line = [
            e
            for e in self.entries.values()
            if entry.order_key and (e.kind, e.order_key) == (entry.kind, entry.order_key)
        ]
        return sorted(line, key=lambda e: e.serial)

    def _log(self, entry: Entry, event: str, to_kind: str | None = None, topic: str | None = None) -> None:
        if self.settings(entry.kind)["log_seconds"]:
            content = tuple(entry.content) if event in ("pushed", "replaced") else (None, None, None)
            self.log.add(
                Happened(self._call, event, topic, entry.kind, entry.key, content, to_kind, self.now)
            )

    # -- ending a message

    def _end(self, entry: Entry, outcome: str | None, to_kind: str | None = None) -> None:
        """Remove a message; what was pushed onto it while it was held is put in now, as a new entry.

        Args:
            entry: the message.
            outcome: None: it makes room for what was pushed, which is the same member of its group.
            to_kind: where it went.
        """
        if outcome:
            self.memory.keep(entry, outcome, to_kind, self.settings(entry.kind), self.now)
            self._log(entry, outcome, to_kind)
        if outcome in ("acked", "popped", "moved", "dead"):
            self.kinds[entry.kind].counts[outcome] += 1
        del self.entries[entry.kind, entry.key]
        self.semaphores.touch(entry.semaphores, self.now)
        line = self._line(entry)
        if line and line[0].waits:
            line[0].waits = False
            line[0].place = max(line[0].scheduled_at, self.now)
        if entry.pending:
            member = entry.follows.member if outcome is None else None
            newest = self._new(
                entry.kind,
                entry.key,
                entry.newest,
                entry.priority,
                max(entry.pending.at or 0, self.now),
                max_attempts=entry.max_attempts,
                follows=entry.follows._replace(member=member, order_key=entry.order_key),
            )
            self._put(newest, "ignore")

    def _vanish(self, entry: Entry, outcome: str | None) -> None:
        """It ends without anybody saying that it is done."""
        entry.pending = None
        self._end(entry, outcome)
        if entry.follows.member:
            self.gone.append(entry.follows.member)

    def prune(self) -> None:
        """Members that vanished are done, and who waits for a semaphore is told of room that there is."""
        self.semaphores.touch(self.semaphores.capacity, self.now)
        for member in self.gone:
            if self.groups[member.group].state == "open":
                self._done(member, "gone")
        self.gone = []

    def _done(self, member: Member | None, outcome: str, result: tuple[Any, ...] = ()) -> None:
        if member and not member.outcome:
            member.outcome, member.result = outcome, result
            self._unsettled.append(self.groups[member.group])
            if not self._together:
                self.settle()

    @contextmanager
    def together(self) -> Iterator[None]:
        """What ends in one call: its groups look whether that was all once all of it has ended."""
        self._together = True
        try:
            yield
        finally:
            self._together = False
        self.settle()

    def settle(self) -> None:
        """Groups of what has ended look whether that was all."""
        unsettled, self._unsettled = self._unsettled, []
        for group in unsettled:
            self.finish(group)

    def finish(self, group: Group) -> None:
        """Push what follows a group, if it is time to, even into a kind that is drained or has a shape."""
        if follows := group.finish():
            kind, payload = follows
            self._put(self._new(kind, group.name, Content(payload, None, None), 0, self.now), "replace")

    # -- taking out

    def allowed(self, kind: str, most: int) -> tuple[int, int]:
        """For how many deliveries there are places and tokens, at the least and at the most."""
        if self.kinds[kind].paused:  # nobody looks into the bucket
            return 0, 0
        least = highest = most
        if kind in self.buckets:
            tokens = self.buckets[kind].tokens(self.now)
            least, highest = min(least, tokens[0]), min(highest, tokens[1])
        return least, highest

    def places(self, kind: str) -> tuple[float, float]:
        """How many more of a kind may be held, at the least and at the most."""
        limit = self.settings(kind)["max_reserved"]
        return free_places(limit, self.of(kind), self.now) if limit else ANY

    def deliverable(self, entry: Entry) -> bool:
        """Whether it may have another delivery; else a reserve ends it."""
        most = entry.max_attempts or self.settings(entry.kind)["max_attempts"] or float("inf")
        fits = entry.content.fits(self.settings(entry.kind)["payload_shape"])
        return not entry.pending and entry.attempts < most and fits

    def end_undeliverable(self, entry: Entry) -> None:
        """What a reserve met and can't deliver: a newer push takes its place, or it is dead."""
        self.kinds[entry.kind].counts["expired"] += entry.reserved_at is not None
        if entry.pending:
            self._end(entry, None)
        else:
            self._bury(entry)

    def reserve(self, got: Iterable[Entry], worker: str, timeout_seconds: float) -> None:
        """Hold what was taken."""
        for entry in got:
            counts = self.kinds[entry.kind].counts
            counts["expired"] += entry.reserved_at is not None
            counts["reserved"] += 1
            entry.hold(self.now, self.now + round(timeout_seconds * SECOND), worker)
            self.semaphores.touch(entry.semaphores, self.now)

    def pop(self, got: Iterable[Entry]) -> None:
        """Remove what was taken."""
        for entry in got:
            self.kinds[entry.kind].counts["expired"] += entry.reserved_at is not None
            self._vanish(entry, "popped")

    def dead_letter_kind(self, kind: str) -> str:
        """Where the dead letters of a kind go."""
        settings = self.settings(kind) if kind in self.kinds else {}
        return settings.get("dead_letter_kind") or f"{kind}.dead"

    def _bury(self, entry: Entry, error: str = "…") -> None:
        kind = self.dead_letter_kind(entry.kind)
        order_key = entry.source.order_key if entry.source else entry.order_key
        dead = self._new(kind, entry.key, entry.content, entry.priority, self.now, initially=entry.initially)
        dead.source = entry.source or Source(entry.kind, entry.key, entry.priority, order_key)
        dead.follows, dead.errors = entry.follows, (*entry.errors, error)[-10:]
        self._end(entry, "dead", kind)
        while (kind, dead.key) in self.entries:
            dead.suffixed = True
            dead.key += "~?"
        self._add(dead)
        self._log(dead, "pushed")
        member = entry.follows.member
        if member and self.groups[member.group].on_dead != "wait":
            self._done(member, "dead")

    # -- ending a delivery

    def settle_dead(self, group: Group) -> None:
        """Whose members died while it waited for them, and that waits no more."""
        if group.on_dead != "wait":
            for entry in self.entries.values():
                member = entry.follows.member
                if entry.source and member and member.group == group.name and not member.outcome:
                    member.outcome = "dead"

    def ack(self, receipts: Sequence[str], options: Mapping[str, Any]) -> list[str]:
        """The work is done; groups look whether that was all at the end of the call."""
        outcomes = list[str]()
        done = list[Member | None]()
        result = (options["result"],) if "result" in options else ()
        for receipt in receipts:
            entry = self.holding(receipt)
            route = entry.follows.route if entry and not entry.source else ()
            if not entry:
                outcomes.append("lost")
            elif to_kind := options.get("to") or next(iter(route), None):
                more = {name: options[name] for name in ("payload",) if name in options}
                outcomes.append(self.move(receipt, to_kind, more, result, steps=1))
            else:
                outcomes.append("acked")
                self._end(entry, "acked")
                done.append(entry.follows.member)
        for member in done:
            self._done(member, "acked", result)
        return outcomes

    def extend(self, receipt: str, seconds: float) -> str:
        """Hold it for so long from now, unless its place was wanted since it expired."""
        entry = self.holding(receipt)
        if not entry or entry.reserved_by is None:
            return "lost"
        entry.scheduled_at = self.now + round(seconds * SECOND)
        entry.lapsed = seconds == 0
        self.semaphores.touch(entry.semaphores, self.now)
        return "extended"

    def nack(self, receipt: str, options: Mapping[str, Any]) -> str:
        """Back for a later try."""
        if not (entry := self.holding(receipt)):
            return "lost"
        if "payload" in options:
            self.fits(entry.kind, options["payload"])
            entry.content = Content(options["payload"], None, entry.content.headers)
        settings, counts = self.settings(entry.kind), options.get("count", True)
        self.kinds[entry.kind].counts["nacked"] += 1
        most = entry.max_attempts or settings["max_attempts"] or float("inf")
        if options.get("final") or (counts and entry.attempts >= most):
            self._bury(entry, options.get("error", "…"))
            return "dead"
        if entry.pending:
            self._end(entry, None)
            return "retry"
        backoff = min(
            settings["backoff_seconds"] * settings["backoff_factor"] ** (entry.attempts - 1),
            settings["backoff_max_seconds"],
        )
        fails = counts and "error" in options
        if fails and backoff and "delay_seconds" not in options:
            self.jittered.append(entry)
        if "error" in options:
            entry.errors = (*entry.errors, options["error"])[-10:]
        delay = options.get("delay_seconds", backoff if fails else 0)
        entry.let_go(self.now + round(delay * SECOND))
        entry.attempts -= not counts
        self.semaphores.touch(entry.semaphores, self.now)
        return "retry"

    def move(
        self,
        receipt: str,
        to_kind: str,
        options: Mapping[str, Any],
        result: tuple[Any, ...] = (),
        steps: int = 0,
    ) -> str:
        """To the next kind, as a new entry; `steps` of its route are behind it then."""
        if not (entry := self.holding(receipt)):
            return "lost"
        if to_kind != entry.kind:
            self.takes_in(to_kind)
        payload, payload_bytes, headers = entry.content
        if "payload" in options:
            payload, payload_bytes = options["payload"], None
        self.fits(to_kind, payload)
        moved = self._new(
            to_kind,
            options.get("key", entry.key),
            Content(payload, payload_bytes, options.get("headers", headers)),
            options.get("priority", entry.priority),
            self.now + options.get("delay_seconds", 0) * SECOND,
            follows=entry.follows._replace(route=entry.follows.route[steps:], order_key=entry.order_key),
        )
        self._end(entry, "moved", to_kind)
        outcome = self._put(moved, options.get("on_duplicate", "ignore"))
        if outcome != "created":
            self._done(entry.follows.member, "duplicate", result)
        return "duplicate" if outcome == "ignored" else "moved"

    def redrive(self, kind: str, most: int | None) -> tuple[int, int]:
        """Dead letters back to where they came from; so many go, by key, past those that can't."""
        dead = [e for e in self.of(kind) if e.source and not e.pending and e.state(self.now) != "reserved"]
        going, stayed = dict[Any, Entry](), 0
        for entry in sorted(dead, key=lambda e: e.key):
            if len(going) == most:
                break
            assert entry.source
            place = (entry.source.key, entry.source.kind)
            if place in going or place[::-1] in self.entries or self.kinds[entry.source.kind].draining:
                stayed += 1
            else:
                going[place] = entry
        for _, entry in sorted(going.items()):
            assert entry.source
            back = self._new(
                entry.source.kind,
                entry.source.key,
                entry.content,
                entry.source.priority,
                self.now,
                initially=entry.initially,
                errors=entry.errors,
                follows=entry.follows._replace(order_key=entry.source.order_key),
            )
            assert self._put(back, "ignore") == "created"
            self._end(entry, "moved", entry.source.kind)
        return len(going), stayed

    def replay(self, kind: str, ended: Sequence[tuple[str, Content, int]]) -> tuple[int, int]:
        """What has ended comes back: key, content and priority of each, the oldest first."""
        self.takes_in(kind)
        newest = {key: place for place, (key, _, _) in enumerate(ended)}
        went = 0
        for place, (key, content, priority) in enumerate(ended):
            if newest[key] == place and (kind, key) not in self.entries:
                entry = self._new(kind, key, content, priority, self.now)
                entry.number = (self._call, place)
                went += self._put(entry, "ignore") == "created"
        return went, len(ended) - went

    def reap(self, worker: str) -> int:
        """Free what a dead worker holds."""
        held = [
            e for e in self.entries.values() if e.state(self.now) == "reserved" and e.reserved_by == worker
        ]
        with self.together():
            for entry in sorted(held, key=lambda e: (e.key, e.kind)):
                there = self.kinds[entry.kind]
                there.counts["expired"] += 1
                most = entry.max_attempts or self.settings(entry.kind)["max_attempts"] or float("inf")
                if not there.paused and entry.attempts >= most:
                    self._bury(entry)
                elif entry.pending:
                    self._end(entry, None)
                else:
                    entry.errors = (*entry.errors, "…")[-10:]
                    entry.let_go(self.now)
        self.semaphores.touch(self.semaphores.capacity, self.now)
        return len(held)

    # -- by an operator

    def remove(self, kind: str, key: str) -> str:
        """Remove one that nobody holds."""
        entry = self.entries.get((kind, key))
        if entry is None:
            return "absent"
        if entry.state(self.now) == "reserved":
            return "held"
        self._vanish(entry, "removed")
        return "removed"

    def purge(self, kind: str, most: int | None, left: Sequence[str]) -> int:
        """Remove what nobody holds; of no more than so many, those that aren't left on the server."""
        free = [e for e in self.of(kind) if e.state(self.now) != "reserved"]
        for entry in [e for e in free if e.key not in left]:
            self._vanish(entry, "removed")
        return min(len(free), len(free) if most is None else most)

    def define(self, kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Set how a kind behaves."""
        if "dead_letter_kind" in options:
            self._refuse_a_circle(kind, options["dead_letter_kind"])
        before = dict(self.settings(kind))
        self.settings(kind).update(options)
        self._changed(kind, before)
        return self.settings(kind)

    def _changed(self, kind: str, before: Mapping[str, Any]) -> None:
        """Limits that are new: what is held has places, and the bucket has one token."""
        settings = self.settings(kind)
        self.kinds[kind].limited |= settings["max_reserved"] is not None
        if settings["max_reserved"] and not before["max_reserved"]:
            for entry in self.of(kind):
                entry.placeless = entry.state(self.now) != "reserved"
                if entry.placeless:
                    entry.reserved_by = None  # of a hold that has expired, which can't be extended any more
        if (rate := settings["rate_per_second"]) != before["rate_per_second"]:
            self.buckets.pop(kind, None)
            if rate:
                self.buckets[kind] = Bucket(rate, self.now)
        self.memory.age(self.kinds, self.now)

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
        if self.settings(kind)["dead_letter_kind"]:
            self._refuse_a_circle(kind, None)
        for entry in self.of(kind):
            self._vanish(entry, None)
        self.subscriptions = {(p, k) for p, k in self.subscriptions if k != kind}
        had, self.kinds[kind].settings = self.settings(kind), Kind().settings
        self.kinds[kind].paused = self.kinds[kind].draining = False
        self._changed(kind, had)
        return had

    def set_state(self, kind: str, **states: bool) -> bool:
        """Pause, drain or resume; whether that changed anything."""
        there = self.kinds[kind]
        changed = any(getattr(there, name) != value for name, value in states.items())
        for name, value in states.items():
            setattr(there, name, value)
        return changed


def matches(pattern: Sequence[str], topic: Sequence[str]) -> bool:
    """Whether a topic is of a pattern, both as words."""
    if not pattern:
        return not topic
    if pattern[0] == "#":
        return any(matches(pattern[1:], topic[n:]) for n in range(len(topic) + 1))
    return bool(topic) and pattern[0] in ("*", topic[0]) and matches(pattern[1:], topic[1:])
