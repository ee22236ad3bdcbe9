"""What was done, in a document: protected, without what helps to undo it; steps, values, risks, in this order."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from recipes import SECRET, STEPS, scenario, survey
from report.attacker import Solver, opened
from sdckit.errors import DataError
from sdckit.report.blocks import ChartBlock, Items, Paragraph, TableBlock
from sdckit.report.chapters import recipe_chapter
from sdckit.report.chapters.recipe_chapter import (
    limits_beside,
    link_files,
    link_parts,
    plain_recipe,
    recipe_document,
    recipe_section,
    recipes_beside,
)
from sdckit.report.chapters.release_page import _document, plain_release
from sdckit.report.gate.figures import Ledger, Quantity, Relation
from sdckit.report.gate.rounding import leaves
from sdckit.report.setting import changed_words, missing_words
from sdckit.workflow.recipes.recipe import WhatWasDone

STEP_LIST = [*STEPS[:3], {"method": "top_bottom_code", "column": "w", "top": 59.0}, *STEPS[3:]]


def done(n: int = 120, steps: list[dict[str, object]] = STEP_LIST) -> WhatWasDone:
    recipe = sdc.Recipe(steps)
    applied = recipe.apply(survey(n), scenario=scenario(), seed=5, secret=SECRET)
    return WhatWasDone(applied.log, tuple(dict(one.arguments) for one in recipe.steps), applied.figures, applied.k)


def test_small_counts_are_hidden_and_others_rounded() -> None:
    what = done()
    plain = plain_recipe(what)
    true = [change.changed for change in what.log.steps]
    printed = [{row["variable"]: row["n"] for row in step["changed"]} for step in plain["steps"]]
    for before, after in zip(true, printed, strict=True):
        for variable, count in before.items():
            assert (after[variable]["text"] == "<5") == (1 <= count <= 4)
            assert after[variable]["value"] is None or after[variable]["value"] % 5 == 0
    for one, row in zip(what.figures, plain["figures"], strict=True):
        assert row["below_k"]["value"] is None or row["below_k"]["value"] % 5 == 0
        assert row["step"] == one.step


def test_nothing_that_undoes_a_step_goes_out() -> None:
    plain = plain_recipe(done())
    told = [one["arguments"] for one in plain["steps"]]
    assert told[0] == {"column": "age", "bands": "0, 40, open"}
    assert told[1] == {"columns": "job"}  # neither pd nor the matrix
    assert told[2] == {"columns": "income", "noise": "5"}
    assert "at_risk" not in json.dumps(plain["steps"][4]["arguments"])


def test_internally_everything_is_exact() -> None:
    what = done()
    plain = plain_recipe(what, internal=True)
    assert plain["steps"][1]["arguments"]["pd"] == "0.5"
    assert plain["steps"][1]["changed"][0]["n"]["value"] == what.log.steps[1].changed["job"]


def test_a_small_file_has_no_section() -> None:
    with pytest.raises(DataError, match="fewer than 50"):
        plain_recipe(done(40, STEPS[:1]))


def test_several_files_are_counted_together() -> None:
    what = done(60, [{"method": "synthesize", "m": 3, "columns": ["income"]}])
    row = plain_recipe(what)["steps"][0]["changed"][0]
    assert row["n"]["value"] > 60
    assert row["share"]["value"] <= 1


def test_without_a_scenario_there_are_no_risks() -> None:
    applied = sdc.Recipe(STEPS[:1]).apply(survey(), seed=1, secret=SECRET)
    plain = plain_recipe(WhatWasDone(applied.log, ({},), applied.figures, 3))
    assert "below_k" not in plain["figures"][0]
    assert plain["figures"][1]["pmse"] is None


def section(scene: sdc.Scenario | None):
    steps = STEPS[:2]
    applied = sdc.Recipe(steps).apply(survey(), scenario=scene, seed=5, secret=SECRET)
    return recipe_section(plain_recipe(WhatWasDone(applied.log, tuple(steps), applied.figures, applied.k)))


def test_with_a_scenario() -> None:
    found = section(scenario())
    assert found.title == "What was done"
    tables = [block for block in found.blocks if isinstance(block, TableBlock)]
    assert [table.caption for table in tables] == ["The steps", "Values changed", "Risk and utility after each step"]
    assert [row[0] for row in tables[2].rows] == ["the original", "1. recode", "2. pram (the release)"]
    assert any(isinstance(block, ChartBlock) for block in found.blocks)
    assert "2 steps: 1. recode and 2. pram" in found.blocks[0].text


def test_several_intruders_have_a_row_each() -> None:
    found = section(scenario(keys=None, intruders={"a": ["sex"], "b": ["job"]}))
    rows = next(b for b in found.blocks if isinstance(b, TableBlock) and b.caption.startswith("Risk")).rows
    assert [row[0] for row in rows][:2] == ["the original, a", "the original, b"]


def test_without_a_scenario() -> None:
    found = section(None)
    assert sum(isinstance(block, TableBlock) for block in found.blocks) == 2
    assert isinstance(found.blocks[-1], Paragraph)
    assert "internal log" in found.blocks[-1].text


def test_groups_of_columns_are_told_apart() -> None:
    steps = [{"method": "local_suppression", "k": 2, "together": [["sex", "name"], ["age", "income"]]}]
    (step,) = plain_recipe(done(steps=steps))["steps"]
    assert step["arguments"]["together"] == "sex, name; age, income"


@pytest.mark.parametrize("n", [60, 90, 120, 150])
def test_no_share_of_changed_values_tells_a_hidden_number(n: int) -> None:
    """By an integer programme over all that is printed: the total of one step less what others changed."""
    document = recipe_document(done(n))
    ledger, prints = opened(document)
    solver = Solver(ledger, prints)
    hidden = [name for name, one in ledger.variables.items() if one.kind == "count" and 0 < (one.true or 0) < 5]
    assert hidden
    for name in hidden:
        low, high = solver.range(name)
        assert high - low >= 1, name


def test_the_share_of_few_changed_values_is_a_bound() -> None:
    data = survey(60)
    said = set()
    for few in (1, 2, 3, 4):
        steps = [{"method": "top_bottom_code", "column": "income", "top": sorted(data["income"])[-few - 1]}]
        what = done(60, steps)
        assert what.log.steps[0].changed == {"income": few}
        said.add(plain_recipe(what)["figures"][-1]["share_changed"]["text"])
    assert len(said) == 1


@pytest.mark.parametrize("hide", [False, True])
def test_values_that_follow_are_counted_through_the_gate(hide: bool) -> None:
    step = {"method": "local_suppression", "keys": ["age", "job", "sex"], "k": 3, "hide_implied": hide}
    what = done(150, [{**STEPS[0], "bands": [0, 30, 40, 60, None]}, step])
    true = what.log.steps[1].parameters["n_implied"]
    assert true == (0 if hide else 8)
    for internal in (False, True):
        plain = plain_recipe(what, internal=internal)
        assert plain["steps"][0]["implied"] is None
        found = plain["steps"][1]["implied"]
        assert found["value"] == (true if internal else 0 if hide else 10)
        (said,) = [
            one.text
            for one in recipe_section(plain).blocks
            if isinstance(one, Paragraph) and one.text.startswith("Values that step 2 took out")
        ]
        assert said.endswith(f"{found['text']}.")


def test_a_recipe_that_was_searched_for_says_why_and_what_else_there_is() -> None:
    what = done()
    one = {"words": "keeps age as it is", "loss": "5 to 10 %", "resting": "", "passed": True}
    searched = {
        "reasons": tuple(f"why {at}" for at in range(len(what.arguments))), "kept": "", "caution": "",
        "combinations": "216", "by": "what the keys tell",
        "recipes": (one, {**one, "words": "gives up age", "passed": False}),
        "front": (
            {"range": (0.05, 0.1), "expected": 3.0, "small": 0}, {"range": (0.05, 0.1), "expected": 20.0, "small": 0},
        ),
    }  # fmt: skip
    tables = {
        block.caption: block.rows
        for block in recipe_section(plain_recipe(replace(what, searched=searched))).blocks
        if isinstance(block, TableBlock)
    }
    assert [row[1] for row in tables["Why each step is there"]] == list(searched["reasons"])
    assert tables["The recipe, and others that were found"] == (
        ("1", "keeps age as it is", "5 to 10 %", "<5", "–", "hold"),
        ("2", "gives up age", "5 to 10 %", "20", "–", "do not all hold"),
    )
    assert "Why each step is there" not in str(recipe_section(plain_recipe(what)))


def test_an_open_end_is_called_so_on_either_side() -> None:
    assert recipe_chapter._words([-float("inf"), 27, float("inf")]) == "open, 27, open"
    assert recipe_chapter._words(list(range(12))) == "0, 1, 2, 3, 4, 5, 6, 7, … (+4)"


# The figures of several files in one document: linked where they are one number, or contain each other.


LINKS_STEPS = [
    {"method": "recode", "column": "age", "bands": [0, 40, float("inf")]},
    {"method": "local_suppression", "k": 3},
    {"method": "microaggregate", "columns": ["income"], "k": 3},
]


@pytest.fixture(scope="module")
def assessment():
    with quiet():
        return sdc.Recipe(LINKS_STEPS).apply(survey(200), scenario=scenario(), seed=5).assess(seed=1)


def ledger_of(before: int, after: int, touched: int) -> Ledger:
    ledger = Ledger()
    ledger.count("before", before, "x", of=Quantity(missing_words("job"), "original"))
    ledger.count("after", after, "x", of=Quantity(missing_words("job"), "release 1"))
    ledger.count("touched", touched, "x", of=Quantity(changed_words("job"), "release 1"))
    return ledger


def test_suppressed_values_are_what_is_missing_more() -> None:
    ledger = ledger_of(10, 13, 3)
    link_files(ledger, 1)
    assert Relation((("touched", 1.0), ("after", -1.0), ("before", 1.0))) in ledger.relations
    only_bounded = ledger_of(10, 13, 8)
    link_files(only_bounded, 1)
    assert Relation((("touched", 1.0), ("after", -1.0), ("before", 1.0))) not in only_bounded.relations
    assert len(only_bounded.relations) == 2


def test_steps_that_changed_a_column_bound_its_changed_values() -> None:
    ledger = ledger_of(10, 13, 8)
    ledger.count("steps: step1.job", 5, "s")
    ledger.count("steps: step2.job", 4, "s")
    ledger.count("steps: step2.age", 40, "s")
    link_files(ledger, 1)
    terms = {relation.terms for relation in ledger.relations}
    assert (("steps: step1.job", 1.0), ("steps: step2.job", 1.0), ("touched", -1.0)) in terms


def test_a_part_that_is_larger_is_no_part() -> None:
    ledger = Ledger()
    ledger.count("a", 5, "x")
    ledger.count("b", 7, "x")
    link_parts(ledger, "a", "b")
    assert not ledger.relations
    link_parts(ledger, "b", "a")
    assert ledger.relations


def test_a_number_has_one_print_in_all_chapters(assessment) -> None:
    """The recipe's steps, the original, the release and what both tell: one quantity, one text."""
    texts: dict[object, set[str]] = {}
    for leaf in leaves(plain_release(assessment)):
        if len(leaf["text"].identity.of) == 1:
            texts.setdefault(leaf["text"].identity, set()).add(str(leaf["text"]))
    assert [one for one in texts.values() if len(one) > 1] == []
    several = [one for one in texts if one.of[0].base == "release 1"]
    assert several


def test_the_steps_that_changed_no_key_leave_its_figures(assessment) -> None:
    figures = plain_release(assessment)["what_was_done"]["figures"]
    last, before = figures[-1], figures[-2]
    for name in ("sample_uniques", "below_k", "expected_reidentifications"):
        assert last[name]["text"] == before[name]["text"]


def test_no_small_count_can_be_worked_out(assessment) -> None:
    """The exact range of every hidden count over all chapters, by an integer programme over all that is printed."""
    ledger, prints = opened(_document(assessment, internal=False))
    solver = Solver(ledger, prints)
    hidden = [name for name, one in prints.items() if one.value is None and ledger.variables[name].kind == "count"]
    assert any(name.startswith("steps: ") for name in prints)
    assert any(name.startswith("release 1: ") for name in prints)
    for name in hidden:
        if solver.varies(name):
            continue
        low, high = solver.range(name)
        assert high - low >= 2 or low >= 5 or high == 0, name


def frame(changed: int, n: int = 240) -> pl.DataFrame:
    data = pl.DataFrame({"sex": ["f", "m"] * (n // 2), "area": (["a"] * 8 + ["b"] * 4) * (n // 12)})
    row = pl.int_range(pl.len())
    return data.with_columns(area=pl.when(row < changed).then(pl.lit("b")).otherwise("area"))


@pytest.mark.parametrize("aligned", [True, False])
def test_no_figure_tells_how_few_records_were_changed(aligned: bool) -> None:
    """One, two, three or four changed records: every figure of usefulness and of the map is the same."""
    said = set()
    for changed in (1, 2, 3, 4):
        with quiet():
            found = sdc.assess(frame(0), frame(changed), scenario=sdc.Scenario(keys=["sex", "area"], aligned=aligned))
        utility = plain_release(found)["utility"]
        figures = {(row["name"], part): row[part]["text"] for row in utility["table"] for part in ("value", "smallest")}
        figures |= {("heat", cell["one"], cell["other"]): cell["value"]["text"] for cell in utility["heat"]["cells"]}
        figures |= {("pair", one["variables"]): one["s_pmse"]["text"] for one in utility["pairs"]}
        said.add(tuple(sorted(figures.items())))
    assert len(said) == 1


# Two recipes side by side: the figures of each as its own document prints them.


def test_two_recipes_are_compared_by_what_they_come_to() -> None:
    whole = sdc.Recipe(STEPS).apply(survey(), scenario=scenario(), secret=SECRET)
    first = sdc.Recipe(STEPS).prefix(1).apply(survey(), scenario=scenario(), secret=SECRET)
    plains = [plain_recipe(one.what_was_done) for one in (whole, first)]
    (table,) = recipes_beside(plains, ["all", "one"]).blocks
    assert isinstance(table, TableBlock)
    assert table.columns == ("Figure", "all", "one")
    ends = [plain["figures"][-1]["share_changed"]["text"] for plain in plains]
    assert ends[0] != ends[1]
    assert [row[1:] for row in table.rows if row[0] == "Values that differ"] == [tuple(ends)]


def test_limits_stand_beside_each_other_and_say_why_one_is_not_judged() -> None:
    asked = sdc.Scenario(intruders={"one": ["age"], "other": ["age", "sex"]}, thresholds={"k": 3, "residual_risk": 0.5})
    steps = [{"method": "recode", "column": "age", "bands": [0, 50, 200]}, {"method": "random_order"}]
    with quiet():
        made = [sdc.Recipe(steps).prefix(n).apply(survey(), scenario=asked, secret=SECRET) for n in (2, 1)]
        plains = [plain_release(applied.assess(seed=1)) for applied in made]
    table, reasons = limits_beside(plains, ["all", "fewer"]).blocks
    assert isinstance(table, TableBlock)
    assert isinstance(reasons, Items)
    assert table.columns == ("Limit", "Intruder", "all", "fewer")
    assert {row[1] for row in table.rows} == {"one", "other"}
    assert {state for row in table.rows for state in row[2:]} <= {"holds", "exceeded", "not judged"}
    assert any("not judged" in row for row in table.rows)
    assert all("could not be judged" in reason for reason in reasons.items)
