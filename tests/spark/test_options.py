"""The options of the source: names as Spark has them, and the same in code, docstring and page."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from pyqueue_sql.errors import InvalidOption
from pyqueue_sql.spark.options import KNOWN, READ, READ_STREAM, WAYS, WRITE, WRITE_STREAM, Options, parse
from pyqueue_sql.spark.source import PyQueueDataSource

URL = "postgresql://ann:s3cr3t-w0rd@127.0.0.1:1/nowhere"
PAGE = Path(__file__).parents[2] / "docs" / "spark.md"


def of_the_docstring() -> list[tuple[str, str, str, str]]:
    """Return the options that the docstring lists: name, ways, default and meaning."""
    text = re.sub(r"\n {12}", " ", PyQueueDataSource.__doc__ or "")
    return re.findall(r"^ {8}(\w+) \((.+?); default: (.+?)\): (.+)$", text, re.MULTILINE)


def test_the_docstring_and_the_page_list_every_option_with_its_default() -> None:
    listed = of_the_docstring()
    ways = {name: "all" if one.ways == WAYS else ", ".join(one.ways) for name, one in KNOWN.items()}
    assert {name: way for name, way, _, _ in listed} == ways
    defaults = {one.name: one.default for one in dataclasses.fields(Options)}
    elsewhere = ("url", "queue_schema", "reconnect_seconds")
    said = {name: default for name, _, default, _ in listed if name not in elsewhere}
    assert said == {name: str(defaults[name] or "none").removesuffix(".0") for name in said}
    rows = [f"| {' | '.join(one)} |" for one in listed]
    assert [row for row in rows if row not in PAGE.read_text().splitlines()] == []


@pytest.mark.parametrize("name", ["max_messages", "maxMessages", "MAXMESSAGES", "Max_Messages"])
def test_a_name_may_be_written_in_any_case_and_without_underscores(name: str) -> None:
    assert parse({"url": URL, "kind": "m", name: "7"}, READ_STREAM).max_messages == 7
    assert parse({"url": URL, "Kind": "m", "COMMIT": "Sink"}, READ_STREAM).commit == "sink"
    with pytest.raises(InvalidOption, match="given twice"):
        parse({"url": URL, "kind": "m", "MaxMessages": "7", "max_messages": "8"}, READ_STREAM)


@pytest.mark.parametrize(
    ("name", "way", "nearest"),
    [
        ("maxmesages", READ_STREAM, 'did you mean "max_messages"?'),
        ("timeoutSecond", READ_STREAM, 'did you mean "timeout_seconds"?'),
        ("looks", READ, 'did you mean "look"?'),
        ("zzz", WRITE, "allowed are "),
        ("look", WRITE_STREAM, "unknown to writeStream: allowed are "),
    ],
)
def test_a_wrong_name_is_told_the_nearest_right_one(name: str, way: str, nearest: str) -> None:
    with pytest.raises(InvalidOption) as raised:
        parse({"url": URL, name: URL}, way)
    assert nearest in str(raised.value)
    assert "s3cr3t" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "way"),
    [
        ({"stream": "s"}, WRITE),
        ({"stream": "s", "batch": "1", "atomic": "task"}, WRITE),
        ({}, READ_STREAM),
        ({"kind": "m", "timeout_seconds": "0"}, READ_STREAM),
        ({"kind": "m", "max_messages": "many"}, READ_STREAM),
        ({"kind": ""}, WRITE),
        ({"look": "peek", "bad_rows": "dead"}, READ),
        ({"kind": "m", "bad_rows": "dead", "commit": "sink"}, READ_STREAM),
        ({"bad_rows": "null"}, WRITE),
        ({"bad_rows": "null"}, WRITE_STREAM),
    ],
)
def test_options_that_mean_nothing_are_refused(given: dict[str, str], way: str) -> None:
    with pytest.raises(InvalidOption):
        parse({"url": URL, **given}, way)
