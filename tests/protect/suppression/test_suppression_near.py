"""The search for the cells most like one at risk."""

from __future__ import annotations

import numpy as np
import pytest

from protect.suppression_files import draw_rows, free, frequencies, without, working
from sdckit.protect.suppression.suppression_choices import Order
from sdckit.protect.suppression.suppression_near import nearest_sets, nested_sets, too_many

FREE = Order((1.0, 1.0, 1.0), strict=False)


def lost(mask, p=3):
    return {j for j in range(p) if int(mask) >> j & 1}


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_a_record_reaches_k_alone(alpha):
    rows = draw_rows(7, 40, (3, 4, 5), missing=0.15)
    at = working(rows, alpha).situation([0, 1, 2])
    risky = at.at_risk(4)
    masks = nearest_sets(at, risky, 4, alpha, free(rows), apply=False)
    assert len(risky) > 5
    for c, mask in zip(risky, masks, strict=True):
        i = int(at.first[c])
        assert frequencies([*rows[:i], without(rows[i], lost(mask)), *rows[i + 1 :]], alpha)[i] >= 4 - 1e-9


def test_cells_mended_in_turn_help_each_other():
    rows = [(1, 1, 1), (1, 1, 2), (1, 1, 3)]
    at = working(rows).situation([0, 1, 2])
    masks = nearest_sets(at, at.at_risk(2), 2, 1.0, FREE, apply=True)
    assert masks.tolist() == [0b100, 0, 0]


def test_strict_order_prefers_the_least_important_of_the_nearest():
    rows = [(1, 1, 1), (1, 1, 2), (1, 1, 2), (1, 2, 1)]
    at = working(rows).situation([0, 1, 2])
    alone = at.of_row[:1].astype(np.int64)
    for rank, key in (((1.0, 2.0, 3.0), 2), ((1.0, 3.0, 2.0), 1)):
        masks = nearest_sets(at, alone, 2, 1.0, Order(rank, strict=True), apply=False)
        assert lost(masks[0]) == {key}
    assert lost(nearest_sets(at, alone, 3, 1.0, FREE, apply=False)[0]) == {2}  # two there, one at the other


def test_other_strata_are_no_neighbours():
    rows = [(1, 1, 1), (1, 1, 2), (2, 2, 2), (2, 2, 3)]
    at = working(rows, strata=[0, 1, 0, 1]).situation([0, 1, 2])
    masks = nearest_sets(at, at.of_row[:1].astype(np.int64), 2, 1.0, FREE, apply=False)
    assert lost(masks[0]) == {0, 1, 2}


def test_one_chain_of_keys_for_many():
    rows = draw_rows(8, 50, (3, 4, 6), missing=0.1)
    at = working(rows).situation([0, 1, 2])
    risky = at.at_risk(3)
    masks = nested_sets(at, risky, 3, free(rows))
    assert set(masks.tolist()) <= {0b100, 0b110, 0b111}
    for c, mask in zip(risky, masks, strict=True):
        i = int(at.first[c])
        assert frequencies([*rows[:i], without(rows[i], lost(mask)), *rows[i + 1 :]])[i] >= 3
    assert not too_many(at, risky)
    assert too_many(at, np.zeros(1 << 30, np.bool_))
