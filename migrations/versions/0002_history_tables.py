"""History, a memory for keys, the inbox: the tables, which the routines before do not mind."""

from pyqueue_sql.revision import run

revision = "0002_history_tables"
down_revision = "0002_history_identity"
branch_labels = None
dialects = ("postgresql",)


def upgrade() -> None:
    """Add the tables and columns."""
    run("0002_history", "up")


def downgrade() -> None:
    """Drop what is new; nobody is in a routine that needs it any more."""
    run("0002_history", "down")
