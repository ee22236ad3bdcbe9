"""Cells by the levels of another variable, with and without wildcards."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import files, quiet
from sdckit import as_cells
from sdckit.cells import crosstab as module
from sdckit.cells.crosstab import crosstab, wildcard_crosstab
from sdckit.errors import DataError


def tables(cells, table):
    """Counters of level codes, one per record."""
    per_cell = [
        Counter(dict(zip(table.level[a:b].tolist(), table.count[a:b].tolist(), strict=True)))
        for a, b in zip(table.edges[:-1], table.edges[1:], strict=True)
    ]
    return [per_cell[cell] for cell in cells.table.of_row]


@given(files(max_keys=3, max_rows=30), st.data())
def test_agrees_with_counting(file, data):
    n = len(file.rows)
    values = [1, *data.draw(st.lists(st.sampled_from([1, 2, 3, None]), min_size=n - 1, max_size=n - 1))]
    with quiet():
        cells = as_cells(
            file.frame(s=pl.Series(values, dtype=pl.Int64)), keys=file.keys, missing=file.missing
        )
    coded = cells.code("s")
    code_of = dict(zip(values, coded.codes().tolist(), strict=True))
    found = crosstab(cells, "s")
    assert found.missing == (coded.span if None in values else -1)
    both = [(found, [False] * len(file.keys))]
    if cells.has_wildcards:
        both.append((wildcard_crosstab(cells, "s"), file.wild))
    for made, wild in both:
        expected = [Counter(code_of[v] for v in group) for group in brute.classes(file.rows, values, wild)]
        assert tables(cells, made) == expected
        assert (made.count > 0).all()


def test_a_variable_without_any_value():
    frame = pl.DataFrame({"a": [1, 2, 1], "s": pl.Series([None] * 3, dtype=pl.String)})
    cells = as_cells(frame, keys=["a"])
    for made in (crosstab, wildcard_crosstab):
        with pytest.raises(
            DataError, match="sensitive variable 's' has no value in any record; leave it out"
        ):
            made(cells, "s")


def test_a_table_too_large_for_wildcards(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 5)
    cells = as_cells(pl.DataFrame({"a": [1, None, 2], "s": [1, 2, 3]}), keys=["a"])
    with pytest.raises(
        DataError, match=r"3 cells by 3 levels of 's' are too many .* missing='category' or recode"
    ):
        wildcard_crosstab(cells, "s")


@pytest.mark.parametrize("at_once", [1, 40, 90, 400])
def test_levels_are_matched_some_at_a_time(at_once, monkeypatch):
    """Cells and levels may be too many for one pass; what is counted is the same."""
    rng = np.random.default_rng(5)
    columns = {
        name: pl.Series(rng.integers(0, 4, 300)).set(pl.Series(rng.random(300) < 0.2), None) for name in "ab"
    }
    frame = pl.DataFrame({**columns, "s": rng.choice([3, 5, 8, 13, 21], 300)})
    whole = wildcard_crosstab(as_cells(frame, keys=["a", "b"]), "s")
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    found = wildcard_crosstab(as_cells(frame, keys=["a", "b"]), "s")
    for name in ("edges", "level", "count"):
        assert getattr(found, name).tolist() == getattr(whole, name).tolist()
    assert whole.count.sum() > 300


def test_many_levels():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"a": rng.integers(0, 300, 5000), "s": rng.integers(0, 2**40, 5000)})
    cells = as_cells(frame, keys=["a"])
    found = crosstab(cells, "s")
    assert found.count.sum() == 5000
    assert np.diff(found.edges).sum() == frame.group_by("a", "s").len().height


def test_it_is_counted_once_for_all_who_ask():
    frame = pl.DataFrame({"a": [1, None, 2], "s": [1, 2, 3]})
    cells = as_cells(frame, keys=["a"])
    assert crosstab(cells, "s") is crosstab(cells.as_categories(), "s")
    assert wildcard_crosstab(cells, "s") is wildcard_crosstab(cells, "s")
    assert crosstab(cells, "s") is not wildcard_crosstab(cells, "s")


@pytest.mark.parametrize("wide", [True, False])
def test_more_levels_than_are_matched_at_once(wide):
    rng = np.random.default_rng(3)
    keys = {f"k{j}": pl.Series(rng.integers(0, 3, 400)).cast(pl.Int64) for j in range(3)}
    gone = {name: pl.when(pl.Series(rng.random(400) > 0.2)).then(pl.col(name)).alias(name) for name in keys}
    frame = (
        pl.DataFrame(keys).with_columns(*gone.values()).with_columns(s=pl.Series(rng.integers(0, 21, 400)))
    )
    cells = as_cells(frame, keys=[*keys])
    if wide:
        cells = replace(cells, table=replace(cells.table, words=None, layout=None))
    rows, values = frame.select(*keys).rows(), frame["s"].to_list()
    expected = [Counter(group) for group in brute.classes(rows, values, [True] * 3)]
    assert tables(cells, wildcard_crosstab(cells, "s")) == expected
