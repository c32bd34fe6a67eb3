"""The replica identity of tables that every call writes: a step of its own, so that locks stay short."""

from pyqueue_sql.revision import run

revision = "0002_history_identity"
down_revision = "0001_queue"
branch_labels = None
dialects = ("postgresql",)


def upgrade() -> None:
    """Set the replica identity."""
    run(revision, "up")


def downgrade() -> None:
    """Reset it."""
    run(revision, "down")
