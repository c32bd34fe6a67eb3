"""Ctrl-C in the demo waits for the end of what may not be broken off."""

from __future__ import annotations

import os
import signal

import pytest

from pyqueue_sql.demo.interrupts import later, terminating


def test_an_interrupt_waits_for_the_end_of_the_block_around_it() -> None:
    done: list[str] = []
    with terminating(), pytest.raises(KeyboardInterrupt):
        with later():
            with later():
                os.kill(os.getpid(), signal.SIGINT)
            done.append("a call, and what is noted of it")
        done.append("what comes behind")
    assert done == ["a call, and what is noted of it"]
    with later():
        pass  # it came once
