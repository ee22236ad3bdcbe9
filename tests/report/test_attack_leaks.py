"""Attacks in print: of few people no number is given back, whatever else the document says."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

import releases
from sdckit.attacks.attack_rates import Tally, rates
from sdckit.attacks.membership import Detection, membership
from sdckit.numerics.intervals import excess
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


# The calibrated ratio of membership: members and others above a cut, and the rates beside them.


def told_by_ratio(n, n_others, called, alarms, near, *, area=0.7, strongest="ratio", score=0.0):
    """The whole document of membership where the ratio and the distance tell so many of the people in the file."""
    figures = rates(Tally(n, n // 2, 1.0), 0.5, Tally(n, n - n // 2, 1.0), 0.95, {})
    three = excess(called, n, alarms, n_others, 0.95)
    rate = Detection(0.1, called / n, near / n, score, called, n, alarms, n_others, *three)
    scored = SimpleNamespace(rows=np.arange(n), half=np.repeat([True, False], n_others), members=np.full(n, score))
    result = SimpleNamespace(
        figures=tuple(figures), per_release=(figures,), verdict="", notes={}, by=(), **figures, ratio_auc=area,
        detections=(rate,), judged=rate, strongest=strongest, scored=scored,
    )  # fmt: skip
    plain = plain_attacks({"membership": result}, n=max(n, 50), sizes=[max(n, 50)], control=True)
    return json.dumps(plain["attacks"])


@pytest.mark.parametrize(("n", "n_others"), [(60, 60), (150, 50)])
def test_no_small_count_of_the_ratio_is_given_back(n: int, n_others: int) -> None:
    """Members above the cut, others above it, and members whom the distance tells: of few nobody knows how many."""
    by_others: dict[str, list[tuple[int, int, int, int]]] = {}
    by_distance: dict[str, list[tuple[int, int, int, int]]] = {}
    for called in few(n):
        for alarms in few(n_others):
            by_others.setdefault(told_by_ratio(n, n_others, called, alarms, 0), []).append(
                (called, alarms, n, n_others)
            )
        for near in few(n):
            by_distance.setdefault(told_by_ratio(n, n_others, called, 0, near), []).append((called, near, n, n))
    for alike in (by_others, by_distance):
        assert len(alike) > 1
        assert not list(given_away(alike))


def test_scores_areas_and_the_stronger_one_are_not_printed() -> None:
    first, *others = (
        told_by_ratio(500, 250, 40, 20, 10, **more)
        for more in ({}, {"area": 0.7001}, {"strongest": "distance"}, {"score": 3.2})
    )
    assert others == [first] * 3


def test_subgroups_and_records_are_not_printed() -> None:
    people, others = (releases.original(400, seed=seed).drop("pid") for seed in (3, 4))
    result = membership(people, people, control=others, by="region", seed=1)
    assert "tpr_0.1" in result.by_group.columns
    plain = plain_attacks({"membership": result}, n=400, sizes=[400], control=True)
    text = json.dumps(plain)
    assert "tpr_0.1" not in text
    assert "ratio_score" not in text
    assert not {*people["region"]} & {word.strip('":,[]{}') for word in text.split()}
