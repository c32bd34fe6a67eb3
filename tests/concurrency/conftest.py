"""Real time, several sessions: races, and a long run with crashes whose history is checked."""

from tests.conformance.fixtures import capabilities, clock, connect, harness, queue

__all__ = ["capabilities", "clock", "connect", "harness", "queue"]
