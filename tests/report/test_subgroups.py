"""Subgroups in documents: exact in a confidential one, shares of many records in any other."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit
from sdckit.errors import ColumnError
from sdckit.report.chapters.document import build_document
from sdckit.report.chapters.release_page import plain_release
from sdckit.report.gate.figures import Ledger
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import screen_page
from sdckit.report.subgroups import group_figures, subgroup_blocks, subgroups_tree

N = 300
RNG = np.random.default_rng(3)
SURVEY = pl.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], N), "age": RNG.integers(20, 60, N), "ill": RNG.choice(["yes", "no"], N),
        "district": RNG.choice(["Quellheim", "Brunnstadt", None], N, p=[0.6, 0.3, 0.1]),
    }
)  # fmt: skip
RELEASE = SURVEY.with_columns(
    age=pl.Series(np.where(RNG.random(N) < 0.3, RNG.integers(20, 60, N), SURVEY["age"].to_numpy())),
    ill=pl.Series(RNG.permutation(SURVEY["ill"].to_numpy())),
).drop("district")
SCENARIO = sdckit.Scenario(keys=["sex", "age"], sensitive=["ill"], aligned=True)


@cache
def of_one() -> Any:
    """The assessment of the survey."""
    return sdckit.assess(SURVEY, scenario=SCENARIO, by="district")


@cache
def of_both() -> Any:
    """That of its release."""
    return sdckit.assess(SURVEY, RELEASE, scenario=SCENARIO, by="district", seed=1)


def test_every_measure_with_figures_of_records_has_the_groups():
    for place in ("key_frequencies", "k_anonymity", "individual_risk", "l_diversity"):
        assert of_one()["default"][place].by == ("district",)
        assert len(of_one()["default"][place].by_group) == 3
    results = of_both()["default"]
    for place in ("matching_risk", "identity_disclosure", "attribute_disclosure:ill", "prediction_risk:ill",
                  "correct_attribution_probability:ill"):  # fmt: skip
        assert results[place].by_group["n"].sum() == N
    assert of_both().original["default"]["individual_risk"].by == ("district",)
    assert of_both().released[0]["default"]["individual_risk"].by == ()


def test_a_confidential_document_has_them_exactly():
    (one,) = protect(build_document(of_one()), internal=True)["intruders"]
    groups = one["subgroups"]["individual_risk"]["groups"]
    expected = of_one()["default"]["individual_risk"].by_group
    assert [row["labels"] for row in groups] == [[label or "(missing)"] for label in expected["district"]]
    assert [row["n"] for row in groups] == expected["n"].to_list()
    assert [row["figures"]["global_risk"] for row in groups] == expected["global_risk"].to_list()
    assert one["rates"]["individual_risk"]["global_risk"] == {
        "of": "records", "n": N, "direction": "higher is riskier"
    }  # fmt: skip
    release = plain_release(of_both(), internal=True)["intruders"][0]
    assert len(release["subgroups"]["attribute_disclosure:ill"]["groups"]) == 3


def test_a_protected_document_has_shares_that_many_records_carry():
    plain = protect(build_document(of_one()), internal=False)
    (one,) = plain["intruders"]
    assert one["subgroups"]["individual_risk"] == {"by": ["district"]}
    exact = {
        row["district"]: row["violation_rates[5]"]
        for row in of_one()["default"]["k_anonymity"].by_group.rows(named=True)
    }
    groups = one["subgroups"]["k_anonymity"]["groups"]
    assert [row["labels"] for row in groups] == [["Brunnstadt"], ["Quellheim"]]  # not those without a district
    for row in groups:
        assert set(row) == {"labels", "figures"}
        share = row["figures"]["violation_rates[5]"]
        assert abs(share["value"] - exact[row["labels"][0]]) <= 0.1
        assert round(share["value"] * 100) % 20 == 0
        for few in ("violation_rates[2]", "violation_rates[3]"):
            assert row["figures"][few] == {"text": "withheld", "value": None}
    table, note = subgroup_blocks(one, "k_anonymity")
    assert table.rows[0][1:] == (groups[0]["figures"]["violation_rates[5]"]["text"], "–", "–")
    assert "fewer than fifty" in note.text


def test_no_share_and_few_records_look_alike():
    """That nobody of a subgroup is at risk would tell of the rest."""
    survey = pl.DataFrame({"key": ["a"] * 60 + ["b"] * 60 + ["c"] * 58 + ["d", "e"], "at": ["x"] * 60 + ["y"] * 120})
    found = sdckit.assess(survey, scenario=sdckit.Scenario(keys=["key"], thresholds={"k": 3}), by="at")
    (one,) = protect(build_document(found), internal=False)["intruders"]
    shares = [row["figures"]["violation_rates[3]"] for row in one["subgroups"]["k_anonymity"]["groups"]]
    assert shares == [{"text": "withheld", "value": None}] * 2
    (note,) = subgroup_blocks(one, "k_anonymity")  # a table of nothing is none
    assert "or none, nothing is shown" in note.text


def test_a_protected_document_names_no_small_subgroup():
    plain = protect(build_document(of_one()), internal=False)
    (one,) = plain["intruders"]
    assert one["rates"]["individual_risk"]["global_risk"] == {"of": "records", "direction": "higher is riskier"}
    release = plain_release(of_both())
    for document in (plain, release):
        text = json.dumps(document)
        assert "(missing)" not in text
        assert '"n": 1' not in json.dumps(document["intruders"][0]["subgroups"])
    (block,) = subgroup_blocks(one, "individual_risk")
    assert block.text.startswith("Figures by district stand in a confidential document only")


def test_all_else_that_is_printed_is_the_same_without_subgroups():
    without = protect(build_document(sdckit.assess(SURVEY, scenario=SCENARIO)), internal=False)
    with_them = protect(build_document(of_one()), internal=False)
    for plain in (without, with_them):
        plain.pop("reproduce")
        plain["intruders"][0].pop("subgroups", None)
    assert without == with_them


def test_tables_are_in_the_page_of_the_terminal():
    for assessment in (of_one(), of_both()):
        blocks = [block for section in screen_page(assessment).sections for block in section.blocks]
        captions = [getattr(block, "caption", "") for block in blocks]
        assert captions.count("By district, the riskiest first") >= 4


def test_a_long_table_is_cut():
    survey = SURVEY.with_columns(district=pl.Series(np.arange(N) % 50))
    result = sdckit.individual_risk(survey, keys=["sex", "age"], by="district")
    tree = {"subgroups": {"individual_risk": {"by": ["district"], "groups": group_figures(result)}}}
    table, more = subgroup_blocks(tree, "individual_risk")
    assert len(table.rows) == 20
    assert more.text == "… 30 more"
    assert subgroups_tree({"individual_risk": sdckit.individual_risk(survey, keys=["sex"])}, Ledger(), "") == {}
    assert subgroup_blocks({}, "individual_risk") == []


def test_the_call_is_told_and_a_wrong_column_is_refused_first():
    assert "by=['district']" in protect(build_document(of_one()), internal=False)["reproduce"]["python"]
    assert "--by district" in plain_release(of_both())["reproduce"]["command"]
    with pytest.raises(ColumnError, match="by: no column 'distrikt'"):
        sdckit.assess(SURVEY, scenario=SCENARIO, by="distrikt")


def test_plans_are_assessed_by_subgroup_too():
    plan = sdckit.assess(SURVEY.lazy(), scenario=SCENARIO, by="district")
    found = plan["default"]["individual_risk"].by_group.to_pylist()
    expected = of_one()["default"]["individual_risk"].by_group.rows(named=True)
    assert {row["district"]: row["n"] for row in found} == {row["district"]: row["n"] for row in expected}
