"""The queue in Python: one method a routine, over a connection of the caller's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Unpack

from pyqueue_sql.calls import call, through, tracing
from pyqueue_sql.calls.options import (
    AckOptions,
    DefineOptions,
    GroupOptions,
    HeartbeatOptions,
    MoveOptions,
    NackOptions,
    PublishOptions,
    PushOptions,
    ScheduleOptions,
    to_list,
)
from pyqueue_sql.errors import InvalidOption, InvalidParameter
from pyqueue_sql.models import (
    Ended,
    Event,
    EventName,
    Group,
    Grouped,
    Heartbeat,
    Kind,
    Listening,
    Message,
    Outcome,
    Pushed,
    Reader,
    ReadUpTo,
    Reaped,
    Redriven,
    RemoveOutcome,
    Reserved,
    Schedule,
    Scheduled,
    Semaphore,
    Stats,
    Subscription,
    WorkerState,
)

if TYPE_CHECKING:
    from datetime import datetime

    import psycopg
    import pymysql
    import sqlalchemy
    from django.db.backends.base.base import BaseDatabaseWrapper  # pyright: ignore[reportMissingTypeStubs]
    from django.utils.connection import ConnectionProxy  # pyright: ignore[reportMissingTypeStubs]
    from sqlalchemy.orm import Session, scoped_session
    from typing_extensions import TypeVar

    C = TypeVar(
        "C",
        bound=psycopg.Connection[Any]
        | pymysql.Connection[Any]
        | sqlalchemy.Connection
        | sqlalchemy.Engine
        | Session
        | scoped_session[Any]
        | BaseDatabaseWrapper
        | ConnectionProxy,
        default=Any,
    )
else:
    from typing import TypeVar

    C = TypeVar("C")

T = TypeVar("T")


class Queue(Generic[C]):
    """The routines over one connection.

    The caller owns the transaction: nothing here commits or rolls back, so that a push rides in the
    application's own transaction, together with what else the application did there, or not at all. That
    holds for a connection of psycopg or PyMySQL, for a connection and a session of SQLAlchemy, with their
    savepoints, and in Django's `atomic`. With `autocommit`, and over an engine, each call is a transaction
    of its own; over psycopg in the `isolation_level` of the connection, where that has one. Where no
    `schema` is given the search path of the connection has to lead to the schema that holds the queue; on
    MariaDB and MySQL its database has to be the one.

    On MariaDB and MySQL the server may end a call as the victim of a deadlock (1213), or as a lock didn't
    come in time (1205). A call that is a transaction of its own is then made again, up to five times. In a
    transaction of the caller's both errors come through, and the caller makes the transaction again. So it is
    over a connection whose driver doesn't tell whether a transaction is open (mysqlclient below SQLAlchemy).
    The server may break a call off, by KILL QUERY (1317) or for want of room (1038), and leave it open. Where
    it is a transaction of its own, it is rolled back. Connections there have to be in utf8mb4, which most
    drivers have by default (mysqlclient wants charset=utf8mb4).

    A session joins by its `connection()`. What is pending in it is not flushed by a call, since no routine
    reads the application's tables: it is at the session's next flush or commit, in the same transaction. A
    session that is bound to several engines has to say which, once a transaction:
    `Queue(session.connection(bind_arguments={"bind": engine}))`.

    Calls of several threads over one connection of psycopg or PyMySQL wait for each other, but they share its
    transaction. A connection of SQLAlchemy is for one thread; an engine is for all. After a fork a process
    needs a connection of its own.

    Methods raise `QueueError`s for what the queue refuses; everything else is the exception of the driver, or
    of SQLAlchemy or Django where the call went through it. That a receipt is lost is an answer, not an error.

    Args:
        connection: a connection of psycopg 3 or PyMySQL; a connection, an engine, a session or a scoped
            session of SQLAlchemy, with any driver for PostgreSQL, MariaDB or MySQL below it (psycopg,
            psycopg2, pg8000, PyMySQL, mysqlclient, MariaDB Connector/Python, …); or `django.db.connection`,
            or one of `django.db.connections`. How rows, cursors, JSON and times are made there doesn't
            matter.
        schema: where the queue is; on MariaDB and MySQL the database. Calls name it, so nothing hangs on the
            session, which others may share behind a pooler.

    Raises:
        InvalidParameter: the schema is the empty string.
        TypeError: the connection is something else. What isn't known yet (what a session is bound to, the
            character set of a connection) the first call raises.
    """

    _ways: ClassVar = through.SYNC

    def __init__(self, connection: C, *, schema: str | None = None) -> None:
        if schema == "":
            raise InvalidParameter("schema '': a name is wanted, or None")
        self._connection = connection
        self._schema = schema
        self._execute = through.find(connection, self._ways)

    @property
    def connection(self) -> C:
        """What the calls go through, as it was given."""
        return self._connection

    @property
    def schema(self) -> str | None:
        """Where the queue is, None: as the session says."""
        return self._schema

    def _qualified(self, what: call.Call[T]) -> call.Call[T]:
        return what if self._schema is None else what._replace(what=call.qualified(what.what, self._schema))

    def _run(self, what: call.Call[T]) -> T:
        try:
            rows = self._execute(self._connection, self._qualified(what))
        except Exception as error:
            through.fail(error)
        return what.result(rows)

    def push(
        self, kind: str, key: str | None = None, payload: Any = None, **options: Unpack[PushOptions]
    ) -> Pushed:
        """Put one message.

        Args:
            kind: the queue, 1 to 95 characters.
            key: what makes it that message, 1 to 200 characters; None: a time-ordered UUID.
            payload: anything that JSON can hold; None is its null.
            **options: see `PushOptions`.

        Returns:
            Its key, its time and whether it was created, ignored, replaced or (while somebody holds it) held.
        """
        return self._run(call.push(kind, key, payload, tracing.carried(kind, key, options)))

    def push_bytes(
        self, kind: str, key: str | None, payload_bytes: bytes, **options: Unpack[PushOptions]
    ) -> Pushed:
        """Put one message whose payload comes back byte for byte; else the same as `push`.

        On MariaDB and MySQL a call that doesn't fit into `max_allowed_packet` is refused by `InvalidPayload`;
        over SQLAlchemy and Django it ends the connection (2006 or 1153). Bytes go as base64, four for three
        of them.
        """
        return self._run(call.push_bytes(kind, key, payload_bytes, tracing.carried(kind, key, options)))

    def push_many(
        self, kind: str, messages: Iterable[Mapping[str, Any]], **options: Unpack[PushOptions]
    ) -> list[Pushed]:
        """Put many messages in one statement; some thousands at a time is best.

        Args:
            kind: the queue.
            messages: each with `key`, `payload` and any of the push options.
            **options: for messages that don't say otherwise, see `PushOptions`.

        Returns:
            One a message, in order. Keys that come twice answer as if pushed one after another.
        """
        return self._run(call.push_many(kind, *tracing.carried_by_each(kind, messages, options)))

    def reserve(
        self,
        kind: str,
        worker: str | None = None,
        max_messages: int = 1,
        *,
        timeout_seconds: float | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> list[Reserved]:
        """Take ready messages; until the timeout nobody else gets them.

        Args:
            kind: the queue.
            worker: who takes them, for people; None: login and connection.
            max_messages: how many at most.
            timeout_seconds: how long to hold them; None: as the kind is set.
            where: only those whose payload or headers contain this; None: any.

        Returns:
            The messages with their receipts, best first; an empty list where none is ready.
        """
        options = {"timeout_seconds": timeout_seconds, "where": where}
        return self._run(call.reserve(kind, worker, max_messages, options))

    def next(
        self,
        receipts: Iterable[str],
        kind: str,
        worker: str | None = None,
        max_messages: int = 1,
        *,
        timeout_seconds: float | None = None,
        where: Mapping[str, Any] | None = None,
        lost: Literal["error"] | None = None,
    ) -> list[Reserved]:
        """Ack what is done and take the next messages, in one transaction: the loop of a consumer.

        Args:
            receipts: of what is done, as for `ack_many`; of whatever kinds, and there may be none.
            kind: the queue, as the others for `reserve`.
            worker: who takes them, for people; None: login and connection.
            max_messages: how many at most.
            timeout_seconds: how long to hold them; None: as the kind is set.
            where: only those whose payload or headers contain this; None: any.
            lost: "error": a receipt that is lost fails the call, and nothing is done; None: it changes
                nothing, and is counted in `stats`.

        Returns:
            The messages with their receipts, best first; an empty list where none is ready.

        Raises:
            Lost: see above.
        """
        options = {"timeout_seconds": timeout_seconds, "where": where, "lost": lost}
        return self._run(call.next_(receipts, kind, worker, max_messages, options))

    def pop(
        self, kind: str, max_messages: int = 1, *, where: Mapping[str, Any] | None = None
    ) -> list[Message]:
        """Take and remove up to `max_messages` ready messages: at most once, for what may be lost.

        `where` is that of `reserve`.
        """
        return self._run(call.pop(kind, max_messages, {"where": where}))

    def extend(self, receipt: str, seconds: float) -> Outcome:
        """Keep a hold for so many seconds from now; the outcome is extended or lost."""
        return self._run(call.extend(receipt, seconds))

    def extend_many(self, receipts: Iterable[str], seconds: float) -> list[Outcome]:
        """Keep many holds; one outcome a receipt, in order, see `extend`."""
        return self._run(call.extend_many(receipts, seconds))

    def ack(self, receipt: str, **options: Unpack[AckOptions]) -> Outcome:
        """Say that the work is done.

        Args:
            receipt: of `reserve`.
            **options: see `AckOptions`.

        Returns:
            The outcome: acked or lost; or on a route moved or duplicate, see `move`.
        """
        return self._run(call.ack(receipt, options))

    def ack_many(self, receipts: Iterable[str], **options: Unpack[AckOptions]) -> list[Outcome]:
        """Say that the work is done, with the same options; one outcome a receipt, in order, see `ack`."""
        return self._run(call.ack_many(receipts, options))

    def nack(self, receipt: str, **options: Unpack[NackOptions]) -> Outcome:
        """Give a message back for a later try.

        Args:
            receipt: of `reserve`.
            **options: see `NackOptions`.

        Returns:
            The outcome: retry, dead (that was the last attempt) or lost.
        """
        return self._run(call.nack(receipt, options))

    def nack_many(self, receipts: Iterable[str], **options: Unpack[NackOptions]) -> list[Outcome]:
        """Give many messages back with the same options; one outcome a receipt, in order, see `nack`."""
        return self._run(call.nack_many(receipts, options))

    def move(self, receipt: str, to_kind: str, **options: Unpack[MoveOptions]) -> Outcome:
        """Hand a message to the next kind, atomically.

        Args:
            receipt: of `reserve`.
            to_kind: the next queue.
            **options: see `MoveOptions`.

        Returns:
            The outcome: moved, duplicate (its key is there already: that one stays, this one goes) or lost.
        """
        return self._run(call.move(receipt, to_kind, options))

    def move_many(self, moves: Iterable[Mapping[str, Any]], **options: Unpack[MoveOptions]) -> list[Outcome]:
        """Hand many messages to their next kinds in one statement.

        Args:
            moves: each with `receipt`, `to_kind` and any of the move options.
            **options: for moves that don't say otherwise, see `MoveOptions`.

        Returns:
            One outcome a move, in order, see `move`.
        """
        return self._run(call.move_many(moves, options))

    def get(self, kind: str, key: str) -> Message | None:
        """Look at one message and its state, or find that it isn't there; changes nothing."""
        return self._run(call.get(kind, key))

    def peek(
        self, kind: str, max_messages: int = 10, *, where: Mapping[str, Any] | None = None
    ) -> list[Message]:
        """Look at up to `max_messages` messages and their states, in order of delivery; changes nothing.

        `where` is that of `reserve`.
        """
        return self._run(call.peek(kind, max_messages, {"where": where}))

    def remove(self, kind: str, key: str) -> RemoveOutcome:
        """Remove a message that nobody holds; the answer is removed, held or absent."""
        return self._run(call.remove(kind, key))

    def purge(self, kind: str, max_messages: int | None = None) -> int:
        """Remove all messages of a kind that nobody holds, or so many of them; returns how many went."""
        return self._run(call.purge(kind, max_messages))

    def define(self, kind: str, **options: Unpack[DefineOptions]) -> Kind:
        """Change settings of a kind, see `DefineOptions`; returns all of them. None resets a setting."""
        return self._run(call.define(kind, options))

    def drop(self, kind: str) -> Kind:
        """Drop a kind and its settings, which are returned.

        Raises:
            Refused: somebody holds messages of it.
        """
        return self._run(call.drop(kind))

    def pause(self, kind: str) -> bool:
        """Stop deliveries of a kind everywhere; returns whether that changed anything."""
        return self._run(call.pause(kind))

    def resume(self, kind: str) -> bool:
        """Go on with deliveries of a kind, and take in again; returns whether that changed anything."""
        return self._run(call.resume(kind))

    def drain(self, kind: str) -> bool:
        """Have a kind take nothing in any more and finish what is there; returns whether that is new.

        Pushes and moves into it raise `Refused` until `resume`. It is empty when `total` of `stats` is 0.
        """
        return self._run(call.drain(kind))

    def redrive(self, kind: str, max_messages: int | None = None) -> Redriven:
        """Send dead letters back to where they came from.

        Args:
            kind: the dead-letter kind.
            max_messages: how many at most; None: all.

        Returns:
            How many went, and how many stayed because their key is taken there.
        """
        return self._run(call.redrive(kind, max_messages))

    def wait(self, kinds: str | Iterable[str], timeout_seconds: float | None = None) -> str | None:
        """Wait in the server until something may be ready.

        On PostgreSQL a statement that waits holds a snapshot: there `listen` is for consumers.

        Args:
            kinds: one, or up to 100.
            timeout_seconds: how long at the most, 5 unless given; PostgreSQL takes no more than 5.

        Returns:
            A kind to reserve from, or None.
        """
        return self._run(call.wait(kinds, timeout_seconds))

    def listen(self, kinds: str | Iterable[str]) -> list[Listening]:
        """Mark this session as one that listens, and look what is ready; only on PostgreSQL.

        LISTEN on the channels that it answers, then call it again: what came in between shows as ready.
        Until the session ends, pushes to these kinds notify.

        Args:
            kinds: one, or up to 100.
        """
        return self._run(call.listen(kinds))

    def heartbeat(self, worker: str, **options: Unpack[HeartbeatOptions]) -> Heartbeat:
        """Register a worker, say that it is alive, or that it leaves (`stop`).

        What a registered worker holds is freed by `reap` when it is dead.

        Args:
            worker: the name it reserves with.
            **options: see `HeartbeatOptions`.
        """
        return self._run(call.heartbeat(worker, options))

    def workers(self) -> list[WorkerState]:
        """Look at the workers that are registered; it reads all messages, so not too often."""
        return self._run(call.workers())

    def reap(self) -> list[Reaped]:
        """Free what dead workers held, up to 1000 messages a call; returns the workers it found dead."""
        return self._run(call.reap())

    def prune(self, max_rows: int | None = None) -> int:
        """Remove what is past its time, up to `max_rows` rows; returns how many. Call it now and then."""
        return self._run(call.prune(max_rows))

    def stats(self, kind: str | None = None) -> list[Stats]:
        """Count the messages of a kind, or of all; it reads them all, so not too often."""
        return self._run(call.stats(kind))

    def history(
        self, kind: str | None = None, key: str | None = None, *, max_messages: int = 100
    ) -> list[Ended]:
        """Look at what ended, where the kind keeps history (`history_seconds`); changes nothing.

        Args:
            kind: only of this kind; None: of all.
            key: only with this key; None: with any.
            max_messages: how many at most.

        Returns:
            The newest first.
        """
        return self._run(call.history(kind, key, max_messages))

    def replay(
        self,
        kind: str,
        *,
        outcome: str | None = None,
        key: str | None = None,
        start: datetime | int | str | None = None,
        end: datetime | int | str | None = None,
        limit: int | None = None,
        to_kind: str | None = None,
    ) -> Redriven:
        """Put what is in the history back, as new messages.

        Args:
            kind: the queue whose history it is.
            outcome: only what ended so: acked, popped, moved, dead or removed.
            key: only with this key.
            start: only what ended at this time or later.
            end: only what ended before this time.
            limit: how many to look at, the oldest first; 1000 unless given.
            to_kind: where it goes; None: back to `kind`.

        Returns:
            How many went, and how many stayed because their key is taken there.
        """
        chosen = {"outcome": outcome, "p_key": key, "from": start, "to": end, "limit": limit}
        return self._run(call.replay(kind, {**chosen, "to_kind": to_kind}))

    def subscribe(self, pattern: str, kind: str) -> bool:
        """Have a kind get a copy of what is published to topics of a pattern; returns whether that is new.

        Args:
            pattern: words with a dot between them; the word * is one word, # any number of words.
            kind: the queue.
        """
        return self._run(call.subscribe(pattern, kind))

    def unsubscribe(self, pattern: str, kind: str) -> bool:
        """End a subscription; returns whether there was one."""
        return self._run(call.unsubscribe(pattern, kind))

    def publish(
        self, topic: str, key: str | None = None, payload: Any = None, **options: Unpack[PublishOptions]
    ) -> list[Pushed]:
        """Put a copy of a message into every kind that is subscribed to its topic, all or none.

        Args:
            topic: words with a dot between them.
            key: of each copy; None: a time-ordered UUID, the same for all.
            payload: as for `push`.
            **options: see `PublishOptions`.

        Returns:
            One a kind, in their order; an empty list where nobody is subscribed.
        """
        return self._run(call.publish(topic, key, payload, tracing.carried(topic, key, options)))

    def subscriptions(self) -> list[Subscription]:
        """Look at who is subscribed to what, by pattern."""
        return self._run(call.subscriptions())

    def schedule(
        self, name: str, kind: str, payload: Any = None, **options: Unpack[ScheduleOptions]
    ) -> Scheduled:
        """Have a message pushed again and again; replaces the schedule of that name.

        Args:
            name: 1 to 100 characters.
            kind: the queue.
            payload: as for `push`.
            **options: see `ScheduleOptions`.

        Returns:
            When it is due first. A running worker calls `tick` then; without one somebody else has to.
        """
        return self._run(call.schedule(name, kind, payload, options))

    def unschedule(self, name: str) -> bool:
        """End a schedule; returns whether there was one."""
        return self._run(call.unschedule(name))

    def tick(self) -> int:
        """Push what the schedules are due for; returns how many messages were made.

        Workers do so. Without one call it every second or so, from as many places as you like: an occurrence
        makes one message.
        """
        return self._run(call.tick())

    def schedules(self) -> list[Schedule]:
        """Look at the schedules, by name."""
        return self._run(call.schedules())

    def group(
        self,
        name: str,
        then_kind: str | None = None,
        then_payload: Mapping[str, Any] | None = None,
        **options: Unpack[GroupOptions],
    ) -> Grouped:
        """Make a group, or change one; once its members are done, what follows is pushed.

        Args:
            name: what the option group of a push names.
            then_kind: the kind of what follows; None: as it was.
            then_payload: its payload, into which the results are put as "results"; None: as it was.
            **options: see `GroupOptions`.
        """
        return self._run(call.group(name, then_kind, then_payload, options))

    def groups(self) -> list[Group]:
        """Look at the groups, by name."""
        return self._run(call.groups())

    def semaphore(self, name: str, capacity: int | None) -> None:
        """Define a semaphore, or change its capacity.

        Args:
            name: what the option semaphores of a push names.
            capacity: how many messages that name it may be held at once; 0: none; None: it is removed, and
                keeps nobody waiting any more.
        """
        return self._run(call.semaphore(name, capacity))

    def semaphores(self) -> list[Semaphore]:
        """Look at the semaphores, by name."""
        return self._run(call.semaphores())

    def read(
        self,
        name: str,
        reader: str,
        max_messages: int = 1,
        *,
        start: Literal["oldest", "now"] | None = None,
        events: Iterable[EventName] | None = None,
    ) -> list[Event]:
        """Read the log of the kinds that have one (`log_seconds`) from where a reader left off.

        Args:
            name: a kind, a topic, or a pattern as in `subscribe`.
            reader: whose place it is; its first read makes it.
            max_messages: how many events at most.
            start: where a new reader begins; at the oldest that is kept unless given.
            events: which it wants to see, now and later; those that are messages unless given.

        Returns:
            The events, in the order of the log. The next read begins at the same place until `read_ack`.

        Raises:
            Refused: the log has lost what it hasn't read, see `Reader.missed`; or it reads another name.
        """
        options = {
            "from": start,
            "events": None if events is None else to_list("events", events, str, "text", InvalidOption),
        }
        return self._run(call.read(name, reader, max_messages, options))

    def read_ack(self, reader: str, position: int) -> ReadUpTo:
        """Say that a reader is done up to a position; returns its place, which never goes back."""
        return self._run(call.read_ack(reader, position))

    def read_end(self, reader: str) -> bool:
        """Forget a reader and its place; returns whether there was one."""
        return self._run(call.read_end(reader))

    def readers(self) -> list[Reader]:
        """Look at the readers of the log, by name."""
        return self._run(call.readers())
