"""Results, routes and groups: tables and columns, which the routines before do not mind."""

from pyqueue_sql.revision import run

revision = "0007_groups_tables"
down_revision = "0006_topics"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Add the tables and columns, and what knows all columns of a table."""
    run("0007_groups", "up", "ended")


def downgrade() -> None:
    """Drop what is new; nobody is in a routine that needs it any more."""
    run("0007_groups", "down")
