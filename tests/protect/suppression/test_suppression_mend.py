"""Values are taken out until every record reaches k."""

from __future__ import annotations

import numpy as np
import pytest

from protect.suppression_files import draw_rows, free, frequencies, without, working
from sdckit.protect.suppression import suppression_choices, suppression_mend
from sdckit.protect.suppression.suppression_choices import Order, find_choices
from sdckit.protect.suppression.suppression_mend import cover, mend, nearest_sets, nested_sets, restore, too_many


def after(file, rows):
    return [tuple(None if file.gone[j, i] else value for j, value in enumerate(row)) for i, row in enumerate(rows)]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_k_holds(alpha, missing):
    for seed in range(4):
        rows = draw_rows(seed, 30, (3, 4, 5), missing)
        file = working(rows, alpha)
        assert mend(file, [0, 1, 2], 3, free(rows))
        assert min(frequencies(after(file, rows), alpha)) >= 3 - 1e-9
        assert not mend(file, [0, 1, 2], 3, free(rows))


def test_records_all_different_in_all_keys():
    rows = [(i, i, i) for i in range(5)]
    for alpha in (0.0, 0.5, 1.0):
        file = working(rows, alpha)
        mend(file, [0, 1, 2], 5, free(rows))
        assert min(frequencies(after(file, rows), alpha)) >= 5


def test_where_alpha_leaves_no_other_way_records_become_alike():
    rows = [(None, 1), (2, None), (None, 3), (4, None)]
    file = working(rows, 0.0)
    mend(file, [0, 1], 3, free(rows))
    assert min(frequencies(after(file, rows), 0.0)) >= 3


def test_without_larger_sets_and_with_one_chain_k_holds_too(monkeypatch):
    monkeypatch.setattr(suppression_choices, "SETS", 0)
    monkeypatch.setattr(suppression_mend, "too_many", lambda at, hard: True)
    rows = draw_rows(9, 40, (4, 5, 6))
    file = working(rows)
    mend(file, [0, 1, 2], 3, free(rows))
    assert min(frequencies(after(file, rows))) >= 3


def applied(rows, masks, risky):
    left = [*rows]
    for i, mask in zip(risky, masks, strict=True):
        left[i] = without(rows[i], {j for j in range(len(rows[0])) if int(mask) >> j & 1})
    return left


def restored(rows, k, masks):
    at = working(rows).situation(range(len(rows[0])))
    risky, _ = at.rows_of(at.at_risk(k))
    masks = np.asarray(masks[: len(risky)], np.uint64)
    now = np.array(frequencies(applied(rows, masks, risky)))[risky]
    cell, safe = at.of_row[risky].astype(np.int64), np.ones(len(at.size), bool)
    safe[cell] = False
    others = np.flatnonzero(safe), at.size[safe], np.full(int(safe.sum()), np.inf)
    return risky, restore(at, k, cell, masks, now, (1.0,) * len(rows[0]), others)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_k_still_holds_and_nothing_more_could_be_given_back(missing):
    rng = np.random.default_rng(3)
    for seed in range(6):
        rows = draw_rows(seed, 20, (3, 5, 8), missing)
        risky, left = restored(rows, 3, [0b111] * 20)
        assert len(risky)
        assert min(frequencies(applied(rows, left, risky))) >= 3
        i = int(rng.integers(len(risky)))
        for j in range(3):
            if int(left[i]) >> j & 1 and rows[risky[i]][j] is not None:
                fewer = left.copy()
                fewer[i] ^= np.uint64(1 << j)
                assert min(frequencies(applied(rows, fewer, risky))) < 3


def test_a_needless_value_comes_back():
    rows = [(1, 1), (1, 2), (1, 3), (1, 3)]
    assert restored(rows, 2, [0b10, 0b10])[1].tolist() in ([0b10, 0], [0, 0b10])


def test_what_would_take_long_or_fits_no_word_is_left(monkeypatch):
    monkeypatch.setattr(suppression_mend, "WORD", 3)
    wide = [(i, i % 5) for i in range(9)]
    assert restored(wide, 2, [0b11] * 9)[1].tolist() == [0b11] * 9
    monkeypatch.undo()
    monkeypatch.setattr(suppression_mend, "COMPARISONS_OF_MOMENTS", 0)
    assert restored([(1, 1), (1, 2)], 2, [0b10, 0b10])[1].tolist() == [0b10, 0b10]


def test_levels_far_apart_are_numbered_anew():
    far = 1 << 31
    wide = [(far, far, 0), (0, 1, far), (far, 0, 1), (0, 0, 0)]
    near = [(2, 2, 0), (0, 1, 2), (2, 0, 1), (0, 0, 0)]
    gone = [0b011, 0b111, 0b111, 0b011]  # the other two count for nobody
    one, other = restored(wide, 2, gone), restored(near, 2, gone)
    assert one[1].tolist() == other[1].tolist() != gone
    gaps = [(None, *row[1:]) if i == 1 else row for i, row in enumerate(wide)]
    risky, left = restored(gaps, 3, [0b111] * 4)
    assert min(frequencies(applied(gaps, left, risky))) >= 3


def solve(rows, k):
    """Records changed, as the cover says, one record of a cell after the other."""
    at = working(rows).situation(range(len(rows[0])))
    choices = find_choices(at, k, free(rows))
    cell, group = cover(choices, at.size[choices.cells], k - at.frequency[choices.cells])
    left, taken = [*rows], {}
    for c, g in zip(cell.tolist(), group.tolist(), strict=True):
        members = np.flatnonzero(at.of_row == choices.cells[c])
        row = int(members[taken.get(c, 0)])
        taken[c] = taken.get(c, 0) + 1
        left[row] = without(rows[row], {j for j in range(len(rows[0])) if int(choices.masks[g]) >> j & 1})
    return left


def test_one_value_mends_a_pair():
    left = solve([(1, 1), (1, 2), (2, 5), (2, 5)], 2)
    assert sum(value is None for row in left for value in row) == 1


def test_k_minus_one_values_mend_a_whole_row_of_singles():
    rows = [(1, j) for j in range(6)]
    for k in (2, 3, 4):
        left = solve(rows, k)
        assert min(frequencies(left)) >= k
        assert sum(row[1] is None for row in left) == k - 1


def test_every_cell_with_a_choice_reaches_k():
    for seed in range(6):
        rows = draw_rows(seed, 60, (3, 4, 5))
        for k in (2, 3, 5):
            assert min(frequencies(solve(rows, k))) >= k


def test_nothing_is_taken_where_nothing_lacks():
    assert solve([(1, 1), (1, 1)], 2) == [(1, 1), (1, 1)]


def test_a_record_that_rests_on_one_that_was_blanked_is_mended_and_counted():
    """The first loses both values, and is no help to the last any more, who was never at risk."""
    rows = [(1, 1), (None, None), (0, 0), (None, None), (0, None), (None, 0), (None, None), (1, None)]
    file = working(rows)
    assert mend(file, [0, 1], 3, Order((1.0, 1.0), strict=False))
    assert not len(file.situation([0, 1]).at_risk(3))


# The search for the cells most like one at risk.


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


@pytest.mark.parametrize(("alpha", "apply"), [(0.5, False), (1.0, False), (1.0, True)])
def test_keys_packed_in_a_word_are_those_one_by_one(alpha, apply, monkeypatch):
    rows = draw_rows(7, 60, (3, 4, 9), missing=0.15)
    at = working(rows, alpha, strata=[i % 2 for i in range(60)]).situation([0, 1, 2])
    for order in (free(rows), Order((2.0, 3.0, 1.0), strict=True)):
        masks = []
        for least in (0, 61):
            monkeypatch.setattr(suppression_mend, "WORTH_PACKING", least)
            masks.append(nearest_sets(at, at.at_risk(4), 4, alpha, order, apply=apply).tolist())
        assert masks[0] == masks[1]
        assert len(set(masks[0])) > 3


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
