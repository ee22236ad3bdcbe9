"""Clusters of similar records, against the definition and against linkage by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from plans import on_frames
from releases import original, release, scenario
from sdckit import cluster_utility
from sdckit.errors import ColumnError, DataError
from sdckit.utility.propensities.cluster_utility import average_linkage, imbalance

FILES = original(), release()
VARIABLES = ["sex", "age", "region", "income"]


def measured(files=FILES, **options):
    given = {"variables": VARIABLES, "numeric": ["age", "income"], "n_clusters": 8}
    return cluster_utility(*files, **{**given, **options})


def slow_linkage(x, n_clusters):
    """Merge the two clusters with the smallest mean distance, again and again."""
    groups = [[i] for i in range(len(x))]
    apart = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
    while len(groups) > n_clusters:
        pairs = [(apart[np.ix_(a, b)].mean(), i, j) for i, a in enumerate(groups) for j, b in enumerate(groups[:i])]
        _, i, j = min(pairs)
        groups[j] += groups.pop(i)
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("n_clusters", [2, 3, 7])
def test_average_linkage(n_clusters):
    x = np.random.default_rng(n_clusters).normal(size=(20, 3))
    found = average_linkage(x, n_clusters)
    groups = {frozenset(np.flatnonzero(found == g).tolist()) for g in range(n_clusters)}
    assert groups == slow_linkage(x, n_clusters)


def test_the_formula():
    original_, released = np.array([3.0, 5.0, 0.0]), np.array([1.0, 5.0, 2.0])
    c = 8 / 16
    by_hand = sum((o + s) / 16 * (s / (o + s) - c) ** 2 for o, s in zip(original_, released, strict=True)) / 3
    assert imbalance(original_, released).sum() == pytest.approx(by_hand)


def test_the_distance():
    """Numbers in standard deviations, a different category counts 1, a gap is a variable of its own."""
    one = pl.DataFrame({"x": [0.0, 1.0, None, 9.0], "c": ["p", "q", "r", "p"], "d": ["u", "v", "u", "u"]})
    two = pl.DataFrame({"x": [0.5, None, 8.0, 7.5], "c": ["p", "r", "q", "q"], "d": ["u", "v", "v", "u"]})
    both = pl.concat([one, two])
    known = both["x"].drop_nulls().to_numpy()
    rows = []
    for x, c, d in both.rows():
        place = [0.0 if x is None else (x - known.mean()) / known.std(), float(x is None)]
        rows.append([*place, *((c == level) / math.sqrt(2) for level in "pqr"), float(d == "u")])
    groups = slow_linkage(np.array(rows), 3)
    counts = sorted((sum(i < 4 for i in group), sum(i >= 4 for i in group)) for group in groups)
    found = cluster_utility(one, two, n_clusters=3).clusters
    assert sorted(zip(found["original"], found["released"], strict=True)) == counts


@pytest.mark.parametrize("method", ["average", "kmeans"])
def test_figures_from_the_clusters(method):
    found = measured(method=method, seed=1)
    clusters = found.clusters
    assert (found.method, found.n_clusters, clusters.height) == (method, 8, 8)
    size = clusters["original"] + clusters["released"]
    assert (clusters["original"].sum(), clusters["released"].sum()) == (240, 240)
    assert found.cluster_utility == pytest.approx((size / 480 * (clusters["released"] / size - 0.5) ** 2).sum() / 8)
    assert clusters["added"].sum() == pytest.approx(found.cluster_utility)
    assert clusters["added"].is_sorted(descending=True)
    assert found.expected == pytest.approx(7 * 0.125 / 480 / 8)
    assert found.ratio == pytest.approx(found.cluster_utility / found.expected)


def test_different_records_that_are_few():
    found = measured(variables=["sex", "region"], numeric=[], n_clusters=50)
    cells = FILES[0].group_by("sex", "region").len().height
    assert found.n_clusters == cells
    assert found.notes["n_clusters"] == "there are fewer than 50 different records; each is a cluster"


def test_nothing_varies():
    files = pl.DataFrame({"k": ["u"] * 3}), pl.DataFrame({"k": ["u"] * 2})
    found = cluster_utility(*files)
    assert (found.cluster_utility, found.n_clusters) == (0.0, 1.0)
    assert math.isnan(found.ratio)
    assert found.notes["ratio"].startswith("no variable varies")


def test_several_releases_and_large_files(monkeypatch):
    found = measured((FILES[0], [FILES[1], FILES[0], FILES[1][:50]]))
    assert (found.m, found.method) == (3, "average")
    assert found.per_release[1]["cluster_utility"] == 0.0
    assert found.notes["released"].startswith("1 of 3")
    assert found.clusters["release"].unique().to_list() == [1, 2, 3]
    monkeypatch.setattr("sdckit.utility.propensities.cluster_utility.LARGEST", 400)
    assert measured().method == "kmeans"
    assert measured((FILES[0], FILES[1][:50])).method == "average"
    with pytest.raises(DataError, match="all pairs of 480 records"):
        measured(method="average")


def test_centres_placed_by_some_of_the_records(monkeypatch):
    """Far groups of records are found from a part of them, block by block."""
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 4, 900)
    x = pl.DataFrame({"x": groups * 100.0 + rng.random(900), "y": (groups % 2) * 100.0 + rng.random(900)})
    monkeypatch.setattr("sdckit.utility.propensities.cluster_utility.SAMPLE", 200)
    monkeypatch.setattr("sdckit.utility.propensities.cluster_utility.BLOCK", 70)
    found = cluster_utility(x[:500], x[500:], n_clusters=4, method="kmeans", seed=5)
    assert found.notes["method"].startswith("centres placed by 200 records drawn at random")
    size = (found.clusters["original"] + found.clusters["released"]).to_list()
    assert sorted(size) == sorted(np.bincount(groups).tolist())


@on_frames
@pytest.mark.parametrize("method", ["average", "kmeans"])
def test_on_every_engine(make, method):
    found = measured((make(FILES[0]), make(FILES[1])), method=method, seed=2)
    expected = measured(method=method, seed=2)
    assert found.cluster_utility == pytest.approx(expected.cluster_utility, rel=1e-12)


def test_the_order_of_records_does_not_matter():
    mixed = [frame.sample(fraction=1.0, shuffle=True, seed=1) for frame in FILES]
    for method in ("average", "kmeans"):
        one, two = (measured(files, method=method, seed=1) for files in (FILES, mixed))
        assert two.cluster_utility == pytest.approx(one.cluster_utility, rel=1e-12)


def test_aligned_files_have_no_ratio():
    for found in (measured(aligned=True), cluster_utility(*FILES, scenario=scenario(), id="pid")):
        assert found.cluster_utility > 0
        assert math.isnan(found.ratio)
        assert found.notes["ratio"].startswith("rows correspond")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_clusters": 1}, DataError, "n_clusters counts clusters; give a whole number of 2 or more"),
        ({"n_clusters": 2.0}, DataError, "n_clusters counts clusters; give a whole number"),
        ({"method": "ward"}, DataError, "method 'ward' is unknown; there are: average, kmeans"),
        ({"variables": ["sxe"], "numeric": None}, ColumnError, "did you mean 'sex'"),
    ],
)
def test_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        measured(**options)
