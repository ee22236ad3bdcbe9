"""Attacks in print: of few people no number is given back, whatever else the document says."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest

from sdckit.attacks.attack_rates import Tally, rates
from sdckit.report.chapters.attacks_chapter import plain_attacks
from sdckit.report.gate.audit import SAFE_VALUES, SMALL


def few(m):
    """Counts near nothing, or near all of m."""
    return sorted({*range(11), *range(m - 10, m + 1)} & set(range(m + 1)))


def printed(place, n, attack, n_control, control, guess):
    """The whole document of an attack with these true counts, by itself."""
    effect = 1.7 if place.startswith("singling") else 1.0
    attacked, others = Tally(n, attack, effect), Tally(n_control, control, effect)
    figures = rates(attacked, guess, others, 0.95, {})
    more = {**figures, "ratio_auc": math.nan}
    result = SimpleNamespace(figures=tuple(figures), per_release=(figures,), verdict="", notes={}, by=(), **more)
    plain = plain_attacks({place: result}, n=max(n, 50), sizes=[max(n, 50)], control=True)
    return json.dumps(plain["attacks"])


def given_away(alike):
    """Groups of counts alike in print in which a small number of people is known too well."""
    for pairs in alike.values():
        for side, m in ((0, pairs[0][2]), (1, pairs[0][3])):
            counts = {pair[side] for pair in pairs}
            for values in (counts, {m - count for count in counts}):
                small = {value for value in values if 0 < value < SMALL}
                if small and (len(values) < SAFE_VALUES or len(small) < 2):
                    yield pairs


@pytest.mark.parametrize(
    ("place", "n", "n_control", "guess"),
    [
        *(("linkability:default", n, n, 1 / n) for n in (10, 13, 14, 20, 50, 60, 75, 149, 150, 500, 3000)),
        ("linkability:default", 150, 60, 1 / 3000),
        *(("inference:default:ill", n, n, guess) for n, guess in [(50, 0.5), (152, 0.01), (499, 0.99)]),
        *(("singling_out:multivariate", n, n, 0.03) for n in (20, 50, 76, 199)),
        *(("membership", n, n, 0.5) for n in (20, 50, 149, 150, 499)),
    ],
)
def test_no_small_count_is_given_back(place: str, n: int, n_control: int, guess: float) -> None:
    """All true counts that give the same document: of few people too many for anybody to know how many."""
    alike: dict[str, list[tuple[int, int, int, int]]] = {}
    for attack in few(n):
        for control in [n - attack] if place == "membership" else few(n_control):
            text = printed(place, n, attack, n_control, control, guess)
            alike.setdefault(text, []).append((attack, control, n, n_control))
    assert len(alike) > 1
    assert not list(given_away(alike))


@pytest.mark.parametrize("n", [20, 50, 149])
def test_no_number_of_members_is_given_back_where_many_are_equally_near(n: int) -> None:
    """Then more than half of all people are called members, and nobody knows how many."""
    alike: dict[str, list[tuple[int, int, int, int]]] = {}
    for attack in few(n):
        for control in [one for one in few(n) if one + attack >= n]:
            text = printed("membership", n, attack, n, control, (attack + control) / (2 * n))
            alike.setdefault(text, []).append((attack, control, n, n))
    assert not list(given_away(alike))


def test_what_is_printed_tells_the_same_of_all_that_it_allows() -> None:
    """The document of one success is that of four, against any small number of the control."""
    texts = {printed("linkability:default", 150, a, 150, c, 1 / 150) for a in range(1, 5) for c in range(1, 5)}
    assert len(texts) == 1


def test_few_attempts_have_no_rates() -> None:
    text = printed("inference:default:ill", 9, 6, 9, 2, 0.5)
    assert "too few attempts" in text
    assert "successes" not in text
    assert json.loads(printed("inference:default:ill", 60, 30, 9, 2, 0.1))["inference:default:ill"]["means"] == (
        "better than guessing; the control file is too small to compare with"
    )
