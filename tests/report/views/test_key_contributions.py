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
from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import ChartBlock, Code, Paragraph, TableBlock
from sdckit.report.chapters.document import build_document
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.audit import make_system, propagate
from sdckit.report.gate.choose_rounding import sound_relations
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document
from sdckit.report.views.key_contributions import VIEW, most_saving, share_saved

PLACE = "key_contributions"
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
        return sdc.assess(data, scenario=Scenario(keys=KEYS, numeric=["wealth"], thresholds={"k": 3}, **design))


def by_key(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {", ".join(row["variables"]): row for row in rows}


def test_exact_in_the_room() -> None:
    assessment = assessed(frame(400, 1), sampling_fraction=0.05)
    result = assessment.intruders[0]["key_contributions"]
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
        assert (steps[key]["levels_before"], steps[key]["levels_after"]) == (step.levels_before, step.levels_after)
        assert steps[key]["entropy_lost"] == pytest.approx(step.entropy_lost)
        assert steps[key]["risk_without"]["value"] == pytest.approx(step.risk_without)
    assert [one["sentence"] for one in tree["suggestions"]] == [one.sentence for one in result.suggestions]


def test_outside_no_order_no_levels_and_no_information_is_told() -> None:
    assessment = assessed(frame(400, 3), sampling_fraction=0.05)
    tree = plain_document(assessment)["intruders"][0]["key_contributions"]
    for rows in (tree["table"], tree["coarsenings"]):
        assert [row["variables"] for row in rows] == sorted(row["variables"] for row in rows)
    words = {row["rule"] for row in tree["coarsenings"]}
    assert words == {"bands with round edges", "the rarest levels as one"}
    steps = by_key(tree["coarsenings"])
    assert "bands = [-inf, " in steps["wealth"]["step"]
    assert {steps[key]["step"] for key in steps if key != "wealth"} == {""}  # these would name values
    text = json.dumps(tree)
    for inside in ("decides_alone", "entropy", "levels_before", "levels_after", "suggestions", "bits", "with_values"):
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
        if attack.varies(name):
            continue
        low, high = attack.range(name)
        known = high - low < 2 and any(0 < value < 5 for value in range(low, high + 1))
        assert not known, (name, low, high)


def test_a_result_without_steps_or_violations_still_has_its_table() -> None:
    tree = plain_document(assess_fake(survey(300), FULL))["intruders"][0]["key_contributions"]
    assert tree["coarsenings"] == []
    assert all(row["violations_without"] == {} for row in tree["table"])


@pytest.fixture(scope="module")
def one() -> dict[str, Any]:
    found: dict[str, Any] = plain_document(assess_fake(survey(500, missing=0.03), FULL))["intruders"][0]
    return found


def tables(one: dict[str, Any]) -> dict[str, TableBlock]:
    return {block.caption: block for block in VIEW.blocks(one, PLACE) if isinstance(block, TableBlock)}


def test_contributions_are_in_no_telling_order(one: dict[str, Any]) -> None:
    singles = [row["variables"] for row in one["key_contributions"]["table"] if len(row["variables"]) == 1]
    assert singles == sorted(singles)


def test_keys_are_ranked_by_printed_figures(one: dict[str, Any]) -> None:
    chart = next(b for b in VIEW.blocks(one, PLACE) if isinstance(b, ChartBlock))
    left = [row["n"] for row in chart.data["rows"]]
    values = [leaf["value"] if leaf["value"] is not None else 2.5 for leaf in left]
    assert values == sorted(values)


def contributions(left: dict[str, Any], uniques: Any = 40) -> str:
    def leaf(value: Any) -> dict[str, Any]:
        small = {"text": "<5", "value": None, "below": 5}
        return small if value == "<5" else {"text": f"{value:,}", "value": value}

    table = [{"variables": [name], "uniques_without": leaf(value)} for name, value in left.items()]
    return most_saving({"uniques": leaf(uniques), "table": table})


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ({"sex": 30, "age": 10}, " Recoding age would save most: without it, 10 are left."),
        ({"sex": 30, "age": "<5"}, " Recoding age would save most: without it, <5 are left."),
        ({"sex": 10, "age": 10, "job": 40}, " Recoding sex or age would save most: without it, 10 are left."),
        ({"sex": 40, "age": 40}, " No key makes many of them unique by itself."),
        ({}, ""),
    ],
)
def test_the_key_to_recode_first(left: dict[str, Any], words: str) -> None:
    assert contributions(left) == words
    assert contributions(left, uniques=0) == ""


def test_what_is_withheld_is_no_reason_to_recode() -> None:
    withheld = {"text": "withheld", "value": None}
    rows = [{"variables": ["age"], "uniques_without": withheld}]
    assert most_saving({"uniques": {"text": "40", "value": 40}, "table": rows}) == ""


@pytest.fixture(scope="module")
def stepped() -> Any:
    frame = pl.DataFrame(survey(500)).with_columns(wealth=pl.int_range(500) * 7 % 9)
    with quiet():
        return sdc.assess(frame, scenario=Scenario(keys=KEYS, numeric=["wealth"], sampling_fraction=0.05))


def test_the_step_to_take_first_is_named_by_printed_figures(stepped: Any) -> None:
    plain = plain_document(stepped)["intruders"][0]
    blocks = VIEW.blocks(plain, PLACE)
    table = tables(plain)["One key coarser by a step"]
    left = [float(row[2].replace(",", "")) for row in table.rows]
    assert left == sorted(left)
    assert {row[1] for row in table.rows} == {"round bands", "rarest as one"}
    assert any(f"Of these steps, {table.rows[0][0]}" in getattr(block, "text", "") for block in blocks)
    assert all(row[4].endswith(" %") for row in table.rows)
    assert table.columns[5:7] == ("Below k = 3", "Below k = 5")
    assert not any("What to do first" in caption for caption in tables(plain))


def test_steps_to_paste_name_values_only_in_the_room(stepped: Any) -> None:
    outside = VIEW.blocks(plain_document(stepped)["intruders"][0], PLACE)
    inside = VIEW.blocks(plain_document(stepped, internal=True)["intruders"][0], PLACE)
    shown = [block for block in outside if isinstance(block, Code)]
    assert len(shown) == 1
    assert shown[0].screen
    assert shown[0].text.count("[[steps]]") == shown[0].text.count("bands = ") == 1
    (public, named) = [block for block in inside if isinstance(block, Code)]
    assert public == shown[0]
    assert not named.screen
    assert 'column = "occupation"' in named.text
    words = " ".join(block.text for block in outside if isinstance(block, Paragraph))
    assert "age, occupation and region: codes whose order says nothing" in words


def test_whole_numbers_that_may_be_codes_are_asked_about() -> None:
    with quiet():
        result = sdc.key_contributions(frame(400, 5), keys=KEYS, sampling_fraction=0.1)
    for internal in (True, False):
        tree = protect(result_document(result), internal=internal)
        words = [block.text for block in VIEW.blocks(tree, PLACE) if isinstance(block, Paragraph)]
        assert any("wealth: whole numbers that may be codes: group those that belong" in one for one in words)


def test_in_the_room_the_suggestions_are_ranked(stepped: Any) -> None:
    plain = plain_document(stepped, internal=True)["intruders"][0]
    rows = next(one for caption, one in tables(plain).items() if "What to do first" in caption).rows
    ranked = stepped.intruders[0]["key_contributions"].suggestions
    assert [row[0].split()[-1] for row in rows] == [one.variables[0] for one in ranked]
    assert rows[0][0].startswith(("coarsen ", "leave out "))


def test_no_advice_where_nobody_is_unique(stepped: Any) -> None:
    plain = plain_document(stepped, internal=True)["intruders"][0]
    nobody = {**plain[PLACE], "uniques": {"text": "0", "value": 0}}
    assert nobody["suggestions"]
    blocks = VIEW.blocks({**plain, PLACE: nobody}, PLACE)
    assert not any("What to do first" in getattr(block, "caption", "") for block in blocks)
    assert isinstance(blocks[0], Paragraph)
    assert "would save most" not in blocks[0].text


@pytest.mark.parametrize(
    ("left", "whole", "words"),
    [
        ({"text": "395", "value": 395}, {"text": "1,095", "value": 1095}, "64 %"),
        ({"text": "<5", "value": None, "below": 5}, {"text": "150", "value": 150}, "over 96 %"),
        ({"text": "50", "value": 50}, {"text": "45", "value": 45}, "0 %"),
        ({"text": "withheld", "value": None}, {"text": "45", "value": 45}, "withheld"),
        ({"text": "0", "value": 0}, {"text": "<5", "value": None, "below": 5}, "withheld"),
        ({"text": "0", "value": 0}, {"text": "0", "value": 0}, "undefined"),
    ],
)
def test_the_share_that_is_saved(left: dict[str, Any], whole: dict[str, Any], words: str) -> None:
    assert share_saved(left, whole) == words


def test_the_key_to_recode_is_named_below_no_column(one: dict[str, Any]) -> None:
    blocks = VIEW.blocks(one, PLACE)
    assert isinstance(blocks[0], Paragraph)
    assert "would save most" in blocks[0].text
    assert not any("Suggestion" in block.columns for block in blocks if isinstance(block, TableBlock))


def test_of_pairs_the_violations_stay_inside() -> None:
    with quiet():
        result = sdc.key_contributions(frame(200, 5), keys=KEYS[:4], sampling_fraction=0.1)
    rows = {tuple(row.variables): row.violations_without for row in result.table}
    for internal in (True, False):
        tree = protect(result_document(result), internal=internal)[PLACE]
        pairs = [row for row in tree["table"] if len(row["variables"]) == 2]
        assert len(pairs) == 6
        for row in pairs:
            told = {int(k): leaf["value"] for k, leaf in row["violations_without"].items()}
            exact = {k: n for k, n in rows[tuple(row["variables"])].items() if k > 2}
            assert told == (exact if internal else {})


@pytest.mark.parametrize("frequent", [0, 5])
def test_that_there_is_a_coarser_key_does_not_tell_how_many_levels_are_rare(frequent: int) -> None:
    """Of one rare level there is no step, of two there is: documents list it only where both have one."""
    steps = []
    for rare in ("b" * 4, "b" * 4 + "c" * 4):
        key = list("a" * (100 - frequent - len(rare)) + "d" * frequent + rare)
        data = pl.DataFrame({"key": key, "other": ["x", "y"] * 50})
        with quiet():
            plain = protect(result_document(sdc.key_contributions(data, keys=["key", "other"])))
        steps.append(["key"] in [row["variables"] for row in plain[PLACE]["coarsenings"]])
    assert steps == [frequent == 5] * 2


def test_without_a_key_of_one_value_the_groups_are_printed_as_with_it() -> None:
    data = pl.DataFrame({"same": ["x"] * 60, "key": [*"a" * 57, *"bcd"]})
    with quiet():
        plain = protect(result_document(sdc.key_contributions(data, keys=["same", "key"])))[PLACE]
    (row,) = [row for row in plain["table"] if row["variables"] == ["same"]]
    assert row["uniques_without"]["text"] == plain["uniques"]["text"]
