"""The queue: tables, routines, views, roles."""

from pyqueue_sql.schema.revision import run

revision = "0001_initial"
down_revision = None
branch_labels = ("pyqueue_sql",)


def upgrade() -> None:
    """Create all of it."""
    run(revision, "up", "routines", "optional")


def downgrade() -> None:
    """Drop all of it."""
    run(revision, "down")
