"""Topics, schedules, expiry and drain: the tables, which the routines before do not mind."""

from pyqueue_sql.revision import run

revision = "0006_topics_tables"
down_revision = "0005_staging"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Add the tables and columns."""
    run("0006_topics", "up")


def downgrade() -> None:
    """Drop what is new; nobody is in a routine that needs it any more."""
    run("0006_topics", "down")
