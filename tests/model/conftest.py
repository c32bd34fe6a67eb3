"""The fixtures of the scenarios, here too."""

from __future__ import annotations

import pytest

from tests.conformance.fixtures import capabilities, clock, connect, harness, queue

__all__ = ["capabilities", "clock", "connect", "harness", "queue"]

pytest.register_assert_rewrite("tests.model.comparing", "tests.model.machine", "tests.model.log")
