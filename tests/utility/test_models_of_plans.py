"""Models of plans: the figures, and above all the decisions on what may be printed, of the same files in memory."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from plans import FEW, duckdb_relation, polars_plan
from sdckit.cells.plans import lazy, model_cells
from sdckit.errors import DataError, SdcError
from sdckit.utility.models import model_design

ENGINES = {"polars": polars_plan, "duckdb": duckdb_relation}
on_engines = pytest.mark.parametrize("plan", list(ENGINES.values()), ids=list(ENGINES))


def people(seed, n=120, *, rare=0.03, gaps=0.05, kinds=4):
    """A file with categories, one of them rare, numbers of few and of many values, and weights."""
    rng = np.random.default_rng(seed)
    job = rng.choice(["clerk", "cook", "nurse", "bishop"][:kinds], n, p=_rare(kinds, rare))
    age = rng.integers(2, 9, n) * 10
    ill = rng.random(n) < 0.2 + 0.4 * (job == "cook")
    lost = rng.random((3, n)) < gaps
    return pl.DataFrame(
        {
            "sex": pl.Series(np.where(rng.random(n) < 0.5, "f", "m").tolist()).set(pl.Series(lost[0]), None),
            "job": job.tolist(),
            "age": pl.Series(age).set(pl.Series(lost[1]), None),
            "one": np.arange(n) == 5,
            "ill": pl.Series(np.where(ill, "yes", "no").tolist()).set(pl.Series(lost[2]), None),
            "visits": rng.poisson(1 + ill + 0.01 * age),
            "income": np.round(np.exp(rng.normal(7, 0.4, n)) + 3 * age, 1),
            "w": np.where(rng.random(n) < 0.1, 0.0, np.exp(rng.normal(2, 0.7, n))),
            "heavy": np.where(np.arange(n) == 3, 1e3, rng.uniform(1, 2, n)),
        }
    )


def _rare(kinds, rare):
    return [*[(1 - rare) / (kinds - 1)] * (kinds - 1), rare] if kinds > 1 else [1.0]


def same(here, there, rel=1e-9):
    """Equal figures, terms and names; and the same decisions."""
    assert (here.told, here.few, here.few_spread, here.notes) == (there.told, there.few, there.few_spread, there.notes)
    assert (here.told_formula, here.steps) == (there.told_formula, there.steps)
    for name in here.columns:
        if name == "term":
            assert here.columns[name] == there.columns[name]
            continue
        errors = np.array([here.columns[f"std_error_{file}"] for file in ("original", "released")])
        kept = ~np.array(here.few_spread) & (np.nan_to_num(errors, nan=1.0).min(axis=0) > 1e-9)
        if name.startswith(("same_", "significant_")):  # of 0 the sign is what rounding left
            kept &= np.abs(here.columns["estimate_original"]) > 1e-9
        a, b = (np.array(result.columns[name], np.float64)[kept] for result in (here, there))
        np.testing.assert_allclose(b, a, rtol=rel, atol=1e-9, err_msg=name)  # of one record a variance is rounding
    assert (here.n, here.n_terms) == (there.n, there.n_terms)
    if not any(here.few_spread):
        np.testing.assert_allclose(there.lack_of_fit, here.lack_of_fit, rtol=1e-6, atol=1e-9)


MODELS = [
    {"formula": "income ~ C(sex) + age + job"},
    {"formula": "log(income) ~ sex * age + I(age ** 2)"},
    {"formula": "ill ~ sex * age", "family": "logistic"},
    {"formula": "ill ~ C(sex) + visits", "family": "logistic"},
    {"formula": "visits ~ sex + age", "family": "poisson"},
    {"formula": "age ~ job + sex + one"},
]


@on_engines
@pytest.mark.parametrize("weight", [None, "w", "heavy"])
@pytest.mark.parametrize("options", MODELS, ids=lambda options: options["formula"])
def test_models_are_those_in_memory(plan, weight, options, monkeypatch):
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    original, released = people(1), [people(2), people(3)]
    here = sdc.compare_models(original, released, weight=weight, **options)
    same(here, sdc.compare_models(plan(original), list(map(plan, released)), weight=weight, **options))


MEANS = [
    {"formula": "income ~ C(sex) + age + job"},
    {"formula": "income ~ sex * one + visits"},
    {"formula": "visits ~ job + sex"},
    {"formula": "heavy ~ sex * one"},
]


@on_engines
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("options", MEANS, ids=lambda options: options["formula"])
def test_outcomes_of_many_values_are_summed_up_within_the_cells_of_the_terms(plan, weight, options, monkeypatch):
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    monkeypatch.setattr(model_cells, "MANY", 3)
    original, released = people(1), [people(2), people(3).head(120)]
    here = sdc.compare_models(original, released, weight=weight, **options)
    same(here, sdc.compare_models(plan(original), list(map(plan, released)), weight=weight, **options))


@settings(FEW, max_examples=10)
@given(
    st.integers(0, 10**6), st.integers(8, 70), st.sampled_from([0.02, 0.06, 0.15]), st.sampled_from(MEANS),
    st.sampled_from([None, "w", "heavy"]), st.integers(2, 4), st.sampled_from(list(ENGINES)),
)  # fmt: skip
def test_what_may_be_printed_of_sums_within_cells_is_as_in_memory(seed, n, rare, options, weight, kinds, engine):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_cells, "MANY", 3)
        as_in_memory([people(seed + at, n, rare=rare, kinds=kinds) for at in range(2)], weight, options, engine)


SEPARATED = [{"formula": "ill ~ C(job) * sex", "family": "logistic"}, {"formula": "visits ~ job:sex + one"}]


@settings(FEW, max_examples=20)
@given(
    st.integers(0, 10**6), st.integers(8, 70), st.sampled_from([0.02, 0.06, 0.15]),
    st.sampled_from([*MODELS, *SEPARATED]), st.sampled_from([None, "w", "heavy"]), st.integers(2, 4),
    st.sampled_from(list(ENGINES)),
)  # fmt: skip
def test_what_may_be_printed_of_any_files_is_as_in_memory(seed, n, rare, options, weight, kinds, engine):
    as_in_memory([people(seed + at, n, rare=rare, kinds=kinds) for at in range(2)], weight, options, engine)


def as_in_memory(files, weight, options, engine):
    """The figures, decisions or refusals of two files are those of memory."""
    try:
        here = sdc.compare_models(*files, weight=weight, **options)
    except SdcError as error:
        with pytest.raises(type(error)):
            sdc.compare_models(*map(ENGINES[engine], files), weight=weight, **options)
        return
    same(here, sdc.compare_models(*map(ENGINES[engine], files), weight=weight, **options), 1e-7)


@on_engines
def test_more_cells_than_fit_are_refused_by_number_or_come_as_columns(plan, monkeypatch):
    original, released = people(1), people(2)
    options = {"formula": "income ~ age + sex"}
    here = sdc.compare_models(original, released, **options)
    monkeypatch.setattr(model_cells, "most_cells", lambda *_: 7)
    same(here, sdc.compare_models(plan(original), plan(released), **options))
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    with pytest.raises(DataError, match=r"these 3 columns have \d+ different combinations, and the free memory .* 7;"):
        sdc.compare_models(plan(original), plan(released), **options)
    monkeypatch.setattr(model_cells, "most_cells", lambda *_: 10**6)
    monkeypatch.setattr(model_design, "most_cells", lambda *_: 7)
    with pytest.raises(DataError, match="and the free memory here takes 7"):
        sdc.compare_models(plan(original), plan(released), **options)


SPOILT = {
    "absent": lambda frame: frame.drop("age"),
    "text": lambda frame: frame.with_columns(age=pl.lit("a")),
    "infinite": lambda frame: frame.with_columns(age=pl.lit(float("inf"))),
    "no value": lambda frame: frame.with_columns(age=pl.lit(None, pl.Float64)),
    "log of 0": lambda frame: frame.with_columns(age=pl.lit(0.0)),
    "no weight": lambda frame: frame.drop("w"),
    "negative weight": lambda frame: frame.with_columns(w=-pl.col("w")),
    "missing weight": lambda frame: frame.with_columns(w=pl.lit(None, pl.Float64)),
    "empty": lambda frame: frame.head(0),
    "shorter": lambda frame: frame.head(50),
}


@on_engines
@pytest.mark.parametrize("name", list(SPOILT))
def test_refusals_are_those_in_memory(plan, name):
    original, released = people(1), [people(2), SPOILT[name](people(3))]
    said = []
    for make in (pl.DataFrame, plan):
        with pytest.raises(SdcError) as error:
            sdc.compare_models(make(original), list(map(make, released)), formula="visits ~ log(age) + sex", weight="w")
        said.append(error.value)
    assert type(said[0]) is type(said[1])
    assert not any(char in str(said[1]) for char in ("row ", "rows 1")) or name in ("empty", "shorter")


def test_splines_and_several_outcomes_come_as_columns(monkeypatch):
    original, released = people(1), people(2)
    for options in ({"formula": "income ~ bs(age, df=4)"}, {"formula": "sex ~ visits", "family": "multinomial"}):
        here = sdc.compare_models(original, released, **options)
        same(here, sdc.compare_models(original.lazy(), released.lazy(), **options))
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    with pytest.raises(DataError, match="values"):
        sdc.compare_models(original.lazy(), released.lazy(), **options)


def test_assess_of_plans_fits_the_models_by_cells(monkeypatch):
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    files = [people(seed, gaps=0.0).with_row_index("pid") for seed in (1, 2)]
    options = {"formula": "income ~ age + sex"}
    scenario = sdc.Scenario(keys=["sex", "age"], numeric=["income"])
    found = sdc.assess(
        files[0].lazy(), released=[files[1].lazy()], scenario=scenario, models=[options["formula"]], id="pid",
    )  # fmt: skip
    same(sdc.compare_models(*files, **options), found.utility[f"compare_models:{options['formula']}"])
