"""The verdicts without statistics: each limit has a question and a sentence, and no word of the trade stands in it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from report.real import MADE, page
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.report.blocks import Section
from sdckit.report.chapters.glossary import texts_of
from sdckit.report.chapters.plain_words import ASKED, QUESTION_OF, QUESTIONS, answers, chance, plain_verdict
from sdckit.report.chapters.sentences import UNDONE
from sdckit.report.saying import say

N = {"text": "600", "value": 600}
LIMITS = [*Thresholds.model_fields, *UNDONE]
# Words that a reader who knows no statistics does not know.
FORBIDDEN = (
    r"k-anonym|k =|l-divers|pMSE|SPECKS|wildcard|global risk|equivalence|\bcells?\b|quasi|from the margin|\balpha\b",
    r"sample unique|posterior|re-identif|threshold|microdata|attribut|residual|distribution|\bintruders?\b",
    r"\bkeys? variable|recod|suppress|\bpram\b|perturb|quantile|percentile|\bAUC\b|association|estimat|variance",
    r"probabilit",
)


def verdict(name: str, *, holds: bool | None = False, **more: Any) -> dict[str, Any]:
    limit = 3 if name in {"k", "l", "k_undone"} else 0.05
    return {
        "name": name, "intruder": "a", "variable": "ill", "limit": limit, "holds": {"text": "", "value": holds},
        "n_records": {"text": "25", "value": 25}, "rate": {"text": "4.2 %", "value": 0.042},
        "value": {"text": "7 %", "value": 0.07}, "reason": "", **more,
    }  # fmt: skip


def document(*verdicts: dict[str, Any], intruders: int = 1) -> dict[str, Any]:
    names = [{"name": name} for name in "abc"[:intruders]]
    return {"verdicts": list(verdicts), "n": N, "intruders": names}


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_belongs_to_a_question_and_is_told(name: str) -> None:
    assert QUESTION_OF[name] in QUESTIONS
    told = {holds: plain_verdict(verdict(name, holds=holds), N) for holds in (True, False)}
    assert told[True] != told[False]
    opened = plain_verdict(verdict(name, holds=None, reason="too few"), N)
    assert opened.endswith("could not be judged: too few.")
    assert opened.startswith(ASKED[name])
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
    assert plain_verdict(verdict("risk"), N).endswith(
        "would be recognised with a chance above 1 in 20; none may."
    )
    assert plain_verdict(verdict("match_risk"), N).endswith(": 7 %, above the limit of 5 %.")
    assert "fewer than 3 values of ill" in plain_verdict(verdict("l"), N)


def test_what_is_exceeded_comes_first_and_equal_sentences_once() -> None:
    found = answers(document(verdict("k", holds=True), verdict("k", intruder="b"), intruders=2))
    assert [state for state, _, _ in found] == ["exceeded", "no limit", "no limit"]
    assert found[0][2].startswith("“b”: 25 of 600")
    assert "“a”: every record" in found[0][2]
    same = answers(document(verdict("k", holds=True), verdict("k", holds=True, intruder="b"), intruders=2))
    assert same[0][0] == "holds"
    assert same[0][2].startswith("“a” and “b”: every record")


def test_an_open_limit_leaves_its_question_open() -> None:
    found = answers(
        document(verdict("risk", holds=True), verdict("match_risk", holds=None, reason="no rows"))
    )
    assert found[1][0] == "not judged"
    assert [question for _, question, _ in found] == list(QUESTIONS.values())[:3]
    assert len(answers(document(verdict("residual_risk")))) == 4


def test_chances_are_said_as_one_in_so_many() -> None:
    assert [chance(one) for one in (0.5, 0.2, 0.01, 0.3, 0.6)] == [
        "1 in 2",
        "1 in 5",
        "1 in 100",
        "30 %",
        "60 %",
    ]


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
