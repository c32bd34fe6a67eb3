"""Real time, several sessions: races, and a long run with crashes whose history is checked."""

from tests.conformance.fixtures import connect, harness, queue

__all__ = ["connect", "harness", "queue"]
