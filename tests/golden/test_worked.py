"""Measures that no other program prints: figures worked by hand, and by the plainest definition on a survey.

The guide's ten respondents are small enough to count on paper; the affairs survey is large enough for patterns of
missing keys to meet. Each JSON file in `worked/` says how its figures were found.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import brute
from draw import quiet
from golden.rebuild import FAIR_KEYS, rebuild
from sdckit import exact_numbers, household_structure, key_contributions

FOLDER = Path(__file__).parent


def load(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def plain(figure):
    return {str(key): value for key, value in figure.items()} if isinstance(figure, dict) else figure


def assert_table(table, case, tolerance=1e-12):
    """The keys left out in this order, with these figures."""
    assert [one.variables for one in table] == [tuple(row["left_out"]) for row in case["table"]]
    for one, row in zip(table, case["table"], strict=True):
        assert (one.uniques_without, one.uniques_saved) == (row["uniques"], case["uniques"] - row["uniques"])
        assert plain(one.violations_without) == row["violations"], one.variables
        assert one.risk_without == pytest.approx(row["risk"], rel=tolerance), one.variables


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame], ids=["frame", "plan"])
def test_households_by_hand(make):
    case = load("worked/people_households")
    columns = load("guide/people")["columns"] | {"household": case["household"]}
    columns["number"] = list(range(len(case["household"])))  # the records of a plan are in no order of their own
    call = {"household": "household", "weight": "weight", "id": "number"}
    for one in case["cases"]:
        result = household_structure(make(columns), keys=one["keys"], **call)
        for figure, value in one["figures"].items():
            assert plain(getattr(result, figure)) == value, figure
        for column, values in one["records"].items():
            records = pl.DataFrame(result.records).sort("number")
            assert records[column].to_list() == pytest.approx(values, rel=1e-12), column


def test_contributions_by_hand():
    case = load("worked/people_contributions")
    result = key_contributions(pl.DataFrame(load("guide/people")["columns"]), keys=case["keys"])
    assert (result.uniques, plain(result.violations)) == (case["uniques"], case["violations"])
    assert result.risk == pytest.approx(case["risk"], rel=1e-12)
    assert_table(result.table, case)


def households():
    frame = rebuild("fair_na")
    i = np.arange(len(frame))
    return frame[(i % 7 != 3) & (i % 11 != 5)]


def test_households_of_the_survey():
    case = load("worked/fair_households")
    frame = households()
    result = household_structure(frame, keys=case["keys"], household="household")
    assert len(frame) == case["n"]
    for figure, value in case["figures"].items():
        assert plain(getattr(result, figure)) == value, figure
    assert result.records["composition_frequency"].sum() == case["sum_of_composition_frequency"]


def test_the_households_of_the_survey_can_be_counted_again():
    case = load("worked/fair_households")
    frame = households()
    rows = [tuple(None if np.isnan(v) else v for v in row) for row in frame[case["keys"]].to_numpy(float)]
    names, members = brute.households(frame["household"].tolist(), rows)
    kinds = list(members.values())
    assert sum(kinds.count(kind) == 1 for kind in set(kinds)) == case["figures"]["unique_compositions"]
    assert len(members) == case["figures"]["n_households"]
    assert len(names) == case["n"]


def test_contributions_in_the_survey():
    case = load("worked/fair_contributions")
    with quiet():
        result = key_contributions(rebuild(case["data"]), keys=FAIR_KEYS, weight="weight", pairs=False)
    assert (result.uniques, plain(result.violations)) == (case["uniques"], case["violations"])
    assert result.risk == pytest.approx(case["risk"], rel=case["tolerance"])
    assert_table(result.table, case, case["tolerance"])


@pytest.mark.parametrize(
    ("turnover", "counts"),
    [
        # the largest; the second is hidden by the rest (100 + 100 of 1,000 is not less than a tenth)
        ([1000, 300, 100, 100], [1, 0, 0, 0]),
        # whoever has 300 knows the 1,000 to within 10 % from the sum: the others have 99 of it, less than a tenth
        ([1000, 300, 50, 49], [1, 1, 0, 0]),
        # 910 and 900 are within 10 % of 1,000, so three of the group might be meant; of 900 within 10 % are 910 and 900
        ([1000, 910, 900, 5], [0, 0, 0, 0]),
        # 899 is farther from 1,000 than 10 %: two are near the largest, and three within 10 % of the second
        ([1000, 910, 899, 5], [1, 0, 0, 0]),
        # a loss dominates as a profit does; zeros never do
        ([-1000, 20, 0, 0], [1, 1, 0, 0]),
    ],
)
def test_large_numbers_by_hand(turnover, counts):
    """With k = 3: figures worked by hand from the definition, one group of four firms each."""
    found = exact_numbers(pl.DataFrame({"turnover": turnover}), magnitudes=["turnover"], k=3)
    assert found.records["turnover_exact"].to_list() == counts
    assert found.n_exact == sum(counts)
