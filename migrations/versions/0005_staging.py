"""Stages of writers and batches of readers: the routines."""

from pyqueue_sql.revision import run

revision = "0005_staging"
down_revision = "0005_staging_tables"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Load all routines anew."""
    run("0005_staging", "routines", "optional")


def downgrade() -> None:
    """Load the routines of the revision before."""
    run("0004_consumers", "routines", "optional")
