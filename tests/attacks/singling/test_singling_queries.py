"""The queries of somebody who singles out."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.singling.predicates import AT_LEAST, AT_MOST, EQUAL, Table, matches
from sdckit.attacks.singling.singling_queries import multivariate_queries, univariate_queries


def table(*columns):
    return Table(np.array(columns, np.int32), np.arange(len(columns[0])))


def listed(queries):
    return set(
        zip(*(one[:, 0].tolist() for one in (queries.column, queries.operator, queries.value)), strict=True)
    )


def test_one_column_by_hand():
    # numbers 1 2 2 3 and a gap; text a a b, gaps twice
    released = table([1, 2, 2, 3, 0], [1, 1, 2, 0, 0])
    queries, rows, possible = univariate_queries(
        released, np.array([True, False]), 99, np.random.default_rng(1)
    )
    assert possible == queries.n == 6
    assert listed(queries) == {
        (0, EQUAL, 0), (0, EQUAL, 1), (0, EQUAL, 3), (0, AT_MOST, 1), (0, AT_LEAST, 3), (1, EQUAL, 2),
    }  # fmt: skip
    count, first = matches(released, queries)
    assert (count == 1).all()
    assert first[:, 0].tolist() == rows.tolist()


def test_a_number_shared_by_the_smallest_is_no_query():
    queries, _, possible = univariate_queries(
        table([1, 1, 2, 2]), np.array([True]), 9, np.random.default_rng(1)
    )
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
