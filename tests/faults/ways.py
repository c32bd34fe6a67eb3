"""Ways to call a routine: over drivers of Python's, and from Node.js and Java."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

from pyqueue_sql.calls.connect import is_mysql
from pyqueue_sql.spark.jars import NotFound, check_java
from tests.clients import npm
from tests.servers.binaries import UnavailableError
from tests.spark.drivers import look

CLIENTS: Final = Path(__file__).parents[1] / "clients"
PATIENCE_SECONDS: Final = 60

Value = str | bytes | None
Row = dict[str, Any]


class ToldError(Exception):
    """What the server said to a driver in another language.

    Args:
        sqlstate: as docs/sql.md lists it; None where the driver says it, and not the server.
        text: what is said.
    """

    def __init__(self, sqlstate: str | None, text: str) -> None:
        super().__init__(f"{sqlstate}: {text}")
        self.sqlstate = sqlstate


@dataclass
class Way:
    """One driver."""

    name: str
    call: Callable[..., list[Row]]
    """A routine and its arguments, as text, bytes or None; returns the rows with JSON as it is there."""
    bytes_: bool = True
    """Whether it can hand over a payload of bytes."""


@contextmanager
def ways(url: str, types: dict[str, tuple[str, ...]]) -> Iterator[tuple[list[Way], list[str]]]:
    """Give the ways that there are to a database, and why others are left out.

    Args:
        url: of the database.
        types: those of the parameters of each routine that is called.
    """
    found, missing = list[Way](), list[str]()
    with ExitStack() as stack:
        if not is_mysql(url):
            found.append(stack.enter_context(_asyncpg(url, types)))
        for name, make in (("Node.js", _node), ("JDBC", _java)):
            try:
                found.append(stack.enter_context(make(url)))
            except UnavailableError as error:
                missing.append(f"through {name}: LEFT OUT, {error}")
        yield found, missing


@contextmanager
def _asyncpg(url: str, types: dict[str, tuple[str, ...]]) -> Iterator[Way]:
    with asyncio.Runner() as runner:
        connection: Any = runner.run(asyncpg.connect(url))

        def call(routine: str, *values: Value) -> list[Row]:
            places = ", ".join(f"${n}::text::{kind}" for n, kind in enumerate(types[routine], 1))
            rows = runner.run(connection.fetch(f"select * from {routine}({places})", *values))
            return [dict(row) for row in rows]

        yield Way("asyncpg", call, bytes_=False)
        runner.run(connection.close())


@contextmanager
def _node(url: str) -> Iterator[Way]:
    try:
        node, place = npm.install(CLIENTS / "node", "test-node")
    except npm.MissingError as error:
        raise UnavailableError(str(error)) from None

    with _program([node, str(CLIENTS / "node" / "call.mjs")], url, place) as ask:

        def call(routine: str, *values: Value) -> list[Row]:
            given = [{"base64": b64encode(v).decode()} if isinstance(v, bytes) else v for v in values]
            answer = json.loads(ask(json.dumps([routine, *given])))
            if "message" in answer:
                number, state = answer.get("number"), answer.get("state")
                raise ToldError(_code(state, number), answer["message"])
            for row in answer["rows"]:
                if isinstance(row.get("payload_bytes"), dict):
                    row["payload_bytes"] = bytes(row["payload_bytes"]["data"])
                if "payload" in row:
                    row["payload"] = json.dumps(row["payload"])
            return answer["rows"]

        yield Way("Node.js", call)


@contextmanager
def _java(url: str) -> Iterator[Way]:
    try:
        java = check_java()
    except NotFound as error:
        raise UnavailableError(str(error)) from None
    drivers = look()
    if drivers.missing:
        raise UnavailableError("; ".join(drivers.missing.values()))
    command = [str(java), "-cp", os.pathsep.join(drivers.jars), str(CLIENTS / "java" / "Call.java")]
    with _program(command, url, CLIENTS) as ask:

        def call(routine: str, *values: Value) -> list[Row]:
            kind, *parts = ask("\t".join([routine, *map(_argument, values)])).split("\t")
            if kind == "E":
                state, number, text = parts
                raise ToldError(_code(state, int(number)), b64decode(text).decode("utf-16-be"))
            names = parts[0].split(",") if parts else []
            return [
                {name: _cell(name, cell) for name, cell in zip(names, row.split(","), strict=True)}
                for row in parts[1:]
            ]

        yield Way("JDBC", call)


def _code(state: str | None, number: int | None) -> str | None:
    """Return what an error is known by in docs/sql.md: the state on PostgreSQL, else the number."""
    if not number or (state or "").startswith("PQ"):
        return state if re.fullmatch("[0-9A-Z]{5}", state or "") else None
    return str(number)


def _argument(value: Value) -> str:
    if value is None:
        return "N"
    if isinstance(value, bytes):
        return f"B{b64encode(value).decode()}"
    return f"T{b64encode(value.encode('utf-16-be', 'surrogatepass')).decode()}"


def _cell(name: str, cell: str) -> str | bytes | None:
    if not cell:
        return None
    value = b64decode(cell[1:])
    return value if name == "payload_bytes" else value.decode("utf-16-be", "surrogatepass")


@contextmanager
def _program(command: list[str], url: str, place: Path) -> Iterator[Callable[[str], str]]:
    """Run a program that answers each line with one."""
    with subprocess.Popen(
        command,
        cwd=place,
        env={**os.environ, "PYQUEUE_URL": re.sub(r"^\w+\+\w+:", "mysql:", url)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, answers = process.stdin, process.stdout

        def ask(line: str) -> str:
            print(line, file=given, flush=True)
            answer = answers.readline()
            assert answer, f"{command[0]} has ended"
            return answer.rstrip("\n")

        yield ask
        given.close()
        assert process.wait(PATIENCE_SECONDS) == 0
