"""Every verdict of a scenario with a type of release says where its limit comes from; without a type none does."""

from __future__ import annotations

import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.workflow.limit_origins import with_origins
from sdckit.workflow.verdicts import Verdict

PEOPLE = pl.DataFrame(
    {
        "sex": ["f"] * 6 + ["m"] * 5 + ["f"],
        "age": [30] * 6 + [41] * 5 + [60],
        "ill": ["a", "b"] * 6,
        "home": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6],
    }
)
ROLES = {"keys": ["sex", "age"], "sensitive": ["ill"], "sampling_fraction": 0.001}


def test_the_type_is_a_gate() -> None:
    result = sdc.check(PEOPLE, scenario=sdc.Scenario(**ROLES, release="public-use"))
    assert [(one.name, one.limit, one.origin) for one in result.verdicts] == [
        (name, limit, "limit of a public-use file") for name, limit in (("k", 5), ("risk", 0.05), ("l", 2))
    ]
    assert not result.passed
    assert result.exceeded[0].sentence.endswith("(k = 5); limit of a public-use file")
    without = PEOPLE.head(11)
    assert sdc.check(without, scenario=sdc.Scenario(**ROLES, release="public-use")).passed
    assert "limit of a public-use file" in repr(result.assessment)


def test_a_type_under_contract_asks_less() -> None:
    scenario = sdc.Scenario(keys=["sex", "age"], sampling_fraction=0.001, release="scientific-use")
    trio = pl.DataFrame({"sex": ["f"] * 3 + ["m"] * 3, "age": [30] * 3 + [41] * 3})
    assert sdc.check(trio, scenario=scenario).passed
    public = scenario.changed(release="public-use")
    assert [one.name for one in sdc.check(trio, scenario=public).exceeded] == ["k"]


def test_households_are_judged_where_there_are_some() -> None:
    scenario = sdc.Scenario(**ROLES, household="home", release="scientific-use")
    found = {one.name: one for one in sdc.assess(PEOPLE, scenario=scenario).verdicts}
    assert found["household_risk"].limit == 0.2
    assert found["household_risk"].holds is not None


def test_a_verdict_without_a_type_says_nothing_of_it() -> None:
    scenario = sdc.Scenario(**ROLES, thresholds={"k": 2})
    (one,) = sdc.assess(PEOPLE, scenario=scenario).verdicts
    assert one.origin == ""
    assert one.sentence.endswith("(k = 2)")


def test_what_is_given_back_is_judged_by_the_same_limit() -> None:
    verdicts = [
        Verdict(name, "default", None, 5, True, 0, None, "") for name in ("k", "k_undone", "risk_undone")
    ]
    scenario = sdc.Scenario(**ROLES, release="public-use", thresholds={"k": 5})
    found = [one.origin for one in with_origins(verdicts, scenario)]
    assert found == ["limit of the scenario (a public-use file: 5)"] * 2 + ["limit of a public-use file"]


def released(frame: pl.DataFrame, **more: object) -> sdc.ReleaseAssessment:
    with quiet():
        return sdc.assess(
            PEOPLE, frame, scenario=sdc.Scenario(**ROLES, household="home", aligned=True, **more), seed=1
        )


def test_a_public_release_gives_nothing_back() -> None:
    found = {one.name: one for one in released(PEOPLE, release="public-use").verdicts}
    assert (found["recoverable"].limit, found["recoverable"].origin) == (0.0, "limit of a public-use file")
    assert "recoverable" not in {one.name for one in released(PEOPLE, release="scientific-use").verdicts}


def test_a_release_without_households_holds_the_limit_of_its_type_alone() -> None:
    without = PEOPLE.drop("home")
    (one,) = [one for one in released(without, release="public-use").verdicts if one.name == "household_risk"]
    assert (one.holds, one.reason) == (True, "the release does not have the household column")
    assert one.origin == "limit of a public-use file"
    (own,) = released(without, thresholds={"household_risk": 0.05}).verdicts
    assert own.holds is None  # as written, so asked for


def test_the_gate_of_a_release_has_every_limit_of_its_type() -> None:
    scenario = releases.scenario(release="public-use")
    with quiet():
        result = sdc.check(releases.original(), releases.release(), scenario=scenario, seed=1)
    assert {one.name for one in result.verdicts} >= {"k", "risk", "recoverable"}
    assert all(one.origin for one in result.verdicts)


@pytest.mark.parametrize("files", [(PEOPLE,), (PEOPLE, PEOPLE)])
def test_a_type_without_limits_is_no_gate(files: tuple[pl.DataFrame, ...]) -> None:
    scenario = sdc.Scenario(**ROLES, release="enclave")
    with pytest.raises(sdc.ScenarioError, match=r"secure environment has no threshold .* \[release_types\]"):
        sdc.check(*files, scenario=scenario)


def test_a_limit_on_two_files_alone_is_no_gate_for_one() -> None:
    scenario = sdc.Scenario(**ROLES, release="own", release_types={"own": {"recoverable": 0.5}})
    with pytest.raises(sdc.ScenarioError, match="has no threshold that could be checked here"):
        sdc.check(PEOPLE, scenario=scenario)


def test_functions_take_k_from_the_type() -> None:
    scenario = sdc.Scenario(keys=["sex", "age"], release="public-use")
    assert 5 in sdc.k_anonymity(PEOPLE, scenario=scenario, k=2).violations
    _, change = sdc.local_suppression(PEOPLE, scenario=scenario)
    assert change.changed == {"sex": 0, "age": 1}
