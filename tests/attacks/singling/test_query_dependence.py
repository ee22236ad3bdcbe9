"""Queries that are true of the same people count for less than as many different ones."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attacks.singling.predicates import Predicates, Table
from sdckit.attacks.singling.query_dependence import design_effect


def ask(values):
    n = len(values)
    return Predicates(
        np.zeros((n, 1), np.int64), np.zeros((n, 1), np.int8), np.array(values, np.int32)[:, None]
    )


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
