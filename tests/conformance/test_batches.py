"""What writers stage and publish at once, and what readers reserve and commit batch by batch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import InvalidOption, InvalidParameter, InvalidPayload, InvalidReceipt, QueueError, Refused
from tests.conformance.hostile import LAST_US
from tests.conformance.steps import drain, keys, outcomes, state
from tests.rules import each

if TYPE_CHECKING:
    from tests.conformance.fixtures import Clock, Connect
    from tests.conformance.harness import Session

DAY = 86_400
NOTHING = {"published": "0", "pushed": "0", "differing": "0"}


def row(key: str | None, payload: str | None = "1", **more: Any) -> dict[str, Any]:
    return {"p_kind": "mail", "p_key": key, "payload": payload, **more}


def stage(queue: Session, *rows: dict[str, Any], job: str = "job", **options: Any) -> dict[str, int]:
    """Stage rows, and return what is to be published."""
    given = json.dumps(options) if options else None
    part = int(str(queue.answer("queue_stage_begin", job, given)[0]["part"]))
    queue.land([{"part": part, **one} for one in rows], "queue_stage")
    return {"part": part, "messages": len(rows)}


def publish(queue: Session, *parts: dict[str, int], **options: Any) -> tuple[str | None, str | None]:
    [answer] = queue.answer(
        "queue_stage_publish", json.dumps(parts), json.dumps(options) if options else None
    )
    return answer["outcome"], answer["messages"]


def reserve(
    queue: Session, batch: int, part: int = 0, most: int = 10, **options: Any
) -> list[dict[str, str | None]]:
    """Reserve a part of a batch."""
    given = json.dumps(options) if options else None
    return queue.answer("queue_stream_reserve", "reader", str(batch), str(part), "mail", str(most), given)


def plan(queue: Session, source: str = "reader/1") -> tuple[int, list[int] | None]:
    """Plan a read, and return its plan and the parts that were handed out."""
    [answer] = queue.answer("queue_stream_plan", source)
    parts = answer["parts"]
    return int(str(answer["plan"])), None if parts is None else json.loads(parts)


def extend(
    queue: Session, seconds: float, source: str = "reader/1", **options: Any
) -> tuple[str | None, str | None]:
    given = json.dumps(options) if options else None
    [answer] = queue.answer("queue_stream_extend", source, str(seconds), given)
    return answer["extended"], answer["lost"]


def commit(queue: Session, batch: int, **options: Any) -> dict[str, str | None]:
    given = json.dumps(options) if options else None
    return queue.answer("queue_stream_commit", "reader", str(batch), given)[0]


def of(messages: list[dict[str, str | None]]) -> list[str | None]:
    """Return the keys."""
    return [one["p_key"] for one in messages]


def push(queue: Session, *names: str) -> None:
    queue.push_many("mail", [{"key": name, "payload": 1} for name in names])


def test_what_is_staged_is_no_message_until_it_is_published(queue: Session) -> None:
    parts = [stage(queue, row("a"), row("b")), stage(queue, row("c"))]
    assert queue.reserve("mail", None, 10) == []
    assert publish(queue, *parts) == ("published", "3")
    assert sorted(keys(drain(queue, "mail"))) == ["a", "b", "c"]


def test_only_the_parts_that_are_named_are_published(queue: Session) -> None:
    stage(queue, row("a", "1"))
    again = stage(queue, row("a", "2"), row("b"))
    assert publish(queue, again) == ("published", "2")
    assert {one.key: one.payload for one in drain(queue, "mail")} == {"a": 2, "b": 1}


def test_a_published_row_has_all_that_a_push_can_say(queue: Session, clock: Clock) -> None:
    publish(
        queue,
        stage(
            queue,
            row("a", priority=3, headers='{"x": "y"}'),
            row("b", None, payload_bytes=b"\0\xff"),
            row("c", delay_seconds=5),
            row("d", attempts=2, max_attempts=4),
            row(None),
            row("e", None),
        ),
    )
    found = {one.key: one for one in drain(queue, "mail")}
    assert (found["e"].payload, found["e"].payload_bytes) == (None, None)
    assert found["a"].priority == 3
    assert found["a"].headers == {"x": "y"}
    assert found["b"].payload_bytes == b"\0\xff"
    assert found["d"].attempts == 3
    assert len(found) == 5
    clock.advance(5)
    assert keys(queue.reserve("mail", None, 10)) == ["c"]


def test_a_row_with_a_priority_alone_is_in_its_place(queue: Session) -> None:
    publish(queue, stage(queue, row("a"), row("b", priority=1), row("c", '{"quote": "\\"", "n": "\\n"}')))
    assert keys(drain(queue, "mail"))[0] == "b"


def test_a_key_that_is_taken_or_comes_twice_is_ignored(queue: Session) -> None:
    push(queue, "a")
    assert publish(queue, stage(queue, row("a", "2"), row("b", "3"), row("b", "4"))) == ("published", "3")
    found = {one.key: one.payload for one in drain(queue, "mail")}
    assert found["a"] == 1
    assert sorted(found) == ["a", "b"]


@pytest.mark.parametrize("each", [False, True])
def test_a_write_says_what_was_new_and_which_payloads_are_others(queue: Session, each: bool) -> None:
    if each:  # what MariaDB and MySQL push one by one
        queue.define("mail", dedup_seconds=DAY)
        queue.push("mail", "gone", 1)
        queue.ack(str(queue.reserve("mail", None, 1)[0].receipt))
    push(queue, "a", "b")
    more = [row(None), row("gone", "2")] if each else [row("raw", None, payload_bytes=b"x")]
    parts = [stage(queue, row("a", "2"), row("b", "1")), stage(queue, row("c", "3"), row("c", "4"), *more)]
    options = json.dumps({"job": "j", "refused": 1})
    answer = {"outcome": "published", "messages": str(4 + len(more)), "pushed": "2", "differing": "2"}
    assert queue.answer("queue_stage_publish", json.dumps(parts), options) == [answer]
    again = json.dumps([stage(queue, row("a", "1"), row("c", "3"))])
    answer = {"outcome": "published", "messages": "2", "pushed": "0", "differing": "0"}
    assert queue.answer("queue_stage_publish", again, None) == [answer]
    new = stage(queue, row("d"), row("a", "2"))
    done = {"outcome": "committed", "acked": "0", "failed": "0", "lost": "0"}
    assert commit(queue, 1, parts=[new]) == {**done, "published": "2", "pushed": "1", "differing": "1"}
    with pytest.raises(InvalidOption, match="refused"):
        publish(queue, stage(queue, row("e")), job="j", refused=-1)


def test_nothing_is_published_into_a_kind_that_is_drained(queue: Session) -> None:
    staged = stage(queue, row("a"))
    queue.drain("mail")
    with pytest.raises(Refused, match="drained"):
        publish(queue, staged)


@pytest.mark.parametrize("headers", ['{"a": 1, "b": "x"}', '{ "a" : null }', "{}", '{"a": "[{"}', None])
def test_what_is_staged_keeps_its_headers_bytes_and_time(queue: Session, headers: str | None) -> None:
    at = 4_000_000_000_000_000
    publish(
        queue,
        stage(
            queue,
            row("a", headers=headers, attempts=2, max_attempts=9),
            row("b", headers=headers, scheduled_at=at),
            row("c", None, payload_bytes=b"\0\xff", headers=headers),
        ),
    )
    given = json.loads(headers or "{}") or None
    found = {one.key: one for one in queue.peek("mail", 10)}
    assert {one.key: one.headers for one in found.values()} == dict.fromkeys("abc", given)
    assert (found["a"].attempts, found["b"].scheduled_at) == (2, at)
    assert found["c"].payload_bytes == b"\0\xff"


def test_what_is_published_is_found_by_filters_and_read_in_the_log(queue: Session) -> None:
    rows = [row("a", '{"t": 1}'), row("b", '{"t": 2}')]
    queue.define("mail", filter_index=True)
    assert publish(queue, stage(queue, *rows)) == ("published", "2")
    assert keys(queue.pop("mail", 9, where={"t": 1})) == ["a"]
    queue.purge("mail")
    queue.define("mail", filter_index=False, log_seconds=60)
    assert publish(queue, stage(queue, *rows)) == ("published", "2")
    events = queue.read("mail", "r", 9)
    assert [(event.event, event.key) for event in events] == [("pushed", "a"), ("pushed", "b")]


def test_a_remembered_key_is_ignored_and_a_shape_is_kept(queue: Session) -> None:
    queue.define("mail", dedup_seconds=60, payload_shape={"n": "number"})
    queue.push("mail", "a", {"n": 1})
    queue.pop("mail")
    publish(queue, stage(queue, row("a", '{"n": 2}'), row("b", '{"n": 3}')))
    assert keys(drain(queue, "mail")) == ["b"]
    with pytest.raises(InvalidPayload, match="c"):
        publish(queue, stage(queue, row("c", "{}")))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (row("bad", "{"), InvalidPayload),
        (row("bad", p_kind="k" * 96), InvalidParameter),
        (row("bad", p_kind=None), InvalidParameter),
        (row("bad" + "y" * 200), InvalidParameter),
        (row("bad", headers="[]"), QueueError),
        (row("bad", priority=40000), InvalidOption),
        (row("bad", delay_seconds=-1), InvalidOption),
        (row("bad", scheduled_at=10**14 - 1), InvalidOption),
        (row("bad", scheduled_at=LAST_US + 1), InvalidOption),
    ],
)
def test_with_a_wrong_row_nothing_is_published_and_it_is_named(
    queue: Session, wrong: dict[str, Any], error: type[QueueError]
) -> None:
    part = stage(queue, row("a"), wrong)
    with pytest.raises(error, match="bad"):
        publish(queue, part, query="q", batch=1)
    assert queue.reserve("mail", None, 10) == []
    assert publish(queue, stage(queue, row("a")), query="q", batch=1) == ("published", "1")


def test_a_batch_is_published_once(queue: Session) -> None:
    assert publish(queue, stage(queue, row("a")), query="q", batch=1) == ("published", "1")
    assert publish(queue, stage(queue, row("b")), query="q", batch=1) == ("replayed", "0")
    assert publish(queue, stage(queue, row("c")), query="q", batch=0) == ("replayed", "0")
    assert publish(queue, stage(queue, row("d")), query="q", batch=2) == ("published", "1")
    assert publish(queue, stage(queue, row("e")), query="other", batch=1) == ("published", "1")
    assert sorted(keys(drain(queue, "mail"))) == ["a", "d", "e"]


def test_a_part_is_published_once_and_whole(queue: Session) -> None:
    part = stage(queue, row("a"))
    publish(queue, part)
    with pytest.raises(Refused):
        publish(queue, part)
    other = stage(queue, row("b"))
    with pytest.raises(Refused, match='messages "1": must be the 2 that were staged'):
        publish(queue, {**other, "messages": 2})
    with pytest.raises(Refused):
        publish(queue, other, {"part": 1_000_000_000, "messages": 1})
    assert publish(queue, other) == ("published", "1")


def test_an_aborted_job_is_gone(queue: Session) -> None:
    part = stage(queue, row("a"), row("b"))
    other = stage(queue, row("c"), job="other")
    assert queue.answer("queue_stage_abort", "job") == [{"removed": "2"}]
    assert queue.answer("queue_stage_abort", "job") == [{"removed": "0"}]
    with pytest.raises(Refused):
        publish(queue, part)
    assert publish(queue, other) == ("published", "1")


def test_what_nobody_publishes_goes_after_a_day(queue: Session, clock: Clock) -> None:
    old = stage(queue, row("a"), row("b"))
    clock.advance(DAY - 1)
    assert queue.prune() == 0
    clock.advance(1)
    assert queue.prune() == 2
    with pytest.raises(Refused):
        publish(queue, old)


def test_a_part_of_a_batch_that_is_read_again_has_the_same_messages(queue: Session) -> None:
    push(queue, "a", "b", "c")
    first = reserve(queue, 1, most=2)
    assert of(first) == ["a", "b"]
    assert of(reserve(queue, 1, part=1)) == ["c"]
    assert reserve(queue, 1, most=2) == first
    push(queue, "d")
    assert of(reserve(queue, 1, part=1)) == ["c"]
    assert first[0]["reserved_by"] == "reader/1/0"


def test_a_part_that_found_nothing_finds_nothing_again(queue: Session) -> None:
    assert reserve(queue, 1) == []
    push(queue, "a")
    assert reserve(queue, 1) == []
    assert of(reserve(queue, 2)) == ["a"]


def test_a_committed_batch_is_done_and_its_replay_does_nothing(queue: Session) -> None:
    push(queue, "a", "b", "c")
    reserve(queue, 1, most=1)
    reserve(queue, 1, part=1, most=1)
    done = {"outcome": "committed", "acked": "2", "failed": "0", "lost": "0", **NOTHING}
    assert commit(queue, 1) == done
    assert commit(queue, 1) == {**done, "outcome": "replayed", "acked": "0"}
    ended = [queue.answer("queue_stream_done", "reader", batch)[0]["done"] for batch in "012"]
    assert [one in ("t", "1") for one in ended] == [True, True, False]
    assert reserve(queue, 1) == []
    assert keys(drain(queue, "mail")) == ["c"]


def test_what_a_batch_lost_is_not_its_own(queue: Session, clock: Clock) -> None:
    push(queue, "a", "b")
    reserve(queue, 1, timeout_seconds=60)
    clock.advance(61)
    receipt = queue.reserve("mail", None, 1)[0].receipt
    assert of(reserve(queue, 1)) == ["b"]
    with pytest.raises(Refused):  # an earlier reading of the part may have made something of it
        commit(queue, 1, whole=True)
    assert queue.answer("queue_stream_renew", "reader", "1") == [{"lost": "1"}]
    assert queue.answer("queue_stream_renew", "reader", "1") == [{"lost": "0"}]
    assert of(reserve(queue, 1)) == ["b"]
    assert commit(queue, 1, whole=True)["acked"] == "1"
    assert receipt is not None
    assert queue.ack(receipt).outcome == "acked"


def test_a_batch_that_need_not_be_whole_says_what_it_lost(queue: Session, clock: Clock) -> None:
    push(queue, "a", "b")
    reserve(queue, 1, timeout_seconds=60)
    clock.advance(61)
    queue.pop("mail")
    assert commit(queue, 1) == {
        "outcome": "committed",
        "acked": "1",
        "failed": "0",
        "lost": "1",
        **NOTHING,
    }


def test_a_batch_that_is_extended_keeps_its_messages(queue: Session, clock: Clock) -> None:
    push(queue, "a", "b")
    reserve(queue, 1, most=1, timeout_seconds=60)
    reserve(queue, 1, part=1, most=1, timeout_seconds=60)
    clock.advance(59)
    assert extend(queue, 60) == ("2", "0")
    clock.advance(59)
    assert queue.reserve("mail", None, 10) == []
    clock.advance(1)
    assert len(queue.pop("mail", 1)) == 1
    assert extend(queue, 60) == ("1", "1")
    commit(queue, 1)
    assert extend(queue, 60) == ("0", "0")


def test_a_batch_that_is_given_back_is_anybody_s_and_its_own_until_somebody_comes(queue: Session) -> None:
    push(queue, "a", "b", "c")
    reserve(queue, 1, timeout_seconds=60)
    assert extend(queue, 0) == ("3", "0")
    assert keys(queue.reserve("mail", "thief", 1)) == ["a"]
    assert plan(queue) == (1, [0])
    assert extend(queue, 60) == ("2", "0")
    assert queue.reserve("mail", "thief", 10) == []
    assert of(reserve(queue, 1, plan=1)) == ["b", "c"]
    assert commit(queue, 1, whole=True)["acked"] == "2"


def test_a_read_that_is_planned_again_has_what_it_had_whatever_it_wants_now(queue: Session) -> None:
    push(queue, *"abcdefgh")
    assert plan(queue) == (1, None)
    assert of(reserve(queue, 1, 0, 2, plan=1)) == ["a", "b"]
    assert of(reserve(queue, 1, 100, 3, plan=1)) == ["c", "d", "e"]
    assert plan(queue) == (2, [0, 100])
    assert of(reserve(queue, 1, 0, 1, plan=2)) == ["a", "b"]
    assert of(reserve(queue, 1, 100, 1, plan=2)) == ["c", "d", "e"]
    assert reserve(queue, 1, 200, 9, plan=2) == []
    assert commit(queue, 1, whole=True)["acked"] == "5"
    assert keys(drain(queue, "mail")) == ["f", "g", "h"]


def test_who_has_an_older_plan_adds_nothing(queue: Session) -> None:
    push(queue, "a", "b")
    plan(queue)
    assert plan(queue) == (2, None)
    with pytest.raises(Refused, match="plan"):
        reserve(queue, 1, 0, 1, plan=1)
    assert of(reserve(queue, 1, 0, 1, plan=2)) == ["a"]
    with pytest.raises(Refused, match="plan"):
        reserve(queue, 1, 0, 1, plan=1)
    commit(queue, 1)
    assert reserve(queue, 1, 0, 1, plan=2) == []


def test_a_part_goes_on_only_where_the_one_before_was_full_at_first(queue: Session, clock: Clock) -> None:
    push(queue, *"abcd")
    assert of(reserve(queue, 1, 0, 2, timeout_seconds=60)) == ["a", "b"]
    clock.advance(61)
    queue.pop("mail", 1)
    extend(queue, 60)
    assert of(reserve(queue, 1, 0, 2)) == ["b"]
    assert of(reserve(queue, 1, 1, 3, follows=True)) == ["c", "d"]
    push(queue, "e")
    assert reserve(queue, 1, 2, 3, follows=True) == []
    assert keys(drain(queue, "mail")) == ["e"]


def test_two_sources_of_one_batch_have_parts_of_their_own(queue: Session) -> None:
    push(queue, "a", "b")
    queue.push("post", "c", 1)
    assert of(reserve(queue, 1, source="one")) == ["a", "b"]
    other = json.dumps({"source": "two"})
    assert of(queue.answer("queue_stream_reserve", "reader", "1", "0", "post", "10", other)) == ["c"]
    assert of(reserve(queue, 1, source="one")) == ["a", "b"]
    assert commit(queue, 1, whole=True)["acked"] == "3"


def test_a_batch_is_ended_by_one_write_of_a_run(queue: Session) -> None:
    push(queue, "a")
    reserve(queue, 1)
    done = {"run": "r1", "job": "j1"}
    assert commit(queue, 1, **done)["outcome"] == "committed"
    assert commit(queue, 1, **done)["outcome"] == "replayed"
    assert commit(queue, 1, run="r2", job="j2")["outcome"] == "replayed"
    assert commit(queue, 1)["outcome"] == "replayed"
    with pytest.raises(Refused, match="one write"):
        commit(queue, 1, run="r1", job="j2")
    assert publish(queue, stage(queue, row("b")), query="q", batch=1, **done)[0] == "published"
    with pytest.raises(Refused, match="one write"):
        publish(queue, stage(queue, row("c")), query="q", batch=1, run="r1", job="j2")


@pytest.mark.parametrize("earlier", ["r1", "r3"])
def test_what_an_earlier_run_has_staged_goes_with_the_next_one(queue: Session, earlier: str) -> None:
    old = stage(queue, row("a"), query="q", batch=4, run=earlier)
    same = stage(queue, row("b"), query="other", batch=4, run=earlier)
    new = stage(queue, row("c"), query="q", batch=4, run="r2")
    also = stage(queue, row("d"), query="q", batch=4, run="r2")
    with pytest.raises(Refused):
        publish(queue, old)
    assert publish(queue, same, new, also) == ("published", "3")


def test_what_was_staged_for_a_batch_that_is_done_goes_with_the_next_prune(queue: Session) -> None:
    late = stage(queue, row("a"), row("b"), query="q", batch=4, run="r1")
    staged = stage(queue, row("c"), query="q", batch=5, run="r1")
    assert queue.prune() == 0
    commit_of = json.dumps({"parts": []})
    queue.answer("queue_stream_commit", "q", "4", commit_of)
    assert queue.prune() == 2
    with pytest.raises(Refused):
        publish(queue, late)
    assert publish(queue, staged) == ("published", "1")


def test_what_failed_of_a_batch_goes_back_with_its_error(queue: Session, clock: Clock) -> None:
    push(queue, "a", "b", "c")
    receipts = {one["p_key"]: one["receipt"] for one in reserve(queue, 1)}
    failed = [
        {"receipt": receipts["a"], "error": "once more", "delay_seconds": 5},
        {"receipt": receipts["b"], "error": "never", "final": True},
    ]
    assert commit(queue, 1, failed=failed, whole=True) == {
        "outcome": "committed",
        "acked": "1",
        "failed": "2",
        "lost": "0",
        **NOTHING,
    }
    assert state(queue, "mail", "a") == "scheduled"
    assert state(queue, "mail.dead", "b") == "ready"
    assert state(queue, "mail", "c") is None
    clock.advance(5)
    assert keys(queue.reserve("mail", None, 10)) == ["a"]


@pytest.mark.parametrize("final", [False, True], ids=["retry", "dead"])
def test_what_failed_of_a_batch_gives_its_permit_to_who_is_next(queue: Session, final: bool) -> None:
    queue.semaphore("line", 1)
    for key in "abc":
        queue.push("mail", key, semaphores=["line"])
    push(queue, "plain")
    held = {str(one["p_key"]): one["receipt"] for one in reserve(queue, 1)}
    assert set(held) == {"a", "plain"}
    failed = [{"receipt": held["a"], "error": "no", **({"final": True} if final else {"delay_seconds": 60})}]
    assert commit(queue, 1, failed=failed)["failed"] == "1"
    assert [state(queue, "mail", key) for key in "bc"] == ["ready", "waiting"]
    assert keys(queue.reserve("mail", None, 10)) == ["b"]


def test_what_goes_on_along_its_route_at_the_end_of_a_batch_counts_as_acked(queue: Session) -> None:
    push(queue, "ends")
    queue.push("mail", "goes on", route=["next"])
    queue.push("mail", "was there", route=["next"])
    queue.push("next", "was there")
    assert len(reserve(queue, 1)) == 3
    assert commit(queue, 1, whole=True) == {
        "outcome": "committed",
        "acked": "3",
        "failed": "0",
        "lost": "0",
        **NOTHING,
    }
    assert state(queue, "next", "goes on") == "ready"


def test_a_batch_gives_back_what_it_was_handed_out_and_nothing_else(queue: Session) -> None:
    push(queue, "a", "b")
    queue.push("other", "x")
    [foreign] = queue.reserve("other")
    held = reserve(queue, 1)
    assert queue.ack(str(held[0]["receipt"])).outcome == "acked"
    for whole in (True, False):
        with pytest.raises(InvalidReceipt, match=f"failed.*{foreign.receipt[:40]}.*for this batch"):
            commit(queue, 1, failed=[{"receipt": foreign.receipt}], whole=whole)
    assert state(queue, "other", "x") == "reserved"
    assert queue.ack(foreign.receipt).outcome == "acked"
    nobody = [{"receipt": one} for one in (foreign.receipt, held[0]["receipt"])]
    with pytest.raises(Refused, match="1 of its messages are no longer held"):
        commit(queue, 1, failed=nobody, whole=True)
    done = commit(queue, 1, failed=[*nobody, {"receipt": held[1]["receipt"]}])
    assert [done[name] for name in ("acked", "failed", "lost")] == ["0", "1", "1"]


def test_a_batch_gives_back_nothing_of_the_next_one(queue: Session) -> None:
    push(queue, "a")
    reserve(queue, 1)
    push(queue, "b")
    [other] = reserve(queue, 2)
    with pytest.raises(InvalidReceipt, match="for this batch"):
        commit(queue, 1, failed=[{"receipt": other["receipt"]}])
    assert [commit(queue, batch)["acked"] for batch in (1, 2)] == ["1", "1"]


def test_what_comes_of_a_batch_is_published_with_its_end_or_not_at_all(queue: Session) -> None:
    push(queue, "a", "b")
    reserve(queue, 1)
    bad = stage(queue, row("x", "{", p_kind="next"))
    with pytest.raises(InvalidPayload):
        commit(queue, 1, parts=[bad], whole=True)
    assert state(queue, "mail", "a") == "reserved"
    good = stage(queue, row("x", p_kind="next"), row("y", p_kind="other"))
    assert commit(queue, 1, parts=[good], whole=True)["published"] == "2"
    assert state(queue, "mail", "a") is None
    assert keys(drain(queue, "next")) == ["x"]
    assert keys(drain(queue, "other")) == ["y"]


def test_a_batch_leaves_history_as_an_ack_does(queue: Session) -> None:
    queue.define("mail", history_seconds=60)
    push(queue, "a")
    reserve(queue, 1)
    commit(queue, 1)
    assert [(one.key, one.outcome, one.reserved_by) for one in queue.history("mail")] == [
        ("a", "acked", "reader/1/0")
    ]


def test_a_batch_goes_back_when_nobody_commits_it(queue: Session, clock: Clock) -> None:
    push(queue, "a")
    reserve(queue, 1, timeout_seconds=60)
    clock.advance(60)
    found = queue.reserve("mail", None, 10)
    assert keys(found) == ["a"]
    assert outcomes(queue.ack_many([one.receipt for one in found if one.receipt])) == ["acked"]


def ready(queue: Session) -> bool:
    return queue.answer("queue_stream_ready", "mail")[0]["ready"] in ("t", "1")


def test_readers_ask_whether_a_batch_would_find_anything(queue: Session, clock: Clock) -> None:
    assert not ready(queue)
    queue.push("mail", "a", 1, delay_seconds=5)
    assert not ready(queue)
    clock.advance(5)
    assert ready(queue)
    queue.pause("mail")
    assert not ready(queue)
    queue.resume("mail")
    reserve(queue, 1, timeout_seconds=60)
    assert not ready(queue)
    clock.advance(60)
    assert ready(queue)


def test_a_batch_would_find_what_waits_for_the_permit_of_a_hold_that_has_expired(
    queue: Session, clock: Clock
) -> None:
    queue.semaphore("s", 1)
    for kind in ("elsewhere", "mail"):
        queue.push(kind, f"of {kind}", 1, semaphores=["s"])
    assert len(queue.reserve("elsewhere", timeout_seconds=10)) == 1
    assert not ready(queue)
    clock.advance(10)
    assert ready(queue)
    queue.pause("mail")
    assert not ready(queue)
    queue.resume("mail")
    assert of(reserve(queue, 1)) == ["of mail"]


@pytest.mark.parametrize("limit", [{"max_reserved": 1}, {"rate_per_second": 1}])
def test_a_batch_would_find_nothing_while_a_kind_is_at_its_limit(
    queue: Session, clock: Clock, limit: dict[str, Any]
) -> None:
    queue.define("mail", **limit)
    push(queue, "a", "b")
    assert ready(queue)
    assert of(reserve(queue, 1, timeout_seconds=60)) == ["a"]
    assert not ready(queue)
    clock.advance(60)
    assert ready(queue)


@each(
    ("call", "error", "named"),
    [
        (("queue_stage_begin", "", None), InvalidParameter, "job"),
        (("queue_stage_begin", None, None), InvalidParameter, "job"),
        (("queue_stage_begin", "j", '{"query": 1}'), InvalidOption, "query"),
        (("queue_stage_begin", "j", '{"x": 1}'), InvalidOption, "x"),
        (("queue_stage_abort", "j" * 201), InvalidParameter, "job"),
        (("queue_stage_publish", None, None), InvalidParameter, "parts"),
        (("queue_stage_publish", "{}", None), InvalidParameter, "parts"),
        (("queue_stage_publish", '[{"part": "x", "messages": 1}]', None), InvalidParameter, "parts"),
        (("queue_stage_publish", '[{"part": 1}]', None), InvalidParameter, "parts"),
        (("queue_stage_publish", "[]", '{"x": 1}'), InvalidOption, "x"),
        (("queue_stage_publish", "[]", '{"query": "q"}'), InvalidParameter, "batch"),
        (("queue_stage_publish", "[]", '{"batch": 1}'), InvalidParameter, "query"),
        (("queue_stage_publish", "[]", '{"query": "q", "batch": -1}'), InvalidOption, "batch"),
        (("queue_stream_ready", ""), InvalidParameter, "kind"),
        (("queue_stream_reserve", "", "1", "0", "mail", None, None), InvalidParameter, "stream"),
        (("queue_stream_reserve", "r", "-1", "0", "mail", None, None), InvalidParameter, "batch"),
        (("queue_stream_reserve", "r", "1", "-1", "mail", None, None), InvalidParameter, "part"),
        (("queue_stream_reserve", "r", "1", "0", "", None, None), InvalidParameter, "kind"),
        (("queue_stream_reserve", "r", "1", "0", "mail", "10001", None), InvalidParameter, "max_messages"),
        (("queue_stream_reserve", "r", "1", "0", "mail", "1", '{"x": 1}'), InvalidOption, "x"),
        (("queue_stream_reserve", "r", "1", "0", "mail", "1", '{"plan": "x"}'), InvalidOption, "plan"),
        (("queue_stream_reserve", "r", "1", "0", "mail", "1", '{"plan": 7}'), Refused, "plan"),
        (("queue_stream_reserve", "r", "1", "0", "mail", "1", '{"follows": 1}'), InvalidOption, "follows"),
        (
            ("queue_stream_reserve", "r", "1", "0", "mail", "1", json.dumps({"source": "s" * 231})),
            InvalidOption,
            "source",
        ),
        (("queue_stream_plan", ""), InvalidParameter, "source"),
        (("queue_stream_plan", None), InvalidParameter, "source"),
        (("queue_stream_renew", "", "1"), InvalidParameter, "stream"),
        (("queue_stream_renew", "r", None), InvalidParameter, "batch"),
        (("queue_stream_extend", "r", "-1", None), InvalidParameter, "seconds"),
        (("queue_stream_extend", None, "1", None), InvalidParameter, "source"),
        (("queue_stream_extend", "s" * 231, "1", None), InvalidParameter, "source"),
        (("queue_stream_plan", "s" * 231), InvalidParameter, "source"),
        (("queue_stream_forget", "s" * 231), InvalidParameter, "source"),
        (("queue_stream_done", "r", "-1"), InvalidParameter, "batch"),
        (("queue_stream_commit", "r", None, None), InvalidParameter, "batch"),
        (("queue_stream_commit", "r", "1", '{"x": 1}'), InvalidOption, "x"),
        (("queue_stream_commit", "r", "1", '{"whole": 1}'), InvalidOption, "whole"),
        (("queue_stream_commit", "r", "1", '{"failed": 1}'), InvalidOption, "failed"),
        (("queue_stream_commit", "r", "1", '{"failed": [{"receipt": "x"}]}'), InvalidReceipt, 'failed "x'),
    ],
)
def test_bad_values_are_refused_by_name(
    queue: Session, call: tuple[str | None, ...], error: type[QueueError], named: str
) -> None:
    name, *arguments = call
    with pytest.raises(error, match=rf"\b{named}\b"):
        queue.answer(str(name), *arguments)


def forget(queue: Session, source: str = "reader/1") -> str | None:
    return queue.answer("queue_stream_forget", source)[0]["forgotten"]


def test_a_batch_that_is_kept_is_read_again_after_its_end_until_it_is_forgotten(queue: Session) -> None:
    queue.push_many("mail", [{"key": f"{n}", "payload": {"n": n}, "headers": {"a": n}} for n in range(4)])
    queue.push_bytes("mail", "4", b"\0\xff")
    assert plan(queue) == (1, None)
    before = [reserve(queue, 1, part, 3, plan=1) for part in (0, 1)]
    assert [len(part) for part in before] == [3, 2]
    assert commit(queue, 1, whole=True, keep=True)["acked"] == "5"
    assert state(queue, "mail", "0") is None
    push(queue, "0", "new")  # the keys are free, and nobody is handed out anything new
    assert plan(queue) == (1, [0, 1])
    assert [reserve(queue, 1, part, 9, plan=1) for part in (0, 1)] == before
    assert commit(queue, 1, whole=True, keep=True)["outcome"] == "replayed"
    assert forget(queue) == "5"
    assert [reserve(queue, 1, part, 9, plan=1) for part in (0, 1)] == [[], []]
    assert (plan(queue)[1], forget(queue)) == (None, "0")
    assert sorted(keys(drain(queue, "mail"))) == ["0", "new"]


def test_what_is_kept_goes_with_the_next_batch_and_only_of_the_same_reader(queue: Session) -> None:
    push(queue, "a", "b", "c")
    assert len(reserve(queue, 1, most=1)) == 1
    commit(queue, 1, keep=True)
    queue.answer("queue_stream_reserve", "other", "7", "0", "mail", "1", None)
    queue.answer("queue_stream_commit", "other", "7", '{"keep": true}')
    assert len(reserve(queue, 2, most=1)) == 1
    commit(queue, 2)
    assert (forget(queue), forget(queue, "reader/2"), forget(queue, "other/7")) == ("0", "0", "1")


def test_the_next_batch_may_read_from_a_source_of_the_same_name(queue: Session) -> None:
    push(queue, "a", "b")
    for batch, key in ((1, "a"), (2, "b")):
        assert of(reserve(queue, batch, most=1, source="mails")) == [key]
        assert commit(queue, batch, keep=True)["acked"] == "1"
    assert of(reserve(queue, 2, source="mails")) == ["b"]


def test_who_reads_on_under_another_name_keeps_its_own(queue: Session) -> None:
    push(queue, "a", "b", "c")
    reserve(queue, 1, 0, 1, source="mails")
    reserve(queue, 1, 1, 1, source="mails")
    commit(queue, 1, keep=True)
    options = '{"source": "mails", "adopt": true}'
    [read] = queue.answer("queue_stream_reserve", "heir", "1", "0", "mail", "1", options)
    queue.answer("queue_stream_commit", "heir", "1", '{"keep": true}')
    again = [
        queue.answer("queue_stream_reserve", "heir", "1", part, "mail", "1", options) for part in ("0", "1")
    ]
    assert again == [[read], []]


def test_a_read_that_was_ended_for_a_stream_is_planned_again_for_another_and_has_what_was_kept(
    queue: Session,
) -> None:
    push(queue, "a", "b", "c")
    before = [reserve(queue, 1, part, 1, source="mails") for part in (0, 1)]
    assert commit(queue, 1, whole=True, keep=True)["acked"] == "2"
    number, parts = plan(queue, "mails")
    assert parts == [0, 1]
    options = json.dumps({"source": "mails", "plan": number, "adopt": True})
    again = [
        queue.answer("queue_stream_reserve", "heir", "1", part, "mail", "1", options)
        for part in ("0", "1", "2")
    ]
    assert again == [*before, []]
    ended = queue.answer("queue_stream_commit", "heir", "1", '{"whole": true}')[0]
    assert (ended["outcome"], ended["acked"]) == ("committed", "0")
    assert keys(queue.reserve("mail", max_messages=10)) == ["c"], "which nobody held"


def test_what_failed_is_in_what_is_kept_and_what_was_lost_is_not(queue: Session, clock: Clock) -> None:
    push(queue, "a", "b", "c")
    held = reserve(queue, 1)
    clock.advance(DAY)
    assert keys(queue.reserve("mail")) == [held[0]["p_key"]]
    failed = [{"receipt": held[1]["receipt"], "error": "no"}]
    assert commit(queue, 1, failed=failed, keep=True)["lost"] == "1"
    assert of(reserve(queue, 1)) == of(held[1:])


def test_the_end_of_a_batch_leaves_the_next_one_what_it_was_handed(queue: Session) -> None:
    push(queue, "a", "b")
    assert [of(reserve(queue, batch, most=1)) for batch in (1, 2)] == [["a"], ["b"]]
    assert commit(queue, 1)["acked"] == "1"
    assert of(reserve(queue, 2, most=1)) == ["b"]
    assert commit(queue, 2)["acked"] == "1"


def test_what_nobody_forgets_is_pruned_after_a_week(queue: Session, clock: Clock) -> None:
    push(queue, "a")
    reserve(queue, 1)
    commit(queue, 1, keep=True)
    clock.advance(6 * DAY)
    queue.prune()
    assert of(reserve(queue, 1)) == ["a"]
    clock.advance(DAY)
    queue.prune()
    assert reserve(queue, 1) == []


def test_a_batch_that_nobody_commits_is_pruned_after_a_week(queue: Session, clock: Clock) -> None:
    push(queue, "a")
    reserve(queue, 1, timeout_seconds=30 * DAY)
    clock.advance(7 * DAY - 1)
    assert queue.prune() == 0
    clock.advance(1)
    assert (queue.prune(), queue.prune()) == (1, 0)


def test_a_batch_that_is_read_again_after_days_is_not_pruned_before(queue: Session, clock: Clock) -> None:
    push(queue, "a")
    plan(queue)
    reserve(queue, 1, plan=1, timeout_seconds=30 * DAY)
    clock.advance(6 * DAY)
    assert plan(queue) == (2, [0])
    clock.advance(2 * DAY)
    assert (queue.prune(), of(reserve(queue, 1, plan=2))) == (0, ["a"])
    assert commit(queue, 1, whole=True)["acked"] == "1"


def test_a_read_that_nobody_goes_on_with_is_forgotten_after_a_week(queue: Session, clock: Clock) -> None:
    push(queue, "a")
    plan(queue)
    reserve(queue, 1, plan=1, timeout_seconds=30 * DAY)
    clock.advance(6 * DAY)
    queue.prune()
    assert plan(queue) == (2, [0])
    clock.advance(7 * DAY)
    queue.prune()
    assert plan(queue) == (1, None)


def test_a_read_is_remembered_for_a_week_from_its_last_plan_on(queue: Session, clock: Clock) -> None:
    push(queue, "a")
    plan(queue)
    clock.advance(6 * DAY)
    assert plan(queue) == (2, None)
    clock.advance(6 * DAY)
    queue.prune()
    assert of(reserve(queue, 1, plan=2)) == ["a"]


def test_a_query_is_remembered_for_a_year_from_its_last_batch_on(queue: Session, clock: Clock) -> None:
    assert publish(queue, query="q", batch=1) == ("published", "0")
    clock.advance(200 * DAY)
    assert publish(queue, query="q", batch=2) == ("published", "0")
    clock.advance(364 * DAY)
    queue.prune()
    assert publish(queue, query="q", batch=2) == ("replayed", "0")
    clock.advance(DAY)
    queue.prune()
    assert publish(queue, query="q", batch=1) == ("published", "0")


def test_a_batch_that_writes_a_key_back_that_it_has_read_does_not_lose_it(queue: Session) -> None:
    push(queue, "a")
    assert of(reserve(queue, 1)) == ["a"]
    part = stage(queue, row("a", "2"))
    commit(queue, 1, parts=[part])
    assert keys(drain(queue, "mail")) == ["a"]


def test_what_is_written_back_is_a_new_message_that_is_as_its_row_says(queue: Session, clock: Clock) -> None:
    queue.define("mail", log_seconds=DAY)
    queue.semaphore("s", 1)
    queue.group("g", "then", {})
    queue.push("mail", "a", 1, priority=5, max_attempts=1, headers={"x": "y"}, group="g", semaphores=["s"])
    queue.push("mail", "b", 1, order_key="o")
    queue.push("mail", "waits", 1, semaphores=["s"])
    queue.group("g", "then", {}, close=True)
    assert of(reserve(queue, 1)) == ["a", "b"]
    rows = [row("a", "2", priority=3, attempts=2), row("b", "2", delay_seconds=5), row("c")]
    done = commit(queue, 1, parts=[stage(queue, *rows)], whole=True)
    assert (done["acked"], done["published"], done["pushed"], done["differing"]) == ("2", "3", "3", "0")
    own = "max_attempts, order_key, member, semaphores, headers"
    new = queue.execute(f"select {own} from delayed_queue where p_kind = 'mail' and p_key in ('a', 'b')")
    assert new == [(None,) * 5] * 2
    found = {one.key: (one.payload, one.priority, one.attempts) for one in drain(queue, "mail")}
    assert found == {"a": (2, 3, 3), "c": (1, 0, 1), "waits": (1, 0, 1)}
    clock.advance(5)
    assert keys(drain(queue, "mail")) == ["b"]
    assert len(drain(queue, "then")) == 1
    events = queue.read("mail", "r", 99, events=["pushed", "acked"])
    assert [one.event for one in events if one.key == "a"] == ["pushed", "acked", "pushed"]


@pytest.mark.parametrize("each", [False, True])
def test_of_rows_that_are_written_back_the_first_counts_and_the_others_differ(
    queue: Session, each: bool
) -> None:
    more = [row("z", None, payload_bytes=b"x", headers='{"n": 1}')] if each else []
    push(queue, "a", "b", "kept")
    assert of(reserve(queue, 1, most=2)) == ["a", "b"]
    parts = [stage(queue, row("a", "2"), row("kept", "2")), stage(queue, row("a", "3"), row("b", "2"), *more)]
    done = commit(queue, 1, parts=[*parts, stage(queue, row("y"))], job="j")
    published, pushed = (str(number + len(more)) for number in (5, 3))
    assert (done["published"], done["pushed"], done["differing"]) == (published, pushed, "2")
    assert queue.execute("select messages, pushed, ignored, differing from queue_writes") == [
        (int(published), int(pushed), 2, 2)
    ]
    found = {one.key: one.payload for one in drain(queue, "mail") if one.key < "y"}
    assert (found["a"] in (2, 3), found["b"], found["kept"]) == (True, 2, 1)
    for table in ("queue_stage", "queue_stage_part"):
        assert queue.execute(f"select count(*) from {table}") == [(0,)]


def test_what_fails_keeps_its_key_until_it_is_dead(queue: Session) -> None:
    push(queue, "again", "dead", "done")
    held = {one["p_key"]: one["receipt"] for one in reserve(queue, 1)}
    part = stage(queue, *(row(str(key), "2") for key in held))
    failed = [
        {"receipt": held["again"], "error": "no"},
        {"receipt": held["dead"], "error": "no", "final": True},
    ]
    done = commit(queue, 1, parts=[part], failed=failed, whole=True, keep=True)
    assert (done["acked"], done["failed"], done["pushed"], done["differing"]) == ("1", "2", "2", "1")
    there = {one.key: (one.payload, one.attempts) for one in queue.peek("mail", 10)}
    assert there == {"again": (1, 1), "dead": (2, 0), "done": (2, 0)}
    assert [(one.key, one.payload) for one in queue.peek("mail.dead", 10)] == [("dead", 1)]
    replayed = commit(queue, 1, parts=[stage(queue, row("done", "3"))])
    assert (replayed["outcome"], replayed["pushed"]) == ("replayed", "0")
    assert len(of(reserve(queue, 1))) == 3, "what it had read, which is kept"


def test_what_is_written_back_onto_a_message_that_was_lost_is_ignored_while_that_is_there(
    queue: Session, clock: Clock
) -> None:
    push(queue, "expired", "gone", "taken")
    assert len(reserve(queue, 1, timeout_seconds=60)) == 3
    clock.advance(61)
    receipts = {one.key: str(one.receipt) for one in queue.reserve("mail", None, 3)}
    queue.nack(receipts["expired"])
    queue.ack(receipts["gone"])
    rows = [row(key, "2") for key in ("expired", "gone", "taken")]
    with pytest.raises(Refused):
        commit(queue, 1, parts=[stage(queue, *rows)], whole=True)
    done = commit(queue, 1, parts=[stage(queue, *rows)])
    assert (done["acked"], done["lost"], done["pushed"], done["differing"]) == ("0", "3", "1", "2")
    queue.ack(receipts["taken"])
    assert {one.key: one.payload for one in drain(queue, "mail")} == {"expired": 1, "gone": 2}


def test_what_is_written_back_after_the_hold_expired_counts_until_somebody_comes(
    queue: Session, clock: Clock
) -> None:
    push(queue, "a")
    reserve(queue, 1, timeout_seconds=60)
    clock.advance(61)
    assert commit(queue, 1, parts=[stage(queue, row("a", "2"))], whole=True)["pushed"] == "1"
    assert [one.payload for one in drain(queue, "mail")] == [2]


def test_what_was_pushed_onto_a_held_message_comes_before_what_is_written_back(queue: Session) -> None:
    push(queue, "a")
    reserve(queue, 1)
    assert queue.push("mail", "a", "newer", on_duplicate="replace").outcome == "held"
    done = commit(queue, 1, parts=[stage(queue, row("a", "2"))])
    assert (done["acked"], done["pushed"], done["differing"]) == ("1", "0", "1")
    assert [one.payload for one in drain(queue, "mail")] == ["newer"]


def test_a_message_that_is_written_back_goes_on_along_its_route_as_well(queue: Session) -> None:
    queue.push("mail", "a", 1, route=["next"])
    reserve(queue, 1)
    assert commit(queue, 1, parts=[stage(queue, row("a", "2"))])["pushed"] == "1"
    assert [one.payload for kind in ("next", "mail") for one in drain(queue, kind)] == [1, 2]
    assert queue.reserve("next") == [], "what is written back has no route"


def test_a_kind_that_remembers_its_keys_ignores_what_is_written_back(queue: Session) -> None:
    queue.define("mail", dedup_seconds=60)
    push(queue, "a")
    reserve(queue, 1)
    done = commit(queue, 1, parts=[stage(queue, row("a", "2"))])
    assert (done["acked"], done["published"], done["pushed"], done["differing"]) == ("1", "1", "0", "0")
    assert drain(queue, "mail") == []


def test_payloads_are_compared_with_the_message_of_the_same_kind(queue: Session) -> None:
    queue.push("mail", "a", 1)
    queue.push("other", "a", 9)
    for key, payload in (("same", b"x"), ("raw", b"x"), ("json", b"1")):
        queue.push_bytes("mail", key, payload)
    raw = [row("same", None, payload_bytes=b"x"), row("raw", None, payload_bytes=b"y")]
    staged = json.dumps([stage(queue, row("a", "1"), row("json", "1"), *raw)])
    answer = {"outcome": "published", "messages": "4", "pushed": "0", "differing": "2"}
    assert queue.answer("queue_stage_publish", staged, None) == [answer]


def test_what_is_published_leaves_the_stage_and_a_note_where_it_has_a_name(queue: Session) -> None:
    for key, options in (("a", {}), ("b", {"job": "j"}), ("c", {"query": "q", "batch": 1})):
        publish(queue, stage(queue, row(key)), **options)
    for table in ("queue_stage", "queue_stage_part"):
        assert queue.execute(f"select count(*) from {table}") == [(0,)]
    notes = queue.execute(
        "select query, batch, job, messages, pushed, ignored from queue_writes order by job"
    )
    assert sorted(notes, key=str) == [("q", 1, None, 1, 1, 0), (None, None, "j", 1, 1, 0)]


def test_of_two_writes_in_one_transaction_each_says_what_is_its_own(queue: Session, connect: Connect) -> None:
    parts = [stage(queue, row(key), row("again")) for key in "ab"]
    both = connect(autocommit=False)
    for part, pushed in zip(parts, ("2", "1"), strict=True):
        [answer] = both.answer("queue_stage_publish", json.dumps([part]), None)
        assert (answer["messages"], answer["pushed"]) == ("2", pushed)
    assert publish(both) == ("published", "0")
    both.commit()


def test_stages_are_pruned_bit_by_bit(queue: Session, clock: Clock) -> None:
    for job in "ab":
        stage(queue, row("a"), row("b"), job=job)
    clock.advance(DAY)
    assert [queue.prune(3) for _ in range(3)] == [3, 1, 0]
    for table in ("queue_stage", "queue_stage_part"):
        assert queue.execute(f"select count(*) from {table}") == [(0,)]


def test_who_stages_takes_away_what_nobody_has_published_for_a_day(queue: Session, clock: Clock) -> None:
    old = stage(queue, row("a"))
    clock.advance(DAY)
    stage(queue, row("b"))
    with pytest.raises(Refused, match="published once"):
        publish(queue, old)


def test_a_commit_ends_its_own_batch_and_forgets_those_before(queue: Session) -> None:
    push(queue, "a", "b")
    for source in ("reader/1", "other/1"):
        assert plan(queue, source) == (1, None)
    assert of(reserve(queue, 1, most=1, plan=1)) == ["a"]
    assert of(reserve(queue, 2, most=1)) == ["b"]
    assert commit(queue, 2)["acked"] == "1"
    assert state(queue, "mail", "a") == "reserved"
    assert extend(queue, 60) == ("0", "0")
    assert (plan(queue), plan(queue, "other/1")) == ((1, None), (2, None))


def test_who_planned_a_read_before_another_keeps_and_gives_back_nothing_of_it(
    queue: Session, clock: Clock
) -> None:
    push(queue, "a", "b")
    first, _ = plan(queue)
    assert of(reserve(queue, 1, most=1, plan=first, source="reader/1", timeout_seconds=60)) == ["a"]
    assert extend(queue, 60, plan=first) == ("1", "0")
    assert plan(queue) == (first + 1, [0])
    assert extend(queue, 0, plan=first) == ("0", "0")
    assert state(queue, "mail", "a") == "reserved"
    clock.advance(30)
    assert extend(queue, 60, plan=first + 1) == ("1", "0")
    clock.advance(59)
    assert state(queue, "mail", "a") == "reserved"


def test_who_ends_a_batch_in_another_way_than_before_has_what_it_held(queue: Session) -> None:
    push(queue, "a", "b")
    assert of(reserve(queue, 1, most=1, source="r")) == ["a"]
    for adopt in ("false", "true"):
        given = f'{{"source": "r", "adopt": {adopt}}}'
        [one] = queue.answer("queue_stream_reserve", "query", "5", "0", "mail", "1", given)
        assert one["p_key"] == "a"
    assert commit(queue, 1)["acked"] == "0"
    assert state(queue, "mail", "a") == "reserved"
    assert queue.answer("queue_stream_commit", "query", "5", None)[0]["acked"] == "1"


def test_what_is_forgotten_is_given_back_by_nobody(queue: Session) -> None:
    push(queue, "a", "b")
    assert of(reserve(queue, 1, most=1)) == ["a"]
    assert queue.answer("queue_stream_forget", "reader/1") == [{"forgotten": "0"}]
    assert (extend(queue, 0), plan(queue)) == (("0", "0"), (1, None))
    assert state(queue, "mail", "a") == "reserved"
    assert of(reserve(queue, 1, most=1)) == ["b"]


def test_a_batch_holds_permits_as_long_as_its_messages(queue: Session, clock: Clock) -> None:
    queue.semaphore("s", 1)
    for key in "ab":
        queue.push("mail", key, 1, semaphores=["s"])
    push(queue, "c")
    assert of(reserve(queue, 1, timeout_seconds=60)) == ["a", "c"]
    clock.advance(59)
    assert extend(queue, 60) == ("2", "0")
    clock.advance(59)
    assert queue.reserve("mail", None, 10) == []
    assert extend(queue, 0) == ("2", "0")
    assert len(queue.reserve("mail", None, 3)) == 2, "c, and a or b"


def test_what_was_given_back_by_itself_is_no_longer_the_batch_s(queue: Session) -> None:
    push(queue, "a", "b", "c")
    held = reserve(queue, 1)
    assert queue.nack(str(held[0]["receipt"]), delay_seconds=60).outcome == "retry"
    assert extend(queue, 60) == ("2", "1")
    assert state(queue, "mail", "a") == "scheduled"
    assert queue.answer("queue_stream_renew", "reader", "1") == [{"lost": "1"}]
    assert of(reserve(queue, 1)) == ["b", "c"]
    wrong = [{"receipt": held[1]["receipt"], "never": 1}]
    with pytest.raises(InvalidOption, match="never"):
        commit(queue, 1, failed=wrong)
    assert commit(queue, 1, whole=True)["acked"] == "2"


def test_a_batch_whose_place_under_a_limit_was_given_away_has_lost_its_message(
    queue: Session, clock: Clock
) -> None:
    queue.define("mail", max_reserved=1)
    push(queue, "a")
    assert of(reserve(queue, 1, timeout_seconds=60)) == ["a"]
    clock.advance(61)
    queue.push("mail", "b", 1, priority=1)
    assert keys(queue.reserve("mail")) == ["b"]
    assert extend(queue, 60) == ("0", "1")
    assert queue.answer("queue_stream_renew", "reader", "1") == [{"lost": "1"}]


def test_a_long_name_of_a_reader_is_cut_for_its_worker(queue: Session) -> None:
    push(queue, "a")
    [one] = queue.answer("queue_stream_reserve", "r" * 200, "1", "0", "mail", None, None)
    assert one["reserved_by"] == "r" * 160 + "/1/0"
    assert queue.answer("queue_stream_reserve", "reader", "1", "0", "mail", None, None) == []
    push(queue, "b")
    assert reserve(queue, 1, 1, follows=True) == [], "the part before found nothing"


def test_the_name_of_a_job_may_be_of_any_length(queue: Session) -> None:
    assert publish(queue, stage(queue, row("a")), job="j" * 201) == ("published", "1")


def test_a_run_and_a_job_are_known_again_however_long_their_names_are(queue: Session) -> None:
    run, job = "r" * 201, "j" * 201
    for answer in ("published", "replayed"):
        part = stage(queue, row("a"))
        assert publish(queue, part, query="q", batch=1, run=run, job=job)[0] == answer
    with pytest.raises(Refused, match="one write"):
        publish(queue, stage(queue, row("b")), query="q", batch=1, run=run, job="another")


def test_what_came_of_a_write_is_pruned_after_a_week(queue: Session, clock: Clock) -> None:
    publish(queue, stage(queue, row("a")), job="j")
    queue.prune()
    clock.advance(6 * DAY)
    assert queue.prune() == 0
    clock.advance(DAY)
    assert (queue.prune(), queue.prune()) == (1, 0)
