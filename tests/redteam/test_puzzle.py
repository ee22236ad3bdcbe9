"""The solver finds what is left, and says so where nothing is."""

from __future__ import annotations

import pytest

from redteam.puzzle import ContradictionError, Puzzle, Solver, given_away
from redteam.tables import Tables, largest, risk


def test_two_known_values_are_found_and_three_are_not() -> None:
    puzzle = Puzzle()
    for name in ("few", "more"):
        puzzle.know(name, 1, 9)
        puzzle.watch(name, "printed")
    puzzle.say({"few": 1.0, "more": 1.0}, 10, 10)
    assert given_away(puzzle) == {}
    puzzle.say({"few": 1.0}, 2, 3)
    assert given_away(puzzle) == {"few": {2, 3}}


def test_large_numbers_may_be_known() -> None:
    puzzle = Puzzle()
    puzzle.know("many", 7, 7)
    puzzle.watch("many", "printed")
    puzzle.say({"many": 1.0}, 0, 9)
    assert given_away(puzzle) == {}


def test_what_is_0_or_large_needs_no_search_and_what_may_be_small_does() -> None:
    puzzle = Puzzle()
    puzzle.say({puzzle.know("large"): 2.0}, 9, 20)
    puzzle.say({puzzle.know("none"): 2.0}, 0, 1)
    puzzle.say({puzzle.know("some"): 1.0, puzzle.know("half", 0, 1): -2.0})
    puzzle.say({puzzle.know("four"): 2.0}, 8, 20)
    for name in puzzle.spans:
        puzzle.watch(name, "printed")
    solver = Solver(puzzle)
    solver.seen = {name: {0} for name in puzzle.spans}
    assert {name for name in puzzle.spans if solver.never_small(name)} == {"large", "none"}


def test_figures_that_cannot_all_be_true() -> None:
    puzzle = Puzzle()
    puzzle.know("one", 1, 4)
    puzzle.say({"one": 1.0}, 7, 9)
    with pytest.raises(ContradictionError):
        given_away(puzzle)


def test_cells_and_records() -> None:
    """Ten records, six below 3, nobody alone: three pairs and four records in one cell."""
    puzzle = Puzzle()
    tables = Tables(puzzle, 10)
    table = tables.table(["sex"], watched=True)
    puzzle.say(tables.records(table, 1, 2), 6, 6)
    puzzle.say(tables.records(table, 1, 1), 0, 0)
    assert given_away(puzzle)[tables.cells(table, (2, 2))] == {3}


def test_fewer_keys_have_fewer_cells() -> None:
    puzzle = Puzzle()
    tables = Tables(puzzle, 10)
    wide, narrow = tables.table(["sex", "age"]), tables.table(["sex"])
    tables.nest()
    puzzle.say(tables.numbers(wide, 1, 10), 2, 2)
    puzzle.say(tables.numbers(narrow, 1, 10), 1, 9)
    puzzle.watch("cells", "printed")
    tables.is_sum(puzzle.know("cells"), tables.numbers(narrow, 1, 10))
    assert given_away(puzzle) == {"cells": {1, 2}}


def test_risk_of_a_cell() -> None:
    assert risk(1, 1.0) == 1.0
    assert risk(1, 0.1) == pytest.approx(0.2558, abs=1e-4)
    assert risk(3, 0.5) == pytest.approx(0.1931, abs=1e-4)
    assert largest(0.2, 1.0, 50) == 5
    assert largest(0.2, 1.0, 50, strictly=True) == 4
