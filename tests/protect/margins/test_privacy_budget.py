"""The budget: what OpenDP accounts for all measurements together is what was asked, and never more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdckit.errors import DataError
from sdckit.protect.margins.privacy_budget import (
    check_promise,
    epsilon_of,
    noisy_choice,
    noisy_counts,
    opendp,
    rho_of,
    scale_of,
)


@pytest.mark.parametrize(("epsilon", "rho"), [(1, 0.02436), (3, 0.18507), (10, 1.53928)])
def test_rho(epsilon, rho):
    assert rho_of(epsilon, 1e-6) == pytest.approx(rho, abs=5e-6)


@settings(max_examples=25, deadline=None)
@given(
    st.floats(0.02, 30), st.sampled_from([1e-10, 1e-6, 1e-3, 0.05]),
    st.lists(st.floats(0.01, 1), min_size=1, max_size=40), st.integers(1, 5),
)  # fmt: skip
def test_what_all_measurements_spend_is_what_was_asked_and_never_more(epsilon, delta, parts, rows):
    dp, rho = opendp(), rho_of(epsilon, delta)
    space = dp.d.vector_domain(dp.d.atom_domain(T="i64")), dp.metrics.l2_distance(T="f64")
    shares = [rho * part / math.fsum(parts) for part in parts]
    noises = [dp.m.make_gaussian(*space, scale=scale_of(share, rows)) for share in shares]
    spent = epsilon_of(math.fsum(noise.map(float(rows)) for noise in noises), delta)
    assert epsilon - 1e-9 <= spent <= epsilon
    together = dp.c.make_zCDP_to_approxDP(dp.c.make_composition(noises)).map(float(rows)).epsilon(delta=delta)
    assert epsilon - 1e-9 <= together <= epsilon


@pytest.mark.parametrize("rows", [1, 3])
def test_a_measurement_costs_what_its_rows_make_of_its_scale(rows):
    noisy, spent = noisy_counts(np.array([[1, 2], [3, 4]]), 0.5, rows, ("a", "b"))
    assert noisy.shape == (2, 2)
    assert spent.rho == pytest.approx(rows**2 / (2 * spent.scale**2))
    assert spent.rho <= 0.5 * (1 + 1e-12)
    place, choice = noisy_choice(np.array([0, 10**9, 5]), 0.5, rows)
    assert place == 1
    # not `monotonic`, which would cost a quarter
    assert choice.rho == pytest.approx(rows**2 / (2 * choice.scale**2))


def test_noise_has_the_spread_that_was_planned():
    noisy, spent = noisy_counts(np.zeros(20_000, np.int64), 1 / 200, 1, ())
    assert spent.scale == pytest.approx(10)
    assert abs(noisy.mean()) < 6 * 10 / math.sqrt(20_000)
    assert noisy.std() == pytest.approx(10, rel=0.04)
    assert not (noisy == noisy_counts(np.zeros(20_000, np.int64), 1 / 200, 1, ())[0]).all()


def test_without_opendp(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp", None)
    with pytest.raises(DataError, match=r"install sdckit\[dp\]"):
        opendp()


def test_an_epsilon_that_cannot_be_converted_is_refused():
    for small in (5e-324, 1e-9, 0):
        with pytest.raises(DataError, match="epsilon"):
            check_promise(small, 1e-6)
    assert 0 < rho_of(*check_promise(1e-3, 1e-6)) < 1e-3
