from __future__ import annotations

import numpy as np
import pytest

from sdckit.cells.record_sums import bootstrap_intervals, figures_of_groups, leading, told_figures
from sdckit.result import FileFigure

TOLD = {
    "risk": np.array([1.0, 0.5, np.nan, 0.25]),
    "hit": np.array([True, False, True, True]),
    "releases": np.array([[1.0, 0.0, 1.0, np.nan], [0.0, 0.0, 1.0, np.nan]]),
}
GROUP = np.array([0, 0, 1, 1])


def groups(figure):
    return figures_of_groups([figure], TOLD.__getitem__, GROUP, 2)["a"].tolist()


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (FileFigure("a", "risk"), [0.75, 0.25]),
        (FileFigure("a", "risk", "sum"), [1.5, 0.25]),
        (FileFigure("a", "risk", "max"), [1.0, 0.25]),
        (FileFigure("a", "risk", "min"), [0.5, 0.25]),
        (FileFigure("a", "risk", below=0.6), [0.5, 1.0]),
        (FileFigure("a", "risk", "sum", above=0.4), [2.0, 0.0]),
        (FileFigure("a", "risk", among="hit"), [1.0, 0.25]),
        (FileFigure("a", "releases"), [0.25, 1.0]),
    ],
)
def test_a_figures_of_groups(figure, expected):
    assert groups(figure) == expected


def test_a_group_without_anything_known_has_no_figure():
    told = {"risk": np.array([np.nan, np.nan, 1.0])}.__getitem__
    for how in ("mean", "sum", "min", "max"):
        found = figures_of_groups([FileFigure("a", "risk", how)], told, np.array([0, 0, 1]), 2)["a"]
        assert np.isnan(found[0])
        assert found[1] == 1.0


def test_groups_are_sorted_by_the_first_figure_of_risk():
    declared = (FileFigure("guess", "g", higher="reference"), FileFigure("level", "f", "min", higher="safer"))
    assert leading(declared).name == "level"
    assert told_figures((*declared, FileFigure("dis"))) == declared


def test_intervals_are_those_of_the_mean_and_its_sum():
    rng = np.random.default_rng(1)
    told = {"risk": rng.random(400)}.__getitem__
    figures = (FileFigure("mean", "risk"), FileFigure("sum", "risk", "sum"), FileFigure("max", "risk", "max"))
    found = bootstrap_intervals(figures, told, np.ones(400, np.int64), np.random.default_rng(2))
    assert found.keys() == {"mean", "sum"}
    low, high = found["mean"]
    error = 1.96 * told("risk").std() / 20
    assert high - low == pytest.approx(2 * error, rel=0.25)
    assert found["sum"] == pytest.approx((400 * low, 400 * high))


def test_households_widen_an_interval_of_equal_members():
    home = np.repeat(np.arange(40), 10)
    told = {"risk": np.random.default_rng(1).random(40)[home]}.__getitem__
    figures, size = (FileFigure("mean", "risk"),), np.ones(400, np.int64)
    single = bootstrap_intervals(figures, told, size, np.random.default_rng(2))["mean"]
    whole = bootstrap_intervals(figures, told, size, np.random.default_rng(2), (home, 40))["mean"]
    assert whole[1] - whole[0] == pytest.approx(np.sqrt(10) * (single[1] - single[0]), rel=0.3)
    assert bootstrap_intervals((), told, size, np.random.default_rng(2)) == {}
