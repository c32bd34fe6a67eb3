"""Scenarios that every server has to pass, named after the rows of the mission that they prove."""

from tests.conformance.fixtures import capabilities, clock, connect, harness, queue

__all__ = ["capabilities", "clock", "connect", "harness", "queue"]
