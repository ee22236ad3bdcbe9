"""No quantity has two values in one document, and no two quantities stand under the same words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import releases
import sdckit as sdc
from contradictions import contradictions
from draw import quiet
from recipes import SECRET
from sdckit.report.blocks import Facts, Page, Paragraph, Section, TableBlock, Tables
from sdckit.report.chapters.release_page import page_of
from sdckit.report.common_blocks import ALONE
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.figures import Quantity
from sdckit.report.gate.rounding import Identity, Printed

N = 800
KEYS = ["region", "sex", "age", "edu"]


def survey(*, blank: int = 0, missing: float = 0.08) -> pl.DataFrame:
    """People with missing keys; `blank` of them have no key at all."""
    rng = np.random.default_rng(4)
    data = pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(N)], "hh": np.arange(N) // 2, "region": rng.integers(1, 6, N),
            "sex": rng.integers(1, 3, N), "age": rng.integers(18, 80, N), "edu": rng.integers(1, 5, N),
            "income": rng.normal(3000, 500, N).round(), "ill": rng.integers(0, 2, N), "w": rng.uniform(5, 20, N),
        }
    )  # fmt: skip
    gone = {name: (rng.random(N) < missing) | (np.arange(N) < blank) for name in KEYS}
    return data.with_columns(
        pl.when(pl.Series(gone[name])).then(None).otherwise(pl.col(name)).alias(name) for name in KEYS
    )


def scenario(**more: Any) -> sdc.Scenario:
    given = {"keys": KEYS, "sensitive": ["ill"], "identifiers": ["id"], "thresholds": {"k": 3, "risk": 0.2}}
    return sdc.Scenario(**{**given, **more})


def _applied(data: pl.DataFrame, steps: list[dict[str, Any]], **more: Any) -> Any:
    return sdc.Recipe(steps).apply(data, scenario=scenario(**more), seed=1, secret=SECRET).assess(seed=1)


def _release() -> Any:
    o, r = releases.original(), releases.release()
    return sdc.assess(o, r, scenario=releases.scenario(), models="income ~ age + C(region)", seed=1)


RECIPE = [{"method": "recode", "column": "age", "bands": [18, 30, 45, 60, 80]}, {"method": "local_suppression", "k": 3}]
SYNTHESIS = [{"method": "synthesize", "m": 3}]
MASKED = [{"method": "drop_identifiers", "columns": ["id"]}, {"method": "pram", "columns": ["region"]}]
TWO = {"keys": None, "intruders": {"neighbour": ["sex", "region"], "employer": KEYS}}
DOCUMENTS: dict[str, Callable[[], Any]] = {
    "demo": lambda: sdc.assess(sdc.load_demo(), scenario=sdc.demo_scenario()),
    "wildcards": lambda: sdc.assess(survey(), scenario=scenario(weight="w"), measures="all"),
    "blank rows": lambda: sdc.assess(survey(blank=2), scenario=scenario(weight="w"), measures="all"),
    "category": lambda: sdc.assess(survey(), scenario=scenario(missing="category", weight="w"), measures="all"),
    "nothing missing": lambda: sdc.assess(survey(missing=0), scenario=scenario(), measures="all"),
    "intruders": lambda: sdc.assess(survey(), scenario=scenario(**TWO)),
    "household": lambda: sdc.assess(survey(), scenario=scenario(weight="w", household="hh"), measures="all"),
    "release with models": _release,
    "recipe": lambda: _applied(survey(missing=0), RECIPE, weight="w"),
    "recipe and wildcards": lambda: _applied(survey(), RECIPE),
    "masked": lambda: _applied(survey(), MASKED),
    "synthetic": lambda: _applied(survey(missing=0).drop("id", "hh"), SYNTHESIS),
}  # fmt: skip


@cache
def assessed(name: str) -> Any:
    with quiet():
        return DOCUMENTS[name]()


@pytest.mark.parametrize("internal", [False, True], ids=["release", "internal"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_says_nothing_against_itself(name: str, internal: bool) -> None:
    assert contradictions(page_of(plain_document(assessed(name), internal=internal))) == []


def test_both_rules_for_missing_keys_have_their_words() -> None:
    """'0 alone' above a bar of 280, and '320 alone' beside '2,040'."""
    (one,) = plain_document(assessed("blank rows"), internal=True)["intruders"]
    wild, strict = (one[place]["sample_uniques"] for place in ("key_frequencies", "key_frequencies_category"))
    assert wild["value"] < strict["value"]
    assert (
        strict["value"] == one["suda"]["sample_uniques"]["value"] == one["population_risk"]["sample_uniques"]["value"]
    )
    page = page_of(plain_document(assessed("blank rows"), internal=True))
    told = {label: text for s in page.sections for b in s.blocks if isinstance(b, Facts) for label, text in b.items}
    assert told[f"{ALONE} (missing as wildcard)"].split(" (")[0] == wild["text"]
    assert told[f"{ALONE} (missing as category)"] == strict["text"]
    charts = {b.caption: b for s in page.sections for b in s.blocks if b.kind == "chart"}
    first = charts["Cells by number of records (missing as category)"].data["rows"][0]
    assert (first["label"], first["n"]["text"]) == ("1 record", strict["text"])


def test_a_file_without_missing_keys_needs_no_rule() -> None:
    page = page_of(plain_document(assessed("nothing missing")))
    labels = [label for s in page.sections for b in s.blocks if isinstance(b, Facts) for label, _ in b.items]
    assert ALONE in labels
    assert not any("missing as" in label for label in labels)


def test_a_declared_identifier_is_told_though_it_was_never_read() -> None:
    data = survey(missing=0)
    with quiet():
        found = _applied(data.drop("id"), RECIPE)
    (facts,) = (b for s in page_of(plain_document(found)).sections if s.title == "Scenario" for b in s.blocks)
    assert dict(facts.items)["Direct identifiers, in no figure"] == "id"


def test_a_step_without_arguments_is_no_blank_cell() -> None:
    page = page_of(plain_document(assessed("masked")))
    (steps,) = (b for s in page.sections for b in s.blocks if getattr(b, "caption", "") == "The steps")
    assert all(asked.strip() for _, asked in steps.rows)


def test_the_recoded_original_is_called_so() -> None:
    page = page_of(plain_document(assessed("recipe")))
    tables = [b for s in page.sections for b in s.blocks if isinstance(b, TableBlock)]
    before = [b for b in tables if b.caption.startswith("The original and the release")]
    assert {table.columns[:2] for table in before} == {("Figure", "Recoded original")}
    (after,) = (b for b in tables if b.caption.startswith("Risk and utility after each step"))
    assert [row[0] for row in after.rows] == ["the original", "1. recode", "2. local_suppression (the release)"]


def test_a_part_protected_for_itself_prints_the_coarser_figure() -> None:
    """The recipe's last step is the release: two documents protect one figure, each for itself."""
    plain = plain_document(assessed("recipe and wildcards"))
    last = plain["what_was_done"]["figures"][-1]
    (one,) = plain["released"][0]["intruders"]
    assert last["released"]
    assert last["sample_uniques"]["text"] == one["key_frequencies"]["sample_uniques"]["text"]
    assert last["below_k"]["text"] == one["k_anonymity"]["violations"]["3"]["text"]


# --- the check itself ------------------------------------------------------------------------------


def page(*blocks: Any) -> Page:
    return Page("", "", None, "open", "", [Section("Keys", blocks)], "")


def number(text: str, **of: str) -> Printed:
    return Printed(text, Identity("count", (Quantity(ALONE, **of),)))


def test_one_quantity_with_two_values() -> None:
    (found,) = contradictions(page(Facts((("Alone", number("320")), ("Unique", number("2,040"))))))
    assert "320" in found
    assert "2,040" in found
    assert contradictions(page(Facts((("Alone", number("320")), ("Unique", number("320 (4 %)")))))) == []


def test_two_quantities_under_the_same_words() -> None:
    other = Printed("7", Identity("count", (Quantity("other"),)))
    (found,) = contradictions(page(Facts((("Alone", number("320")), ("Alone", other)))))
    assert "'Alone'" in found
    rows = (("a", number("320")), ("b", other))
    assert contradictions(page(TableBlock("", ("Key", "Records"), rows))) == []
    assert contradictions(page(Tables((TableBlock("", ("Key", "Records"), (rows[0], ("a", other))),)))) != []


def test_a_rule_and_a_file_are_said_where_there_are_two() -> None:
    wild, strict = number("320", rule="wildcard"), number("2,040", rule="category")
    assert len(contradictions(page(Facts((("Alone", wild), ("Unique", strict)))))) == 2
    told = Facts((("Alone (missing as wildcard)", wild), ("Unique (missing as category)", strict)))
    assert contradictions(page(told)) == []
    sentence = Paragraph("Somebody finds 320 records alone with their keys.")
    assert len(contradictions(page(told, sentence))) == 1
    said = replace(sentence, text="Somebody finds 320 records alone with their keys (missing as wildcard).")
    assert contradictions(page(told, said)) == []
    before, after = number("320", base="original"), number("20", base="release 1")
    assert len(contradictions(page(Facts((("Alone", before), ("Unique", after)))))) == 2
    assert contradictions(page(Facts((("Alone, original", before), ("Alone, release", after))))) == []


def test_empty_tables_and_blank_cells() -> None:
    empty = TableBlock("None", ("Step", "As asked"), ())
    blank = TableBlock("Steps", ("Step", "As asked"), (("1. pram", ""),))
    assert [found.split(": ")[0] for found in contradictions(page(empty, blank, Facts((("Codes", ""),))))] == [
        "Keys"
    ] * 3
