from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import polars as pl
import pytest

from report.documents import render_html
from report.fakes import FULL, assess_fake, survey
from report.special import EXTRA, assessed, printed
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.chapters.document import (
    build_document,
    command_line,
    method_notes,
    python_call,
    release_calls,
    scenario_tree,
)
from sdckit.report.common_blocks import bars
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.figures import Count, InternalOnly
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_chart
from sdckit.report.setting import Setting
from sdckit.report.view import Note, View, added
from sdckit.workflow.assess import assess


@dataclass(frozen=True)
class Toys:
    toys: int
    n: int = 200
    measure: ClassVar[str] = "toys"


def test_a_verdict_prints_the_figure_of_its_table() -> None:
    document = build_document(assess_fake(survey(300), FULL))
    counts = {one["name"]: one["n_records"] for one in document.tree["verdicts"]}  # type: ignore[index, union-attr]
    assert counts["k"] == Count("i0.violations.3")
    assert counts["risk"] == Count("i0.above")
    assert counts["l"] == Count("i0.l.income.distinct.2")
    assert counts["global_risk"] is None


def test_a_verdict_on_k_prints_what_the_other_rule_gives() -> None:
    document = build_document(assess_fake(survey(300, missing=0.05), FULL))
    (one,) = [one for one in document.tree["verdicts"] if one["name"] == "k"]  # type: ignore[index, union-attr]
    assert one["n_category"] == Count("i0.violations.category.3")
    assert one["n_resting"] == Count("i0.resting.3")
    uniques = document.tree["intruders"][0]["key_frequencies"]["resting_on_missing"]  # type: ignore[index]
    assert uniques == Count("i0.resting.2")  # one number, printed one way


def test_large_numbers_of_a_file_by_itself_have_a_document() -> None:
    frame = pl.DataFrame({"region": ["n", "s", "w", "e"] * 50, "turnover": [float(size**3) for size in range(200)]})
    scenario = Scenario(keys=["region"], magnitudes=["turnover"], thresholds={"exact_numbers": 0.0})
    (verdict,) = plain_document(assess(frame, scenario=scenario))["verdicts"]
    assert (verdict["name"], verdict["holds"]["value"], verdict["variable"]) == ("exact_numbers", False, None)


def test_records_are_listed_for_internal_use_only() -> None:
    assessment = assess_fake(survey(300), FULL)
    assert build_document(assessment).tree["records_at_risk"] == InternalOnly(None)
    listed = build_document(assessment, internal=True).tree["records_at_risk"]
    assert isinstance(listed, InternalOnly)
    assert isinstance(listed.content, dict)
    assert listed.content["total"] == sum(assessment.n_at_risk().values())
    assert "records_at_risk" not in protect(build_document(assessment))


def test_fewer_keys_are_linked_to_more() -> None:
    scenario = Scenario(intruders={"wide": ["sex", "age"], "narrow": ["sex"]})
    document = build_document(assess_fake(survey(300), scenario))
    assert "i0.violations.3 - i1.violations.3" in document.variables
    assert "i1.violations.3 - i0.violations.3" not in document.variables


def test_figures_of_persons_are_not_taken_for_cells() -> None:
    scenario = Scenario(keys=["sex", "age"], person="household", missing="category")
    document = build_document(assess_fake(survey(300), scenario))
    linked = {name for one in document.relations for name, _ in one.terms}
    assert "i0.violations.3" in linked
    assert not any(
        {"i0.violations.3", "i0.records in 1-1"} <= {name for name, _ in one.terms} for one in document.relations
    )


def test_a_key_has_its_missing_rate() -> None:
    rows = survey(400, missing=0.1)
    plain = protect(build_document(assess_fake(rows, FULL)), internal=True)
    age = plain["intruders"][0]["key_facts"][1]
    gone = sum(row["age"] is None for row in rows)
    assert age["n_missing"]["value"] == gone
    assert age["missing_rate"]["value"] == pytest.approx(gone / 400, abs=1e-6)


def test_every_note_names_authors_and_years() -> None:
    notes = build_document(assess_fake(survey(60), FULL)).tree["methods"]
    assert isinstance(notes, tuple)
    assert [note["name"] for note in notes] == [
        "k-anonymity", "Missing values in keys", "Individual risk", "Contribution of keys", "Household risk",
        "l-diversity", "Protection of this document",
    ]  # fmt: skip
    assert all(re.search(r"\w+ .*\(\d{4}\)", str(note["source"])) for note in notes)


def test_a_census_is_called_one() -> None:
    notes = {note["name"]: note["text"] for note in method_notes(["individual_risk"], Scenario(keys=["sex"]))}
    assert "whole population" in str(notes["Individual risk"])
    assert "l-diversity" not in notes


def test_further_measures_have_their_notes_where_they_ran() -> None:
    names = [note["name"] for note in method_notes(["suda", "risky_cells"], FULL)]
    assert names == ["Special uniques", "Risky combinations", "Protection of this document"]


def test_they_appear_only_if_computed() -> None:
    one = printed(assessed(measures="suda"))
    assert set(EXTRA) & one.keys() == {"suda"}
    assert set(EXTRA) <= printed(assessed()).keys()


def test_a_measure_from_outside_appears_everywhere() -> None:
    """Registered by its view alone: figures, section, method, answer and chart."""

    def tree(result: Any, setting: Setting) -> dict[str, Any]:
        return {"n": setting.count("toys", result.toys, "toys")}

    toy = View(
        "Toys",
        tree,
        lambda one, place: [bars("Toys by kind", "toys", [("all", one[place]["n"])])],
        lambda _: [Note("Toys", "They are counted.", "Nobody (2026)")],
        answer=lambda one, place, _n: f"There are {one[place]['n']['text']} toys.",
    )
    fake = assess_fake(survey(200), FULL)
    one = fake.intruders[0]
    with_toys = replace(fake, intruders=(replace(one, results={**one.results, "toys": Toys(37)}),))
    with added("toys", toy):
        plain = plain_document(with_toys)
        assert plain["intruders"][0]["toys"]["n"]["text"] == "35"
        text = render_html(plain)
        assert result_chart(Toys(37)).to_dict()["title"]["text"] == "Toys by kind"
    for words in ("Toys by kind", "There are 35 toys.", "They are counted."):
        assert words in text


def test_the_tree_holds_only_what_was_declared() -> None:
    tree = scenario_tree(FULL, judged=())
    assert tree["release_words"] == "scientific-use file"
    assert tree["thresholds"] == FULL.thresholds.declared


SCENARIOS = [
    FULL.model_copy(update={"title": ""}),
    Scenario(keys=["a"]),
    Scenario(intruders={"x": ["a", "b"], "y": ["a"]}, sampling_fraction=0.1, missing={"a": "category"}, alpha=0.5),
    Scenario(keys=["a"], aligned=True, matching={"known": ["a"], "width": {"a": 0.2}, "high_risk": 0.1}),
    Scenario(keys=["my key"], weight="w", sensitive=["s"], missing_codes=["NA", "-9"], identifiers=["name"]),
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_call_makes_the_same_scenario(scenario: Scenario) -> None:
    class Module:
        Scenario = Scenario

        @staticmethod
        def assess(_: object, *, scenario: Scenario) -> Scenario:
            return scenario

    names: dict[str, object] = {"sdc": Module, "data": None}
    exec(python_call(scenario), names)
    assert names["assessment"] == scenario


def test_the_command_quotes_and_leaves_the_file_open() -> None:
    words = shlex.split(command_line(SCENARIOS[-1]))
    assert words == ["sdckit", "assess", "FILE", "--scenario", "SCENARIO.toml"]
    assert shlex.split(command_line(Scenario(keys=["my key"], missing_codes=["-9"])))[-3:] == [
        "--keys", "my key", "--missing=-9",
    ]  # fmt: skip
    assert command_line(FULL) == "sdckit assess FILE --scenario SCENARIO.toml"


def test_the_measures_asked_for_are_repeated() -> None:
    scenario = Scenario(keys=["sex", "age"], numeric=["wage"])
    assert python_call(scenario, ["suda"]).endswith("sdc.assess(data, scenario=scenario, measures=['suda'])")
    command = "sdckit assess FILE --keys sex,age --numeric wage --measures suda,outliers"
    assert command_line(scenario, ["suda", "outliers"]) == command
    with_file = Scenario(keys=["sex"], thresholds={"k": 3})
    command = "sdckit assess FILE --scenario SCENARIO.toml --measures suda"
    assert command_line(with_file, ["suda"]) == command


def test_the_calls_of_a_release_repeat_its_attacks() -> None:
    how = {"id": None, "m": 1, "attacks": "control", "n_attacks": 150, "seed": "SEED"}
    calls = release_calls(Scenario(keys=["a"]), **how)
    assert calls["python"].endswith("scenario=scenario, control=control, n_attacks=150, seed=SEED)")
    assert calls["command"].endswith("--control CONTROL --n-attacks 150 --seed SEED")
    plain = release_calls(Scenario(keys=["a"]), id=None, m=1, attacks="attacks", n_attacks=500)
    assert plain["python"].endswith("sdc.assess(original, released, scenario=scenario, attacks=True)")
    assert plain["command"] == "sdckit assess ORIGINAL --released FILE --keys a --attacks"
