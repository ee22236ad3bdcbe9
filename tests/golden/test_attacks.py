"""Simulated attacks on Californian schools (star98) beside anonymeter, where its traps do not bite.

Every second school is in the original, the others are the control file. Half of the released schools are those of the
original with a little noise by row number, half are means of two of them: see `files`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.datasets import star98

from sdckit import inference, linkability, membership, singling_out
from sdckit.numerics.intervals import excess, wilson

PEER = json.loads((Path(__file__).parent / "portable" / "attacks_star98.json").read_text(encoding="utf-8"))
NAMES = ["LOWINC", "PERASIAN", "PERBLACK", "PERHISP", "AVYRSEXP", "AVSALK", "PERSPENK", "PTRATIO"]
KNOWN = (["LOWINC", "AVYRSEXP", "PTRATIO", "PERBLACK"], ["PERASIAN", "AVSALK", "PERSPENK", "PERHISP"])
N = 150


def files():
    """Original, release, control."""
    schools = star98.load_pandas().data[NAMES].astype(float)
    original, control = (schools.iloc[i : 2 * N : 2].reset_index(drop=True) for i in (0, 1))
    row, column = np.arange(75)[:, None], np.arange(len(NAMES))
    noisy = original[:75] * (1 + 0.002 * ((row + column) % 7 - 3))
    mixed = (original[74:149].reset_index(drop=True) + original[75:].reset_index(drop=True)) / 2
    released = pd.concat([noisy, mixed], ignore_index=True)
    cut = original["AVSALK"].median()
    for one in (original, released, control):
        one["pay"] = np.where(one["AVSALK"] > cut, "high", "low")
    return original, released, control


ORIGINAL, RELEASED, CONTROL = files()
ALL = {"control": CONTROL, "n_attacks": N, "seed": 1}


def within(rate, interval):
    value, error = interval
    return abs(rate - value) <= error


def agrees(result, expected, attacks=2):
    """Nearly the same successes (the peer's ranges leave the control file out), within its intervals."""
    assert abs(result.successes - expected["successes"]) <= attacks
    assert abs(result.control_rate * result.n_control - expected["control_successes"]) <= attacks
    assert within(result.success_rate, expected["attack_rate"])
    assert within(result.control_rate, expected["control_rate"])
    assert expected["risk"][1] <= result.risk <= expected["risk"][2]


@pytest.mark.parametrize("k", [1, 3])
def test_linkability(k):
    result = linkability(ORIGINAL, RELEASED, known=KNOWN, n_neighbors=k, **ALL)
    agrees(result, PEER[f"linkability_{k}"])
    assert result.successes == PEER[f"linkability_{k}"]["successes"]
    assert within(result.baseline_rate, PEER[f"linkability_{k}"]["baseline_rate"])


@pytest.mark.parametrize("target", ["pay", "PERSPENK"])
def test_inference(target):
    """The peer's guessers are put in the order of the targets by their row label, so they know more than nothing."""
    result = inference(ORIGINAL, RELEASED, known=KNOWN[0], target=target, **ALL)
    agrees(result, PEER[f"inference_{target}"])
    assert result.baseline_rate < PEER[f"inference_{target}"]["baseline_rate"][0]


def test_univariate_singling_out():
    """All queries there are; the peer divides by those asked for."""
    result = singling_out(ORIGINAL, RELEASED, control=CONTROL, n_attacks=2000, seed=1)
    expected = PEER["univariate"]
    assert result.successes == expected["successes"]
    assert result.control_rate * result.n_control == pytest.approx(expected["control_successes"])
    assert result.n_attacks == 1216
    centre = wilson(result.successes, 2000).centre
    assert centre == pytest.approx(expected["attack_rate"][0])


def test_multivariate_singling_out():
    result = singling_out(ORIGINAL, RELEASED, control=CONTROL, mode="multivariate", n_attacks=100, seed=1)
    expected = PEER["multivariate"]
    assert within(result.success_rate, expected["attack_rate"])
    assert within(result.control_rate, expected["control_rate"])
    assert within(result.baseline_rate, expected["baseline_rate"])


@pytest.mark.parametrize("name", ["linkability_1", "linkability_3", "inference_pay", "univariate"])
def test_rates_and_residual_risk_from_the_peers_counts(name):
    expected = PEER[name]
    n = 2000 if name == "univariate" else N
    attack, control = (wilson(expected[which], n) for which in ("successes", "control_successes"))
    assert [attack.centre, attack.half] == pytest.approx(expected["attack_rate"])
    assert [control.centre, control.half] == pytest.approx(expected["control_rate"])
    estimate, low, high = excess(expected["successes"], n, expected["control_successes"], n)
    # the peer takes the centres of Wilson's intervals, here the shares themselves: near, and within its interval
    risk, its_low, its_high = expected["risk"]
    assert its_low <= estimate <= its_high
    assert [low, high] == pytest.approx([its_low, its_high], abs=0.04)
    assert estimate == pytest.approx(risk, abs=0.02)


def test_membership_by_plain_loops():
    result = membership(ORIGINAL, RELEASED, variables=NAMES, **ALL)
    values = [one[NAMES].to_numpy() for one in (ORIGINAL, RELEASED, CONTROL)]
    span = np.ptp(np.concatenate(values), axis=0)
    away = [np.abs((one[:, None] - values[1][None]) / span).mean(axis=2).min(axis=1) for one in values[::2]]
    cut = np.sort(np.concatenate(away))[N - 1]
    assert result.success_rate == (away[0] <= cut + 1e-12).mean()
    assert result.control_rate == (away[1] <= cut + 1e-12).mean()
    assert result.auc == pytest.approx((away[0][:, None] < away[1][None]).mean())
