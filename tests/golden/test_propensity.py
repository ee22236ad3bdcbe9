"""Propensity models of synthpop 1.9 on the affairs survey, and on its authors' files where SDCKIT_REFERENCE is set.

Where sdckit deliberately differs, and what is compared instead:

- synthpop's model stops where the deviance stands still to 8 digits, here no score moves by more than 1e-12. Some
  pMSE differ by up to 2.3e-6 therefore; a plain loop that starts where R's glm starts gives synthpop's pMSE when it
  stops where R's stops, and ours when it goes on.
- The tree of scikit-learn is another one than rpart's: only that both find a difference is compared.
- A permutation null is multiplied by 1 - c, not by 1/2: the same for files of one size, tested by simulation.
- S_ values of the "pairs" null (pairs of releases) do not exist here; the other figures of that case are compared.
- po50 is a share, PO50 a percentage.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from designs import dense, plain_fit
from golden.rebuild import rebuild
from sdckit import cluster_utility, propensity
from sdckit.utility.propensities.classifiers import stack
from sdckit.utility.propensities.propensity import design_of

CASE = json.loads((Path(__file__).parent / "portable" / "propensity_fair.json").read_text(encoding="utf-8"))
NAMES = {"pMSE": "pmse", "S_pMSE": "ratio", "SPECKS": "specks", "PO50": "po50", "U": "u"}

file = cache(rebuild)


def releases():
    return [file(f"fair_syn{j}") for j in (1, 2, 3)]


def figures(result, name):
    return [one[NAMES[name]] * (100 if name == "PO50" else 1) for one in result.per_release]


def agree(result, expected):
    """Compare all figures; where the reference stopped early, show what it is when it goes on."""
    for name in ("SPECKS", "PO50", "U"):
        if name in expected:
            assert figures(result, name) == pytest.approx(np.atleast_1d(expected[name]), rel=1e-6)
    assert result.n_parameters == expected["df"] + 1
    for j, reported in enumerate(np.atleast_1d(expected["pMSE"]).tolist()):
        ours = result.per_release[j]["pmse"]
        if ours != pytest.approx(reported, rel=1e-6):
            assert by_plain_loop(result, j, 1e-8) == pytest.approx(reported, rel=1e-7)
            assert by_plain_loop(result, j, 1e-13) == pytest.approx(ours, rel=1e-8)
        if "S_pMSE" in expected:
            ratio = np.atleast_1d(expected["S_pMSE"])[j]
            assert result.per_release[j]["ratio"] == pytest.approx(ratio * ours / reported, rel=1e-12)


def by_plain_loop(result, release, stop):
    """pMSE of the same model fitted by a loop that stops where R's glm does, or later."""
    numbers = [name for name in result.variables if ("numbers", name) in result.pair.memo]
    rows = stack(result.pair, release, result.variables, numbers, scale=True)
    x = dense(design_of(rows, result.interactions)[0])
    weight = np.concatenate([rows.original, rows.released])
    used = weight > 0
    member = np.repeat([0.0, 1.0], len(x))
    score = plain_fit(np.vstack([x, x])[used], weight[used], member[used], stop=stop)
    return float(weight[used] @ (score - rows.share) ** 2 / weight.sum())


@pytest.mark.parametrize("case", CASE["models"], ids=lambda case: f"{case['types']}-{case['maxorder']}")
def test_logistic_models(case):
    result = propensity(
        file("fair"), releases(), variables=case["vars"], numeric=case["vars"] if case["types"] == "numeric" else [],
        interactions=case["maxorder"] + 1,
    )  # fmt: skip
    agree(result, case)


@pytest.mark.parametrize("case", CASE["tables"], ids=lambda case: "-".join(case["vars"]))
def test_saturated_models_are_tables(case):
    """The pMSE of a table is that of a model with all products, and G times the utility of its cells as clusters."""
    given = {"variables": case["vars"], "numeric": []}
    clusters = cluster_utility(file("fair"), releases(), n_clusters=2000, **given)
    found = [one["cluster_utility"] * one["n_clusters"] for one in clusters.per_release]
    assert found == pytest.approx(case["pMSE"], rel=1e-10)
    assert [one["ratio"] for one in clusters.per_release] == pytest.approx(case["S_pMSE"], rel=1e-10)
    if len(case["vars"]) <= 2:
        model = propensity(file("fair"), releases(), interactions=len(case["vars"]), **given)
        assert figures(model, "pMSE") == pytest.approx(case["pMSE"], rel=1e-8)
        assert [one["n_parameters"] - 1 for one in model.per_release] == case["df"]


def read(folder, name):
    return pl.read_csv(folder / "data" / f"{name}.csv")


def load(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "case", ["v5_maxorder0", "v5_maxorder1", "v5_maxorder2", "v9_maxorder0", "v5_m3", "v5_m3_pairs"]
)
def test_census_records(reference, case):
    given = load(reference, f"utility_gen_logit_acs_{case}")
    arguments, expected = given["arguments"], given["expected"]
    files = [read(reference, name) for name in ("ACS_syn", "ACS_syn2", "ACS_syn3")[: len(np.atleast_1d(expected["U"]))]]
    result = propensity(
        read(reference, "ACS_org"), files, variables=arguments["vars"], numeric=[],
        interactions=arguments["maxorder"] + 1,
    )  # fmt: skip
    if case.endswith("pairs"):
        expected = {"pMSE": expected["pMSE"], "SPECKS": expected["SPECKS"], "PO50": expected["PO50"], "df": 62}
    agree(result, expected)
    if case.endswith("maxorder0"):
        theirs = expected["glm"]["coef_first30"]
        ours = {name.replace("=", ""): value for _, name, value in result.coefficients.rows()}
        ours["(Intercept)"] = ours.pop("(intercept)")
        assert ours == pytest.approx(theirs, abs=1e-8)


def test_a_survey_with_missing_numbers(reference):
    given = load(reference, "utility_gen_logit_SD2011_maxorder0")
    files = [read(reference, f"SD2011_syn{j}") for j in (1, 2, 3)]
    result = propensity(read(reference, "SD2011_org"), files, variables=given["arguments"]["vars"])
    agree(result, given["expected"]["m3"])


def test_trees_find_the_same_kind_of_difference():
    variables = ["age", "yrs_married", "religious", "educ", "affairs"]
    result = propensity(
        file("fair"), file("fair_syn1"), variables=variables, numeric=variables, model="cart", seed=7, resamples=10
    )
    assert result.ratio > 10  # rpart: 47
    assert result.importance["variable"].to_list()[:2] == ["affairs", "yrs_married"]  # as rpart's splits
