"""Rates, residual risk and verdicts by hand."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import hypergeom

from attacks.made import CONTROL, KNOWN, ORIGINAL, OTHERS
from sdckit.attacks.attack_rates import ENOUGH, FIGURES, Tally, counted, isolated, means, rates, scaled, verdict
from sdckit.attacks.linkability import linkability
from sdckit.errors import DataError
from sdckit.numerics.intervals import excess, wilson


def test_with_a_control():
    notes = {}
    found = rates(Tally(200, 150), 0.1, Tally(100, 20), 0.95, notes)
    assert tuple(found) == FIGURES
    assert (found["success_rate"], found["control_rate"], found["n_control"]) == (0.75, 0.2, 100)
    expected = excess(150, 200, 20, 100)
    assert [found[name] for name in ("residual", "residual_low", "residual_high")] == pytest.approx(expected)
    assert [found["risk"], found["risk_low"]] == pytest.approx(expected[:2])
    assert found["risk"] == pytest.approx((0.75 - 0.2) / (1 - 0.2))
    assert notes == {}


def test_cut_off_at_0_and_1():
    found = rates(Tally(50, 2), 0.1, Tally(50, 40), 0.95, {})
    assert found["risk"] == found["risk_low"] == found["risk_high"] == 0
    assert found["residual_high"] < 0


def test_without_a_control():
    notes = {}
    found = rates(Tally(50, 40), 0.1, None, 0.9, notes)
    assert (found["risk"], found["risk_low"]) == (0.8, wilson(40, 50, 0.9).low)
    assert math.isnan(found["residual"])
    assert math.isnan(found["n_control"])
    assert set(notes) == {"control_rate", "risk", "residual"}


def test_no_attack():
    notes = {}
    found = rates(Tally(0, 0), math.nan, Tally(0, 0), 0.95, notes)
    assert math.isnan(found["success_rate"])
    assert notes == {"success_rate": "no attack could be made"}
    assert "No attack could be made" in verdict(found)
    found = rates(Tally(5, 3), 0.1, Tally(0, 0), 0.95, notes)
    assert math.isnan(found["risk"])
    assert "nobody of the control file" in notes["risk"]


def test_dependent_attacks_are_worth_fewer_independent_ones():
    assert Tally(100, 40, effect=4.0).interval(0.95) == wilson(10, 25)
    found = rates(Tally(100, 40, 4.0), 0.1, Tally(100, 20, 2.0), 0.95, {})
    assert (found["success_rate"], found["control_rate"]) == (0.4, 0.2)
    assert (found["residual_low"], found["residual_high"]) == excess(10, 25, 10, 50)[1:]


def test_a_residual_that_does_not_follow_from_the_tallies():
    found = rates(Tally(100, 40), 0.1, Tally(100, 20), 0.95, {}, (0.3, -0.1, 0.6))
    assert [found[name] for name in ("residual", "risk", "risk_low", "residual_low")] == [0.3, 0.3, 0.0, -0.1]


@pytest.mark.parametrize(
    ("attack", "control", "said"),
    [
        (Tally(500, 50), Tally(500, 40), "Not to be trusted: the attack succeeds in 10.0% of the attempts, guessing"),
        (Tally(500, 300), None, "Without a control file it is open"),
        (Tally(500, 300), Tally(500, 290), "No sign that being in the file makes a difference"),
        (Tally(500, 300), Tally(500, 100), "discloses more about the people in it than about others: 50.0%"),
        (Tally(500, 300), Tally(20, 5), "The control file is too small"),
        (Tally(20, 15), Tally(20, 5), "The attacks are too few"),
    ],
)
def test_the_verdict(attack, control, said):
    assert said in verdict(rates(attack, 0.1 if attack.successes < 100 else 0.05, control, 0.95, {}))


def test_means_over_releases():
    notes = {}
    one, two = (rates(Tally(10, x), 0.1, None, 0.95, {}) for x in (2, 4))
    assert means([one, two], notes)["success_rate"] == pytest.approx(0.3)
    assert "means over the releases" in notes["intervals"]


def test_from_a_plan():
    lazy, lazy_release, lazy_control = (one.lazy() for one in (ORIGINAL, OTHERS, CONTROL))
    here = linkability(ORIGINAL, OTHERS, known=KNOWN, control=CONTROL, seed=1)
    there = linkability(lazy, lazy_release, known=KNOWN, control=lazy_control, seed=1)
    assert there.to_dict()["figures"] == here.to_dict()["figures"]


def test_the_result():
    result = linkability(ORIGINAL, [OTHERS, ORIGINAL], known=KNOWN, control=CONTROL, by="größe", seed=1)
    assert result.m == 2
    assert list(result.by_release["success_rate"]) == [one["success_rate"] for one in result.per_release]
    groups = result.by_group
    assert groups.columns[:3] == ["release", "größe", "n_attacks"]
    assert groups["release"].to_list() == [1, 1, 2, 2]
    assert (groups["residual"].diff()[[1, 3]] <= 0).all()
    assert result.to_dict()["verdict"] == result.verdict
    assert "größe" not in str(result.to_dict())
    assert result.n == 300
    assert repr(result).startswith("Linkability(n_attacks=300, success_rate=")
    assert repr(result).endswith(f"): {result.verdict}")
    assert "The release discloses more about the people in it" in result._repr_html_()
    assert set(result.details()["figure"]) == set(FIGURES)
    copied = pickle.loads(pickle.dumps(result))
    assert copied.success_rate == result.success_rate
    for name in ("by_group", "records"):
        with pytest.raises(DataError, match="let go of the data"):
            getattr(copied, name)
    with pytest.raises(DataError, match="give by="):
        _ = linkability(ORIGINAL, OTHERS, known=KNOWN, seed=1).by_group


def test_people_of_the_file_in_the_control_file_leave_nothing_to_say():
    figures = rates(Tally(100, 60), 0.01, Tally(100, 20), 0.95, {})
    assert "discloses more" in verdict(figures, "shared")
    assert verdict(figures, "overlapping").endswith(
        "Not to be trusted: people of the original are in the control file, which hides the risk."
    )


# The chance that one alone of some people is among those drawn.


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 60))
def test_it_is_the_hypergeometric_distribution(n, size, matches):
    size, matches = min(size, n), min(matches, n)
    found = isolated(np.array([matches]), n, size)[0]
    assert found == pytest.approx(hypergeom.pmf(1, n, matches, size), abs=1e-12)


def test_what_is_true_of_many_isolates_nobody():
    n, size = 10_000, 500
    most = counted(n, size)
    assert most == ENOUGH * 20
    assert hypergeom.pmf(1, n, most, size) < 1e-6
    assert isolated(np.array([most + 1]), n, size)[0] == 0


def test_all_drawn():
    assert counted(50, 50) == 1
    assert isolated(np.array([0, 1, 2, 1]), 50, 50).tolist() == [0, 1, 0, 1]
    assert isolated(np.zeros(0, np.int64), 50, 20).tolist() == []


@given(st.integers(5, 500), st.data())
def test_files_of_one_size_are_compared_as_they_are(n, data):
    successes, same, control = (data.draw(st.integers(0, n)) for _ in range(3))
    found = scaled(successes, successes, control, n, 0.95)
    assert found.factor == 1
    if control < n:
        assert found.residual[0] == pytest.approx(excess(successes, n, control, n)[0], abs=1e-9)
    estimate, low, high = scaled(successes, same, control, n, 0.95).residual
    assert low - 1e-9 <= estimate <= high + 1e-9
    tested = excess(n - control, n, n - same, n)  # of control / same
    if successes and same:
        assert (low <= 0 <= high) == (tested[1] <= 0 <= tested[2])


def test_a_copy_loses_nothing_to_a_small_control_file():
    found = scaled(500, 50, 1, 500, 0.95)
    assert found.factor == 10
    assert found.residual == (1.0, pytest.approx(0.99, abs=0.02), 1.0)


def test_nothing_isolated():
    assert scaled(0, 0, 5, 100, 0.95).residual == excess(0, 100, 5, 100)
    for control in (0, 5):  # what fewer people of the original would give is no rate of this file
        found = scaled(0, 3, control, 100, 0.95)
        assert (found.factor, found.residual) == (1, excess(0, 100, control, 100))
