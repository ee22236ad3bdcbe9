"""Figures of sdcMicro 5.8.1 on files that anybody can rebuild from statsmodels (`rebuild.py`).

Where sdckit deliberately differs, and what is compared instead:

- Rows whose keys are all missing (`freq_risk_fair_na_all_6keys`): freqCalc gives complete records no credit for
  them, but partly missing records all, and gives them n whatever alpha is. Here they count for no other record, and
  in their own count others follow alpha; compared with every pair of records, and sdcMicro's sum with what differs.
- alpha = 0.5: indivRisk leaves the risk 0 where 1 < f < 2 and uses p/(f - q) for 2 < f < 3. Here both have the
  exact form; compared with the integral, and with indivRisk on the other records.
- indivRisk(method="exact") gives non-finite values for large f (`n_exact_nonfinite`): such cases are compared with
  the integral instead.
- ldiversity's recursive l is 1 at least; here it is 0 where not even l = 1 holds (possible for c <= 1 only, and only
  in classes whose known sensitive values agree; these files have none at c = 1).
- MultiEntropy and MultiRecursive, always 0 in sdcMicro 5.8.1, do not exist here.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from draw import quiet
from golden.compare import agree, agree_where, approximation_applies, columns, frequencies, risks
from golden.rebuild import MAKERS, RECIPES, rebuild
from sdckit import k_anonymity, l_diversity

FOLDER = Path(__file__).parent / "portable"
KNOWN = {"weight": "weight"}
CASES = sorted(path.stem for path in FOLDER.glob("freq_risk_*.json"))
REGULAR = [name for name in CASES if "na_all" not in name]
DIVERSITY = sorted(path.stem for path in FOLDER.glob("ldiversity_*.json"))

file = cache(rebuild)


def load(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def by_alpha(names):
    return [pytest.param(name, alpha, id=f"{name}-{alpha}") for name in names for alpha in load(name)["alphas"]]


@pytest.mark.parametrize("name", MAKERS)
def test_the_files_are_rebuilt(name):
    frame, facts = file(name), load("fingerprints")["files"][name]
    assert name in RECIPES
    assert (len(frame), int(frame.isna().sum().sum())) == (facts["n"], facts["n_missing"])
    rows = np.arange(1, len(frame) + 1)
    for column, total in facts["sum"].items():
        values = frame[column].fillna(0).to_numpy(float)
        assert values.sum() == pytest.approx(total, rel=1e-12), column
        assert values @ rows == pytest.approx(facts["sum_by_row"][column], rel=1e-12), column


@pytest.mark.parametrize(("name", "alpha"), by_alpha(REGULAR))
def test_frequencies(name, alpha):
    case = load(name)
    expected, tolerance = case["alphas"][alpha], case["tolerance"]
    result = frequencies(file(case["data"]), keys=case["keys"], alpha=float(alpha), **KNOWN)
    found = columns(result)
    for column in ("sample_frequency", "population_frequency"):
        agree(found[column], expected[column], tolerance)
    assert result.sample_uniques == expected["sample_uniques"]
    assert int((found["sample_frequency"] == 2).sum()) == expected["records_with_f_2"]
    anonymity = k_anonymity(result.cells, k=(2, 3, 5))
    assert anonymity.violations == {int(k): count for k, count in expected["violations"].items()}


@pytest.mark.parametrize(("name", "alpha"), by_alpha(REGULAR))
def test_risks(name, alpha):
    case = load(name)
    expected, tolerance = case["alphas"][alpha], case["tolerance"]
    cells = frequencies(file(case["data"]), keys=case["keys"], alpha=float(alpha), **KNOWN).cells
    approx, exact = (risks(cells, keys=None, alpha=None, method=method) for method in ("approx", "exact"))
    found = columns(approx)
    comparable = approximation_applies(found["sample_frequency"])
    agree_where(comparable, found["risk"], expected["risk_approx"]["first"], tolerance)
    if comparable.all() and "sum" in expected["risk_approx"]:
        agree(found["risk"], expected["risk_approx"], tolerance)
        total = expected["expected_reidentifications_approx"]
        assert approx.expected_reidentifications == pytest.approx(total, rel=tolerance)
    for kind in ("risk_exact", "risk_true_integral"):
        if kind in expected:
            agree(columns(exact)["risk"], expected[kind], tolerance)
    if "records_with_f_between_1_and_2" in expected:
        f = found["sample_frequency"]
        assert int(((f > 1) & (f < 2)).sum()) == expected["records_with_f_between_1_and_2"]


@pytest.mark.parametrize("name", REGULAR)
def test_households_and_the_file(name):
    case = load(name)
    tolerance = case["tolerance"]
    result = risks(file(case["data"]), keys=case["keys"], method="approx", household="household", **KNOWN)
    agree(columns(result)["household_risk"], case["household_risk"], tolerance)
    for figure, value in case["figures"].items():
        assert getattr(result, figure) == pytest.approx(value, rel=tolerance), figure
    for threshold, count in case["records_with_risk_above"].items():
        assert result.count_above(float(threshold)) == count
    census = risks(file(case["data"]), keys=case["keys"])
    agree(columns(census)["risk"], case["census"], tolerance)


@pytest.mark.parametrize("name", [name for name in CASES if "category" in load(name)])
def test_a_missing_value_as_a_category(name):
    case = load(name)
    result = frequencies(file(case["data"]), keys=case["keys"], missing="category")
    assert columns(result)["sample_frequency"].sum() == case["category"]["sample_frequency_sum"]
    violations = {int(k): count for k, count in case["category"]["violations"].items()}
    assert k_anonymity(result.cells, k=tuple(violations)).violations == violations


@pytest.mark.parametrize("alpha", ["1", "0.5", "0"])
def test_rows_without_any_key_count_for_no_other(alpha):
    case = load("freq_risk_fair_na_all_6keys")
    expected, tolerance = case["alphas"][alpha], case["tolerance"]
    result = frequencies(file(case["data"]), keys=case["keys"], alpha=float(alpha), **KNOWN)
    found = columns(result)
    agree(found["sample_frequency"], expected["sample_frequency"], tolerance)
    agree(found["population_frequency"], expected["population_frequency"], tolerance)
    assert found["sample_frequency"][[1000, 5000]].tolist() == expected["sample_frequency"]["rows_1000_5000"]
    assert k_anonymity(result.cells, k=(2, 3, 5)).violations == {
        int(k): count for k, count in expected["violations"].items()
    }
    # sdcMicro's sum has what partly missing records get from the two rows, and what these lose for alpha < 1
    keys = file(case["data"])[case["keys"]].isna().sum(axis=1)
    partly = int(((keys > 0) & (keys < len(case["keys"]))).sum())
    more = float(alpha) * 2 * partly + 2 * (len(keys) - found["sample_frequency"][1000])
    sdcmicro = expected["sdcMicro"]["sample_frequency"]["sum"]
    assert found["sample_frequency"].sum() == pytest.approx(sdcmicro - more, rel=tolerance)


@pytest.mark.parametrize("name", DIVERSITY)
def test_l_diversity(name):
    case = load(name)
    variable = case["sensitive"]
    with quiet():
        result = l_diversity(file(case["data"]), keys=case["keys"], sensitive=variable, c=case["c"], levels=(2, 3, 4))
    found = columns(result)
    for kind in ("distinct", "entropy", "recursive"):
        agree(found[f"{kind}_{variable}"], case[kind], case["tolerance"])
        assert result.level[variable][kind] == pytest.approx(case[kind]["min"], rel=case["tolerance"])
    violations = {int(ell): count for ell, count in case["distinct_violations"].items()}
    assert result.violations[variable]["distinct"] == violations
