"""Singling out: by plain loops, both ends, what is not drawn is said, and what it refuses."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from attacks.made import CONTROL, ORIGINAL, OTHERS
from sdckit import Scenario, singling_out
from sdckit.errors import ColumnError, DataError

ALL = {"control": CONTROL, "n_attacks": 200, "seed": 1}
MODES = pytest.mark.parametrize("mode", ["univariate", "multivariate"])


def test_by_plain_loops():
    """Every query of two columns of text: values that occur once in the release, and once in the original."""
    rng = np.random.default_rng(1)
    original, released = (pl.DataFrame({"x": rng.choice(list("abcdefghijklmnop"), 12)}) for _ in range(2))
    original, released = (
        one.with_columns(y=pl.Series(rng.integers(0, 30, 12)).cast(pl.String)) for one in (original, released)
    )
    result = singling_out(original, released, seed=1)
    once = [
        {(name, value) for value in frame[name] if frame[name].to_list().count(value) == 1}
        for frame in (original.unique(), released.unique())
        for name in ("x", "y")
    ]
    of_original, of_released = once[0] | once[1], once[2] | once[3]
    assert result.n_attacks == len(of_released)
    assert result.successes == len(of_released & of_original)
    told = result.queries.filter("isolates")["query"].to_list()
    assert sorted(told) == sorted(f"{name} = {value}" for name, value in of_released & of_original)


@MODES
def test_a_copy(mode):
    result = singling_out(ORIGINAL, ORIGINAL, mode=mode, **ALL)
    assert result.success_rate == 1
    assert result.risk > 0.95
    assert result.records["queries_isolating"].sum() == 200


@MODES
def test_other_people(mode):
    result = singling_out(ORIGINAL, OTHERS, mode=mode, **ALL)
    assert result.residual_low < 0 < result.residual_high


@MODES
def test_queries_about_dates_and_missing_values_count(mode):
    """Each is made of the values of one released record, and none is lost."""
    result = singling_out(ORIGINAL, OTHERS, mode=mode, n_columns=2, **{**ALL, "n_attacks": 400})
    queries = result.queries
    assert len(queries) == result.n_attacks
    assert queries["query"].str.contains("day [=≤≥] 200").any()
    if mode == "multivariate":
        assert queries["query"].str.contains(r"pay-@`x'\" = \(missing\)").any()
        assert queries["query"].str.contains("True = True").any()
    assert queries["isolates"].sum() == result.successes
    assert set(queries.columns) == {"release", "query", "isolates", "isolates_control"}


def test_the_only_missing_value():
    people = pl.DataFrame({"x": [1, 1, 2, 2, None]})
    result = singling_out(people, people, seed=1)
    assert "x = (missing)" in result.queries["query"].to_list()


def test_equal_records_count_once():
    people = pl.DataFrame({"x": ["a", "a", "b", "c"], "y": ["u", "u", "v", "v"]})
    result = singling_out(people, people, n_attacks=99, seed=1)
    assert result.success_rate == 1
    assert set(result.queries["query"]) == {"x = a", "x = b", "x = c", "y = u"}
    assert result.notes["n_attacks"].startswith("99 queries asked for, 4 are true")


def test_fewer_combinations_than_asked_for():
    people = pl.DataFrame({"x": ["a", "a", "b"], "y": ["u", "v", "u"]})
    result = singling_out(people, people, mode="multivariate", n_columns=2, n_attacks=50, seed=1)
    assert result.n_attacks == 3
    assert "3 true of one released record were found in 10000 draws" in result.notes["n_attacks"]


def test_constant_columns_leave_nothing_to_ask():
    same = pl.DataFrame({"x": ["a"] * 6, "y": [1] * 6})
    other = pl.DataFrame({"x": ["a", "a", "b", "b"], "y": [1, 2, 1, 2]})
    result = singling_out(same, other, variables=["x"], control=same, seed=1)
    assert result.n_attacks == 2  # one distinct released record of each value
    third = pl.DataFrame({"x": ["c", "d"], "y": [1, 2]})
    nothing = singling_out(
        other, other, variables=["x", "y"], mode="multivariate", n_columns=1, control=third, seed=1
    )
    assert np.isnan(nothing.success_rate)
    assert nothing.notes["success_rate"] == "no attack could be made"
    assert nothing.verdict.startswith("There is nothing to ask: no combination of values")
    assert len(nothing.queries) == 0
    assert "isolates_control" not in nothing.queries.columns


@pytest.mark.parametrize("n", [100, 900])
def test_a_control_file_of_another_size(n):
    control = pl.concat([CONTROL, OTHERS]).sample(n, with_replacement=True, seed=1)
    control = control.with_columns(pl.col("select * from") + pl.Series(np.arange(n) * 1e-6))
    given = {"mode": "multivariate", "n_attacks": 200, "seed": 1}
    result = singling_out(ORIGINAL, OTHERS, control=control, **given)
    assert ("scaled" in result.notes) == (n < ORIGINAL.height)
    expected = (result.success_rate - result.control_rate) / (1 - result.control_rate)
    assert result.residual == pytest.approx(expected)
    # files of the smaller size drawn at random, many times
    drawn = []
    for seed in range(60):
        large = ORIGINAL if n < ORIGINAL.height else control
        part = large.sample(min(n, ORIGINAL.height), seed=seed)
        drawn.append(singling_out(part, OTHERS, **given).success_rate)
    if n > ORIGINAL.height:
        assert np.mean(drawn) == pytest.approx(result.control_rate, abs=0.01)
    else:
        plain = singling_out(control, OTHERS, **given).success_rate
        assert plain * result.success_rate / np.mean(drawn) == pytest.approx(result.control_rate, rel=0.1)


@pytest.mark.parametrize("n", [20, 60, 299])
def test_a_copy_is_found_beside_a_small_control_file(n):
    rng = np.random.default_rng(n)
    people = pl.DataFrame({"c": rng.integers(0, 5000, 300 + n), "g": rng.choice(list("uvw"), 300 + n)})
    original, control = people[:300], people[300:]
    result = singling_out(original, original, control=control, n_attacks=150, seed=1)
    assert result.success_rate == 1
    assert result.risk > 0.8
    assert result.residual_low > 0.5


def test_groups_are_those_of_the_released_records():
    result = singling_out(ORIGINAL, [OTHERS, ORIGINAL], mode="multivariate", **ALL, by="größe")
    groups = result.by_group
    assert groups.group_by("release").agg(pl.col("n_attacks").sum())["n_attacks"].to_list() == [200, 200]
    assert groups.filter(pl.col("release") == 2)["success_rate"].to_list() == [1, 1]


def test_same_seed_same_queries():
    one, two, three = (singling_out(ORIGINAL, OTHERS, **{**ALL, "seed": seed}) for seed in (1, 1, 2))
    assert one.queries.equals(two.queries)
    assert one.to_dict() == two.to_dict()
    assert not one.queries.equals(three.queries)


def test_the_same_on_another_engine():
    given = {"mode": "multivariate", "n_attacks": 50, "seed": 1}
    here = singling_out(ORIGINAL, OTHERS, control=CONTROL, **given)
    there = singling_out(
        *(one.to_pandas() for one in (ORIGINAL, OTHERS)), control=CONTROL.to_pandas(), **given
    )
    assert here.to_dict()["figures"] == there.to_dict()["figures"]


def test_its_variables():
    scenario = Scenario(keys=["True", "day"])
    assert singling_out(ORIGINAL, OTHERS, scenario=scenario, seed=1).variables == ("True", "day")
    assert singling_out(ORIGINAL, OTHERS.drop("True"), seed=1).notes["variables"].endswith("left out: True")
    one_column = singling_out(ORIGINAL.select("day"), OTHERS, seed=1)
    assert one_column.variables == ("day",)


def test_what_it_refuses():
    with pytest.raises(DataError, match="mode 'both' is unknown"):
        singling_out(ORIGINAL, OTHERS, mode="both")
    with pytest.raises(DataError, match="n_columns=3 of 1 variable: give fewer"):
        singling_out(ORIGINAL.select("day"), OTHERS, mode="multivariate")
    with pytest.raises(DataError, match=r"n_columns is how many .* a whole number"):
        singling_out(ORIGINAL, OTHERS, mode="multivariate", n_columns=0)
    with pytest.raises(ColumnError, match="the control file has no column 'day'"):
        singling_out(ORIGINAL, OTHERS, control=CONTROL.drop("day"))
    with pytest.raises(DataError, match="the release has 1 record"):
        singling_out(ORIGINAL, OTHERS.head(1))


@pytest.mark.parametrize("mode", ["univariate", "multivariate"])
def test_a_file_of_one_kind_of_person_is_no_error(mode):
    """Records that are alike count once, so that everybody is the one there is."""
    alike = pl.DataFrame({"sex": ["f"] * 30, "age": [40] * 30})
    found = singling_out(alike, alike, mode=mode, n_columns=2, n_attacks=20, seed=1)
    assert found.success_rate in {0.0, 1.0} or found.notes
