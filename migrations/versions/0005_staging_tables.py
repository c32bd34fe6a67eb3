"""Stages of writers and batches of readers: the tables, which the routines before do not mind."""

from pyqueue_sql.revision import run

revision = "0005_staging_tables"
down_revision = "0004_consumers"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Add the tables."""
    run("0005_staging", "up")


def downgrade() -> None:
    """Drop what is new; nobody is in a routine that needs it any more."""
    run("0005_staging", "down")
