"""Orders remember when they were sent."""

import sqlalchemy as sa
from alembic import op

revision = "0002_sent"
down_revision = "0001_shop"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("customer_order", sa.Column("sent_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("customer_order", "sent_at")
