"""Calls by chance, made on the server and on the model; whatever they answer or leave behind has to agree."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal

from pyqueue_sql import Lost, Refused
from tests.model.comparing import (
    agree,
    compare_delivery,
    compare_history,
    compare_kind,
    compare_stats,
    learn_delays,
    learn_places,
    loosened,
    settings_in,
    without_errors,
)
from tests.model.drawing import (
    CATCH_UPS,
    EVENTS,
    EVERYTHING,
    KEYS,
    KINDS,
    PATTERNS,
    SEMAPHORES,
    STARTS,
    TOPICS,
    Draw,
)
from tests.model.entries import SECOND, Content, RefusedByState
from tests.model.groups import Group
from tests.model.log import Happened
from tests.model.model import ANY, Model
from tests.model.schedules import Schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyqueue_sql import Message, Queue, Reserved
    from pyqueue_sql.models import EventName
    from tests.conformance.fixtures import Clock
    from tests.model.entries import Entry
    from tests.model.pairs import Pairs

WORKERS = ("worker", "mortal")
START_US = 1_767_225_600 * SECOND


class Machine:
    """A past that no other run has: three kinds and five keys, so that calls meet, and names of its own.

    A step is drawn from what the model knows, so those that are left when some are left out make sense too.
    Where the queue doesn't promise an order, in a call for many, what would depend on it isn't drawn.
    """

    _runs = itertools.count(1)

    def __init__(self, queue: Queue, clock: Clock, pairs: Pairs) -> None:
        self.queue, self.clock, self.pairs = queue, clock, pairs
        self.clock.set(START_US)
        self.model = Model(START_US)
        self.prefix = f"{next(self._runs)}."
        self.receipts: list[str] = []
        self._payloads = itertools.count(1)
        self._groups = itertools.count(1)

    def begin(self, seed: str) -> None:
        """Settings and messages, without which a run would begin with nothing to do."""
        draw = Draw(seed, self.prefix)
        for name in SEMAPHORES:
            self.semaphore(self.prefix + name, draw.randint(1, 2))
        for kind in KINDS:
            self.define(self.prefix + kind, EVERYTHING if kind == KINDS[0] else draw.settings(0.5))
            self.subscription(draw.choice(PATTERNS), self.prefix + kind, there=True)
        self.schedule(draw, self.prefix + KINDS[0])
        self.new_group(draw)
        for kind, key in itertools.product(KINDS, KEYS):
            self.push(draw, self.prefix + kind, key)

    def step(self, seed: str) -> None:
        """A call, or some that belong together."""
        draw = Draw(seed, self.prefix)
        self.model.new_call()
        draw.choices(list(RULES), list(RULES.values()))[0](self, draw)

    def content(self, draw: Draw, options: dict[str, Any], bytes_too: bool = True) -> Content:
        """Content that nothing else has."""
        number = next(self._payloads)
        form = draw.choice(["object", "object", "object", "number", "bytes" if bytes_too else "object"])
        payload = {"object": {"n": number, "tag": draw.choice("xy")}, "number": number}.get(form)
        return Content(payload, str(number).encode() if form == "bytes" else None, options.get("headers"))

    def open_groups(self, finished_too: bool = False) -> list[str]:
        """Groups to be a member of; one that has finished refuses that."""
        names = sorted(self.model.groups)[-4:]
        return [n for n in names if finished_too or self.model.groups[n].state == "open"]

    def receipt(self, draw: Draw) -> str | None:
        """One of a delivery that goes on, or, less often, any that ever was."""
        held = sorted(e.receipt for e in self.model.entries.values() if e.receipt)
        if held and draw.random() < 0.8:
            return draw.choice(sorted(held, key=self.receipts.index))
        return draw.choice(self.receipts) if self.receipts else None

    def touched(self, *names: str) -> None:
        """Compare these kinds, and all that have a dead letter whose key is the server's to choose."""
        learn_delays(self.queue, self.model)
        for kind in {*names, *(e.kind for e in self.model.entries.values() if e.suffixed)}:
            compare_kind(self.queue, self.model, kind)

    def everything(self, _: Draw | None = None) -> None:
        """Compare all that is there."""
        self.touched(*{kind for kind, _ in self.model.entries})
        compare_stats(self.queue, self.model, self.prefix)
        compare_history(self.queue, self.model, self.prefix)
        for name in self.model.groups:
            self.group(name, None)

    # -- time

    def time_passes(self, draw: Draw) -> None:
        self.set_time(
            self.model.now + round(draw.choice([0.000_001, 1, 2, 9.999_999, 10, 60, 300, 3600]) * SECOND)
        )

    def time_passes_until_something_is_due(self, draw: Draw) -> None:
        ahead = [e.scheduled_at for e in self.model.entries.values() if e.scheduled_at > self.model.now + 1]
        ahead += [s.next_at for s in self.model.schedules.values() if s.next_at > self.model.now + 1]
        if ahead:
            self.set_time(min(ahead) + draw.choice([-1, 0, 1]))

    def the_clock_is_set_back(self, draw: Draw) -> None:
        self.set_time(self.model.now - draw.choice([1, 10, 300]) * SECOND)

    def set_time(self, us: int) -> None:
        self.model.set_time(us)
        self.clock.set(us)

    # -- putting in

    def push_one(self, draw: Draw) -> None:
        self.push(draw, draw.kind(), draw.key())

    def push(self, draw: Draw, kind: str, key: str) -> None:
        options = draw.push_options(self.open_groups(finished_too=draw.random() < 0.1))
        content = self.content(draw, options)
        if self.model.remembers(kind, key) is None:
            return

        def server() -> tuple[str, int | None]:
            if content.payload_bytes is not None:
                pushed = self.queue.push_bytes(kind, key, content.payload_bytes, **options)
            else:
                pushed = self.queue.push(kind, key, content.payload, **options)
            return pushed.outcome, pushed.scheduled_at

        def model() -> tuple[str, int | None]:
            outcome = self.model.push(kind, key, content, options)
            there = self.model.entries.get((kind, key))  # none where the key is only remembered
            return outcome, there and there.scheduled_at

        agree(server, model)
        self.touched(kind)

    def push_many(self, draw: Draw) -> None:
        kind, groups = draw.kind(), self.open_groups()
        batch = [(draw.key(), draw.push_options(groups)) for _ in range(draw.randint(0, 5))]
        batch = [(key, own) for key, own in batch if self.model.remembers(kind, key) is not None]
        if any("on_duplicate" in own or "order_key" in own for _, own in batch):
            batch.sort(key=lambda message: message[0])  # keys are put in in order
        defaults = draw.plain_options()
        contents = [self.content(draw, {**defaults, **own}, bytes_too=False) for _, own in batch]
        messages = [
            {"key": key, "payload": content.payload, **own}
            for (key, own), content in zip(batch, contents, strict=True)
        ]
        agree(
            lambda: [(p.key, p.outcome) for p in self.queue.push_many(kind, messages, **defaults)],
            lambda: self.model.push_many(
                kind,
                [
                    (key, content, {**defaults, **own})
                    for (key, own), content in zip(batch, contents, strict=True)
                ],
            ),
        )
        self.touched(kind)

    def publish(self, draw: Draw) -> None:
        topic, key = self.prefix + draw.choice(TOPICS), draw.key()
        if any(self.model.remembers(self.prefix + kind, key) is None for kind in KINDS):
            return
        options = draw.plain_options() | draw.some(on_duplicate=(0.3, draw.choice(["replace", "push_back"])))
        content = self.content(draw, options, bytes_too=False)
        agree(
            lambda: [(p.kind, p.outcome) for p in self.queue.publish(topic, key, content.payload, **options)],
            lambda: self.model.publish(topic, key, content, options),
        )
        self.touched(*(self.prefix + kind for kind in KINDS))

    def subscribe(self, draw: Draw) -> None:
        self.subscription(draw.choice(PATTERNS), draw.kind(), there=draw.random() < 0.7)

    def subscription(self, pattern: str, kind: str, there: bool) -> None:
        pattern = pattern if pattern.startswith("#") else self.prefix + pattern
        if pattern.startswith("#"):
            pattern = self.prefix + pattern
        known = (pattern, kind) in self.model.subscriptions
        call = self.queue.subscribe if there else self.queue.unsubscribe
        assert call(pattern, kind) == (known != there)
        (self.model.subscriptions.add if there else self.model.subscriptions.discard)((pattern, kind))

    def some_schedule(self, draw: Draw) -> None:
        self.schedule(draw, draw.kind())

    def schedule(self, draw: Draw, kind: str) -> None:
        name = self.prefix + draw.choice(["hourly", "often"])
        schedule = Schedule(
            name,
            kind,
            {"n": 1, "tag": "x"},
            draw.choice([60, 600, 3600]),
            draw.choice(CATCH_UPS),
            draw.randint(-1, 1),
        )
        scheduled = self.queue.schedule(
            name,
            schedule.kind,
            schedule.payload,
            every_seconds=schedule.every,
            catch_up=schedule.catch_up,
            priority=schedule.priority,
        )
        assert scheduled.next_at == schedule.begin(self.model.now, self.model.schedules.get(name))
        self.model.schedules[name] = schedule

    def tick(self, _: Draw) -> None:
        assert self.queue.tick() == self.model.tick()
        self.touched(*(schedule.kind for schedule in self.model.schedules.values()))

    # -- taking out

    def reserve(self, draw: Draw) -> None:
        kind, most, timeout = draw.kind(), draw.choice([1, 1, 2, 3, 10]), draw.choice([None, None, 1, 10, 60])
        where = draw.where()
        worker = draw.choice(WORKERS)
        got = self.queue.reserve(kind, worker, most, timeout_seconds=timeout, where=where)
        self.reserved(kind, most, timeout, where, got, worker)

    def reserved(
        self,
        kind: str,
        most: int,
        timeout: int | None,
        where: dict[str, Any] | None,
        got: Sequence[Reserved],
        worker: str = WORKERS[0],
        ends: bool = True,
    ) -> None:
        """Compare what a call has taken, and hold it."""
        taken = self.delivered(kind, most, got, where, self.model.places(kind), ends)
        self.model.reserve(taken, worker, timeout or self.model.settings(kind)["timeout_seconds"])
        for message, entry in zip(got, taken, strict=True):
            assert message.receipt
            entry.receipt = message.receipt
            self.receipts.append(message.receipt)
            assert (message.attempts, message.scheduled_at) == (entry.attempts, entry.scheduled_at)
        overfull = self.model.semaphores.overfull(self.model.entries.values(), self.model.now)
        assert not [e for e in taken if {*overfull} & {*e.semaphores}], f"more than {overfull} have room for"
        self.touched(kind)

    def next(self, draw: Draw) -> None:
        kind, most, timeout = draw.kind(), draw.choice([1, 1, 2, 10]), draw.choice([None, 10, 60])
        where = draw.where()
        lost: Literal["error"] | None = draw.choice([None, None, None, "error"])
        given = [r for r in (self.receipt(draw) for _ in range(draw.randint(0, 3))) if r]
        some, ended = self.acks(given, {})
        got: list[Reserved] | None = None

        def by_the_server() -> None:
            nonlocal got
            try:
                got = self.queue.next(
                    some, kind, "worker", most, timeout_seconds=timeout, where=where, lost=lost
                )
            except Lost as error:
                raise Refused from error

        def by_the_model() -> None:
            gone = ended().count("lost")
            if gone and lost:
                raise RefusedByState("lost")
            self.model.kinds[kind].counts["lost"] += gone

        agree(by_the_server, lambda: self.model.all_or_none([by_the_model])[0])
        if got is not None:
            self.reserved(kind, most, timeout, where, got, ends=not (given and self.model.groups))
        self.touched(*(self.prefix + kind for kind in KINDS))

    def pop(self, draw: Draw) -> None:
        kind, most, where = draw.kind(), draw.randint(1, 4), draw.where()
        for got in list(self._looks(kind, self.queue.pop(kind, most, where=where))):
            taken = self.delivered(kind, most, got, where, ANY)
            assert [m.attempts for m in got] == [e.attempts + 1 for e in taken]
            self.model.pop(taken)
            most -= len(got)
        self.prune_members()
        self.touched(kind)

    def _looks(self, kind: str, got: Sequence[Message]) -> Iterator[Sequence[Message]]:
        """What a pop got, look by look: one that looks again may find who was behind what it popped first."""
        begin, lines = 0, set[str | None]()
        for number, message in enumerate(got):
            # None: what follows a group that the same pop has finished
            entry = self.model.entries.get((kind, message.key))
            if entry and entry.waits and entry.order_key in lines:
                yield got[begin:number]
                begin, lines = number, set()
            lines.add(entry and entry.order_key)
        yield got[begin:]

    def delivered(
        self,
        kind: str,
        most: int,
        got: Sequence[Message],
        where: dict[str, Any] | None,
        places: tuple[float, float],
        ends: bool = True,
    ) -> list[Entry]:
        """The messages that a call got, which have to be those that were next, as many as there may be.

        What can't be delivered it has ended, if it `ends` that: who acks and so finishes a group leaves it.
        """
        model = self.model
        least, highest = model.allowed(kind, most)
        least, highest = int(min(least, places[0])), int(min(highest, places[1]))

        def line() -> list[Entry]:
            return [e for e in model.of(kind) if e.next(model.now) and e.newest.matches(where)]

        with model.together():  # what follows a group that this call has finished comes after what it takes
            met = False
            while self._end_what_was_met(line()):
                met = True
            if not all((kind, message.key) in model.entries for message in got):
                model.settle()  # or it has looked again
            taken = [model.entries[kind, message.key] for message in got]
            deliverable = [e for e in line() if model.deliverable(e)]
            assert {*taken} <= {*deliverable}, "not ready"
            assert len(taken) <= highest, f"{len(taken)} where {highest} are allowed"
            plain, some = ([e for e in among if not e.semaphores] for among in (deliverable, taken))
            ranks = [e.rank() for e in some]
            assert sorted(ranks) == [e.rank() for e in plain[: len(some)]], (
                f"{[m.key for m in got]} of {plain}"
            )
            assert met or ranks == sorted(ranks), f"not in order of delivery: {[m.key for m in got]}"
            # an index of filters finds what came in, or had its turn, once the clock is there again
            left = [e for e in plain[len(some) :] if not where or max(e.created_at, e.place) <= model.now]
            slotted = [e for e in taken if e.semaphores]
            assert not left or all(e.priority >= left[0].priority for e in slotted), "passed over"
            undeliverable = met or len(deliverable) < len(line())
            leaves = not ends or model.kinds[kind].slotted
            assert leaves or len(taken) >= least or len(deliverable) == len(line()), "not ended"
            if (
                len(taken) < least and not undeliverable
            ):  # who has locked semaphores leaves these to the next call
                assert not left, f"{left} were left"
                rest = [e for e in model.entries.values() if e not in taken]
                wanted = {name for e in taken for name in e.semaphores}
                for entry in deliverable:  # also past others who were told so a second ago
                    if (
                        entry.semaphores
                        and entry not in taken
                        and not where
                        and not wanted & {*entry.semaphores}
                    ):
                        assert not model.semaphores.has_to_come(entry, rest, model.now), f"{entry} was left"
        for entry in line() if len(got) == most else model.of(kind):  # also those that a filter leaves
            model.semaphores.touch(entry.semaphores, model.now)
        if kind in model.buckets:
            model.buckets[kind].spend(len(taken))
        compare_delivery(got, taken)
        for entry in taken:
            self.pairs.note(model, entry, where)
        return taken

    def _end_what_was_met(self, line: Sequence[Entry]) -> bool:
        """End what couldn't be delivered where the server has; returns whether there was any."""
        ended = False
        for entry in line:
            if not self.model.deliverable(entry):
                message = self.queue.get(entry.kind, entry.key)
                if message:
                    learn_places(self.model, entry.kind, [message])
                if message is None or loosened(message, entry, self.model.now) != entry.visible(
                    self.model.now
                ):
                    self.model.end_undeliverable(entry)
                    ended = True
        return ended

    def a_worker_dies(self, _: Draw) -> None:
        """One that was registered, and holds nothing any more once it is found."""
        self.queue.heartbeat(WORKERS[1], timeout_seconds=1)
        self.set_time(self.model.now + SECOND)
        kinds = {e.kind for e in self.model.entries.values()}
        found = self.queue.reap()
        assert [(r.worker, r.freed) for r in found] == [(WORKERS[1], self.model.reap(WORKERS[1]))]
        self.touched(*kinds)

    # -- ending a delivery; some receipts are stale

    def ack(self, draw: Draw) -> None:
        if receipt := self.receipt(draw):
            self.end_by_ack([receipt], draw.ack_options(), one=True)

    def ack_many(self, draw: Draw) -> None:
        some = [r for r in (self.receipt(draw) for _ in range(draw.randint(1, 3))) if r]
        if some:
            self.end_by_ack(some, draw.ack_options(), one=False)

    def end_by_ack(self, some: list[str], options: dict[str, Any], one: bool) -> None:
        some, by_the_model = self.acks(some, options)
        agree(
            lambda: (
                [self.queue.ack(some[0], **options).outcome]
                if one
                else [a.outcome for a in self.queue.ack_many(some, **options)]
            ),
            lambda: self.model.all_or_none([by_the_model])[0],
        )
        self.touched(*(self.prefix + kind for kind in KINDS))

    def acks(self, some: list[str], options: dict[str, Any]) -> tuple[list[str], Callable[[], list[str]]]:
        """Receipts that one call can ack, whatever the order, and what that does to the model."""
        goes_to = {
            receipt: options.get("to") or (not e.source and e.follows.route and e.follows.route[0]) or None
            for receipt in some
            if (e := self.model.holding(receipt))
        }
        if len([kind for kind in goes_to.values() if kind]) > 1:
            some = some[:1]  # they might want the same key there

        def by_the_model() -> list[str]:
            """What only ends comes before what moves: its key is free then."""
            order = sorted(range(len(some)), key=lambda n: bool(goes_to.get(some[n])))
            outcomes = self.model.ack([some[n] for n in order], options)
            return [outcomes[order.index(n)] for n in range(len(some))]

        return some, by_the_model

    def extend(self, draw: Draw) -> None:
        if not (receipt := self.receipt(draw)):
            return
        seconds = draw.choice([0, 1, 10, 600])
        entry = self.model.holding(receipt)
        answer = self.queue.extend(receipt, seconds).outcome
        if entry and entry.semaphores and entry.lapsed and entry.reserved_by and answer == "lost":
            return  # its slot was somebody else's
        assert answer == self.model.extend(receipt, seconds)
        if entry:
            self.touched(entry.kind)

    def extend_many(self, draw: Draw) -> None:
        some = [r for r in (self.receipt(draw) for _ in range(2)) if r]
        if not any(e.semaphores for e in map(self.model.holding, some) if e):
            seconds = draw.choice([0, 10])
            self.many(
                some,
                lambda: [a.outcome for a in self.queue.extend_many(some, seconds)],
                lambda receipt: self.model.extend(receipt, seconds),
            )

    def nack(self, draw: Draw) -> None:
        if receipt := self.receipt(draw):
            options = draw.nack_options()
            agree(
                lambda: self.queue.nack(receipt, **options).outcome, lambda: self.model.nack(receipt, options)
            )
            self.touched(*(self.prefix + kind for kind in KINDS))

    def nack_many(self, draw: Draw) -> None:
        some, options = [r for r in (self.receipt(draw) for _ in range(3)) if r], draw.nack_options()
        held = [e for e in map(self.model.holding, some) if e]
        dies = {(e.key, self.model.dead_letter_kind(e.kind)) for e in held}
        there = {(e.key, e.kind) for e in held}
        groups = [e.follows.member.group for e in {*held} if e.follows.member]
        # else which gets the key, or fails the group, isn't promised
        if len(dies) == len({*held}) and not dies & there and len(groups) == len({*groups}):
            self.many(
                some,
                lambda: [a.outcome for a in self.queue.nack_many(some, **options)],
                lambda receipt: self.model.nack(receipt, options),
            )

    def a_delivery_ends(self, draw: Draw) -> None:
        """One that is going on, in time or late."""
        held = [e for e in self.model.entries.values() if e.receipt]
        if held:
            entry = draw.choice(held)
            assert entry.receipt
            if draw.random() < 0.5:
                self.set_time(max(self.model.now, entry.scheduled_at))
            self.end_by_ack([entry.receipt], {}, one=True)

    def move(self, draw: Draw) -> None:
        if receipt := self.receipt(draw):
            to_kind, options = draw.kind(), draw.move_options()
            agree(
                lambda: self.queue.move(receipt, to_kind, **options).outcome,
                lambda: self.model.move(receipt, to_kind, options),
            )
            self.touched(*(self.prefix + kind for kind in KINDS))

    def move_many(self, draw: Draw) -> None:
        one, two, to_kind, own = self.receipt(draw), self.receipt(draw), draw.kind(), draw.move_options()
        if not one or not two:
            return
        sources = [e for e in map(self.model.holding, (one, two)) if e]
        lines = [e.order_key for e in sources if e.order_key]
        if any(e.kind == to_kind for e in sources) or len(lines) > 1:
            return  # one makes room for the other, and which comes first isn't promised
        second = {**own, "key": next(k for k in "abc" if k not in {e.key for e in sources})}
        first = {name: value for name, value in own.items() if name != "key"}
        moves = [(one, first), (two, second), (one, first)]
        server = [{"receipt": receipt, "to_kind": to_kind, **each} for receipt, each in moves]
        agree(
            lambda: [a.outcome for a in self.queue.move_many(server)],
            lambda: self.model.all_or_none(
                [lambda r=receipt, o=each: self.model.move(r, to_kind, o) for receipt, each in moves]
            ),
        )
        self.touched(*(self.prefix + kind for kind in KINDS))

    def many(self, some: list[str], server: Callable[[], Any], model: Callable[[str], str]) -> None:
        """A call for many receipts: as one for each, and one that stands twice is lost the second time."""
        agree(
            server,
            lambda: self.model.all_or_none(
                [
                    lambda r=receipt, again=receipt in some[:n]: "lost" if again else model(r)
                    for n, receipt in enumerate(some)
                ]
            ),
        )
        self.touched(*(self.prefix + kind for kind in KINDS))

    # -- groups, semaphores and the log

    def new_group(self, draw: Draw) -> None:
        name = f"{self.prefix}g{next(self._groups)}"
        options = draw.some(
            members=(0.5, draw.randint(1, 3)),
            on_dead=(0.6, draw.choice(["wait", "report", "fail"])),
            fail_kind=(0.5, draw.kind()),
        )
        self.group(name, draw.kind(), {"then": name}, keep_seconds=10**8, **options)

    def change_group(self, draw: Draw) -> None:
        if names := [n for n, g in self.model.groups.items() if g.state == "open"]:
            options = draw.some(
                close=(0.6, True),
                members=(0.2, draw.randint(1, 3)),
                on_dead=(0.2, draw.choice(["wait", "report", "fail"])),
            )
            self.group(draw.choice(names), None, **options)
        if not names or draw.random() < 0.5:
            self.new_group(draw)

    def group(
        self, name: str, then_kind: str | None, then_payload: dict[str, Any] | None = None, **options: Any
    ) -> None:
        answer = self.queue.group(name, then_kind, then_payload, **options)
        group = self.model.groups.setdefault(name, Group(name, then_kind or "", then_payload or {}))
        if group.state == "open":
            group.change(options)
            self.model.settle_dead(group)
            self.model.finish(group)
        assert (answer.state, answer.members, answer.done) == group.answer()

    def prune(self, _: Draw) -> None:
        self.queue.prune()
        self.model.prune()

    def prune_members(self) -> None:
        """What vanished is done at once here, since nobody knows when somebody prunes by the way."""
        if self.model.gone:
            self.queue.prune()
            self.model.prune()

    def semaphores(self, draw: Draw) -> None:
        self.semaphore(self.prefix + draw.choice(SEMAPHORES), draw.choice([0, 1, 1, 2, 3]))

    def semaphore(self, name: str, capacity: int) -> None:
        self.queue.semaphore(name, capacity)
        self.model.semaphores.capacity[name] = capacity
        self.model.semaphores.touch([name], self.model.now)

    def read(self, draw: Draw) -> None:
        kind, wants = draw.kind(), draw.choice(["messages", "all"])
        name, most = f"{kind}.{wants}", draw.choice([1, 3, 100])
        events: list[EventName] = EVENTS if wants == "all" else EVENTS[:2]
        start: Literal["oldest", "now"] = draw.choice(STARTS)
        reader = self.model.log.readers.get(name)
        if wants == "all" and not reader:
            self.define(kind, {})  # who reads ends reads a kind that is there
        got = self.queue.read(kind, name, most, start=start, events=events if wants == "all" else None)
        reader = reader or self.model.log.begin(name, kind, events, start)
        happened = [
            Happened(
                0,
                e.event,
                e.topic,
                e.kind,
                e.key,
                (without_errors(e.payload), e.payload_bytes, e.headers),
                e.to_kind,
                e.created_at,
            )
            for e in got
        ]
        reader.read(happened)
        assert len(got) == min(most, len(reader.unread)), f"{got} of {reader.unread}"
        if got and draw.random() < 0.7:
            up_to = draw.randint(1, len(got))
            self.queue.read_ack(name, got[up_to - 1].position)
            reader.unread = reader.read(happened[:up_to])

    # -- by an operator

    def redrive(self, draw: Draw) -> None:
        dead = sorted({e.kind for e in self.model.entries.values() if e.source})
        kind = draw.choice(dead) if dead else self.prefix + "mail.dead"
        most = draw.choice([None, 1, 2])
        done = self.queue.redrive(kind, most)
        assert (done.went, done.stayed) == self.model.redrive(kind, most)
        self.touched(kind, *(self.prefix + name for name in KINDS))

    def replay(self, draw: Draw) -> None:
        kind, to_kind = draw.kind(), draw.choice([None, draw.kind()])
        given = draw.some(
            outcome=(0.4, draw.choice(["acked", "popped", "moved", "dead", "removed"])),
            key=(0.3, draw.key()),
            limit=(0.4, draw.randint(1, 4)),
        )
        ended = [
            (e.key, Content(without_errors(e.payload), e.payload_bytes, e.headers), e.priority)
            for e in reversed(self.queue.history(kind, max_messages=10_000))
            if given.get("outcome", e.outcome) == e.outcome and given.get("key", e.key) == e.key
        ][: given.get("limit", 1000)]

        def server() -> tuple[int, int]:
            done = self.queue.replay(kind, to_kind=to_kind, **given)
            return done.went, done.stayed

        agree(server, lambda: self.model.replay(to_kind or kind, ended))
        self.touched(to_kind or kind)

    def remove(self, draw: Draw) -> None:
        kind, key = draw.kind(), draw.key()
        agree(lambda: self.queue.remove(kind, key), lambda: self.model.remove(kind, key))
        self.prune_members()
        self.touched(kind)

    def purge(self, draw: Draw) -> None:
        kind, most = draw.kind(), draw.choice([None, 1, 2, 4])
        purged = self.queue.purge(kind, most)
        left = [message.key for message in self.queue.peek(kind, 1000)]
        assert purged == self.model.purge(kind, most, left)
        self.prune_members()
        self.touched(kind)

    def get(self, draw: Draw) -> None:
        kind, key = draw.kind(), draw.key()
        message, there = self.queue.get(kind, key), self.model.entries.get((kind, key))
        assert (message and message.attempts) == (there and there.attempts)

    def change_settings(self, draw: Draw) -> None:
        self.define(draw.kind(), draw.settings(0.25))

    def define(self, kind: str, options: dict[str, Any]) -> None:
        agree(
            lambda: settings_in(self.queue.define(kind, **options)),
            lambda: self.model.define(kind, options),
        )
        self.cut_log(kind)

    def cut_log(self, kind: str) -> None:
        """Who reads a kind that has no log any more may have lost something: they go."""
        if not self.model.settings(kind)["log_seconds"]:
            for name in self.model.log.cut(kind):
                self.queue.read_end(name)
            self.queue.prune()
            self.model.prune()

    def drop(self, draw: Draw) -> None:
        kind = draw.kind()
        agree(lambda: settings_in(self.queue.drop(kind)), lambda: self.model.drop(kind))
        self.prune_members()
        self.cut_log(kind)
        self.touched(kind)

    def pause(self, draw: Draw) -> None:
        kind = draw.kind()
        assert self.queue.pause(kind) == self.model.set_state(kind, paused=True)

    def resume(self, draw: Draw) -> None:
        kind = draw.kind()
        assert self.queue.resume(kind) == self.model.set_state(kind, paused=False, draining=False)

    def drain(self, draw: Draw) -> None:
        kind = draw.kind()
        assert self.queue.drain(kind) == self.model.set_state(kind, draining=True)

    def end(self) -> None:
        """Make room."""
        for name in self.model.schedules:
            self.queue.unschedule(name)
        self.set_time(self.model.now + 10**6 * SECOND)
        for kind in {kind for kind, _ in self.model.entries}:
            self.queue.purge(kind)


RULES: dict[Callable[[Machine, Draw], None], int] = {
    Machine.push_one: 12,
    Machine.push_many: 8,
    Machine.publish: 4,
    Machine.reserve: 18,
    Machine.next: 6,
    Machine.pop: 3,
    Machine.ack: 8,
    Machine.ack_many: 4,
    Machine.a_delivery_ends: 6,
    Machine.nack: 6,
    Machine.nack_many: 3,
    Machine.move: 3,
    Machine.move_many: 2,
    Machine.extend: 4,
    Machine.extend_many: 1,
    Machine.time_passes: 6,
    Machine.time_passes_until_something_is_due: 4,
    Machine.the_clock_is_set_back: 1,
    Machine.a_worker_dies: 2,
    Machine.redrive: 3,
    Machine.replay: 3,
    Machine.remove: 1,
    Machine.purge: 1,
    Machine.get: 1,
    Machine.drop: 1,
    Machine.pause: 1,
    Machine.resume: 3,
    Machine.drain: 1,
    Machine.prune: 1,
    Machine.change_settings: 5,
    Machine.change_group: 4,
    Machine.semaphores: 3,
    Machine.read: 5,
    Machine.subscribe: 1,
    Machine.some_schedule: 1,
    Machine.tick: 2,
    Machine.everything: 2,
}
