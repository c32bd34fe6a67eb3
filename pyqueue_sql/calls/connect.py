"""Connections from URLs. No message of an error here repeats the URL, because of the password in it."""

# ruff: noqa: N818 -- named after what happened
from __future__ import annotations

import contextlib
import importlib
import os
import re
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Generator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

if TYPE_CHECKING:
    import pymysql

    Connection: TypeAlias = psycopg.Connection[Any] | pymysql.Connection[Any]

L = TypeVar("L")

FORM = "postgresql://user:password@host:port/database"
MYSQL_FORM = "mysql://user:password@host:port/database"
ENCODED = "in a user or a password @ : / ? # % are written %40 %3A %2F %3F %23 %25"
READ_COMMITTED = "set session transaction isolation level read committed"
NO_RETRY = "set session wsrep_retry_autocommit = 0"
"""A node of a Galera cluster makes a statement again that another forestalled. Of a call that has answered
already a part of the answer is lost by that, and what it did before is done twice."""
NO_LIMIT = "sql_select_limit = 18446744073709551615"
"""What a server has for all sessions cuts each answer, those that an upgrade looks at too."""
CONNECT_SECONDS = 10
"""For a server to let us in, where nothing else is said."""
NETWORK = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""For libpq, in seconds, a number and milliseconds: a server whose machine or network is gone without a word
is noticed within a minute. By itself Linux takes a quarter of an hour, or two hours where nothing is sent."""
_NETWORK_MYSQL = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 60_000}
"""The same for the sockets of the other drivers."""
SHOW_LEVEL = "show default_transaction_isolation"
SHOW_PATH = "select current_setting('search_path')"
_AWAY = ("starting up", "shutting down", "recovery", "not yet accepting", "too many", "connection slots")
"""What PostgreSQL says where it can't let anybody in just now."""
_SHUT_OUT = {1820, 1862, 3118, 3955, 4150, 4151}
"""The password has expired; or the account is locked, or blocked by logins that failed."""
_REFUSED = frozenset({1044, 1045, 1049, 1130, 1227, 1698, *_SHUT_OUT})
"""What MariaDB and MySQL say to whom they won't let in: the login, the right or the database is wrong."""
_FULL = frozenset({1040, 1203, 1226})
"""What they say where there are too many connections."""
MYSQL = frozenset({"mysql", "mysql+pymysql", "mariadb", "mariadb+pymysql"})


class ConnectionFailed(Exception):
    """No connection could be made: the server isn't there or doesn't let us in, or the URL isn't one.

    Args:
        message: what is wrong.
        away: whether the server may just be away for a while; else to try again is of no use.
        busy: whether there is a server that says so itself: it is starting, or has too many connections.
    """

    def __init__(self, message: str, *, away: bool = False, busy: bool = False) -> None:
        super().__init__(message)
        self.away = away
        self.busy = busy


def is_mysql(url: str) -> bool:
    """Whether the URL is one of MariaDB or MySQL, by what stands before its `://`."""
    return url.partition("://")[0] in MYSQL and "://" in url


def connect(
    url: str, *, autocommit: bool = True, schema: str | None = None, read_committed: bool = False
) -> Connection:
    """Return a new connection, of psycopg or of PyMySQL; as a context manager it closes at the end.

    Args:
        url: postgresql://…, also with the +psycopg of SQLAlchemy, or a connection string of libpq; or
            mysql://… or mariadb://…, also with +pymysql. Those take of PyMySQL's parameters, after a question
            mark, unix_socket, connect_timeout, read_timeout, write_timeout (seconds), and ssl_ca, ssl_cert,
            ssl_key, ssl_disabled, ssl_verify_cert and ssl_verify_identity (true or false; see `mysql_tls`).
        autocommit: whether each statement is a transaction of its own.
        schema: where the queue is, for the search path; None: as the server has it. On MariaDB and MySQL
            another database than that of the URL.
        read_committed: whether its transactions are so whatever the server's default is, in which calls
            may wait for each other, or fail. On PostgreSQL that is the `isolation_level` of the connection,
            which a call of `Queue` has under autocommit, too; for other statements see `own_transaction`.

    A server that doesn't let us in within ten seconds isn't there, unless connect_timeout says otherwise. One
    whose machine or network is gone is given up within a minute, unless libpq's own settings for that
    (keepalives_…, tcp_user_timeout) say otherwise.

    Raises:
        ConnectionFailed: see there; on MariaDB and MySQL also where `schema` is no database for this login.
    """
    if is_mysql(url):
        return connect_mysql(url, autocommit=autocommit, schema=schema, read_committed=read_committed)
    return connect_postgresql(url, autocommit=autocommit, schema=schema, read_committed=read_committed)


def connect_postgresql(
    url: str, *, autocommit: bool = True, schema: str | None = None, read_committed: bool = False
) -> psycopg.Connection[Any]:
    """Return a new connection of psycopg; see `connect`."""
    settings = postgresql_settings(url, schema)
    try:
        connection = psycopg.connect(autocommit=True, **settings_of_network(settings))
    except psycopg.OperationalError as error:
        raise failed_postgresql(error, url) from None
    try:
        with ended_after(connection, CONNECT_SECONDS):
            if schema is not None:
                check_path(connection.execute(SHOW_PATH).fetchone(), schema)
            if read_committed and connection.execute(SHOW_LEVEL).fetchone() != ("read committed",):
                connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        connection.autocommit = autocommit
    except BaseException:
        connection.close()
        raise
    return connection


def failed_postgresql(error: psycopg.OperationalError, url: str) -> ConnectionFailed:
    """Return what it means that psycopg got no connection."""
    said = str(error)
    # libpq has no SQLSTATE of what a server says before it lets somebody in
    busy = "FATAL" in said and any(phrase in said for phrase in _AWAY)
    away = busy or "FATAL" not in said
    return ConnectionFailed(explained(said.strip(), url), away=away, busy=busy)


def own_transaction(connection: Any) -> Any:
    """Return the transaction of one statement over psycopg, sync or async, in the level of its connection.

    It is none where the connection has no level, or isn't in autocommit. Only BEGIN tells the server of a
    level: that of the session may be others' as well.
    """
    idle = connection.info.transaction_status == TransactionStatus.IDLE
    has_a_level = connection.autocommit and connection.isolation_level is not None
    return connection.transaction() if has_a_level and idle else contextlib.nullcontext()


def line(connection: Any, lock: Callable[[], L]) -> L:
    """Return the lock by which calls over one connection of a driver wait for each other.

    Else one would read the answer of another, or ride in its transaction.

    Args:
        connection: of a driver, as `Queue` takes it.
        lock: makes one, for threads or for coroutines.
    """
    return cast("dict[str, L]", vars(connection)).setdefault("_pyqueue_line", lock())


def settings_of_network(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings of libpq with those of `NETWORK` that neither they nor the environment have."""
    if "service" in settings or "PGSERVICE" in os.environ:  # libpq puts what that says behind what we say
        found = {"connect_timeout": CONNECT_SECONDS, **settings}  # of which psycopg takes no notice there
    else:
        found = NETWORK | settings
    if "PGCONNECT_TIMEOUT" in os.environ and "connect_timeout" not in settings:
        del found["connect_timeout"]
    return found


def watch_network(own: socket.socket) -> None:
    """Let the driver of MariaDB and MySQL notice on this socket that nobody is at its other end any more."""
    if own.family != socket.AF_UNIX:
        for name, value in _NETWORK_MYSQL.items():
            if hasattr(socket, name):  # a system has those that it knows
                own.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def hang_up(connection: Any) -> None:
    """End what a connection waits for in another thread."""
    with contextlib.suppress(Exception):
        of = connection if isinstance(connection, psycopg.Connection) else connection._sock  # pyright: ignore
        # a copy, for what closes it leaves the connection's own to the connection
        with socket.socket(fileno=os.dup(of.fileno())) as own:
            own.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def ended_after(connection: Any, seconds: float) -> Generator[None]:
    """Hang up where the block takes longer, as it does for ever with a server that was halted."""
    timer = threading.Timer(seconds, hang_up, [connection])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def search_path(schema: str) -> str:
    """Return the search path of PostgreSQL for a queue in this schema."""
    return '"' + schema.replace('"', '""') + '", pg_temp'


def check_path(found: tuple[Any, ...] | None, schema: str) -> None:
    """Compare what `SHOW_PATH` gave on a new connection with what was asked for.

    Raises:
        ConnectionFailed: it is another, so that calls would reach another queue.
    """
    if found is None or found[0] != search_path(schema):
        raise ConnectionFailed(
            f"the schema {schema} was asked for, but the search path is {found and found[0]}: a pooler in"
            " between ignores startup parameters (options); connect to the server itself, or set the search"
            " path of the role or the database and ask for no schema"
        )


def postgresql_settings(url: str, schema: str | None) -> dict[str, Any]:
    """Return what `psycopg.connect` takes for this URL.

    Raises:
        ConnectionFailed: it isn't one.
    """
    scheme, separator, rest = url.partition("://")
    plain = f"{scheme.removesuffix('+psycopg')}://{rest}" if separator else url
    try:
        parts = conninfo_to_dict(plain)
    except psycopg.ProgrammingError:
        known = {one.keyword.decode() for one in psycopg.pq.Conninfo.get_defaults()}
        raise ConnectionFailed(
            f"that is no URL of a database{_unknown(url, known)}; its form is {FORM}, or {MYSQL_FORM};"
            f" {ENCODED}"
        ) from None
    # a message that another encoding can't show would end who gets it
    settings: dict[str, Any] = {"application_name": "pyqueue", **parts, "client_encoding": "UTF8"}
    if schema is not None:
        path = search_path(schema).replace("\\", r"\\").replace(" ", r"\ ")
        settings["options"] = f"{settings.get('options', '')} -c search_path={path}"
    return settings


def connect_mysql(
    url: str, *, autocommit: bool = True, schema: str | None = None, read_committed: bool = False
) -> pymysql.Connection[Any]:
    """Return a new connection of PyMySQL; see `connect`."""
    try:
        driver = importlib.import_module("pymysql")
    except ImportError:
        raise ConnectionFailed(
            "PyMySQL is needed for MariaDB and MySQL: pip install 'pyqueue_sql[mysql]'"
        ) from None
    given = mysql_settings(url)
    tls = mysql_tls(given)
    settings = {name: value for name, value in given.items() if name not in _TLS}
    # PyMySQL sends it only where it differs from what the server says, which init_connect makes wrong
    first = f"set autocommit = {autocommit:d}, {NO_LIMIT}"
    # PyMySQL's connect_timeout ends where the server has taken the connection, and has not said a word yet
    patience = settings.get("connect_timeout", CONNECT_SECONDS)
    limits = {name: settings.get(name) for name in ("read_timeout", "write_timeout")}
    # that for writing holds while TLS is agreed upon as well
    of_login = {
        **{name: min(patience, limit or patience) for name, limit in limits.items()},
        "autocommit": autocommit,
        "init_command": first,
        "ssl": tls,
    }
    try:
        connection = driver.connect(**settings | of_login, program_name="pyqueue")
    except (driver.Error, OSError, RuntimeError) as error:  # RuntimeError: a package of PyMySQL's is missing
        raise failed_mysql(error, url) from None
    try:
        watch_network(connection._sock)
        if autocommit and "MariaDB" in connection.server_version:
            try:
                connection.query(NO_RETRY)
            except driver.OperationalError:  # a build without Galera has no such variable
                if not connection.open:
                    raise
        if read_committed:
            connection.query(READ_COMMITTED)
        if schema is not None:
            try:
                connection.select_db(schema)
            except driver.Error as error:
                if error.args[0] not in _REFUSED:
                    raise
                raise ConnectionFailed(
                    f"the schema {schema} was asked for, which is a database here: {error.args[-1]}"
                    " (see pyqueue upgrade)"
                ) from error
    except BaseException:
        connection.close()
        raise
    connection._read_timeout, connection._write_timeout = limits["read_timeout"], limits["write_timeout"]
    return connection


def failed_mysql(error: Exception, url: str, why: str = "") -> ConnectionFailed:
    """Return what it means that PyMySQL or aiomysql got no connection.

    Args:
        error: the driver's.
        url: of the database.
        why: what the driver doesn't say in its message.
    """
    away = not isinstance(error, RuntimeError) and error.args[0] not in _REFUSED
    busy = error.args[0] in _FULL
    return ConnectionFailed(explained(f"{error.args[-1]}{why}", url), away=away, busy=busy)


def _flag(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text.lower()]


_YEAR_S = 31_536_000
"""The longest connect_timeout that PyMySQL takes."""
_TIMEOUTS = ("connect_timeout", "read_timeout", "write_timeout")
_TLS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("ssl_ca", "ssl_cert", "ssl_key"), str),
    **dict.fromkeys(("ssl_verify_cert", "ssl_verify_identity"), _flag),
}
"""What `mysql_tls` is made of."""
_MYSQL_PARAMETERS: dict[str, Callable[[str], Any]] = {
    "unix_socket": str,
    **dict.fromkeys(_TIMEOUTS, int),
    "ssl_disabled": _flag,
    **_TLS,
}


def mysql_settings(url: str) -> dict[str, Any]:
    """Return what `pymysql.connect` takes for this URL, in utf8mb4 whatever it says.

    Raises:
        ConnectionFailed: it isn't one, or a timeout in it is out of range.
    """
    try:
        parts = urlsplit(url)
        settings = {name: _MYSQL_PARAMETERS[name](value) for name, value in _query(parts.query)}
        named = {
            "host": parts.hostname,
            "port": parts.port,
            "user": parts.username and unquote(parts.username),
            "password": parts.password and unquote(parts.password),
            "database": unquote(parts.path.removeprefix("/")),
        }
    except (ValueError, KeyError):
        raise ConnectionFailed(
            f"that is no URL of a database{_unknown(url, _MYSQL_PARAMETERS)}; its form is {MYSQL_FORM}, with"
            f" {', '.join(_MYSQL_PARAMETERS)} as parameters; {ENCODED}"
        ) from None
    for name in _TIMEOUTS:
        if not 1 <= settings.get(name, 1) <= _YEAR_S:
            raise ConnectionFailed(f"{name}: must be from 1 to {_YEAR_S} seconds")
    return {**{name: value for name, value in named.items() if value}, **settings, "charset": "utf8mb4"}


def mysql_tls(settings: dict[str, Any]) -> ssl.SSLContext | None:
    """Return how a connection with these settings is encrypted; None: it's left to the driver.

    The server's certificate is checked where ssl_ca says who has to have signed it, unless ssl_verify_cert is
    false; or where ssl_verify_cert or ssl_verify_identity is true, without ssl_ca by the system's
    certificates. Its name is checked with ssl_verify_identity alone. PyMySQL by itself checks nothing for
    ssl_ca.

    Raises:
        ConnectionFailed: a file can't be read, or isn't what it should be; or ssl_key stands alone.
    """
    if "ssl_key" in settings and "ssl_cert" not in settings:
        raise ConnectionFailed("ssl_key: is of use with ssl_cert alone, which isn't given")
    identity = settings.get("ssl_verify_identity", False)
    verify = identity or settings.get("ssl_verify_cert", "ssl_ca" in settings)
    files = [settings[name] for name in ("ssl_ca", "ssl_cert", "ssl_key") if name in settings]
    if settings.get("ssl_disabled") or not (verify or files):
        return None
    try:
        context = ssl.create_default_context(cafile=settings.get("ssl_ca"))
        if "ssl_cert" in settings:
            context.load_cert_chain(settings["ssl_cert"], settings.get("ssl_key"))
    except OSError as error:
        raise ConnectionFailed(f"{', '.join(files)}: {error.strerror or error}") from None
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # what MySQL signs for itself isn't that
    context.check_hostname = identity
    context.verify_mode = ssl.CERT_REQUIRED if verify else ssl.CERT_NONE
    return context


def _query(text: str) -> list[tuple[str, str]]:
    pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text))
    # it stands in many URLs of SQLAlchemy
    return [pair for pair in pairs if pair != ("charset", "utf8mb4")]


def _unknown(url: str, known: Collection[str]) -> str:
    """Return how to name a parameter that isn't known, where it can't be a piece of the password.

    One with a / and a ? in it, not percent-encoded, goes on in what stands for parameters, up to the @.
    """
    query = url.partition("?")[2]
    names = [] if "@" in query else [name for name, _ in parse_qsl(query, keep_blank_values=True)]
    return next((f", {name!r:.40} is no parameter of one" for name in names if name not in known), "")


def explained(message: str, url: str) -> str:
    """Return the message without the password, and with what may be wrong with the URL.

    Where a user or a password isn't percent-encoded, a piece of it was taken for the host.
    """
    user = url.partition("://")[2].partition("?")[0].rpartition("@")[0]
    hint = f" ({ENCODED})" if re.search("[@/#]", user) else ""
    return without_password(message, url) + hint


def without_password(message: str, url: str) -> str:
    """Return the message without what may be of the password.

    One with an @ or a / in it, not percent-encoded, is taken apart, and pieces of it for a host or a port.
    """
    rest = url.partition("://")[2].partition("?")[0]
    secret = rest.partition(":")[2].rpartition("@")[0]
    for piece in sorted(re.split("[@:/#]", secret), key=len, reverse=True):
        if piece:
            message = message.replace(piece, "***").replace(unquote(piece), "***")
    return message
