"""The routines from Node.js, by the drivers that its users have: pg and mysql2."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients import npm
from tests.servers.plugin import REQUIRE, required

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conformance.harness import Harness, Session

HERE = Path(__file__).parent / "node"
PATIENCE_SECONDS = 60

Answer = dict[str, Any]


@pytest.fixture(scope="session")
def program() -> tuple[str, Path]:
    """Node.js, and the folder with the drivers."""
    try:
        return npm.install(HERE, "test-node")
    except npm.MissingError as error:
        if "node" in required():
            raise pytest.UsageError(f"{REQUIRE} names node: {error}") from None
        pytest.skip(f"LEFT OUT, nothing was tested from Node.js: {error}")


@pytest.fixture
def call(program: tuple[str, Path], harness: Harness) -> Iterator[Callable[..., Answer]]:
    """Call a routine, JSON given as a string; gives its rows, or the state and message of its error."""
    node, place = program
    url = re.sub(r"^\w+\+\w+:", "mysql:", harness.url)
    with subprocess.Popen(
        [node, str(HERE / "call.mjs")],
        cwd=place,
        env={**os.environ, "PYQUEUE_URL": url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, answers = process.stdin, process.stdout

        def call(routine: str, *arguments: object) -> Answer:
            print(json.dumps([routine, *arguments]), file=given, flush=True)
            return json.loads(answers.readline())

        yield call
        given.close()
        assert process.wait(PATIENCE_SECONDS) == 0


def test_E2_a_message_goes_its_way_from_node(call: Callable[..., Answer], queue: Session) -> None:
    [pushed] = call("queue_push", "mail", "k1", '{"n": 1}', '{"priority": 5}')["rows"]
    assert (pushed["p_key"], pushed["outcome"]) == ("k1", "created")
    [again] = call("queue_push", "mail", "k1", '{"n": 2}', None)["rows"]
    assert again["outcome"] == "ignored"
    many = json.dumps([{"key": key, "payload": {"é": "😀"}} for key in ("k2", "k3")])
    created = call("queue_push_many", "mail", many, None)["rows"]
    assert [one["outcome"] for one in created] == ["created", "created"]
    first, *others = call("queue_reserve", "mail", "node", 10, None)["rows"]
    assert (first["p_key"], first["payload"], first["priority"]) == ("k1", {"n": 1}, 5)
    assert [(one["payload"], one["reserved_by"]) for one in others] == [({"é": "😀"}, "node")] * 2
    [kept] = call("queue_extend", first["receipt"], 60)["rows"]
    assert kept["outcome"] == "extended"
    [back] = call("queue_nack", first["receipt"], '{"error": "not now", "delay_seconds": 60}')["rows"]
    assert back["outcome"] == "retry"
    receipts = json.dumps([one["receipt"] for one in others])
    done = call("queue_ack_many", receipts, None)["rows"]
    assert [one["outcome"] for one in done] == ["acked", "acked"]
    assert [(one.total, one.scheduled) for one in queue.stats("mail")] == [(1, 1)]


def test_E2_an_error_tells_node_its_cause(call: Callable[..., Answer]) -> None:
    refused = call("queue_push", "", "k1", "{}", None)
    assert refused["state"] == "PQ001"
    assert refused["message"].startswith('kind ""')
