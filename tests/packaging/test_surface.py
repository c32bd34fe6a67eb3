"""What a version promises, kept in the tree, and which number has to rise where it changes."""

from __future__ import annotations

import pytest

from tests.rules import each, every
from tools import reference, surface
from tools.surface import Surface, changes, is_released, least, parse, verdict

BASE = {
    "postgresql queue_a": "",
    "postgresql queue_a parameter 1": "in_kind text, required",
    "postgresql queue_a answers 1": "p_kind text",
    "routine queue_a": "",
    "routine queue_a option old": "1, deprecated",
    "spark option kind": "read",
    "error PQ001": "31001 InvalidParameter",
    "command go": "",
}


def test_the_surface_that_is_kept_is_that_of_the_sources_or_the_version_has_risen() -> None:
    complaint = surface.complaint()
    assert complaint is None, complaint


def test_what_is_written_is_read_back() -> None:
    kept = Surface("1.2.3", BASE)
    assert parse(kept.text()) == kept


@each(
    ("name", "value", "breaks"),
    [
        ("postgresql queue_a answers 1", None, True),
        ("error PQ001", None, True),
        ("spark option kind", None, True),
        ("postgresql queue_a", None, True),
        ("postgresql queue_a parameter 1", "in_kind integer, required", True),
        ("spark option kind", "readStream", True),
        ("postgresql queue_a parameter 2", "in_more text, required", True),
        ("postgresql queue_a parameter 2", "in_more text default null", False),
        ("postgresql queue_a answers 2", "p_key text", False),
        ("routine queue_a option new", "none", False),
        ("routine queue_a", "deprecated", False),
        ("error PQ009", "31009 New", False),
        ("command come", "", False),
    ],
)
def test_what_goes_or_changes_breaks_and_what_comes_adds(name: str, value: str | None, breaks: bool) -> None:
    after = {**BASE, name: value} if value is not None else {k: v for k, v in BASE.items() if k != name}
    found = changes(BASE, after)
    assert bool(found.breaks) == breaks
    assert bool(found.adds) != breaks
    assert any(name in said for said in found.breaks + found.adds)


def test_a_new_routine_may_ask_for_what_it_likes() -> None:
    after = {**BASE, "postgresql queue_b": "", "postgresql queue_b parameter 1": "in_kind text, required"}
    assert changes(BASE, after).breaks == []
    assert changes(BASE, after).adds == ["postgresql queue_b is new"]


@pytest.mark.parametrize(
    ("before", "breaking", "adding"),
    [("1.4.2", "2.0.0", "1.5.0"), ("0.3.1", "0.4.0", "0.3.2"), ("2.0.0", "3.0.0", "2.1.0")],
)
def test_a_break_is_a_major_version_and_an_addition_a_minor_one(
    before: str, breaking: str, adding: str
) -> None:
    gone = {name: value for name, value in BASE.items() if name != "routine queue_a option old"}
    assert least(before, changes(BASE, gone)) == breaking
    assert least(before, changes(BASE, {**BASE, "command come": ""})) == adding


def test_the_sentence_says_which_number_and_why() -> None:
    gone = {name: value for name, value in BASE.items() if name != "routine queue_a option old"}
    said = verdict(Surface("1.4.2", BASE), Surface("1.5.0", gone))
    assert said == (
        "the first number of the version must rise, to 2.0.0 at least (it is 1.5.0), "
        "because since 1.4.2: routine queue_a option old is gone"
    )
    said = verdict(Surface("1.4.2", BASE), Surface("1.4.3", {**BASE, "command come": ""}))
    assert said is not None
    assert said.startswith("the second number of the version must rise, to 1.5.0 at least")
    assert verdict(Surface("1.4.2", BASE), Surface("1.4.3", BASE)) is None
    assert verdict(Surface("1.4.2", BASE), Surface("2.0.0", gone)) is None


def test_what_goes_was_deprecated_a_release_before() -> None:
    gone = {name: value for name, value in BASE.items() if name != "command go"}
    said = verdict(Surface("1.4.2", BASE), Surface("2.0.0", gone))
    assert said == "deprecate it for a release before it changes or goes: command go"
    assert verdict(Surface("1.5.0", {**BASE, "command go": "deprecated"}), Surface("2.0.0", gone)) is None


@pytest.mark.parametrize(
    ("heading", "released"),
    [("## 1.0.0 (2026-12-01)", True), ("## 1.0.0", True), ("## 1.0.0 (unreleased)", False), ("", False)],
)
def test_a_version_is_released_where_the_changelog_says_so(heading: str, released: bool) -> None:
    assert is_released("1.0.0", f"# Changes\n\n{heading}\n\n- New.\n") == released


@every([name for names in reference.public().values() for name in names])
def test_each_public_routine_has_its_parameters_options_and_columns_in_it(name: str) -> None:
    items = surface.kept().items
    assert f"routine {name}" in items
    assert f"postgresql {name}" in items or f"mariadb+mysql {name}" in items
