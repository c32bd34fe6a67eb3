"""What makes mutants: see tests/mutants."""

from __future__ import annotations

import itertools
import re

import pytest

from tests.mutants import python, sql
from tests.mutants.__main__ import frozen
from tests.mutants.mutant import ROOT, equivalent, key
from tools import house


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_what_is_changed_is_found_in_what_tests_install(dialect: str) -> None:
    for path in house.files(house.LIVE / dialect, *sql.KINDS):
        mutant = next(sql.mutants_of(path, dialect), None)
        if mutant is not None:
            _, (before, after) = frozen(ROOT, mutant)
            assert before != after, mutant.name


def test_what_no_test_can_see_can_still_be_changed() -> None:
    there = itertools.chain(sql.mutants("postgresql"), sql.mutants("mysql"), python.mutants())
    assert set(equivalent()) - {key(mutant) for mutant in there} == set()
    glued = [why for why in equivalent().values() if re.search(r"\bsql/(mysql|postgresql)/", why)]
    assert glued == [], "there is a blank line between two"


def left_out(source: str, sort: str) -> set[str]:
    """Return what the mutants of a sort leave out of a body."""
    body = sql.Body(source, 0, len(source), "mysql")
    return {source[start:end].strip() for one, start, end, _ in body.changes() if one == sort}


def test_a_condition_is_left_out_whole_with_the_functions_in_it() -> None:
    assert left_out("if f(a) = 1 and (b[1] or g(c, (d)) > 2) and e between h(1) and 3 then;", "conjunct") == {
        *("f(a) = 1 and", "and (b[1] or g(c, (d)) > 2)", "and e between h(1) and 3"),
        *("b[1] or", "or g(c, (d)) > 2"),
    }
    assert left_out("select a = if(b, c, d) and e as f from g where;", "conjunct") == {"and e"}
    assert left_out("if a = if(b, c, d) and e then;", "conjunct") == {"a = if(b, c, d) and", "and e"}


def test_what_is_put_together_is_left_out_whole_with_the_functions_in_it() -> None:
    assert left_out("set v_a = concat(f(a, 1), ',', g(b));", "concatenation") == {", ','", ", g(b)"}
