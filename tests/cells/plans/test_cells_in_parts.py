"""`PartedCells`: what is asked of cells, against the same cells in one piece. Measures: tests/engines."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from draw import quiet
from plans import collected, on_engines, opened, polars_plan
from sdckit.cells.as_cells import as_cells
from sdckit.cells.plans import cells_in_parts as parting, count_cells as counting
from sdckit.cells.plans.cells_in_parts import CellsAside, PartedCells, choose_parting, count_or_put_aside
from sdckit.cells.plans.count_cells import group_keys
from sdckit.data.frames import blocks
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.errors import ColumnError, DataError, SdcWarning

RNG = np.random.default_rng(11)
N = 300
FRAME = pl.DataFrame(
    {
        "row": np.arange(N),
        "a": [None if i % 50 == 7 else int(i) for i in RNG.integers(0, 30, N)],
        "b": [None if i % 60 == 3 else str(i % 11) for i in range(N)],
        "w": RNG.integers(2, 9, N).astype(float),
        "h": np.arange(N) // 2,
    }
)
LOGS = {"before": lambda risk: np.log1p(-risk), "after": lambda logs: -np.expm1(logs)}


def both(plan, monkeypatch, **options):
    """The cells in one piece, and in parts."""
    given = {"keys": ["a", "b"], "weight": "w", **options}
    with quiet():
        whole = as_cells(plan(FRAME), **given)
        monkeypatch.setattr(counting, "MOST_CELLS", 150)
        parts = as_cells(plan(FRAME), **given)
    assert isinstance(parts, PartedCells)
    return whole, parts


def halved(f):
    return 1 / (f + 1)


@on_engines
@pytest.mark.parametrize("options", [{}, {"alpha": 0.25}, {"missing": "category"}, {"missing": {"b": "category"}}])
def test_counts_are_those_of_one_piece(plan, monkeypatch, options):
    whole, parts = both(plan, monkeypatch, **options)
    assert (parts.n, parts.n_cells, parts.n_missing) == (whole.n, whole.n_cells, whole.n_missing)
    assert (parts.rules, parts.alpha, parts.wild) == (whole.rules, whole.alpha, whole.wild)
    assert set(parts.columns) == set(whole.columns)
    assert parts.count_cells([1, 2, 3, 99]) == whole.count_cells([1, 2, 3, 99])
    assert (parts.count_short(), parts.count_helped()) == (whole.count_short(), whole.count_helped())
    for name in whole.columns:
        a, b = (one.values(name) for one in (whole, parts))
        assert b.total() == pytest.approx(a.total(), rel=1e-13)
        assert b.extremes() == pytest.approx(a.extremes(), rel=1e-13)
    again = parts.as_categories()
    assert again.values("sample_frequency").total() == whole.as_categories().values("sample_frequency").total()
    assert not again.has_wildcards


@on_engines
def test_figures_made_of_others(plan, monkeypatch):
    whole, parts = (one.with_column("risk", halved, "sample_frequency") for one in both(plan, monkeypatch))
    assert parts.count_where(2, 0.4) == whole.count_where(2, 0.4)
    assert parts.values("risk").quantiles([0.1, 0.5]) == whole.values("risk").quantiles([0.1, 0.5])
    homes = [one.with_household("household_risk", "risk", "h", **LOGS) for one in (whole, parts)]
    names = ["risk", "household_risk", "sample_unique"]
    a, b = (collected(one.records(names)) for one in homes)
    for name in names:
        assert b[name].to_list() == pytest.approx(a[name].to_list(), rel=1e-13)
    assert homes[1].values("household_risk").total() == pytest.approx(
        homes[0].values("household_risk").total(), rel=1e-13
    )
    with pytest.raises(ColumnError, match="household: no column 'nowhere'"):
        parts.with_household("household_risk", "risk", "nowhere", **LOGS)


def test_a_key_may_be_called_as_what_is_kept(monkeypatch):
    frame = FRAME.rename({"a": "levels", "b": "sizes"}).with_columns(ill=pl.col("row") % 3)
    monkeypatch.setattr(counting, "MOST_CELLS", 150)
    with quiet():
        parts = as_cells(opened(polars_plan, frame), keys=["levels", "sizes"], missing="category")
    assert isinstance(parts, PartedCells)
    assert set(parts.levels_of("ill").whole) == {"ill"}
    assert parts.key_sizes() is parts.key_sizes()
    assert (parts.kind("levels"), parts.kind("sizes")) == ("integer", "text")


@on_engines
def test_what_needs_all_cells(plan, monkeypatch):
    whole, parts = both(plan, monkeypatch)
    for call in (
        parts.in_memory, lambda: parts.count_levels("h"), lambda: parts.with_cells({}),
        lambda: parts.by_parts(lambda cells: (cells, 0)),
    ):  # fmt: skip
        with pytest.raises(DataError, match=rf"needs all {whole.n_cells} cells at once, .* takes 150; take fewer"):
            call()
    assert parts.in_memory("h").source.columns == ["a", "b", "h", "w"]
    made, found = parts.as_categories().by_parts(lambda cells: (cells, cells.n_cells))
    assert sum(found) == made.n_cells == whole.n_cells


def test_what_is_odd_about_a_key_is_told_once(monkeypatch):
    frame = FRAME.with_columns(pl.lit("x").alias("c"), pl.int_range(N).alias("d"))
    monkeypatch.setattr(counting, "MOST_CELLS", 150)
    with pytest.warns(SdcWarning) as told:
        as_cells(polars_plan(frame), keys=["c", "d"])
    assert sorted(str(one.message).partition(":")[0] for one in told) == [
        "key 'c' has the same value in every record", "key 'd' is different for every record",
    ]  # fmt: skip


def test_keys_too_wide_for_a_word(monkeypatch):
    """Seven keys of a thousand million possible values each."""
    wide = {f"k{j}": RNG.integers(0, 4, N) * 10**9 + 7 for j in range(4)}
    frame = pl.DataFrame(wide).with_columns(pl.when(pl.int_range(N) % 50 != 0).then(pl.col("k0")).alias("k0"))
    with quiet():
        whole = as_cells(polars_plan(frame), keys=list(wide), missing="wildcard")
        monkeypatch.setattr(counting, "MOST_CELLS", 100)
        parts = as_cells(polars_plan(frame), keys=list(wide), missing="wildcard")
    assert isinstance(parts, PartedCells)
    assert parts.values("sample_frequency").total() == whole.values("sample_frequency").total()


@on_engines
def test_cells_that_do_not_fit_are_grouped_once(plan, monkeypatch):
    """They pass by once; their population is looked up in what was put aside then."""
    passed = []
    monkeypatch.setattr(counting, "MOST_CELLS", 150)
    monkeypatch.setattr(counting, "blocks", lambda *given: passed.append(given[1]) or blocks(*given))
    with quiet():
        parts = as_cells(opened(plan, FRAME), keys=["a", "b"], weight="w", missing="category")
    sizes = parts.key_sizes()
    assert len(passed) == 1
    assert (sizes.n, sizes.n_cells) == (parts.n, parts.n_cells) == (N, FRAME.select("a", "b").n_unique())


# How cells are split: by keys that must agree first, all parts within the limit, no record in two.


PARTING_RNG = np.random.default_rng(5)
PARTING_N = 400
PARTING_FRAME = pl.DataFrame(
    {
        "a": PARTING_RNG.integers(0, 20, PARTING_N),
        "b": [None if i % 40 == 0 else str(i % 9) for i in range(PARTING_N)],
        "c": [None if i % 20 == 0 else i % 4 for i in range(PARTING_N)],
    }
)


def parted(plan, keys, monkeypatch, most, missing="wildcard"):
    monkeypatch.setattr(counting, "MOST_CELLS", most)
    frame = opened(plan, PARTING_FRAME)
    grouped = group_keys(frame, resolve_roles(keys=keys, missing=missing))
    aside = count_or_put_aside(grouped)
    assert isinstance(aside, CellsAside)
    gone = tuple(map(aside.missing, grouped.keys))
    assert gone == tuple(PARTING_FRAME[key].null_count() for key in keys)
    assert [aside.n_levels(key) for key in grouped.keys] == [PARTING_FRAME[key].n_unique() for key in keys]
    found = choose_parting(grouped, aside, gone)
    assert found.n_cells == PARTING_FRAME.select(keys).n_unique()
    rows = [collected(one)["row"].to_list() for one in found.plans(frame)]
    loose = found.loose_plan(frame)
    return found, rows, [] if loose is None else collected(loose)["row"].to_list()


@on_engines
def test_keys_that_must_agree_split_first(plan, monkeypatch):
    found, rows, loose = parted(plan, ["a", "b", "c"], monkeypatch, 120)
    assert ([key.name for key in found.keys], found.may_lack, found.loose, loose) == (["a"], (), False, [])
    assert sorted(row for part in rows for row in part) == list(range(PARTING_N))
    for part in rows:
        assert PARTING_FRAME[part].n_unique() <= 60
    assert len({frozenset(PARTING_FRAME[part]["a"]) for part in rows}) == len(rows)


@on_engines
def test_a_key_with_wildcards_leaves_some_loose(plan, monkeypatch):
    found, rows, loose = parted(plan, ["b", "c"], monkeypatch, 36)
    assert ([key.name for key in found.keys], len(found.may_lack)) == (["b"], 1)  # fewer are missing than of c
    assert loose == list(range(0, PARTING_N, 40))
    assert sorted([row for part in rows for row in part] + loose) == list(range(PARTING_N))
    n_loose = PARTING_FRAME[loose].select("b", "c").n_unique()
    for part in rows:
        assert PARTING_FRAME[part].select("b", "c").n_unique() + n_loose <= 18


@on_engines
def test_a_missing_category_splits_like_any_value(plan, monkeypatch):
    found, rows, loose = parted(plan, ["b", "c"], monkeypatch, 24, missing="category")
    assert ([key.name for key in found.keys], found.loose, loose) == (["b", "c"], False, [])
    assert sorted(row for part in rows for row in part) == list(range(PARTING_N))


@on_engines
def test_one_value_that_is_too_large(plan, monkeypatch):
    with pytest.raises(DataError, match="nor do they fall into parts that fit"):
        parted(plan, ["b", "c"], monkeypatch, 4)


def test_parts_are_of_much_the_same_size():
    sizes = np.array([[bucket, 1] for bucket in range(3, 13)])
    assert list(parting._packed(sizes, 6)) == [(0, 8), (8, parting.N_BUCKETS)]
    assert list(parting._packed(sizes, 10)) == [(0, parting.N_BUCKETS)]
    assert list(parting._packed(np.array([[1, 4], [5, 4], [9, 1]]), 5)) == [(0, 5), (5, parting.N_BUCKETS)]


# Arrays and tables in files: the same values, nothing left behind, and a full disk said in words.
