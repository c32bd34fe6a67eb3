"""The same fixtures as the scenarios have."""

from tests.conformance.fixtures import capabilities, clock, connect, harness, queue

__all__ = ["capabilities", "clock", "connect", "harness", "queue"]
