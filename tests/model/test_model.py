"""The server against a model of it: the same calls on both, sequences of them by chance.

The seeds are fixed, so that a run says the same each time; PYQUEUE_TEST_LARGE=1 draws new ones, ten times as
many. PYQUEUE_MODEL_SEEDS=<seed>,<seed> takes others, PYQUEUE_MODEL_MINUTES=<number> new ones for so long. A
failure prints the fewest calls that fail, and the command that repeats it.
"""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import pytest

from tests.model.episodes import shortened, take_steps
from tests.model.pairs import Pairs
from tests.sample import TIMES, chance_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.fixtures import Clock
    from tests.conformance.harness import Session

STEPS = 200
RUNS = 6
MINUTES = float(os.environ.get("PYQUEUE_MODEL_MINUTES", "0"))


def seeds() -> Iterator[str]:
    """The seeds of this run."""
    chance, end = chance_of("model"), time.monotonic() + 60 * MINUTES
    if "PYQUEUE_MODEL_SEEDS" in os.environ:
        yield from os.environ["PYQUEUE_MODEL_SEEDS"].split(",")
    elif MINUTES:
        while time.monotonic() < end:
            yield str(random.randrange(10**9))
    else:
        yield from (str(chance.randrange(10**9)) for _ in range(RUNS * TIMES))


@pytest.mark.timeout(60 * MINUTES + 600 if MINUTES else None)  # a failure is shortened, too
def test_the_server_answers_and_holds_what_the_model_does(
    queue: Session, clock: Clock, server_name: str
) -> None:
    clock.nothing_takes_time()  # the model's order is exact
    pairs, steps, taken = Pairs(), range(STEPS), 0
    for seed in seeds():
        taken += 1
        if why := take_steps(queue, clock, pairs, seed, steps):
            why = shortened(queue, clock, pairs, seed, steps, why)
            again = f"PYQUEUE_MODEL_SEEDS={seed} python -m pytest tests/model --server {server_name}"
            pytest.fail("\n".join([*why, f"again: {again}"]), pytrace=False)
    print(f"{taken} runs of {STEPS} steps")
    assert taken < RUNS or not pairs.missing(), "pairs of features that were never together"
