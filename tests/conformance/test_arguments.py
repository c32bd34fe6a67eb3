"""Values that nobody should give, for every parameter and option of every routine.

Each is refused in our words or in those that docs/sql.md lists of the server, or means what it should;
nothing is half done.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.arguments import NO_JSON, NOT_EVERYWHERE, PART, RECEIPT, ROUTINES, hostile
from tests.conformance.steps import keys, take
from tests.sample import sample, whole

if TYPE_CHECKING:
    from tests.conformance.arguments import Parameter, Routine
    from tests.conformance.fixtures import Clock
    from tests.conformance.harness import Harness, Session

    Rows = list[dict[str, str | None]]

ROOM = {"postgresql": 400, "mariadb": 128, "mysql": 128}
"""Characters that a message has room for."""


def documented(server: str) -> set[str]:
    """Return what errors docs/sql.md lists, ours and those of a server."""
    page = (Path(__file__).parents[2] / "docs/sql.md").read_text()
    rows = re.findall(r"^\| `(\w+)`[^|]*\| ([^|]*) \|", page, re.M)
    return {code for code, servers in rows if servers == "all" or server in servers.lower()}


def names(routine: str) -> list[str]:
    """Return what the parameters of a routine are called in errors."""
    surface = (Path(__file__).parents[2] / "docs/reference/surface.txt").read_text()
    return re.findall(rf"^postgresql {routine} parameter \d+: in_(\w+)", surface, re.M)


class World:
    """What the calls find: messages, one of them held, and all else that they could change."""

    def __init__(self, harness: Harness, queue: Session, server: str) -> None:
        self.harness = harness
        self.queue = queue
        self.server = server
        self.known = documented(server)
        queue.define("k", history_seconds=1000, log_seconds=1000)
        queue.define("logged", log_seconds=1000)
        queue.define("empty")
        queue.push("k", "held", {"a": 1})
        self.receipt = take(queue, "k")[1]
        queue.push("k", "there", {"a": 1}, headers={"h": 1})
        queue.push("logged", "there", 1)
        queue.semaphore("sem", 1)
        queue.group("g", "then")
        queue.subscribe("t.*", "k")
        queue.schedule("old", "k", 1, every_seconds=60)
        queue.read("logged", "reader", 1)
        queue.raw("queue_stream_reserve", "stream", "1", "0", "k", "1", None)
        (begun,) = queue.answer("queue_stage_begin", "job", None)
        self.part = str(begun["part"])
        row = {"part": self.part, "p_kind": "k", "p_key": "staged", "payload": "1"}
        queue.land([row], "queue_stage")

    def call(self, routine: Routine, place: int, value: str | None) -> Rows | tuple[str, str]:
        """Call a routine with one value in place of the sound one, and undo it.

        Returns:
            Its rows, without what is never the same twice; or the error that it ended in.
        """
        given = [parameter.sound for parameter in routine.parameters]
        given[place] = value
        end = "rollback"
        try:
            if not routine.alone:
                self.queue.execute("begin")
            rows = self.queue.answer(routine.name, *map(self.fill, given))
            return [
                {name: one for name, one in row.items() if name not in ("receipt", "part")} for row in rows
            ]
        except Exception as error:
            end = "commit"  # for what is half done to be seen
            return self.harness.cause(error)
        finally:
            self.queue.execute(end)

    def fill(self, text: str | None) -> str | None:
        """Return a text with this world's receipt and part in it."""
        return text and text.replace(RECEIPT, self.receipt).replace(PART, self.part)

    def problem(
        self, answer: Rows | tuple[str, str], wanted: str, nothing: Rows | tuple[str, str] | None
    ) -> str | None:
        """Return what is wrong with an answer, None where nothing is.

        Args:
            answer: it.
            wanted: what should become of the value, see `hostile`.
            nothing: what NULL is answered.
        """
        if isinstance(answer, tuple):
            code, text = answer
            if code not in self.known:
                return f"an error that docs/sql.md doesn't list: {code} {text[:200]}"
            if wanted in ("nothing", "none"):
                return f"refused: {code} {text}"
            if code.startswith("PQ") and len(text) > ROOM[self.server]:
                return f"too long: {text}"
            return None
        if wanted == "refused":
            return f"taken: {answer}"[:200]
        if (wanted == "none" and answer) or (wanted != "either" and answer != nothing):
            return f"{answer}, not {nothing}"[:300]
        return None


def unnamed(answer: Rows | tuple[str, str], name: str, value: str, parameter: Parameter) -> str | None:
    """Return an error of a bad parameter or option that doesn't begin with what it is about.

    Args:
        answer: the rows or the error.
        name: of the parameter.
        value: what the value is called.
        parameter: that had it.
    """
    if not isinstance(answer, tuple) or answer[0] not in ("PQ001", "PQ002"):
        return None
    about = {name}
    if value.partition(":")[0] in parameter.options:
        about.update(parameter.options)
    if parameter.sort in ("array", "json"):
        about.add("options")  # of an element
    found = re.match(r"(\w+)(?:\[\d+\])?(?:\.(\w+))?", answer[1])
    return None if found and about & {*found.groups()} else f"it names something else: {answer[1][:100]}"


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_what_nobody_should_give_is_refused_or_means_nothing(
    harness: Harness, queue: Session, clock: Clock, server_name: str
) -> None:
    assert clock
    world = World(harness, queue, server_name)
    before = harness.everything()
    wrong: list[str] = []

    def look(routine: Routine, place: int, parameter: Parameter) -> None:
        nothing = world.call(routine, place, None) if parameter.nullable else None
        called = names(routine.name)[place]
        values = sample(hostile(parameter), f"{routine.name} {place}", whole=whole(server_name))
        for name, value, wanted in values:
            if server_name == "postgresql" and "\0" in (value or ""):
                continue  # no driver can send it
            answer = world.call(routine, place, value)
            problem = world.problem(answer, wanted, nothing)
            if problem := problem or unnamed(answer, called, name, parameter):
                wrong.append(f"{routine.name} {place}, {name}: {problem}")

    for routine in ROUTINES:
        for place, parameter in enumerate(routine.parameters):
            look(routine, place, parameter)
        if (now := harness.everything()) != before:
            changed = [table for table in now if now[table] != before.get(table)]
            wrong.append(f"{routine.name}: half done in {changed}")
            before = now
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)


def test_every_routine_is_in_the_table(harness: Harness) -> None:
    """All that a client may call, but for what has no parameter of its own."""
    without = ["now", "time", "timestamp", "tick", "reap", "listen", "push_into"]
    public = set(harness.routines()) - {f"queue_{name}" for name in without}
    assert {routine.name for routine in ROUTINES} == public


@pytest.mark.parametrize("table", ["queue_inbox", "queue_stage"])
@pytest.mark.parametrize("column", ["payload", "headers"])
def test_what_lands_and_cannot_be_stored_is_refused_or_dead(
    harness: Harness, queue: Session, server_name: str, table: str, column: str
) -> None:
    """And stays in nobody's way."""
    known = documented(server_name)
    wrong: list[str] = []
    for place, (name, text) in enumerate({**NO_JSON, **NOT_EVERYWHERE}.items()):
        row: dict[str, str] = {"p_kind": "k", "p_key": f"{place}", "payload": "1", column: text}
        try:
            if table == "queue_stage":
                row["part"] = str(queue.answer("queue_stage_begin", "job", None)[0]["part"])
            queue.land([row], table)
            if table == "queue_stage":
                queue.raw("queue_stage_publish", f'[{{"part": {row["part"]}, "messages": 1}}]', None)
            queue.prune()
        except Exception as error:
            code, said = harness.cause(error)
            if code not in known:
                wrong.append(f"{name}: {code} {said}")
        else:
            if queue.get("k", f"{place}") is None and queue.get("k.dead", f"{place}") is None:
                wrong.append(f"{name}: neither there nor dead")
        queue.push("k", f"good {place}", 1)
        if f"good {place}" not in keys(queue.pop("k", 100)):
            wrong.append(f"{name}: nothing comes after it")
    assert not wrong, "\n".join(wrong)
