"""The measures run on request leave the room as little as the others: planted markers, a solver, neighbours."""

from __future__ import annotations

import json
import random
import warnings
from functools import cache
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from report.attacker import Solver, gives_away, opened
from report.documents import all_documents
from report.drawn import words_of
from report.fakes import survey
from report.test_leaks import _bars, _numbers, a_step_apart, leaves, with_marker
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import ChartBlock
from sdckit.report.chapters.document import build_document
from sdckit.report.chapters.page import lay_out
from sdckit.report.charts import chart_for, to_svg
from sdckit.report.formats.html import figure_of
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.choose_rounding import sound_relations
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document

KEYS = ["sex", "age", "region", "occupation"]
ONE = Scenario(keys=KEYS, sampling_fraction=0.05, numeric=["weight", "wage"], thresholds={"k": 3})
WEIGHTED = Scenario(keys=KEYS, weight="weight", numeric=["wage"])
TWO = Scenario(
    intruders={"a": KEYS[:3], "b": KEYS}, sampling_fraction=0.05, numeric=["weight", "wage"], missing="category"
)
CENSUS = Scenario(keys=KEYS, numeric=["wage"])
SCENARIOS = [ONE, WEIGHTED, TWO, CENSUS]
NAMES = ["one", "weighted", "two", "census"]
WAGE = 774177.25


def frame(n: int, seed: int = 1, missing: float = 0.02, *, marked: bool = False) -> pl.DataFrame:
    rows = survey(n, seed=seed, missing=missing)
    draw = random.Random(seed)
    for row in rows:
        row["wage"] = round(draw.uniform(1000, 9000), 2)
    if marked:
        rows = with_marker(rows)
        rows[17]["wage"] = WAGE
    return pl.DataFrame(rows, infer_schema_length=None)


def assessed(data: pl.DataFrame, scenario: Scenario) -> Any:
    with quiet():
        return sdc.assess(data, scenario=scenario, measures="all")


@cache
def of_one(seed: int) -> Any:
    """The assessment of 400 people, made once."""
    return assessed(frame(400, seed), ONE)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_planted_record_appears_nowhere(scenario: Scenario) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assessment = sdc.assess(frame(400, marked=True), scenario=scenario, measures="all")
        documents = all_documents(assessment)
        documents |= {f"notebook of {name}": one._repr_html_() for name, one in assessment.intruders[0].results.items()}
    for kind, text in [*documents.items(), *(("warning", str(one.message)) for one in said)]:
        for trace in ("MARKER", "93617", "93,617", "774177", "774,177", "7.7e"):
            assert trace not in text, kind


def test_no_limit_of_an_outlier_is_told() -> None:
    assessment = of_one(1)
    low, high = assessment.intruders[0]["outliers"].limits["wage"]
    for kind, text in all_documents(assessment).items():
        for limit in (low, high):
            assert f"{limit:.0f}" not in text or limit != limit, kind  # noqa: PLR0124 - an open end is NaN


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
@pytest.mark.parametrize(("n", "seed"), [(150, 3), (400, 4)])
def test_no_small_count_can_be_worked_out(scenario: Scenario, n: int, seed: int) -> None:
    ledger, prints = opened(build_document(assessed(frame(n, seed), scenario)))
    counts = [name for name, one in ledger.variables.items() if one.kind == "count"]
    # Every relation is true: the audit left none of them out.
    sound = sound_relations(ledger.variables, ledger.relations, counts)
    assert [one for one in ledger.relations if one not in sound] == []
    solver, before = Solver(ledger, prints), Solver(ledger, {})
    parts = (".msu.", "unsafe", "risky.", "outliers.", ".suda.")
    watched = [
        name
        for name, one in ledger.variables.items()
        if any(part in name for part in parts) and one.watched == "everywhere" and one.kind == "count"
    ]
    assert len(watched) > 20
    narrow = [name for name in watched if name not in prints or prints[name].low < 5]
    for name in narrow[:60]:
        assert not gives_away(solver, before, name), (name, solver.range(name))


@pytest.mark.parametrize("seed", range(3))
def test_nested_and_additive_figures_hold_in_truth(seed: int) -> None:
    document = build_document(assessed(frame(300, seed, missing=0.0), ONE))
    true = {name: one.true for name, one in document.variables.items()}
    for relation in document.relations:
        names = [name for name, _ in relation.terms]
        if any(".msu." in name or "unsafe" in name for name in names) and all(true[name] is not None for name in names):
            value = sum(factor * true[name] for name, factor in relation.terms)
            assert relation.lower - 1e-9 <= value <= relation.upper + 1e-9, names


@pytest.mark.parametrize("seed", range(2))
def test_files_that_differ_in_one_record_differ_by_one_step(seed: int) -> None:
    data = frame(900, seed, missing=0.0)
    alone = {**data.row(3, named=True), "region": "Islands", "occupation": "job 19", "age": "65+"}
    longer = pl.concat([data, pl.DataFrame([alone], schema=data.schema)])
    names = ("suda", "risky_cells", "outliers", "population_risk")
    before, after = (plain_document(assessed(one, ONE))["intruders"][0] for one in (data, longer))
    for name in names:
        left, right = (
            {path: leaf for path, leaf in leaves({name: one[name]}).items() if "/table/" not in path}
            for one in (before, after)
        )
        assert left.keys() == right.keys()
        for path in left:
            number = path.replace("/rate_", "/records_")
            if number != path and number in left and a_step_apart(left[number], right[number]):
                continue  # a share is as coarse as the number it is of
            assert a_step_apart(left[path], right[path]), (path, left[path], right[path])


def special_charts(assessment: Any) -> list[ChartBlock]:
    page = lay_out(plain_document(assessment))
    return [
        block
        for section in page.sections
        for block in section.blocks
        if isinstance(block, ChartBlock) and block.name == "bars"
    ]


def check_chart(svg: str, block: ChartBlock) -> None:
    """Everything written is a label or a printed figure; every bar is as long as its figure says."""
    rows = block.data["rows"]
    printed = {row["n"]["text"] for row in rows}
    labels = {row["label"] for row in rows} | {block.caption}
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        text = words_of(element)
        assert not text or text in printed | labels, text
        for name in ("aria-label", "aria-description"):
            assert not _numbers(element.get(name, "")), name
    expected = [float(row["n"]["value"] or row["n"].get("below", 0)) for row in rows]
    lengths = _bars(root)
    if longest := max(expected):
        scale = longest / max(lengths)
        assert [n * scale for n in lengths] == pytest.approx(expected, abs=1e-3 * longest)
    # What follows of a count that is printed nowhere may be any number.
    counted = [n for n, row in zip(expected, rows, strict=True) if not row["n"]["text"].startswith("under")]
    assert all(value % 5 == 0 or value >= 50 for value in counted)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_chart_shows_printed_figures_only(scenario: Scenario) -> None:
    blocks = special_charts(assessed(frame(220, 1), scenario))  # all ways of printing a count are among them
    assert len(blocks) >= 2 * len(scenario.intruders)
    for block in blocks:
        drawn = figure_of(block)
        check_chart(str(drawn["svg"]), block)
        counted = {text for row in block.data["rows"] for text in (row["label"], row["n"]["text"])}
        assert set(_numbers(drawn["alt"])) <= {
            number for text in (*counted, block.caption) for number in _numbers(text)
        }


@pytest.mark.parametrize("measure", ["suda", "population_risk", "population_uniques", "risky_cells", "outliers"])
def test_the_chart_of_a_single_result_shows_printed_figures_only(measure: str) -> None:
    result = of_one(6).intruders[0][measure]
    plain = protect(result_document(result))
    (block,) = (one for one in result_blocks(plain) if isinstance(one, ChartBlock))
    assert to_svg(result.plot()) == to_svg(chart_for("bars", block.data, block.caption))
    check_chart(to_svg(result.plot()), block)


def test_exact_counts_stay_in_the_confidential_document() -> None:
    assessment = of_one(1)
    outside = json.dumps(plain_document(assessment)["intruders"][0]["suda"])
    inside = plain_document(assessment, internal=True)["intruders"][0]["suda"]
    exact = [leaf["value"] for leaf in inside["msu_counts"].values() if leaf["value"] % 5]
    assert exact
    assert not any(f'"value": {value}}}' in outside for value in exact)
