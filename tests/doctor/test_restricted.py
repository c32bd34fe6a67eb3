"""A kind for some roles: every way in and every look is closed to others, and what was set up goes on."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import pytest

from pyqueue_sql import InvalidOption, Queue, Refused, Restricted
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.worker import Handlers
from tests.doctor.logins import Watched, execute, login
from tests.rules import each
from tests.worker.helpers import Workers, until

if TYPE_CHECKING:
    from collections.abc import Iterator

Q = Queue[Any]


class Vault:
    """A restricted kind, who may use it, and who may not though it may call everything.

    Args:
        owner: the queue of the owner.
        url: of the owner.
        server_name: of which server.
        stack: ends the sessions.
    """

    def __init__(self, owner: Q, url: str, server_name: str, stack: contextlib.ExitStack) -> None:
        self.owner, self.url, self.server_name, self._stack = owner, url, server_name, stack
        self.kind = f"vault{secrets.token_hex(4)}"
        self.name = f"in_{secrets.token_hex(4)}"
        self.member = self.session(self.name)
        self.outsider = self.session(f"out_{secrets.token_hex(4)}")
        owner.define(self.kind, roles=[self.name], history_seconds=60, log_seconds=60, max_attempts=1)

    def session(self, name: str) -> Q:
        """Return the queue of a new login with all rights."""
        return Queue(self._stack.enter_context(connect(self.login(name), read_committed=True)))

    def login(self, name: str) -> str:
        """Return the URL of a new login with all rights."""
        return self._stack.enter_context(login(self.url, self.owner, self.server_name, "queue_admin", name))


@pytest.fixture
def vault(watched: Watched, server_name: str) -> Iterator[Vault]:
    """A restricted kind on each server."""
    with contextlib.ExitStack() as stack:
        if server_name != "postgresql":
            for host in execute(watched.queue, "select host from mysql.user where user = ''"):
                execute(watched.queue, f"drop user ''@'{host[0]}'")
        yield Vault(watched.queue, watched.url, server_name, stack)


def call(queue: Q, routine: str, *values: object) -> list[tuple[Any, ...]]:
    """Call a routine that the client has no method for."""
    places = ", ".join(["%s"] * len(values))
    with queue.connection.cursor() as cursor:
        how = "call" if type(queue.connection).__module__.startswith("pymysql") else "select * from"
        cursor.execute(f"{how} {routine}({places})", values)  # pyright: ignore[reportCallIssue, reportArgumentType]
        return list(cursor.fetchall()) if cursor.description else []


def stage(queue: Q, kind: str) -> None:
    """Stage a message as a task does, and publish it."""
    [(part, *_)] = call(queue, "queue_stage_begin", f"job{secrets.token_hex(4)}", None)
    with queue.connection.cursor() as cursor:
        cursor.execute(
            "insert into queue_stage (part, p_kind, p_key, payload) values (%s, %s, %s, %s)",
            [part, kind, "staged", "1"],
        )
    call(queue, "queue_stage_publish", f'[{{"part": {part}, "messages": 1}}]', None)


def move(queue: Q, kind: str, many: bool) -> None:
    """Move a message of one's own into a kind."""
    queue.push("open", None, 1)
    [held] = queue.reserve("open", None, 1)
    if many:
        queue.move_many([{"receipt": held.receipt, "to_kind": kind}])
    else:
        queue.move(held.receipt, kind)


def ack_to(queue: Q, kind: str) -> None:
    """Ack a message, and choose where it goes on."""
    queue.push("open", None, 1)
    [held] = queue.reserve("open", None, 1)
    queue.ack(held.receipt, to=kind)


WAYS: dict[str, Callable[[Q, str], object]] = {
    "push": lambda q, k: q.push(k, None, 1),
    "push with options": lambda q, k: q.push(k, None, 1, priority=1),
    "push bytes": lambda q, k: q.push_bytes(k, None, b"1"),
    "push many": lambda q, k: q.push_many(k, [{"key": "a", "payload": 1}, {"payload": 2}]),
    "route": lambda q, k: q.push("open", None, 1, route=["other", k]),
    "route of many": lambda q, k: q.push_many("open", [{"payload": 1, "route": [k]}]),
    "publish": lambda q, k: q.publish(f"of.{k}", None, 1),
    "subscribe": lambda q, k: q.subscribe("another", k),
    "unsubscribe": lambda q, k: q.unsubscribe("another", k),
    "stage": stage,
    "move": lambda q, k: move(q, k, False),
    "move many": lambda q, k: move(q, k, True),
    "ack to": ack_to,
    "schedule": lambda q, k: q.schedule(f"each {k}", k, 1, every_seconds=3600),
    "schedule of it elsewhere": lambda q, k: q.schedule(f"set up {k}", "open", 1, every_seconds=3600),
    "unschedule": lambda q, k: q.unschedule(f"each day {k}"),
    "group": lambda q, k: q.group(f"group {k}", k, {}),
    "fail kind": lambda q, k: q.group(f"failing {k}", "open", {}, on_dead="fail", fail_kind=k),
    "the payload of a group's step": lambda q, k: q.group(f"set up {k}", None, {"a": "another"}),
    "dead letters of another kind": lambda q, k: q.define(f"open {k}", dead_letter_kind=k),
    "reserve": lambda q, k: q.reserve(k),
    "reserve many": lambda q, k: q.reserve(k, None, 5),
    "filter": lambda q, k: q.reserve(k, where={"a": 1}),
    "pop": lambda q, k: q.pop(k),
    "pop many": lambda q, k: q.pop(k, 5),
    "next": lambda q, k: q.next([], k),
    "stream": lambda q, k: call(q, "queue_stream_reserve", f"s{k}", 1, 0, k, 1, None),
    "stream ready": lambda q, k: call(q, "queue_stream_ready", k),
    "get": lambda q, k: q.get(k, "a"),
    "peek": lambda q, k: q.peek(k),
    "read": lambda q, k: q.read(k, f"reader of {k}"),
    "remove": lambda q, k: q.remove(k, "b"),
    "purge": lambda q, k: q.purge(k, 1),
    "redrive": lambda q, k: q.redrive(k, 1),
    "replay": lambda q, k: q.replay(k),
    "replay into it": lambda q, k: q.replay("open", to_kind=k),
    "pause": lambda q, k: q.pause(k),
    "resume": lambda q, k: q.resume(k),
    "drain": lambda q, k: q.drain(k),
    "define": lambda q, k: q.define(k, roles=None),
    "drop": lambda q, k: q.drop(k),
}
"""What a session may do with a kind; after `drain` it takes nothing in."""
SHORT: dict[str, Callable[[Q, str], object]] = {
    "short push": lambda q, k: execute(q, f"select queue_push('{k}', null, '1')"),
    "short reserve": lambda q, k: execute(q, f"select queue_reserve('{k}')"),
}
"""Where there are the short forms."""


def test_every_way_is_closed_to_others_and_open_to_its_roles(
    vault: Vault, capabilities: frozenset[str]
) -> None:
    ways = {**WAYS, **(SHORT if "functions" in capabilities else {})}
    vault.owner.subscribe(f"of.{vault.kind}", vault.kind)
    vault.owner.group(f"set up {vault.kind}", vault.kind, {})
    for name in (f"set up {vault.kind}", f"each day {vault.kind}"):
        vault.owner.schedule(name, vault.kind, 1, every_seconds=86400)
    vault.owner.push(vault.kind, "a", {"a": 1})
    open_to_others, closed = list[str](), list[str]()
    for name, way in ways.items():
        try:
            way(vault.outsider, vault.kind)
            open_to_others.append(name)
        except Exception as error:
            cause = {type(error), getattr(error, "sqlstate", None), *error.args[:1]}
            assert cause & {Restricted, Restricted.sqlstate, Restricted.errno}, (name, error)
            assert f'kind "{vault.kind}": is for ["{vault.name}"], not for out_' in f"{error}"
    assert open_to_others == []
    assert [one.key for one in vault.owner.peek(vault.kind, 10)] == ["a"]
    for name, way in WAYS.items():
        if name == "push":
            vault.member.resume(vault.kind)
        try:
            way(vault.member, vault.kind)
        except Refused:
            assert name == "drop"  # some are held
        except Exception as error:
            closed.append(f"{name}: {error}")
    assert closed == []


def test_its_dead_letters_are_for_the_same_roles(vault: Vault) -> None:
    dead = f"{vault.kind}.dead"
    for kind in (vault.kind, dead):  # dead, and dead once more
        vault.member.push(kind, "a", 1)
        [held] = vault.member.reserve(kind)
        vault.member.nack(held.receipt, error="no", final=True)
    assert [one.key for one in vault.member.peek(f"{dead}.dead", 5)] == ["a"]
    for kind in (dead, f"{dead}.dead"):
        for way in ("reserve", "pop", "peek", "redrive", "push"):
            with pytest.raises(Restricted):
                WAYS[way](vault.outsider, kind)


def test_what_a_batch_has_kept_is_for_the_same_roles(vault: Vault) -> None:
    vault.member.push(vault.kind, "a", 1)
    stream = f"stream of {vault.kind}"
    call(vault.member, "queue_stream_reserve", stream, 1, 0, vault.kind, 1, None)
    call(vault.member, "queue_stream_commit", stream, 1, '{"keep": true}')
    with pytest.raises(Exception, match="is for") as refused:
        call(vault.outsider, "queue_stream_reserve", stream, 1, 0, "open", 1, None)
    assert vault.kind in f"{refused.value}"


def test_the_inbox_takes_nothing_from_others(vault: Vault) -> None:
    text = f"insert into queue_inbox (p_kind, p_key, payload) values ('{vault.kind}', 'landed', '1')"
    refused = ""
    try:
        execute(vault.outsider, text)
    except Exception as error:
        refused = f"{error}"
    assert "is for" in refused
    assert vault.member.reserve(vault.kind) == []
    execute(vault.member, text)
    assert [one.key for one in vault.member.reserve(vault.kind)] == ["landed"]


def test_what_its_roles_set_up_goes_on_whoever_makes_the_step(vault: Vault) -> None:
    vault.member.group(f"group {vault.kind}", vault.kind, {}, members=1)
    vault.member.push("open", "routed", 1, route=[vault.kind])
    vault.member.push("open", "member", 1, group=f"group {vault.kind}")
    for held in vault.outsider.reserve("open", None, 100):
        vault.outsider.ack(held.receipt)
    found = {one.key for one in vault.member.reserve(vault.kind, None, 10)}
    assert found == {"routed", f"group {vault.kind}"}


def test_no_setting_and_no_like_name_lets_anybody_in(vault: Vault, server_name: str) -> None:
    names = [vault.name.upper(), f"{vault.name}@x", f"{vault.name} ", f'{vault.name}"'][
        : 4 if server_name == "postgresql" else 2
    ]
    for name in names:
        if server_name == "postgresql":
            execute(vault.owner, f"""create role "{name.replace('"', '""')}" login password 'x'""")
            execute(vault.owner, f"""grant queue_admin to "{name.replace('"', '""')}" """)
        else:
            execute(vault.owner, f"create user '{name}' identified by 'x'")
            execute(vault.owner, f"grant queue_admin to '{name}'")
            whose = "for" if server_name == "mariadb" else "to"
            execute(vault.owner, f"set default role queue_admin {whose} '{name}'")
        parts = urlsplit(vault.url)
        there = f"{quote(name)}:x@{parts.netloc.rpartition('@')[2]}"
        try:
            with connect(parts._replace(netloc=there).geturl(), read_committed=True) as connection:
                like = Queue[Any](connection)
                if server_name == "postgresql":
                    for text in (
                        "set role queue_admin",
                        f"select set_config('pyqueue.roles', '{vault.name}', false)",
                        f"select set_config('application_name', '{vault.name}', false)",
                    ):
                        execute(like, text)
                    for text in (f"set role {vault.name}", f"set session authorization {vault.name}"):
                        with pytest.raises(Exception, match="permission denied"):
                            execute(like, text)
                else:
                    execute(like, f"set @user = '{vault.name}', @current_user = '{vault.name}'")
                with pytest.raises(Restricted):
                    like.push(vault.kind, None, 1)
        finally:
            drop = f'"{name.replace(chr(34), chr(34) * 2)}"' if server_name == "postgresql" else f"'{name}'"
            execute(vault.owner, f"drop {'role' if server_name == 'postgresql' else 'user'} {drop}")


def test_the_dead_letters_of_a_kind_with_the_longest_name_are_restricted_too(vault: Vault) -> None:
    kind = vault.kind.ljust(95, "x")
    vault.owner.define(kind, roles=[vault.name])
    assert vault.member.peek(f"{kind}.dead") == []
    with pytest.raises(Restricted):
        vault.outsider.peek(f"{kind}.dead")


def test_a_pattern_is_read_by_those_whom_all_kinds_of_such_names_are_for(vault: Vault) -> None:
    vault.owner.define(f"{vault.kind}.inner", roles=[vault.name], log_seconds=60)
    vault.member.push(f"{vault.kind}.inner", "a", 1)
    pattern = f"{vault.kind}.*"
    assert [event.key for event in vault.member.read(pattern, f"r of {vault.kind}", 9)] == ["a"]
    with pytest.raises(Restricted):
        vault.outsider.read(pattern, f"another of {vault.kind}", 9)


def test_the_dead_letters_of_a_kind_are_for_those_whom_it_is_for_now(vault: Vault) -> None:
    name, dead = f"late_{secrets.token_hex(4)}", f"{vault.kind}.dead"
    late = vault.session(name)
    vault.owner.define(vault.kind, roles=[name])
    assert late.peek(dead) == []
    with pytest.raises(Restricted):
        vault.member.peek(dead)
    vault.owner.define(dead, roles=[vault.name])
    vault.owner.define(vault.kind, roles=[name, vault.name])
    with pytest.raises(Restricted):
        late.peek(dead)


@pytest.mark.servers("postgresql")
def test_a_member_of_a_role_may_and_may_no_more_once_it_is_none(vault: Vault) -> None:
    group, name = f"group_{secrets.token_hex(4)}", f"late_{secrets.token_hex(4)}"
    execute(vault.owner, f"create role {group}")
    vault.owner.define(vault.kind, roles=[group])
    late = vault.session(name)
    for grant in (True, False):
        execute(vault.owner, f"grant {group} to {name}" if grant else f"revoke {group} from {name}")
        with contextlib.nullcontext() if grant else pytest.raises(Restricted):
            late.push(vault.kind, f"{grant}", 1)
    vault.owner.define(vault.kind, roles=None)
    late.push(vault.kind, "open", 1)
    execute(vault.owner, f"drop role {group}")


@each("roles", [[], [1], [""], ["a" * 81], "in", {"a": 1}, ["a"] * 33, ["no_such_role"]])
def test_what_is_no_list_of_roles_is_refused(vault: Vault, server_name: str, roles: Any) -> None:
    if roles == ["no_such_role"] and server_name != "postgresql":
        return  # an account may be made later, and the owner needn't see all of them
    with pytest.raises(InvalidOption, match="roles"):
        vault.owner.define(vault.kind, roles=roles)
    assert vault.owner.define(vault.kind).roles == [vault.name]


@pytest.mark.servers("mariadb", "mysql")
def test_an_account_without_a_name_could_be_anybody(vault: Vault) -> None:
    execute(vault.owner, "create user ''@'127.0.0.9'")
    try:
        with pytest.raises(InvalidOption, match="account without a name"):
            vault.owner.define(vault.kind, roles=["a"])
    finally:
        execute(vault.owner, "drop user ''@'127.0.0.9'")


def test_a_worker_goes_on_without_a_kind_that_is_for_others(vault: Vault) -> None:
    workers, seen = Workers(vault.login(f"work_{secrets.token_hex(4)}")), list[str]()
    handlers, alone, other = Handlers(), Handlers(), f"beside_{vault.kind}"
    handlers.on(other)(lambda message: seen.append(message.key))
    handlers.on(vault.kind)(lambda message: seen.append(message.key))
    alone.on(vault.kind)(lambda message: seen.append(message.key))
    vault.member.push(vault.kind, "closed", 1)
    with workers.running(handlers, poll_seconds=0.1) as running:
        for key in ("first", "second"):
            vault.owner.push(other, key, 1)
            until(lambda key=key: key in seen or running.error)
        assert seen == ["first", "second"]
        vault.owner.define(vault.kind, roles=None)
        until(lambda: "closed" in seen or running.error)
        vault.owner.define(vault.kind, roles=[vault.name])
        vault.member.push(vault.kind, "again", 1)
        vault.owner.push(other, "third", 1)
        until(lambda: "third" in seen or running.error)
    assert seen == ["first", "second", "closed", "third"]
    with pytest.raises(Restricted, match=vault.kind):
        workers.drain(alone)
