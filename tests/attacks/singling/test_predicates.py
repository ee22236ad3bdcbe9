"""Predicates by plain comparisons."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from sdckit.attacks.singling.predicates import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    Predicates,
    Table,
    _find,
    matches,
    random_columns,
    random_predicates,
)

RNG = np.random.default_rng(1)
TABLE = Table(RNG.integers(0, 6, (4, 60)).astype(np.int32), np.arange(60))
COMPARE = (operator.eq, operator.ne, operator.le, operator.ge, operator.lt, operator.gt)


def true_of(table, predicates, q):
    true = np.ones(table.n, bool)
    for column, sign, value in zip(
        predicates.column[q], predicates.operator[q], predicates.value[q], strict=True
    ):
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
