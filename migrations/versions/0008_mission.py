"""Order keys, semaphores, limits, filters and logs: the routines."""

from pyqueue_sql.revision import run

revision = "0008_mission"
down_revision = "0008_mission_tables"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Load all routines anew."""
    run(revision, "routines", "optional")


def downgrade() -> None:
    """Load the routines of the revision before."""
    run("0007_groups", "routines", "optional")
