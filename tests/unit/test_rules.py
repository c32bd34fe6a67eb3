import pytest

from tests.rules import each, every


def say(word: object) -> None:
    """A scenario that nothing breaks."""
    assert word


def test_each_tries_every_row_and_names_those_that_fail() -> None:
    seen: list[tuple[int, str]] = []

    @each("word", ["a", "b"])
    @each(("number", "most"), [(1, 2), (3, 2), (2, 2)])
    def scenario(found: list[tuple[int, str]], number: int, most: int, word: str) -> None:
        found.append((number, word))
        assert number <= most
        if word == "b":
            with pytest.raises(ValueError, match="none"):
                pass

    with pytest.raises(ExceptionGroup, match="2 of 2 rows fail") as raised:
        scenario(found=seen)
    assert seen == [(number, word) for word in "ab" for number in (1, 3, 2)]
    of_a, of_b = raised.value.exceptions
    assert (str(of_a), str(of_b)) == ("with word='a'", "with word='b'")
    assert isinstance(of_a.__cause__, ExceptionGroup)
    assert [str(one) for one in of_a.__cause__.exceptions] == ["with number=3, most=2"]
    assert isinstance(of_b.__cause__, ExceptionGroup)
    assert len(of_b.__cause__.exceptions) == 3


def test_a_table_without_rows_is_a_fault() -> None:
    with pytest.raises(AssertionError, match="the table is empty"):
        each("word", [])(say)()
    with pytest.raises(AssertionError, match="doesn't take number"):
        each("number", [1])(say)


def test_a_rule_names_all_that_break_it() -> None:
    @every([1, 2, 3], name=lambda number: f"number {number}")
    def small(number: int) -> None:
        assert number < 2, "large"

    with pytest.raises(AssertionError, match=r"(?s)broken 2 times:\nnumber 2: large.*\nnumber 3: large"):
        small()
    with pytest.raises(AssertionError, match="the rule is for nothing"):
        every([])(say)()
