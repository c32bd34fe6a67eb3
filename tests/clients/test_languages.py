"""The examples in other languages do one thing, and say the same of it, on each server."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.clients.languages import LANGUAGES, Language
from tests.servers.binaries import UnavailableError
from tests.servers.plugin import REQUIRE, required

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.harness import Harness, Session

PATIENCE_SECONDS = 60
STILL = """select count(*) from pg_stat_activity a
    where a.datname = current_database() and a.state = 'idle'
        and a.query ~ '^(select ready(::text)?, next_seconds|DEALLOCATE)' -- PHP sends that behind it
        and a.state_change < clock_timestamp() - interval '1.4 seconds'"""

BEFORE = (
    "push m1: created",
    "push m1: ignored",  # a key is there once
    "push m2: created",
    "push m3: created",
    "reserve: m1 for ann",  # the oldest, with what was pushed first
    "extend: extended",
    "next: m2 for bob",  # and m1 is acked
    "nack: retry",
    "next: m3 for carol",  # m2 is delayed
    "move: moved",
    "reserve: m3 for carol",  # of the kind that it was moved to
    "ack: acked",
    "ack: lost",  # there is nothing left to ack
    "refused: PQ001",  # no kind has an empty name
    "waiting for a message",
)
AFTER = ("woken: true", "reserve: m4 for dave", "give back: retry", "closed")


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "server_name"),
    [(language, name) for language in LANGUAGES for name in language.servers],
    ids=lambda one: one if isinstance(one, str) else one.name,
)
def test_E2_an_example_says_what_all_say(
    language: Language,
    harness: Harness,
    queue: Session,
    server_name: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    url = re.sub(r"^(mysql|mariadb)\+\w+:", "mysql:", harness.url)
    try:
        program = language.make(url, tmp_path, request.config)
    except UnavailableError as error:
        if language.name in required():
            raise pytest.UsageError(f"{REQUIRE} names {language.name}: {error}") from None
        pytest.skip(f"LEFT OUT, nothing was tested by {language.name}: {error}")
    with subprocess.Popen(
        program.command,
        env={**os.environ, **program.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            said = [process.stdout.readline().rstrip("\n") for _ in BEFORE]
            assert said == list(BEFORE), [*said, process.stdout.read()]
            if server_name == "postgresql" and language.listens:
                until_still(queue)
            queue.push("mail", "m4", {"to": "dave"})
            # it would wait for five minutes, and only then look again
            rest, _ = process.communicate(timeout=PATIENCE_SECONDS)
            assert rest.splitlines() == list(AFTER)
            assert process.returncode == 0
        finally:
            process.kill()
    assert [(one.kind, one.ready, one.scheduled) for one in queue.stats() if one.total] == [("mail", 1, 1)]
    held = queue.peek("mail", 10)
    assert sorted((one.key, one.attempts, bool(one.errors)) for one in held) == [
        ("m2", 1, True),  # delivered once, and its error is kept
        ("m4", 0, False),  # as if it had not been taken
    ]


def until_still(queue: Session) -> None:
    """Wait until the example has looked for the last time: from then on an event alone wakes it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while queue.execute(STILL) != [(1,)]:
        assert time.monotonic() < deadline, "the example doesn't wait for events"
        time.sleep(0.05)
