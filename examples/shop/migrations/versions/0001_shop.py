"""Customers and their orders."""

import sqlalchemy as sa
from alembic import op

revision = "0001_shop"
down_revision = None
branch_labels = ("shop",)
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "customer",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("email", sa.Text, nullable=False, unique=True),
    )
    op.create_table(
        "customer_order",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("customer_id", sa.Integer, sa.ForeignKey("customer.id"), nullable=False),
        sa.Column("item", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("customer_order")
    op.drop_table("customer")
