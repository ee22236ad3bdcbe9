"""Singling out: by plain loops, both ends, what is not drawn is said, and what it refuses."""

from __future__ import annotations

import operator

import numpy as np
import polars as pl
import pytest

from attacks.made import CONTROL, ORIGINAL, OTHERS
from sdckit import Scenario, singling_out
from sdckit.attacks.singling.singling_out import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    Predicates,
    Table,
    _find,
    design_effect,
    matches,
    multivariate_queries,
    random_columns,
    random_predicates,
    univariate_queries,
)
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
    nothing = singling_out(other, other, variables=["x", "y"], mode="multivariate", n_columns=1, control=third, seed=1)
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
    there = singling_out(*(one.to_pandas() for one in (ORIGINAL, OTHERS)), control=CONTROL.to_pandas(), **given)
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


# Queries that are true of the same people count for less than as many different ones.


def ask(values):
    n = len(values)
    return Predicates(np.zeros((n, 1), np.int64), np.zeros((n, 1), np.int8), np.array(values, np.int32)[:, None])


POOL = Table(np.repeat(np.arange(1, 201), 3)[None].astype(np.int32), np.arange(600))


@pytest.mark.parametrize("repeats", [1, 4])
def test_repeated_queries(repeats):
    """Three people per value: the difference of the files has variance 3/4, less what their fixed sizes take."""
    found = design_effect(POOL, 300, 300, ask(list(range(1, 201)) * repeats), np.random.default_rng(1))
    variance = 3 / 4 - (3 / 8) ** 2 / (3 / 4)
    assert found == pytest.approx(repeats * variance / (2 * 3 / 8 * 5 / 8), rel=0.15)


def test_nothing_to_widen():
    rng = np.random.default_rng(1)
    assert design_effect(POOL, 300, 300, ask([]).take(slice(0)), rng) == 1
    assert design_effect(POOL, 300, 300, ask([900, 901]), rng) == 1
    everyone = Table(np.ones((1, 600), np.int32), np.arange(600))
    assert design_effect(POOL.take(np.arange(1)), 0, 0, ask([1]), rng) == 1
    assert design_effect(everyone, 300, 300, ask([1]), rng) == 1


def test_an_expected_number_varies_less_than_a_count():
    """Among a third of the people of the first file, by the mean over all draws of them."""
    rng = np.random.default_rng(1)
    queries = ask(list(range(1, 201)))
    uneven = design_effect(POOL, 450, 150, queries, rng)
    assert 0.1 <= uneven < design_effect(POOL, 300, 300, queries, rng)


# Predicates by plain comparisons.


RNG = np.random.default_rng(1)
TABLE = Table(RNG.integers(0, 6, (4, 60)).astype(np.int32), np.arange(60))
COMPARE = (operator.eq, operator.ne, operator.le, operator.ge, operator.lt, operator.gt)


def true_of(table, predicates, q):
    true = np.ones(table.n, bool)
    for column, sign, value in zip(predicates.column[q], predicates.operator[q], predicates.value[q], strict=True):
        codes = table.codes[column]
        true &= COMPARE[sign](codes, value) & ((codes > 0) | (sign < 2))
    return np.flatnonzero(true)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("most", [1, 5])
def test_matches_by_plain_comparisons(k, most):
    drawn = random_predicates(TABLE, np.array([True, False, True, True]), 300, k, np.random.default_rng(k))
    count, rows = matches(TABLE, drawn, most)
    for q in range(drawn.n):
        expected = true_of(TABLE, drawn, q)
        assert count[q] == min(len(expected), most + 1)
        assert rows[q][rows[q] >= 0].tolist() == expected[:most].tolist()


def test_the_kernel_without_compiling():
    drawn = random_predicates(TABLE, np.ones(4, bool), 20, 2, np.random.default_rng(1))
    count, rows = np.zeros(20, np.int64), np.full((20, 1), -1)
    _find.py_func(TABLE.codes, drawn.column, *drawn.bounds(), count, rows, 0, 20)
    assert count.tolist() == matches(TABLE, drawn)[0].tolist()


def test_what_guessing_asks():
    ordered = np.array([True, False, True, False])
    drawn = random_predicates(TABLE, ordered, 4000, 1, np.random.default_rng(1))
    assert set(drawn.operator[ordered[drawn.column]].tolist()) == set(range(6))
    assert set(drawn.operator[~ordered[drawn.column]].tolist()) == {0, 1}
    assert set(drawn.operator[drawn.value == 0].tolist()) == {0, 1}  # missing: equal or not
    assert set(drawn.column.ravel().tolist()) == {0, 1, 2, 3}
    assert set(drawn.value.ravel().tolist()) == set(range(6))


def test_columns_of_a_predicate_differ():
    drawn = random_columns(5, 200, 3, np.random.default_rng(1))
    assert (np.diff(drawn, axis=1) > 0).all()


def test_in_words():
    asked = Predicates(
        np.array([[0, 1], [0, 1]]),
        np.array([[AT_LEAST, EQUAL], [AT_MOST, EQUAL]], np.int8),
        np.array([[2, 1], [1, 0]], np.int32),
    )
    labels = [["(missing)", "18", "40"], ["(missing)", "f"]]
    assert asked.texts(["age", "sex"], labels) == ["age ≥ 40 and sex = f", "age ≤ 18 and sex = (missing)"]
    assert len(set(asked.keys())) == 2
    assert asked.take(np.array([0, 0])).keys()[0] == asked.keys()[0]


def test_tables():
    part = TABLE.take(np.array([3, 5]))
    both = part.join(TABLE)
    assert (part.n, both.n) == (2, 62)
    assert both.rows[:3].tolist() == [3, 5, 0]
    assert (both.codes[:, 2:] == TABLE.codes).all()


# The queries of somebody who singles out.


def table(*columns):
    return Table(np.array(columns, np.int32), np.arange(len(columns[0])))


def listed(queries):
    return set(zip(*(one[:, 0].tolist() for one in (queries.column, queries.operator, queries.value)), strict=True))


def test_one_column_by_hand():
    # numbers 1 2 2 3 and a gap; text a a b, gaps twice
    released = table([1, 2, 2, 3, 0], [1, 1, 2, 0, 0])
    queries, rows, possible = univariate_queries(released, np.array([True, False]), 99, np.random.default_rng(1))
    assert possible == queries.n == 6
    assert listed(queries) == {
        (0, EQUAL, 0), (0, EQUAL, 1), (0, EQUAL, 3), (0, AT_MOST, 1), (0, AT_LEAST, 3), (1, EQUAL, 2),
    }  # fmt: skip
    count, first = matches(released, queries)
    assert (count == 1).all()
    assert first[:, 0].tolist() == rows.tolist()


def test_a_number_shared_by_the_smallest_is_no_query():
    queries, _, possible = univariate_queries(table([1, 1, 2, 2]), np.array([True]), 9, np.random.default_rng(1))
    assert possible == queries.n == 0


def test_no_more_than_asked_for_and_all_different():
    released = table(np.arange(1, 101), np.arange(1, 101))
    queries, _, possible = univariate_queries(released, np.array([True, True]), 30, np.random.default_rng(1))
    assert (queries.n, possible, len(set(queries.keys()))) == (30, 204, 30)


@pytest.mark.parametrize("k", [2, 3])
def test_several_columns(k):
    rng = np.random.default_rng(1)
    released = table(*rng.integers(0, 9, (5, 80)))
    ordered = np.array([True, True, False, True, False])
    queries, rows, tried = multivariate_queries(released, ordered, 60, k, rng)
    assert queries.n == 60 == len(set(queries.keys()))
    assert tried >= 60
    count, first = matches(released, queries)
    assert (count == 1).all()
    assert first[:, 0].tolist() == rows.tolist()
    middle = [np.median(codes[codes > 0]) for codes in released.codes]
    for columns, signs, values in zip(queries.column, queries.operator, queries.value, strict=True):
        for column, sign, value in zip(columns, signs, values, strict=True):
            expected = AT_LEAST if value > middle[column] else AT_MOST
            assert sign == (expected if ordered[column] and value > 0 else EQUAL)


def test_the_search_ends():
    queries, rows, tried = multivariate_queries(
        table([1] * 6, [1] * 6), np.array([True, False]), 5, 2, np.random.default_rng(1)
    )
    assert (queries.n, len(rows), tried) == (0, 0, 1000)
