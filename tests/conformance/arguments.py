"""Every routine with each parameter and option that it has, and values that nobody should give for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Values = Mapping[str, str]

LONG = "n" * 129
HUGE = "x" * 70_000

UNREADABLE: Values = {
    "no text": "\udcff", "no text in JSON": '"\udcff"', "no text below": '{"a": "\udcc3"}', "NUL": "a\0b",
    "NUL in JSON": '{"a": "\0"}',
}  # fmt: skip
"""Bytes that are no UTF-8, and NUL, which is in no text of PostgreSQL's."""
NO_JSON: Values = {
    "empty": "", "space": " ", "a word": "x", "NaN": "NaN", "Infinity": "Infinity", "{": "{", "[": "[",
    "[NaN]": "[NaN]", '{"a": NaN}': '{"a": NaN}', "0x1": "0x1", "two": "true false", "an escape": '"\\x"',
}  # fmt: skip
NOT_EVERYWHERE: Values = {
    "\\u0000": '"\\u0000"', "\\u0000 as a name": '{"\\u0000": 1}', "\\u0000 below": '[{"a": "\\u0000"}]',
    "lone": '"\\ud800"', "lone below": '{"a": "\\udfff\\ud800"}', "lone as a name": '{"\\ud800": 1}',
    "1e999999": "[1e999999]", "1e5000": '{"n": 1e5000}', "-1e400": '[-1E+400]', "310 digits": "9" * 310,
    "5,000 digits": '{"a": ["e", ' + "9" * 5_000 + "]}",
    "40 arrays": "[" * 40 + "1" + "]" * 40,
    "90 objects": '{"a":' * 90 + "1" + "}" * 90,
    "200 arrays": "[" * 200 + "1" + "]" * 200,
    "200 objects": '{"a":' * 200 + "1" + "}" * 200,
    "8,000 arrays": "[" * 8_000 + "]" * 8_000,
    "200 below": '[{"receipt": ' + "[" * 200 + "]" * 200 + "}]",
    "70,000": json.dumps({HUGE: 1}),
    "70,000 below": json.dumps([{"a": {HUGE: 1}}]),
    "70,000, escaped": '{"' + "\\u0041" * 70_000 + '": 1}',
}  # fmt: skip
"""JSON, but not for every server."""
JSON: Values = {
    "[]": "[]", '""': '""', "a string": '"x"', "5": "5", "-1": "-1", "0.5": "0.5", "1e308": "1e308",
    "308 digits": "9" * 308, "1e31 in a list": '{"a": [1e31, 1E+30, "1e400"], "b": 1e-400}',
    "2^63": "9223372036854775808", "true": "true", "[null]": "[null]", "[[]]": "[[]]", "[{}]": "[{}]",
    "a long name": json.dumps({LONG: 1}), "an empty name": '{"": 1}', "a name twice": '{"a": 1, "a": 2}',
    "a long string": json.dumps(LONG), "quotes": '{"a\\"b": 1}', "a path": '{"$": 1}', "a star": '{"*": 1}',
}  # fmt: skip
ARRAYS: Values = {
    "[5]": "[5]", '[""]': '[""]', "[true]": "[true]", "a long string in it": json.dumps([LONG]),
    "10,001": json.dumps([LONG] * 10_001), "receipt null": '[{"receipt": null}]',
    "receipt []": '[{"receipt": []}]', "receipt {}": '[{"receipt": {}}]', "key {}": '[{"key": {}}]',
    "key 5": '[{"key": 5}]', "to_kind {}": '[{"to_kind": {}}]', "part {}": '[{"part": {}, "messages": []}]',
    "part 2^63": '[{"part": 9223372036854775808, "messages": 1}]',
    "1e308": '[{"part": 0.5, "messages": 1e308}]',
}  # fmt: skip
TEXTS: Values = {
    "empty": "", "space": " ", "NaN": "NaN", "null": "null", "{}": "{}", "quote": "'", "129": LONG,
    "100,000": "x" * 100_000, "4 bytes each": "😀" * 300, "a pattern": "a.*.#", "dots": "..", "%": "%s",
}  # fmt: skip
NUMBERS: Values = {
    "0": "0", "0.5": "0.5", "1e-300": "1e-300", "2^31": "2147483648", "2^63 - 1": "9223372036854775807",
    "spaces": " 1 ",
}  # fmt: skip
"""Numbers for some."""
NO_NUMBERS: Values = {
    "empty": "", "a word": "x", "{}": "{}", "null": "null", "NaN": "NaN", "Infinity": "Infinity",
    "-Infinity": "-Infinity", "1e308": "1e308", "-1e308": "-1e308", "1e999": "1e999", "-1": "-1",
    "2^63": "9223372036854775808", "-2^63 - 1": "-9223372036854775809", "40 digits": "9" * 40,
    "a word after": "1x",
}  # fmt: skip
"""Not for any parameter."""
OF_AN_OPTION: Values = {
    **{name: JSON[name] for name in (
        "[]", '""', "-1", "0.5", "1e308", "2^63", "true", "[null]", "a long string")},
    **{name: NOT_EVERYWHERE[name] for name in ("200 arrays", "lone below", "70,000")},
    "null": "null", "{}": "{}", "strings": '["a", "a"]', "a time": '"25:00"',
}  # fmt: skip


class Parameter(NamedTuple):
    """A parameter, and a value that is sound."""

    sort: str
    """text, bytes, number, options, payload, array (which may be none), or json (which may not)."""
    sound: str | None
    nullable: bool = False
    options: Sequence[str] = ()
    """That it takes, or its elements."""
    frame: str = "{%s}"
    """What stands around one option."""


class Routine(NamedTuple):
    """A routine, and how it is called."""

    name: str
    parameters: Sequence[Parameter]
    alone: bool = False
    """Whether it wants no transaction around it."""


RECEIPT = "…receipt…"
"""In place of a receipt that is good."""
PART = "…part…"
"""In place of a part of the stage."""

PUBLISH = ["delay_seconds", "scheduled_at", "priority", "headers", "attempts", "max_attempts", "on_duplicate"]
PUSH = [*PUBLISH, "route", "group", "order_key", "semaphores"]
MOVE = ["payload", "headers", "key", "delay_seconds", "priority", "on_duplicate"]
NACK = ["delay_seconds", "error", "payload", "final", "count"]
ACK = ["result", "to", "payload"]
DEFINE = [
    "timeout_seconds",
    "max_attempts",
    "backoff_seconds",
    "backoff_factor",
    "backoff_max_seconds",
    "jitter",
    "dead_letter_kind",
    "dedup_seconds",
    "history_seconds",
    "payload_shape",
    "expires_seconds",
    "max_reserved",
    "rate_per_second",
    "filter_index",
    "log_seconds",
    "roles",
]
RESERVE = ["timeout_seconds", "where"]
SOURCE = ["source", "plan", "follows", "adopt"]
COMMIT = ["parts", "failed", "whole", "keep", "run", "job"]
GROUP = ["close", "members", "on_dead", "fail_kind", "key", "priority", "delay_seconds", "keep_seconds"]
SCHEDULE = [
    "daily_at",
    "time_zone",
    "catch_up",
    "until",
    "paused",
    "delay_seconds",
    "priority",
    "headers",
    "max_attempts",
    "every_seconds",
]


def text(sound: str | None, nullable: bool = False) -> Parameter:
    return Parameter("text", sound, nullable)


def number(sound: str, nullable: bool = False) -> Parameter:
    return Parameter("number", sound, nullable)


def options(*names: str) -> Parameter:
    return Parameter("options", None, True, names)


def array(sound: str, *names: str, frame: str = "") -> Parameter:
    return Parameter("array", sound, True, names, frame)


def json_of(sound: str, *names: str, frame: str = "{%s}", nullable: bool = False) -> Parameter:
    return Parameter("json", sound, nullable, names, frame)


KIND = text("k")
RECEIPTS = array(f'["{RECEIPT}"]')
PAYLOAD = Parameter("payload", '{"a": 1}', True)
MESSAGES = array(
    '[{"key": "m", "payload": 1, "priority": 1}, {"key": "n"}]',
    *PUSH,
    "payload",
    "key",
    frame='[{"key": "m", %s}]',
)
_MOVE = f'{{"receipt": "{RECEIPT}", "to_kind": "next"'
MOVES = array(f"[{_MOVE}}}]", *MOVE, "receipt", "to_kind", frame=f"[{_MOVE}, %s}}]")
DAILY = json_of('{"daily_at": "09:30"}', *SCHEDULE, frame='{"cron": "* * * * *", %s}')
EVERY = json_of('{"every_seconds": 60}', "cron", "every_seconds", "daily_at")
PARTS = json_of(f'[{{"part": {PART}, "messages": 1}}]', "part", "messages", frame="[{%s}]")

ROUTINES = [
    Routine("queue_push", [KIND, text("a", True), PAYLOAD, options(*PUSH)]),
    Routine("queue_push_bytes", [KIND, text("a", True), Parameter("bytes", "x"), options("headers")]),
    Routine("queue_push_many", [KIND, MESSAGES, options(*PUSH)]),
    Routine("queue_reserve", [KIND, text("w", True), number("1", True), options(*RESERVE)]),
    Routine(
        "queue_next",
        [RECEIPTS, KIND, text("w", True), number("1", True), options(*RESERVE, "lost")],
    ),
    Routine("queue_pop", [KIND, number("1", True), options("where")]),
    Routine("queue_extend", [text(RECEIPT), number("0.5")]),
    Routine("queue_extend_many", [RECEIPTS, number("0.5")]),
    Routine("queue_ack", [text(RECEIPT), options(*ACK)]),
    Routine("queue_ack_many", [RECEIPTS, options(*ACK)]),
    Routine("queue_nack", [text(RECEIPT), options(*NACK)]),
    Routine("queue_nack_many", [RECEIPTS, options(*NACK)]),
    Routine("queue_move", [text(RECEIPT), text("next"), options(*MOVE)]),
    Routine("queue_move_many", [MOVES, options(*MOVE)]),
    Routine("queue_get", [KIND, text("there")]),
    Routine("queue_peek", [KIND, number("9", True), options("where")]),
    Routine("queue_remove", [KIND, text("there")]),
    Routine("queue_purge", [KIND, number("9", True)]),
    Routine("queue_define", [KIND, options(*DEFINE)]),
    Routine("queue_drop", [text("empty")]),
    Routine("queue_pause", [KIND]),
    Routine("queue_resume", [KIND]),
    Routine("queue_drain", [KIND]),
    Routine("queue_redrive", [KIND, number("9", True)]),
    Routine("queue_prune", [number("9", True)]),
    Routine("queue_wait", [json_of('"k"'), number("0.01", True)], alone=True),
    Routine("queue_publish", [text("t.a"), text("a", True), PAYLOAD, options(*PUBLISH)]),
    Routine("queue_subscribe", [text("s.*"), KIND]),
    Routine("queue_unsubscribe", [text("s.*"), KIND]),
    Routine("queue_schedule", [text("s"), KIND, PAYLOAD, DAILY]),
    Routine("queue_schedule", [text("s"), KIND, PAYLOAD, EVERY]),
    Routine("queue_unschedule", [text("s")]),
    Routine("queue_group", [text("g"), text("x", True), json_of('{"a": 1}', nullable=True), options(*GROUP)]),
    Routine("queue_semaphore", [text("sem"), number("2", True)]),
    Routine("queue_read", [text("logged"), text("r"), number("9", True), options("from", "events")]),
    Routine("queue_read_ack", [text("reader"), number("0")]),
    Routine("queue_read_end", [text("reader")]),
    Routine("queue_replay", [KIND, options("outcome", "p_key", "from", "to", "limit", "to_kind")]),
    Routine("queue_heartbeat", [text("w"), options("timeout_seconds", "kinds", "info", "stop")]),
    Routine("queue_stage_begin", [text("job"), options("query", "batch", "run")]),
    Routine("queue_stage_abort", [text("job")]),
    Routine("queue_stage_publish", [PARTS, options("query", "batch", "run", "job")]),
    Routine("queue_stream_ready", [KIND]),
    Routine(
        "queue_stream_reserve",
        [text("st"), number("7"), number("0"), KIND, number("1", True), options(*RESERVE, *SOURCE)],
    ),
    Routine("queue_stream_extend", [text("stream/1"), number("0.5"), options("plan")]),
    Routine("queue_stream_plan", [text("source")]),
    Routine("queue_stream_renew", [text("stream"), number("1")]),
    Routine("queue_stream_forget", [text("stream/1")]),
    Routine("queue_stream_done", [text("stream"), number("1")]),
    Routine("queue_stream_commit", [text("stream"), number("1"), options(*COMMIT)]),
]


def hostile(parameter: Parameter) -> Iterator[tuple[str, str | None, str]]:
    """Values for a parameter.

    Yields:
        What it is called; itself; and what has to become of it: refused; nothing: the same as NULL; none: the
        same, which is no row; either: it depends.
    """
    sort = parameter.sort
    unless = {"options": "nothing", "payload": "nothing", "array": "none"}.get(sort, "either")
    yield "NULL", None, unless if parameter.nullable else "refused"
    if sort == "bytes":
        return
    tables: list[tuple[Values, str]] = [(UNREADABLE, "refused")]
    if sort == "text":
        refused = ("empty", "100,000", "4 bytes each")
        tables.append(({name: TEXTS[name] for name in refused}, "refused"))
        tables.append(({name: value for name, value in TEXTS.items() if name not in refused}, "either"))
    elif sort == "number":
        tables += [(NUMBERS, "either"), (NO_NUMBERS, "refused")]
    else:
        none = {
            "options": {"null": "null", "{}": "{}", "{ }": " { } "},
            "payload": {"null": "null"},
            "array": {"null": "null", " null": " null\n", "[]": "[]", "[ ]": " [ ] "},
        }.get(sort, {})
        others = {name: value for name, value in JSON.items() if name not in none}
        tables += [(none, unless), (NO_JSON, "refused"), (NOT_EVERYWHERE, "either")]
        tables += [(others, "refused" if sort == "options" else "either")]
        tables += (
            [(ARRAYS, "refused" if sort == "options" else "either")] if sort in ("array", "json") else []
        )
    for values, verdict in tables:
        for name, value in values.items():
            yield name, value, verdict
    for option in parameter.options:
        for name, value in OF_AN_OPTION.items():
            yield f"{option}: {name}", parameter.frame % f'"{option}": {value}', "either"
