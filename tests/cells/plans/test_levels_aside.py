"""Levels within cells, counted in blocks and put aside: those that are counted in one piece."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

from draw import quiet
from plans import on_engines
from sdckit.cells.as_cells import as_cells, tabulate_roles
from sdckit.cells.crosstab import levels_of
from sdckit.cells.plans import count_cells as counting, lazy, levels_aside
from sdckit.cells.plans.cells_in_parts import PartedCells
from sdckit.cells.plans.lazy import LazyCells
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError

RNG = np.random.default_rng(4)
N = 400
FRAME = pl.DataFrame(
    {
        "a": RNG.integers(0, 30, N),
        "b": RNG.choice(["x", "y", "naïve"], N),
        "ill": RNG.choice([None, "yes", "no"], N),
        "debt": RNG.choice([0.0, 2.5, 40.0], N),
        "none": pl.Series([None] * N, dtype=pl.String),
    }
)


def by_size(cells, variable):
    """Of every cell its levels, printed, with their records; sorted."""
    table = cells.count_levels(variable)
    labels, kept = table.coded.labels(table.level), table.count.tolist()
    ends = zip(table.edges[:-1], table.edges[1:], strict=True)
    return sorted(sorted(zip(labels[start:stop], kept[start:stop], strict=True)) for start, stop in ends)


@on_engines
def test_parts_have_what_the_whole_has(plan, monkeypatch):
    scenario = Scenario(keys=["a", "b"], sensitive=["ill", "debt"])
    with quiet():
        whole = as_cells(FRAME, scenario=scenario)
        monkeypatch.setattr(counting, "MOST_CELLS", 60)
        monkeypatch.setattr(levels_aside, "BLOCK", 50)
        parts = as_cells(plan(FRAME), scenario=scenario)
    assert isinstance(parts, PartedCells)
    for variable in ("ill", "debt"):
        _, found = parts.by_parts(lambda part, v=variable: (part, (by_size(part, v), levels_of(part, v))))
        assert sorted(cell for cells, _ in found for cell in cells) == by_size(whole, variable)
        expected = levels_of(whole, variable)
        for _, levels in found:
            assert dict(zip(levels.labels(), levels.size.tolist(), strict=True)) == dict(
                zip(expected.labels(), expected.size.tolist(), strict=True)
            )
            assert levels.n_missing == expected.n_missing
    assert parts.levels_of("ill") is parts.levels_of("debt")
    with pytest.raises(DataError, match="'none' has no value in any record"):
        parts.levels_of("none")


def test_levels_that_do_not_fit_beside_cells_that_do(monkeypatch):
    """Cells that fit, with more levels in them than fit, up to four times as many."""
    with quiet():
        whole = as_cells(FRAME, keys=["a"])
        monkeypatch.setattr(counting, "MOST_CELLS", 50)
        found = as_cells(FRAME.lazy(), keys=["a"])
    assert isinstance(found, LazyCells)
    assert by_size(found, "ill") == by_size(whole, "ill")
    numbered = FRAME.with_columns(debt=pl.int_range(N) // 2)
    monkeypatch.setattr(counting, "MOST_CELLS", 90)
    with quiet(), pytest.raises(DataError, match=r"have 395 different combinations, and .* takes 360 of them"):
        as_cells(numbered.lazy(), keys=["a"]).count_levels("debt")


@on_engines
def test_codes_of_more_than_31_bits(plan, monkeypatch):
    """Whole numbers of a range below 2^32 are coded by their distance from the least."""
    frame = FRAME.with_columns(debt=pl.Series(RNG.choice([0, 7, 2**31, 3 * 10**9], N)))
    scenario = Scenario(keys=["a", "b"], sensitive=["debt"])
    with quiet():
        whole = as_cells(frame, scenario=scenario)
        monkeypatch.setattr(counting, "MOST_CELLS", 60)
        parts = as_cells(plan(frame), scenario=scenario)
    _, found = parts.by_parts(lambda part: (part, by_size(part, "debt")))
    assert sorted(cell for cells in found for cell in cells) == by_size(whole, "debt")


def test_a_variable_that_cannot_be_counted_leaves_the_others(monkeypatch):
    """One without a value, or with too many levels beside the others: each is then counted by itself."""
    frame = FRAME.with_columns(number=pl.int_range(N))
    for other, why in (("none", "'none' has no value in any record"), ("number", "different combinations")):
        scenario = Scenario(keys=["a", "b"], sensitive=["ill", other])
        with quiet(), pytest.MonkeyPatch.context() as patch:
            whole = as_cells(frame, scenario=scenario)
            patch.setattr(counting, "MOST_CELLS", 60)
            patch.setattr(levels_aside, "LEAN", 2)
            parts = as_cells(frame.lazy(), scenario=scenario)
            _, found = parts.by_parts(lambda part: (part, by_size(part, "ill")))
            assert sorted(cell for cells in found for cell in cells) == by_size(whole, "ill")
            with pytest.raises(DataError, match=why):
                parts.levels_of(other)


@on_engines
def test_more_distinct_values_than_fit_are_refused_by_number_before_they_are_brought(plan, monkeypatch):
    """The 395 values of one variable take half of the room, so that those of both take more than all of it."""
    frame = FRAME.with_columns(debt=pl.int_range(N), loan=pl.int_range(N))
    scenario = Scenario(keys=["a", "b"], sensitive=["debt", "loan"])
    with quiet():
        monkeypatch.setattr(counting, "MOST_CELLS", 60)
        parts = as_cells(plan(frame), scenario=scenario)
    monkeypatch.setattr(counting, "free_bytes", lambda: 4 * counting.BYTES_OF_A_LEVEL * (N - 1))
    for name in scenario.sensitive:
        with pytest.raises(DataError, match=rf"column '{name}' has {N} different values, .* takes {N - 1}; recode it"):
            parts.levels_of(name)
    monkeypatch.setattr(counting, "free_bytes", lambda: 4 * counting.BYTES_OF_A_LEVEL * N)
    assert "debt" in parts.levels_of("debt").whole
    with pytest.raises(DataError, match=rf"'y' has {N} different values, .* takes 5"):
        counting.values_of(nw.from_native(plan(frame.select(y="loan"))), "y", held=N - 5)


def test_what_failed_is_not_added_to(monkeypatch):
    scenario = Scenario(keys=["a", "b"], sensitive=["ill"])
    with quiet():
        whole = as_cells(FRAME, scenario=scenario)
        monkeypatch.setattr(counting, "MOST_CELLS", 60)
        parts = as_cells(FRAME.lazy(), scenario=scenario)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels_aside, "LEAN", 0.1)
        with pytest.raises(DataError, match="different combinations"):
            parts.levels_of("ill")
    _, found = parts.by_parts(lambda part: (part, by_size(part, "ill")))
    assert sorted(cell for cells in found for cell in cells) == by_size(whole, "ill")


def test_levels_beside_cells_that_fit_are_counted_in_one_pass(monkeypatch):
    """All sensitive variables, where they do not fit together with the cells, and were not to be counted again."""
    scenario, passes = Scenario(keys=["a"], sensitive=["ill", "debt"]), []
    with quiet():
        whole = as_cells(FRAME, scenario=scenario)
        monkeypatch.setattr(counting, "MOST_CELLS", 80)
        found = tabulate_roles(FRAME.lazy(), resolve_roles(scenario=scenario), by_levels=True)
    assert isinstance(found, LazyCells)
    assert found.too_many == ("a", "ill", "debt")
    blocks_by = levels_aside.blocks_by
    monkeypatch.setattr(levels_aside, "blocks_by", lambda *given: passes.append(given[1]) or blocks_by(*given))
    monkeypatch.setattr(lazy, "count_by", None)
    for variable in ("debt", "ill"):
        assert by_size(found, variable) == by_size(whole, variable)
    assert passes == [["a", "debt", "ill"]]
