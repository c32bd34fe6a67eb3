"""Semaphores, limits, filters and logs: the settings of kinds, which older routines do not mind.

No transaction of an upgrade locks queue_kind and delayed_queue: some calls read the one first and some the
other, so that it would never get both while they go on.
"""

from pyqueue_sql.revision import run

revision = "0008_mission_kinds"
down_revision = "0007_groups"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Add the columns of queue_kind."""
    run("0008_mission_kinds", "up")


def downgrade() -> None:
    """Drop them; what knows all columns of a kind is gone."""
    run("0008_mission_kinds", "down")
