"""Consumers that wake at once, and workers with an identity: the routines."""

from pyqueue_sql.revision import run

revision = "0004_consumers"
down_revision = "0004_consumers_tables"
branch_labels = None
dialects = ("postgresql", "mysql")


def upgrade() -> None:
    """Load all routines anew."""
    run("0004_consumers", "routines", "optional")


def downgrade() -> None:
    """Load the routines of the revisions before, PostgreSQL's and the other's."""
    run("0002_history", "routines")
    run("0003_innodb", "routines", "optional")
