"""The client over SQLAlchemy: a push is part of the application's own transaction, and ends as that does."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy
from sqlalchemy import ForeignKey, event
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, PendingRollbackError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, scoped_session, sessionmaker

from pyqueue_sql import AsyncQueue, InvalidParameter, InvalidPayload, InvalidReceipt, Queue


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(unique=True)


class Order(Base):
    __tablename__ = "order"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customer.id", deferrable=True, initially="DEFERRED"))


def sqlalchemy_url(url: str, driver: str = "psycopg") -> str:
    return url.replace("postgresql://", f"postgresql+{driver}://")


@pytest.fixture
def engine(database_url: str) -> Iterator[sqlalchemy.Engine]:
    """An engine of an application that has tables of its own."""
    engine = sqlalchemy.create_engine(sqlalchemy_url(database_url))
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def keys(conn: psycopg.Connection[Any]) -> Callable[[], list[str]]:
    """The keys that everybody sees."""
    return lambda: [message.key for message in Queue(conn).peek("mail")]


def test_a_commit_brings_the_rows_and_the_message(engine: sqlalchemy.Engine, keys: Callable[[], list[str]]):
    with Session(engine) as session:
        session.add(Customer(id=1, email="ann@example.org"))
        assert Queue(session).push("mail", "welcome/1", {"to": "ann@example.org"}).outcome == "created"
        assert keys() == []
        session.commit()
    assert keys() == ["welcome/1"]
    with Session(engine) as session:
        assert session.get_one(Customer, 1).email == "ann@example.org"


def test_a_message_alone_is_committed_too(engine: sqlalchemy.Engine, keys: Callable[[], list[str]]):
    with Session(engine) as session, session.begin():
        Queue(session).push("mail", "a")
    assert keys() == ["a"]


def test_a_constraint_that_fails_at_the_flush_takes_the_message_along(
    engine: sqlalchemy.Engine, keys: Callable[[], list[str]]
):
    with Session(engine) as session:
        session.add_all([Customer(id=1, email="x"), Customer(id=2, email="x")])
        Queue(session).push("mail", "a")
        with pytest.raises(IntegrityError):
            session.commit()
    assert keys() == []


def test_a_constraint_that_fails_at_the_commit_takes_the_message_along(
    engine: sqlalchemy.Engine, keys: Callable[[], list[str]]
):
    with Session(engine) as session:
        session.add(Order(id=1, customer_id=404))
        session.flush()
        Queue(session).push("mail", "a")
        with pytest.raises(IntegrityError):
            session.commit()
    assert keys() == []


def test_a_rollback_takes_the_message_along_and_the_session_goes_on(
    engine: sqlalchemy.Engine, keys: Callable[[], list[str]]
):
    with Session(engine) as session:
        queue = Queue(session)
        queue.push("mail", "a")
        session.rollback()
        queue.push("mail", "b")
        session.commit()
    assert keys() == ["b"]


def test_a_savepoint_takes_its_message_along_and_no_other(
    engine: sqlalchemy.Engine, keys: Callable[[], list[str]]
):
    with Session(engine) as session:
        queue = Queue(session)
        queue.push("mail", "a")
        with pytest.raises(IntegrityError), session.begin_nested():
            queue.push("mail", "b")
            session.add_all([Customer(id=1, email="x"), Customer(id=2, email="x")])
        with session.begin_nested():
            queue.push("mail", "c")
        session.commit()
    assert keys() == ["a", "c"]


def test_after_a_refusal_inside_of_a_savepoint_the_transaction_goes_on(
    engine: sqlalchemy.Engine, keys: Callable[[], list[str]]
):
    with Session(engine) as session:
        queue = Queue(session)
        queue.push("mail", "a")
        with pytest.raises(InvalidPayload), session.begin_nested():
            queue.push("mail", "b", "\0")
        queue.push("mail", "c")
        session.commit()
    assert keys() == ["a", "c"]


def test_a_call_does_not_flush_what_is_pending(engine: sqlalchemy.Engine):
    with Session(engine) as session:
        customer = Customer(id=1, email="x")
        session.add(customer)
        Queue(session).push("mail", "a")
        assert customer in session.new


def test_a_message_is_reserved_and_acked_with_the_work(
    engine: sqlalchemy.Engine, keys: Callable[[], list[str]]
):
    with Session(engine) as session:
        queue = Queue(session)
        queue.push("mail", "1", {"to": "ä"}, headers={"h": 1})
        queue.push_bytes("mail", "2", bytes(range(256)))
        session.commit()
        first, second = queue.reserve("mail", "me", 2)
        assert (first.payload, first.headers, second.payload_bytes) == (
            {"to": "ä"},
            {"h": 1},
            bytes(range(256)),
        )
        session.add(Customer(id=1, email=first.payload["to"]))
        assert [one.outcome for one in queue.ack_many([first.receipt or "", "1-" + "0" * 32])] == [
            "acked",
            "lost",
        ]
        session.commit()
        assert [(row.total, row.acked_total) for row in queue.stats("mail")] == [(1, 1)]
    assert keys() == ["2"]


def test_a_scoped_session_is_asked_at_each_call(engine: sqlalchemy.Engine, keys: Callable[[], list[str]]):
    sessions = scoped_session(sessionmaker(engine))
    queue = Queue(sessions)
    assert not sessions.registry.has(), "a queue for a whole application must not make a session"
    for key in "ab":
        queue.push("mail", key)
        sessions.commit()
        sessions.remove()
    assert keys() == ["a", "b"]


def test_a_connection_joins_its_transaction(engine: sqlalchemy.Engine, keys: Callable[[], list[str]]):
    with engine.connect() as connection:
        queue = Queue(connection)
        queue.push("mail", "a")
        connection.rollback()
        queue.push("mail", "b")
        with connection.begin_nested() as savepoint:
            queue.push("mail", "c")
            savepoint.rollback()
        assert keys() == []
        connection.commit()
    assert keys() == ["b"]


def test_over_an_engine_each_call_is_a_transaction(engine: sqlalchemy.Engine, keys: Callable[[], list[str]]):
    queue = Queue(engine)
    queue.push("mail", "a")
    assert keys() == ["a"]
    with pytest.raises(InvalidReceipt):
        queue.ack("x")
    assert queue.push("mail", "b").outcome == "created"
    assert engine.pool.checkedout() == 0  # pyright: ignore[reportAttributeAccessIssue]


def test_what_the_application_set_for_its_own_rows_does_not_matter(engine: sqlalchemy.Engine):
    with engine.connect().execution_options(stream_results=True, yield_per=1) as connection:
        queue = Queue(connection)
        queue.push_many("mail", [{"key": key, "payload": None} for key in "abc"])
        cursors: list[object] = []
        event.listen(engine, "after_cursor_execute", lambda _, cursor, *__: cursors.append(cursor))
        assert len(queue.reserve("mail", max_messages=3)) == 3
        assert [isinstance(cursor, psycopg.ServerCursor) for cursor in cursors] == [False]


def test_the_queues_own_errors_come_through_with_the_drivers_as_the_cause(engine: sqlalchemy.Engine):
    for cause, sqlstate, call in (
        (InvalidReceipt, "PQ005", lambda q: q.ack("x")),
        (InvalidPayload, "PQ003", lambda q: q.push("mail", "k", "\0")),
        (InvalidParameter, "PQ001", lambda q: q.push("mail", "\0")),
        (InvalidParameter, "PQ001", lambda q: q.push("mail", "\ud800")),
        (InvalidParameter, "PQ001", lambda q: q.reserve("mail", max_messages=10**30)),
    ):
        with pytest.raises(cause) as caught:
            call(Queue(engine))
        assert caught.value.sqlstate == sqlstate
        assert isinstance(caught.value.__cause__, psycopg.Error | UnicodeEncodeError)
        assert "SQL:" not in str(caught.value)


def test_other_errors_stay_those_of_sqlalchemy(engine: sqlalchemy.Engine, conn: psycopg.Connection[Any]):
    with Session(engine) as session:
        Queue(session).push("mail", "a")
        conn.execute(
            "select pg_terminate_backend(a.pid, 5000) from pg_stat_activity a"
            " where a.datname = current_database() and a.pid <> pg_backend_pid()"
        )
        with pytest.raises(OperationalError) as caught:
            Queue(session).push("mail", "b")
        assert caught.value.connection_invalidated
        with pytest.raises(PendingRollbackError):
            Queue(session).push("mail", "c")
        session.rollback()
        assert Queue(session).push("mail", "d").outcome == "created"


def test_a_missing_schema_is_an_error_of_sqlalchemy(engine: sqlalchemy.Engine):
    with engine.connect() as connection:
        connection.exec_driver_sql("set search_path to nowhere")
        with pytest.raises(DBAPIError):
            Queue(connection).push("mail")


def test_what_is_no_connection_is_refused_by_name():
    for connection, said in (
        ("postgresql://me:secret@127.0.0.1/app", "not builtins.str"),
        (sessionmaker(), r"not sqlalchemy\.orm\.session\.sessionmaker"),
        (None, "not builtins.NoneType"),
    ):
        for cls in (Queue, AsyncQueue):
            with pytest.raises(TypeError, match=said) as caught:
                cls(connection)  # pyright: ignore[reportArgumentType]
            assert "secret" not in str(caught.value)
    with pytest.raises(TypeError, match="that is for Queue"):
        AsyncQueue(Session())  # pyright: ignore[reportArgumentType]


def test_another_driver_is_refused_by_name():
    engine = sqlalchemy.create_engine("sqlite://")
    for connection in (engine, engine.connect(), Session(engine), Session(engine.connect())):
        with pytest.raises(TypeError, match=r"psycopg 3 is wanted.*not sqlite\+pysqlite"):
            Queue(connection)
    with pytest.raises(TypeError, match=r"not sqlite\+pysqlite"):
        Queue(scoped_session(sessionmaker(engine))).push("mail")


def test_who_has_no_sqlalchemy_object_does_not_import_it(database_url: str):
    code = (
        "import sys, psycopg, pyqueue_sql\n"
        "with psycopg.connect(sys.argv[1]) as connection:\n"
        "    print(pyqueue_sql.Queue(connection).push('mail').outcome, 'sqlalchemy' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, database_url], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["created", "False"]
