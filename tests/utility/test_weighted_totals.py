"""Totals, means and counts: each file with its own weights, against sums made record by record."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import quiet
from plans import on_engines
from sdckit.cells.pair import open_files
from sdckit.errors import DataError
from sdckit.utility.weighted_totals import moved_figures


def survey(seed: int, n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    pay = [None if rng.random() < 0.1 else float(value) for value in rng.lognormal(3, 1, n).round(2)]
    return pl.DataFrame({"region": rng.choice(["n", "s", "w", "e"], n), "pay": pay, "w": rng.uniform(1, 9, n).round(2)})


def by_hand(frame: pl.DataFrame) -> dict[tuple[str, str, str], float]:
    known = [(row["pay"], row["w"]) for row in frame.iter_rows(named=True) if row["pay"] is not None]
    total = math.fsum(pay * weight for pay, weight in known)
    figures = {("pay", "", "total"): total, ("pay", "", "mean"): total / math.fsum(weight for _, weight in known)}
    for row in frame.iter_rows(named=True):
        place = ("region", row["region"], "count")
        figures[place] = figures.get(place, 0.0) + row["w"]
    return figures


@pytest.mark.parametrize("seed", range(4))
def test_each_file_counts_with_its_own_weights(seed: int) -> None:
    original, released = survey(seed), survey(seed + 100)
    before, after = by_hand(original), by_hand(released)
    moved = moved_figures(open_files(original, released), weight="w", numeric=["pay"], keys=["region"])
    assert [figure.figure for figure in moved] == ["total", "mean", "count", "count", "count"]
    for figure in moved:
        place = (figure.variable, figure.level, figure.figure)
        assert figure.change == pytest.approx(after[place] / before[place] - 1)


def test_the_largest_share_of_a_record_is_that_of_either_file() -> None:
    original = pl.DataFrame({"pay": [1.0, 1.0, 2.0], "w": [1.0, 1.0, 1.0]})
    released = pl.DataFrame({"pay": [1.0, 1.0, 3.0], "w": [1.0, 1.0, 1.0]})
    total, _ = moved_figures(open_files(original, released), weight="w", numeric=["pay"], keys=[])
    assert (total.change, total.largest, total.n) == (0.25, 0.75, 3)


def test_the_release_that_moves_most_counts() -> None:
    original = survey(1)
    releases = [original.with_columns(w=pl.col("w") * factor) for factor in (1.1, 0.5, 1.2)]
    total, mean = moved_figures(open_files(original, releases), weight="w", numeric=["pay"], keys=[])
    assert (total.change, mean.change) == (pytest.approx(-0.5), pytest.approx(0.0))


def test_without_weights_only_means_of_files_of_other_size() -> None:
    original = survey(1)
    moved = moved_figures(open_files(original, original.head(200)), weight=None, numeric=["pay"], keys=["region"])
    assert [figure.figure for figure in moved] == ["mean"]


def test_without_weights_every_record_counts_one() -> None:
    original, released = survey(1), survey(101)
    ones = pl.lit(1.0).alias("w")
    files = open_files(original, released), open_files(original.with_columns(ones), released.with_columns(ones))
    plain, weighted = (
        moved_figures(pair, weight=weight, numeric=["pay"], keys=["region"])
        for pair, weight in zip(files, (None, "w"), strict=True)
    )
    assert plain == weighted


def test_numbers_are_those_collected_and_not_those_recoded_like_the_release() -> None:
    original = survey(2)
    released = original.with_columns(pay=pl.when(pl.col("pay") > 30).then(30.0).otherwise("pay"))
    scenario = sdc.Scenario(keys=["region"], weight="w", numeric=["pay"], aligned=True)
    with pytest.warns(sdc.errors.SdcWarning):
        utility = sdc.assess(original, released, scenario=scenario, seed=1).utility
    total = next(figure for figure in utility.moved if figure.figure == "total")
    before, after = by_hand(original), by_hand(released)
    assert total.change == pytest.approx(after["pay", "", "total"] / before["pay", "", "total"] - 1)
    assert total.change < -0.05


def test_a_plan_brings_its_weights() -> None:
    original, released = survey(3), survey(4)
    scenario = sdc.Scenario(keys=["region"], weight="w", numeric=["pay"])
    frames, plans = (
        sdc.assess(*files, scenario=scenario, seed=1).utility.moved
        for files in ((original, released), (original.lazy(), released.lazy()))
    )
    assert [figure.change for figure in frames] == pytest.approx([figure.change for figure in plans])


def test_a_plan_that_is_brought_and_recoded_here_has_the_weights_of_memory() -> None:
    original = survey(5).with_columns(age=pl.int_range(pl.len()) * 7 % 80, pid=pl.int_range(pl.len()))
    bands = sdc.recode(original, column="age", bands=[0, 20, 40, 60, 80]).data
    released = bands.with_columns(w=pl.lit(4.0)).sample(fraction=1.0, shuffle=True, seed=1)
    scenario = sdc.Scenario(keys=["age", "region"], weight="w", numeric=["pay"])
    here, there = (
        quiet(sdc.assess, *files, scenario=scenario, seed=1, id="pid", attacks=True, n_attacks=5).utility.moved
        for files in ((original, released), (original.lazy(), released.lazy()))
    )
    assert {figure.variable for figure in here} == {"pay", "age", "region"}
    assert [(figure.variable, figure.level) for figure in here] == [(own.variable, own.level) for own in there]
    assert [figure.change for figure in here] == pytest.approx([own.change for own in there], rel=1e-9)


def test_text_is_no_number() -> None:
    data = pl.DataFrame({"pay": ["a", "b"]})
    with pytest.raises(DataError):
        moved_figures(open_files(data, data), weight=None, numeric=["pay"], keys=[])


def test_a_release_without_the_weight_is_told() -> None:
    original = survey(1)
    scenario = sdc.Scenario(keys=["region"], weight="w", numeric=["pay"])
    overview = sdc.utility_overview(original, original.drop("w"), scenario=scenario, seed=1)
    assert overview.moved == ()
    assert "the release has no column 'w' (weight)" in dict(overview.skipped)["weighted_totals"]


@on_engines
@pytest.mark.parametrize(
    "weight", [pl.lit(None, pl.Float64), pl.when(pl.col("pay") > 9).then(float("inf")).otherwise(1)]
)
def test_weights_missing_or_infinite_are_refused(weight: pl.Expr, plan: Any) -> None:
    frame = survey(1).with_columns(w=weight)
    for file in (frame, plan(frame)):
        with pytest.raises(DataError, match=r"the original: numeric 'w' (has no value at all|is infinite)"):
            moved_figures(open_files(file, file), weight="w", numeric=["pay"], keys=["region"])
