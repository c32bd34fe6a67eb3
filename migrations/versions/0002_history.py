"""History, a memory for keys, the inbox and shapes of payloads: the routines."""

from pyqueue_sql.revision import run

revision = "0002_history"
down_revision = "0002_history_tables"
branch_labels = None
dialects = ("postgresql",)


def upgrade() -> None:
    """Load all routines anew."""
    run("0002_history", "routines")


def downgrade() -> None:
    """Load the routines of the revision before."""
    run("0001_queue", "routines")
