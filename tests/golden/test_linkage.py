"""B2 and B3 against sdcMicro 5.8.1, on files that anybody can rebuild and on its authors' files.

Where sdckit deliberately differs, and what is compared instead:

- recordLinkage takes each original to its nearest masked record; here a released record is taken to its nearest
  original. The files are exchanged for the comparison.
- The smallest sum of distances can be reached by several assignments (`gower_mixed_weights` of
  `recordLinkage_200`): the sum is compared, and the number of correct links to within one.
- dRiskRMD measures distances with the robust covariance, but from the mean; here from the robust centre. The
  reference's covariance is given with a centre of 0 (the mean of standardised data) for the comparison to 1e-8.
- Its wrisk is the share at risk times the sum of 0.05 times their distances, so that twice the records have twice
  the figure; here the sum of the distances divided by the records.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.datasets import anes96, star98

from sdckit import interval_risk, record_linkage, robust_interval_risk

FOLDER = Path(__file__).parent / "portable"
LINKAGE = json.loads((FOLDER / "record_linkage_anes96.json").read_text(encoding="utf-8"))
INTERVALS = json.loads((FOLDER / "interval_risk_star98.json").read_text(encoding="utf-8"))
STAR = ["LOWINC", "PERASIAN", "PERBLACK", "PERHISP", "AVYRSEXP", "AVSALK", "PERSPENK", "PTRATIO"]
TESTDATA = ["expend", "income", "savings"]
TOLERANCE = 1e-8


def linked_files():
    """200 voters with ties broken, and a copy: numbers scaled, some parties exchanged, rows in another order."""
    voters, i = anes96.load_pandas().data.head(200), np.arange(200)
    known = voters[["PID", "vote"]].assign(id=i + 1)
    for name, p in (("popul", 101), ("age", 211), ("educ", 307), ("income", 401)):
        known[f"u_{name}"] = voters[name] + (i * p) % 947 / 947
    masked = known.copy()
    for j, name in enumerate(["u_popul", "u_age", "u_educ", "u_income"]):
        masked[name] *= 1 + ((13 * i * (j + 1)) % 17 - 8) / 50
    masked["PID"] = np.where(i % 9 == 4, np.roll(known["PID"], -1), known["PID"])
    return known, masked.iloc[(77 * i + 5) % 200].reset_index(drop=True)


def schools():
    known, i = star98.load_pandas().data[STAR], np.arange(303)[:, None]
    return known, known * (1 + ((13 * i * np.arange(1, 9)) % 17 - 8) / 100)


@pytest.mark.parametrize("name", LINKAGE["cases"])
def test_the_election_survey(name):
    case, (known, masked) = LINKAGE["cases"][name], linked_files()
    given = {
        "variables": case["variables"], "numeric": LINKAGE["numeric"], "distance": case["distance"],
        "weights": case["weights"], "id": "id",
    }  # fmt: skip
    result = record_linkage(known, masked, method="assignment", **given)
    assert result.correct_links == case["assignment"]["correct_links"]
    assert result.mean_distance == pytest.approx(case["assignment"]["mean_distance"], rel=TOLERANCE)
    of_release = masked["id"].to_numpy()[np.array(case["assignment"]["linked_id"]) - 1]
    assert result.records["linked_row"].to_numpy()[of_release - 1].tolist() == list(range(1, 201))
    nearest = record_linkage(masked, known, **given)
    assert nearest.correct_links == case["nearest"]["correct_links"]
    assert nearest.baseline == 1 / 200


def check_robust(known, masked, expected, covariance, names):
    n, p = len(known), len(names)
    covariance = np.array(covariance).reshape(p, p)
    result = robust_interval_risk(known, masked, numeric=names, center=np.zeros(p), covariance=covariance)
    assert result.rate == pytest.approx(expected["rate"], rel=TOLERANCE)
    assert result.isolated_rate == pytest.approx(expected["isolated_rate"], rel=TOLERANCE)
    for rate, weighted, name in (
        (result.rate, result.weighted_risk, "share_times_weight"),
        (result.isolated_rate, result.isolated_weighted_risk, "isolated_share_times_weight"),
    ):
        assert rate * 0.05 * weighted * n == pytest.approx(expected[name], rel=TOLERANCE)
    return result


def test_the_schools():
    known, masked = schools()
    for width, rate in INTERVALS["interval_risk"].items():
        assert interval_risk(known, masked, numeric=STAR, width=float(width)).rate == rate
    expected = INTERVALS["robust"]
    result = check_robust(known, masked, expected, INTERVALS["covariance"], STAR)
    weights = 0.05 * result.records["robust_distance"] * result.records["inside"]
    assert weights.to_numpy() == pytest.approx(np.array(expected["weight_by_record"]), rel=TOLERANCE)


def test_the_schools_with_our_own_estimate():
    known, masked = schools()
    theirs = robust_interval_risk(
        known, masked, numeric=STAR, center=INTERVALS["center"],
        covariance=np.array(INTERVALS["covariance"]).reshape(8, 8),
    )  # fmt: skip
    ours = robust_interval_risk(known, masked, numeric=STAR, seed=1)
    for figure in ("rate", "isolated_rate", "weighted_risk", "isolated_weighted_risk"):
        assert getattr(ours, figure) == pytest.approx(getattr(theirs, figure), rel=0.1)
    assert ours.rate == pytest.approx(INTERVALS["robust"]["rate"], rel=0.1)


# --- sdcMicro's own files -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gower_numeric", "gower_mixed", "gower_mixed_weights", "euclidean", "manhattan"])
def test_record_linkage_of_200(reference, name):
    case = json.loads((reference / "recordLinkage_200.json").read_text(encoding="utf-8"))
    known, masked = (pd.read_csv(reference / "data" / f"reclink_{one}200.csv") for one in ("orig", "masked"))
    numeric, mixed = case["arguments"]["vars_numeric"], case["arguments"]["vars_mixed"]
    names = [one.removesuffix("(factor)") for one in (mixed if "mixed" in name else numeric)]
    given = {
        "variables": names, "numeric": [one for one in names if f"{one}(factor)" not in mixed], "id": "id",
        "distance": "gower" if name.startswith("gower") else name,
        "weights": case["arguments"]["weights_mixed"] if "weights" in name else None,
    }  # fmt: skip
    result, expected = record_linkage(known, masked, method="assignment", **given), case["expected"][name]
    assert result.mean_distance == pytest.approx(expected["mean_distance"], rel=TOLERANCE)
    assert abs(result.correct_links - expected["correct_matches"]) <= ("weights" in name)
    assert record_linkage(masked, known, **given).correct_links == expected["nearest_neighbour_correct"]


@pytest.mark.parametrize("name", ["mdav3", "noise1", "noise10"])
def test_intervals_on_testdata(reference, name):
    case = json.loads((reference / f"numeric_risk_utility_testdata_{name}.json").read_text(encoding="utf-8"))
    expected, robust = case["expected"], case["expected"]["dRiskRMD_seed1"]
    known, masked = (
        pd.read_csv(reference / "data" / f"{one}.csv")[TESTDATA] for one in ("testdata", f"testdata_num_{name}")
    )
    for width in (0.01, 0.05, 0.1):
        found = interval_risk(known, masked, numeric=TESTDATA, width=width)
        assert found.rate == pytest.approx(expected[f"dRisk_k{width:g}"], rel=TOLERANCE)
    figures = {
        "rate": robust["risk1"], "isolated_rate": robust["risk2"], "share_times_weight": robust["wrisk1"],
        "isolated_share_times_weight": robust["wrisk2"],
    }  # fmt: skip
    theirs = check_robust(known, masked, figures, expected["covMcd_scaled_original"]["cov"], TESTDATA)
    assert (theirs.n_inside, theirs.n_isolated) == (robust["n_index1"], robust["n_index2"])
    ours = robust_interval_risk(known, masked, numeric=TESTDATA, seed=1)
    for figure in ("rate", "isolated_rate", "weighted_risk", "isolated_weighted_risk"):
        assert getattr(ours, figure) == pytest.approx(getattr(theirs, figure), rel=0.1)
