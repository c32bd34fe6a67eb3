"""`pyqueue doctor`: what is wrong with a server, an installation or the use of a queue, and what to do.

See docs/doctor.md.
"""

from pyqueue_sql.doctor.examine import examine
from pyqueue_sql.doctor.findings import Finding, Level

__all__ = ["Finding", "Level", "examine"]
