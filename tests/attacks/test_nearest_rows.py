"""Nearest rows by brute force, and ties that are drawn evenly."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from attacks.made import CONTROL, ORIGINAL, OTHERS
from sdckit.attacks import nearest_rows
from sdckit.attacks.attack_files import AttackFiles
from sdckit.attacks.nearest_rows import draw_nearest, encode_files, some_of
from sdckit.cells.pair import open_pair
from sdckit.numerics.search.neighbours import pairwise, prepare

NAMES = ORIGINAL.columns


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("names", [NAMES, ["größe", "age in years"], ["True"]])
def test_the_nearest_are_drawn(names, k, monkeypatch):
    monkeypatch.setattr(nearest_rows, "LISTED", 500)
    files = AttackFiles(open_pair(ORIGINAL, OTHERS, CONTROL, categories={"x": names}, attack=True))
    own, base, _ = encode_files(files, names, [name for name in names if files.ordered(name)], 0)
    rows = draw_nearest(prepare(base), base, own, k, np.random.default_rng(1))
    away = pairwise(own, base)
    assert rows.shape == (300, k)
    drawn = np.sort(np.take_along_axis(away, rows, axis=1), axis=1)
    assert drawn == pytest.approx(np.sort(away, axis=1)[:, :k], abs=1e-9)
    assert all(len(set(row)) == k for row in rows.tolist())


def test_ties_have_the_same_chance():
    base = pl.DataFrame({"x": [0.0, 1.0, 1.0, 3.0, 1.0]})
    asked = pl.DataFrame({"x": [1.0] * 3000 + [0.4] * 3000})
    files = AttackFiles(open_pair(asked, base, None, categories={"x": ["x"]}, attack=True))
    own, release = encode_files(files, ["x"], ["x"], 0)
    rows = draw_nearest(prepare(release), release, own, 1, np.random.default_rng(1))[:, 0]
    assert np.bincount(rows[:3000], minlength=5)[[1, 2, 4]] / 3000 == pytest.approx(
        np.full(3, 1 / 3), abs=0.05
    )
    assert set(rows[3000:].tolist()) == {0}
    two = draw_nearest(prepare(release), release, own, 2, np.random.default_rng(1))[3000:]
    assert (two == 0).any(axis=1).all()  # the closer one is always there
    assert np.bincount(two[two > 0])[[1, 2, 4]] / 3000 == pytest.approx(np.full(3, 1 / 3), abs=0.05)


def test_missing_is_equal_to_missing():
    known = pl.DataFrame({"x": [None, 5.0], "y": ["a", None]})
    release = pl.DataFrame({"x": [1.0, None, 9.0], "y": ["a", "a", None]})
    files = AttackFiles(open_pair(known, release, None, categories={"x": ["x", "y"]}, attack=True))
    own, base = encode_files(files, ["x", "y"], ["x"], 0)
    assert pairwise(own, base).tolist() == [[0.5, 0.0, 1.0], [0.75, 1.0, 0.25]]


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 2), (50, 3), (9, 9)])
def test_some_of_many_are_different_and_even(n, k):
    found = some_of(n, k, 4000, np.random.default_rng(1))
    assert found.shape == (4000, k)
    assert all(len(set(row)) == k for row in found.tolist())
    share = np.bincount(found.ravel(), minlength=n) / 4000
    assert share == pytest.approx(np.full(n, k / n), abs=0.05)
