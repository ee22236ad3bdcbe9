"""Tables, associations and weighted totals of plans: the figures of the same files in memory, no record brought."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from every_measure import assert_close
from plans import on_engines
from sdckit.cells.pair import open_files
from sdckit.cells.plans import lazy
from sdckit.errors import DataError
from sdckit.utility import ecdf_utility
from sdckit.utility.weighted_totals import moved_figures

CALLS = (
    (sdc.tabular_utility, {}),
    (sdc.tabular_utility, {"ways": 3, "drop_missing": True, "numeric": ["income"]}),
    (sdc.tabular_utility, {"by": ["sex", "region"], "ways": 1, "drop_missing": True}),
    (sdc.compare_distributions, {"bins": {"income": 7}}),
    (sdc.compare_associations, {}),
    (sdc.ecdf_utility, {"joint": ["income", "hours"]}),
    (sdc.ecdf_utility, {}),
)


def people(seed, n=240, *, gaps=True):
    rng = np.random.default_rng(seed)

    def holed(values):
        return [
            None if gaps and lost else value for lost, value in zip(rng.random(n) < 0.1, values.tolist(), strict=True)
        ]

    return pl.DataFrame(
        {
            "row": np.arange(n),
            "sex": rng.choice(["f", "m"], n),
            "region": holed(rng.choice(["north", "naïve", "west"], n)),
            "size": rng.integers(1, 4, n),
            "income": holed(np.round(np.exp(rng.normal(8, 0.4, n)), 1)),
            "hours": holed(rng.integers(0, 60, n)),
            "score": np.where(rng.random(n) < 0.05, -0.0, rng.normal(1e6, 1, n).round(1)),
            "born": [dt.date(2000, 1, 1) + dt.timedelta(int(day)) for day in rng.integers(0, 9, n)],
            "flag": rng.random(n) < 0.3,
            "w": rng.uniform(1, 9, n),
        }
    )


def files(*, gaps=True):
    return people(1, gaps=gaps), [people(2, 200, gaps=gaps), people(3, gaps=gaps)]


@on_engines
@pytest.mark.parametrize("gaps", [True, False])
def test_the_figures_are_those_in_memory(plan, gaps, monkeypatch):
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    original, released = files(gaps=gaps)
    plans = plan(original), [plan(release) for release in released]
    for measure, options in CALLS:
        here = measure(original, released, id="row", **options)
        there = measure(*plans, id="row", **options)
        assert_close(here.to_dict(), there.to_dict(), measure.__name__)
        for parts in ("statistics", "matrices"):
            for name, values in getattr(here, parts, {}).items():
                np.testing.assert_allclose(getattr(there, parts)[name], values, rtol=1e-9, atol=1e-12, err_msg=name)
        if options.get("by"):
            assert sorted_rows(here.by_group) == sorted_rows(there.by_group)


def sorted_rows(frame):
    columns = frame.to_pydict() if hasattr(frame, "to_pydict") else frame.to_dict(as_series=False)
    rows = zip(*columns.values(), strict=True)
    return sorted(tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in rows)


@on_engines
def test_tables_and_histograms_are_those_in_memory(plan):
    original, released = files()
    here = sdc.compare_distributions(original, released, id="row")
    there = sdc.compare_distributions(plan(original), [plan(release) for release in released], id="row")
    for frame in (
        lambda result: result.table("region", "income"),
        lambda result: result.table("born", release=2),
        lambda result: result.histogram("income"),
        lambda result: result.histogram("hours", edges=[0, 10, 30]),
        lambda result: result.moments,
        lambda result: result.overview,
    ):
        assert_close(frame(here).to_dict(as_series=False), frame(there).to_pydict(), "")


@on_engines
@pytest.mark.parametrize("weight", ["w", None])
def test_weighted_totals_are_those_in_memory(plan, weight):
    original, released = people(1), [people(2), people(3)]
    asked = {"weight": weight, "numeric": ["income", "score", "hours"], "keys": ["sex", "region", "flag", "born"]}
    here = moved_figures(open_files(original, released), **asked)
    there = moved_figures(open_files(plan(original), [plan(release) for release in released]), **asked)
    assert len(here) == len(there) > 8
    for before, after in zip(here, there, strict=True):
        assert (before.variable, before.level, before.figure, before.n) == (
            after.variable, after.level, after.figure, after.n,
        )  # fmt: skip
        assert math.isclose(before.change, after.change, rel_tol=1e-9)
        assert math.isclose(before.largest, after.largest, rel_tol=1e-9)


@on_engines
def test_what_is_no_number_is_refused_as_in_memory(plan):
    original, released = files()
    plans = plan(original), plan(released[0])
    for measure in (sdc.compare_distributions, sdc.compare_associations):
        with pytest.raises(DataError, match=r"the original: numeric 'sex' is \w+, not numbers"):
            measure(*plans, numeric=["sex"])
    with pytest.raises(DataError, match=r"numeric 'sex' is \w+, not numbers"):
        moved_figures(open_files(*plans), weight=None, numeric=["sex"], keys=[])
    holes = original.with_columns(income=pl.lit(None, pl.Float64))
    with pytest.raises(DataError, match="the original: numeric 'income' has no value at all"):
        moved_figures(open_files(plan(holes), plans[1]), weight=None, numeric=["income"], keys=[])
    with pytest.raises(DataError, match="'income' is infinite in some records"):
        moved_figures(
            open_files(plan(original.with_columns(income=math.inf)), plans[1]), weight=None, numeric=["income"], keys=[]
        )


@on_engines
def test_more_distinct_records_than_are_joined_are_not_brought(plan, monkeypatch):
    original, released = files()
    monkeypatch.setattr(ecdf_utility, "POINTS", 50)
    asked = {"variables": ["income", "hours", "score"]}
    here = sdc.ecdf_utility(original, released, **asked)
    there = sdc.ecdf_utility(plan(original), [plan(release) for release in released], **asked)
    assert math.isnan(there.joint_max_difference)
    assert_close(here.to_dict(), there.to_dict(), "")


@on_engines
def test_an_overview_counts_where_records_are_too_many(plan, monkeypatch):
    original, released = files()
    scenario = sdc.Scenario(keys=["sex", "region"], numeric=["income", "hours"], weight="w")
    here = sdc.utility_overview(original, released, seed=1, scenario=scenario)
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    there = sdc.utility_overview(plan(original), [plan(release) for release in released], seed=1, scenario=scenario)
    for name in ("compare_distributions", "tabular_utility", "compare_associations", "ecdf_utility"):
        assert_close(here[name].to_dict(), there[name].to_dict(), name)
    assert "propensity" in dict(there.skipped)
    assert [(figure.variable, figure.figure) for figure in here.moved] == [
        (figure.variable, figure.figure) for figure in there.moved
    ]


@on_engines
def test_associations_of_amounts_of_fixed_point(plan):
    rng = np.random.default_rng(1)
    pays = [
        pl.Series("pay", [round(v, 1) for v in rng.normal(50, 9, 199)] + [None], pl.Float64).cast(pl.Decimal(10, 1))
        for _ in range(2)
    ]
    raw, released = (pl.DataFrame({"age": rng.integers(18, 80, 200), "sex": ["f", "m"] * 100, "pay": p}) for p in pays)
    here = sdc.compare_associations(raw, released, variables=["sex", "age", "pay"])
    there = sdc.compare_associations(plan(raw), plan(released), variables=["sex", "age", "pay"])
    assert there.to_dict()["figures"] == pytest.approx(here.to_dict()["figures"], nan_ok=True)


@on_engines
def test_whole_numbers_that_are_one_number_have_one_rank(plan):
    """Above 2^53 numbers are compared as floats, in memory and on an engine."""
    rng = np.random.default_rng(6)
    large = [pl.DataFrame({"x": 2**60 + rng.integers(0, 9, 50) * 2**rng.integers(0, 9, 50), "y": rng.normal(size=50)})
             for _ in range(2)]  # fmt: skip
    here = sdc.compare_associations(*large, variables=["x", "y"], numeric=["x", "y"])
    there = sdc.compare_associations(*map(plan, large), variables=["x", "y"], numeric=["x", "y"])
    assert len(set(large[0]["x"])) > 1.5 * len(set(map(float, large[0]["x"])))
    for name, values in here.matrices.items():
        np.testing.assert_allclose(there.matrices[name], values, rtol=1e-9, atol=1e-12, err_msg=name)
