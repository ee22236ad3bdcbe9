"""What leaving keys out or coarsening them saves: right inside, and nothing small to be worked out outside."""

from __future__ import annotations

import json
import math
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from report.attacker import Solver, opened
from report.fakes import survey
from sdckit.data.scenario import Scenario
from sdckit.report.document import build_document
from sdckit.report.notebook import result_document
from sdckit.report.propagation import make_system, propagate
from sdckit.report.settle import sound_relations
from sdckit.report.write import plain_document

KEYS = ["sex", "age", "region", "occupation", "wealth"]
DESIGNS: dict[str, dict[str, Any]] = {
    "fraction": {"sampling_fraction": 0.05},
    "weighted": {"weight": "weight"},
    "census": {"missing": "category"},
}


def frame(n: int, seed: int, missing: float = 0.0) -> pl.DataFrame:
    rows = survey(n, seed=seed, missing=missing)
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(wealth=pl.int_range(n) * (seed + 7) % 9)


def assessed(data: pl.DataFrame, **design: Any) -> Any:
    with quiet():
        return sdc.assess(data, scenario=Scenario(keys=KEYS, thresholds={"k": 3}, **design))


def by_key(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {", ".join(row["variables"]): row for row in rows}


def test_exact_in_the_room() -> None:
    assessment = assessed(frame(400, 1), sampling_fraction=0.05)
    result = assessment.intruders[0].key_contributions
    tree = plain_document(assessment, internal=True)["intruders"][0]["key_contributions"]
    for row in result.table:
        told = by_key(tree["table"])[", ".join(row.variables)]
        assert told["uniques_without"]["value"] == row.uniques_without
        assert told["uniques_saved"]["value"] == row.uniques_saved
        assert told["decides_alone"] == pytest.approx(row.decides_alone)
        assert {int(k): one["value"] for k, one in told["violations_without"].items()} == {
            k: count for k, count in row.violations_without.items() if k > 2
        }
        assert told["risk_without"]["value"] == pytest.approx(row.risk_without)
    steps = by_key(tree["coarsenings"])
    assert set(steps) == set(result.coarsenings) == {"age", "occupation", "region", "wealth"}
    for key, step in result.coarsenings.items():
        assert steps[key]["uniques_without"]["value"] == step.uniques_without
        assert (steps[key]["levels_before"], steps[key]["levels_after"]) == (
            step.levels_before,
            step.levels_after,
        )
        assert steps[key]["entropy_lost"] == pytest.approx(step.entropy_lost)
        assert steps[key]["risk_without"]["value"] == pytest.approx(step.risk_without)
    assert [one["sentence"] for one in tree["suggestions"]] == [one.sentence for one in result.suggestions]


def test_outside_no_order_no_levels_and_no_information_is_told() -> None:
    assessment = assessed(frame(400, 3), sampling_fraction=0.05)
    tree = plain_document(assessment)["intruders"][0]["key_contributions"]
    for rows in (tree["table"], tree["coarsenings"]):
        assert [row["variables"] for row in rows] == sorted(row["variables"] for row in rows)
    words = {row["rule"] for row in tree["coarsenings"]}
    assert words == {"neighbouring levels in pairs", "the rarest levels as one"}
    text = json.dumps(tree)
    for inside in ("decides_alone", "entropy", "levels_before", "levels_after", "suggestions", "bits"):
        assert inside not in text


@pytest.mark.parametrize(
    ("design", "n", "missing"),
    [
        ("fraction", 60, 0.0),
        ("fraction", 150, 0.0),
        ("fraction", 400, 0.04),
        ("weighted", 60, 0.0),
        ("census", 400, 0.0),
    ],
)
def test_no_small_count_can_be_worked_out(design: str, n: int, missing: float) -> None:
    assert_nothing_told(build_document(assessed(frame(n, n, missing), **DESIGNS[design])))


def test_nor_from_one_measure_with_pairs() -> None:
    with quiet():
        result = sdc.key_contributions(frame(120, 5), keys=KEYS[:4], sampling_fraction=0.1)
        assert len(result.table) == 10
        assert_nothing_told(result_document(result))


def assert_nothing_told(document: Any) -> None:
    ledger, prints = opened(document)
    counts = [name for name, one in ledger.variables.items() if one.kind == "count"]
    # Every relation is true: the audit left none of them out.
    assert len(sound_relations(ledger.variables, ledger.relations, counts)) == len(ledger.relations)
    attack = Solver(ledger, prints)
    bounds = dict.fromkeys(ledger.variables, (0.0, math.inf))
    bounds |= {name: (one.low, one.high) for name, one in prints.items()}
    reach = propagate(bounds, make_system(ledger.relations, counts)) or {}
    ours = [
        name
        for name, one in ledger.variables.items()
        if ".contributions." in name and one.kind == "count" and one.watched == "everywhere"
    ]
    assert len(ours) > 20
    narrow = [one for one in ours if reach[one][0] < 5]
    for name in sorted(narrow, key=lambda one: reach[one][1] - reach[one][0])[:15]:
        low, high = attack.range(name)
        known = high - low < 2 and any(0 < value < 5 for value in range(low, high + 1))
        assert not known, (name, low, high)


def test_a_result_without_steps_or_violations_still_has_its_table() -> None:
    from report.fakes import FULL, assess_fake

    tree = plain_document(assess_fake(survey(300), FULL))["intruders"][0]["key_contributions"]
    assert tree["coarsenings"] == []
    assert all(row["violations_without"] == {} for row in tree["table"])
