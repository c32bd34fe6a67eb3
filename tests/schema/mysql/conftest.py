"""The fixtures of the scenarios, here too."""

from __future__ import annotations

from tests.conformance.fixtures import capabilities, clock, connect, harness, queue

__all__ = ["capabilities", "clock", "connect", "harness", "queue"]
