"""The server against a model of it: the same calls on both, thousands of sequences by chance.

A failure prints the shortest sequence of calls that Hypothesis found, and the seed of the run: with
PYQUEUE_MODEL_SEED=<seed> it comes again. PYQUEUE_MODEL_RUNS=<number> makes more runs than the usual ones.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import QueueMachine

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock
    from tests.conformance.harness import Session

RUNS = int(os.environ.get("PYQUEUE_MODEL_RUNS", "200"))


def test_the_server_answers_and_holds_what_the_model_does(queue: Session, clock: Clock) -> None:
    number = int(os.environ.get("PYQUEUE_MODEL_SEED", random.randrange(10**9)))
    print(f"PYQUEUE_MODEL_SEED={number}")
    clock.nothing_takes_time()  # the model's order is exact

    @seed(number)
    class Machine(QueueMachine):
        def __init__(self) -> None:
            super().__init__(queue, clock)

    run_state_machine_as_test(
        Machine,
        _min_steps=45,  # else most runs are of a few steps
        settings=settings(
            max_examples=RUNS,
            stateful_step_count=50,
            deadline=None,
            print_blob=True,
            derandomize=False,
            database=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
