"""Order keys, semaphores, limits, filters and logs: tables and columns, which older routines do not mind."""

from pyqueue_sql.revision import run

revision = "0008_mission_tables"
down_revision = "0008_mission_kinds"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Add the tables, and the columns of messages."""
    run("0008_mission", "up")


def downgrade() -> None:
    """Drop what is new; nobody is in a routine that needs it any more."""
    run("0008_mission", "down")
