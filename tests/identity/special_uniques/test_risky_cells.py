"""The figures of A6, its records, plans, and what it refuses."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from draw import quiet
from sdckit import Scenario, as_cells, risky_cells
from sdckit.errors import ColumnError, DataError
from sdckit.identity.special_uniques import risky_cells as module, risky_cells as unsafe
from sdckit.identity.special_uniques.risky_cells import count_unsafe, identifying_sets

FRAME = pl.DataFrame(
    {"n": [1, 2, 3, 4, 5], "sex": ["f", "f", "m", "m", "m"], "job": ["a", "b", "a", None, "a"], "p": [1, 1, 2, 3, 4]}
)
KEYS = ["sex", "job"]


def test_figures_and_records():
    result = risky_cells(FRAME, keys=KEYS, id="n", prefix="r_")
    rows = [(row.variables, row.n_cells, row.n_unsafe, row.records) for row in result.table]
    assert rows == [(("sex",), 2, 0, 0), (("job",), 3, 2, 2), (("sex", "job"), 4, 3, 3)]
    assert (result.n, result.n_combinations, result.unsafe_cells) == (5, 3, {1: 2, 2: 3})
    assert (result.records_affected, result.variable_counts) == (3, {"sex": 3, "job": 5})
    assert result.records.to_dict(as_series=False) == {
        "n": [1, 2, 3, 4, 5],
        "r_n_unsafe": [1, 2, 0, 2, 0],
        "r_n_unsafe_sex": [1, 1, 0, 1, 0],
        "r_n_unsafe_job": [1, 2, 0, 2, 0],
    }
    assert result.table_figures["sex x job"] == {"n_cells": 4, "n_unsafe": 3, "records": 3}
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()


def test_thresholds_by_dimension_and_cells_given():
    cells = as_cells(FRAME, keys=KEYS)  # made for wildcards: a missing value is a category all the same
    result = risky_cells(cells, threshold={1: 2, 2: 1})
    assert [row.threshold for row in result.table] == [2, 2, 1]
    assert [row.n_unsafe for row in result.table] == [1, 2, 3]
    assert risky_cells(FRAME, keys=KEYS, max_dim=1, threshold=2).n_combinations == 2


def test_a_plan_has_the_same_figures_and_no_records():
    result = risky_cells(FRAME.lazy(), keys=KEYS)
    assert result.to_dict() == risky_cells(FRAME, keys=KEYS).to_dict()
    with pytest.raises(DataError, match="a plan was counted on its engine"):
        result.records  # noqa: B018


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6).filter(any))
def test_identification_levels_are_one_variable_of_each_nested_level(given_levels):
    levels = {f"v{i}": level for i, level in enumerate(given_levels)}
    used = sorted(set(given_levels) - {0})
    expected = {
        frozenset(chosen)
        for chosen in permutations([name for name, level in levels.items() if level], len(used))
        if all(levels[name] <= limit for name, limit in zip(chosen, used, strict=True))
    }
    found = identifying_sets(levels)
    assert {frozenset(one) for one in found} == expected
    assert len(found) == len(expected) > 0


def test_identification_levels_of_the_measure():
    frame = FRAME.with_columns(x=pl.Series([1, 1, 2, 2, 1]))
    result = risky_cells(frame, keys=[*KEYS, "x"], identification_levels={"sex": 1, "job": 2, "x": 2}, threshold={2: 1})
    assert [row.variables for row in result.table] == [("sex", "job"), ("sex", "x")]
    whole = risky_cells(frame, keys=[*KEYS, "x"])
    assert [row.n_unsafe for row in result.table] == [
        row.n_unsafe for row in whole.table if row.variables in {("sex", "job"), ("sex", "x")}
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"max_dim": 0}, DataError, "max_dim counts the variables"),
        ({"max_dim": True}, DataError, "max_dim counts the variables"),
        ({"max_dim": 1.5}, DataError, "max_dim counts the variables"),
        ({"threshold": 0}, DataError, "threshold counts records"),
        ({"threshold": 1.5}, DataError, "threshold counts records"),
        ({"threshold": {1: 1}}, DataError, "none is given for tables of 2 variables"),
        ({"identification_levels": {"sex": 1, "jobs": 1}}, ColumnError, "'jobs' is not one of the keys"),
        ({"identification_levels": {"sex": 1}}, ColumnError, "key 'job' has none"),
        ({"identification_levels": {"sex": 1, "job": -1}}, DataError, "identification_levels .* whole number"),
        ({"identification_levels": {"sex": 0, "job": 0}}, DataError, "all identification levels are 0"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        risky_cells(FRAME, keys=KEYS, **arguments)


def test_persons_and_too_many_tables():
    with pytest.raises(DataError, match="distinct persons cannot be counted from cells"):
        risky_cells(FRAME, scenario=Scenario(keys=["sex"], person="p"))
    wide = pl.DataFrame({f"k{j}": [j % 2, 1] for j in range(40)})
    with quiet(), pytest.raises(DataError, match=r"40 keys have \d+ combinations of up to 10"):
        risky_cells(wide, keys=wide.columns, max_dim=10)
    with quiet():
        assert risky_cells(wide, keys=wide.columns).n_combinations == sum(
            len(list(combinations(range(40), d))) for d in (1, 2, 3)
        )


def test_interrupted_threads_stop_at_their_table(monkeypatch):
    run, left = module.run, []

    def interrupted(function, items):
        if function.__name__ != "part":  # the codes are numbered in threads, too
            return run(function, items)
        left.append((function, items))
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        risky_cells(FRAME, keys=KEYS)
    ((part, items),) = left
    rows, marks = part(items[0])
    assert (rows, marks.any()) == ([], False)


def test_all_records_identical_and_one_record():
    with quiet():
        same = risky_cells(pl.DataFrame({"a": [1] * 5, "b": [2] * 5}), keys=["a", "b"])
        one = risky_cells(pl.DataFrame({"a": [1], "b": [2]}), keys=["a", "b"])
    assert (same.records_affected, sum(same.unsafe_cells.values())) == (0, 0)
    assert (one.records_affected, one.records["n_unsafe"].to_list()) == (1, [3])


# Small tables counted in place, hashed, and of more cells than a word can number.


@pytest.mark.parametrize(("direct", "most"), [(1 << 20, 1 << 62), (1, 1 << 62), (1, 4), (1 << 20, 4)])
def test_agrees_with_counting(monkeypatch, direct, most):
    monkeypatch.setattr(unsafe, "DIRECT", direct)
    monkeypatch.setattr(unsafe, "MOST", most)
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (4, 40)).astype(np.int32)
    size = rng.integers(1, 4, 40)
    variables, threshold = [0, 2, 3], 3
    marks = np.zeros((40, 5), np.int32)
    found = count_unsafe(codes, np.full(4, 3), size, variables, threshold, marks)
    counts: Counter = Counter()
    cell = [tuple(codes[variables, i].tolist()) for i in range(40)]
    for one, held in zip(cell, size.tolist(), strict=True):
        counts[one] += held
    rare = {one: held for one, held in counts.items() if held <= threshold}
    assert found == (len(counts), len(rare), sum(rare.values()))
    expected = [one in rare for one in cell]
    for j in range(5):
        assert marks[:, j].tolist() == ([0] * 40 if j == 1 else [int(hit) for hit in expected])


def test_more_cells_than_a_word_numbers():
    codes = np.tile(np.arange(50, dtype=np.int32), (12, 1))
    marks = np.zeros((50, 13), np.int32)
    assert count_unsafe(codes, np.full(12, 50), np.ones(50, np.int64), range(12), 1, marks) == (50, 50, 50)
