"""For the tests of applications: a queue to throw away, a clock to move, and handlers run in-process.

The fixtures are in `pyqueue_sql.testing.plugin`. See docs/testing.md.
"""

from pyqueue_sql.testing.draining import Handled, drain
from pyqueue_sql.testing.places import Clock, clock_of, rolled_back

__all__ = ["Clock", "Handled", "clock_of", "drain", "rolled_back"]
