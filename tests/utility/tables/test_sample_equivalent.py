"""The expected distance of a sample against enumeration and simulation; the smallest sample; what else is as near."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from scipy.stats import hypergeom

from releases import original
from sdckit import tabular_utility
from sdckit.utility.tables.tabular_utility import CellSizes, other_sample_equivalent, redraw_equivalent, sizes_of

NAMES = ["sex", "age", "region", "ill"]


def sizes(frame, ways=2):
    tables = [
        frame.group_by(names).len()["len"].to_numpy().astype(np.int64) for names in itertools.combinations(NAMES, ways)
    ]
    return CellSizes.of_tables(frame.height, [sizes_of(table) for table in tables])


def test_against_the_whole_distribution():
    counts = np.array([7, 7, 1, 0, 25, 60])
    found = CellSizes.of_tables(100, [sizes_of(counts)])
    for m in (1, 2, 9, 50, 99, 100):
        x = np.arange(m + 1)
        expected = sum(np.abs(x / m - c / 100) @ hypergeom.pmf(x, 100, c, m) for c in counts) / 2
        assert found.expected_distance(m) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("share", "draws"), [(0.01, 300), (0.1, 60), (0.4, 20), (0.9, 20)])
def test_against_samples(share, draws):
    everybody = original(3000)
    m = round(share * everybody.height)
    drawn = [everybody.sample(m, seed=seed) for seed in range(draws)]
    scores = [each["k_marginal"] for each in tabular_utility(everybody, drawn, variables=NAMES, numeric=[]).per_release]
    assert 1000 * (1 - sizes(everybody).expected_distance(m)) == pytest.approx(np.mean(scores), abs=2)


@pytest.mark.parametrize("ways", [1, 3])
def test_the_smallest_sample_that_is_as_near(ways):
    found = sizes(original(400), ways)
    distances = [found.expected_distance(m) for m in range(1, 401)]
    assert all(np.diff(distances) < 1e-12)
    for wanted in (0.3, 0.05, 0.004, 0.0):
        first = next(m for m, distance in enumerate(distances, 1) if distance <= wanted)
        assert found.equivalent(wanted) == first / 400


def test_large_files():
    counts = np.array([600_000_000, 1_400_000_000, 1])
    found = CellSizes.of_tables(int(counts.sum()), [sizes_of(counts)])
    assert found.expected_distance(1_000_000) == pytest.approx(np.sqrt(0.3 * 0.7 / 1e6) * np.sqrt(2 / np.pi), rel=1e-2)


def test_what_a_redraw_and_another_sample_reach():
    files = [original(1000, seed=seed) for seed in range(16)]
    for n in (1000, 300):
        redraws = [file.sample(n, with_replacement=True, seed=1) for file in files]
        samples = [file[:n] for file in [*files[1:], files[0]]]
        for released, about in ((redraws, redraw_equivalent(1000, n)), (samples, other_sample_equivalent(1000, n))):
            equivalents = [
                tabular_utility(*pair, variables=["age", "region", "ill"], bins={"age": 8}).sample_equivalent
                for pair in zip(files, released, strict=True)
            ]
            assert np.mean(equivalents) == pytest.approx(about, abs=0.05)
    result = tabular_utility(files[0], pl.concat([files[0]] * 2), variables=NAMES)
    assert result.redraw_equivalent == pytest.approx(2 / 3)
    assert result.other_sample_equivalent == pytest.approx(2 / 5)
