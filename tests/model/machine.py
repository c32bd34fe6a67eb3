"""Calls by chance, made on the server and on the model; whatever they answer or leave behind has to agree."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, multiple, rule

from tests.conformance.steps import SECOND
from tests.model.comparing import (
    agree,
    compare_delivery,
    compare_history,
    compare_kind,
    compare_stats,
    name_dead_letters,
    settings_in,
)
from tests.model.entries import Content
from tests.model.model import Model
from tests.model.strategies import (
    counts,
    forms,
    holds,
    keys,
    kinds,
    move_options,
    nack_options,
    push_defaults,
    push_options,
    settings_of_a_kind,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyqueue_sql import Queue
    from tests.conformance.fixtures import Clock

START_US = 1_767_225_600 * SECOND


class QueueMachine(RuleBasedStateMachine):
    """Three kinds and five keys, so that calls meet; receipts are kept for ever and tried again."""

    receipts: Bundle[str] = Bundle("receipts")
    _runs = itertools.count(1)

    def __init__(self, queue: Queue, clock: Clock) -> None:
        super().__init__()
        self.queue, self.clock = queue, clock
        self.clock.set(START_US)
        self.model = Model(START_US)
        # a past that no other run has: kinds of its own
        self.prefix = f"{next(self._runs)}."
        self.payloads = itertools.count(1)

    def content(self, options: dict[str, Any], form: str) -> Content:
        """Content that nothing else has."""
        number = next(self.payloads)
        payload = {"object": {"n": number}, "number": number}.get(form)
        return Content(payload, str(number).encode() if form == "bytes" else None, options.get("headers"))

    def touched(self, *names: str) -> None:
        """Compare these kinds, and where their dead letters go, with the model."""
        name_dead_letters(self.queue, self.model)
        for kind in names:
            compare_kind(self.queue, self.model, kind)

    @initialize(target=receipts, priorities=st.lists(st.integers(-1, 2), min_size=5, max_size=5))
    def begin_with_deliveries(self, priorities: list[int]) -> Any:
        """Without this most runs have nothing to ack."""
        for kind in ("mail", "post"):
            for key, priority in zip("abcde", priorities, strict=True):
                self.push(kind, key, {"priority": priority}, "object")
        return self.reserve_from("mail", 3, None)

    # -- time

    @rule(seconds=st.sampled_from([0.000_001, 1, 9.999_999, 10, 60, 300, 3600]))
    def time_passes(self, seconds: float) -> None:
        self.set_time(self.model.now + round(seconds * SECOND))

    @rule(offset=st.sampled_from([-1, 0, 1]))
    def time_passes_until_something_is_due(self, offset: int) -> None:
        ahead = [e.scheduled_at for e in self.model.entries.values() if e.scheduled_at > self.model.now + 1]
        if ahead:
            self.set_time(min(ahead) + offset)

    @rule(seconds=st.sampled_from([1, 10, 300]))
    def the_clock_is_set_back(self, seconds: int) -> None:
        self.set_time(self.model.now - seconds * SECOND)

    def set_time(self, us: int) -> None:
        self.model.set_time(us)
        self.clock.set(us)

    # -- putting in

    @rule(kind=kinds, key=keys, options=push_options, form=forms)
    def push(self, kind: str, key: str, options: dict[str, Any], form: str) -> None:
        kind, content = self.prefix + kind, self.content(options, form)
        remembered = self.model.remembers(kind, key)
        if remembered is None:
            return

        def server() -> tuple[str, int | None]:
            if content.payload_bytes is not None:
                pushed = self.queue.push_bytes(kind, key, content.payload_bytes, **options)
            else:
                pushed = self.queue.push(kind, key, content.payload, **options)
            return pushed.outcome, pushed.scheduled_at

        def model() -> tuple[str, int | None]:
            outcome = self.model.push(kind, key, content, options)
            return outcome, None if remembered else self.model.entries[kind, key].scheduled_at

        self.model.new_call()
        agree(server, model)
        self.touched(kind)

    @rule(
        kind=kinds,
        batch=st.lists(st.tuples(keys, push_options), max_size=5),
        defaults=push_defaults,
        form=st.sampled_from(["object", "object", "number"]),
    )
    def push_many(
        self, kind: str, batch: list[tuple[str, dict[str, Any]]], defaults: dict[str, Any], form: str
    ) -> None:
        kind = self.prefix + kind
        batch = [(key, own) for key, own in batch if self.model.remembers(kind, key) is not None]
        if any("on_duplicate" in own for _, own in batch):
            batch.sort(key=lambda message: message[0])  # keys are put in in order
        contents = [self.content({**defaults, **own}, form) for _, own in batch]
        self.model.new_call()
        agree(
            lambda: [
                (pushed.key, pushed.outcome)
                for pushed in self.queue.push_many(
                    kind,
                    [
                        {"key": key, "payload": content.payload, **own}
                        for (key, own), content in zip(batch, contents, strict=True)
                    ],
                    **defaults,
                )
            ],
            lambda: self.model.all_or_none(
                [
                    (
                        lambda p=place, k=key, c=content, o={**defaults, **own}: (
                            k,
                            self.model.push(kind, k, c, o, p),
                        )
                    )
                    for place, ((key, own), content) in enumerate(zip(batch, contents, strict=True))
                ]
            ),
        )
        self.touched(kind)

    # -- taking out

    @rule(target=receipts, kind=kinds, most=counts, timeout=st.none() | holds)
    def reserve(self, kind: str, most: int, timeout: int | None) -> Any:
        return self.reserve_from(kind, most, timeout)

    @rule(target=receipts, kind=kinds)
    def reserve_all(self, kind: str) -> Any:
        return self.reserve_from(kind, 10, None)

    def reserve_from(self, kind: str, most: int, timeout: int | None) -> Any:
        kind = self.prefix + kind
        self.model.new_call()
        got = self.queue.reserve(kind, "worker", most, timeout_seconds=timeout)
        walked, met = self.model.walk(kind, most)
        taken = compare_delivery(got, walked, met, self.model.of(kind))
        self.model.reserve(taken, "worker", timeout or self.model.kinds[kind].settings["timeout_seconds"])
        for message, entry in zip(got, taken, strict=True):
            entry.receipt = message.receipt
            assert (message.attempts, message.scheduled_at) == (entry.attempts, entry.scheduled_at)
        self.touched(kind)
        return multiple(*[message.receipt for message in got])

    @rule(kind=kinds, most=counts)
    def pop(self, kind: str, most: int) -> None:
        kind = self.prefix + kind
        self.model.new_call()
        got = self.queue.pop(kind, most)
        walked, met = self.model.walk(kind, most)
        taken = compare_delivery(got, walked, met, self.model.of(kind))
        assert [m.attempts for m in got] == [e.attempts + 1 for e in taken]
        self.model.pop(taken)
        self.touched(kind)

    # -- ending a delivery; most receipts are stale, and stay so

    @rule(receipt=receipts)
    def ack(self, receipt: str) -> None:
        self.model.new_call()
        agree(lambda: self.queue.ack(receipt).outcome, lambda: self.model.ack(receipt))
        self.touched()

    @rule(receipt=consumes(receipts), again=receipts)
    def ack_many(self, receipt: str, again: str) -> None:
        self.many(
            [receipt, again, receipt],
            lambda some: [a.outcome for a in self.queue.ack_many(some)],
            self.model.ack,
        )

    @rule(receipt=receipts, seconds=st.sampled_from([0, 1, 10, 600]))
    def extend(self, receipt: str, seconds: float) -> None:
        agree(
            lambda: self.queue.extend(receipt, seconds).outcome, lambda: self.model.extend(receipt, seconds)
        )

    @rule(some=st.lists(receipts, max_size=3, unique=True), seconds=st.sampled_from([0, 10]))
    def extend_many(self, some: list[str], seconds: float) -> None:
        self.many(
            some,
            lambda some: [a.outcome for a in self.queue.extend_many(some, seconds)],
            lambda receipt: self.model.extend(receipt, seconds),
        )

    @rule(receipt=receipts, options=nack_options)
    def nack(self, receipt: str, options: dict[str, Any]) -> None:
        self.model.new_call()
        agree(lambda: self.queue.nack(receipt, **options).outcome, lambda: self.model.nack(receipt, options))
        self.touched()

    @rule(which=st.integers(0, 9), late=st.booleans(), dies=st.booleans())
    def a_delivery_ends(self, which: int, late: bool, dies: bool) -> None:
        """One that is going on, in time or late: most receipts are stale after some steps."""
        held = [e for e in self.model.entries.values() if e.receipt]
        if held:
            entry = held[which % len(held)]
            assert entry.receipt
            if late:
                self.set_time(max(self.model.now, entry.scheduled_at))
            if dies:
                self.nack(entry.receipt, {"final": True})
            else:
                self.ack(entry.receipt)

    @rule(some=st.lists(receipts, max_size=3), options=nack_options)
    def nack_many(self, some: list[str], options: dict[str, Any]) -> None:
        self.many(
            some,
            lambda some: [a.outcome for a in self.queue.nack_many(some, **options)],
            lambda receipt: self.model.nack(receipt, options),
        )

    @rule(receipt=receipts, to_kind=kinds, options=move_options)
    def move(self, receipt: str, to_kind: str, options: dict[str, Any]) -> None:
        self.model.new_call()
        agree(
            lambda: self.queue.move(receipt, self.prefix + to_kind, **options).outcome,
            lambda: self.model.move(receipt, self.prefix + to_kind, options),
        )
        self.touched(self.prefix + to_kind)

    @rule(one=receipts, two=receipts, to_kind=kinds, own=move_options)
    def move_many(self, one: str, two: str, to_kind: str, own: dict[str, Any]) -> None:
        to_kind = self.prefix + to_kind
        sources = [e for e in map(self.model.holding, (one, two)) if e]
        if any(e.kind == to_kind for e in sources):
            return  # one makes room for the other, and which comes first isn't promised
        keys_there = {e.key for e in sources}
        second = {
            **own,
            "key": next(k for k in "abc" if k not in keys_there),
        }  # which comes first isn't promised
        first = {name: value for name, value in own.items() if name != "key"}
        moves = [(one, first), (two, second), (one, first)]
        self.model.new_call()
        agree(
            lambda: [
                answer.outcome
                for answer in self.queue.move_many(
                    [{"receipt": receipt, "to_kind": to_kind, **each} for receipt, each in moves]
                )
            ],
            lambda: self.model.all_or_none(
                [(lambda r=receipt, o=each: self.model.move(r, to_kind, o)) for receipt, each in moves]
            ),
        )
        self.touched(to_kind)

    def many(self, some: list[str], server: Callable[[list[str]], Any], model: Callable[[str], str]) -> None:
        """A call for many receipts: as one for each, and one that stands twice is lost the second time."""
        self.model.new_call()
        agree(
            lambda: server(some),
            lambda: self.model.all_or_none(
                [
                    (lambda r=receipt, again=receipt in some[:n]: "lost" if again else model(r))
                    for n, receipt in enumerate(some)
                ]
            ),
        )
        self.touched()

    # -- by an operator

    @rule(which=st.integers(0, 3), most=st.none() | counts)
    def redrive(self, which: int, most: int | None) -> None:
        dead = sorted({e.kind for e in self.model.entries.values() if e.source})
        kind = dead[which % len(dead)] if dead else self.prefix + "mail.dead"
        self.model.new_call()
        done = self.queue.redrive(kind, most)
        assert (done.went, done.stayed) == self.model.redrive(kind, most)
        self.touched(kind)

    @rule(
        what=st.sampled_from(["remove", "purge", "get", "drop", "pause", "resume", "prune"]),
        kind=kinds,
        key=keys,
        most=st.none() | counts,
    )
    def an_operator_comes_by(self, what: str, kind: str, key: str, most: int | None) -> None:
        # one rule for all, so that deliveries are what most calls are about
        calls: dict[str, Callable[[], None]] = {
            "remove": lambda: self.remove(kind, key),
            "purge": lambda: self.purge(kind, most),
            "get": lambda: self.get(kind, key),
            "drop": lambda: self.drop(kind),
            "pause": lambda: self.pause_or_resume(kind, True),
            "resume": lambda: self.pause_or_resume(kind, False),
            "prune": self.prune,
        }
        calls[what]()

    def remove(self, kind: str, key: str) -> None:
        kind = self.prefix + kind
        agree(lambda: self.queue.remove(kind, key), lambda: self.model.remove(kind, key))
        self.touched(kind)

    def purge(self, kind: str, most: int | None) -> None:
        kind = self.prefix + kind
        purged = self.queue.purge(kind, most)
        left = [message.key for message in self.queue.peek(kind, 1000)]
        assert purged == self.model.purge(kind, most, left)
        self.touched(kind)

    def get(self, kind: str, key: str) -> None:
        message = self.queue.get(self.prefix + kind, key)
        there = self.model.entries.get((self.prefix + kind, key))
        assert (message and message.state) == (there and there.state(self.model.now))

    @rule(kind=kinds, options=settings_of_a_kind)
    def define(self, kind: str, options: dict[str, Any]) -> None:
        kind = self.prefix + kind
        if options.get("dead_letter_kind"):
            options["dead_letter_kind"] = self.prefix + options["dead_letter_kind"]
        agree(
            lambda: settings_in(self.queue.define(kind, **options)),
            lambda: self.model.define(kind, options),
        )

    def drop(self, kind: str) -> None:
        kind = self.prefix + kind
        agree(
            lambda: settings_in(self.queue.drop(kind)),
            lambda: self.model.drop(kind),
        )
        self.touched(kind)

    def pause_or_resume(self, kind: str, paused: bool) -> None:
        kind = self.prefix + kind
        agree(
            lambda: self.queue.pause(kind) if paused else self.queue.resume(kind),
            lambda: self.model.set_paused(kind, paused),
        )

    def prune(self) -> None:
        self.queue.prune()

    @rule()
    def look_at_everything(self) -> None:
        self.touched(*{kind for kind, _ in self.model.entries})
        compare_stats(self.queue, self.model, self.prefix)
        compare_history(self.queue, self.model, self.prefix)

    def teardown(self) -> None:
        """Compare the end, unless the way there was wrong already; then make room."""
        self.look_at_everything()
        self.set_time(self.model.now + 10**6 * SECOND)
        for kind in {kind for kind, _ in self.model.entries}:
            self.queue.purge(kind)
