"""The doctor and the overview are tried on every server, with a clean database for each test."""

from tests.conformance.fixtures import capabilities, clock, connect, harness, queue
from tests.doctor.logins import kept, watched

__all__ = ["capabilities", "clock", "connect", "harness", "kept", "queue", "watched"]
