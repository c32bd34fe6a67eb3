"""`pyqueue web`: what it shows to whom, what it lets nobody do, and how little it reads."""

from __future__ import annotations

import contextlib
import html
import os
import re
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from pyqueue_sql.overview import Look, open_look
from pyqueue_sql.web import pages, safety, watch, web_app
from tests.doctor.logins import SECRET, Watched
from tests.sample import QUICK

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # httpx has a successor
    from starlette.testclient import TestClient

if TYPE_CHECKING:
    from tests.conformance.harness import Harness, Session

pytestmark = QUICK  # what it reads is read on each server in tests/doctor

TOKEN = "open-sesame-0123"
OWN = {"sec-fetch-site": "same-origin"}
HOSTILE = """"><script>alert('1')</script>&{{7*7}}/?#%"""
MANY = 2000
AT_MOST = 40
PATHS = (
    *("/", "/search?key=a", "/search?kind=mail&key=l", "/dead", "/workers", "/schedules", "/groups"),
    *("/kind?kind=mail", "/kind?kind=mail&order=key", "/kind?kind=mail.dead", "/group?group=crew"),
    *("/message?kind=mail&key=late", "/message?kind=mail&key=a", "/message?kind=mail&key=c"),
    *("/message?kind=mail&key=raw", "/message?kind=mail.dead&key=b"),
)


def page(url: str, **settings: Any) -> TestClient:
    return TestClient(web_app(url, **settings), follow_redirects=False)


def acting(url: str) -> tuple[TestClient, str]:
    """A browser that has given the token, and what its forms carry."""
    client = page(url, actions=True, token=TOKEN)
    assert client.post("/login", data={"token": TOKEN}, headers=OWN).status_code == 303
    found = re.search(r'name="form" value="(\w+)"', client.get("/kind?kind=mail").text)
    assert found
    return client, found[1]


def act(client: TestClient, form: str, action: str, kind: str, key: str = "", **more: str) -> Any:
    data = {"form": form, "action": action, "kind": kind, "key": key, "back": "/dead", "sure": "yes", **more}
    return client.post("/act", data=data, headers=OWN)


def test_it_shows_what_there_is(watched: Watched) -> None:
    client = page(watched.operator)
    shown = {path: client.get(path) for path in PATHS}
    assert {path: one.status_code for path, one in shown.items()} == dict.fromkeys(PATHS, 200)
    assert "mail.dead" in shown["/"].text
    assert "1 of 1" in shown["/"].text  # workers
    assert "smtp" in shown["/"].text
    assert ">late</a>" in shown["/search?kind=mail&key=l"].text
    assert ">raw</a>" not in shown["/search?kind=mail&key=l"].text
    assert f"no such {SECRET}" in shown["/dead"].text
    assert "w1" in shown["/workers"].text
    assert "nightly" in shown["/schedules"].text
    assert "crew" in shown["/groups"].text
    assert ">✓ a</text>" in shown["/group?group=crew"].text
    assert ">✗ b</text>" in shown["/group?group=crew"].text
    assert ">c</text>" in shown["/group?group=crew"].text
    assert SECRET in shown["/message?kind=mail&amp;key=late".replace("&amp;", "&")].text
    assert SECRET.encode().hex(" ") in shown["/message?kind=mail&key=raw"].text
    assert "acked after 1 delivery" in shown["/message?kind=mail&key=a"].text
    assert "taken by w1" in shown["/message?kind=mail&key=c"].text
    assert f"no such {SECRET}" in shown["/message?kind=mail.dead&key=b"].text
    assert "dead after 1 delivery" in shown["/message?kind=mail.dead&key=b"].text  # of where it came from


def test_an_observer_is_shown_nothing_that_is_in_a_message(watched: Watched) -> None:
    client = page(watched.observer)
    for path in PATHS:
        found = client.get(path)
        assert found.status_code == 200, path
        assert SECRET not in found.text, path
        assert SECRET.encode().hex(" ") not in found.text, path
    for path in ("/message?kind=mail&key=late", "/message?kind=mail.dead&key=b"):
        assert "not for this login" in client.get(path).text
    assert ">late</a>" in client.get("/kind?kind=mail").text


def test_an_observer_changes_nothing_with_the_token_either(watched: Watched) -> None:
    client, form = acting(watched.observer)
    for action, key in (("pause", ""), ("redrive", ""), ("retry", "late"), ("remove", "late")):
        found = act(client, form, action, "mail", key)
        assert found.status_code == 409, action
        assert "denied" in found.text, action
    assert [one.paused for one in watched.queue.stats("mail")] == [False]
    assert watched.queue.get("mail", "late") is not None


def test_a_browser_is_told_to_run_and_load_nothing_else(watched: Watched) -> None:
    client = page(watched.operator, actions=True, token=TOKEN)
    for path in (*PATHS, "/login", "/nowhere", "/message?kind=x&key=y", "/static/web.js", "/static/nothing"):
        found = client.get(path)
        assert {name: found.headers.get(name) for name in safety.HEADERS} == safety.HEADERS, path
        if "html" in found.headers["content-type"]:
            assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=|javascript:", found.text), path
            assert set(re.findall(r'(?:src|href|action)="(https?:|//)', found.text)) == set(), path
    policy = safety.HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'")


def test_what_people_name_and_send_is_shown_as_text(harness: Harness, queue: Session) -> None:
    queue.define(HOSTILE[:50], history_seconds=3600)
    queue.push(HOSTILE[:50], HOSTILE, {"</pre>" + HOSTILE: HOSTILE}, headers={"x": HOSTILE})
    [held] = queue.reserve(HOSTILE[:50], HOSTILE)
    queue.nack(held.receipt, error=HOSTILE, delay_seconds=60)
    queue.heartbeat(HOSTILE, kinds=[HOSTILE[:50]])
    queue.group(HOSTILE[:50], HOSTILE[:50])
    queue.push("other", HOSTILE, 1, group=HOSTILE[:50])
    queue.schedule(HOSTILE[:50], HOSTILE[:50], every_seconds=86400)
    queue.semaphore(HOSTILE[:50], 1)
    client = page(harness.url)
    seen: set[str] = set()
    ways = ["/", "/search?key=%22", "/workers", "/schedules", "/groups", "/dead"]
    while ways:
        way = ways.pop()
        found = client.get(way)
        assert found.status_code == 200, way
        assert "<script>alert" not in found.text, way
        assert "49/" not in found.text, way
        seen.add(way)
        links = re.findall(r'<a href="(/[^"]*)"', found.text)
        ways += {link.replace("&amp;", "&") for link in links} - {*seen, *ways}
    whole = [way for way in seen if way.startswith("/message?")]
    assert any("&lt;/pre&gt;" in client.get(way).text for way in whole)
    assert any(way.startswith("/group?") for way in seen)
    assert any(way.startswith("/kind?") for way in seen)


def test_it_only_reads_unless_it_is_told_otherwise(harness: Harness, queue: Session) -> None:
    queue.push("mail", "a", delay_seconds=3600)
    client = page(harness.url)
    assert '<form method="post"' not in client.get("/kind?kind=mail").text
    assert client.get("/login").status_code == 404
    assert act(client, "", "pause", "mail").status_code == 403
    assert not queue.stats("mail")[0].paused
    # a token alone lets nobody change anything, either
    client = page(harness.url, token=TOKEN, private=True)
    client.post("/login", data={"token": TOKEN}, headers=OWN)
    assert act(client, "", "pause", "mail").status_code == 403
    assert not queue.stats("mail")[0].paused


def test_who_gives_the_token_acts_after_a_question(harness: Harness, queue: Session) -> None:
    queue.push("mail", "late", delay_seconds=3600)
    queue.push("mail", "unwanted")
    queue.push_bytes("mail", "raw", b"\xff", delay_seconds=3600)
    queue.push("bills", "b/1")
    [held] = queue.reserve("bills")
    queue.nack(held.receipt, error="no", final=True)
    client, form = acting(harness.url)
    asked = act(client, form, "pause", "mail", sure="")
    assert asked.status_code == 200
    assert "Sure?" in asked.text
    assert not queue.stats("mail")[0].paused
    found = act(client, form, "pause", "mail")
    assert (found.status_code, found.headers["location"]) == (303, "/dead")
    assert queue.stats("mail")[0].paused
    shown = client.get("/").text
    assert "mail is paused" in shown
    assert '<span class="state paused">' in shown, "what was changed is seen at once"
    assert "mail is paused" not in client.get("/").text  # said once
    act(client, form, "resume", "mail")
    assert not queue.stats("mail")[0].paused
    for key in ("late", "raw"):
        assert act(client, form, "retry", "mail", key).status_code == 303
        assert [one.state for one in [queue.get("mail", key)] if one] == ["ready"]
    act(client, form, "remove", "mail", "unwanted")
    assert queue.get("mail", "unwanted") is None
    act(client, form, "redrive", "bills.dead")
    assert "1 went back" in client.get("/dead").text
    [held] = queue.reserve("bills")
    act(client, form, "retry", "bills", held.key)
    assert f"{held.key} is held, and comes again after that" in client.get("/dead").text
    assert act(client, form, "remove", "bills", held.key).status_code == 409
    queue.ack(held.receipt)
    assert [one.state for one in queue.peek("bills")] == ["ready"]
    # what has gone is not made anew by trying it again
    for action in ("retry", "remove"):
        assert act(client, form, action, "mail", "unwanted").status_code == 409
        assert queue.get("mail", "unwanted") is None
    assert act(client, form, "drop", "mail").status_code == 400
    client.post("/logout", headers=OWN)
    assert act(client, form, "pause", "mail").headers["location"] == "/login?back=%2Fdead"
    assert not queue.stats("mail")[0].paused


def test_what_was_done_is_said_of_any_name(harness: Harness, queue: Session) -> None:
    key = '"ä😀; Path=/\r\nx: y'
    queue.push("mail", key)
    client, form = acting(harness.url)
    found = act(client, form, "remove", "mail", key)
    assert (found.status_code, "x" in found.headers) == (303, False)
    assert f"{html.escape(key)} is removed".replace("&quot;", "&#34;") in client.get("/dead").text


def test_a_retry_keeps_to_the_shape_of_a_kind(harness: Harness, queue: Session) -> None:
    queue.define("mail", payload_shape={"to": "string"})
    queue.push("mail", "late", {"to": "ann"}, delay_seconds=3600)
    client, form = acting(harness.url)
    assert act(client, form, "retry", "mail", "late").status_code == 303
    assert [(one.state, one.payload) for one in queue.peek("mail")] == [("ready", {"to": "ann"})]


def test_no_other_site_can_act(harness: Harness, queue: Session) -> None:
    queue.push("mail", "a")
    client, form = acting(harness.url)
    data = {"form": form, "action": "pause", "kind": "mail", "sure": "yes"}
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ):
        assert client.post("/act", data=data, headers=headers).status_code == 403, headers
        assert client.post("/login", data={"token": TOKEN}, headers=headers).status_code == 403, headers
        assert client.post("/logout", headers=headers).status_code == 403, headers
    for wrong in ("", "0" * 64, safety.Token(TOKEN).form(safety.Token(TOKEN).session() + "x")):
        assert client.post("/act", data={**data, "form": wrong}, headers=OWN).status_code == 403
    assert client.get("/act").status_code == 405
    assert not queue.stats("mail")[0].paused
    assert client.post("/act", data=data, headers={"origin": "http://testserver"}).status_code == 303
    assert queue.stats("mail")[0].paused


def test_a_session_needs_the_token_and_ends(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    client = page(harness.url, actions=True, token=TOKEN, private=True)
    found = client.get("/kind?kind=mail&order=key")
    assert found.headers["location"] == "/login?back=%2Fkind%3Fkind%3Dmail%26order%3Dkey"
    assert client.post("/login", data={"token": TOKEN + "x"}, headers=OWN).status_code == 403
    assert client.get("/").status_code == 303
    for back in ("/dead", "//evil.example", "https://evil.example", "/\\evil"):
        found = client.post("/login", data={"token": TOKEN, "back": back}, headers=OWN)
        assert found.headers["location"] == ("/dead" if back == "/dead" else "/")
    cookie = found.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert TOKEN not in cookie
    assert "Secure" not in cookie
    encrypted = TestClient(client.app, "https://testserver", follow_redirects=False)
    found = encrypted.post("/login", data={"token": TOKEN}, headers=OWN)
    assert "Secure" in found.headers["set-cookie"].split("; ")
    assert client.get("/").status_code == 200
    session = client.cookies["pyqueue_session"]
    for forged in (
        "",
        "x",
        ".",
        "é.ü",
        "\udc80.x",
        "99999999999." + session.partition(".")[2],
        session[:-1],
        session + "0",
    ):
        assert not safety.Token(TOKEN).holds(forged), forged
    assert not safety.Token(TOKEN + "x").holds(session)
    now = safety.time.time()
    monkeypatch.setattr(safety.time, "time", lambda: now + safety.SESSION_S + 1)
    assert client.get("/").status_code == 303


def test_bad_settings_and_requests_are_told_what_is_wrong(harness: Harness) -> None:
    for settings, said in (
        ({"actions": True}, "actions needs one"),
        ({"private": True}, "private needs one"),
        ({"actions": True, "token": "short"}, "at least 16"),
    ):
        with pytest.raises(ValueError, match=said):
            page(harness.url, **settings)
    assert TOKEN not in repr(safety.Token(TOKEN))
    client = page(harness.url, actions=True, token=TOKEN)
    assert client.post("/login", content=b"x" * (64 * 1024 + 1), headers=OWN).status_code == 413
    assert client.get("/kind").status_code == 400
    assert client.get("/kind?kind=nobody").status_code == 404
    assert client.get("/group?group=nobody").status_code == 404
    assert client.get("/message?kind=nobody&key=a").status_code == 404
    assert page(harness.url, hosts=["queue.example.org"]).get("/").status_code == 400
    named = TestClient(web_app(harness.url, hosts=["testserver"]))
    assert named.get("/").status_code == 200


def test_a_database_that_is_away_is_said_without_its_password(server_name: str) -> None:
    scheme = "postgresql" if server_name == "postgresql" else "mysql"
    client = page(f"{scheme}://ann:{SECRET}@127.0.0.1:1/nothing")
    for path in ("/", "/dead", "/message?kind=a&key=b"):
        found = client.get(path)
        assert found.status_code == 503
        assert SECRET not in found.text


def test_pages_follow_one_another_and_leave_out_nothing(
    harness: Harness, queue: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SHOWN", 3)
    names = [f"k{number} &?" for number in range(7)]
    queue.push_many("mail", [{"key": key} for key in ["a", *names, "z"]])
    for name in names:
        queue.group(name, "next")
    client = page(harness.url)
    for way in ("/kind?kind=mail&order=key&prefix=k", "/groups?prefix=k"):
        shown: list[list[str]] = []
        for _ in range(3):
            text = client.get(way).text
            shown.append(re.findall(r">(k\d &amp;\?)</a>", text))
            link = re.search(r'rel="next" href="([^"]*)"', text)
            way = html.unescape(link[1]) if link else ""
        assert [html.unescape(one) for part in shown for one in part] == names
        assert ([len(part) for part in shown], way) == ([3, 3, 1], "")


def test_it_can_be_mounted(harness: Harness, queue: Session) -> None:
    queue.push("mail", "a")
    app = Starlette(routes=[Mount("/ops/queue", web_app(harness.url, actions=True, token=TOKEN))])
    client = TestClient(app, follow_redirects=False)
    assert client.get("/ops/queue/static/web.css").status_code == 200
    found = client.post("/ops/queue/login", data={"token": TOKEN, "back": "/dead"}, headers=OWN)
    assert found.headers["location"] == "/ops/queue/dead"
    assert "Path=/ops/queue;" in found.headers["set-cookie"]
    shown = client.get("/ops/queue/kind?kind=mail").text
    ways = re.findall(r'(?:href|src|action|hx-get)="(/[^"]*)"', shown)
    assert [way for way in ways if not way.startswith("/ops/queue/")] == []
    assert 'value="/kind?kind=mail"' in shown
    assert 'aria-current="page"' in client.get("/ops/queue/").text


def test_plots_are_drawn_from_the_second_look_on(
    harness: Harness, queue: Session, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "REST_S", -1.0)
    client = page(harness.url)
    queue.push_many("mail", [{"key": str(number)} for number in range(8)])
    assert "<polyline" not in client.get("/").text
    for message in queue.reserve("mail", max_messages=4):
        queue.ack(message.receipt)
    clock.advance(2)
    shown = client.get("/").text
    assert "ended in a second <b>2.0</b>" in shown
    assert shown.count("<polyline") == 1  # there is one rate of two looks
    clock.advance(2)
    assert client.get("/").text.count("<polyline") == 2


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_no_page_reads_a_table_whole(
    harness: Harness, queue: Session, server_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.define("mail", history_seconds=3600)
    for kind in ("mail", "mail.dead", "later"):
        delay = {"delay_seconds": 60} if kind == "later" else {}
        queue.push_many(kind, [{"key": f"k{number:05}", **delay} for number in range(MANY)])
    queue.group("crew", "next")
    queue.push_many("team", [{"key": str(number), "group": "crew"} for number in range(MANY)])
    for _ in range(3):
        taken = queue.reserve("mail", max_messages=200)
        queue.ack_many([one.receipt for one in taken])
    read: dict[str, int] = {}

    @contextlib.contextmanager
    def counting(url: str, schema: str | None = None) -> Iterator[Look]:
        with open_look(url, schema, AT_MOST) as look:
            if server_name == "postgresql":
                look.run("begin")
            yield look
            read[path] = read.get(path, 0) + rows_read(look)

    monkeypatch.setattr(pages, "open_look", counting)
    monkeypatch.setattr(watch, "open_look", counting)
    for path in (
        *(
            "/",
            "/kind?kind=mail",
            "/kind?kind=mail&order=key&after=k00700",
            "/kind?kind=later",
            "/search?key=k01",
        ),
        *("/search?kind=mail&key=k007", "/dead", "/groups", "/group?group=crew", "/workers", "/schedules"),
        *("/message?kind=mail&key=k00000", "/message?kind=later&key=k00001"),
    ):
        assert page(harness.url).get(path).status_code == 200, path
    assert {path: count for path, count in read.items() if not count < MANY} == {}, read
    assert set(read) >= {"/", "/dead", "/group?group=crew"}


def rows_read(look: Look) -> int:
    """How many rows of tables and indexes this session has read."""
    if not look.is_mysql:
        text = "select sum(coalesce(s.seq_tup_read, 0) + coalesce(s.idx_tup_fetch, 0))::bigint"
        return int(look.value(f"{text} from pg_stat_xact_user_tables s"))
    steps = ("Handler_read_next", "Handler_read_rnd_next", "Handler_read_prev")
    found = look.rows("show session status like 'Handler_read%'")
    return sum(int(count) for name, count in found if name in steps)


COMMAND = [sys.executable, "-c", "from pyqueue_sql.cli import main; main()", "web", "--port"]


@pytest.mark.long
@pytest.mark.core("postgresql")
@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1",) * 2, ("[::1]",) * 2, ("::1", "[::1]")])
def test_the_command_serves_it_to_this_machine_alone(
    harness: Harness, queue: Session, host: str, shown: str
) -> None:
    queue.push("mail", "a")
    given = {**os.environ, "PYQUEUE_URL": harness.url}
    command = [*COMMAND, "0", "--host", host]
    with subprocess.Popen(command, env=given, stderr=subprocess.PIPE, text=True) as served:
        assert served.stderr is not None
        try:
            address = served.stderr.readline().strip()
            assert address.startswith(f"http://{shown}:")
            assert "mail" in httpx.get(address).text
            assert httpx.get(address, headers={"host": "evil.example"}).status_code == 400
            assert httpx.get(address + "static/htmx.min.js").status_code == 200
        finally:
            served.terminate()


@pytest.mark.long
@pytest.mark.core("postgresql")
def test_the_command_says_what_it_cannot_do(harness: Harness) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for options, status, said in (
            (["0", "--actions"], 2, "--token"),
            ([port], 3, f"Error: 127.0.0.1:{port} can't be listened at: Address already in use"),
            (["0", "--host", "192.0.2.1"], 3, "Error: 192.0.2.1:0 can't be listened at: "),
        ):
            refused = subprocess.run(
                [*COMMAND, *options, "--url", harness.url], capture_output=True, text=True, check=False
            )
            assert refused.returncode == status, options
            assert said in refused.stderr, options
