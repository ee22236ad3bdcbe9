"""The figures of several files in one document: linked where they are one number, or contain each other."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from recipes import scenario, survey
from report.attacker import Solver, opened
from sdckit.report.chapters.release_document import _document, plain_release
from sdckit.report.chapters.release_links import link_files, link_parts
from sdckit.report.gate.figures import Ledger, Quantity, Relation
from sdckit.report.gate.printed import leaves
from sdckit.report.setting import changed_words, missing_words

STEPS = [
    {"method": "recode", "column": "age", "bands": [0, 40, float("inf")]},
    {"method": "local_suppression", "k": 3},
    {"method": "microaggregate", "columns": ["income"], "k": 3},
]


@pytest.fixture(scope="module")
def assessment():
    with quiet():
        return sdc.Recipe(STEPS).apply(survey(200), scenario=scenario(), seed=5).assess(seed=1)


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
    hidden = [
        name for name, one in prints.items() if one.value is None and ledger.variables[name].kind == "count"
    ]
    assert any(name.startswith("steps: ") for name in prints)
    assert any(name.startswith("release 1: ") for name in prints)
    for name in hidden:
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
            found = sdc.assess(
                frame(0), frame(changed), scenario=sdc.Scenario(keys=["sex", "area"], aligned=aligned)
            )
        utility = plain_release(found)["utility"]
        figures = {
            (row["name"], part): row[part]["text"]
            for row in utility["table"]
            for part in ("value", "smallest")
        }
        figures |= {
            ("heat", cell["one"], cell["other"]): cell["value"]["text"] for cell in utility["heat"]["cells"]
        }
        figures |= {("pair", one["variables"]): one["s_pmse"]["text"] for one in utility["pairs"]}
        said.add(tuple(sorted(figures.items())))
    assert len(said) == 1
