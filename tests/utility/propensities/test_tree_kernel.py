"""The tree against one that tries every cut of every leaf on the records themselves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from sdckit.utility.propensities.tree_kernel import HALF, grow

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 9), st.booleans()), min_size=1, max_size=40
)


def kernel(rows, leaves, smallest):
    """A category of three levels, a number of five values that is counted, one of ten that is sorted."""
    level, counted, many, member = (np.array(column) for column in zip(*rows, strict=True))
    n = len(rows)
    cells = np.stack([level, 3 + counted], axis=1).astype(np.int32)
    order = np.sort((many.astype(np.int64) << HALF) | (np.arange(n) << 1))[None]
    columns = cells, np.array([0, 3, 8]), np.array([False, True])
    return grow(columns, order, member.astype(np.uint8), leaves, smallest)


def cuts(rows):
    """Every way to cut in two, in the order of the columns, and of the levels of each."""
    for level in range(3):
        yield 0, [row[0] == level for row in rows]
    for column, top in ((1, 5), (2, 10)):
        for value in range(top):
            yield column, [row[column] <= value for row in rows]


def gini(members):
    """Records times their Gini index, halved."""
    ones = sum(members)
    return Fraction(ones * (len(members) - ones), len(members))


def best_cut(rows, place, smallest):
    members, found = [rows[i][3] for i in place], None
    if len(set(members)) < 2:
        return None
    for column, left in cuts([rows[i] for i in place]):
        sides = [
            [m for m, there in zip(members, left, strict=True) if there == side] for side in (True, False)
        ]
        if min(map(len, sides)) >= smallest:
            gain = gini(members) - sum(map(gini, sides))
            if found is None or gain > found[0]:
                found = gain, column, left
    return found


def plain(rows, leaves, smallest):
    """Shares of members by row, and gains by column, exactly."""
    parts, gains = [list(range(len(rows)))], [Fraction(0)] * 3
    while len(parts) < leaves:
        found = [(best_cut(rows, part, smallest), part) for part in parts]
        found = [(cut, part) for cut, part in found if cut is not None]
        if not found:
            break
        (gain, column, left), part = max(found, key=lambda one: one[0][0])
        gains[column] += gain
        at = parts.index(part)
        sides = [[i for i, there in zip(part, left, strict=True) if there == side] for side in (True, False)]
        parts[at : at + 1] = []
        parts += sides
    share = [0.0] * len(rows)
    for part in parts:
        for i in part:
            share[i] = sum(rows[j][3] for j in part) / len(part)
    return share, gains


@given(ROWS, st.integers(1, 8), st.integers(1, 4))
def test_the_tree_is_the_one_that_tries_every_cut(rows, leaves, smallest):
    share, taken = kernel(rows, leaves, smallest)
    expected, gains = plain(rows, leaves, smallest)
    np.testing.assert_array_equal(share, expected)
    np.testing.assert_allclose(taken, [float(one) for one in gains], rtol=1e-12, atol=1e-12)
