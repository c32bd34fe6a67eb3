"""History, a memory for keys, the inbox and shapes of payloads."""

from pyqueue_sql.revision import run

revision = "0002_history"
down_revision = "0001_queue"
branch_labels = None


def upgrade() -> None:
    """Add the tables, and load all routines anew."""
    run(revision, "up", "routines")


def downgrade() -> None:
    """Drop what is new, and load the routines of the revision before."""
    run(revision, "down")
    run(down_revision, "routines")
