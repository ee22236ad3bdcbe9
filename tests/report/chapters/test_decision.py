"""The decision page: eight parts, the same figures as the annex, and a place to sign."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from report.fakes import FULL, assess_fake, survey
from report.real import MADE, page, plain as printed, survey as people
from sdckit.data.limits import CONDITIONS, LIMITS
from sdckit.data.scenarios.column_roles import ColumnRoles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.thresholds import NO_RELEASE, NOTHING_SEEN
from sdckit.errors import DataError
from sdckit.report.blocks import Blanks, ChartBlock, Facts, Items, Page, Paragraph, Section, Verdicts
from sdckit.report.chapters import decision
from sdckit.report.chapters.decision import (
    AGAIN,
    BESIDE_IT,
    CLEAR_UP,
    COARSER,
    MAKE_IT,
    NEXT,
    QUESTIONS,
    READY,
    TAKE_OUT,
    answers,
    chance,
    decision_sections,
    for_users,
    next_steps,
    plain_verdict,
    remaining_questions,
    steps_by_limit,
)
from sdckit.report.chapters.page import lay_out, texts_of
from sdckit.report.chapters.sentences import N_ROWS_OPEN, declared_limits, headline, verdict_sentence
from sdckit.report.formats.write import plain_document
from sdckit.report.language import wording
from sdckit.report.views.joint_audit import CELLS_OPEN, TABLES_OPEN
from sdckit.report.wording import say

PLACES = ["answer", "next", "open", "picture", "good", "question", "conditions", "signed"]


def facts(plain: object, place: str) -> dict[str, str]:
    (section,) = (one for one in decision_sections(plain) if one.place == place)  # type: ignore[arg-type]
    (block,) = section.blocks
    assert isinstance(block, Facts)
    return dict(block.items)


@pytest.mark.parametrize("name", MADE)
def test_every_document_has_its_parts(name: str) -> None:
    shown = page(name)
    assert [one.place for one in shown.decision] == PLACES
    assert [one.title for one in shown.decision if not one.paper] == [NEXT]  # on a terminal
    (verdicts,) = shown.decision[0].blocks
    assert isinstance(verdicts, Verdicts)
    exceeded = any(state == "exceeded" for state, _, _ in verdicts.items)
    assert exceeded == (shown.state == "fail")
    (blanks,) = shown.decision[-1].blocks
    assert isinstance(blanks, Blanks)
    assert [label for label, _ in blanks.items] == ["Decision", "Name, signature", "Date", "Valid until", "Next review"]
    assert blanks.items[0][1] == ("release", "release after changes", "do not release")


def test_the_picture_has_the_figures_of_the_annex() -> None:
    plain = printed("recipe")
    (chart,) = page("recipe").decision[3].blocks
    assert isinstance(chart, ChartBlock)
    files = (plain["original"], plain["released"][0])
    told = [one["intruders"][0]["k_anonymity"]["violations"]["3"]["text"] for one in files]
    collected = plain["collected"]["default"]["below"]["text"]
    assert [(row["label"], row["n"]["text"]) for row in chart.data["rows"]] == [
        ("before", collected), ("coarser", told[0]), ("after", told[1])
    ]  # fmt: skip
    assert int(collected) > int(told[0])


def test_of_several_releases_the_first_is_drawn_and_named() -> None:
    (chart,) = page("two releases").decision[3].blocks
    assert isinstance(chart, ChartBlock)
    assert [row["label"] for row in chart.data["rows"]] == ["before", "after (first release)"]


def test_a_file_alone_shows_how_few_share_what_is_known() -> None:
    plain = printed("one file")
    (chart,) = page("one file").decision[3].blocks
    assert isinstance(chart, ChartBlock)
    violations = plain["intruders"][0]["k_anonymity"]["violations"]
    assert [row["n"]["text"] for row in chart.data["rows"]] == [violations[k]["text"] for k in "235"]
    several = Scenario(intruders={"a": ["sex"], "b": ["sex", "age"]}, thresholds={"k": 3})
    sections = decision_sections(plain_document(assess_fake(survey(300), several)))
    (both,) = sections[3].blocks
    assert isinstance(both, ChartBlock)
    assert [row["label"] for row in both.data["rows"]] == ["a", "b"]


def test_what_it_is_good_for_names_what_moved_most() -> None:
    plain = printed("recipe")
    variables = plain["utility"]["variables"]
    most = max(variables, key=lambda name: variables[name]["value"] or 0.0)
    told = [one.text for one in page("recipe").decision[4].blocks if isinstance(one, Paragraph)]
    assert told[0].startswith("Coarser than before: age. Beside that, on average ")
    assert "% of the records would need another value for a variable to be distributed as in the original" in told[0]
    assert f"most of them of {most} (" in told[0]
    assert told[1].startswith(
        "How far tables of two variables agree with the original is withheld and a changed record "
    )
    agree = [one.text for one in page("release").decision[4].blocks if isinstance(one, Paragraph)][-1]
    assert agree.startswith("Tables of two variables agree with the original to ")
    assert " % (where both are left) and a changed record" in agree
    unchanged = page("one file").decision[4].blocks[0]
    assert isinstance(unchanged, Paragraph)
    assert unchanged.text == "Only one file was looked at: what was changed in it, if anything, is not measured."


@pytest.mark.parametrize(
    ("roles", "beside", "against", "in_german"),
    [
        (True, None, "", ""),
        (None, None, "columns go out of which nobody said what they are",
         "es gehen Spalten hinaus, von denen niemand gesagt hat, was sie sind"),
        (False, None, "a direct identifier is in the file", "ein direktes Identifikationsmerkmal steht in der Datei"),
        (True, "a note", "the file holds more than its records", "die Datei enthält mehr als ihre Datensätze"),
    ],
)  # fmt: skip
def test_safe_data_counts_the_limits_of_the_headline(
    roles: bool | None, beside: str | None, against: str, in_german: str
) -> None:
    plain = plain_document(assess_fake(survey(300), Scenario(keys=["sex", "age"], thresholds={"k": 2, "risk": 0.0001})))
    without = {"limit": None, "intruder": "", "reason": beside or ""}
    plain["verdicts"] = [
        *(verdict for verdict in plain["verdicts"] if verdict["limit"] is not None),
        plain["verdicts"][0] | without | {"name": "roles", "holds": {"text": "", "value": roles}},
        *([plain["verdicts"][0] | without | {"name": "beside_records", "holds": {"value": None}}] if beside else []),
    ]
    n = [verdict["holds"]["value"] for verdict in plain["verdicts"] if verdict["limit"] is not None].count(False)
    assert f": {n} of 2 limits " in headline(plain)
    words = dict(decision._conditions(plain))["Safe data"]
    assert words == f"{2 - n} of 2 limits hold" + (f" and {against}" if against else "")
    german = f"{2 - n} von 2 Grenzwerten eingehalten" + (f" und {in_german}" if against else "")
    assert wording("de").translate(words) == german


@pytest.mark.parametrize("release", [*CONDITIONS, None])
def test_the_five_safes_follow_the_type_of_release(release: str | None) -> None:
    plain = plain_document(assess_fake(survey(300), Scenario(keys=["sex"], thresholds={"k": 2}, release=release)))
    told = facts(plain, "conditions")
    assert list(told) == ["Safe data", "Safe projects", "Safe people", "Safe settings", "Safe outputs"]
    limits, against = declared_limits(plain["verdicts"])
    held = [limit["holds"]["value"] for limit in limits].count(True)
    counted = "the only limit holds" if len(limits) == 1 else f"{held} of {len(limits)} limits hold"
    assert told["Safe data"] == counted + (f" and {against}" if against else "")
    if release is None:
        assert set(list(told.values())[1:]) == {"to be agreed: ______"}
        assert facts(plain, "question")["Asked"] == "Can it be given out?"
    else:
        assert tuple(told.values())[1:] == CONDITIONS[release]
        assert facts(plain, "question")["Asked"].startswith("Can it be given out as a ")


# What to do next: ranked by the printed advice, and what is left open is said.


def listed(shown: Page, place: str) -> tuple[str, ...]:
    (section,) = (one for one in shown.decision if one.place == place)
    (block,) = section.blocks
    assert isinstance(block, Items)
    return block.items


def plain(**more: Any) -> dict[str, Any]:
    return plain_document(assess_fake(survey(300), Scenario(**{"keys": ["sex", "age", "occupation"], **more})))


def test_a_file_without_a_name_is_not_called_after_its_document() -> None:
    assert facts(plain(), "question")["The file"] == "300 records"
    assert facts(plain(title="Town"), "question")["The file"] == "Town, 300 records"


def test_the_key_that_saves_most_comes_first() -> None:
    document = plain_document(sdc.assess(sdc.load_demo(), scenario=sdc.demo_scenario().changed(thresholds={"k": 3})))
    steps = next_steps(document)
    tree = document["intruders"][0]["key_contributions"]
    told = [row for row in tree["coarsenings"] if row["uniques_without"]["value"] is not None]
    best = min(told, key=lambda row: row["uniques_without"]["value"])
    first, _, other = steps[0].partition(" Or leave out ")
    assert first == (
        f"Make {best['variables'][0]} coarser: of the {tree['uniques']['text']} records that are alone, "
        f"{best['uniques_without']['text']} would stay alone."
    )
    assert re.fullmatch(r"[\w, ]+: then (none|[\d,]+) would\.", other)
    assert steps[-2:] == [TAKE_OUT, AGAIN]


def test_where_no_key_is_ranked_the_advice_still_says_what_to_apply() -> None:
    """Keys are not ranked for people who are followed through their rows."""
    panel = pl.DataFrame({"who": [at // 2 for at in range(60)], "age": [20, 21, *[30, 40] * 29]})
    scenario = Scenario(keys=["age"], person="who", thresholds={"k": 3})
    document = plain_document(sdc.assess(panel, scenario=scenario))
    assert next_steps(document) == [COARSER, AGAIN]
    assert N_ROWS_OPEN in remaining_questions(document)
    assert N_ROWS_OPEN not in remaining_questions(plain(keys=["sex"], thresholds={"k": 2}))


def test_without_limits_they_come_first() -> None:
    (step,) = next_steps(plain())
    assert step.startswith("Decide how much risk is acceptable")


def test_a_file_that_holds_is_told_what_to_mind() -> None:
    assert next_steps(plain(keys=["sex"], thresholds={"k": 2})) == [BESIDE_IT, *READY]
    assert next_steps(plain(keys=["sex"], thresholds={"global_risk": 0.99})) == list(READY)


def test_values_that_a_group_gives_away() -> None:
    steps = next_steps(plain(sensitive=["sex"], keys=["age"], thresholds={"l": 3}))
    assert steps == [
        "Form larger groups, or make coarser or leave out what a group discloses: sex.", AGAIN,
    ]  # fmt: skip


def test_an_open_question_is_asked_first() -> None:
    document = plain(keys=["sex"], thresholds={"k": 2})
    document["verdicts"][0]["holds"] = {"text": "not judged", "value": None}
    assert next_steps(document) == [CLEAR_UP]
    assert remaining_questions(document)[0] == "1 question could not be judged: see the answer."


def test_a_limit_that_compares_files_asks_for_the_other_one() -> None:
    """Nobody can answer what is open there: the release has to be made."""
    asked = Scenario(keys=["sex"], thresholds={"k": 2, "copied_records": 0})
    document = plain_document(sdc.assess(people(), scenario=asked))
    assert next_steps(document) == [MAKE_IT]
    document["verdicts"][0]["holds"] = {"text": "not judged", "value": None}
    assert next_steps(document) == [MAKE_IT, CLEAR_UP]


def test_values_of_which_all_differ_are_not_said_to_be_the_same() -> None:
    """Values in another order are distributed as before; hardly a record has its own."""
    data = people()
    swapped = data.with_columns(pl.col("age").shuffle(seed=1))
    document = plain_document(sdc.assess(data, swapped, keys=["age", "sex"], seed=1))
    told = [one.text for one in decision_sections(document)[4].blocks if isinstance(one, Paragraph)]
    assert told[0] == (
        "On average 0 % of the records would need another value for a variable to be distributed as in the original."
    )


def test_the_population_that_weights_stand_for_is_said_once() -> None:
    data = people().with_columns(w=pl.lit(412.5))
    scenario = sdc.Scenario(keys=["age", "sex"], weight="w", thresholds={"risk": 0.5})
    for document in (sdc.assess(data, scenario=scenario), sdc.assess(data, data[::-1], scenario=scenario)):
        points = " ".join(remaining_questions(plain_document(document)))
        assert points.count("The file is taken for a sample of a population of about 250,000: ") == 1
        assert "The file is taken for the whole population" not in points


def test_tables_that_no_limit_asks_about_remain_open() -> None:
    data = people()
    hidden = data.with_columns(sex=pl.when(pl.int_range(pl.len()) > 5).then("sex"))
    tables = [{"variables": ["age", "sex"]}]
    limits = {"recoverable": 0.0}
    scenario = sdc.Scenario(keys=["age", "sex"], aligned=True, tables=tables, thresholds=limits)
    for document in (sdc.assess(data, hidden, scenario=scenario), sdc.assess(hidden, scenario=scenario)):
        points = [one for one in remaining_questions(plain_document(document)) if "sdckit joint-audit" in one]
        files = "RELEASE --scenario SCENARIO.toml --original FILE"
        if not document.compared:
            files = "FILE --scenario SCENARIO.toml --original ORIGINAL"
        assert points == [f"{TABLES_OPEN} sdckit joint-audit {files}"]
    limited = scenario.changed(thresholds=limits | {"joint_recoverable": 0.0})
    points = remaining_questions(plain_document(sdc.assess(data, hidden, scenario=limited)))
    assert not [one for one in points if "joint-audit" in one]
    few = limited.changed(tables=[tables[0] | {"suppressed_below": 50}])
    points = remaining_questions(plain_document(sdc.assess(data, hidden, scenario=few)))
    assert [one for one in points if "joint-audit" in one] == [
        f"{CELLS_OPEN} sdckit joint-audit RELEASE --scenario SCENARIO.toml --original FILE"
    ]


def test_what_remains_open_is_said() -> None:
    assert any("whole population" in one for one in remaining_questions(plain()))
    sample = remaining_questions(plain(sampling_fraction=0.1))
    assert not any("whole population" in one for one in sample)
    assert sample[-1].startswith("Somebody may know more than")
    warned = plain_document(assess_fake(survey(200), FULL, warnings=("one", "two")))
    assert "The annex has 2 warnings on how this was measured." in remaining_questions(warned)


def test_how_many_are_matched_back_remains_open_where_no_limit_is_on_it() -> None:
    """Every record in a group of k by missing values of others, and most of them found by whoever knows their keys."""
    frame = pl.DataFrame(survey(200))
    released = frame.with_columns(pl.when(pl.int_range(pl.len()) > 9).then("occupation").alias("occupation"))

    def left_open(**limits: float) -> list[str]:
        scenario = Scenario(keys=["sex", "occupation"], aligned=True, thresholds={"k": 2, **limits})
        assessed = sdc.assess(frame, released, scenario=scenario, seed=1)
        return [line for line in remaining_questions(plain_document(assessed)) if "matched back" in line]

    (line,) = left_open()
    assert re.fullmatch(r"Of the original's records \d.* by chance\) would be expected to be matched back .*", line)
    assert left_open(match_risk=0.9) == []


@pytest.mark.parametrize("limits", [{"k": 2, "match_risk": 0.1}, {"match_risk": 0.1, "few_matches": 0.1}])
def test_the_public_report_leaves_to_the_office_what_is_the_offices(limits: dict[str, float], tmp_path: Path) -> None:
    """Nothing to sign and no next step; what only the original answers is named, holds nothing and opens nothing."""
    scenario = Scenario(keys=["sex"], thresholds=limits)
    assessed = sdc.assess(pl.DataFrame(survey(200)).with_columns(note=1), scenario=scenario)
    inside = plain_document(assessed)
    assert headline(inside).startswith("Undecided")
    users = for_users(inside)
    judged = facts(users, "question")
    original = [*(name for name in limits if name != "k"), *(["k_undone"] if "k" in limits else [])]
    assert list(users["left_to_office"].values()) == [LIMITS[name].question for name in original]
    assert list(judged)[-1] == "Not judged here"
    assert "Asked" not in judged
    assert {one.place for one in decision_sections(users)} == {"answer", "open", "picture", "good", "question"}
    assert [row for row in answers(users) if row[0] == "not judged"] == []
    assert ("linked" in users["left_to_office"].values()) == all("linked" not in row[1] for row in answers(users))
    text = "\n".join(texts_of([*lay_out(users).decision, *lay_out(users).sections]))
    assert "go out?" not in text
    assert "name a type of release" not in text
    assert users["passed"] is (True if "k" in limits else None)
    assert ("Within every limit that is judged here; others" if "k" in limits else "none is judged") in headline(users)
    changed = pl.DataFrame(survey(200)).with_columns(pl.col("sex").shuffle(seed=1))
    released = sdc.assess(pl.DataFrame(survey(200)), changed, scenario=scenario, seed=1)
    remembered = Scenario(keys=["sex"], ledger={"folder": "l", "key": "k"})
    ledger = replace(assessed, scenario=remembered)
    for wrong, how in ((released, {}), (assessed, {"internal": True}), (ledger, {})):
        with pytest.raises(DataError, match="assess the release by itself"):
            wrong.report(tmp_path / "a.md", public=True, **how)
    assert list(tmp_path.iterdir()) == []


def test_the_public_report_does_not_say_that_nothing_was_taken_out(tmp_path: Path) -> None:
    """Of a release by itself it cannot know: a key that the recipe left out is not there to be seen."""
    scenario = Scenario(keys=["sex"], release="public-use", sensitive=["pay"], household=None)
    assessed = sdc.assess(pl.DataFrame(survey(400)).with_columns(pay=pl.int_range(pl.len()) % 7), scenario=scenario)
    texts = {}
    for public in (False, True):
        assessed.report(tmp_path / "a.md", public=public)
        texts[public] = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert NOTHING_SEEN in texts[False]
    assert "and nothing in it was taken out" not in texts[True]
    assert f"Not asked: reconstructed values, {NO_RELEASE}." in texts[True]


def test_a_model_that_was_not_compared_is_named_with_its_reason() -> None:
    frame = pl.DataFrame(survey(200))
    long = f"age ~ ({' + '.join(['sex', 'occupation'] * 10)}) ** 60"
    models = ["age ~ (sex + occupation) ** 60", "occupation ~ sex", long]
    changed = frame.with_columns(pl.col("sex").shuffle(seed=1))
    found = sdc.assess(frame, changed, scenario=Scenario(keys=["sex", "occupation"]), models=models, seed=1)
    said = [line for line in remaining_questions(plain_document(found)) if "Model" in line]
    assert said[0] == (
        "Model not compared: age ~ (sex + occupation) ** 60 (formula: it expands to more than 2,000 terms; write the "
        "terms that the model needs)."
    )
    assert f"{long[:60]}… (formula: it expands" in said[-1]
    assert len(said) == 3  # the second is of a variable that is text


# The verdicts without statistics: each limit has a question and a sentence, and no word of the trade
# stands in it.


N = {"text": "600", "value": 600}
# Words that a reader who knows no statistics does not know.
FORBIDDEN = (
    r"k-anonym|k =|l-divers|pMSE|SPECKS|wildcard|global risk|equivalence|\bcells?\b|quasi|from the margin|\balpha\b",
    r"sample unique|posterior|re-identif|threshold|microdata|attribut|residual|distribution|\bintruders?\b",
    r"\bkeys? variable|recod|suppress|\bpram\b|perturb|quantile|percentile|\bAUC\b|association|estimat|variance",
    r"probabilit",
)


HIDDEN = {"text": "withheld", "value": None}
# A bare word for a hidden figure, which makes no sentence of what stands around it.
HOLE = re.compile(r"\b(?:to|by|in|at least|with all keys|for|on average),? withheld\b|withheld (?:of|records)", re.I)
LEFT_ENGLISH = re.compile(r"\b(?:the|of|some|records|how many|withheld|within|above|agree|cases)\b")


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("name", LIMITS)
def test_a_hidden_figure_leaves_whole_sentences(name: str, holds: bool) -> None:
    """'withheld of the records are in groups', 'at least withheld', in English and German."""
    entry = verdict(name, holds=holds, value=HIDDEN, n_records=HIDDEN, rate=HIDDEN)
    for words in (plain_verdict(entry, N), verdict_sentence(entry, N)):
        assert not HOLE.search(words), words
        if LIMITS[name].declarable and name not in ("membership_tpr", "residual_risk"):
            assert not LEFT_ENGLISH.search(say(words, "de", ["ill"])), say(words, "de", ["ill"])


@pytest.mark.parametrize("figures", [("withheld", "withheld"), ("withheld", "0.61"), ("0.98", "withheld")])
def test_what_analyses_keep_is_a_sentence_where_a_figure_is_hidden(figures: tuple[str, str]) -> None:
    alike, auc = (HIDDEN if text == "withheld" else {"text": text, "value": float(text)} for text in figures)
    words = decision._kept_words({"contingency_similarity": alike, "auc": auc})
    moved = {"mean_total_variation": HIDDEN, "largest_total_variation": HIDDEN}
    kept = decision._kept_words({"contingency_similarity": alike})
    for sentence in (words, kept, decision._moved_words({"recoded": [], "utility": {"variables": {}}}, moved)):
        assert not HOLE.search(sentence), sentence
        assert not LEFT_ENGLISH.search(say(sentence, "de")), say(sentence, "de")


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("correctly_disclosed", {"rate": None}, "health: 7 % of the records"),
        ("correctly_disclosed", {"rate": None, "value": HIDDEN}, "health (withheld)"),
        ("l", {}, "health: 4.2 % of the records"), ("l", {"rate": None, "value": None}, "health"),
    ],
)  # fmt: skip
def test_likewise_says_of_what_its_figure_is_a_share(name: str, more: dict[str, Any], words: str) -> None:
    assert decision._likewise(verdict(name, variable="health", **more), several=False) == words
    assert "of the" not in say(f"Likewise {words}.", "de", ["health"])


def verdict(name: str, *, holds: bool | None = False, **more: Any) -> dict[str, Any]:
    limit = 3 if name in {"k", "l", "k_undone"} else 0.05
    whole = LIMITS[name].declarable
    columns = ColumnRoles({"sex": ("key",), "name": () if holds is None else ("key",) if holds else ("identifiers",)})
    return {
        "name": name, "intruder": "a" if whole else "", "variable": "ill", "limit": limit if whole else None,
        "holds": {"text": "", "value": holds}, "n_records": {"text": "25", "value": 25},
        "rate": {"text": "4.2 %", "value": 0.042}, "value": {"text": "7 %", "value": 0.07},
        "reason": "" if whole else columns.words, "points": 2 if name == "known_points" else None, **more,
    }  # fmt: skip


def document(*verdicts: dict[str, Any], intruders: int = 1) -> dict[str, Any]:
    names = [{"name": name} for name in "abc"[:intruders]]
    return {"verdicts": list(verdicts), "n": N, "intruders": names}


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_belongs_to_a_question_and_is_told(name: str) -> None:
    assert LIMITS[name].question in QUESTIONS
    told = {holds: plain_verdict(verdict(name, holds=holds), N) for holds in (True, False)}
    assert told[True] != told[False]
    opened = plain_verdict(verdict(name, holds=None, reason="too few"), N)
    assert opened.endswith("could not be judged: too few.")
    assert opened.startswith(LIMITS[name].asked)
    for words in (*told.values(), opened):
        assert words[0].isupper() or words[0].isdigit()
        assert words.endswith(".")
        assert not [one for one in FORBIDDEN if re.search(one, words, re.IGNORECASE)]


def test_what_is_exceeded_is_told_with_its_figure_and_limit() -> None:
    assert plain_verdict(verdict("k"), N) == (
        "25 of 600 records (4.2 %) share what is known with fewer than 2 others; none may."
    )
    assert plain_verdict(verdict("k", limit=2, holds=True), N) == (
        "Every record shares what is known with at least 1 other."
    )
    assert plain_verdict(verdict("risk"), N).endswith("would be recognised with a chance above 1 in 20; none may.")
    assert plain_verdict(verdict("match_risk"), N).endswith(": 7 %, above the limit of 5 %.")
    assert "fewer than 3 values of ill" in plain_verdict(verdict("l"), N)


def test_what_is_exceeded_comes_first_and_equal_sentences_once() -> None:
    found = answers(document(verdict("k", holds=True), verdict("k", intruder="b"), intruders=2))
    assert [state for state, _, _ in found] == ["exceeded", "no limit", "no limit"]
    assert found[0][2].startswith("“b”: 25 of 600")
    assert "“a”: every record" in found[0][2]
    same = answers(document(verdict("k", holds=True), verdict("k", holds=True, intruder="b"), intruders=2))
    assert same[0][0] == "holds"
    assert same[0][2].startswith("Every record")  # of all intruders: nobody need be named


def test_verdicts_of_one_limit_share_a_sentence_and_keep_their_figures() -> None:
    worst = verdict("l", variable="ill", n_records={"text": "60", "value": 60}, rate={"text": "10 %", "value": 0.1})
    found = answers(
        document(verdict("l", variable="pay"), worst, verdict("l", variable="ill", intruder="b"), intruders=2)
    )
    (words,) = [words for state, _, words in found if state == "exceeded"]
    assert words.startswith("“a”: 60 of 600 records (10 %) are in groups with fewer than 3 values of ill")
    assert words.endswith("none may. Likewise pay of “a”: 4.2 % of the records and ill of “b”: 4.2 % of the records.")


def test_one_record_alone_is_spoken_of_in_the_singular() -> None:
    document = copy.deepcopy(dict(printed("one file")))
    tree = document["intruders"][0]["key_contributions"]
    tree["uniques"] = {"text": "1", "value": 1}
    for row in (*tree["coarsenings"], *tree["table"]):
        row["uniques_without"] = {"text": "0", "value": 0}
    step = next_steps(document)[0]
    assert step.split(": then")[1:] == [" no record would be alone. Or leave out age, region or sex", " none would."]


def test_an_open_limit_leaves_its_question_open() -> None:
    found = answers(document(verdict("risk", holds=True), verdict("match_risk", holds=None, reason="no rows")))
    assert found[1][0] == "not judged"
    assert [question for _, question, _ in found] == list(QUESTIONS.values())[:3]
    assert len(answers(document(verdict("residual_risk")))) == 4


def test_columns_are_asked_about_once_for_all_intruders() -> None:
    judged = [verdict("k", holds=True), verdict("k", holds=True, intruder="b"), verdict("roles", holds=None)]
    *_, (state, question, words) = answers(document(*judged, intruders=2))
    assert (state, question) == ("not judged", "Was every column looked at?")
    assert words.startswith("What every column is could not be judged: nobody said what these columns are: 'name';")


def test_columns_without_a_role_are_named_where_no_type_asks_for_them() -> None:
    fake = replace(
        assess_fake(survey(300), Scenario(keys=["sex"])), column_roles=ColumnRoles({"sex": ("key",), "x": ()})
    )
    line = "1 column that goes out has no role: 'x'; name a type of release to have it judged."
    document = plain_document(fake)
    assert document["column_roles"] == {"roles": {"sex": ["key"], "x": []}, "n": 2, "n_without": 1, "line": line}
    assert line in remaining_questions(document)
    assert line in "\n".join(texts_of(lay_out(document).sections))
    of_type = plain_document(replace(fake, scenario=Scenario(keys=["sex"], release="teaching")))
    assert of_type["column_roles"]["line"] == ""


def test_chances_are_said_as_one_in_so_many() -> None:
    assert [chance(one) for one in (0.5, 0.2, 0.01, 0.3, 0.6)] == ["1 in 2", "1 in 5", "1 in 100", "30 %", "60 %"]


@pytest.mark.parametrize("name", MADE)
def test_the_decision_page_is_free_of_jargon(name: str) -> None:
    shown = page(name)
    text = "\n".join(texts_of([Section(one.title, one.blocks) for one in shown.decision]))
    assert len(text) > 500
    assert not [one for one in FORBIDDEN if re.search(one, text, re.IGNORECASE)]


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("name", LIMITS)
def test_every_sentence_is_said_in_german(name: str, holds: bool) -> None:
    told = plain_verdict(verdict(name, holds=holds), N)
    assert say(told, "de") != told


def test_a_limit_has_three_steps_at_most_and_the_others_are_counted():
    named = ("recoverable", "k", "k_undone")
    plain = {
        "verdicts": [{"name": name, "intruder": "x", "variable": None, "holds": {"value": False}} for name in named],
        "intruders": [{"name": "x", "recoverable_values": {"advice": ["a", "b", "c", "d"]}}],
        "scenario": {"person": None},
    }
    steps, more = steps_by_limit(plain)
    assert [names for _, names in steps[:3]] == [("recoverable", "k_undone")] * 3
    assert [step for step, _ in steps[:3]] == ["A.", "B.", "C."]
    assert [names for _, names in steps[3:]] == [("k",)]
    assert more == len(next_steps(plain)) - 1 - len(steps) == 1
    assert steps_by_limit({**plain, "verdicts": []}) == ([], 0)
    asked = [{**verdict, "holds": {"value": None}} for verdict in plain["verdicts"]]
    assert steps_by_limit({**plain, "verdicts": asked}) == ([], 0)
    verdicts = [{**plain["verdicts"][1], "name": "replicated_uniques"}]  # made-up records lose none of their values
    alone = {**plain, "verdicts": verdicts, "intruders": [{"name": "x"}]}
    assert next_steps(alone) == [COARSER, LIMITS["replicated_uniques"].advice, AGAIN]


def test_a_step_against_what_groups_disclose_is_named_for_all_of_its_variables():
    """It names the variables of all verdicts, and so it is the step of none of them by itself."""
    plain = {
        "verdicts": [
            {"name": "l", "intruder": "x", "variable": variable, "holds": {"value": False}} for variable in "ab"
        ],
        "intruders": [{"name": "x"}], "scenario": {"person": None},
    }  # fmt: skip
    steps, more = steps_by_limit(plain)
    together = "Form larger groups, or make coarser or leave out what a group discloses: a and b."
    assert (together, ("l",)) in steps
    assert more == 0
    assert [step for step, _ in steps] == next_steps(plain)[:-1]


def test_where_rows_do_not_correspond_no_half_is_called_what_chance_makes() -> None:
    """A model of 3,236 terms told copies of a file from it in 72 % of the cases, which was held against 50 %."""
    auc, ratio = ({"text": text, "value": float(text)} for text in ("0.72", "1.1"))
    assert decision._kept_words({"auc": auc, "pmse_ratio": ratio}) == (
        "The distance by which a model tells released records from original ones (pMSE) is 1.1 times what correct "
        "synthesis leaves (best: 1)."
    )
    beside = "A changed record can be told from an original one in 72 % of the cases (by chance: 50 %)."
    assert decision._kept_words({"auc": auc}) == beside
