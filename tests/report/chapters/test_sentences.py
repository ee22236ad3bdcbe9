from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from report.documents import render_html, render_markdown
from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenarios.column_roles import ColumnRoles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import Paragraph
from sdckit.report.chapters.page import lay_out
from sdckit.report.chapters.sentences import (
    answer,
    headline,
    limits_tree,
    limits_words,
    listed,
    release_sentence,
    status,
    verdict_sentence,
)
from sdckit.report.formats.write import plain_document
from sdckit.report.wording import say
from sdckit.workflow.verdicts import Verdict, with_origins

N = {"text": "600", "value": 600}
WITHHELD = {"text": "withheld", "value": None}


def verdict(name: str, holds: bool | None, **more: Any) -> dict[str, Any]:
    made = {
        "name": name, "intruder": "default", "variable": None, "limit": 3,
        "holds": {"text": "", "value": holds}, "n_records": {"text": "25", "value": 25},
        "rate": {"text": "4.2 %", "value": 0.042}, "value": None, "reason": "",
    }  # fmt: skip
    return made | more


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (verdict("k", False), "25 of 600 records (4.2 %) are in groups of fewer than 3 with the same keys (k = 3)."),
        (verdict("residual_risk", False, limit=0.1), "At least one simulated attack has a residual risk above 0.1."),
        (verdict("residual_risk", True, limit=0.1), "No simulated attack has a residual risk above 0.1."),
        (verdict("k", True), "Every record is in a group of at least 3 with the same keys (k = 3)."),
        (verdict("risk", False, limit=0.1), "25 of 600 records (4.2 %) have a risk of re-identification above 0.1."),
        (verdict("risk", True, limit=0.1), "No record has a risk of re-identification above 0.1."),
        (
            verdict("k", False, limit=1000),
            "25 of 600 records (4.2 %) are in groups of fewer than 1,000 with the same keys (k = 1,000).",
        ),
        (verdict("household_risk", True, limit=0.1), "No record has a household risk above 0.1."),
        (
            verdict("household_uniques", False, limit=0.1, value={"text": "20 %", "value": 0.2}),
            "Share of the households that are alone with their composition: 20 %, above 10 %.",
        ),
        (
            verdict("l", False, variable="income"),
            "25 of 600 records (4.2 %) are in groups with fewer than 3 different values of income.",
        ),
        (
            verdict("l", True, variable="income"),
            "Every group with the same keys holds at least 3 different values of income.",
        ),
        (
            verdict("global_risk", True, limit=0.02, n_records=None, value={"text": "0.014", "value": 0.014}),
            "The expected share of records re-identified (global risk) is 1.4 %, not above 2 %.",
        ),
        (
            verdict("l", None, reason="no sensitive variable."),
            "l-diversity (limit 3) could not be judged: no sensitive variable.",
        ),
        (
            verdict("match_risk", None, limit=0.05, reason="no file."),
            "Match risk (limit 5 %) could not be judged: no file.",
        ),
        (
            verdict("k", False, n_records=WITHHELD, rate=WITHHELD),
            "A number of records (withheld) are in groups of fewer than 3 with the same keys (k = 3).",
        ),
    ],
)  # fmt: skip
def test_verdicts_in_plain_words(one: dict[str, Any], sentence: str) -> None:
    assert verdict_sentence(one, N) == sentence


@pytest.mark.parametrize(
    ("holds", "words"),
    [
        ([], "No limit was declared"),
        ([True], "Within every declared limit"),
        ([False], "The only limit is exceeded"),
        ([False, True, False], "2 of 3 limits are exceeded"),
        ([None, True], "1 declared limit could not be judged"),
    ],
)
def test_the_headline(holds: list[bool | None], words: str) -> None:
    assert words in headline({"verdicts": [verdict("k", one) for one in holds]})


def test_lists() -> None:
    assert [listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_an_answer_says_who_and_what() -> None:
    plain = plain_document(assess_fake(survey(400), FULL))
    words = answer(plain["intruders"][0], plain["n"])
    for part in ("Somebody who knows sex, age, region and occupation", "global risk", "household", "income"):
        assert part in words


def test_nobody_alone_and_nothing_learnt() -> None:
    plain = plain_document(assess_fake(survey(900), Scenario(keys=["sex"], sensitive=["income"])))
    words = answer(plain["intruders"][0], plain["n"])
    assert "finds no record that is alone" in words
    assert "No group of equal keys discloses income" in words


def test_html_and_terminal_say_the_same_of_a_verdict() -> None:
    for name, limit, variable in (
        ("k", 3, None),
        ("l", 2, "income"),
        ("risk", 0.1, None),
        ("household_risk", 0.1, None),
    ):
        for holds in (True, False):
            n = 0 if holds else 25
            exact = Verdict(name, "default", variable, limit, holds, n, None, "").sentence
            printed = verdict_sentence(verdict(name, holds, limit=limit, variable=variable), N)
            assert printed.replace(" of 600 records (4.2 %)", " records") == exact[0].upper() + exact[1:] + "."


def test_the_headline_and_the_verdict_name_what_rests_on_missing_values() -> None:
    rests = {"n_category": {"text": "200", "value": 200}, "n_resting": {"text": "45", "value": 45}}
    held = verdict("k", True, limit=3) | rests
    assert verdict_sentence(held, N) == (
        "Every record is in a group of at least 3 with the same keys (k = 3) when a missing value may be any value "
        "(45 only through other records' missing values); with a missing value as a category, 200 records are in "
        "groups of fewer than 3."
    )
    worse = held | {"n_resting": {"text": "<5", "value": None, "below": 5}}
    assert headline({"verdicts": [worse, held]}) == (
        "Within every declared limit. 45 records are in groups of 3 or more only through other records' missing values."
    )
    none = held | {"n_resting": {"text": "0", "value": 0}}
    assert headline({"verdicts": [none]}) == "Within every declared limit."
    hidden = held | {"n_resting": {"text": "withheld", "value": None}}
    assert "A number of records (withheld) are in groups of 3 or more" in headline({"verdicts": [hidden]})


@pytest.mark.parametrize(
    ("holds", "roles", "words"),
    [
        (True, True, "Within every declared limit."),
        (True, None, "Undecided: columns go out of which nobody said what they are; every declared limit holds."),
        (True, False, "Not to be given out: a direct identifier is in the file."),
        (None, None, "Undecided: 1 declared limit could not be judged, and no other is exceeded."),
        (False, None, "Not within the declared limits: The only limit is exceeded."),
    ],
)
def test_the_headline_counts_limits_and_names_what_has_none(holds: bool, roles: bool, words: str) -> None:
    judged = [verdict("k", holds), verdict("roles", roles, limit=None, intruder="", reason="")]
    assert headline({"verdicts": judged}) == words


def test_the_headline_says_that_columns_which_have_their_roles_may_tell_more() -> None:
    """It said that nobody had said what they are."""
    told = "the file may tell more than the roles of its columns say. Not judged: 'w' tells 'age'"
    words = "Undecided: the file may tell more than the roles of its columns say; every declared limit holds."
    for reason, expected in ((told, True), (f"nobody said what these columns are: 'x'. {told}", False)):
        roles = verdict("roles", None, limit=None, intruder="", reason=reason)
        assert (headline({"verdicts": [verdict("k", True), roles]}) == words) is expected


def test_the_headline_says_that_a_file_holds_more_than_its_records() -> None:
    roles, beside = (verdict(name, None, limit=None, intruder="", reason="") for name in ("roles", "beside_records"))
    held = verdict("roles", True, limit=None, intruder="", reason="")
    words = "Undecided: the file holds more than its records; every declared limit holds."
    assert headline({"verdicts": [verdict("k", True), beside, beside]}) == words
    assert headline({"verdicts": [verdict("k", True), held, beside]}) == words
    assert "nobody said what they are" in headline({"verdicts": [verdict("k", True), roles, beside]})
    without = "Undecided: the file holds more than its records; no limit was declared."
    assert headline({"verdicts": [held, beside]}) == without
    assert headline({"verdicts": [held]}).startswith("No limit was declared")


@pytest.mark.parametrize("holds", [True, False, None])
def test_the_word_is_that_of_the_verdict(holds: bool | None) -> None:
    assert status(holds) == Verdict("k", "default", None, 3, holds, 1, None, "").word


def test_records_of_persons_are_called_so() -> None:
    scenario = Scenario(keys=["sex", "age", "occupation"], person="household")
    plain = plain_document(assess_fake(survey(400), scenario))
    assert "of persons alone with their combination of values" in answer(plain["intruders"][0], plain["n"])


# The page and the JSON say what a file is released as, and where each limit comes from.


def told(compared: bool = False, **entries: Any) -> str:
    return release_sentence(limits_tree(Scenario(keys=["sex"], **entries), compared=compared))


def test_nothing_is_told_without_a_type() -> None:
    assert told(thresholds={"k": 3}) == ""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"release": "scientific-use", "household": "h"},
            "Type of release: scientific-use file. Its limits: k 3, individual risk 0.2, household risk 0.2.",
        ),
        (
            {"release": "scientific-use", "household": "none", "thresholds": {"k": 5, "global_risk": 0.1}},
            (
                "Type of release: scientific-use file. Its limits: individual risk 0.2. The scenario’s own limits: "
                "k 5 (a scientific-use file: 3), global risk 10 %. Not asked: household risk, the scenario says that "
                "no column of the file numbers households."
            ),
        ),
        (
            {"release": "scientific-use", "thresholds": {"risk": "none", "k": 5}},
            (
                "Type of release: scientific-use file. Its limits: household risk 0.2. The scenario’s own limits: "
                "k 5 (a scientific-use file: 3). Not asked: individual risk, the scenario says that it is not asked."
            ),
        ),
        (
            {"release": "synthetic", "thresholds": {"replicated_uniques": 0.02}, "compared": True},
            (
                "Type of release: fully synthetic file. Its limits: copies of single records 0 %, correct disclosure "
                "20 %, residual risk of attacks 0.2. The scenario’s own limits: replicated uniques 2 % (a fully "
                "synthetic file: 5 %)."
            ),
        ),
        ({"release": "own", "release_types": {"own": {"k": 4}}}, "Type of release: “own”. The office’s limits: k 4."),
        (
            {"release": "enclave", "thresholds": {"k": 3}},
            (
                "Type of release: file for use in a secure environment. The scenario’s own limits: k 3. "
                "No limit comes from the type."
            ),
        ),
        (
            {"release": "public-use", "compared": True, "sensitive": ["ill"], "household": "h"},
            (
                "Type of release: public-use file. Its limits: k 5, individual risk 0.05, l 2, household risk 0.05, "
                "reconstructed values 0 %, numbers that go out as they are 0 %."
            ),
        ),
    ],
)
def test_the_sentence(given: dict[str, Any], words: str) -> None:
    assert told(**given) == words


def test_the_tree_keeps_the_origin_of_each_limit() -> None:
    scenario = Scenario(
        keys=["sex"], sensitive=[], household="none", magnitudes=[], release="public-use", thresholds={"k": 3}
    )
    tree = limits_tree(scenario, compared=False)
    assert tree["limits"] == {
        "k": {"value": 3, "origin": "scenario", "of_type": 5},
        "risk": {"value": 0.05, "origin": "release type", "of_type": 0.05},
    }
    assert limits_words(tree) == ["k 3", "individual risk 0.05"]


def test_every_document_says_the_type_and_where_limits_come_from() -> None:
    fake = assess_fake(survey(200), FULL)
    (one,) = fake.intruders
    fake = replace(fake, intruders=(replace(one, verdicts=with_origins(one.verdicts, FULL)),))
    plain = plain_document(fake)
    sentence = "Type of release: scientific-use file. Its limits: household risk 0.2."
    page = lay_out(plain)
    first = [one.text for one in page.sections[0].blocks if isinstance(one, Paragraph)]
    assert any(text.startswith(sentence) for text in first)
    k = next(one for one in plain["verdicts"] if one["name"] == "k")
    assert k["origin"] == "limit of the scenario (a scientific-use file: 3)"
    assert verdict_sentence(k, plain["n"]).endswith("(k = 3). Limit of the scenario (a scientific-use file: 3).")
    assert plain["scenario"]["limits"]["household_risk"]["origin"] == "release type"
    for text in (render_html(plain), render_markdown(plain).replace("\\", "")):
        assert sentence in text
        assert "Limit of the scenario (a scientific-use file: 3)." in text


@pytest.mark.parametrize(
    "roles",
    [
        {"sex": ("key",), "name": ("identifiers",)},
        {"sex": ("key",), "name": ("identifiers",), "pid": ("identifiers",)},
        {"sex": (), "name": ("identifiers",)},
        {"sex": (), "name": ()},
        {"sex": ("insensitive",), "name": ("insensitive",)},
    ],
)
@pytest.mark.parametrize("unique", [True, False])
@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize("covered", [(), ("sex",), ("sex", "name")])
def test_every_sentence_on_columns_is_said_in_german(
    roles: dict[str, tuple[str, ...]], unique: bool, numbers: bool, covered: tuple[str, ...]
) -> None:
    without = tuple(name for name, given in roles.items() if not given)
    columns = ColumnRoles(roles, covered, without if unique else (), "so.", numbers=without if numbers else ())
    one = verdict("roles", columns.holds, limit=None, intruder="", reason=columns.words)
    told = verdict_sentence(one, N)
    assert told[0].isupper()
    assert told.endswith(".")
    german = say(told, "de")
    assert german != told
    for word in ("nobody", "pattern", "goes", "column", "could", "numbers"):
        assert word not in german
