"""Makes mutants and says which of them the tests see: python -m tests.mutants --help, and the README."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import psycopg
import pymysql

from pyqueue_sql.calls.connect import connect
from pyqueue_sql.embedded import start_server
from tests.conftest import SETTINGS, URL_VARIABLE
from tests.mutants import plugin, python, sql
from tests.mutants.mutant import ROOT, Mutant, draw, equivalent, key
from tests.servers.cache import cache
from tests.servers.memory import in_memory
from tests.servers.plugin import variable
from tests.servers.starting import start
from tools import house
from tools.expand_mysql import expand

REVISION = "0001_initial"
ROOMS = ("conformance", "doctor", "schema", "worker", "model", "concurrency")
RACES = "concurrency"
"""Long on MySQL and not on MariaDB, for which MySQL counts."""
OF_WORKER = ("tests/unit/test_pace.py", "tests/unit/test_worker_options.py", "tests/worker")
TEST_SECONDS = 90
"""A test that takes longer hangs."""
ALL_SECONDS = 1200
"""What the tests of a mutant may take; more is a mutant that was seen, by who waits for them."""
SERVER_OF = {"postgresql": "postgresql", "mysql": "mysql", "worker": "postgresql"}


class Server:
    """A server that stays up.

    Args:
        name: of it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        with in_memory():
            if name == "postgresql":
                embedded = start_server(settings={**SETTINGS, "track_functions": "all"})
                self.url, self.stop = embedded.url, embedded.stop
            else:
                running = start(name, None)
                self.url, self.stop = running.url, running.stop

    @property
    def variables(self) -> dict[str, str]:
        """What tells the tests to use it."""
        name = URL_VARIABLE if self.name == "postgresql" else variable(self.name)
        return {name: self.url, plugin.URL: self.url}

    def tidy(self, pid: int) -> None:
        """End what tests left running that were killed, and remove their databases."""
        prefix = f"pyqueue_test_{pid}_%"
        if self.name == "postgresql":
            with psycopg.connect(self.url, autocommit=True) as connection:
                names = connection.execute(
                    "select d.datname from pg_database d where d.datname like %s", [prefix]
                )
                for (name,) in names.fetchall():
                    connection.execute(f'drop database if exists "{name}" with (force)'.encode())
            return
        with connect(self.url) as connection:
            assert isinstance(connection, pymysql.Connection)
            cursor = connection.cursor()
            # a call that goes on for ever does so without its client
            cursor.execute("select p.id from information_schema.processlist p where p.db like %s", [prefix])
            for (number,) in cursor.fetchall():
                with contextlib.suppress(pymysql.err.OperationalError):  # it has ended
                    cursor.execute("kill %s", [number])
            cursor.execute(
                "select s.schema_name from information_schema.schemata s where s.schema_name like %s",
                [prefix],
            )
            for (name,) in cursor.fetchall():
                quoted = name.replace("`", "``")  # one is named so that this matters
                cursor.execute(f"drop database if exists `{quoted}`")


def frozen(tree: Path, mutant: Mutant) -> tuple[Path, tuple[str, str]]:
    """Return where the frozen text of a tree has what is changed, and that text without and with the mutant.

    Raises:
        LookupError: nowhere.
    """
    (start, end), dialect = mutant.around, mutant.file.split("/")[1]
    old = mutant.source[start:end]
    new = mutant.source[start : mutant.start] + mutant.text + mutant.source[mutant.end : end]
    if dialect == "mysql":
        # with how it goes on, since what ends in a statement is taken for the whole of a routine
        old, new = (expand(text + "end" * text.endswith("\n")) for text in (old, new))
    for path in (tree / "migrations/frozen" / dialect).glob(f"{REVISION}.*.sql"):
        text = path.read_text(encoding="utf-8")
        if old in text and not path.name.endswith(".down.sql"):
            return path, (text, text.replace(old, new, 1))
    raise LookupError(f"{mutant.name}: the frozen text has no such routine; freeze it first")


class Place:
    """A copy of the tree, and a server.

    Args:
        folder: for it.
        server: name of the server.
    """

    def __init__(self, folder: Path, server: str) -> None:
        self.tree = folder / "tree"
        self.folder = folder
        names = subprocess.run(
            ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
        )
        for name in filter(None, names.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        for path in (folder, self.tree):
            path.chmod(0o755)
        self.server = Server(server)

    @contextlib.contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Have the mutant in the tree."""
        texts = {self.tree / mutant.file: (mutant.source, mutant.mutated)}
        if mutant.file.startswith("sql/"):
            texts |= dict([frozen(self.tree, mutant)])
        for path, (_, text) in texts.items():
            path.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            for path, (text, _) in texts.items():
                path.write_text(text, encoding="utf-8")

    def run(self, arguments: list[str], variables: dict[str, str], seconds: float | None) -> bool | None:
        """Run pytest in the tree.

        Returns:
            Whether all was green, None where it took too long.
        """
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "tests.mutants.plugin",
            "-p",
            "no:cacheprovider",
        ]
        command += ["-x", "--server", self.server.name, *arguments]
        environment = {**os.environ, **self.server.variables, **variables, "PYTHONPATH": str(self.tree)}
        log = self.folder / "log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                command, cwd=self.tree, env=environment, stdout=file, stderr=file, start_new_session=True
            )
            try:
                return process.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                return None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self.server.tidy(process.pid)


@dataclass(frozen=True)
class Result:
    """What became of a mutant."""

    mutant: Mutant
    outcome: str
    """seen, not seen, invalid, equivalent or left."""
    seconds: float = 0
    why: str = ""


class Reach:
    """Which tests reach which routine of a server.

    Args:
        server: its name.
    """

    def __init__(self, server: str) -> None:
        self.server = server
        self.path = cache("mutants") / f"reach-{'mysql' if server == 'mariadb' else server}.jsonl"

    def count(self, place: Place) -> None:
        """Run the tests on what is right, and write down what they reach."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.unlink(missing_ok=True)
        rooms = [f"tests/{room}" for room in ROOMS if room != RACES]
        for tests, with_long in ((rooms, "0"), ([f"tests/{RACES}"], "1")):
            variables = {plugin.REACH: str(new), "PYTEST_TIMEOUT": "300", "PYQUEUE_TEST_LONG": with_long}
            place.run([*tests, "--maxfail=1000"], variables, None)
            print((place.folder / "log").read_text().splitlines()[-1], flush=True)
        new.replace(self.path)

    @cached_property
    def tests(self) -> dict[str, tuple[float, frozenset[str]]]:
        """By test: seconds, and the routines."""
        found: dict[str, tuple[float, frozenset[str]]] = {}
        for line in self.path.read_text().splitlines():
            test = json.loads(line)
            name = (
                test["test"].replace("[mysql", f"[{self.server}")
                if self.server == "mariadb"
                else test["test"]
            )
            found[name] = test["seconds"], frozenset(test["routines"])
        return found

    @cached_property
    def counted(self) -> set[str]:
        """The routines that the server counts."""
        return {name for _, names in self.tests.values() for name in names} - {plugin.ANY}

    def of(self, routine: str, texts: dict[str, str]) -> list[str]:
        """Return the tests that reach a routine, those first that see it the soonest.

        Args:
            routine: its name, or that of a view.
            texts: the SQL of the dialect, by name. What isn't counted is reached with what calls it.
        """
        names, checked = {routine}, set[str]()
        while uncounted := names - self.counted - checked:
            one = uncounted.pop()
            checked.add(one)
            names |= {name for name, text in texts.items() if name != one and re.search(rf"\b{one}\b", text)}
        chosen = {test for test, (_, reached) in self.tests.items() if reached & {*names, plugin.ANY}}
        if not chosen or not names & self.counted:
            chosen = set(self.tests)
        files = Counter(test.partition("::")[0] for test in chosen)
        of_file = Counter(test.partition("::")[0] for test in self.tests)

        def turn(test: str) -> tuple[float, ...]:
            file = test.partition("::")[0]
            seconds, reached = self.tests[test]
            room = ROOMS.index(file.split("/")[1])
            # a file whose tests mostly come by is about this; a test of little is about that little
            return (
                plugin.ANY in reached,
                room,
                seconds > 10,
                -round(files[file] / of_file[file], 1),
                seconds * (5 + len(reached)),
            )

        return sorted(chosen, key=turn)


def attempt(mutant: Mutant, place: Place, reach: Reach | None, texts: dict[str, str]) -> Result:
    """Run the tests on a mutant."""
    chosen, red = place.folder / "chosen", place.folder / "red"
    red.unlink(missing_ok=True)
    variables = {plugin.RED: str(red), "PYTEST_TIMEOUT": str(TEST_SECONDS)}
    arguments: list[str] = [*OF_WORKER]
    if reach is not None:
        tests = reach.of(house.name(Path(mutant.file)), texts)
        chosen.write_text(json.dumps({"chosen": tests, "known": list(reach.tests)}))
        variables[plugin.CHOSEN] = str(chosen)
        arguments = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        arguments = [name for name in arguments if (place.tree / name).exists()]
    began = time.monotonic()
    with place.changed(mutant):
        green = place.run(arguments, variables, ALL_SECONDS)
    took = time.monotonic() - began
    if green:
        return Result(mutant, "not seen", took)
    if green is None:
        return Result(mutant, "seen", took, "the tests hang")
    if not red.exists():
        said = (place.folder / "log").read_text(errors="replace")[-300:]
        return Result(mutant, "invalid", took, " ".join(said.split()))
    found: dict[str, Any] = json.loads(red.read_text())
    if found["when"] == "setup" and "upgrade" in found["all"]:
        return Result(mutant, "invalid", took, found["why"].strip().split("\n")[0])
    return Result(mutant, "seen", took, f"{found['test']}: {found['why'].strip().splitlines()[0][:100]}")


def chosen_change(change: list[str]) -> Mutant:
    """Return the mutant that somebody wrote.

    Raises:
        SystemExit: the old text isn't in the file once.
    """
    file, old, new = change
    source = (ROOT / file).read_text(encoding="utf-8")
    if source.count(old) != 1:
        raise SystemExit(f"{file} has that {source.count(old)} times")
    start = source.index(old)
    others = sql.mutants_of(ROOT / file, file.split("/")[1]) if file.startswith("sql/") else ()
    around = next((one.around for one in others if one.around[1] > start), (0, 0))
    return Mutant(file, start, start + len(old), new, "written", source, around)


def main() -> int:
    """Run the command; returns 0, or 1 where one wasn't seen."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--of", choices=SERVER_OF, default="postgresql", help="what is changed")
    parser.add_argument("--server", choices=("postgresql", "mariadb", "mysql"), help="where the tests run")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(1, 10**6), help="what chance starts from"
    )
    parser.add_argument("--count", type=int, default=20, help="how many that the server takes")
    parser.add_argument("--only", default="", metavar="TEXT", help="those whose name has this in it")
    parser.add_argument("--change", nargs=3, action="append", default=[], metavar=("FILE", "OLD", "NEW"))
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="at a time")
    parser.add_argument("--list", action="store_true", help="only say which ones")
    parser.add_argument("--reach", action="store_true", help="count anew which tests reach what")
    args = parser.parse_args()
    server = args.server or SERVER_OF[args.of]
    dialect = "mysql" if server != "postgresql" else "postgresql"
    found, weights = (
        (python.mutants(), python.WEIGHTS) if args.of == "worker" else (sql.mutants(dialect), sql.WEIGHTS)
    )
    drawn = draw((one for one in found if args.only in one.name), weights, args.seed)
    if args.change:
        drawn = iter([chosen_change(change) for change in args.change])
    if args.list:
        print("\n".join(mutant.name for mutant in itertools.islice(drawn, args.count)))
        return 0
    texts = {house.name(path): path.read_text() for path in house.files(house.LIVE / dialect, *sql.KINDS)}
    print(f"{args.of}, seed {args.seed}: {args.count} mutants on {server}", flush=True)
    with tempfile.TemporaryDirectory(prefix="pyqueue-mutants-") as scratch, contextlib.ExitStack() as stack:
        Path(scratch).chmod(0o755)
        places: SimpleQueue[Place] = SimpleQueue()

        def place(name: str, server: str) -> Place:
            (Path(scratch) / name).mkdir()
            made = Place(Path(scratch) / name, server)
            stack.callback(made.server.stop)
            return made

        reach = None if args.of == "worker" else Reach(server)
        if reach is not None and (args.reach or not reach.path.exists()):
            print("counting which tests reach which routine …", flush=True)
            reach.count(place("count", "mysql" if server == "mariadb" else server))  # MariaDB counts no calls
        for number in range(args.processes):
            places.put(place(str(number), server))
        return report(run_all(drawn, places, reach, texts, args.count, args.processes), args.of)


def run_all(
    drawn: Iterator[Mutant],
    places: SimpleQueue[Place],
    reach: Reach | None,
    texts: dict[str, str],
    count: int,
    processes: int,
) -> Iterator[Result]:
    """Try as many mutants as were asked for; gives what becomes of each."""
    known, results, lock = equivalent(), SimpleQueue[Result | None](), threading.Lock()
    left = [count]

    def work() -> None:
        place = places.get()
        try:
            while True:
                with lock:
                    mutant = next(drawn, None) if left[0] > 0 else None
                    left[0] -= 1
                if mutant is None:
                    return
                if key(mutant) in known:
                    results.put(Result(mutant, "equivalent", 0, known[key(mutant)]))
                    continue
                result = attempt(mutant, place, reach, texts)
                if result.outcome == "invalid":
                    left[0] += 1
                results.put(result)
        finally:
            results.put(None)

    with ThreadPoolExecutor(processes) as pool:
        futures = [pool.submit(work) for _ in range(processes)]
        for _ in range(processes):
            while (result := results.get()) is not None:
                yield result
        for future in futures:
            future.result()


def report(results: Iterator[Result], of: str) -> int:
    """Print each as it comes, and the sums."""
    by_outcome: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_outcome[result.outcome].append(result)
        print(f"{result.outcome:9} {result.seconds:5.0f} s  {result.mutant.name}  {result.why}", flush=True)
    for result in by_outcome["not seen"]:
        print(f"NOT SEEN {result.mutant.name}\n    {result.mutant.line}")
    sums = {name: len(found) for name, found in by_outcome.items()}
    tried = sums.get("seen", 0) + sums.get("not seen", 0)
    seen = f"{sums.get('seen', 0)} of {tried} seen"
    print(f"{of}: {seen}; {sums.get('equivalent', 0)} equivalent, {sums.get('invalid', 0)} invalid")
    return 1 if by_outcome["not seen"] else 0


if __name__ == "__main__":
    sys.exit(main())
