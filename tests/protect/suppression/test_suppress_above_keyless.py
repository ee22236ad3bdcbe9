"""Who joins the records without keys, and that nobody else's class is left short."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdckit.numerics.array_types import Ints
from sdckit.protect.suppression.suppress_above import joining_records


def fewest(cell: Ints, codes: Ints) -> dict[int, int]:
    return {int(at): len(np.unique(codes[cell == at])) for at in np.unique(cell)}


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3), st.integers(0, 2)), min_size=1), st.data()
)
def test_the_class_has_enough_values_and_no_other_is_left_short(
    rows: list[tuple[int, bool, int, int]], data: st.DataObject
) -> None:
    cell, gone, first, second = (np.array(column) for column in zip(*rows, strict=True))
    least = data.draw(st.integers(1, 3))
    joining = joining_records(cell, gone, [first, second], least)
    assert not (joining & gone).any()
    left = ~(gone | joining)
    for codes in (first, second):
        before, after = fewest(cell[~gone], codes[~gone]), fewest(cell[left], codes[left])
        assert all(after[at] >= least for at in after if before[at] >= least or joining[cell == at].any())
        inside = np.unique(codes[gone | joining])
        if gone.any() and len(inside) < least:  # then nobody could join: any other would leave its class short
            for row in np.flatnonzero(left & ~np.isin(codes, inside)):
                rest = left & (cell == cell[row])
                rest[row] = False
                assert any(len(np.unique(other[rest])) < least for other in (first, second))


def by_hand(cell: list[int], gone: set[int], variables: list[list[int]], least: int) -> set[int]:
    """Who joins, record by record: of those whose class is not left short by it, who is in the largest."""
    inside = set(gone)
    for values in variables:
        while inside and len(has := {values[i] for i in inside}) < least:
            of_class = {
                i: [j for j in range(len(cell)) if j not in inside and cell[j] == cell[i]] for i in range(len(cell))
            }
            able = [
                i for i in range(len(cell)) if i not in inside and values[i] not in has
                and all(len({other[j] for j in of_class[i] if j != i}) >= least for other in variables)
            ]  # fmt: skip
            if not able:
                break
            inside.add(max(able, key=lambda i: len(of_class[i])))
    return inside - gone


def test_who_joins_is_who_would_by_hand() -> None:
    rng, n_joining = np.random.default_rng(3), 0
    for _ in range(400):
        n, least = int(rng.integers(1, 24)), int(rng.integers(1, 4))
        cell, variables = rng.integers(0, 3, n), [rng.integers(0, 4, n) for _ in range(rng.integers(1, 3))]
        gone = rng.random(n) < 0.1
        joining = set(np.flatnonzero(joining_records(cell, gone, variables, least)).tolist())
        known = [values.tolist() for values in variables]
        assert joining == by_hand(cell.tolist(), set(np.flatnonzero(gone).tolist()), known, least)
        n_joining += len(joining)
    assert n_joining > 100


def test_nobody_joins_where_no_record_loses_its_keys() -> None:
    cell = np.array([0, 1])
    assert not joining_records(cell, np.zeros(2, np.bool_), [np.array([0, 0])], 2).any()
