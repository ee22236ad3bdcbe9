"""Linkability: by plain loops, at both ends, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from attacks.made import CONTROL, KNOWN, ORIGINAL, OTHERS
from sdckit import Linkability, Scenario, linkability
from sdckit.attacks import linkability as home
from sdckit.errors import ColumnError, DataError, ScenarioError

ALL = {"known": KNOWN, "control": CONTROL, "n_attacks": 1000, "seed": 1}
WITHOUT_TIES = (["select * from"], ["a"])


@pytest.mark.parametrize("k", [1, 2, 5])
def test_by_plain_loops(k):
    rng = np.random.default_rng(1)
    files = [pl.DataFrame(rng.normal(size=(40, 4)), schema=list("abcd")) for _ in range(3)]
    original, released, control = files
    result = linkability(original, released, known=(["a", "b"], ["c", "d"]), n_neighbors=k, control=control, seed=1)
    span = pl.concat(files).max().to_numpy() - pl.concat(files).min().to_numpy()
    expected = []
    for known in (original, control):
        away = np.abs(known.to_numpy()[:, None] - released.to_numpy()[None]) / span
        nearest = [np.argsort(away[:, :, part].sum(axis=2), axis=1)[:, :k] for part in ([0, 1], [2, 3])]
        expected.append([len(set(a) & set(b)) > 0 for a, b in zip(*(n.tolist() for n in nearest), strict=True)])
    assert result.records["success"].to_list() == expected[0]
    assert (result.success_rate, result.control_rate) == (np.mean(expected[0]), np.mean(expected[1]))
    draws = [np.isin(rng.permutation(40)[:k], rng.permutation(40)[:k]).any() for _ in range(4000)]
    assert result.baseline_rate == pytest.approx(np.mean(draws), abs=0.03)


def test_a_copy_is_linked():
    result = linkability(ORIGINAL, ORIGINAL, **ALL)
    assert result.success_rate > 0.9
    assert result.risk > 0.9
    assert "discloses more" in result.verdict
    assert "the original's values" in result.notes["released"]


def test_other_people_are_near_the_baseline():
    result = linkability(ORIGINAL, OTHERS, **ALL)
    assert abs(result.success_rate - result.control_rate) < 0.05
    assert result.residual_low < 0 < result.residual_high


def test_ties_do_not_depend_on_the_order_of_rows():
    """With one category on each side the nearest rows are whole groups: a pair meets by chance only."""
    rng = np.random.default_rng(1)
    released = pl.DataFrame({"x": rng.choice(["a", "b"], 100), "y": rng.choice(["u", "v"], 100)})
    given = {"known": (["x"], ["y"]), "n_attacks": 5000, "seed": 1}
    many = pl.concat([released] * 50)
    for one in (released, released.sort("x"), released.sort("y")):
        assert linkability(many, one, **given).success_rate == pytest.approx(0.01, abs=0.006)


def test_missing_values_match_each_other():
    people = pl.DataFrame({"x": [1.0, None, 3.0, 9.0], "y": ["a", "b", None, "c"]})
    assert linkability(people, people, known=(["x"], ["y"]), seed=1).success_rate == 1


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_every_engine_gives_the_same(convert):
    here = linkability(ORIGINAL, OTHERS, **{**ALL, "n_attacks": 100})
    there = linkability(convert(ORIGINAL), convert(OTHERS), **{**ALL, "control": convert(CONTROL), "n_attacks": 100})
    assert there.to_dict()["figures"] == here.to_dict()["figures"]
    assert isinstance(there.records, pd.DataFrame | pa.Table)


def test_the_result():
    people = ORIGINAL.with_columns(id=pl.int_range(300))
    result = linkability(people, OTHERS, **{**ALL, "n_attacks": 50}, id="id", prefix="linked_")
    assert isinstance(result, Linkability)
    assert result.n_neighbors == 1
    assert result.records.columns == ["id", "linked_attacked", "linked_success"]
    assert result.records["linked_attacked"].sum() == result.n_attacks == 50


def test_constant_columns():
    same = pl.DataFrame({"x": [1, 1, 1, 1], "y": ["a"] * 4})
    result = linkability(same, same, known=(["x"], ["y"]), seed=1)
    assert 0 <= result.success_rate <= 1
    assert result.baseline_rate == 0.25


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (["a", "b"], "known must be a list of column names"),
        ("ab", "known= takes two lists"),
        ((["True"],), "known= takes two lists"),
        ((["True"], []), "each with at least one"),
        ((["True", "day"], ["day"]), "'day' is in both lists"),
        ((["True"], ["days"]), "has no column 'days'"),
    ],
)
def test_what_known_must_be(known, said):
    with pytest.raises(ColumnError, match=said):
        linkability(ORIGINAL, OTHERS, known=known)


def test_what_it_refuses():
    with pytest.raises(DataError, match="n_neighbors=261 is more than"):
        linkability(ORIGINAL, OTHERS, known=KNOWN, n_neighbors=261)
    with pytest.raises(ColumnError, match="the control file has no column 'day'"):
        linkability(ORIGINAL, OTHERS, known=KNOWN, control=CONTROL.drop("day"))
    with pytest.raises(ScenarioError, match="takes a Scenario"):
        linkability(ORIGINAL, OTHERS, known=KNOWN, scenario={})
    with pytest.raises(DataError, match="the original has 1 record"):
        linkability(ORIGINAL.head(1), OTHERS, known=KNOWN)


def test_a_scenario_says_what_is_numeric():
    scenario = Scenario(keys=["True"], numeric=["day"])
    given = {"known": (["day"], ["age in years"]), "seed": 1}
    here = linkability(ORIGINAL, OTHERS, **given, scenario=scenario)
    there = linkability(ORIGINAL, OTHERS, **given, numeric=["day"])
    assert here.to_dict() == there.to_dict()


def test_chance():
    assert home._chance(10, 1) == 0.1
    assert home._chance(10, 6) == 1
    assert home._chance(5, 2) == pytest.approx(0.7)
