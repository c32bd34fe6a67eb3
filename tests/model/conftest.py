"""The fixtures of the scenarios, here too."""

from __future__ import annotations

import pytest

from tests.conformance.fixtures import connect, harness, queue

__all__ = ["connect", "harness", "queue"]

pytest.register_assert_rewrite("tests.model.comparing", "tests.model.machine")
