"""The page is tried on every server."""

from tests.conformance.fixtures import capabilities, clock, connect, harness, queue
from tests.doctor.logins import kept, watched

__all__ = ["capabilities", "clock", "connect", "harness", "kept", "queue", "watched"]
