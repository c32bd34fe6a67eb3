"""Orders are placed and sent: each with its message, in one transaction.

    python orders.py place ada@example.org "a book"
    python orders.py send

DATABASE_URL says where.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

import sqlalchemy
from models import Customer, Order
from sqlalchemy.orm import Session

from pyqueue_sql import Queue

KIND = "orders"


def place(session: Session, email: str, item: str) -> Order:
    """Place an order and push its message: both are there after the commit, or neither is."""
    customer = session.scalar(sqlalchemy.select(Customer).where(Customer.email == email))
    order = Order(customer=customer or Customer(email=email), item=item)
    session.add(order)
    session.flush()
    Queue(session).push(KIND, f"order-{order.id}", {"order": order.id})
    return order


def send(session: Session) -> Order | None:
    """Send the next order, and acknowledge its message in the same transaction.

    Returns:
        The order; None where nothing is to be sent.
    """
    queue = Queue(session)
    for message in queue.reserve(KIND):
        order = session.get_one(Order, message.payload["order"])
        order.sent_at = datetime.now(UTC)
        session.flush()
        assert message.receipt is not None
        queue.ack(message.receipt)
        return order
    return None


def main() -> None:
    """Run the command."""
    url = sqlalchemy.make_url(os.environ["DATABASE_URL"]).set(drivername="postgresql+psycopg")
    with Session(sqlalchemy.create_engine(url)) as session, session.begin():
        match sys.argv[1:]:
            case ["place", email, item]:
                print("placed", place(session, email, item).id)
            case ["send"]:
                order = send(session)
                print(
                    f"sent {order.id}: {order.item} to {order.customer.email}" if order else "nothing to send"
                )
            case _:
                sys.exit(__doc__)


if __name__ == "__main__":
    main()
