"""Topics, schedules, replay, kinds that expire, and drain: the routines."""

from pyqueue_sql.revision import run

revision = "0006_topics"
down_revision = "0006_topics_tables"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Load all routines anew."""
    run(revision, "routines", "optional")


def downgrade() -> None:
    """Load the routines of the revision before."""
    run("0005_staging", "routines", "optional", anew="queue_stats")
