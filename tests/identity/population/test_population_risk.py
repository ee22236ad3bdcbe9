"""A5 by log-linear models: figures, edges, what is refused, what is warned of."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import polars as pl
import pytest
from statsmodels.datasets import fair

import sdckit as sdc
from draw import quiet
from further import DESIGN, assessed, entangled
from sdckit import Scenario, SdcWarning, as_cells, individual_risk, population_risk
from sdckit.errors import ColumnError, DataError
from sdckit.identity.population import log_linear, population_risk as home, population_risk as module

ROWS = [(1, 1, 1), (1, 1, 1), (1, 2, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2), (1, None, 2), (2, 3, 1), (2, 3, 1)]
FRAME = pl.DataFrame(ROWS, schema=["age", "yrs married", "sex"], orient="row").with_columns(w=pl.lit(20.0))
KEYS = ["age", "yrs married", "sex"]


def risk(frame=FRAME, **options):
    return population_risk(frame, **{"keys": KEYS, "sampling_fraction": 0.1, **options})


def test_figures():
    result = risk()
    assert (result.n, result.sample_uniques, result.n_possible) == (9, 5, 2 * 4 * 2)
    assert result.model == tuple(KEYS)
    assert result.tau1_rate == result.tau1 / 9
    assert result.tau2_per_unique == result.tau2 / 5
    assert result.tau1_per_unique == result.tau1 / 5
    assert result.tau2_rate == result.tau2 / 9
    assert result.population_uniques == pytest.approx(10 * result.tau1)
    assert (result.b1_error, result.b2_error) == (0, 0)
    assert result.to_dict()["figures"]["robust_z2"] == result.robust_z2
    assert {"b1", "b2", "robust_z1", "z1", "interval", "path"} <= set(result.to_dict()["figures"])
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()


def test_records():
    result = risk(FRAME.with_columns(id=pl.int_range(9)), id="id", prefix="m_")
    records = result.records
    assert records.columns == ["id", "m_p_population_unique", "m_expected_match"]
    assert records["m_p_population_unique"].is_nan().to_list() == [True, True, *[False] * 5, True, True]
    assert records["m_p_population_unique"].drop_nans().sum() == pytest.approx(result.tau1)
    assert records["m_expected_match"].drop_nans().sum() == pytest.approx(result.tau2)


def test_weights_and_fractions_say_the_same():
    by_weight = population_risk(FRAME, keys=KEYS, weight="w")
    assert by_weight.sampling_fraction == 1 / 20
    assert by_weight.tau1 == risk(sampling_fraction=1 / 20).tau1
    scenario = Scenario(keys=KEYS, sampling_fraction=0.1)
    assert population_risk(FRAME, scenario=scenario).tau1 == risk().tau1
    cells = as_cells(FRAME, keys=KEYS, sampling_fraction=0.1)
    assert population_risk(cells).to_dict() == risk().to_dict()
    assert population_risk(FRAME.lazy(), keys=KEYS, sampling_fraction=0.1).tau1 == pytest.approx(risk().tau1)
    with pytest.raises(DataError, match="collect it first"):
        population_risk(FRAME.lazy(), keys=KEYS, sampling_fraction=0.1).records  # noqa: B018


def test_models():
    full = pl.concat([FRAME, *(pl.DataFrame([row], schema=KEYS, orient="row").with_columns(w=pl.lit(20.0))
                              for row in itertools.product((1, 2), (1, 2, 3, None), (1, 2)))])  # fmt: skip
    pairs = risk(full, interactions=2)
    by_name = risk(full, formula="age:sex + age:yrs married + sex:yrs married")
    assert pairs.tau1 == pytest.approx(by_name.tau1, rel=1e-6)
    assert pairs.model == (*KEYS, "age:yrs married", "age:sex", "yrs married:sex")
    assert risk(formula="age + sex").tau1 == risk().tau1
    assert risk(formula=[["age", "sex"]]).model[-1] == "age:sex"
    saturated = risk(interactions=3)
    assert saturated.tau1 == pytest.approx(5 * math.exp(-0.9 / 0.1))


def test_a_census_has_its_uniques():
    result = risk(sampling_fraction=1.0)
    assert (result.tau1, result.tau2, result.population_uniques) == (5, 5, 5)
    assert math.isnan(result.z2)
    assert "nothing is modelled" in result.notes["z1"]
    assert "nothing to select" in risk(sampling_fraction=1.0, select=True).notes["path"]


def test_no_uniques():
    result = risk(pl.concat([FRAME, FRAME]))
    assert (result.sample_uniques, result.tau1, result.tau2) == (0, 0, 0)
    assert math.isnan(result.tau1_per_unique)
    assert math.isnan(result.tau2_per_unique)
    assert "no sample unique" in result.notes["tau1_per_unique"]


@pytest.mark.parametrize("frame", [FRAME[:1], pl.concat([FRAME[:1]] * 20)])
def test_one_record_and_equal_records(frame):
    with quiet():
        result = risk(frame.drop_nulls())
    alone = len(frame) == 1
    assert result.tau1 == pytest.approx(math.exp(-9) if alone else 0)
    assert math.isnan(result.robust_z1)


def test_notes_about_the_fit():
    simple = pl.DataFrame({"a": [*range(40), *range(40)], "b": [*range(40), *range(40)]})
    assert "too simple" in population_risk(simple, keys=["a", "b"], sampling_fraction=0.1).notes["z2"]
    rng = np.random.default_rng(3)
    sparse = pl.DataFrame(rng.integers(0, 12, (300, 3)), schema=["a", "b", "c"])
    overfitted = population_risk(sparse, keys=["a", "b", "c"], sampling_fraction=0.1, formula="a:b + b:c")
    assert overfitted.z2 < -1.645
    assert "overfitted" in overfitted.notes["z2"]


def test_a_model_that_does_not_converge_gives_no_number():
    """Every pair of nine records has empty margins: the fit creeps towards the edge of the model."""
    with pytest.warns(SdcWarning, match="did not converge: a margin still misses by"):
        result = risk(interactions=2, interval="bootstrap")
    assert all(math.isnan(one) for one in (result.tau1, result.tau2, result.z1, result.b2, result.tau1_rate))
    assert result.to_dict()["figures"]["tau1"] is None
    assert "did not converge" in result.notes["model"]
    assert result.interval == {}
    assert result.records["expected_match"].is_nan().all()


def test_too_large_a_grid(monkeypatch):
    monkeypatch.setattr(home, "MAX_GRID", 10)
    with pytest.raises(DataError, match="full grid of 16 possible cells, at most 10"):
        risk(interactions=2)
    with pytest.warns(SdcWarning, match="the search needs the full grid of 16 possible cells"):
        result = risk(select=True)
    assert result.tau1 == risk().tau1
    assert result.path == {}
    assert "main effects" in result.notes["path"]
    assert log_linear.MAX_GRID == 10_000_000


def test_the_search_tells_its_path():
    result = risk(select=True)
    assert next(iter(result.path)) == "main effects"
    assert result.model == (*KEYS, *list(result.path)[1:])


def test_the_search_is_told_in_words():
    rng = np.random.default_rng(8)
    a, c = rng.integers(0, 9, 600), rng.integers(0, 9, 600)
    tied = pl.DataFrame({"a": a, "b": np.where(rng.random(600) < 0.9, a, c), "c": c})
    design = {"keys": ["a", "b", "c"], "sampling_fraction": 0.1}
    found = population_risk(tied, **design, select=True)
    first, last = list(found.path.values())[0 :: len(found.path) - 1]
    assert found.notes["path"].endswith(f"of keys to main effects: z2 went from {first:.4g} to {last:.4g}")
    assert "added 1 pair of" in found.notes["path"] or f"added {len(found.path) - 1} pairs of" in found.notes["path"]
    loose = population_risk(tied.select("a", "c"), keys=["a", "c"], sampling_fraction=0.5, select=True)
    assert loose.notes["path"].startswith("a forward search added no pair of keys: z2 of main effects is")
    assert (
        "nothing to select" in population_risk(tied, **(design | {"sampling_fraction": 1.0}), select=True).notes["path"]
    )


def test_who_searched_is_not_told_to_search(monkeypatch):
    monkeypatch.setattr(home, "forward_search", lambda *_: ((), (home.Step(None, 9.0),)))
    twice = pl.DataFrame({"a": [*range(40), *range(40)], "b": [*range(40), *range(40)]})
    found = population_risk(twice, keys=["a", "b"], sampling_fraction=0.1, select=True)
    assert found.notes["z2"].endswith("recode keys")
    plain = population_risk(twice, keys=["a", "b"], sampling_fraction=0.1)
    assert plain.notes["z2"].endswith("try select=True or interactions=2")
    monkeypatch.setattr(home, "forward_search", lambda *_: ((), (home.Step(None, math.nan),)))
    found = population_risk(twice, keys=["a", "b"], sampling_fraction=0.1, select=True)
    assert "cannot judge main effects" in found.notes["path"]


def test_an_interval():
    result = risk(interval="bootstrap", seed=1)
    assert result.interval["tau1"][0] <= result.tau1 <= result.interval["tau1"][1]
    assert risk(interval="bootstrap", seed=1).interval == result.interval
    assert risk().interval == {}


def test_bad_input():
    with pytest.raises(ColumnError, match="formula: 'yrs' is no key; there are: age, yrs married, sex"):
        risk(formula="age:yrs")
    with pytest.raises(DataError, match="select=True chooses the terms itself"):
        risk(select=True, interactions=2)
    with pytest.raises(DataError, match="interval 'wald' is unknown"):
        risk(interval="wald")
    with pytest.raises(DataError, match="highest order"):
        risk(interactions=0)
    with pytest.raises(DataError, match="say how large the population is"):
        population_risk(FRAME, keys=KEYS)
    with pytest.raises(DataError, match="share of the population"):
        risk(sampling_fraction=1.5)
    with pytest.raises(ColumnError, match="name of a result"):
        risk(FRAME.rename({"w": "expected_match"}), id="expected_match").records  # noqa: B018


def test_the_fit_says_whether_to_trust_it():
    """Main effects miss the groups of a file with dependent keys; the search finds the pair, and says so."""
    frame = pl.DataFrame(fair.load_pandas().data)
    keys = ["age", "yrs_married", "children", "religious", "educ", "occupation"]
    given = {"keys": keys, "sampling_fraction": 0.1}
    simple, found = population_risk(frame, **given), population_risk(frame, **given, select=True)
    assert (simple.fit, simple.recommended) == ("too simple", False)
    assert (found.fit, found.recommended) == ("fits", True)
    assert (simple.dissimilarity, found.dissimilarity) == pytest.approx((0.5119, 0.0220), abs=1e-3)
    figures = found.to_dict()["figures"]
    assert (figures["fit"], figures["recommended"]) == ("fits", True)
    census = population_risk(frame, keys=keys, sampling_fraction=1)
    assert (census.fit, census.recommended) == ("census", True)
    assert math.isnan(census.dissimilarity)


def test_the_search_is_near_the_truth_where_individual_risk_is_too_low():
    """A population with known frequencies: correct matches among sample uniques, 5 % of the people in the file."""
    rng = np.random.default_rng(11)
    n = 60_000
    age = np.clip(rng.gamma(6, 7, n), 0, 90).astype(int)
    married = (rng.random(n) < np.clip(age / 60, 0.05, 0.8)).astype(int)
    people = pl.DataFrame(
        {"region": rng.choice(9, n, p=np.array([3, 18, 20, 10, 22, 7, 9, 6, 5]) / 100), "age": age,
         "married": married, "edu": np.clip(rng.normal(3 - 0.02 * age, 1.2, n).round(), 0, 6).astype(int)}
    )  # fmt: skip
    keys = people.columns
    sample = people.with_columns(F=pl.len().over(keys)).sample(fraction=0.05, seed=2)
    alone = sample.with_columns(f=pl.len().over(keys)).filter(pl.col("f") == 1)
    true = (1 / alone["F"]).sum()
    found = population_risk(sample, keys=keys, sampling_fraction=0.05, select=True)
    assert found.recommended
    assert found.tau2 == pytest.approx(true, rel=0.1)
    risks = individual_risk(sample, keys=keys, sampling_fraction=0.05).records
    own = pl.DataFrame(risks).with_columns(f=pl.Series(sample.with_columns(f=pl.len().over(keys))["f"]))
    assert own.filter(pl.col("f") == 1)["risk"].sum() < 0.9 * true


# The model of the population that `assess` takes: searched for where that is quick, main effects
# otherwise.


def test_the_model_of_the_population_is_searched() -> None:
    found = assessed(entangled(), "population_risk", **DESIGN)["default"]["population_risk"]
    with quiet():
        plain = sdc.population_risk(entangled(), **DESIGN)
    assert "age:job" in found.model
    assert abs(found.z2) < abs(plain.z2)
    assert "added 1 pair of keys to main effects: z2 went from" in found.notes["path"]
    assert "z2" not in found.notes


def test_a_model_that_fits_is_left_alone() -> None:
    found = assessed(measures="population_risk")["default"]["population_risk"]
    assert found.model == ("sex", "age", "job")
    assert "added no pair of keys" in found.notes["path"]


def test_a_large_grid_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUICK_MODEL", 1000)
    found = assessed(entangled(), "population_risk", **DESIGN)["default"]["population_risk"]
    assert found.model == tuple(DESIGN["keys"])
    assert found.notes["path"].endswith("would take long; population_risk(select=True) does it")
    assert "try select=True" in found.notes["z2"]
    monkeypatch.setattr(module, "MAX_GRID", 1000)
    found = assessed(entangled(), "population_risk", **DESIGN)["default"]["population_risk"]
    assert "2,592 possible cells would take long; recode keys" in found.notes["path"]


def test_a_census_is_not_modelled() -> None:
    census = DESIGN | {"sampling_fraction": 1.0}
    found = assessed(entangled(), "population_risk", **census)["default"]["population_risk"]
    assert found.tau1 == found.sample_uniques
    assert "nothing to select" in found.notes["path"]
