"""What may be matched back: declared, or promised by k; and how many are, counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from proposals import SCENARIOS, survey, trials
from sdckit.workflow.proposing.matched_back import MostMatched, matched_back, most_matched
from sdckit.workflow.proposing.trials import judge

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
