"""What the assessments of a file and of a release share: results by intruder and place, verdicts, words."""

from __future__ import annotations

from typing import Any

import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.workflow.assessed import Assessed, IntruderAssessment, listed_reasons


@pytest.fixture(scope="module", params=["file", "release"])
def found(request: pytest.FixtureRequest) -> Any:
    intruders = {"near": ["sex", "age"], "far": ["sex", "age", "region"]}
    scenario = releases.scenario(keys=None, intruders=intruders, thresholds={"k": 2, "match_risk": 0.9})
    with quiet():
        if request.param == "file":
            return sdc.assess(releases.original(), scenario=scenario)
        return sdc.assess(releases.original(), releases.release(), scenario=scenario, seed=1)


def test_results_are_found_by_intruder_and_place(found: Assessed) -> None:
    assert list(found) == ["near", "far"]
    assert len(found) == 2
    for name in found:
        one = found[name]
        assert isinstance(one, IntruderAssessment)
        assert len(one) == len(list(one)) == len(one.results)
        assert all(one[place] is one.get(place) is one.results[place] for place in one)
    with pytest.raises(KeyError, match="nobody"):
        _ = found["nobody"]


def test_what_did_not_run_is_none_and_has_a_reason(found: Assessed) -> None:
    one = found["far"]
    missing = dict(one.skipped)
    assert missing
    for place in missing:
        assert one.get(place) is None
        assert place not in one
        with pytest.raises(KeyError):
            _ = one[place]


def test_verdicts_are_those_of_all_intruders(found: Assessed) -> None:
    assert found.verdicts == found["near"].verdicts + found["far"].verdicts
    assert {verdict.intruder for verdict in found.verdicts} == {"near", "far"}


def test_the_dict_holds_every_result_at_its_place(found: Assessed) -> None:
    told = found.to_dict()["intruders"]
    for name in found:
        assert list(told[name]["measures"]) == list(found[name])
        assert told[name]["skipped"] == listed_reasons(found[name].skipped)
        assert told[name]["keys"] == list(found[name].keys)
        assert [one["sentence"] for one in told[name]["verdicts"]] == [
            v.sentence for v in found[name].verdicts
        ]


def test_the_summary_is_every_figure(found: Assessed) -> None:
    rows = found.details().rows()
    for name in found:
        for place, result in found[name].results.items():
            figures = {row[2] for row in rows if row[:2] == (name, place)}
            assert figures == {figure for figure, _ in result._flat()}


def test_it_reads_as_words(found: Assessed) -> None:
    text = repr(found)
    assert "near (sex, age)" in text
    assert all(verdict.sentence in text for verdict in found.verdicts)
