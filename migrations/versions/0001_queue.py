"""The queue: messages, kinds, counters and the routines."""

from pyqueue_sql.revision import run

revision = "0001_queue"
down_revision = None
branch_labels = ("pyqueue_sql",)
dialects = ("postgresql",)


def upgrade() -> None:
    """Create all of it."""
    run(revision, "up", "routines")


def downgrade() -> None:
    """Drop all of it."""
    run(revision, "down")
