"""The document of a release: protected figures of both files, and nothing of a person."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from recoded_files import applied, scenario, survey
from report.attacker import Solver, opened
from report.documents import render_html, render_markdown
from sdckit.cells.pair import Recoded
from sdckit.errors import DataError
from sdckit.report.chapters.release_page import (
    RELEASE_SCHEMA,
    _document,
    base_name,
    judged_by_print,
    lay_out_release,
    passed,
    plain_release,
    recoded_blocks,
    recoded_facts,
    recoded_tree,
)
from sdckit.report.conclusions import NOTHING
from sdckit.report.formats.write import render_json
from sdckit.workflow.verdicts import Verdict

LIMITS = {"k": 3, "match_risk": 0.1, "correctly_disclosed": 0.2, "replicated_uniques": 0.03}


def assessed(original=None, released=None, **options):
    with quiet():
        return sdc.assess(
            releases.original() if original is None else original,
            releases.release() if released is None else released,
            scenario=releases.scenario(**{"thresholds": LIMITS, **options}),
            seed=1,
        )


@pytest.fixture(scope="module")
def assessment():
    return assessed()


@pytest.fixture(scope="module")
def plain(assessment):
    return plain_release(assessment)


def test_it_has_both_files_and_what_they_tell_together(plain):
    assert plain["schema"] == RELEASE_SCHEMA
    assert [one["text"] for one in plain["n_released"]] == [plain["n"]["text"]]
    assert set(plain["intruders"][0]["measures"]) >= {"matching_risk", "identity_disclosure", "record_linkage"}
    assert plain["original"]["intruders"][0]["name"] == plain["released"][0]["intruders"][0]["name"] == "default"
    assert "--released FILE" in plain["reproduce"]["command"]
    assert "sdc.assess(original, released" in plain["reproduce"]["python"]


def test_every_verdict_is_printed_from_protected_figures(assessment, plain):
    assert [one["name"] for one in plain["verdicts"]] == [one.name for one in assessment.verdicts]
    for one, true in zip(plain["verdicts"], assessment.verdicts, strict=True):
        # A limit on a mean or a share stays open where the printed number leaves both answers.
        is_open = true.n_records is None and one["holds"]["value"] is None
        assert is_open or one["holds"]["value"] == true.holds, true.name
    by_name = {one["name"]: one for one in plain["verdicts"]}
    printed = plain["intruders"][0]["measures"]["matching_risk"]["releases"][0]["mean_match_risk"]
    assert by_name["match_risk"]["value"] == printed


def test_the_document_is_json(plain):
    assert json.loads(render_json(plain)) == plain


def test_internal_documents_are_exact(assessment):
    exact = plain_release(assessment, internal=True)
    found = exact["intruders"][0]["measures"]["identity_disclosure"]["releases"][0]["unique_in_original"]
    assert found["value"] == pytest.approx(assessment["default"]["identity_disclosure"].unique_in_original, rel=1e-5)
    assert exact["confidential"]


def test_no_small_count_can_be_worked_out(assessment):
    """The exact range of every hidden count, by an integer programme over all that is printed."""
    document = _document(assessment, internal=False)
    ledger, prints = opened(document)
    solver = Solver(ledger, prints)
    hidden = [name for name, one in prints.items() if one.value is None and ledger.variables[name].kind == "count"]
    assert hidden
    for name in hidden:
        low, high = solver.range(name)
        assert high - low >= 1 or high == 0, name


def test_a_planted_record_appears_nowhere():
    """Not in the tables of levels, and not as the name of a coefficient."""
    marked = releases.original().with_columns(
        region=pl.when(pl.col("pid") == 17).then(pl.lit("MARKERregion")).otherwise(pl.col("region")),
        income=pl.when(pl.col("pid") == 17).then(pl.lit(93617.4221)).otherwise(pl.col("income")),
        ill=pl.when(pl.col("pid") == 17).then(pl.lit("MARKERill")).otherwise(pl.col("ill")),
    )
    with quiet():
        found = sdc.assess(
            marked, releases.release(marked), scenario=releases.scenario(thresholds=LIMITS), seed=1,
            models={"income ~ C(region) + ill": "linear", "region ~ age": "multinomial"},
        )  # fmt: skip
    assert "compare_models:income ~ C(region) + ill" in found.utility.results
    plain = plain_release(found)
    for text in (render_html(plain), render_markdown(plain), render_json(plain)):
        assert "MARKER" not in text
        assert "93617" not in text
        assert "93,617" not in text


def test_small_files_give_no_document():
    small = assessed(releases.original(40), releases.release(releases.original(40)))
    with pytest.raises(DataError, match="fewer than 50 records"):
        plain_release(small)
    assert plain_release(small, internal=True)["confidential"]


def residual(holds: bool | None, limit: float = 0.1, intruder: str = "a") -> dict[str, object]:
    return {
        "name": "residual_risk", "intruder": intruder, "limit": limit, "holds": {"value": holds, "text": ""},
    }  # fmt: skip


SHOWN, BELOW, NOT_SHOWN = (
    {"text": "20 %", "value": 0.2},
    {"text": "<8 %", "value": None, "below": 0.08},
    {"text": "not shown", "value": None},
)  # fmt: skip


@pytest.mark.parametrize(
    ("leaves", "holds", "printed"),
    [
        ({"membership": SHOWN}, False, False),
        ({"linkability:b": SHOWN, "membership": BELOW}, True, True),
        ({"linkability:a": BELOW, "membership": NOTHING}, True, True),
        ({"membership": BELOW}, False, None),
        ({"inference:a:ill": NOT_SHOWN}, True, None),
        ({"inference:a:ill": NOT_SHOWN, "membership": SHOWN}, False, False),
        ({"probabilistic_linkage:a": NOT_SHOWN, "membership": BELOW}, True, True),
    ],
)
def test_a_limit_on_attacks_is_judged_by_what_is_printed(leaves, holds, printed):
    made, not_made = ({"releases": [{"n_attacks": {"text": n}}]} for n in ("500", "0"))
    attacks = {place: {"residual_risk": leaf, **made} for place, leaf in leaves.items()}
    attacks["singling_out:univariate"] = {"residual_risk": {"text": "undefined", "value": None}, **not_made}
    one = residual(holds)
    found = {**one, **judged_by_print(one, attacks, ["a", "b"])}
    assert found["holds"]["value"] is printed
    assert passed([found]) is printed
    open_one = residual(None)
    assert judged_by_print(open_one, attacks, ["a", "b"]) == {}
    assert passed([{"holds": {"value": True}}, open_one]) is None
    assert passed([]) is None


def test_a_limit_on_few_records_is_not_judged_in_a_protected_document():
    """Held below 5 of 240 records, the verdict would tell how many there are."""
    found = assessed(thresholds={"replicated_uniques": 0.01})
    (exact,) = plain_release(found, internal=True)["verdicts"]
    (printed,) = plain_release(found)["verdicts"]
    assert exact["holds"]["value"] is not None
    assert printed["holds"]["value"] is None
    assert "confidential document" in printed["reason"]


def test_reasons_of_verdicts_are_protected():
    one = Verdict("match_risk", "default", None, 0.1, None, None, None, "3 records have no row (row 17)")
    found = assessed(thresholds={"replicated_uniques": 0.03})
    with_reason = replace(found, intruders=(replace(found.intruders[0], verdicts=(one,)),))
    printed, forgotten = plain_release(with_reason)["verdicts"]
    assert (forgotten["name"], forgotten["holds"]["value"]) == ("replicated_uniques", None)
    assert printed["reason"] == printed["holds"]["reason"]
    # as coarsely as any count of three in the document
    assert re.fullmatch(r"<\d+ records have no row \(rows not shown\)", printed["reason"])
    exact, _ = plain_release(with_reason, internal=True)["verdicts"]
    assert exact["reason"] == one.reason


# A document says once, and everywhere alike, that the original's figures are those of the recoded one.


@pytest.fixture(scope="module")
def words_plain():
    done = applied()
    with quiet():
        return plain_release(sdc.assess(survey(), done.data, scenario=scenario(aligned=True), seed=1, log=done.log))


def test_the_columns_are_listed_with_how_it_is_known(words_plain) -> None:
    (table,) = recoded_blocks(words_plain)
    assert table.rows == (
        ("age", "numbers in bands", "the log given"),
        ("job", "values in groups", "the log given"),
        ("size", "the largest numbers brought to a limit", "the log given"),
        ("income", "numbers rounded", "the log given"),
    )
    assert base_name(words_plain) == "Recoded original"
    assert recoded_facts(words_plain)[0][0] == "Figures of the original"


def test_nothing_is_said_where_nothing_was_recoded() -> None:
    for words_plain in ({}, {"recoded": []}):
        assert base_name(words_plain) == "Original"
        assert recoded_facts(words_plain) == ()
        assert recoded_blocks(words_plain) == []


def test_the_tree_holds_words_alone() -> None:
    one = Recoded("age", "numbers in bands", "recognised")
    assert recoded_tree([one]) == ({"column": "age", "kind": "numbers in bands", "source": "recognised"},)


def test_every_format_tells_it(words_plain) -> None:
    for text in (render_html(words_plain), render_markdown(words_plain)):
        assert "Recoded original" in text
        assert "those of the recoded original" in text
        assert text.count("numbers in bands") >= 2  # the warning, and the table
        words = re.sub(r"<path [^>]*>", "", text)
        for secret in ("person 1", "4000", "up to 4"):
            assert secret not in words
    assert json.loads(render_json(words_plain))["recoded"][1]["column"] == "job"


def test_the_table_before_and_after_names_its_base(words_plain) -> None:
    tables = [block for section in lay_out_release(words_plain).sections for block in section.blocks]
    caption = "The original and the release"
    heads = {block.columns for block in tables if getattr(block, "caption", "").startswith(caption)}
    assert heads == {("Figure", "Recoded original", "Release")}


def test_the_calls_that_repeat_it(words_plain) -> None:
    assert "log=log)" in words_plain["reproduce"]["python"]
    assert words_plain["reproduce"]["command"].endswith("--log LOG.json")
