"""What a proposal says of itself: words, ranges for documents, exact figures where they are asked for."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

import sdckit as sdc
from proposals import SCENARIOS, survey, trials
from sdckit.workflow.proposing.proposal import (
    Alternative,
    MostMatched,
    Proposal,
    about_loss,
    in_words,
    matched_back,
    most_matched,
)  # fmt: skip
from sdckit.workflow.proposing.trials import judge
from sdckit.workflow.recipes.recipe import Recipe

ONE = Proposal(
    recipe=Recipe([{"method": "random_order"}]), text="# a", passed=True, loss=0.2345, bound=0.2, optimal=False,
    risk=0.01, keys={"age": "as it is", "area": "left out"}, hidden={"age": 0.0123}, resting=0.0, exceeded=(),
    unjudged=(), impossible=(), alternatives=(), n=1000, nodes=12, seen=7, tried=2,
)  # fmt: skip


def test_words() -> None:
    assert ONE.words == "keeps age as it is; gives up area"
    assert in_words({"a": "as it is", "b": "as it is"}) == "keeps a and b as they are"
    assert ONE.gap > 0.0345 - 1e-9
    assert replace(ONE, loss=0.1).gap == 0.0


def test_documents_have_ranges() -> None:
    told = json.dumps(ONE.to_dict())
    assert "0.23" not in told
    assert ONE.to_dict()["loss"] == "20 to 25 %"
    assert ONE.to_dict()["hidden"] == {"age": "under 5 %"}
    assert ONE.to_dict(internal=True)["loss"] == 0.2345
    assert replace(ONE, n=20).to_dict()["loss"] is None
    assert about_loss(1.2, 1000) == "95 to 100 %"


def test_most_records_that_rest_on_missing_values_are_told_of_aloud() -> None:
    resting = replace(ONE, resting=0.876)
    for text in (resting.caution, repr(resting), str(resting.to_dict())):
        assert "Most records (85 to 90 %) reach k only through missing values of others" in text
        assert "share=0.05" in text
    assert replace(ONE, resting=0.49).caution == ""
    assert replace(resting, n=20).caution == ""


def test_what_k_promises_is_said_where_it_is_kept_and_where_it_is_not() -> None:
    kept = replace(ONE, resting=0.876, promise=3, matched=1 / 3)
    for text in (kept.kept, repr(kept), str(kept.to_dict()), str(kept.searched())):
        assert "At most one in 3 records is expected to be matched back, as k = 3 promises" in text
    assert kept.caution == ""
    assert kept.to_dict()["matched"] is None
    assert kept.to_dict(internal=True)["matched"] == 1 / 3
    broken = replace(kept, matched=0.34)
    assert broken.kept == ""
    for text in (broken.caution, repr(broken), str(broken.to_dict()), str(broken.searched())):
        assert "More than one in 3 records is expected to be matched back, although k = 3 holds" in text
    assert ONE.kept == ""
    assert ONE.to_dict(internal=True)["matched"] is None


def test_what_is_impossible_is_exact_only_inside() -> None:
    failed = replace(ONE, passed=False, exceeded=("k",), impossible=("a: 7 records are in groups",))
    assert failed.to_dict()["impossible"] == ["k"]
    assert failed.to_dict(internal=True)["impossible"] == ["a: 7 records are in groups"]
    assert "does not pass (k)" in repr(failed)
    assert "at most 3.4% above the best" in repr(ONE)
    assert "the best of 12" in repr(replace(ONE, optimal=True))


TEXT = """# A head.

title = "A"

# Why this
# and no other.
[[steps]]
method = "drop_identifiers"
columns = ["a"]

# The last.
[[steps]]
method = "random_order"

# An end.
"""


def test_the_reasons_are_the_comments_above_the_steps() -> None:
    told = replace(ONE, text=TEXT)
    assert told.reasons == ("Why this and no other.", "The last.")
    assert told.to_dict()["reasons"] == list(told.reasons)


def test_a_document_is_told_of_the_search_in_ranges() -> None:
    found = replace(ONE, text=TEXT).searched()
    assert found["reasons"] == ("Why this and no other.", "The last.")
    assert found["recipes"] == ({"words": ONE.words, "loss": "20 to 25 %", "resting": "under 5 %", "passed": True},)
    assert replace(ONE, text=TEXT).searched(internal=True)["recipes"][0]["loss"] == "23.4%"


def test_the_front_has_the_recipe_and_those_beside_it() -> None:
    beside = Alternative(ONE.recipe, "a: b", {}, 0.5, 0.001, 0.0, True, expected=1.0)
    both = replace(ONE, alternatives=(beside,), expected=33.3)
    assert [one["range"] for one in both.front()] == [(0.2, 0.25), (0.5, 0.55)]
    assert [one["range"] for one in both.front(internal=True)] == [(0.2345, 0.2345), (0.5, 0.5)]
    assert [one["range"] for one in replace(both, n=20).front()] == [None, None]
    assert both.front(internal=True)[0]["expected"] == 33.3
    told = both.to_dict()
    assert (told["risk"], told["alternatives"][0]["risk"]) == ("35", "<5")
    assert both.to_dict(internal=True)["risk"] == 33.3
    assert replace(both, n=3).to_dict()["risk"] is None


def test_the_front_is_drawn() -> None:
    chart = replace(ONE, expected=33.3).plot().to_dict()
    (values,) = chart["datasets"].values()
    assert [(row["from"], row["to"], row["risk"]) for row in values] == [(0.2, 0.25, 35.0)]
    assert chart["title"]["text"].startswith("Risk and loss")


K3 = {"k": 3}


def test_a_declared_limit_takes_the_place_of_what_k_promises() -> None:
    def of(**entries: object) -> MostMatched | None:
        return most_matched(sdc.Scenario(keys=["age"], **entries))

    assert of(thresholds={"risk": 0.1}) is None
    assert of(thresholds={"k": 5}) == MostMatched(0.2, 5)
    assert of(thresholds={"k": 5, "match_risk": 0.3}) == MostMatched(0.3)
    assert of(thresholds={"k": 5, "match_risk": 1.0}) is None
    typed = of(release="scientific-use", sensitive=[], household="none", magnitudes=[])
    assert typed is not None
    assert typed == MostMatched(1 / typed.promise, typed.promise)


def test_the_limit_is_asked_of_a_release_only_where_k_promises_it() -> None:
    scenario = sdc.Scenario(keys=["age"], thresholds=K3)
    assert MostMatched(1 / 3, 3).asked(scenario).thresholds.declared == {"k": 3, "match_risk": 1 / 3}
    assert MostMatched(0.2).asked(scenario) is scenario
    assert MostMatched(1 / 3, 3).holds(1 / 3)
    assert not MostMatched(1 / 3, 3).holds(0.334)


def test_records_without_a_gap_are_matched_among_those_alike() -> None:
    recoded = pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "area": ["a", "b", "a", "a", "b"]})
    release = recoded.with_columns(area=pl.Series(["a", None, "a", "a", "b"]))
    scenario = sdc.Scenario(intruders={"one": ["sex", "area"], "other": ["sex"]}, thresholds=K3)
    # 1 of one, none of the record that lost its area, 1 of two alike, 1 of one
    assert matched_back(recoded, release, scenario, MostMatched(1 / 3, 3)) == pytest.approx(3 / 5)
    assert matched_back(recoded, recoded, scenario, MostMatched(1 / 3, 3)) == 0.0
    assert matched_back(recoded, recoded, scenario, MostMatched(1 / 3)) == pytest.approx(4 / 5)


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize("number", [0, 2, 4])
def test_a_trial_measures_what_the_limit_reads(name: str, number: int) -> None:
    """As it is, with coarser numbers, and left out: of the file itself, not of what was recoded."""
    one = trials(name, survey(150), share=1.0, thresholds={**SCENARIOS[name]["thresholds"], "match_risk": 0.5})
    node = (min(number, one.shape[0] - 1), *(0 for _ in one.shape[1:]))
    made = one.make(node)
    verdicts = [each for each in judge(one, made, one.how).verdicts if each.name == "match_risk"]
    assert verdicts
    assert made.matched == pytest.approx(max(each.value for each in verdicts))
