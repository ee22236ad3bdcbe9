"""Wildcard matches: packed cells and cells of many words give the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import ALPHAS, files, quiet
from sdckit import as_cells
from sdckit.cells import frequencies, frequencies as margins
from sdckit.cells.frequencies import margin_of, wildcard_matches
from sdckit.cells.packing import Tabulated
from sdckit.errors import DataError


def matched(cells, table, alpha):
    found = wildcard_matches(
        table,
        size=table.size.astype(float),
        weight=table.weight,
        missing_codes=[level.span for level in cells.levels],
        wild=[rule == "wildcard" and gone > 0 for rule, gone in zip(cells.rules, cells.n_missing, strict=True)],
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


@pytest.mark.parametrize("pairs", [True, False])
@given(file=files(wide=True, min_keys=3, max_keys=6, max_rows=40), alpha=st.sampled_from(ALPHAS))
def test_keys_of_several_words_agree_with_the_definition(pairs, file, alpha):
    with quiet(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequencies, "_pairs_are_faster", lambda *_: pairs)
        cells = as_cells(file.frame(), keys=file.keys, weight="w", missing=file.missing, alpha=alpha)
    f, big_f = brute.frequencies(file.rows, file.weights, file.wild, alpha)
    of_row = cells.table.of_row
    assert cells.columns["sample_frequency"][of_row].tolist() == pytest.approx(f)
    assert cells.columns["population_frequency"][of_row].tolist() == pytest.approx(big_f)


@given(st.integers(0, 2**32), st.integers(10, 45), st.sampled_from([0.02, 0.2, 0.7]), st.sampled_from(ALPHAS))
def test_many_keys_agree_with_the_definition(seed, n_keys, missing, alpha):
    rng = np.random.default_rng(seed)
    values, n = rng.integers(0, 10, (30, n_keys)), 30
    values[n // 2 :] = values[: n // 2]  # records that agree but for what is missing
    gone = rng.random((n, n_keys)) < missing
    rows = [tuple(None if g else int(v) for v, g in zip(*row, strict=True)) for row in zip(values, gone, strict=True)]
    frame = pl.DataFrame({f"k{j}": pl.Series([row[j] for row in rows], dtype=pl.Int64) for j in range(n_keys)})
    with quiet():
        cells = as_cells(frame, keys=frame.columns, alpha=alpha)
    f, _ = brute.frequencies(rows, [1.0] * n, [True] * n_keys, alpha)
    assert cells.columns["sample_frequency"][cells.table.of_row].tolist() == pytest.approx(f)


@pytest.mark.parametrize(("missing", "n"), [(0.002, 400), (0.2, 160)])
def test_pairs_and_bit_sets_agree_on_a_larger_file(monkeypatch, missing, n):
    """Sets of several words of 64 bits; where many patterns are missing every two of them are paired: of fewer rows."""
    rng = np.random.default_rng(5)
    values = rng.integers(0, 3, (n, 12)).astype(float)
    values[:, 3:] = 0
    values[:, 0] = rng.integers(0, 9, n) * 1e9
    values[rng.random(values.shape) < missing] = np.nan
    frame = pl.DataFrame({f"k{j}": (values[:, j] * (1 << 20)).tolist() for j in range(12)}).fill_nan(None)
    found = []
    for pairs in (True, False):
        monkeypatch.setattr(frequencies, "_pairs_are_faster", lambda *_, pairs=pairs: pairs)
        with quiet():
            cells = as_cells(frame, keys=frame.columns, alpha=0.5)
        found.append(matched(cells, replace(cells.table, words=None, layout=None, weight=np.ones(cells.n_cells)), 0.5))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
    assert found[0].max() > 10


def test_pairs_of_patterns_are_taken_where_they_are_few():
    assert frequencies._pairs_are_faster(4, 40, 1_000_000, 100_000)
    assert not frequencies._pairs_are_faster(3000, 40, 3000, 2900)
    assert not frequencies._pairs_are_faster(32, 40, 100_000, 40_000)


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


@pytest.mark.parametrize("pairs", [True, False])
def test_a_cell_without_any_key_counts_for_no_other(monkeypatch, pairs):
    values = {"a": [1, 1, None, None, 9], "b": [1, None, None, None, 9], "c": [2, 2, None, None, 9]}
    with quiet():
        cells = as_cells(pl.DataFrame(values).with_columns(w=1.0), keys=["a", "b", "c"], weight="w")
    monkeypatch.setattr(frequencies, "_pairs_are_faster", lambda *_: pairs)
    spread = matched(cells, replace(cells.table, words=None, layout=None), 1.0)
    assert spread.tolist() == matched(cells, cells.table, 1.0).tolist()
    assert cells.columns["sample_frequency"][cells.table.of_row].tolist() == [2, 2, 5, 5, 1]
    # of these the first counts a missing value of another, the others complete ones only
    assert cells.columns["strict_frequency"][cells.table.of_row].tolist() == [1, 2, 4, 4, 1]


def test_what_every_key_missing_means_under_several_rules():
    frame = pl.DataFrame({"sex": ["f", "f", None, None], "job": [1, None, None, None], "age": [3, 4, None, None]})
    rules = {"job": "category"}  # the other keys are wildcards
    with quiet():
        cells = as_cells(frame, keys=["sex", "job", "age"], missing=rules)
    # the blank rows agree with the second record's missing job, and count for it nevertheless no more than one
    assert cells.columns["sample_frequency"][cells.table.of_row].tolist() == [1, 1, 3, 3]


def test_strata_are_no_keys():
    codes = [np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 0, 1]), np.array([0, 0, 0, 1, 1])]
    table = Tabulated(np.arange(5, dtype=np.int32), np.ones(5, np.int64), None, codes, None, None)
    found = wildcard_matches(
        table, size=np.ones(5), weight=np.zeros(5), missing_codes=[1, 1, 2], wild=[True, True, False], alpha=1.0,
        n_strata=1,
    )  # fmt: skip
    assert found.size.tolist() == [1, 2, 1, 0, 1]
    assert found.complete.tolist() == [0, 1, 1, 0, 1]


def test_with_one_key_a_missing_value_matches_as_in_sdcmicro():
    with quiet():
        cells = as_cells(pl.DataFrame({"a": [1, 2, None]}), keys=["a"])
    assert cells.columns["sample_frequency"][cells.table.of_row].tolist() == [2, 2, 3]
    assert cells.count_resting([2]) == [2]
    assert cells.count_helped() == 2


def test_alpha_zero_counts_only_complete_matches():
    frame = pl.DataFrame({"a": [1, 1, None, None], "b": [1, None, 1, None]})
    with quiet():
        cells = as_cells(frame, keys=["a", "b"], alpha=0)
    # each incomplete record sees the complete one; the complete one sees only itself
    assert cells.columns["sample_frequency"][cells.table.of_row].tolist() == [1, 2, 2, 2]


# Cells of fewer keys merged from cells: the same as tabulating anew.


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
    expected = sorted(zip(anew.table.size.tolist(), *(anew.columns[name].tolist() for name in names), strict=True))
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
    frame = pl.DataFrame({f"k{j}": rng.integers(0, 2**40, 4)[rng.integers(0, 4, 30)] % (2**31 + j) for j in range(3)})
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
