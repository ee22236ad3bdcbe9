"""Risky cells of sdcMicro, minimal sets and key contributions of the guide's ten people, outliers by hand.

Where sdckit deliberately differs:

- riskyCells with identification levels looks at all tables of up to as many variables as there are levels; here the
  tables are those of mu-Argus (tests/identity/test_risky_cells.py enumerates them from the definition).
- At a quantile of a group of equal values every value would be an outlier; here none is.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from draw import quiet
from golden.rebuild import rebuild
from sdckit import explain, key_contributions, key_separation, outliers, risky_cells

FOLDER = Path(__file__).parent
PORTABLE = sorted(path.stem for path in (FOLDER / "portable").glob("risky_cells_*.json"))
KEYS = ["residence", "gender", "education", "labour"]


def load(kind, name):
    return json.loads((FOLDER / kind / f"{name}.json").read_text(encoding="utf-8"))


def people():
    return pl.DataFrame(load("guide", "people")["columns"])


@pytest.mark.parametrize("name", PORTABLE)
def test_risky_cells_on_files_that_anybody_can_rebuild(name):
    case = load("portable", name)
    threshold = {int(d): limit for d, limit in case["threshold"].items()}
    result = risky_cells(rebuild(case["data"]), keys=case["keys"], max_dim=3, threshold=threshold)
    found = [{"variables": list(row.variables), "unsafe": row.n_unsafe} for row in result.table]
    assert found == case["table"]
    assert [row.threshold for row in result.table] == [threshold[len(row["variables"])] for row in case["table"]]


def test_distinction_and_separation_of_five_people():
    """By hand: three ages, two of them twice, tell 8 of 10 pairs apart; of sex and state one pair is the same."""
    sexes, states = ["f", "f", "f", "m", "m"], ["CA", "CA", "TX", "NY", "CA"]
    five = pl.DataFrame({"age": [20, 30, 40, 20, 40], "sex": sexes, "state": states})
    result = key_separation(five, keys=["age", "sex", "state"])
    found = {row.variables: (row.distinction, row.separation) for row in result.table}
    assert found["age",] == pytest.approx((0.6, 0.8))
    assert found["sex",] == pytest.approx((0.4, 0.6))
    assert found["sex", "state"] == pytest.approx((0.8, 0.9))
    assert (result.distinction, result.separation) == (1.0, 1.0)


def test_risky_cells_of_the_reference(reference):
    case = json.loads((reference / "riskyCells_testdata.json").read_text(encoding="utf-8"))
    arguments, expected = case["arguments"], case["expected"]
    frame = pl.read_csv(reference / "data" / case["data"], infer_schema_length=None)
    result = risky_cells(
        frame, keys=arguments["keyVars"], max_dim=arguments["maxDim"],
        threshold=dict(enumerate(arguments["threshold"], 1)),
    )  # fmt: skip
    named = zip(expected["dim1"], expected["dim2"], expected["dim3"], strict=True)
    assert [row.variables for row in result.table] == [tuple(v for v in one if v) for one in named]
    assert [row.n_unsafe for row in result.table] == [int(count) for count in expected["unsafe_cells"]]


# The guide's SUDA scores of the four sample uniques: a minimal set of size k weighs (4 - k)!.
@pytest.mark.parametrize(("row", "score"), [(3, 6), (5, 12), (7, 6), (8, 10)])
def test_the_minimal_sets_give_the_scores_of_the_guide(row, score):
    with quiet():
        result = explain(people(), keys=KEYS, row=row)
    assert result.sharing == 1
    weights = {1: 6, 2: 2, 3: 1, 4: 1}
    assert sum(weights[len(one)] for one in result.key_sets) == score


def test_the_keys_of_the_guide():
    with quiet():
        result = key_contributions(people(), keys=KEYS, weight="weight")
    assert (result.uniques, result.violations[2], result.violations[3]) == (4, 4, 10)
    assert result.risk == pytest.approx(0.01582, abs=5e-6)
    # without education, only the rural woman, and the unemployed man, are alone
    assert result.decides_alone["education"] == 0.5
    assert result.decides_alone["residence"] == 0


def test_outliers_of_a_survey():
    frame = rebuild("fair")
    result = outliers(frame, numeric=["affairs", "yrs_married"], upper_quantile=0.95, lower_quantile=0.05)
    for name in ("affairs", "yrs_married"):
        values = frame[name].to_numpy()
        low, high = np.quantile(values, [0.05, 0.95])  # type 7 is numpy's default
        assert result.limits[name] == pytest.approx((low, high), rel=1e-14)
        expected = (values <= low) | (values >= high)
        assert result.counts[name] == expected.sum()
        assert result.records[f"outlier_{name}"].tolist() == expected.tolist()
