"""Results, routes and groups: the routines."""

from pyqueue_sql.revision import run

revision = "0007_groups"
down_revision = "0007_groups_tables"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Load all routines anew."""
    run(revision, "routines", "optional")


def downgrade() -> None:
    """Load the routines of the revision before; what knows all columns of a table goes with the table."""
    run(revision, "unchecked")
    run("0006_topics", "routines", "optional")
    run(revision, "ended")
