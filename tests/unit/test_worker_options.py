"""What a worker refuses before it connects to anything."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import math
import ssl
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from click.testing import CliRunner, Result

from pyqueue_sql.calls.connect import NO_LIMIT, ConnectionFailed, connect, settings_of_network
from pyqueue_sql.cli import main
from pyqueue_sql.worker import AsyncWorker, Handlers, Worker, aio, connecting, health, logs
from pyqueue_sql.worker.connecting import connect_async
from pyqueue_sql.worker.declaring import declare
from pyqueue_sql.worker.failures import ERROR_CHARACTERS, MESSAGE_CHARACTERS, Failure, clean
from pyqueue_sql.worker.handlers import MAX_BATCH
from pyqueue_sql.worker.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

CA = """\
-----BEGIN CERTIFICATE-----
MIIBeTCCAR+gAwIBAgIUfYjIRyJi4Yv/U5HGkAhRavx8eJUwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGbm9ib2R5MCAXDTI2MTEyNTE1MDEzOVoYDzIxMjYxMTAxMTUw
MTM5WjARMQ8wDQYDVQQDDAZub2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AARh93HvT4879MTigGGO84P/ZGqSFDd/UzUk3oU85KOX1DfUOZ3eeXC+PL5dggTb
bthnprH73845VrOiTGz1nACao1MwUTAdBgNVHQ4EFgQU/mSKIJsu/YpAGU8vksBz
hXZ1YLowHwYDVR0jBBgwFoAU/mSKIJsu/YpAGU8vksBzhXZ1YLowDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAkBo1x15tpRmQol8niTWivmhp+4og
FaEfQa60nZqsfQICIBfDNH3k041yzBp0lZ+CdwHiN8HPyLZtqMXCB8ZipXYQ
-----END CERTIFICATE-----
"""
URL = "postgresql://user:secret@127.0.0.1:1/none"


@pytest.fixture
def handlers() -> Handlers:
    """One that another process can't import."""
    handlers = Handlers()
    handlers.on("mail")(lambda message: None)  # noqa: ARG005
    return handlers


@pytest.mark.parametrize("option", ["concurrency", "poll_seconds", "heartbeat_seconds", "max_messages"])
def test_numbers_that_make_no_sense(handlers: Handlers, option: str) -> None:
    options: dict[str, Any] = {option: 0}
    with pytest.raises(ValueError, match=f"{option} 0"):
        AsyncWorker(URL, handlers, **options)


@pytest.mark.parametrize("option", ["poll_seconds", "grace_seconds", "heartbeat_seconds"])
@pytest.mark.parametrize("number", ["nan", "inf"])
def test_numbers_that_are_not_finite(handlers: Handlers, option: str, number: str) -> None:
    options: dict[str, Any] = {option: float(number)}
    with pytest.raises(ValueError, match=f"{option} {number}: a finite number"):
        AsyncWorker(URL, handlers, **options)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("worker application", "--poll"),
        ("worker application", "--grace"),
        ("wait mail", "--timeout"),
        ("top", "--interval"),
    ],
)
@pytest.mark.parametrize("number", ["nan", "inf"])
def test_options_of_commands_that_are_not_finite(command: str, option: str, number: str) -> None:
    result = CliRunner().invoke(main, [*command.split(), option, number, "--url", URL])
    assert result.exit_code == 2
    assert f"'{option}': {number}: a finite number is wanted" in result.output


@pytest.mark.parametrize(
    ("option", "number"),
    [
        ("concurrency", 0),
        ("timeout_seconds", 0),
        ("timeout_seconds", math.inf),
        ("max_seconds", -1),
        ("max_seconds", math.nan),
        ("max_messages", 0),
        ("max_messages", MAX_BATCH + 1),
    ],
)
def test_numbers_of_a_handler_that_make_no_sense(option: str, number: float) -> None:
    handlers, options = Handlers(), dict[str, Any]({option: number})
    with pytest.raises(ValueError, match=f"{option} {number}"):
        handlers.on("mail", **options)(lambda _: None)
    for most in (1, MAX_BATCH):
        handlers.on(f"mail {most}", max_messages=most)(lambda _: None)


def test_what_nobody_says_is_as_the_documentation_has_it(handlers: Handlers) -> None:
    found = vars(AsyncWorker(URL, handlers)._settings)  # pyright: ignore[reportPrivateUsage]
    assert {name: found[name] for name in found if name not in ("url", "name")} == {
        "schema": None, "concurrency": 1, "poll_seconds": 15, "notify": True, "grace_seconds": 30,
        "heartbeat_seconds": 30, "drain": False, "max_messages": None, "upkeep": True, "health": None,
    }  # fmt: skip


@pytest.mark.parametrize(("asked", "looks"), [(15.0, 1.0), (0.25, 0.25)])
def test_behind_a_pooler_it_looks_every_second_or_as_often_as_it_was_told(asked: float, looks: float) -> None:
    settings = Settings(URL, "name", poll_seconds=asked)

    def found(shares: Callable[[str], bool]) -> Settings:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(aio, "shares_sessions", shares)
            return asyncio.run(aio._as_it_can(settings, lambda: False))  # pyright: ignore[reportPrivateUsage]

    def fails(_: str) -> bool:
        raise RuntimeError("who connects next says it")

    assert found(lambda _: True) == replace(settings, notify=False, poll_seconds=looks)
    assert found(lambda _: False) == found(fails) == settings


@pytest.mark.parametrize(
    ("backends", "shares"),
    [
        ([(1, 2), (1, 2), (1, 2)], False),
        ([(1, 1), (1, 1), (1, 1)], True),
        ([(1, 2), (1, 2), (2, 1)], True),  # another client had one of them meanwhile
        ([(1, 2), (3, 2), (1, 2)], True),
    ],
)
def test_sessions_are_shared_where_a_connection_has_not_one_of_its_own(
    backends: list[tuple[int, int]], shares: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter([number for pair in backends for number in pair])
    monkeypatch.setattr(connecting, "connect_postgresql", contextlib.nullcontext)
    monkeypatch.setattr(connecting, "_backend", lambda _: next(numbers))
    assert connecting.shares_sessions(URL) is shares


def test_a_second_parameter_is_the_context_unless_it_has_a_default_and_another_name() -> None:
    handlers = Handlers()
    handlers.on("plain")(lambda _, tries=3: tries)
    handlers.on("with context")(lambda _, context=None, tries=3: (context, tries))
    assert [one.wants_context for one in handlers.values()] == [False, True]


def test_a_result_is_kept_for_a_day_unless_the_handler_says_otherwise() -> None:
    handlers = Handlers()
    handlers.on("a", keep_result=True)(lambda _: None)
    handlers.on("b", keep_result=True, settings={"history_seconds": 60.0})(lambda _: None)
    handlers.on("c")(lambda _: None)
    assert [one.settings.get("history_seconds") for one in handlers.values()] == [86400.0, 60.0, None]


def test_addresses_of_the_health_check() -> None:
    addresses = ("8080", "localhost:0", "127.0.0.1:65535", "[::1]:8080")
    assert [health.parse(one) for one in addresses] == [
        ("0.0.0.0", 8080),
        ("localhost", 0),
        ("127.0.0.1", 65535),
        ("::1", 8080),
    ]
    for one in ("65536", "localhost", "", "localhost:-1"):
        with pytest.raises(ValueError, match="HOST:PORT"):
            health.parse(one)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("json", "--health", "abc"), "health 'abc': HOST:PORT or PORT, of 0 to 65535"),
        (("json", "--health", "127.0.0.1:99999"), "health '127.0.0.1:99999': HOST:PORT or PORT"),
        (("json", "--health", "8080", "--processes", "2"), "health '8080': for one process, not for 2"),
        ((":",), "':': MODULE or MODULE:NAME is wanted"),
        (("",), "'': MODULE or MODULE:NAME is wanted"),
        ((".x",), "'.x': MODULE or MODULE:NAME is wanted"),
    ],
)
def test_wrong_usage_of_the_command_says_what_is_wanted(
    arguments: tuple[str, ...], said: str, handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json, "handlers", handlers, raising=False)
    monkeypatch.setattr(logs, "configure", lambda *_: None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    result = CliRunner().invoke(main, ["worker", *arguments, "--url", URL])
    assert (result.exit_code, said in result.output) == (2, True), result.output


def test_handlers_come_from_the_current_folder_and_what_is_wrong_in_them_is_no_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "of_this_folder.py").write_text("import not_there_at_all\n")

    def run(target: str) -> Result:
        return CliRunner().invoke(main, ["worker", target, "--url", URL])

    wrong = run("not_there_at_all.handlers")
    assert (wrong.exit_code, "there is no module not_there_at_all.handlers" in wrong.output) == (2, True)
    error = run("of_this_folder").exception
    assert isinstance(error, ModuleNotFoundError)
    assert error.name == "not_there_at_all"


def test_a_decorator_without_a_kind_is_refused() -> None:
    handlers: Any = Handlers()

    def send(message: object) -> None: ...

    for decorate in (handlers.on, handlers.task):
        with pytest.raises(
            TypeError, match=r'^kind <function .*: text is wanted, as in @handlers\.on\("emails"\)'
        ):
            decorate(send)
        with pytest.raises(TypeError, match=r"^kind \['emails'\]: text is wanted"):
            decorate(["emails"])
    assert not handlers


def test_what_is_no_url_no_handlers_and_no_number_is_named(handlers: Any) -> None:
    url: Any = object()
    no_handlers: Any = [handlers]
    with pytest.raises(TypeError, match=r"^url of type object: text is wanted"):
        Worker(url, handlers)
    with pytest.raises(TypeError, match=r"^handlers .*: Handlers are wanted"):
        Worker(URL, no_handlers)
    for option in ("concurrency", "poll_seconds", "max_messages"):
        given: dict[str, Any] = {option: "8"}
        with pytest.raises(TypeError, match=f"^{option} '8': a number is wanted"):
            Worker(URL, handlers, **given)


def test_a_file_in_place_of_a_module_is_told() -> None:
    result = CliRunner().invoke(main, ["worker", "not_there.py", "--url", URL])
    assert result.exit_code == 2
    assert "a module is wanted, not a file: not_there" in " ".join(result.output.split())


def test_no_handlers() -> None:
    with pytest.raises(ValueError, match="without handlers"):
        Worker(URL, Handlers())


def test_no_processes(handlers: Handlers) -> None:
    with pytest.raises(ValueError, match="processes 0: at least 1"):
        Worker(URL, handlers, processes=0)


def test_handlers_that_another_process_cannot_import(handlers: Handlers) -> None:
    with pytest.raises(TypeError, match="functions of modules"):
        Worker(URL, handlers, processes=2)
    Worker(URL, handlers)


def test_a_worker_that_was_started_again_has_another_name(handlers: Handlers) -> None:
    first, second = (AsyncWorker(URL, handlers, name="mine") for _ in range(2))
    assert first.name != second.name
    assert first.name.startswith("mine-")


def test_no_password_is_shown(handlers: Handlers) -> None:
    assert "secret" not in repr(Settings(URL, "name"))
    worker = Worker(URL, handlers)
    with pytest.raises(ConnectionFailed) as failed:
        worker.run()
    assert "secret" not in str(failed.value)
    assert failed.value.__cause__ is None


def test_transactions_of_coroutines_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiomysql", None)
    with pytest.raises(ConnectionFailed, match="mysql-async"):
        asyncio.run(connect_async("mysql://user:secret@127.0.0.1:1/none"))


def given_to_aiomysql(monkeypatch: pytest.MonkeyPatch, url: str) -> dict[str, Any]:
    """Return what aiomysql's connections are given for a URL; there is nothing that they could connect to."""
    import aiomysql  # pyright: ignore[reportMissingTypeStubs]

    given: dict[str, Any] = {}

    class Connection(aiomysql.Connection):
        def __init__(self, **settings: Any) -> None:
            given.update(settings)
            super().__init__(**settings)  # pyright: ignore[reportUnknownMemberType]

        async def _connect(self) -> None:
            raise OSError("nobody is there")

    monkeypatch.setattr(aiomysql, "Connection", Connection)
    with pytest.raises(ConnectionFailed, match="nobody is there"):
        asyncio.run(connect_async(url))
    return given


@pytest.mark.parametrize(
    ("parameters", "mode", "checks_name"),
    [
        ("ssl_ca=CA", ssl.CERT_REQUIRED, False),
        ("ssl_ca=CA&ssl_verify_identity=true", ssl.CERT_REQUIRED, True),
        ("ssl_ca=CA&ssl_verify_cert=false", ssl.CERT_NONE, False),
        ("ssl_cert=/no/file", ssl.CERT_NONE, False),
        ("ssl_disabled=true", None, False),
        ("", None, False),
    ],
)
def test_tls_of_transactions_of_coroutines(
    parameters: str,
    mode: ssl.VerifyMode | None,
    checks_name: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", lambda *_: None)
    (tmp_path / "ca.pem").write_text(CA)
    parameters = parameters.replace("CA", str(tmp_path / "ca.pem"))
    given = given_to_aiomysql(monkeypatch, f"mysql://user:secret@127.0.0.1:1/other?{parameters}")
    assert given["db"] == "other"
    context = given["ssl"]
    assert (context and context.verify_mode) == mode
    assert bool(context and context.check_hostname) is checks_name


@pytest.mark.parametrize("what", [connect, lambda url: asyncio.run(connect_async(url))])
def test_a_key_without_its_certificate_is_refused(what: Callable[[str], object]) -> None:
    with pytest.raises(ConnectionFailed, match=r"^ssl_key: "):
        what("mysql://user:secret@127.0.0.1:1/other?ssl_key=/key.pem&ssl_ca=/ca.pem")


def test_transactions_of_coroutines_connect_as_the_url_says(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "mysql://me:secret@db:3307/other?connect_timeout=5&unix_socket=/s"
    given = given_to_aiomysql(monkeypatch, url)
    assert given == {
        "host": "db", "port": 3307, "user": "me", "password": "secret", "db": "other", "connect_timeout": 5,
        "unix_socket": "/s", "charset": "utf8mb4", "ssl": None, "autocommit": False,
        "init_command": f"set autocommit = 0, {NO_LIMIT}",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "limits"),
    [
        ("", (10, 10)),
        ("connect_timeout=2&read_timeout=60&write_timeout=1", (2, 1)),
        ("read_timeout=4", (4, 10)),
    ],
)
def test_a_login_takes_no_longer_than_a_connection_may(
    parameters: str, limits: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def refuse(**settings: Any) -> None:
        given.update(settings)
        raise OSError("nobody is there")

    monkeypatch.setattr(pymysql, "connect", refuse)
    with pytest.raises(ConnectionFailed, match="nobody is there"):
        connect(f"mysql://user:secret@127.0.0.1:1/other?{parameters}")
    assert (given["read_timeout"], given["write_timeout"]) == limits


@pytest.mark.parametrize("passes", [True, False])
def test_what_a_start_brings_to_the_database_is_tried_again_unless_that_is_of_no_use(
    passes: bool, caplog: pytest.LogCaptureFixture
) -> None:
    handlers, defined = Handlers(), list[str]()
    for kind in ("mail", "sms"):
        handlers.on(kind, settings={"max_attempts": 3})(lambda _: None)

    class Refusing:
        def define(self, kind: str, **_: Any) -> None:
            defined.append(kind)
            raise pymysql.err.OperationalError(2013 if passes else 1370, "no")

    queue: Any = Refusing()
    if passes:
        with pytest.raises(pymysql.err.OperationalError):
            declare(queue, handlers.values())
        assert defined == ["mail"]
    else:
        declare(queue, handlers.values())
        assert defined == ["mail", "sms"]
        assert caplog.messages == ["mail is left as it is: no", "sms is left as it is: no"]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_schedule_that_is_there_as_it_should_be_is_left_alone(zone: str | None) -> None:
    handlers, made = Handlers(), list[str]()
    handlers.on("nightly", cron="0 3 * * *", time_zone=zone)(lambda _: None)

    class There:
        def schedules(self) -> list[Any]:
            rule = {"cron": "0 3 * * *", "time_zone": "UTC"}
            return [SimpleNamespace(name="nightly", kind="nightly", rule=rule)]

        def schedule(self, name: str, *_: object, **__: object) -> None:
            made.append(name)

    queue: Any = There()
    declare(queue, handlers.values())
    assert made == []


def raised(error: BaseException) -> BaseException:
    """Return it with a traceback that begins here."""
    try:
        raise error
    except BaseException as again:
        return again


def test_an_error_says_what_it_was_and_where() -> None:
    def deeper() -> None:
        json.loads("{")

    with pytest.raises(ValueError, match="Expecting") as found:
        deeper()
    failure = Failure.of(found.value, URL)
    assert failure.name == "json.decoder.JSONDecodeError"
    assert failure.text.startswith("json.decoder.JSONDecodeError: Expecting")
    # of the application, not the innermost of all, which is in the standard library
    line = deeper.__code__.co_firstlineno + 1
    assert failure.where == f"{__file__}:{line} in deeper"
    assert failure.text.endswith(f"({failure.where})")
    assert "in raw_decode" in failure.traceback


def test_errors_are_cut() -> None:
    assert clean("the beginning" + "x" * 10_000) == "the beginning" + "x" * (ERROR_CHARACTERS - 13) + "…"
    failure = Failure.of(raised(ValueError("x" * 1_000_000)), URL)
    assert len(failure.text) < MESSAGE_CHARACTERS + 500
    assert failure.text.endswith("in raised)"), "and still says where"
    assert len(failure.traceback) < 30_000
    long = Failure.of(raised(ValueError("x" * 30_000 + " the end")), URL).traceback
    assert (long[0], long[-8:]) == ("…", " the end"), "where it says what happened"


def test_where_it_was_is_a_line_that_somebody_has_written() -> None:
    with pytest.raises(ModuleNotFoundError) as found:
        importlib.import_module("not_there_at_all")  # the innermost frames are frozen ones
    line = found.tb.tb_lineno
    where = f"{__file__}:{line} in test_where_it_was_is_a_line_that_somebody_has_written"
    assert Failure.of(found.value, URL).where == where


def test_an_error_that_cannot_be_told_has_its_name() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert "SilentError" in Failure.of(SilentError(), URL).text


def test_the_exceptions_of_a_group_are_told() -> None:
    group = ExceptionGroup("both", [ValueError("one"), KeyError("two")])
    assert "ValueError: one; KeyError: 'two'" in Failure.of(raised(group), URL).text
    many = ExceptionGroup("many", [ValueError(f"no. {number}") for number in range(9)])
    text = Failure.of(raised(many), URL).text
    assert [f"no. {number}" in text for number in range(9)] == [True] * 5 + [False] * 4


def test_no_line_of_a_traceback_is_marked_nor_of_what_caused_it() -> None:
    def fails() -> None:
        try:
            _ = [1 / 0 + 1]
        except ZeroDivisionError as error:
            raise LookupError(str(error) + "!") from error

    with pytest.raises(LookupError) as found:
        fails()
    failure = Failure.of(found.value, URL)
    several = Failure.of(raised(ExceptionGroup("several", [found.value])), URL)
    for traceback in (failure.traceback, several.traceback):
        assert "1 / 0" in traceback
        assert "^" not in traceback


@pytest.mark.parametrize(
    "message", [f"can't reach {URL}", "user=user password=secret host=db", "mysql://root:secret@db/queue"]
)
def test_no_error_has_a_password(message: str) -> None:
    failure = Failure.of(raised(ConnectionError(message)), URL if message.endswith("none") else "")
    assert "secret" not in failure.text + failure.traceback
    assert "ConnectionError" in failure.text


@pytest.mark.parametrize(
    ("asked", "environment", "connect_timeout", "idle"),
    [
        ({}, {}, 10, 30),
        ({"connect_timeout": 3, "keepalives_idle": 7}, {}, 3, 7),
        ({}, {"PGCONNECT_TIMEOUT": "4"}, None, 30),
        ({"connect_timeout": 3}, {"PGCONNECT_TIMEOUT": "4"}, 3, 30),
        # libpq would put what the service says behind what we say
        ({"service": "mine"}, {}, 10, None),
        ({"service": "mine", "connect_timeout": 3}, {}, 3, None),
        ({}, {"PGSERVICE": "mine"}, 10, None),
    ],
)
def test_how_long_to_wait_for_a_server_is_ours_where_nobody_says(
    asked: dict[str, Any],
    environment: dict[str, str],
    connect_timeout: int | None,
    idle: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("PGCONNECT_TIMEOUT", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = settings_of_network(asked)
    assert (found.get("connect_timeout"), found.get("keepalives_idle")) == (connect_timeout, idle)
    assert ("tcp_user_timeout" in found) == (idle is not None)
