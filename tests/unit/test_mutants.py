"""What makes mutants: see tests/mutants."""

from __future__ import annotations

import pytest

from tests.mutants import sql
from tests.mutants.__main__ import frozen
from tests.mutants.mutant import ROOT
from tools import house


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_what_is_changed_is_found_in_what_tests_install(dialect: str) -> None:
    for path in house.files(house.LIVE / dialect, *sql.KINDS):
        mutant = next(sql.mutants_of(path, dialect), None)
        if mutant is not None:
            _, (before, after) = frozen(ROOT, mutant)
            assert before != after, mutant.name
