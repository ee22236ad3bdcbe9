from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from recipes import SECRET, STEPS, scenario, survey as screen_survey
from redteam.marked import make_files, traces_in
from report.fakes import FULL, assess_fake, survey
from report.views.pairs import CALLS, drawn, printed, result_of
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import EXACT
from sdckit.errors import DataError
from sdckit.report.blocks import Facts, Page, Paragraph, Section, TableBlock
from sdckit.report.chapters.document import build_document
from sdckit.report.charts import to_svg
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import (
    assessment_chart,
    document_html,
    notebook_html,
    pair_document,
    protected_change,
    recipe_blocks,
    result_chart,
    result_document,
    result_html,
    screen_blocks,
    screen_page,
    sections_html,
    verdict_html,
)

KEYS = ["sex", "age", "region", "occupation"]
DESIGN: dict[str, Any] = {"keys": KEYS, "weight": "weight"}


def frame(n: int) -> Any:
    import polars as pl

    return pl.DataFrame(survey(n, missing=0.02))


def results(n: int) -> list[Any]:
    data = frame(n)
    return [
        sdc.key_frequencies(data, keys=KEYS),
        sdc.k_anonymity(data, keys=KEYS),
        sdc.individual_risk(data, **DESIGN, household="household", threshold=0.02),
        sdc.individual_risk(data, **DESIGN, threshold="mad"),
        sdc.key_contributions(data, **DESIGN),
        sdc.household_structure(data, keys=KEYS, household="household"),
        sdc.l_diversity(data, keys=KEYS, sensitive=["income"]),
    ]


@pytest.fixture(scope="module")
def measured() -> list[Any]:
    return results(300)


def test_every_result_has_a_protected_view(measured: list[Any]) -> None:
    for result in measured:
        html = notebook_html(result)
        assert html.startswith('<div class="sdckit">')
        assert "<table>" in html
        assert html == result._repr_html_()


def test_every_result_has_a_chart(measured: list[Any]) -> None:
    for result in measured:
        assert result_chart(result).to_dict()["config"]["font"] == "sans-serif"


def test_charts_are_protected_unless_internal(measured: list[Any]) -> None:
    def lengths(chart: Any) -> list[float]:
        return [row["length"] for rows in chart.to_dict()["datasets"].values() for row in rows]

    exact = measured[1]
    assert lengths(result_chart(exact, internal=True)) == list(exact.violations.values())
    assert all(n % 5 == 0 for n in lengths(result_chart(exact)))


def test_a_threshold_taken_from_data_is_not_told(measured: list[Any]) -> None:
    plain = protect(result_document(measured[3]))
    assert "threshold" not in plain["individual_risk"]
    assert "n_above" not in plain["individual_risk"]
    assert "threshold" in protect(result_document(measured[2]))["individual_risk"]


def test_a_small_file_has_no_view() -> None:
    for result in results(40)[:3]:
        html = notebook_html(result)
        assert "fewer than 50 records" in html
        assert "<table>" not in html
        with pytest.raises(DataError, match="fewer than 50"):
            result_chart(result)
        assert result_chart(result, internal=True) is not None


def test_an_assessment_shows_its_answer() -> None:
    html = notebook_html(sdc.assess(frame(300), scenario=FULL))
    assert "Not within the declared limits" in html
    assert "Somebody who knows" in html


def titles(chart: Any) -> list[str]:
    return [part["title"]["text"] for part in chart.to_dict()["vconcat"]]


def test_an_assessment_is_drawn_intruder_by_intruder() -> None:
    one = assessment_chart(assess_fake(survey(300), FULL))
    assert titles(one) == [
        "Cells by number of records",
        "Records in violation of k-anonymity",
        "Distribution of individual risk, and its cumulative curve",
        "Records in groups with too few values",
    ]
    assert to_svg(one).startswith("<svg")
    two = Scenario(intruders={"a": ["sex"], "b": ["sex", "age"]})
    several = titles(assessment_chart(assess_fake(survey(300), two)))
    assert several[0] == "a: Cells by number of records"
    assert several[3:] == [title.replace("a: ", "b: ", 1) for title in several[:3]]


def test_the_chart_of_an_assessment_is_protected() -> None:
    assessment = assess_fake(survey(300), FULL)
    exact = assessment.intruders[0]["k_anonymity"].violations

    def lengths(chart: Any) -> list[float]:
        drawn = chart.to_dict()
        name = drawn["vconcat"][1]["data"]["name"]
        return [row["length"] for row in drawn["datasets"][name]]

    assert lengths(assessment_chart(assessment, internal=True)) == list(exact.values())
    assert all(n % 5 == 0 for n in lengths(assessment_chart(assessment)))
    small = assess_fake(survey(40), FULL)
    with pytest.raises(DataError, match="fewer than 50"):
        assessment_chart(small)
    assert assessment_chart(small, internal=True) is not None


def test_a_result_without_a_view_is_refused() -> None:
    class Other:
        measure, n = "something_else", 100

    with pytest.raises(DataError, match="no chart or notebook view"):
        result_document(Other())


def test_a_measure_on_request_has_its_view() -> None:
    data = frame(312)
    for result in (
        sdc.suda(data, keys=KEYS),
        sdc.population_risk(data, keys=KEYS, sampling_fraction=0.1),
        sdc.population_uniques(data, keys=KEYS, sampling_fraction=0.1),
        sdc.risky_cells(data, keys=KEYS, threshold=3),
        sdc.outliers(data, numeric="weight"),
    ):
        assert "<table>" in result._repr_html_(), result.measure
        (drawn,) = result.plot().to_dict()["datasets"].values()
        assert all(row["length"] % 5 == 0 for row in drawn), result.measure
        exact = [row["length"] for row in next(iter(result.plot(internal=True).to_dict()["datasets"].values()))]
        assert exact != [row["length"] for row in drawn], result.measure


def test_outliers_are_drawn_by_variable_and_together() -> None:
    data = frame(300).with_columns(flat=1.0)
    for options, labels in (
        ({"numeric": ["weight", "flat"]}, ["weight", "flat", "any of them"]),
        ({"numeric": ["weight"]}, ["weight"]),
        ({"numeric": ["weight", "household"], "method": "robust_mahalanobis"}, ["all variables together"]),
        ({"numeric": ["flat"]}, ["flat"]),
    ):
        (drawn,) = sdc.outliers(data, **options).plot().to_dict()["datasets"].values()
        assert [row["label"] for row in drawn] == labels
        assert all(row["text"] == "0" for row in drawn if row["label"] == "flat")


def test_a_chart_of_one_result_has_a_title(measured: list[Any]) -> None:
    assert result_chart(measured[0]).to_dict()["title"]["text"].startswith("Cells by number of records")


@pytest.mark.parametrize("name", CALLS)
def test_it_draws_and_shows(name):
    assert drawn(name)
    assert printed(name)
    assert result_of(name).plot(internal=True) is not None


def test_the_place_is_that_of_an_assessment():
    document = pair_document(result_of("attribute_disclosure"))
    assert list(document.tree) == ["n", "n_released", "measures"]
    assert list(document.tree["measures"]) == ["attribute_disclosure:ill"]
    assert document.n == 240


def test_a_control_file_is_no_release():
    document = pair_document(result_of("membership"))
    assert [count.name for count in document.tree["n_released"]] == ["n.released.1"]
    assert list(pair_document(result_of("combine")).tree) == ["measures"]


def test_small_files_are_not_drawn():
    small = releases.original(40)
    with pytest.raises(DataError, match="fewer than 50 records"):
        sdc.identity_disclosure(small, small, keys=["sex", "age"]).plot()


# What a terminal shows is the exact document, without single records.


def cells(page: Page) -> list[str]:
    """Everything that stands in a table that is shown."""
    blocks = [block for section in page.sections if not section.paper for block in section.blocks]
    tables = [block for block in blocks if isinstance(block, TableBlock) and not block.paper]
    return [cell for table in tables for row in table.rows for cell in row]


def test_figures_are_exact_and_no_record_is_listed() -> None:
    original = releases.original(60)
    with quiet():
        found = sdc.assess(original, keys=["sex", "age", "region"])
    page = screen_page(found)
    exact = [n for n in found["default"]["k_anonymity"].violations.values() if n % 5]
    assert exact
    assert {str(n) for n in exact} <= set(cells(page))
    assert not any("at risk" in section.title for section in page.sections)


def test_a_release_has_its_own_page() -> None:
    with quiet():
        found = sdc.assess(releases.original(), releases.release(), scenario=releases.scenario(), seed=1)
    shown = cells(screen_page(found))
    assert str(found.original["default"]["k_anonymity"].violations[3]) in shown


def test_the_blocks_of_several_results_follow_each_other() -> None:
    original = releases.original(60)
    ones = [sdc.k_anonymity(original, keys=["sex"]), sdc.risky_cells(original, keys=["sex", "age"])]
    assert screen_blocks(*ones) == [*screen_blocks(ones[0]), *screen_blocks(ones[1])]


def test_a_recipe_with_and_without_a_scenario() -> None:
    def told(scene: sdc.Scenario | None) -> str:
        done = sdc.Recipe(STEPS[:2]).apply(screen_survey(), scenario=scene, seed=1, secret=SECRET).what_was_done
        tables = [one for one in recipe_blocks(done) if isinstance(one, TableBlock | Facts)]
        assert not any("cook" in str(one) for one in tables)
        return str(tables)

    assert "after each step" in told(scenario())
    assert "2. pram" in told(scenario())
    assert "after each step" not in told(None)
    assert "1. recode" in told(scenario(keys=None, intruders={"a": ["sex"], "b": ["job"]}))


# Fragments of HTML: protected, drawn, in a language.


SURVEY = make_files()["survey"]
FRAGMENTS_KEYS = ["region", "sex", "education"]


def assessed(**thresholds: float) -> sdc.Assessment:
    scenario = sdc.Scenario(keys=FRAGMENTS_KEYS, sensitive=["ill"], thresholds=thresholds)
    return sdc.assess(SURVEY, scenario=scenario)


def test_a_result_is_drawn_with_words_for_those_who_cannot_see_it() -> None:
    html = result_html(sdc.k_anonymity(SURVEY, keys=FRAGMENTS_KEYS), title="k-anonymity")
    assert "<h3>k-anonymity</h3>" in html
    assert '<div class="drawing" role="img" aria-label="Records in violation' in html
    assert "<svg" in html
    assert '<details class="behind"><summary>As a table' in html
    assert EXACT not in html
    assert not traces_in(html)


def test_exact_figures_carry_their_mark() -> None:
    html = result_html(sdc.k_anonymity(SURVEY, keys=FRAGMENTS_KEYS), exact=True)
    assert EXACT in html


def test_texts_are_in_the_session_s_language() -> None:
    html = result_html(sdc.k_anonymity(SURVEY, keys=FRAGMENTS_KEYS), language="de")
    assert "Als Tabelle" in html
    assert "As a table" not in html


def test_a_small_file_is_shown_only_exactly() -> None:
    few = sdc.k_anonymity(SURVEY.head(30), keys=FRAGMENTS_KEYS)
    assert "fewer than 50 records" in result_html(few)
    assert "fewer than 50 records" not in result_html(few, exact=True)
    with pytest.raises(DataError, match="odd"):
        document_html(raising, lambda _: [], exact=True)


def raising() -> dict[str, str]:
    raise DataError("odd")


def test_what_comes_from_data_is_escaped() -> None:
    table = TableBlock("Levels", ("Level",), (("<script>1</script>",),))
    html = sections_html([Section("<b>", (table, Paragraph("a & b")))])
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<h3>&lt;b&gt;</h3>" in html


@pytest.mark.parametrize(("limits", "state"), [({"k": 50}, "fail"), ({"risk": 1.0}, "pass"), ({}, "open")])
def test_the_verdict_is_a_line_above_every_limit(limits: dict[str, float], state: str) -> None:
    plain = protect(build_document(assessed(**limits)), internal=True)
    html = verdict_html(plain)
    assert f'class="headline {state}"' in html
    assert ("<summary>Every limit</summary>" in html) == bool(limits)
    assert "<summary>Jeder Grenzwert</summary>" in verdict_html(plain, language="de") or not limits
    assert verdict_html(plain, of="The release:", language="de").startswith('<p class="none">Die geschützte Datei:</p>')


def test_a_name_of_the_data_is_not_translated() -> None:
    data = pl.DataFrame({"Records": [1, 2] * 40, "age": [1, 2, 3, 4] * 20})
    scenario = sdc.Scenario(keys=["Records", "age"], thresholds={"k": 2})
    plain = protect(build_document(sdc.assess(data, scenario=scenario)))
    rows = tuple((one,) for one in plain["intruders"][0]["keys"])
    table = Section("", (TableBlock("Keys", ("Key",), rows),))
    html = document_html(lambda: plain, lambda _: [table], language="de")
    assert ">Records<" in html


@pytest.mark.parametrize(("n", "text"), [(49, "<50"), (50, "50"), (1003, "1,005")])
def test_the_number_of_records(n: int, text: str) -> None:
    assert protected_change(n, {}, {})["n"]["text"] == text


def test_counts_in_notes_are_protected() -> None:
    note = protected_change(400, {"a": 3}, {"a": "3 values of 2 records"})["notes"]["a"]
    assert "3 values" not in note
    assert "2 records" not in note
