from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Generic, Literal, Unpack

import aiomysql  # pyright: ignore[reportMissingTypeStubs]
import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import psycopg
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_scoped_session
from typing_extensions import TypeVar

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
)
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

C = TypeVar(
    "C",
    bound=psycopg.AsyncConnection[Any]
    | asyncpg.Connection
    | asyncpg.Pool
    | aiomysql.Connection
    | AsyncConnection
    | AsyncEngine
    | AsyncSession
    | async_scoped_session[Any],
    default=Any,
)

class AsyncQueue(Generic[C]):
    def __init__(self, connection: C, *, schema: str | None = None) -> None: ...
    @property
    def connection(self) -> C: ...
    @property
    def schema(self) -> str | None: ...
    async def push(
        self, kind: str, key: str | None = None, payload: Any = None, **options: Unpack[PushOptions]
    ) -> Pushed: ...
    async def push_bytes(
        self, kind: str, key: str | None, payload_bytes: bytes, **options: Unpack[PushOptions]
    ) -> Pushed: ...
    async def push_many(
        self, kind: str, messages: Iterable[Mapping[str, Any]], **options: Unpack[PushOptions]
    ) -> list[Pushed]: ...
    async def reserve(
        self,
        kind: str,
        worker: str | None = None,
        max_messages: int = 1,
        *,
        timeout_seconds: float | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> list[Reserved]: ...
    async def next(
        self,
        receipts: Iterable[str],
        kind: str,
        worker: str | None = None,
        max_messages: int = 1,
        *,
        timeout_seconds: float | None = None,
        where: Mapping[str, Any] | None = None,
        lost: Literal["error"] | None = None,
    ) -> list[Reserved]: ...
    async def pop(
        self, kind: str, max_messages: int = 1, *, where: Mapping[str, Any] | None = None
    ) -> list[Message]: ...
    async def extend(self, receipt: str, seconds: float) -> Outcome: ...
    async def extend_many(self, receipts: Iterable[str], seconds: float) -> list[Outcome]: ...
    async def ack(self, receipt: str, **options: Unpack[AckOptions]) -> Outcome: ...
    async def ack_many(self, receipts: Iterable[str], **options: Unpack[AckOptions]) -> list[Outcome]: ...
    async def nack(self, receipt: str, **options: Unpack[NackOptions]) -> Outcome: ...
    async def nack_many(self, receipts: Iterable[str], **options: Unpack[NackOptions]) -> list[Outcome]: ...
    async def move(self, receipt: str, to_kind: str, **options: Unpack[MoveOptions]) -> Outcome: ...
    async def move_many(
        self, moves: Iterable[Mapping[str, Any]], **options: Unpack[MoveOptions]
    ) -> list[Outcome]: ...
    async def get(self, kind: str, key: str) -> Message | None: ...
    async def peek(
        self, kind: str, max_messages: int = 10, *, where: Mapping[str, Any] | None = None
    ) -> list[Message]: ...
    async def remove(self, kind: str, key: str) -> RemoveOutcome: ...
    async def purge(self, kind: str, max_messages: int | None = None) -> int: ...
    async def define(self, kind: str, **options: Unpack[DefineOptions]) -> Kind: ...
    async def drop(self, kind: str) -> Kind: ...
    async def pause(self, kind: str) -> bool: ...
    async def resume(self, kind: str) -> bool: ...
    async def drain(self, kind: str) -> bool: ...
    async def redrive(self, kind: str, max_messages: int | None = None) -> Redriven: ...
    async def wait(self, kinds: str | Iterable[str], timeout_seconds: float | None = None) -> str | None: ...
    async def listen(self, kinds: str | Iterable[str]) -> list[Listening]: ...
    async def heartbeat(self, worker: str, **options: Unpack[HeartbeatOptions]) -> Heartbeat: ...
    async def workers(self) -> list[WorkerState]: ...
    async def reap(self) -> list[Reaped]: ...
    async def prune(self, max_rows: int | None = None) -> int: ...
    async def stats(self, kind: str | None = None) -> list[Stats]: ...
    async def history(
        self, kind: str | None = None, key: str | None = None, *, max_messages: int = 100
    ) -> list[Ended]: ...
    async def replay(
        self,
        kind: str,
        *,
        outcome: str | None = None,
        key: str | None = None,
        start: datetime | int | str | None = None,
        end: datetime | int | str | None = None,
        limit: int | None = None,
        to_kind: str | None = None,
    ) -> Redriven: ...
    async def subscribe(self, pattern: str, kind: str) -> bool: ...
    async def unsubscribe(self, pattern: str, kind: str) -> bool: ...
    async def publish(
        self, topic: str, key: str | None = None, payload: Any = None, **options: Unpack[PublishOptions]
    ) -> list[Pushed]: ...
    async def subscriptions(self) -> list[Subscription]: ...
    async def schedule(
        self, name: str, kind: str, payload: Any = None, **options: Unpack[ScheduleOptions]
    ) -> Scheduled: ...
    async def unschedule(self, name: str) -> bool: ...
    async def tick(self) -> int: ...
    async def schedules(self) -> list[Schedule]: ...
    async def group(
        self,
        name: str,
        then_kind: str | None = None,
        then_payload: Mapping[str, Any] | None = None,
        **options: Unpack[GroupOptions],
    ) -> Grouped: ...
    async def groups(self) -> list[Group]: ...
    async def semaphore(self, name: str, capacity: int | None) -> None: ...
    async def semaphores(self) -> list[Semaphore]: ...
    async def read(
        self,
        name: str,
        reader: str,
        max_messages: int = 1,
        *,
        start: Literal["oldest", "now"] | None = None,
        events: Iterable[EventName] | None = None,
    ) -> list[Event]: ...
    async def read_ack(self, reader: str, position: int) -> ReadUpTo: ...
    async def read_end(self, reader: str) -> bool: ...
    async def readers(self) -> list[Reader]: ...
