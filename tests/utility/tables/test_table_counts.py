"""Tables of several files: written out in full or grouped, the same cells and counts."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from sdckit.utility.tables import table_counts
from sdckit.utility.tables.table_counts import (
    STATISTICS,
    count_levels,
    cross,
    cross_from,
    differences,
    prefix_words,
    table_statistics,
)


def drawn(levels, sizes=(60, 35, 0), seed=0):
    rng = np.random.default_rng(seed)
    return [[rng.integers(0, width, n).astype(np.int32) for n in sizes] for width in levels]


def counted(columns, file):
    return Counter(zip(*(column[file].tolist() for column in columns), strict=True))


@pytest.mark.parametrize("levels", [(3,), (4, 5), (2, 3, 6)])
@pytest.mark.parametrize("dense", [True, False])
def test_counts(levels, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(table_counts, "_is_dense", lambda shape, n: False)
    columns = drawn(levels)
    found = cross(columns, levels)
    cells = list(zip(*(codes.tolist() for codes in found.codes), strict=True))
    assert cells == sorted(set(cells))
    for file, counts in enumerate(found.counts):
        assert {cell: count for cell, count in zip(cells, counts.tolist(), strict=True) if count} == counted(
            columns, file
        )
    complete = found.complete()
    kept = [cell for cell in cells if all(cell)]
    assert list(zip(*(codes.tolist() for codes in complete.codes), strict=True)) == kept
    assert complete.counts.sum() == sum(n for cell, n in zip(cells, found.counts.sum(0), strict=True) if all(cell))


def test_too_many_cells_are_grouped():
    wide = [70_000, 70_000]
    columns = [[np.array([5, 69_999], np.int32), np.array([5], np.int32)] for _ in wide]
    assert prefix_words(columns, wide) is None
    found = cross(columns, wide)
    assert found.place is None
    assert found.counts.tolist() == [[1, 1], [1, 0]]
    assert [codes.tolist() for codes in found.codes] == [[5, 69_999]] * 2


def test_shared_work_changes_nothing():
    columns = drawn((3, 4, 5))
    words = prefix_words(columns[:2], (3, 4))
    assert np.array_equal(cross_from(words, columns, (3, 4, 5)).counts, cross(columns, (3, 4, 5)).counts)


def test_levels_in_plain_python():
    codes = np.array([0, 2, 2], np.int32)
    out = np.zeros(3, np.int64)
    table_counts._count_one.py_func(codes, out)
    assert out.tolist() == count_levels(codes, 3).tolist() == [1, 0, 2]
    assert table_counts.count_pairs(codes, np.array([1, 0, 1], np.int32), (3, 2)).sum() == 3
    full = np.zeros(6, np.int64)
    table_counts._count_two.py_func(codes, np.array([1, 0, 1], np.int32), 2, full)
    assert full.tolist() == [0, 1, 0, 0, 1, 1]


# Statistics of a table against their formulas, written out cell by cell.


TABLES = [([50, 30, 20, 0], [20, 20, 5, 5]), ([3, 0, 7, 9, 1], [40, 2, 0, 60, 11]), ([1, 1], [2, 2])]


def by_formula(o, s):
    n, n_s = sum(o), sum(s)
    both = n + n_s
    c = n_s / both
    cells = [(a, b) for a, b in zip(o, s, strict=True) if a or b]
    shared = [(a, b) for a, b in cells if a and b]
    d = [b - a * n_s / n for a, b in cells]
    e = [c * (a + b) for a, b in cells]
    found = {"n_cells": len(cells), "df": len(cells) - 1, "df_g": len(shared) - 1}
    found["vw"] = sum(x * x / y for x, y in zip(d, e, strict=True))
    found["ft"] = 4 * sum((math.sqrt(b) - math.sqrt(a * n_s / n)) ** 2 for a, b in cells)
    sum_o, sum_s = (sum(column) for column in zip(*shared, strict=True))
    found["g"] = 2 * sum(b * math.log((b / sum_s) / (a / sum_o)) for a, b in shared)
    found["jsd"] = sum(p / 2 * math.log2(2 * p / (a / n + b / n_s)) for a, b in cells for p in (a / n, b / n_s) if p)
    found["mabsdd"] = sum(abs(x) for x in d) / n_s
    found["specks"] = found["mabsdd"] / 2
    found["wmabsdd"] = sum(abs(x) / math.sqrt(y) for x, y in zip(d, e, strict=True)) / math.sqrt(2 / math.pi)
    found["dbhatt"] = math.sqrt(max(0.0, 1 - sum(math.sqrt(a / n * b / n_s) for a, b in cells)))
    found["pmse"] = sum((a + b) * (b / (a + b) - c) ** 2 for a, b in cells) / both
    found["po50"] = sum(b if b / n_s > a / n else a for a, b in cells) / both - 0.5
    released = [b / (a + b) for a, b in cells for _ in range(b)]
    original = [b / (a + b) for a, b in cells for _ in range(a)]
    found["u"] = sum((x > y) + (x == y) / 2 for x in released for y in original)
    return found


@pytest.mark.parametrize(("o", "s"), TABLES[:2])
def test_formulas(o, s):
    found = table_statistics(np.array(o), np.array(s))
    expected = by_formula(o, s)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-12), name
    assert found["s_g"] == pytest.approx(expected["g"] / expected["df_g"])
    assert found["s_wmabsdd"] == pytest.approx(expected["wmabsdd"] / expected["df"])
    assert found["s_jsd"] == pytest.approx(8 * sum(s) * math.log(2) * expected["jsd"] / expected["df"])
    assert found["auc"] == pytest.approx(expected["u"] / sum(o) / sum(s))
    assert tuple(found) == STATISTICS


def test_equal_shares_are_exactly_nothing():
    found = table_statistics(np.array([1, 3, 9]), np.array([7, 21, 63]))
    assert all(found[name] == 0 for name in ("vw", "ft", "g", "jsd", "specks", "dbhatt", "s_pmse"))
    assert found["auc"] == 0.5


def test_nearly_equal_shares_keep_their_digits():
    o, s = np.array([10**9, 10**9]), np.array([10**9 + 1, 10**9 - 1])
    found = table_statistics(o, s)
    x = 5e-10  # relative difference: to second order JSD is x^2 / (2 ln 2) per unit of share
    assert found["jsd"] == pytest.approx(x**2 / (2 * math.log(2)), rel=1e-9)
    assert found["g"] == pytest.approx(4 * 10**9 * (2 * x) ** 2 / 2, rel=1e-6)


def test_nothing_in_common():
    found = table_statistics(np.array([4, 0]), np.array([0, 2]))
    assert (found["specks"], found["jsd"], found["dbhatt"], found["auc"]) == (1.0, 1.0, 1.0, 1.0)
    assert math.isnan(found["g"])
    assert math.isnan(found["df_g"])


def test_one_cell_and_no_record():
    single = table_statistics(np.array([4, 0]), np.array([2, 0]))
    assert (single["n_cells"], single["df"], single["vw"]) == (1.0, 0.0, 0.0)
    assert math.isnan(single["s_vw"])
    empty = table_statistics(np.array([4, 1]), np.array([0, 0]))
    assert empty["n_cells"] == 2
    assert all(math.isnan(empty[name]) for name in STATISTICS[1:])


def test_standardised_cells():
    z = differences(np.array([50, 50, 0]), np.array([20, 30, 0]))
    assert z.tolist() == pytest.approx([-5 / math.sqrt(70 / 3), 5 / math.sqrt(80 / 3), 0])


@pytest.mark.parametrize("n_s", [400, 2000, 6000])
def test_about_one_under_correct_synthesis(n_s):
    """S_JSD too, whatever the sizes: synthpop's is 3.16 and 0.63 where the files are five to one and one to five."""
    rng = np.random.default_rng(5)
    n = 2000
    o = rng.multinomial(n, [0.3, 0.2, 0.15, 0.1, 0.1, 0.08, 0.05, 0.02])
    found = [table_statistics(o, s) for s in rng.multinomial(n_s, o / n, 400)]
    for name in ("s_vw", "s_ft", "s_g", "s_jsd", "s_pmse"):
        assert np.mean([one[name] for one in found]) == pytest.approx(1, abs=0.12), name
    assert np.mean([one["s_wmabsdd"] for one in found]) == pytest.approx(1.067, abs=0.12)
