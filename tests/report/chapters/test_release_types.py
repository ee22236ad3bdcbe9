"""The page and the JSON say what a file is released as, and where each limit comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import Paragraph
from sdckit.report.chapters.page import lay_out
from sdckit.report.chapters.release_types import limits_tree, limits_words, release_sentence
from sdckit.report.chapters.sentences import verdict_sentence
from sdckit.report.formats.html import render_html
from sdckit.report.formats.markdown import render_markdown
from sdckit.report.formats.write import plain_document
from sdckit.workflow.limit_origins import with_origins


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
            {"release": "scientific-use", "thresholds": {"k": 5, "global_risk": 0.1}},
            (
                "Type of release: scientific-use file. Its limits: individual risk 0.2. The scenario’s own limits: "
                "k 5 (a scientific-use file: 3), global risk 0.1. Not asked: household risk, no household column "
                "is declared."
            ),
        ),
        (
            {"release": "own", "release_types": {"own": {"k": 4}}},
            "Type of release: “own”. The office’s limits: k 4.",
        ),
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
                "values given back 0."
            ),
        ),
    ],
)
def test_the_sentence(given: dict[str, Any], words: str) -> None:
    assert told(**given) == words


def test_the_tree_keeps_the_origin_of_each_limit() -> None:
    tree = limits_tree(Scenario(keys=["sex"], release="public-use", thresholds={"k": 3}), compared=False)
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
    assert verdict_sentence(k, plain["n"]).endswith(
        "(k = 3). Limit of the scenario (a scientific-use file: 3)."
    )
    assert plain["scenario"]["limits"]["household_risk"]["origin"] == "release type"
    for text in (render_html(plain), render_markdown(plain).replace("\\", "")):
        assert sentence in text
        assert "Limit of the scenario (a scientific-use file: 3)." in text
