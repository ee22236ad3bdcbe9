"""Documents in another language: all of their words, the same figures, names and code as they were."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from report.real import MADE, german, made, page, plain
from sdckit import k_anonymity, local_suppression
from sdckit.attacks import copied_records
from sdckit.cells.tabulate import MANY_LEVELS, warn_about_key
from sdckit.data.columns import MONTHS
from sdckit.data.limits import LIMITS, LimitKind
from sdckit.data.scenarios.column_roles import TELLS_MORE
from sdckit.data.scenarios.guessing.topics import VOCABULARY
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_checks import NO_MAGNITUDES, require_confirmed
from sdckit.data.scenarios.telling_columns import SAYS
from sdckit.display import capital
from sdckit.errors import DataError, ScenarioError, SdcWarning
from sdckit.report.blocks import ChartBlock, Code, Entries, Facts, Page, Paragraph, Section, TableBlock, Tables
from sdckit.report.chapters.page import terms, texts_of
from sdckit.report.chapters.sentences import verdict_sentence
from sdckit.report.charts import CHARTS, chart_for, describe, to_svg
from sdckit.report.formats.docx import render_docx_page
from sdckit.report.formats.html import render_page
from sdckit.report.formats.markdown import render_markdown_page
from sdckit.report.gate.protect import protect_words
from sdckit.report.language import Names, check_language, missing, names_of, translate
from sdckit.report.wording import SOFT_HYPHEN, languages, say, wording
from sdckit.workflow.assess import LEFT_OUT
from sdckit.workflow.proposing.proposal import in_words
from sdckit.workflow.sessions.refusals import in_words as in_the_app

NEARLY_TOLD = SAYS["nearly_told"]
ROLES_OPEN = [SAYS[of] for of in ("by_exact", "different", "fewer_people", "of_homes", "of_mates", "restored")]

# English that a place of an entry took for a name.
LEFT = re.compile(
    r"\b(of|the|and|with|without|missing|released?|records?|values|risk|over|than|is|are|by|to|for|not|keys?|limits?|each|above|below)\b"
)
DOCUMENTS = [(name, internal) for name in MADE for internal in (False, True)]
# What the decision page never says: terms of the trade.
TRADE = re.compile(
    r"Anonymität|Diversität|Schlüssel(?!\b| bleiben)merkmal|Re-Identifik|Datenangreifer|Merkmalskombination|Einzelfall|"
    r"Zuordnungsrisiko|quasi|pMSE|Stichprobe|globales Risiko|Restrisiko",
    re.IGNORECASE,
)


@pytest.mark.parametrize(("name", "internal"), DOCUMENTS)
def test_every_text_of_a_real_document_has_its_words(name: str, internal: bool) -> None:
    """What is listed here wants an entry in `report/words/de.toml`; `.ci/untranslated.py` lists more documents."""
    names = names_of(plain(name, internal=internal))
    assert missing(page(name, internal=internal), "de", names) == []


@pytest.mark.parametrize(("name", "internal"), DOCUMENTS)
def test_no_english_is_left_in_a_real_document(name: str, internal: bool) -> None:
    shown = german(name, internal=internal)
    texts = [shown.title, shown.subtitle, shown.headline, shown.footer]
    texts += [text for text in texts_of([*shown.decision, *map(without_sources, shown.sections)]) if " = " not in text]
    assert [text for text in texts if LEFT.search(text)] == []


def without_sources(section: Section) -> Section:
    """A section without who said so first: names of people stay."""
    blocks = [
        Entries(tuple((*one[:2], "") for one in block.items)) if isinstance(block, Entries) else block
        for block in section.blocks
    ]
    return replace(section, blocks=tuple(blocks))


def figures(shown: Page) -> Counter[str]:
    """The digits of every number of a page, which all languages write alike: the marks between them differ."""
    texts = [shown.title, shown.subtitle, shown.headline, shown.footer]
    texts += list(texts_of([*shown.decision, *shown.sections]))
    texts += [str(one) for one in drawn(shown)]
    return Counter(one for text in texts for one in re.findall(r"\d+", text))


def drawn(shown: Page) -> Iterator[str]:
    """What the rows of charts print."""
    for section in (*shown.decision, *shown.sections):
        for block in section.blocks:
            if isinstance(block, ChartBlock):
                for row in (*block.data.get("rows", ()), *block.data.get("cells", ())):
                    yield from (one["text"] for one in row.values() if isinstance(one, dict) and "text" in one)


@pytest.mark.parametrize(("name", "internal"), DOCUMENTS)
def test_the_figures_are_those_of_the_english_document(name: str, internal: bool) -> None:
    english, other = page(name, internal=internal), german(name, internal=internal)
    assert figures(other) == figures(english)


def code(shown: Page) -> list[str]:
    return [one.text for section in shown.sections for one in section.blocks if isinstance(one, Code)]


@pytest.mark.parametrize("name", MADE)
def test_code_names_and_the_shape_of_a_document_stay(name: str) -> None:
    english, other = page(name), german(name)
    assert code(other) == code(english) != []
    for one, two in zip((*english.decision, *english.sections), (*other.decision, *other.sections), strict=True):
        assert [type(block) for block in one.blocks] == [type(block) for block in two.blocks]
        for block, told in zip(one.blocks, two.blocks, strict=True):
            if isinstance(block, TableBlock) and block.caption == "Keys":
                assert isinstance(told, TableBlock)
                assert [row[0] for row in told.rows] == [row[0] for row in block.rows]
            if isinstance(block, Tables) and block.items[0].caption.startswith("Levels of"):
                assert isinstance(told, Tables)
                for table, one_told in zip(block.items, told.items, strict=True):
                    levels = [row[0] for row in table.rows if row[0] != "all other levels"]
                    assert [row[0] for row in one_told.rows][: len(levels)] == levels != []


@pytest.mark.parametrize("name", MADE)
def test_the_decision_page_is_free_of_the_terms_of_the_trade(name: str) -> None:
    shown = german(name)
    text = "\n".join([shown.headline, *texts_of(shown.decision)]).replace(SOFT_HYPHEN, "")
    assert TRADE.findall(text) == []


def test_the_numbers_of_a_release_without_a_name_are_written_as_in_the_language() -> None:
    single, several = (say(f"{size} records, made from 7,635 records", "de") for size in ("7,635", "7,635 and 7,000"))
    assert single == "7.635 Datensätze, erzeugt aus 7.635 Datensätzen"
    assert several == "7.635 und 7.000 Datensätze, erzeugt aus 7.635 Datensätzen"


def test_english_is_what_it_was() -> None:
    assert translate(page("one file"), "en") is page("one file")
    assert languages() == ("en", "de")
    assert say("As a table") == "As a table"


def test_an_unknown_language_is_refused_before_any_work(tmp_path: Path) -> None:
    assert check_language("de") == "de"
    with pytest.raises(DataError, match="language 'fr' is unknown; there are: en, de"):
        made("one file").report(tmp_path / "report.html", language="fr")
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_words_stays_english_and_is_listed() -> None:
    sections = [Section("A heading of tomorrow", (Paragraph("Nobody knows. Glossary"),))]
    strange = replace(page("one file"), sections=sections, decision=())
    other = translate(strange, "de")
    assert other.sections[0].title == "A heading of tomorrow"
    assert other.sections[0].blocks == (Paragraph("Nobody knows. Begriffe"),)
    assert missing(strange, "de") == ["Nobody knows.", "A heading of tomorrow"]


def test_a_column_that_is_called_as_a_word_of_ours_is_left() -> None:
    table = TableBlock("Levels of risk", ("Level", "Records"), (("exceeded", "1,000"), ("2.5", "10")), (1,))
    shown = replace(page("one file"), sections=[Section("File", (table, Facts((("Household", "Records"),))))])
    names = Names(data=frozenset({"exceeded", "Records", "2.5", "1,000"}))
    found, facts = translate(shown, "de", names).sections[0].blocks
    assert found == TableBlock(
        "Ausprägungen von risk", ("Ausprägung", "Datensätze"), (("exceeded", "1.000"), ("2.5", "10")), (1,)
    )
    assert facts == Facts((("Haushalt", "Records"),))


def test_what_page_release_says_of_guesses_and_households_is_in_german() -> None:
    with pytest.raises(ScenarioError) as refused:
        require_confirmed(Scenario(keys=["age"], unconfirmed=["age"]))
    for text in (
        str(refused.value),
        "Warning: <5 records have no household id in 'hid': each is a household of its own",
    ):
        assert not {"the", "and", "each", "its", "have"} & {*re.findall(r"\w+", say(text, "de"))}


def test_guesses_by_how_texts_are_written_and_warnings_of_keys_are_translated() -> None:
    texts = [f"its texts are written like {name}" for name in (*VOCABULARY["written"], "free text", "a person's name")]
    for levels in (1, 600, MANY_LEVELS):
        with pytest.warns(SdcWarning) as heard:
            warn_about_key("day of – birth 2", levels, 0, 600, 600)
        texts += [str(one.message) for one in heard]
    for text in texts:
        assert not {"the", "a", "an", "is", "its", "text", "key", "number"} & {*re.findall(r"[\w-]+", say(text, "de"))}
    assert say("0 (undefined)", "de") == "0 (nicht definiert)"


def test_every_topic_of_the_guesses_is_translated() -> None:
    """The app names it behind "deutet auf"."""
    for topic in VOCABULARY["topics"]:
        assert say(f"its label speaks of {topic}", "de").removeprefix("die Bezeichnung deutet auf ") != topic
    assert say("its name speaks of special educational needs", "de").endswith("sonderpädagogischen Förderbedarf")


@pytest.mark.parametrize("period", MONTHS)
def test_a_recoding_by_period_in_a_proposal_is_translated(period: str) -> None:
    """A column may have the name of a topic, such as age."""
    keys = {"sex": "as it is", "age": f"by {period}", "school": "left out"}
    translated = say(in_words(keys), "de", list(keys))
    assert translated.startswith("behält sex, wie es ist; age nach ")
    assert period not in translated
    assert say(f"by {period}", "de") == translated.split("age ")[1].split(";")[0]


def test_the_warning_of_a_key_that_was_left_out_is_translated() -> None:
    warned = say(LEFT_OUT.format(column="school"), "de")
    assert warned.startswith("school: in der geschützten Datei weggelassen")


@pytest.mark.parametrize(
    "words",
    [
        f"What every column is could not be judged: {TELLS_MORE}. {NEARLY_TOLD.format('a')}.",
        f"Roles of the columns could not be judged: {TELLS_MORE}. {NEARLY_TOLD.format('a')}.",
        *(f"Roles of the columns could not be judged: {TELLS_MORE}. {words.format('a')}." for words in ROLES_OPEN),
        f"{capital(TELLS_MORE)}; 1 column of 7 covered by a pattern as insensitive: b. {NEARLY_TOLD.format('a')}.",
        "the original: numeric 'a' is categories (text), not numbers; convert it first, or name missing_codes",
        "Coarsen or leave out one of a and b, or suppress it together with c: together they tell c.",
        "Leave out one of a and b, too: together they tell c.",
        "Leave home out, or let no household show more rows than the release says (limit_households): its rows count c.",  # noqa: E501
    ],
)
def test_what_to_do_and_what_was_not_judged_are_translated(words: str) -> None:
    assert not LEFT.search(say(words, "de", ["a", "b", "c", "home"]))


def test_the_refusals_of_panels_with_gaps_are_translated() -> None:
    data = pl.DataFrame({"who": [1, 1, 2, 2], "job": ["cook", None, "cook", "cook"]})
    with pytest.raises(DataError) as gap:
        k_anonymity(data, keys=["job"], person="who")
    with pytest.raises(ScenarioError) as rule:
        local_suppression(data, scenario=Scenario(keys=["job"], person="who", missing="category"), k=2)
    for caught in (gap, rule):
        assert say(in_the_app(str(caught.value)), "de").endswith("oder unterdrücken Sie bei hohem Risiko")


@pytest.mark.parametrize("kind", LIMITS.values(), ids=LIMITS.keys())
def test_a_limit_that_could_not_be_judged_is_translated(kind: LimitKind) -> None:
    """Also its name at the head of the sentence, and why copies are in doubt."""
    sure, given = (copied_records.SAYS[of] for of in ("not_sure", "given"))
    why = f"{given.format('lwage, hours')}; {sure.format(copied_records.IN_ALL)}"
    limit = {} if kind.name in ("roles", "beside_records") else {"limit": 3}
    leaf = {"value": None, "text": "not judged"}
    verdict = {"name": kind.name, "limit": None, "points": 2, "variable": "tax" if kind.per_variable else None,
               "holds": leaf, "reason": why, **limit}  # fmt: skip
    said = say(verdict_sentence(verdict, {"text": "600"}), "de", ["tax", "lwage", "hours"])
    assert not LEFT.search(said), said
    assert protect_words(why) == why  # a number in it would be hidden as a count: "smoothing=<5"


def test_a_cell_that_says_what_to_write_is_translated_and_values_are_not() -> None:
    rows = (("exact_numbers", NO_MAGNITUDES), ("a record", "magnitudes = 3, sensitive = 4"))
    said = translate(Page("", "", "", "", "", [Section("", (TableBlock("", ("Measure", "Reason"), rows),))], ""), "de")
    (table,) = said.sections[0].blocks
    assert isinstance(table, TableBlock)
    assert table.rows[0][1].startswith("das Szenario sagt nicht")
    assert table.rows[1] == rows[1]


def test_a_title_that_somebody_gave_is_left_and_one_of_ours_is_not() -> None:
    for name in ("one file", "release"):
        figures = plain(name)
        assert page(name).title not in names_of(figures).all
        assert german(name).title.replace(SOFT_HYPHEN, "") == wording("de").exact[page(name).title]
        assert "The answer" in names_of({**figures, "title": "The answer"}).given
    given = replace(page("one file"), title="The answer")
    assert translate(given, "de", Names(given=frozenset({"The answer"}))).title == "The answer"


def test_names_are_those_of_the_figures() -> None:
    names = names_of(plain("one file"))
    assert {"region", "sex", "age", "ill", "w", "north", "default"} <= names.all
    assert not {"records", "holds", "individual_risk"} & names.data


def test_terms_stand_in_the_order_of_their_alphabet() -> None:
    [glossary] = [one for one in german("release").sections if one.title == "Begriffe"]
    [entries] = glossary.blocks
    assert isinstance(entries, Entries)
    found = [term.casefold() for term, _, _ in entries.items]
    assert found == sorted(found)


def test_the_whole_glossary_has_its_words() -> None:
    known = wording("de").exact
    assert [term for term, _, words in terms() if term not in known or wording("de").translate(words) == words] == []


@pytest.mark.parametrize("name", MADE)
def test_charts_are_drawn_and_told_in_the_language(name: str) -> None:
    shown = german(name)
    charts = [b for one in (*shown.decision, *shown.sections) for b in one.blocks if isinstance(b, ChartBlock)]
    assert {one.data["language"] for one in charts} == {"de"}
    for one in charts:
        words = describe(one.name, one.data, one.caption)
        assert not re.search(r"\b(records|and|to|of)\b", words), words
        assert SOFT_HYPHEN not in "".join(str(row.get("label", "")) for row in one.data.get("rows", ()))
    assert {one.name for one in charts} <= set(CHARTS)


def test_an_axis_has_the_numbers_of_the_language() -> None:
    [risk] = [
        block
        for one in german("one file").sections
        for block in one.blocks
        if isinstance(block, ChartBlock) and block.name == "risk"
    ]
    svg = to_svg(chart_for(risk.name, risk.data))
    assert ">0,05<" in svg
    assert ">0.05<" not in svg
    assert "individuelles Risiko (obere Klassengrenze)" in svg


def test_a_word_of_two_meanings_has_both() -> None:
    shown = german("release")
    blocks = [block for one in shown.sections for block in one.blocks]
    heads = {head for one in blocks if isinstance(one, TableBlock) for head in one.columns}
    facts = {label.replace(SOFT_HYPHEN, "") for one in blocks if isinstance(one, Facts) for label, _ in one.items}
    assert "Geschützt" in heads
    assert "Veröffentlichung" not in heads
    assert "Veröffentlichung" in facts


def test_every_format_says_which_language_it_is_in(tmp_path: Path) -> None:
    import docx

    html = render_page(german("one file"))
    assert '<html lang="de">' in html
    assert "Statistische Geheimhaltung" in html
    assert ">Inhalt<" in html
    assert 'class="state exceeded">überschritten<' in html
    path = tmp_path / "report.docx"
    path.write_bytes(render_docx_page(german("one file")))
    document = docx.Document(str(path))
    assert document.core_properties.language == "de"
    assert 'w:lang w:val="de"' in document.styles["Normal"].element.xml
    text = render_markdown_page(german("one file"))
    assert "## Die Antwort" in text
    assert SOFT_HYPHEN not in text


def test_a_report_is_written_in_the_language_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    made("one file").report(path, language="de", name="The answer", labels={"age": "Records"})
    html = path.read_text(encoding="utf-8")
    assert "The answer, 600 Datensätze" in html
    assert "age (Records)" in html
    assert "Nicht innerhalb der festgelegten Grenzwerte" in html


def test_links_by_near_values_and_how_many_of_them_are_right_are_said_in_german() -> None:
    joined = "joined by sex, income together (income by near values); 12 links, of which 99 % are right by estimate."
    page = Page("", "", None, "", "", [Section("", (Paragraph(f"first: its sketch compared; {joined}"),))], "")
    names = Names(frozenset({"sex", "income"}))
    (block,) = translate(page, "de", names).sections[0].blocks
    assert isinstance(block, Paragraph)
    assert block.text == (
        "first: mit der Skizze verglichen; verknüpft durch sex, income zusammen (income durch nahe Werte); "
        "12 Verknüpfungen, von denen schätzungsweise 99 % richtig sind."
    )
    assert missing(page, "de", names) == []
