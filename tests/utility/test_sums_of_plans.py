"""Losses, estimates, models and propensity of plans: the figures of the same files in memory, no record brought."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from every_measure import assert_close
from plans import FEW, duckdb_plans, polars_plan
from sdckit.cells.plans import joined_sums, lazy
from sdckit.errors import SdcError


@pytest.fixture(params=["polars", "duckdb"])
def plan(request):
    return polars_plan if request.param == "polars" else duckdb_plans()


NUMBERS = ["income", "hours", "far", "flat", "tiny"]


def masked(seed, n=160, *, gaps=True):
    """An original, and two releases of it in other orders of rows."""
    rng = np.random.default_rng(seed)

    def holed(values):
        lost = gaps & (rng.random(n) < 0.1)
        return [None if gone else value for gone, value in zip(lost, values.tolist(), strict=True)]

    def person(noise):
        return pl.DataFrame(
            {
                "row": np.arange(n),
                "sex": rng.choice(["f", "m"] if not noise else ["f", "x"], n),
                "size": holed(rng.integers(1, 5, n)),
                "income": holed(np.round(income + noise * rng.normal(0, 20, n), 1)),
                "hours": holed(hours + noise * rng.integers(0, 2, n)),
                "far": 1e4 + far + noise * rng.normal(0, 1, n).round(2),
                "flat": np.full(n, 0.1),
                "tiny": (rng.random(n) < 0.1) * 1e-7,
            }
        )

    income, hours, far = np.exp(rng.normal(6, 0.4, n)), rng.integers(0, 60, n), rng.normal(0, 9, n)
    return person(0), [person(1).sample(fraction=1.0, shuffle=True, seed=seed), person(1)]


LOSSES = (
    {"numeric": NUMBERS, "categorical": ["sex"], "ordered": ["size"]},
    {"numeric": ["income", "hours", "far"]},
    {"numeric": ["hours"], "ordered": {"size": ["4", "3", "2", "1"]}},
    {"categorical": ["sex", "size"]},
)


def same_losses(here, there):
    assert_close(here.to_dict(), there.to_dict(), "information_loss")
    for table in ("variables", "pairs"):
        assert_close(getattr(here, table).to_dict(as_series=False), getattr(there, table).to_pydict(), table)


@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.parametrize("intervals", [None, 3])  # medians by intervals, ever narrower, where numbers do not fit
def test_losses_are_those_in_memory(plan, gaps, intervals, monkeypatch):
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    if intervals is not None:
        monkeypatch.setattr(joined_sums, "medians_fit", lambda frame, numbers: False)
        monkeypatch.setattr(joined_sums, "INTERVALS", intervals)
    original, released = masked(1, gaps=gaps)
    plans = plan(original), [plan(release) for release in released]
    for options in LOSSES:
        same_losses(
            sdc.information_loss(original, released, id="row", robust=False, **options),
            sdc.information_loss(*plans, id="row", robust=False, **options),
        )
    same = sdc.information_loss(plans[0], plan(original.reverse()), id="row", **LOSSES[0])
    assert "row by row" in same.notes["released"]
    assert "more than may be brought" in same.notes["robust_eigenvalues"]


def test_distances_of_records_and_robust_losses_are_those_in_memory(plan):
    original, released = masked(2)
    options = {"numeric": ["income", "hours"], "categorical": ["sex"], "id": "row", "seed": 1}
    here = sdc.information_loss(original, released[0], **options)
    there = sdc.information_loss(plan(original), plan(released[0]), **options)
    assert there.robust_eigenvalues == pytest.approx(here.robust_eigenvalues, rel=1e-9)
    records = pl.from_arrow(there.records).sort("row")
    np.testing.assert_allclose(records["distance"].to_numpy(), here.records["distance"].to_numpy(), rtol=1e-9)


def faulty():
    """Ways to spoil a release."""
    bad = [1.0] * 5
    yield "absent", lambda frame: frame.drop("hours")
    yield "text", lambda frame: frame.with_columns(hours=pl.lit("a"))
    yield "infinite", lambda frame: frame.with_columns(hours=pl.lit(math.inf))
    yield "no value", lambda frame: frame.with_columns(hours=pl.lit(None, pl.Float64))
    yield "span", lambda frame: frame.with_columns(hours=pl.Series([1.7e308, -1.7e308, *bad]))
    yield "no type", lambda frame: frame.with_columns(sex=pl.Series([1, 2, 3, 4, 5, 6, 7]))
    yield "other ids", lambda frame: frame.with_columns(row=pl.col("row") + 1)
    yield "same ids", lambda frame: frame.with_columns(row=pl.lit(0))
    yield "empty", lambda frame: frame.head(0)


@pytest.mark.parametrize(("name", "spoil"), list(faulty()), ids=[name for name, _ in faulty()])
def test_refusals_of_losses_are_those_in_memory(plan, name, spoil):
    original = masked(3, 7, gaps=False)[0].select("row", "sex", "hours")
    released = spoil(original)
    options = {"numeric": ["hours"], "categorical": ["sex"], "id": "row", "robust": False}
    with pytest.raises(SdcError) as here:
        sdc.information_loss(original, released, **options)
    with pytest.raises(SdcError) as there:
        sdc.information_loss(plan(original), plan(released), **options)
    assert type(there.value) is type(here.value)


some_numbers = st.one_of(st.none(), st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, width=32))


@settings(FEW)
@given(
    st.lists(
        st.tuples(*[some_numbers] * 4, st.sampled_from("ab"), st.sampled_from([None, "a"])), min_size=2, max_size=20
    ),
    st.integers(0, 1),
)
def test_losses_of_any_files_are_those_in_memory(rows, engine):
    plan = [polars_plan, duckdb_plans()][engine]
    columns = dict(zip(("x", "y", "a", "b", "c", "d"), zip(*rows, strict=True), strict=True))
    types = dict.fromkeys("xyab", pl.Float64) | {"c": pl.String, "d": pl.String}
    frame = pl.DataFrame(columns, schema=types).with_row_index("row")
    original, released = frame.select("row", "x", "y", "c"), frame.select("row", x="a", y="b", c="d").reverse()
    options = {"numeric": ["x", "y"], "ordered": ["c"], "id": "row", "robust": False}
    try:
        here = sdc.information_loss(original, released, **options)
    except SdcError as error:
        with pytest.raises(type(error)):
            sdc.information_loss(plan(original), plan(released), **options)
    else:
        there = sdc.information_loss(plan(original), plan(released), **options)
        assert_near(here, there)


def assert_near(here, there):
    """Figures agree to 1e-9, but for those that rest on the smallest eigenvalue: they lose what it lost."""
    unstable = {"eigenvalues", "il_correl"}
    a, b = (
        {name: value for name, value in result.per_release[0].items() if name not in unstable}
        for result in (here, there)
    )
    assert_close(a, b, "")


def weighed(seed, n=90, *, gaps=True):
    """A file with numbers, categories and weights, some of which are 0 and one of which is most of all."""
    rng = np.random.default_rng(seed)
    lost = gaps & (rng.random((2, n)) < 0.1)
    size = rng.integers(1, 5, n)
    return pl.DataFrame(
        {
            "income": np.where(lost[0], np.nan, np.exp(rng.normal(6, 0.4, n)).round(1)),
            "hours": rng.integers(0, 9, n),
            "rare": (np.arange(n) < 3 * seed) * 5,
            "even": np.where(np.arange(n) % 2, -1.0, 1.0),
            "large": np.where(np.arange(n) == 7, 1e6, rng.random(n)),
            "flat": np.full(n, 0.1),
            "size": [None if gone else int(value) for gone, value in zip(lost[1], size, strict=True)],
            "job": rng.choice(["a", "b", "c"] if seed > 1 else ["a", "c", "d"], n, p=[0.6, 0.37, 0.03]),
            "all": ["x"] * n,
            "w": np.where(rng.random(n) < 0.1, 0.0, rng.uniform(1, 9, n)),
            "heavy": np.where(np.arange(n) == 3, 1e3, rng.uniform(1, 2, n)),
        }
    )


VALUES = ["income", "hours", "rare", "even", "large", "flat"]
ESTIMATES = [
    {"statistic": statistic, "variables": ["job", "size", "all"] if statistic == "proportion" else VALUES}
    for statistic in ("mean", "total", "proportion", "quantile")
] + [{"statistic": "quantile", "variables": VALUES, "probability": 0.9}]


def same_terms(here, there):
    assert_close(here.to_dict(), there.to_dict(), here.measure)
    assert (here.told, here.few, here.few_spread) == (there.told, there.few, there.few_spread)
    assert_close(here.steps, there.steps, "steps")
    for frame in ("table", "forest"):
        a, b = (getattr(result, frame) for result in (here, there))
        a, b = (a(), b()) if frame == "forest" else (a, b)
        assert_close(a.to_dict(as_series=False), b.to_pydict(), frame)


@pytest.mark.parametrize("weight", [None, "w", "heavy"])
def test_estimates_are_those_in_memory(plan, weight, monkeypatch):
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    original, released = weighed(1), [weighed(2), weighed(3)]
    plans = plan(original), [plan(release) for release in released]
    for options in ESTIMATES:
        same_terms(
            sdc.compare_estimates(original, released, weight=weight, **options),
            sdc.compare_estimates(*plans, weight=weight, **options),
        )


@pytest.mark.parametrize("n", [1, 4, 6])
def test_estimates_of_few_records_are_those_in_memory(n):
    plan = polars_plan
    original, released = weighed(1, gaps=False).head(n), weighed(2, gaps=False).head(n)
    for options in ESTIMATES:
        for weight in (None, "heavy"):
            same_terms(
                sdc.compare_estimates(original, released, weight=weight, **options),
                sdc.compare_estimates(plan(original), plan(released), weight=weight, **options),
            )


def refusal(measure, *files, **options):
    """The type of a refusal; None where there is none."""
    try:
        measure(*files, **options)
    except SdcError as error:
        return type(error)
    return None


SPOILT = {
    "absent": lambda frame: frame.drop("hours"),
    "text": lambda frame: frame.with_columns(hours=pl.lit("a")),
    "infinite": lambda frame: frame.with_columns(hours=pl.lit(-math.inf)),
    "no value": lambda frame: frame.with_columns(hours=pl.lit(None, pl.Float64)),
    "no weight": lambda frame: frame.drop("w"),
    "missing weight": lambda frame: frame.with_columns(w=pl.Series([None] + [1.0] * 89)),
    "negative weight": lambda frame: frame.with_columns(w=-pl.col("w")),
    "infinite weight": lambda frame: frame.with_columns(w=pl.lit(math.inf)),
    "weights of 0": lambda frame: frame.with_columns(w=pl.lit(0.0)),
    "no type": lambda frame: frame.with_columns(job=pl.lit(3)),
    "empty": lambda frame: frame.head(0),
    "shorter": lambda frame: frame.head(50),
}


@pytest.mark.parametrize("name", list(SPOILT))
def test_refusals_of_estimates_are_those_in_memory(plan, name):
    original, released = weighed(1), [weighed(1), SPOILT[name](weighed(2))]
    for statistic in ("mean", "proportion") if name != "no value" else ("mean", "quantile"):
        options = {"statistic": statistic, "variables": ["job"] if statistic == "proportion" else ["hours"]}
        here, there = (
            refusal(sdc.compare_estimates, make(original), list(map(make, released)), weight="w", **options)
            for make in (pl.DataFrame, plan)
        )
        assert here is there


@pytest.mark.parametrize("options", [
    {"variables": ["job", "size", "hours", "all"], "interactions": 2},
    {"variables": ["job", "hours"], "null": "permutation", "resamples": 3, "seed": 1},
])  # fmt: skip
def test_propensity_of_categories_is_that_in_memory(plan, options, monkeypatch):
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    original, released = weighed(1), [weighed(2).head(60), weighed(3)]
    here = sdc.propensity(original, released, numeric=[], **options)
    there = sdc.propensity(plan(original), list(map(plan, released)), numeric=[], **options)
    assert_close(here.to_dict(), there.to_dict(), "propensity")
    for frame in ("importance", "coefficients"):
        a, b = getattr(here, frame).to_dict(as_series=False), getattr(there, frame).to_pydict()
        order = (sorted(zip(*table.values(), strict=True), key=str) for table in (a, b))
        assert [row[:-1] for row in next(order)] == [row[:-1] for row in next(order)]


def test_propensity_of_rows_that_belong_together_needs_their_ids(plan):
    original, (released, _) = masked(4)
    options = {"variables": ["sex", "size"], "numeric": [], "aligned": True, "id": "row"}
    here = sdc.propensity(original, released, **options)
    assert_close(here.to_dict(), sdc.propensity(plan(original), plan(released), **options).to_dict(), "propensity")
    for spoilt in (released.head(9), released.with_columns(row=pl.lit(1))):
        assert refusal(sdc.propensity, original, spoilt, **options) is refusal(
            sdc.propensity, plan(original), plan(spoilt), **options
        )


def test_categories_without_an_order_are_ranked_as_in_memory() -> None:
    rng = np.random.default_rng(0)
    files = [
        pl.DataFrame({"row": range(90), "e": pl.Series(rng.choice(list("ihgfedcba"), 90), dtype=pl.Categorical)})
        for _ in range(2)
    ]
    expected = sdc.information_loss(*files, ordered=["e"], id="row", robust=False).il_variables
    found = sdc.information_loss(*(file.lazy() for file in files), ordered=["e"], id="row", robust=False).il_variables
    assert found == pytest.approx(expected, rel=1e-12)
