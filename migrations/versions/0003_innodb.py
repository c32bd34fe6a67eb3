"""The queue on MariaDB and MySQL, all of it; those before are PostgreSQL's."""

from pyqueue_sql.revision import run

revision = "0003_innodb"
down_revision = "0002_history"
branch_labels = None
dialects = ("mysql",)


def upgrade() -> None:
    """Create all of it."""
    run(revision, "up", "routines", "optional")


def downgrade() -> None:
    """Drop all of it."""
    run(revision, "down")
