"""Groups of cells that agree on all keys but some."""

from __future__ import annotations

import numpy as np
import pytest

from protect.suppression_files import draw_rows, free, frequencies, needs, without, working
from sdckit.protect.suppression.suppression_choices import Order, find_choices


@pytest.mark.parametrize(("seed", "k"), [(1, 2), (2, 3), (3, 5)])
def test_each_cell_needs_what_its_record_alone_would(seed, k):
    rows = draw_rows(seed, 40, (3, 4, 5))
    at = working(rows).situation([0, 1, 2])
    choices = find_choices(at, k, free(rows))
    expected = needs(rows, k)
    found = dict(zip(at.first[choices.cells].tolist(), choices.needs.tolist(), strict=True))
    assert found == {i: expected[i] for i in found}
    assert {int(at.of_row[i]) for i in expected} == set(choices.cells.tolist())


def test_a_group_holds_the_cells_at_risk_that_agree_on_the_other_keys():
    rows = draw_rows(4, 40, (3, 4, 5))
    at = working(rows).situation([0, 1, 2])
    choices = find_choices(at, 3, free(rows))
    first = at.first[choices.cells]
    assert len(choices.masks)
    for g, mask in enumerate(choices.masks.tolist()):
        keys = {j for j in range(3) if mask >> j & 1}
        members = choices.members[choices.starts[g] : choices.starts[g + 1]]
        patterns = {without(rows[first[c]], keys) for c in members}
        assert len(patterns) == 1
        pattern = patterns.pop()
        assert choices.sizes[g] == sum(without(row, keys) == pattern for row in rows)
        assert choices.costs[g] == len(keys)
        alone = {c for c in range(len(first)) if without(rows[first[c]], keys) == pattern}
        assert set(members.tolist()) == alone
        own = choices.own[choices.starts[g] : choices.starts[g + 1]]
        for c, reached in zip(members, own, strict=True):
            if reached:
                i = int(first[c])
                assert frequencies([*rows[:i], without(rows[i], keys), *rows[i + 1 :]])[i] >= 3
                assert choices.needs[c] == len(keys)


def test_a_strict_order_leaves_one_group_to_each_cell():
    rows = draw_rows(5, 60, (3, 4, 5))
    at = working(rows).situation([0, 1, 2])
    choices = find_choices(at, 2, Order((1.0, 3.0, 2.0), strict=True))
    assert np.bincount(choices.members[choices.own], minlength=len(choices.cells)).max() == 1


def test_sets_are_tried_in_the_order_of_the_keys():
    order = Order((2.0, 1.0, 3.0), strict=True)
    assert order.sets(1) == [(2,), (0,), (1,)]
    assert order.sets(2) == [(0, 2), (1, 2), (0, 1)]


def test_cells_that_lack_values_are_left_to_others():
    at = working([(1, None), (2, 3), (4, 5)]).situation([0, 1])
    choices = find_choices(at, 2, Order((1.0, 1.0), strict=False))
    assert (at.codes[choices.cells] >= 0).all()
    assert len(choices.cells) == 2


def test_no_cell_at_risk_no_group():
    choices = find_choices(working([(1,), (1,)]).situation([0]), 2, Order((1.0,), strict=False))
    assert (len(choices.cells), len(choices.masks), choices.starts.tolist()) == (0, 0, [0])
