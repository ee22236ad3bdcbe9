"""Inference: by plain loops, signs, missing values, both ends, and what it refuses."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from attacks.made import CONTROL, ORIGINAL, OTHERS
from sdckit import Scenario, inference
from sdckit.errors import ColumnError, DataError, ScenarioError

KNOWN = ["age in years", "select * from"]
ALL = {"known": KNOWN, "target": "größe", "control": CONTROL, "n_attacks": 1000, "seed": 1}


def numbers(n=60):
    rng = np.random.default_rng(1)
    return [pl.DataFrame(rng.normal(size=(n, 3)), schema=["a", "b", "t"]) for _ in range(3)]


@pytest.mark.parametrize(("tol", "scale"), [(0.05, None), (0.5, 0.0), (0.3, 2.0), (0.0, None)])
def test_by_plain_loops(tol, scale):
    """Negative guesses and true values near 0 among them: the true value's size decides, without its sign."""
    original, released, control = files = numbers()
    result = inference(original, released, known=["a", "b"], target="t", control=control, tol=tol, scale=scale, seed=1)
    span = np.ptp(pl.concat(files).to_numpy()[:, :2], axis=0)
    least = 0.1 * original["t"].std() if scale is None else scale
    expected = []
    for known in (original, control):
        away = np.abs(known.to_numpy()[:, None, :2] - released.to_numpy()[None, :, :2]) / span
        guess, true = released["t"].to_numpy()[away.sum(axis=2).argmin(axis=1)], known["t"].to_numpy()
        expected.append(np.abs(guess - true) <= tol * np.maximum(np.abs(true), least))
    assert result.records["success"].to_list() == expected[0].tolist()
    assert result.control_rate == expected[1].mean()
    guess, true = released["t"].to_numpy()[None], original["t"].to_numpy()[:, None]
    right = np.abs(guess - true) <= tol * np.maximum(np.abs(true), least)
    assert result.baseline_rate == pytest.approx(right.mean())


def test_a_negative_guess_is_not_right_for_its_sign():
    original = pl.DataFrame({"x": [1, 2, 3, 4], "t": [5.0, 6.0, 7.0, 8.0]})
    released = original.with_columns(t=-1000 * pl.col("t"))
    assert inference(original, released, known=["x"], target="t", seed=1).success_rate == 0


def test_a_missing_guess_is_right_where_the_truth_is_missing():
    original = pl.DataFrame({"x": [1, 2, 3, None], "t": [1.0, None, 3.0, None]})
    released = pl.DataFrame({"x": [1, 2, 3, None], "t": [None, None, 3.0, None]})
    result = inference(original, released, known=["x"], target="t", seed=1)
    assert result.records["success"].to_list() == [0, 1, 1, 1]
    assert result.baseline_rate == pytest.approx((0 + 3 / 4 + 1 / 4 + 3 / 4) / 4)
    words = [one.with_columns(t=pl.col("t").cast(pl.String)) for one in (original, released)]
    assert inference(*words, known=["x"], target="t", seed=1).records["success"].to_list() == [0, 1, 1, 1]


@pytest.mark.parametrize("target", ["größe", "pay-@`x'\"", "day", "True"])
def test_at_both_ends(target):
    given = {**ALL, "target": target}
    copy = inference(ORIGINAL, ORIGINAL, **given)
    assert copy.success_rate == 1
    assert copy.risk > 0.95
    other = inference(ORIGINAL, OTHERS, **given)
    assert other.residual_low < 0 < other.residual_high


def test_dates_must_be_equal():
    result = inference(ORIGINAL, OTHERS, **{**ALL, "target": "day"})
    assert "equal" in result.tolerance
    assert result.success_rate < 0.05


def test_a_target_that_is_not_numeric_must_be_equal():
    result = inference(*numbers()[:2], known=["a"], target="t", numeric=["a"], seed=1)
    assert result.success_rate == result.baseline_rate == 0


def test_by_group_and_several_releases():
    result = inference(ORIGINAL, [OTHERS, ORIGINAL], **ALL, by=["größe"])
    assert result.success_rate == pytest.approx(np.mean(result.by_release["success_rate"].to_list()))
    groups = result.by_group.filter(pl.col("release") == 2)
    assert groups["success_rate"].to_list() == [1, 1]
    assert groups["n_attacks"].sum() == 300


def test_from_a_scenario():
    scenario = Scenario(keys=KNOWN, sensitive=["größe"])
    here = inference(ORIGINAL, OTHERS, scenario=scenario, control=CONTROL, n_attacks=1000, seed=1)
    assert here.target == "größe"
    assert here.n_attacks == 300


def test_roles_it_refuses():
    with pytest.raises(ColumnError, match="is known and the target"):
        inference(ORIGINAL, OTHERS, known=["day", "True"], target="day")
    with pytest.raises(ColumnError, match="name of one column"):
        inference(ORIGINAL, OTHERS, known=["day"], target=["True"])
    with pytest.raises(ScenarioError, match="which column is inferred"):
        inference(ORIGINAL, OTHERS, known=["day"], scenario=Scenario(keys=["day"]))
    with pytest.raises(ScenarioError, match="which columns the intruder knows"):
        inference(ORIGINAL, OTHERS, target="day")
    with pytest.raises(ColumnError, match="release has no column 'True'"):
        inference(ORIGINAL, OTHERS.drop("True"), known=["day"], target="True")


@pytest.mark.parametrize("given", [{"tol": -1}, {"tol": "a"}, {"scale": float("inf")}, {"scale": True}])
def test_numbers_it_refuses(given):
    with pytest.raises(DataError, match=f"{next(iter(given))} is .* a number of 0 or more"):
        inference(ORIGINAL, OTHERS, known=KNOWN, target="day", **given)


@pytest.mark.parametrize(
    ("true", "guess", "tol"), [(2.0, 1.9, 0.05), (20.0, 19.0, 0.05), (0.3, 0.33, 0.1), (7.0, 7.7, 0.1)]
)
def test_a_guess_on_the_edge_is_right_for_the_intruder_and_for_chance(true, guess, tol):
    original, released = (pl.DataFrame({"a": [1, 1], "t": [value] * 2}) for value in (true, guess))
    found = inference(original, released, known=["a"], target="t", tol=tol, scale=0, seed=1)
    assert (found.success_rate, found.baseline_rate) == (1.0, 1.0)


def test_numbers_whose_squares_are_infinite_are_guessed_as_well():
    original, released, _ = numbers()
    plain = inference(original, released, known=["a", "b"], target="t", seed=1).to_dict()["figures"]
    large = [frame.with_columns(pl.col("t") * 2.0**532) for frame in (original, released)]
    found = inference(*large, known=["a", "b"], target="t", seed=1)
    assert found.to_dict()["figures"] == plain
    assert found.success_rate < 1  # an infinite tolerance has every guess right
