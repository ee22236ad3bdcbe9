"""Cells of fewer keys merged from cells: the same as tabulating anew."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from draw import ALPHAS, files, quiet
from sdckit import as_cells
from sdckit.cells import margins
from sdckit.cells.margins import margin_of
from sdckit.errors import DataError


@given(
    files(min_keys=2, max_keys=5),
    st.sampled_from(ALPHAS),
    st.sampled_from([{"weight": "w"}, {"sampling_fraction": 0.2}, {}]),
    st.data(),
)
def test_as_if_tabulated_anew(file, alpha, known, data):
    dropped = data.draw(st.sets(st.sampled_from(file.keys), min_size=0, max_size=len(file.keys) - 1))
    kept = [key for key in file.keys if key not in dropped]
    rules = {key: file.missing[key] for key in kept}
    with quiet():
        whole = as_cells(file.frame(), keys=file.keys, missing=file.missing, alpha=alpha, **known)
        anew = as_cells(file.frame(), keys=kept, missing=rules, alpha=alpha, **known)
    margin = margin_of(whole).without(*dropped)
    columns, size = margin.frequencies(), margin.size
    assert set(columns) == set(anew.columns)
    names = sorted(columns)
    found = sorted(zip(size.tolist(), *(columns[name].tolist() for name in names), strict=True))
    expected = sorted(
        zip(anew.table.size.tolist(), *(anew.columns[name].tolist() for name in names), strict=True)
    )
    np.testing.assert_allclose(np.array(found, float), np.array(expected, float), rtol=1e-9)


def test_persons_cannot_be_counted_from_cells():
    frame = pl.DataFrame({"a": [1, 2], "b": [1, 1], "p": [1, 1]})
    with quiet():
        cells = as_cells(frame, keys=["a", "b"], person="p")
    with pytest.raises(DataError, match="distinct persons cannot be counted from cells"):
        margin_of(cells)


@pytest.mark.parametrize("span", [margins.TABLE_SPAN, 1])
@given(files(min_keys=2, levels=5), st.data())
def test_coarser_as_if_recoded(span, file, data):
    key = data.draw(st.sampled_from(file.keys))
    with pytest.MonkeyPatch.context() as patch, quiet():
        patch.setattr(margins, "TABLE_SPAN", span)
        cells = as_cells(file.frame(), keys=file.keys, missing=file.missing, weight="w")
        codes, size = cells.level_sizes(key)
        codes = codes[codes < cells.levels[file.keys.index(key)].span]
        assert size.sum() == cells.n
        found = margin_of(cells).coarser(key, codes, codes[np.arange(len(codes)) // 2 * 2])
        columns = found.frequencies()
        frame = file.frame().with_columns((pl.col(key).rank("dense").cast(pl.Int64) - 1) // 2)
        anew = as_cells(frame, keys=file.keys, missing=file.missing, weight="w")
    names = sorted(columns)
    ours = sorted(zip(*(columns[name].tolist() for name in names), strict=True))
    theirs = sorted(zip(*(anew.columns[name].tolist() for name in names), strict=True))
    np.testing.assert_allclose(np.array(ours, float), np.array(theirs, float), rtol=1e-9)


def test_cells_of_more_bits_than_a_word():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {f"k{j}": rng.integers(0, 2**40, 4)[rng.integers(0, 4, 30)] % (2**31 + j) for j in range(3)}
    )
    frame = frame.with_columns(pl.when(pl.int_range(30) % 7 > 0).then("k0").alias("k0"))
    with quiet():
        whole, anew = as_cells(frame, keys=frame.columns), as_cells(frame, keys=["k0", "k2"])
    margin = margin_of(whole).without("k1")
    assert sorted(zip(margin.frequencies()["sample_frequency"], margin.size, strict=True)) == sorted(
        zip(anew.columns["sample_frequency"], anew.table.size, strict=True)
    )


def test_the_whole_has_the_frequencies_of_the_cells():
    frame = pl.DataFrame({"a": [1, 1, None, 2], "b": [1, 2, 1, None]})
    with quiet():
        cells = as_cells(frame, keys=["a", "b"])
    found = margin_of(cells).frequencies()["sample_frequency"]
    assert found.tolist() == cells.columns["sample_frequency"].tolist()
