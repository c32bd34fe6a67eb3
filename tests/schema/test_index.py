"""sql/README.md says what the files say."""

import pytest

from tools.freeze import INDEX, LIVE
from tools.index import index, purpose


def test_the_index_is_up_to_date() -> None:
    assert INDEX.read_text(encoding="utf-8") == index(LIVE), "run python -m tools.freeze"


def test_every_routine_and_view_stands_in_the_index() -> None:
    text = index(LIVE)
    files = list(LIVE.glob("*/*/*.sql"))
    assert len(files) > 120
    missing = [file for file in files if f"]({file.relative_to(LIVE).as_posix()})" not in text]
    assert missing == []


def test_a_purpose_is_the_first_sentence() -> None:
    assert purpose("comment on function f(text) is\n$$This\nor that. And more.$$;") == "This or that"
    with pytest.raises(ValueError, match="no comment"):
        purpose("select 1")
