"""Wildcard matches: packed cells and cells of many words give the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draw import ALPHAS, files, quiet
from sdckit import as_cells
from sdckit.cells.frequencies import wildcard_matches


def matched(cells, table, alpha):
    found = wildcard_matches(
        table,
        size=table.size.astype(float),
        weight=table.weight,
        missing_codes=[level.span for level in cells.levels],
        wild=[
            rule == "wildcard" and gone > 0 for rule, gone in zip(cells.rules, cells.n_missing, strict=True)
        ],
        alpha=alpha,
    )
    return np.stack([found.size, found.weight])


@given(files(wide=False, max_rows=40), st.sampled_from(ALPHAS))
def test_both_paths_agree(file, alpha):
    with quiet():
        cells = as_cells(file.frame(), keys=file.keys, weight="w", missing=file.missing)
    if not cells.has_wildcards:
        return
    packed = matched(cells, cells.table, alpha)
    spread = matched(cells, replace(cells.table, words=None, layout=None), alpha)
    np.testing.assert_allclose(packed, spread, rtol=1e-12, atol=1e-12)


@given(files(wide=True, min_keys=4, max_keys=6, max_rows=12))
def test_wide_files_reach_the_other_path(file):
    with quiet():
        cells = as_cells(file.frame(), keys=file.keys)
    varied = sum(len({row[j] for row in file.rows} - {None}) > 1 for j in range(len(file.keys)))
    if varied >= 3:
        assert cells.table.words is None
    if varied == 0:
        assert cells.table.words is not None


def test_more_than_64_wildcard_keys():
    rows = [[1] * 70, [None] * 35 + [1] * 35, [1] * 35 + [None] * 35, [2] * 70, [2] * 69 + [None]]
    frame = {f"k{j}": [row[j] for row in rows] for j in range(70)}
    with quiet():
        found = as_cells(pl.DataFrame(frame), keys=list(frame), alpha=0.5).columns["sample_frequency"]
    assert sorted(found.tolist()) == pytest.approx(sorted([2, 2.5, 2.5, 1.5, 2]))


def test_alpha_zero_counts_only_complete_matches():
    frame = pl.DataFrame({"a": [1, 1, None, None], "b": [1, None, 1, None]})
    with quiet():
        cells = as_cells(frame, keys=["a", "b"], alpha=0)
    # each incomplete record sees the complete one; the complete one sees only itself
    assert cells.columns["sample_frequency"][cells.table.of_row].tolist() == [1, 2, 2, 2]
