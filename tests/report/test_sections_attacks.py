"""Attacks as typed figures: successes like every count of people, nothing that gives them back."""

from __future__ import annotations

import json
import math

import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.report.release_document import plain_release
from sdckit.report.sections_attacks import attack_words, attacks_tree, risk_up_to

EVERYBODY = releases.original(160)


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
        assert result.verdict not in text
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
