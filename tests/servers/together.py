"""Which tests come to the same process of pytest-xdist.

By their names alone: the marks of pytest-xdist 3.8 don't reach those who hand the tests out under pytest 9.2
(pytest-xdist#1386), where each process would start Spark and fill the tables of the plans.
"""

from __future__ import annotations

import re

from xdist.scheduler import LoadGroupScheduling

GROUPS = (
    # those that share a session of Spark; the others start what they need for themselves
    re.compile(
        r"^tests/(spark)/(?!test_(?:command|connect|demo|jars|lost_answers|options|secrets|writing)\.py::)"
    ),
    re.compile(r"^tests/spark/test_(connect)\.py::"),  # Spark Connect listens on one port
    re.compile(r"^tests/faults/test_(galera)\.py::"),
    re.compile(r"^tests/packaging/test_(contents)\.py::"),
    re.compile(r"^tests/schema/test_(extension)\.py::"),
    re.compile(r"^tests/schema/test_plans\.py::.*\[(\d+)-\w+-known"),
)
"""What they have in common is in the parentheses."""


class Together(LoadGroupScheduling):
    """Hands out tests one by one, but those of a group to one process."""

    def _split_scope(self, nodeid: str) -> str:
        """Return the name of a test's group, which for most is the test."""
        return next((found[1] for group in GROUPS if (found := group.search(nodeid))), nodeid)
