"""From one release to the next and back: the same schema, and the messages are still there."""

import pytest
import sqlalchemy
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext

from pyqueue_sql import MigrationError, Queue
from pyqueue_sql.schema import migrate, revision
from tests.schema.catalogs import DEFINITIONS, Rows, connect, printed, rows
from tests.schema.next_release import FIRST, HEAD, RELEASES, STEPS

pytestmark = pytest.mark.usefixtures("released")
OLDER = (FIRST, *STEPS[:-1])


@pytest.fixture(scope="module")
def fresh() -> dict[str, Rows]:
    """What a fresh install has, by revision, once somebody has made one."""
    return {}


@pytest.fixture
def head(fresh: dict[str, Rows], request: pytest.FixtureRequest) -> Rows:
    """What a fresh install of the newest revision has."""
    if HEAD not in fresh:
        url: str = request.getfixturevalue("empty_url")
        migrate.upgrade(url)
        assert migrate.current(url) == HEAD
        fresh[HEAD] = rows(url, DEFINITIONS)
    return fresh[HEAD]


def older_one(database_url: str, revision: str) -> str:
    """Bring the test's database, which has the first revision, to another; returns its URL."""
    if revision != FIRST:
        migrate.upgrade(database_url, revision=revision)
    assert migrate.current(database_url) == revision
    return database_url


@pytest.mark.parametrize("older", [FIRST, *(pytest.param(one, marks=pytest.mark.long) for one in OLDER[1:])])
def test_an_upgrade_from_an_older_revision_is_a_fresh_install(database_url: str, head: Rows, older: str):
    url = older_one(database_url, older)
    assert rows(url, DEFINITIONS) != head
    migrate.upgrade(url)
    assert rows(url, DEFINITIONS) == head


def test_a_downgrade_to_the_older_release_is_a_fresh_install_of_it(database_url: str):
    old = rows(database_url, DEFINITIONS)
    migrate.upgrade(database_url)
    migrate.downgrade(database_url, revision=FIRST)
    assert rows(database_url, DEFINITIONS) == old


@pytest.mark.long
def test_what_is_printed_leads_from_an_older_revision_and_back(database_url: str, head: Rows):
    migrate.upgrade(database_url)
    for older in OLDER:
        with connect(database_url) as connection:
            connection.execute(printed(migrate.downgrade, revision=older).encode())
            assert migrate.current(database_url) == older
            connection.execute(printed(migrate.upgrade, revision=f"{older}:head").encode())
        assert migrate.current(database_url) == HEAD
        assert rows(database_url, DEFINITIONS) == head, older


@pytest.mark.parametrize(("before", "after"), [RELEASES, RELEASES[::-1]], ids=["up", "down"])
def test_messages_in_every_state_survive(database_url: str, before: str, after: str):
    with connect(older_one(database_url, before)) as connection:
        queue = Queue(connection)
        queue.define("dying", dead_letter_kind="dead", backoff_seconds=7)
        for kind in ("ready", "held", "newer", "late", "dying"):
            queue.push(kind, "k", {"in": kind}, priority=3, headers={"a": "b"})
        queue.push("scheduled", "k", 1, delay_seconds=3600)
        queue.push_bytes("bytes", "k", b"\x00")
        for key in ("first", "second"):
            queue.push("orders", key, order_key="a")
        held = {
            kind: queue.reserve(kind, "w", timeout_seconds=seconds)[0].receipt or ""
            for kind, seconds in (
                ("held", 3600),
                ("newer", 3600),
                ("late", 0.001),
                ("dying", 3600),
                ("orders", 60),
            )
        }
        assert queue.push("newer", "k", "newest", on_duplicate="replace").outcome == "held"
        queue.nack(held["dying"], final=True, error="no")
        (migrate.upgrade if after == HEAD else migrate.downgrade)(database_url, revision=after)
        states = {kind: queue.peek(kind)[0].state for kind in ("ready", "scheduled", "held", "late", "dead")}
        assert states == {
            "ready": "ready",
            "scheduled": "scheduled",
            "held": "reserved",
            "late": "expired",
            "dead": "ready",
        }
        assert queue.reserve("orders") == []
        for kind in ("held", "late", "newer", "orders"):
            assert queue.ack(held[kind]).outcome == "acked"
            assert queue.ack(held[kind]).outcome == "lost"
        assert [message.key for message in queue.pop("orders")] == ["second"]
        assert [message.payload for message in queue.pop("newer")] == ["newest"]
        assert [message.payload_bytes for message in queue.pop("bytes")] == [b"\x00"]
        [ready] = queue.pop("ready")
        assert (ready.payload, ready.priority, ready.headers) == ({"in": "ready"}, 3, {"a": "b"})
        assert queue.redrive("dead").went == 1
        assert queue.define("dying", max_attempts=2).backoff_seconds == 7


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ("0008_mission_kinds", "from before the first release.*pyqueue downgrade base"),
        ("0099_later", "doesn't know: install the version that it comes from, or a newer one"),
    ],
)
@pytest.mark.parametrize("what", [migrate.upgrade, migrate.downgrade])
def test_a_revision_that_nobody_knows_here_is_an_error_that_says_what_to_do(
    empty_url: str, what: type, there: str, said: str
):
    rows(empty_url, "create table queue_version (version_num varchar(32) primary key)")
    rows(empty_url, f"insert into queue_version values ('{there}')")
    with pytest.raises(MigrationError, match=f"{there}, .*{said}"):
        what(empty_url)
    assert migrate.current(empty_url) == there


def test_a_downgrade_to_what_is_newer_is_refused(database_url: str):
    with pytest.raises(MigrationError, match=f"of revision {FIRST}, which is older than {HEAD}: upgrade"):
        migrate.downgrade(database_url, revision=HEAD)
    assert migrate.current(database_url) == FIRST


def test_a_branch_goes_down_where_an_upgrade_of_ours_has_not_got_as_far(database_url: str):
    """Else an application could not go back: there is nothing of that revision to be taken away."""
    before = rows(database_url, DEFINITIONS)
    engine = sqlalchemy.create_engine(database_url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection, Operations.context(MigrationContext.configure(connection)):
        revision.run(HEAD, "down")
        with pytest.raises(MigrationError, match=f"is of revision {FIRST} .* run that before {HEAD}"):
            revision.run(HEAD, "up", "routines")
    engine.dispose()
    assert rows(database_url, DEFINITIONS) == before
