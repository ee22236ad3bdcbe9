"""Rounds that cover every key and pair once, and the figures they give beside margin by margin."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from draw import WIDE, quiet
from sdckit import as_cells
from sdckit.cells.frequencies import margin_of
from sdckit.identity.contributions import key_contributions as leaving_out
from sdckit.identity.contributions.coarsening import levels_of, smaller_key
from sdckit.identity.contributions.key_contributions import (
    Coarsened,
    Contribution,
    Figures,
    figures_of,
    is_packed,
    key_contributions,
    leave_out,
    limits_of,
    rank,
    rounds,
    suggest,
    takes_whole_cells,
)
from sdckit.numerics.wildcard_matches import wildcards as few_matches


@given(st.lists(st.floats(0, 12), min_size=1, max_size=12), st.sampled_from([1, 10**3, 10**6, 10**9]), st.booleans())
def test_every_key_and_pair_once(entropy, n_cells, pairs):
    found = rounds(entropy, n_cells, pairs=pairs)
    assert len(found) <= 3
    m, singles, twos = len(entropy), [], []
    for one in found:
        for key, first, partners in one.branches:
            singles += [key] if first else []
            twos += [frozenset((key, other)) for other in partners]
            assert not {key, *partners} & set(one.shared)
            assert one.shared
    assert sorted(singles) == (list(range(m)) if m > 1 else [])
    assert len(twos) == len(set(twos))
    assert set(twos) == (set(map(frozenset, combinations(range(m), 2))) if pairs and m > 2 else set())


@pytest.mark.parametrize("known", [{"weight": "w"}, {"sampling_fraction": 0.03}, {}])
@pytest.mark.parametrize("rule", [{"missing": "category"}, {}, {"alpha": 0.3}, {"missing": {"k1": "category"}}])
@pytest.mark.parametrize("few", [True, False], ids=["by NumPy", "by kernels"])
def test_the_same_as_margin_by_margin(monkeypatch, known, rule, few):
    monkeypatch.setattr(leaving_out, "FEW_CELLS", 10**9 if few else -1)
    monkeypatch.setattr(few_matches, "PAIRS", 10**12 if few else -1)
    monkeypatch.setattr(few_matches, "LOOKED_UP", 10**12)
    rng = np.random.default_rng(8)
    frame = pl.DataFrame({f"k{j}": rng.integers(0, 3 + 4 * j, 9000) for j in range(5)})
    frame = frame.with_columns(
        w=rng.uniform(9, 40, 9000),
        k2=pl.when(pl.int_range(9000) % 11 > 0).then("k2"),
        k1=pl.when(pl.int_range(9000) % 7 > 0).then(pl.col("k1").cast(str)),
        k4=pl.when(pl.int_range(9000) % 13 > 0).then("k4"),
    )
    keys = [f"k{j}" for j in range(5)]
    with quiet():
        cells = as_cells(frame, keys=keys, **rule, **known)
    levels = {key: levels_of(cells, key) for key in keys}
    groupings = {key: smaller_key(levels[key]) for key in keys}
    assert takes_whole_cells(cells) == (rule == {"missing": "category"})
    found = leave_out(cells, levels, groupings, k=(2, 4), pairs=True)
    wanted = {(): found.whole, **found.without}
    assert len(wanted) == 1 + 5 + 10
    for names, figures in wanted.items():
        margin = margin_of(cells).without(*names)
        columns, size = margin.frequencies(), margin.size
        slow = figures_of(columns, size, (2, 4), cells.n)
        assert (figures.uniques, figures.violations) == (slow.uniques, slow.violations)
        assert figures.risk == pytest.approx(slow.risk, rel=1e-12)
    assert set(found.coarser) == set(keys)
    for key, figures in found.coarser.items():
        coarse = margin_of(cells).coarser(key, levels[key].codes, groupings[key].codes(levels[key]))
        slow = figures_of(coarse.frequencies(), coarse.size, (2, 4), cells.n)
        assert (figures.uniques, figures.violations) == (slow.uniques, slow.violations)
        assert figures.risk == pytest.approx(slow.risk, rel=1e-12)


def test_a_file_of_incomplete_records_only():
    frame = pl.DataFrame({"a": [1, None, 2, None], "b": [None, 2, None, 3], "c": [1, 1, 2, 2]})
    with quiet():
        cells = as_cells(frame, keys=["a", "b", "c"])
        found = leave_out(cells, {key: levels_of(cells, key) for key in cells.keys}, {}, k=(2,), pairs=True)
    for names, figures in found.without.items():
        margin = margin_of(cells).without(*names)
        assert figures.uniques == figures_of(margin.frequencies(), margin.size, (2,), cells.n).uniques


def test_one_key_is_in_no_round():
    with quiet():
        cells = as_cells(pl.DataFrame({"a": [1, None, 2, 2]}), keys=["a"], alpha=0.5)
        found = leave_out(cells, {"a": levels_of(cells, "a")}, {}, k=(2,), pairs=True)
    assert (found.whole.uniques, found.whole.violations, found.without) == (0, {2: 1}, {})


def test_what_does_not_only_merge():
    frame = pl.DataFrame({"a": [1, None, 2], "b": [1, 2, 3]})
    with quiet():
        assert not takes_whole_cells(as_cells(frame, keys=["a", "b"]))
        assert takes_whole_cells(as_cells(frame, keys=["a", "b"], missing="category"))
        wide = pl.DataFrame({name: [0, WIDE, 2 * WIDE - 1] for name in "abc"})
        assert not takes_whole_cells(as_cells(wide, keys=["a", "b", "c"], missing="category"))
        assert not is_packed(as_cells(wide, keys=["a", "b", "c"], missing="category"))
        assert is_packed(as_cells(frame, keys=["a", "b"]))


def test_a_violation_is_below_k_by_more_than_rounding():
    assert limits_of((2, 3)).tolist() == [1 + 1e-9, 2 - 1e-9, 3 - 1e-9]


def test_more_codes_than_a_table_takes(monkeypatch):
    frame = pl.DataFrame({"a": [1, 2, 3, 4, 4, 6], "b": [1, 1, 1, 2, 2, 2]})
    with quiet():
        whole = key_contributions(frame, keys=["a", "b"]).to_dict()
        monkeypatch.setattr(leaving_out, "TABLE_SPAN", 1)
        assert key_contributions(frame, keys=["a", "b"]).to_dict() == whole


# The rows of A9, by hand.


WHOLE = Figures(10, 0.5, {2: 10, 3: 12})


def test_a_row():
    row = Contribution.of(("a", "b"), WHOLE, Figures(4, 0.25, {2: 4, 3: 9}), [1.0, 0.5])
    assert (row.uniques_saved, row.decides_alone, row.entropy_lost) == (6, 0.6, 1.5)
    assert row.suggestion == "without a and b, 6 of 10 sample uniques are gone: coarsen or drop it"
    done = suggest("drop", row.variables, row, WHOLE)
    assert (done.saved_per_bit, done.violations_saved, done.risk_saved) == (4, {2: 6, 3: 3}, 0.25)
    assert done.sentence == "leave out a and b: 6 of 10 sample uniques gone for 1.50 bits of information"


def test_no_uniques_leave_no_share():
    nobody = Figures(0, 0.1, {})
    row = Contribution.of(("a",), nobody, Figures(0, 0.1, {}), [0.0])
    assert math.isnan(row.decides_alone)
    assert row.suggestion == "a makes nobody unique"
    assert math.isnan(suggest("drop", ("a",), row, nobody).saved_per_bit)


def test_the_ranking_is_by_what_is_saved_per_bit():
    steps = [
        Coarsened("pairs", 8, 4, 10 - saved, saved, {2: 0, 3: 0}, 0.5 - risk, lost)
        for saved, risk, lost in ((4, 0.1, 2.0), (4, 0.1, 1.0), (0, 0.1, 1.0), (0, 0.0, 0.0), (0, 0.2, 1.0))
    ]
    ranked = sorted((suggest("coarsen", (str(i),), one, WHOLE) for i, one in enumerate(steps)), key=rank)
    assert [one.variables[0] for one in ranked] == ["1", "0", "4", "2", "3"]
    assert (
        ranked[0].sentence
        == "coarsen 1 (pairs, 8 to 4 levels; or group codes that belong together): 4 of 10 sample uniques gone for "
        "1.00 bits of information"
    )
    assert ranked[0].saved_per_bit == pytest.approx(4)
