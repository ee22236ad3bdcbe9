"""The figures of A9; that they are right is shown in laws/."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from draw import quiet
from sdckit import Recipe, Scenario, as_cells, k_anonymity, key_contributions, key_frequencies
from sdckit.errors import ColumnError, DataError, FileFormatError

FRAME = pl.DataFrame(
    {"sex": ["f", "f", "m", "m"], "age": [30, 40, 30, 30], "town": ["x", "x", "x", "y"], "w": [3.0, 4.0, 5.0, 6.0]}
)
KEYS = ["sex", "age", "town"]


def test_figures():
    result = key_contributions(FRAME, keys=KEYS, k=(2, 3))
    assert (result.n, result.uniques, result.risk) == (4, 4, 1.0)
    assert result.violations == {2: 4, 3: 4}
    by_name = {one.variables: one for one in result.table}
    assert list(by_name)[:3] == [("sex",), ("age",), ("town",)]
    assert len(by_name) == 6
    age = by_name["age",]
    assert (age.uniques_without, age.uniques_saved, age.violations_without) == (2, 2, {2: 2, 3: 4})
    assert age.risk_without == pytest.approx(0.75)
    assert age.suggestion == "without age, 2 of 4 sample uniques are gone: coarsen or drop it"
    assert by_name["sex", "age"].suggestion.startswith("without sex and age, 3 of 4")


def test_a_key_that_makes_nobody_unique():
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [5, 5, 5, 5]})
    with quiet():
        table = key_contributions(frame, keys=["a", "b", "c"], pairs=False).table
    assert {one.variables: one.suggestion for one in table}["c",] == "c makes nobody unique"
    assert len(table) == 3


def test_the_table_is_sorted_by_what_is_saved():
    table = key_contributions(FRAME, keys=KEYS, weight="w").table
    for part in (table[:3], table[3:]):
        assert list(part) == sorted(part, key=lambda one: (-one.uniques_saved, one.risk_without))


def test_one_key_has_no_table():
    with quiet():
        result = key_contributions(FRAME, keys=["sex"])
    assert result.table == ()
    assert result.table_figures == {}


def test_two_keys_have_no_pairs():
    assert [one.variables for one in key_contributions(FRAME, keys=["sex", "age"]).table] == [("age",), ("sex",)]


def test_figures_as_a_dict_and_pickled():
    result = key_contributions(FRAME, keys=KEYS)
    figures = result.to_dict()["figures"]
    assert figures["table_figures"]["age + town"]["uniques_without"] == 0
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()


def test_no_records_and_no_persons():
    with pytest.raises(DataError, match="figures of the file; individual_risk gives figures per record"):
        key_contributions(FRAME, keys=KEYS).records  # noqa: B018
    frame = FRAME.with_columns(p=pl.Series([1, 2, 3, 4]))
    with pytest.raises(DataError, match="distinct persons cannot be counted from cells"):
        key_contributions(frame, scenario=Scenario(keys=KEYS, person="p"))
    cells = as_cells(FRAME, keys=KEYS)
    assert key_contributions(cells).uniques == 4
    assert key_contributions(cells).missing_rule == "no key value is missing"


def test_suggestions():
    frame = pl.DataFrame({"age": [20, 21, 40, 41, 60, 61], "sex": list("ffmmff")})
    with quiet():
        result = key_contributions(frame, keys=["age", "sex"], ordered=["age"])
    assert result.uniques == 6
    step = result.coarsenings["age"]
    assert (step.rule, step.levels_before, step.levels_after) == ("neighbouring levels in pairs", 6, 3)
    assert (step.uniques_without, step.uniques_saved, step.violations_without) == (0, 6, {2: 0, 3: 6, 5: 6})
    assert step.entropy_lost == pytest.approx(1)
    assert "sex" not in result.coarsenings  # two levels: one would be left
    assert result.decides_alone == {"age": 1.0, "sex": 0.0}
    assert [(one.action, one.variables) for one in result.suggestions] == [
        ("coarsen", ("age",)), ("drop", ("age",)), ("drop", ("sex",)),
    ]  # fmt: skip
    assert result.suggestions[0].saved_per_bit == pytest.approx(6)
    assert result.coarsening_figures["age"]["uniques_saved"] == 6
    assert result.notes == {}


ANSWERS = ["very good", "good", "fair", "bad", "very bad"]


def survey(n=3000):
    """Keys of every kind."""
    rng = np.random.default_rng(4)
    places = rng.integers(0, 9, n)
    return pd.DataFrame(
        {
            "age": np.clip(rng.normal(45, 18, n), 0, 99).astype(int),
            "status": rng.choice(9, n, p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.03, 0.01, 0.008, 0.002]) + 1,
            "region": np.array([f"R{j // 3}{j % 3}" for j in range(9)])[places],
            "health": pd.Categorical(np.array(ANSWERS)[rng.integers(0, 5, n)], ANSWERS, ordered=True),
            "job": rng.choice(["a", "b", "c", "d", "e, f"], n, p=[0.5, 0.3, 0.19, 0.008, 0.002]),
            "rooms": np.where(rng.random(n) < 0.1, np.nan, rng.integers(1, 13, n)),
        }
    )


def test_every_step_does_what_is_said_of_it(tmp_path):
    frame = survey()
    (tmp_path / "regions.csv").write_text("".join(f"{one};{one[:2]}\n" for one in sorted(set(frame["region"]))))
    keys = ["age", "status", "region", "health", "job", "rooms"]
    declared = Scenario(keys=keys, numeric=["rooms"], hierarchies={"region": "regions.csv"})
    (tmp_path / "scenario.toml").write_text(declared.to_toml())
    scenario = Scenario.from_toml(tmp_path / "scenario.toml")
    result = key_contributions(frame, scenario=scenario)
    assert {key: (one.scale, one.plain_rule, one.step_is_public) for key, one in result.coarsenings.items()} == {
        "age": ("number", "bands with round edges", True),
        "status": ("unknown", "the rarest levels as one", False),
        "region": ("codes", "hierarchy, level 1", True),
        "health": ("ordered", "neighbouring levels in pairs", False),
        "job": ("codes", "the rarest levels as one", False),
        "rooms": ("number", "bands with round edges", True),
    }
    assert "status" in result.notes["coarsenings"]
    assert "age" not in result.notes["coarsenings"]
    assert len(result.suggestions) == 12
    for one in result.suggestions:
        path = tmp_path / "recipe.toml"
        path.write_text(one.step)
        coarser = Recipe.from_toml(path).apply(frame).data
        keys = [key for key in scenario.keys if key in coarser]
        if one.action == "coarsen":
            assert coarser[one.variables[0]].nunique() == result.coarsenings[one.variables[0]].levels_after
        after = key_frequencies(coarser, keys=keys)
        assert result.uniques - after.sample_uniques == one.uniques_saved, one.sentence
        violations = k_anonymity(after.cells, k=[3, 5]).violations
        assert {k: result.violations[k] - n for k, n in violations.items()} == {
            k: n for k, n in one.violations_saved.items() if k > 2
        }
    assert "e, f" not in str(result.to_dict())  # a step may name values: it stays out of what is handed on


def test_what_is_declared_is_checked():
    frame = survey(200)
    for wrong, error, told in (
        ({"numeric": ["jobs"]}, ColumnError, "numeric: 'jobs' is no key"),
        ({"ordered": ["jobs"]}, ColumnError, "ordered: 'jobs' is no key"),
        ({"numeric": ["age"], "ordered": ["age"]}, DataError, "numeric and ordered"),
        ({"hierarchies": {"jobs": {}}}, ColumnError, "hierarchies: 'jobs' is no key"),
        ({"hierarchies": ["job"]}, DataError, "hierarchies="),
        ({"hierarchies": {"job": "absent.csv"}}, FileFormatError, "absent.csv"),
    ):
        with pytest.raises(error, match=told):
            key_contributions(frame, keys=["age", "job"], **wrong)


def test_without_uniques_no_share_is_decided():
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]})
    result = key_contributions(frame, keys=["a", "b"])
    assert all(one.decides_alone != one.decides_alone for one in result.table)
    assert "no sample uniques" in result.notes["decides_alone"]
    assert result.to_dict()["figures"]["table_figures"]["a"]["decides_alone"] is None


def test_one_k_is_as_good_as_a_list():
    assert key_contributions(FRAME, keys=KEYS, k=3).violations == {3: 4}


def test_weights_that_do_not_count_persons():
    light = FRAME.with_columns(w=pl.lit(0.5))
    with pytest.raises(DataError, match="scaled to mean 1"):
        key_contributions(light, keys=KEYS, weight="w")
