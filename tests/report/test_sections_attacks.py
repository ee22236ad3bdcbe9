"""Attacks as typed figures: successes like every count of people, nothing that gives them back."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.errors import DataError
from sdckit.report.release_document import plain_release
from sdckit.report.sections_attacks import (
    attack_words,
    attacks_tree,
    linkage_words,
    plain_attacks,
    risk_up_to,
)

EVERYBODY = releases.original(160)
LINKED = "probabilistic_linkage:default"


def assessed(**options):
    original = EVERYBODY[:80]
    with quiet():
        return sdc.assess(
            original, releases.release(original), scenario=releases.scenario(), seed=1, **options
        )


@pytest.fixture(scope="module")
def found():
    return assessed(control=EVERYBODY[80:])


@pytest.fixture(scope="module")
def plain(found):
    return plain_release(found)["attacks"]


def test_rates_are_those_of_the_result_from_rounded_counts(found, plain) -> None:
    assert plain["control"] is True
    for place, one in plain["attacks"].items():
        if place == LINKED:
            continue
        result, tree = found.attacks[place], one["releases"][0]
        assert abs(tree["n_attacks"]["value"] - result.n_attacks) < 5
        value = tree["success_rate"]["value"]
        if 0 < result.successes < 5:
            assert value is None
        elif value is not None:
            assert value == pytest.approx(result.success_rate, abs=5 / result.n_attacks)


def test_no_interval_and_no_exact_figure_leaves(found, plain) -> None:
    text = json.dumps(plain)
    assert "exact" not in text
    assert "success_low" not in text
    for result in found.attacks.values():
        assert getattr(result, "verdict", "a sentence") not in text
    internal = plain_release(found, internal=True)["attacks"]["attacks"]["membership"]["exact"]
    assert internal["verdict"] == found.attacks["membership"].verdict
    assert internal["success_low"] == found.attacks["membership"].success_low


def test_few_guesses_are_hidden_like_few_successes(found, plain) -> None:
    result = found.attacks["singling_out:multivariate"]
    leaf = plain["attacks"]["singling_out:multivariate"]["releases"][0]["baseline_rate"]
    assert (leaf["value"] is None) == (0 < result.baseline_rate * result.n_attacks < 5)


def test_distances_without_quantiles(found, plain) -> None:
    near = plain["distances"]["releases"][0]
    assert not [name for name in near if name.startswith(("dcr", "nndr"))]
    result = found.attacks["distance_to_closest_record"]
    assert near["share_closer_to_original"]["value"] == pytest.approx(
        result.share_closer_to_original, abs=0.07
    )


def test_without_control_and_without_attacks() -> None:
    alone = plain_release(assessed(attacks=True))
    tree = alone["attacks"]
    assert tree["skipped"] == [{"measure": "membership", "reason": "there is no control file"}]
    assert tree["distances"]["means"].startswith("without a control file")
    assert all(one["residual_risk"]["value"] is None for one in tree["attacks"].values())
    assert "attacks=True" in alone["reproduce"]["python"]
    assert alone["reproduce"]["command"].endswith("--attacks")
    none = assessed()
    assert attacks_tree(none, None) is None
    assert plain_release(none)["attacks"] is None


BASE = {
    "success_rate": 0.4,
    "baseline_rate": 0.1,
    "control_rate": 0.2,
    "control_low": 0.18,
    "control_high": 0.22,
}


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"success_rate": math.nan}, "no attack could be made"),
        ({"success_rate": 0.1}, "no better than guessing"),
        ({"control_rate": math.nan}, "without a control file"),
        ({"residual_low": 0.1}, "more about the people in it"),
        ({"residual_low": -0.1}, "no sign"),
        ({"residual_low": -0.1, "control_high": 0.6}, "too small"),
    ],
)
def test_words_have_no_figure(figures, words: str) -> None:
    told = attack_words({**BASE, **figures})
    assert words in told
    assert not any(letter.isdigit() for letter in told)


@pytest.mark.parametrize(
    ("high", "value"), [(0.0, 0.05), (0.05, 0.05), (0.051, 0.1), (0.97, 1.0), (1.0, 1.0)]
)
def test_the_risk_is_rounded_up(high: float, value: float) -> None:
    assert risk_up_to(high)["value"] == value


def test_others_called_members_stay_out_since_they_follow_from_the_members_called(found, plain) -> None:
    leaf = plain["attacks"]["membership"]["releases"][0]
    assert leaf["control_rate"] == {"text": "not shown", "value": None}
    assert leaf["success_rate"]["value"] is not None
    exact = plain_release(found, internal=True)["attacks"]["attacks"]["membership"]["exact"]
    assert exact["control_rate"] == found.attacks["membership"].control_rate


def test_linked_records_are_counts_of_people(found, plain) -> None:
    result, tree = found.attacks[LINKED], plain["attacks"][LINKED]["releases"][0]
    assert tree["n_attacks"]["value"] == 80
    right = result.rate * 80
    if right < 5:
        assert tree["success_rate"]["value"] is None
    else:
        assert tree["success_rate"]["value"] == pytest.approx(5 * round(right / 5) / 80, rel=0.02)
    assert tree["baseline_rate"]["value"] == pytest.approx(1 / 80, rel=0.05)
    assert tree["control_rate"]["text"] == "not compared"
    exact = plain_release(found, internal=True)["attacks"]["attacks"][LINKED]["exact"]
    assert (exact["rate"], exact["precision"]) == (result.rate, none_if_nan(result.precision))
    assert exact["verdict"].startswith(f"{result.rate:.1%} of the released records are linked")
    assert (f"{result.precision:.1%} are right" in exact["verdict"]) == (result.n_links > 0)


@pytest.mark.parametrize(
    ("right", "value"), [(0, 0.0), (2, None), (4.4, None), (40, 0.2), (41, 0.2), (200, 1.0)]
)
def test_few_linked_records_are_hidden(right: float, value: float | None) -> None:
    figures = {
        "rate": right / 200, "rate_low": 0.0, "rate_high": 1.0, "baseline": 1 / 200, "n_links": 0.0, "precision": 0.0,
    }  # fmt: skip
    result = SimpleNamespace(figures=tuple(figures), per_release=(figures,), **figures)
    plain = plain_attacks({LINKED: result}, n=200, sizes=[200], control=False)
    leaf = plain["attacks"][LINKED]["releases"][0]["success_rate"]
    assert leaf["value"] == value


def none_if_nan(value):
    return None if math.isnan(value) else value


def test_linkage_in_words() -> None:
    assert "right people" in linkage_words(0.11, 0.1)
    assert "no better than guessing" in linkage_words(0.1, 0.1)
    assert not any(letter.isdigit() for letter in linkage_words(0.11, 0.1))


def test_attacks_without_an_assessment(found) -> None:
    given = {"n": 80, "sizes": [80], "control": True, "skipped": [("membership", "3 records are too few")]}
    plain = plain_attacks(found.attacks, **given)
    assert (plain["schema"], plain["protected"]) == ("sdckit/attacks", True)
    assert plain["n_released"] == [{"text": "80", "value": 80}]
    assert set(plain["attacks"]) | {"distance_to_closest_record"} == set(found.attacks)
    assert plain["skipped"] == [{"measure": "membership", "reason": "<5 records are too few"}]
    assert "exact" not in json.dumps(plain)
    whole = plain_attacks(found.attacks, **given, internal=True)
    assert whole["confidential"]
    assert whole["attacks"]["membership"]["exact"]["success_low"] == found.attacks["membership"].success_low
    with pytest.raises(DataError, match="fewer than 50"):
        plain_attacks({}, n=40, sizes=[80], control=False)
