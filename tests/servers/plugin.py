"""Which servers a run of the tests has: `--server`, what there is of them, and what was left out.

A test that asks for `server_name` runs on each of them, or on those of its marker `servers`. Nothing is left
out in silence: the end of the report says which server, or which scenarios for want of which capability.
With `-n` each process of pytest-xdist has servers of its own.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.sample import LARGE, WITH_LONG
from tests.servers import POSTGRESQL, certificates
from tests.servers.binaries import PROGRAMS
from tests.servers.databases import Databases
from tests.servers.memory import in_memory
from tests.servers.starting import UnavailableError, place, start

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

NAMES = ("postgresql", "mariadb", "mysql")
TESTS = Path(__file__).parents[1]
ROOMS = ("conformance", "schema", "worker", "clients")
SCENARIOS = (2, 0, ROOMS.index("conformance"))
"""The `turn` of the scenarios on PostgreSQL."""
LONG = ("spark", "faults", "model", "concurrency")
"""In this order: faults mostly wait, while Spark keeps the cores busy."""
LIKE_MARIADB = ("clients", "concurrency", "doctor", "model", "schema", "web", "worker")
"""Where a test on MySQL is long: its routines are those of MariaDB. Scenarios aren't, nor its own traps."""
ON_MARIADB = (
    "spark/test_checking",
    "spark/test_losses",
    "spark/test_pipeline",
    "spark/test_seen",
    "spark/test_source",
    "spark/test_types",
    "faults/test_outage",
    "faults/test_promises",
)
"""What runs on MySQL where all that could be tried is: its routines and their client are those of MariaDB."""
WAITING = ("worker", "schema/test_notifications")
"""Rooms and files whose tests mostly wait, while others could use the cores."""
OF_POSTGRESQL = {"databases_postgresql", "database_url", "conn"}
"""What a test that is for PostgreSQL alone asks for."""
REQUIRE = "PYQUEUE_TEST_REQUIRE"

CAPABILITIES_OF_POSTGRESQL = frozenset(
    {
        "deep_json",  # reads JSON of any depth, so that it can say what in it is too deep
        "exact_numbers",  # keeps numbers that a double doesn't hold
        "functions",  # has the short forms
        "inbox_at_once",  # a row in the inbox is a push, and an error there is the writer's
        "listen",  # notifies sessions
        "not_a_number",  # has a NaN
        "numbered_rows",  # knows which row of the inbox's INSERT is wrong
    }
)
"""What a server can do and another can't: scenarios that need it say so. PostgreSQL lacks inbox_later, where
what has landed becomes messages when somebody comes by."""


def required() -> set[str]:
    """Return what may not be missing in this run."""
    return set(re.findall(r"\w+", os.environ.get(REQUIRE, "")))


class Pool:
    """The servers of MariaDB and MySQL in this run, started when the first test is about to need one."""

    def __init__(self, chosen: list[str]) -> None:
        """Take note of the servers that were asked for; none means all."""
        self.chosen = [name for name in NAMES if name in (chosen or NAMES)]
        self.required = required() & set(self.chosen)
        self.databases: dict[str, Databases] = {}
        self.missing: dict[str, str] = {}
        self.lacking: Counter[tuple[str, str]] = Counter()
        self.long = 0
        self.rare = 0

    def start(self, names: set[str]) -> None:
        """Start those of these servers that aren't running yet, side by side: MySQL takes seconds.

        Raises:
            pytest.UsageError: one can't be had, and it is required.
        """
        known = {"postgresql", *self.databases, *self.missing}
        with in_memory(), ThreadPoolExecutor() as threads:
            begun = {
                name: threads.submit(start, name, os.environ.get(variable(name)))
                for name in self.chosen
                if name in names - known
            }
            for name, running in begun.items():
                try:
                    self.databases[name] = Databases(running.result())
                except UnavailableError as error:
                    self.missing[name] = str(error)
                    if name in self.required:
                        raise pytest.UsageError(f"{REQUIRE} names {name}: {error}") from None

    def has(self, name: str) -> bool:
        """Return whether there is this server, and start it where it isn't running yet; raises as `start`."""
        self.start({name})
        return name == "postgresql" or name in self.databases

    def capabilities(self, name: str) -> frozenset[str]:
        """Return what the server can do and another can't."""
        return CAPABILITIES_OF_POSTGRESQL if name == "postgresql" else self.databases[name].capabilities

    def lines(self) -> Iterator[str]:
        """Say what was there and what wasn't."""
        for databases in self.databases.values():
            yield f"server: {databases.server.about}"
        for (name, capability), count in sorted(self.lacking.items()):
            yield f"{name}: {count} scenarios LEFT OUT, they need {capability}"
        if self.long:
            yield f"{self.long} tests LEFT OUT because they take long: make test-long or make test-all"
        if self.rare:
            yield f"{self.rare} tests LEFT OUT that are much like others: make test-all"
        for name, reason in self.missing.items():
            yield f"{name}: LEFT OUT, nothing was tested on it: {reason}"
        for name in NAMES:
            if name not in self.chosen:
                yield f"{name}: LEFT OUT, --server didn't name it"

    def close(self) -> None:
        """Remove the databases and stop the servers."""
        for databases in self.databases.values():
            databases.close()


def variable(name: str) -> str:
    """Return the name of the variable that gives a server's URL."""
    return f"PYQUEUE_TEST_{name.upper()}_URL"


POOL = pytest.StashKey[Pool]()
SAID = pytest.StashKey[dict[str, list[str]]]()
"""What each process has to report."""
SERVERS = "servers"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that chooses servers."""
    parser.addoption("--server", action="append", choices=NAMES, help="run on this one, may be repeated: all")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, and make the pool."""
    config.addinivalue_line("markers", "long: where PYQUEUE_TEST_LONG=1, or PYQUEUE_TEST_LARGE=1, says so")
    config.addinivalue_line("markers", "core(name, …): on these servers it runs although it is long")
    config.addinivalue_line("markers", "large: tries more where PYQUEUE_TEST_LARGE=1")
    config.addinivalue_line(
        "markers", "rare(name, …): on these servers where PYQUEUE_TEST_LARGE=1, or on all"
    )
    config.addinivalue_line("markers", "needs(capability, …): runs where the server has them all")
    config.addinivalue_line("markers", "servers(name, …): runs on these alone")
    config.stash[POOL] = Pool(config.getoption("server") or [])
    certificates.read_once()


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say before the tests which servers they are going to use, what is left out, and how to have it."""
    pool = config.stash[POOL]
    lines: list[str] = []
    for name in pool.chosen:
        if name != "postgresql":
            where = place(name, os.environ.get(variable(name)))
            how = f"LEFT OUT, there is none: install {PROGRAMS[name][0]}, or set {variable(name)}"
            lines += [f"{name}: {where or how}"]
    lines += [f"{name}: LEFT OUT, --server doesn't name it" for name in NAMES if name not in pool.chosen]
    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        lines += ["Spark: LEFT OUT, there is no Java: install 17 or later, or set JAVA_HOME"]
    if not WITH_LONG:
        lines += ["LEFT OUT: what takes long; make test-long and make test-all have it"]
    if not LARGE:
        lines += ["LEFT OUT: what takes minutes and is much like another test; make test-all has it"]
    return lines


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers."""
    config.stash[POOL].close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `server_name` once a server."""
    chosen = any("server_name" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "server_name" in metafunc.fixturenames and not chosen:
        marker = metafunc.definition.get_closest_marker("servers")
        allowed = NAMES[1:] if "databases" in metafunc.fixturenames else NAMES
        metafunc.parametrize("server_name", marker.args if marker else allowed)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what takes long, and what tries more where all is to be tried."""
    folder = item.path.parent.name
    if folder == "spark" and "spark" in getattr(item, "fixturenames", ()):
        item.add_marker("long")
    if folder in ("model", "concurrency"):
        item.add_marker("large")
    if room(item.path) in LIKE_MARIADB and server_of(item) == "mysql":
        item.add_marker("long")
    if f"{folder}/{item.path.stem}" in ON_MARIADB and server_of(item) == "mysql":
        item.add_marker("rare")


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Make `-n auto` one process more than it is by itself, since tests wait: it saves a seventh."""
    return (yield) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand the tests out so that those that share what takes long to make come to one process."""
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.servers.together import Together

    return Together(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: thousands of tests come and stay, and a quarter of the time goes.

    Nor is it looked for among them afterwards.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put what is quick first, and leave out what can't run."""
    pool = config.stash[POOL]
    files = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (turn(item), files[item.path]))
    items[:] = mixed(items)
    if not config.option.collectonly:
        pool.start({name for item in items if (name := server_of(item)) and has_turn(item, name)})
        can = [(item, can_run(item, pool)) for item in items]
        items[:] = [item for item, good in can if good]
        config.hook.pytest_deselected(items=[item for item, good in can if not good])


def server_of(item: pytest.Item) -> str | None:
    """Return the server that a test runs on, None where it doesn't ask for one."""
    callspec = getattr(item, "callspec", None)
    if callspec and "server_name" in callspec.params:
        return callspec.params["server_name"]
    return None if OF_POSTGRESQL.isdisjoint(getattr(item, "fixturenames", ())) else "postgresql"


@cache
def room(path: Path) -> str:
    """Return the folder of tests/ that a file is in, "" where it is elsewhere."""
    return path.relative_to(TESTS).parts[0] if path.is_relative_to(TESTS) else ""


def turn(item: pytest.Item) -> tuple[int, ...]:
    """Return when a test has its turn.

    What needs no server comes first, then the scenarios on each server, then what is long, the longest first.
    Where all that is long is to be tried, that comes first: else one process would be at it after the others.
    """
    folder = room(item.path)
    server = NAMES.index(server_of(item) or NAMES[0])
    if folder in LONG:
        return (-1 if WITH_LONG else 9, LONG.index(folder), server)
    if server_of(item) is None:
        return (0, 0 if folder == "unit" else 1)
    if folder == "unit":
        return (1, server)
    return (2, server, ROOMS.index(folder) if folder in ROOMS else len(ROOMS))


def mixed(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests with those that mostly wait spread among the others, behind the first scenarios."""
    start = next((place for place, item in enumerate(items) if turn(item) > SCENARIOS), len(items))
    groups: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items[start:]:
        groups[waits(item)].append(item)
    places = [
        (place / len(group), item) for group in groups.values() for place, item in enumerate(group, start=1)
    ]
    return items[:start] + [item for _, item in sorted(places, key=lambda one: one[0])]


def waits(item: pytest.Item) -> bool:
    """Return whether a test mostly waits."""
    return room(item.path) in WAITING or f"{room(item.path)}/{item.path.stem}" in WAITING


def is_long(item: pytest.Item, name: str | None) -> bool:
    """Return whether a test is left out where not all is to be tried: by its mark, or for want of `core`."""
    core = item.get_closest_marker("core")
    if core is not None and (name is None or name in core.args):
        return False
    return item.get_closest_marker("long") is not None


def is_rare(item: pytest.Item, name: str | None) -> bool:
    """Return whether a test is left out where not all that could be tried is."""
    return any(not mark.args or name in mark.args for mark in item.iter_markers("rare"))


def has_turn(item: pytest.Item, name: str | None) -> bool:
    """Return whether a test isn't left out because it takes long."""
    return LARGE or not (is_rare(item, name) or (is_long(item, name) and not WITH_LONG))


def can_run(item: pytest.Item, pool: Pool) -> bool:
    """Return whether a test's server is there and has what it is marked to need; else take note."""
    name = server_of(item)
    if not has_turn(item, name):
        if name is None or name in pool.chosen:
            pool.rare += is_rare(item, name)
            pool.long += not is_rare(item, name)
        return False
    if name is None:
        return True
    if name not in pool.chosen or not pool.has(name):
        return False
    needed = {capability for marker in item.iter_markers("needs") for capability in marker.args}
    lacking = sorted(needed - pool.capabilities(name))
    pool.lacking.update((name, capability) for capability in lacking[:1])
    return not lacking


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Give what there was and what wasn't to the process that reports it."""
    output = getattr(session.config, "workeroutput", session.config.stash.setdefault(SAID, {}))
    output[SERVERS] = [*session.config.stash.get(POSTGRESQL, []), *session.config.stash[POOL].lines()]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take it from a process of pytest-xdist."""
    said = node.config.stash.setdefault(SAID, {})
    said[node.gateway.id] = getattr(node, "workeroutput", {}).get(SERVERS, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say after the tests which servers they ran on and what was left out."""
    said = terminalreporter.config.stash.get(SAID, {})
    if any(name != SERVERS for name in said):
        del said[SERVERS]  # this process only handed the tests out
    for line in sorted({line for lines in said.values() for line in lines}):
        loud = "LEFT OUT" in line
        terminalreporter.write_line(line, yellow=loud, bold=loud)


@pytest.fixture
def databases(request: pytest.FixtureRequest, server_name: str) -> Databases:
    """The databases of a test's server, which is MariaDB or MySQL."""
    return request.config.stash[POOL].databases[server_name]


@pytest.fixture
def innodb_url(databases: Databases) -> Iterator[str]:
    """The URL of a database with nothing in it, for this test alone, on MariaDB and on MySQL."""
    with databases.empty() as url:
        yield url
