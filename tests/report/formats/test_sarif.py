"""SARIF as OASIS describes it, held to section by section: what is there, and what is not there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sdckit.report.formats.sarif import artifact, render_sarif


class Told(NamedTuple):
    """A verdict as it is printed."""

    name: str
    holds: bool | None
    variable: str | None = None
    release: int | None = None
    intruder: str = "default"


SEVERAL = [
    Told("k", False), Told("risk", True), Told("l", False, "ill"), Told("l", False, "pay"),
    Told("residual_risk", None), Told("k", False, intruder="other"),
]  # fmt: skip


def log(*verdicts: Told, released: tuple[str, ...] = ()) -> dict[str, Any]:
    found = [(one, f"Said of {one.name}.") for one in verdicts]
    made: dict[str, Any] = json.loads(render_sarif(found, version="1.2.3", file="data/survey.csv", released=released))
    return made


def of_type(value: Any, kind: type, where: str) -> Any:
    assert isinstance(value, kind), where
    return value


def held_to_the_standard(found: dict[str, Any]) -> None:
    """What SARIF 2.1.0 requires of the parts that are written; its sections in the comments."""
    assert set(found) == {"$schema", "version", "runs"}
    assert found["version"] == "2.1.0"  # 3.13.2
    for run in of_type(found["runs"], list, "3.13.4"):
        driver = run["tool"]["driver"]  # 3.14.6, 3.18.2
        of_type(driver["name"], str, "3.19.8")
        rules = of_type(driver["rules"], list, "3.19.23")
        ids = [of_type(rule["id"], str, "3.49.3") for rule in rules]
        assert len(set(ids)) == len(ids)
        for rule in rules:
            of_type(rule["shortDescription"]["text"], str, "3.49.9, 3.12.3")
            assert rule["defaultConfiguration"]["level"] in {"none", "note", "warning", "error"}  # 3.50.3
        for one in run["invocations"]:
            of_type(one["executionSuccessful"], bool, "3.20.14")
            for said in one["toolExecutionNotifications"]:
                of_type(said["message"]["text"], str, "3.58.5")
                assert said["level"] in {"none", "note", "warning", "error"}  # 3.58.6
                assert ids[said["associatedRule"]["index"]] == said["associatedRule"]["id"]  # 3.52
        for result in run["results"]:
            of_type(result["message"]["text"], str, "3.27.11")
            assert result["kind"] == "fail"  # 3.27.9
            assert result["level"] in {"none", "note", "warning", "error"}  # 3.27.10
            assert ids[result["ruleIndex"]] == result["ruleId"]  # 3.27.5, 3.27.6
            for place in of_type(result["locations"], list, "3.27.12"):
                physical = place["physicalLocation"]
                uri = of_type(physical["artifactLocation"]["uri"], str, "3.4.3")
                assert re.fullmatch(r"[A-Za-z0-9._~%/-]+", uri)  # a relative reference of RFC 3986
                assert not uri.startswith("/")
                assert physical["region"]["startLine"] >= 1  # 3.30.5
            for name, value in result["partialFingerprints"].items():  # 3.27.17
                assert of_type(name, str, "a name")
                assert of_type(value, str, "a text")


@pytest.mark.parametrize("verdicts", [(), SEVERAL, SEVERAL[1:2]], ids=["none", "several", "holds"])
def test_it_is_as_the_standard_asks(verdicts: tuple[Told, ...]) -> None:
    held_to_the_standard(log(*verdicts))
    held_to_the_standard(log(*verdicts, released=("out/a b.csv", "out/c.csv")))


def test_a_rule_per_limit_and_a_result_per_exceeded_limit() -> None:
    (run,) = log(*SEVERAL)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["sdckit/k", "sdckit/risk", "sdckit/l", "sdckit/residual_risk"]
    assert [one["ruleId"] for one in run["results"]] == ["sdckit/k", "sdckit/l", "sdckit/l", "sdckit/k"]
    assert run["results"][0]["message"] == {"text": "Said of k."}
    assert run["tool"]["driver"]["version"] == "1.2.3"


def test_a_limit_that_was_not_judged_makes_the_run_no_successful_one() -> None:
    (run,) = log(*SEVERAL)["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (said,) = invocation["toolExecutionNotifications"]
    assert said["message"]["text"] == "Said of residual_risk."
    (held,) = log(Told("k", True), Told("risk", False))["runs"][0]["invocations"]
    assert held == {"executionSuccessful": True, "toolExecutionNotifications": []}


def test_the_file_is_that_which_goes_out_and_no_line_is_a_record() -> None:
    def places(one: Told, *released: str) -> list[tuple[str, Any]]:
        (result,) = log(one, released=released)["runs"][0]["results"]
        found = (place["physicalLocation"] for place in result["locations"])
        return [(place["artifactLocation"]["uri"], place["region"]) for place in found]

    first = {"startLine": 1}
    assert places(Told("k", False)) == [("data/survey.csv", first)]
    assert places(Told("k", False), "a.csv") == [("a.csv", first)]
    assert places(Told("k", False, release=2), "a.csv", "b.csv") == [("b.csv", first)]
    assert places(Told("match_risk", False), "a.csv", "b.csv") == [("a.csv", first), ("b.csv", first)]


def test_a_fingerprint_is_of_the_limit_and_not_of_what_was_found() -> None:
    def prints(*verdicts: Told) -> list[str]:
        return [one["partialFingerprints"]["sdckitLimit/v1"] for one in log(*verdicts)["runs"][0]["results"]]

    assert len(set(prints(*SEVERAL))) == 4
    assert prints(*SEVERAL)[:1] == prints(Told("k", False), Told("risk", False))[:1]


def test_a_file_elsewhere_is_named_without_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert artifact(str(tmp_path / "out" / "a.csv")) == "out/a.csv"
    assert artifact(str(tmp_path.parent / "a.csv")) == "a.csv"
    assert artifact("out/../a.csv") == "a.csv"
    assert artifact("Erhebung ü.csv") == "Erhebung%20%C3%BC.csv"
