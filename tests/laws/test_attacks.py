"""Simulated attacks: bounds, what must not change them, both ends, and intervals that cover."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from draw import quiet
from sdckit import inference, linkability, membership, singling_out

TEXT = st.one_of(st.sampled_from(["a", "b", "c"]), st.none())
NUMBER = st.one_of(st.integers(-3, 3).map(float), st.none())
ATTACKS = {
    "linkability": lambda o, s, **more: linkability(o, s, known=(["x"], ["y", "t"]), **more),
    "inference of text": lambda o, s, **more: inference(o, s, known=["x", "y"], target="t", **more),
    "inference of a number": lambda o, s, **more: inference(o, s, known=["x", "t"], target="y", **more),
    "membership": membership,
    "univariate": singling_out,
    "multivariate": lambda o, s, **more: singling_out(o, s, mode="multivariate", n_columns=2, **more),
}
every_attack = pytest.mark.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))


@st.composite
def frames(draw):
    """Original, release and control of two numbers and a text, with repeats and gaps."""
    out = []
    for _ in range(3):
        n = draw(st.integers(2, 12))
        kinds = {"x": NUMBER, "y": NUMBER, "t": TEXT}
        types = {"x": pl.Float64, "y": pl.Float64, "t": pl.String}
        columns = {name: draw(st.lists(kind, min_size=n, max_size=n)) for name, kind in kinds.items()}
        out.append(pl.DataFrame(columns, schema=types))
    return out


@every_attack
@given(drawn=frames(), seed=st.integers(0, 99))
def test_rates_are_rates_and_intervals_hold_them(attack, drawn, seed):
    original, released, control = drawn
    with quiet():
        found = attack(original, released, control=control, n_attacks=20, seed=seed)
    if np.isnan(found.success_rate):
        assert found.n_attacks == 0
        return
    assert 0 <= found.success_low <= found.success_rate + 1e-12
    assert found.success_rate <= found.success_high + 1e-12 <= 1 + 2e-12
    assert 0 <= found.baseline_rate <= 1
    assert 0 <= found.control_rate <= 1
    assert 0 <= found.risk_low <= found.risk <= found.risk_high <= 1
    assert found.residual_low <= found.residual <= found.residual_high
    assert found.successes == found.success_rate * found.n_attacks


@every_attack
@given(drawn=frames())
def test_another_unit_and_other_labels_change_nothing(attack, drawn):
    original, released, control = drawn
    with quiet():
        here = attack(original, released, control=control, n_attacks=20, seed=1)
        moved = [
            one.with_columns(pl.col("x") * 2 + 5, t=pl.col("t").replace({"a": "α", "b": "β", "c": "γ"}))
            for one in drawn
        ]
        there = attack(moved[0], moved[1], control=moved[2], n_attacks=20, seed=1)
    assert there.to_dict()["figures"] == here.to_dict()["figures"]


@given(drawn=frames())
def test_a_copy_gives_everybody_away_who_is_alone(drawn):
    """What is known tells the records apart, so the right row is found, and its target is right."""
    original = drawn[0].with_columns(u=pl.int_range(len(drawn[0])), v=pl.int_range(len(drawn[0])) * 3)
    assert linkability(original, original, known=(["u", "x"], ["v", "t"]), seed=1).success_rate == 1
    for target in ("t", "y"):
        assert inference(original, original, known=["u", "x"], target=target, seed=1).success_rate == 1
    for mode in ("univariate", "multivariate"):
        assert singling_out(original, original, mode=mode, seed=1, n_attacks=20).success_rate == 1
    with quiet():
        assert membership(original, original, control=drawn[2].with_columns(u=-9, v=-9), seed=1).auc == 1


def people(n, rng):
    wealth = rng.normal(size=n)
    return pl.DataFrame(
        {
            "x": wealth + 0.3 * rng.normal(size=n),
            "y": wealth + 0.3 * rng.normal(size=n),
            "t": rng.choice(list("abcdefghij"), n),
            "u": rng.integers(0, n // 2, n),
        }
    )


@every_attack
def test_intervals_cover_where_the_release_knows_nobody(attack):
    """A small version of the simulation in benchmarks/attacks.py."""
    rng = np.random.default_rng(20261120)
    runs, covered = 40, 0
    for _ in range(runs):
        original, released, control = (people(100, rng) for _ in range(3))
        found = attack(original, released, control=control, n_attacks=80, seed=rng)
        covered += found.residual_low <= 0 <= found.residual_high
    assert covered >= 0.85 * runs
