"""The client over SQLAlchemy: a push is part of the application's own transaction, and ends as that does."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pymysql
import pytest
import sqlalchemy
from sqlalchemy import ForeignKey, String, event
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, PendingRollbackError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, scoped_session, sessionmaker

from pyqueue_sql import AsyncQueue, InvalidParameter, InvalidPayload, InvalidReceipt, Queue
from tests.conformance.fixtures import Connect, connect, harness
from tests.conformance.harness import Harness

__all__ = ["connect", "harness"]


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(100), unique=True)


class Deferred(DeclarativeBase):
    """Tables for a server that can put a constraint off to the commit."""


class Order(Deferred):
    __tablename__ = "order"
    id: Mapped[int] = mapped_column(primary_key=True)
    after: Mapped[int] = mapped_column(ForeignKey("order.id", deferrable=True, initially="DEFERRED"))


@pytest.fixture
def engine(harness: Harness) -> Iterator[sqlalchemy.Engine]:
    """An engine of an application that has tables of its own."""
    engine = sqlalchemy.create_engine(harness.url.replace("postgresql://", "postgresql+psycopg://"))
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()
    Base.metadata.drop_all(engine)
    engine.dispose()


@pytest.fixture
def keys(connect: Connect) -> Callable[[], list[str]]:
    """The keys that everybody sees."""
    queue = connect()
    return lambda: [message.key for message in queue.peek("mail")]


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


@pytest.mark.servers("postgresql")
def test_a_constraint_that_fails_at_the_commit_takes_the_message_along(
    engine: sqlalchemy.Engine, keys: Callable[[], list[str]]
):
    Deferred.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(Order(id=1, after=404))
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


@pytest.mark.servers("postgresql")
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
        assert isinstance(caught.value.__cause__, psycopg.Error | pymysql.Error | UnicodeEncodeError | None)
        assert "SQL:" not in str(caught.value)


def end_connection(session: Session, connect: Connect) -> None:
    """End a session's connection as an administrator does."""
    connection: Any = session.connection().connection.driver_connection
    if isinstance(connection, psycopg.Connection):
        connect().execute("select pg_terminate_backend(%s, 5000)", [connection.info.backend_pid])
    else:
        connect().execute("kill %s", [connection.thread_id()])


def test_other_errors_stay_those_of_sqlalchemy(engine: sqlalchemy.Engine, connect: Connect):
    with Session(engine) as session:
        Queue(session).push("mail", "a")
        end_connection(session, connect)
        with pytest.raises(OperationalError) as caught:
            Queue(session).push("mail", "b")
        assert caught.value.connection_invalidated
        with pytest.raises(PendingRollbackError):
            Queue(session).push("mail", "c")
        session.rollback()
        assert Queue(session).push("mail", "d").outcome == "created"


@pytest.mark.servers("postgresql")
def test_a_missing_schema_is_an_error_of_sqlalchemy(engine: sqlalchemy.Engine):
    with engine.connect() as connection:
        connection.exec_driver_sql("set search_path to nowhere")
        with pytest.raises(DBAPIError):
            Queue(connection).push("mail")


@pytest.fixture
def bare(innodb_url: str) -> Iterator[sqlalchemy.Engine]:
    """An engine on a database with nothing but what a test makes."""
    engine = sqlalchemy.create_engine(innodb_url)
    yield engine
    engine.dispose()


VICTIM = (
    "create procedure queue_prune(in in_max_rows bigint) begin insert into tries values (1);"
    " if (select count(*) from tries) < in_max_rows then"
    " signal sqlstate '40001' set message_text = 'victim', mysql_errno = 1213; end if;"
    " select count(*) as pruned from tries; delete from tries; end"
)


@pytest.mark.servers("mariadb", "mysql")
def test_a_victim_is_tried_again_over_an_engine_and_in_autocommit(bare: sqlalchemy.Engine):
    with bare.connect() as connection:
        connection.exec_driver_sql("create table tries (n int) engine = myisam")
        connection.exec_driver_sql(VICTIM)
    assert Queue(bare).prune(6) == 6
    with pytest.raises(DBAPIError, match="victim"):
        Queue(bare).prune(7)
    with bare.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("delete from tries")
        assert Queue(connection).prune(6) == 6
    with bare.connect() as connection, pytest.raises(DBAPIError, match="victim"):
        Queue(connection).prune(2)


@pytest.mark.servers("mariadb", "mysql")
def test_a_call_over_an_engine_is_read_committed(bare: sqlalchemy.Engine):
    with bare.connect() as connection:
        connection.exec_driver_sql("create table seen (n int)")
        connection.exec_driver_sql(
            "create procedure queue_prune(in in_max_rows bigint) begin"
            " declare v_first, v_second int; select count(*) into v_first from seen; do sleep(0.5);"
            " select count(*) into v_second from seen; select v_second - v_first as pruned; end"
        )
    with bare.begin() as other:
        other.exec_driver_sql("insert into seen values (1)")
        thread = threading.Timer(0.2, other.commit)
        thread.start()
        assert Queue(bare).prune() == 1
        thread.join()


@pytest.mark.servers("mariadb", "mysql")
def test_a_call_over_an_engine_whose_transactions_the_application_begins_is_made_all_the_same(
    bare: sqlalchemy.Engine,
):
    with bare.connect() as connection:
        connection.exec_driver_sql(
            "create procedure queue_prune(in in_max_rows bigint) begin select 7 as pruned; end"
        )

    @event.listens_for(bare, "begin")
    def begin(connection: sqlalchemy.Connection) -> None:
        connection.exec_driver_sql("start transaction")

    assert Queue(bare).prune() == 7


@pytest.mark.servers("mariadb", "mysql")
def test_an_error_after_the_rows_is_an_error_and_one_of_sqlalchemy(bare: sqlalchemy.Engine):
    with bare.connect() as connection:
        connection.exec_driver_sql(
            "create procedure queue_ack(in in_receipt text, in in_options text)"
            " begin select in_receipt as receipt, 'acked' as outcome; select 1;"
            " if in_receipt = 'x' then"
            " signal sqlstate 'PQ005' set message_text = 'late', mysql_errno = 31005;"
            " else signal sqlstate '45000' set message_text = 'gone', mysql_errno = 2013; end if; end"
        )
    for _ in range(2):
        with pytest.raises(InvalidReceipt, match="late"):
            Queue(bare).ack("x")
    with bare.connect() as connection:
        with pytest.raises(DBAPIError, match="gone") as caught:
            Queue(connection).ack("y")
        assert caught.value.connection_invalidated
        with pytest.raises(PendingRollbackError):
            Queue(connection).ack("x")


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
        with pytest.raises(TypeError, match=r"MariaDB or MySQL is wanted.*not sqlite\+pysqlite"):
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
