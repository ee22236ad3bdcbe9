"""Values that go together: bundles, what they cost, and giving them back whole."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

from protect.suppression_files import free, frequencies, working
from sdckit.data.columns import code_column
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError
from sdckit.protect.by_household import read_homes
from sdckit.protect.suppression import suppression_together
from sdckit.protect.suppression.suppression_bound import bound_of
from sdckit.protect.suppression.suppression_choices import find_choices
from sdckit.protect.suppression.suppression_together import BLOCK, bonds_of, give_back, read_together, weighed, widen

HOMES = pl.DataFrame({"home": [1, 1, 2, 2, 2], "a": [1, 1, 2, 2, 2], "b": [1, 2, 3, None, 5], "c": [1, 2, 3, 4, 5]})
KEYS = ("a", "b")


def bonds(groups=(), shared=("a",), household=True):
    frame = open_frame(HOMES)
    homes = read_homes(frame, "home") if household else None
    columns = dict.fromkeys([*KEYS, *(name for group in groups for name in group)])
    coded = [code_column(frame[name]) for name in columns]
    return bonds_of(coded, groups, homes, shared if household else ())


def file_of(rows):
    return working(rows)


def test_a_household_variable_reaches_all_members():
    file = working([(1, 1), (1, 2), (2, 3), (2, None), (2, 5)])
    file.gone[0, 3] = True
    gone = widen(file, bonds())
    assert gone[0].tolist() == [False, False, True, True, True]
    assert not gone[1].any()
    assert file.gone[0].tolist() == gone[0].tolist()


def test_columns_of_a_group_go_together_and_what_is_missing_was_not_taken_out():
    file = working([(1, 1), (1, 2), (2, 3), (2, None), (2, 5)])
    file.gone[1, 0] = file.gone[1, 3] = True  # the second was missing before
    gone = widen(file, bonds([("b", "c")]))
    assert gone.tolist() == [[False] * 5, [True] + [False] * 4, [True] + [False] * 4]


def test_groups_that_overlap_are_one_and_reach_as_far_as_any_of_theirs():
    one = bonds([("b", "c"), ("c", "a")])
    assert one.bundles == ((0, 1, 2),)
    assert one.shared == (True,)
    assert one.columns == ("a", "b", "c")
    file = working([(1, 1), (1, 2), (2, 3), (2, None), (2, 5)])
    file.gone[1, 0] = True
    assert widen(file, one)[:, :2].all()


def test_without_bonds_nothing_is_widened():
    one = bonds(household=False)
    assert not one.bind
    assert bonds().bind
    assert bonds([("b", "c")], household=False).bind


def test_a_value_costs_what_goes_with_it():
    rows = [(1, 1), (1, 2), (2, 3), (2, None), (2, 5)]
    at = working(rows).situation([0, 1])
    choices = find_choices(at, 2, free(rows))
    costs = dict(zip(choices.masks.tolist(), weighed(choices, bonds(), [0, 1]).costs.tolist(), strict=True))
    assert choices.costs.tolist() == [bin(mask).count("1") for mask in choices.masks.tolist()]
    assert all(cost == (3 if mask & 1 else 0) + (1 if mask & 2 else 0) for mask, cost in costs.items())
    # households of 2 and 3: a record's has 2.6 members on the average


@pytest.mark.parametrize(("seed", "n_homes"), [*((seed, 8) for seed in range(12)), (12, BLOCK // 2)])
def test_what_is_given_back_was_not_needed_and_no_unit_left_is_superfluous(seed, n_homes, monkeypatch):
    works, usual = [], suppression_together.sparing
    monkeypatch.setattr(suppression_together, "sparing", lambda kernel, n: works.append(n) or usual(kernel, n))
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n_homes), rng.integers(1, 4, n_homes))
    a, b = rng.integers(0, 3, n_homes)[home], rng.integers(0, 3, len(home))
    rows, k = list(zip(a.tolist(), b.tolist(), strict=True)), 3
    frame = open_frame(pl.DataFrame({"home": home, "a": a, "b": b}))
    one = bonds_of([code_column(frame[name]) for name in KEYS], (), read_homes(frame, "home"), ("a",))
    file = working(rows)
    start = file.situation([0, 1])
    file.gone[:] = rng.random(file.gone.shape) < 0.6
    file.gone[:, (start.frequency < k)[start.of_row]] |= True
    widen(file, one)
    before = int(file.gone.sum())
    held = min(counted(rows, file.gone)) >= k
    give_back(file, one, [0, 1], k, start)
    assert 0 < max(works) < 8 * before * len(rows)  # a first run of a small file compiles nothing for it
    assert int(file.gone.sum()) <= before
    if not held:
        return
    assert min(counted(rows, file.gone)) >= k
    for j, unit in product(range(2), range(len(home))):
        part = (home == unit) if j == 0 else (np.arange(len(home)) == unit)
        if (file.gone[j] & part).any():
            tried = file.gone.copy()
            tried[j] &= ~part
            assert min(counted(rows, tried)) < k


def counted(rows, gone):
    left = [tuple(None if gone[j, i] else row[j] for j in range(2)) for i, row in enumerate(rows)]
    return frequencies(left)


@pytest.mark.parametrize("seed", range(6))
def test_no_solution_goes_below_the_bound_whoever_loses_values(seed):
    rng = np.random.default_rng(seed)
    rows = [tuple(row) for row in rng.integers(0, 3, (6, 2)).tolist()]
    fewest = min(
        sum(cells) for cells in product([0, 1], repeat=12)
        if min(counted(rows, np.array(cells, bool).reshape(2, 6))) >= 2
    )  # fmt: skip
    assert bound_of(working(rows).situation([0, 1]), 2, 1.0, together=True) <= fewest


def test_a_file_that_holds_has_no_bound():
    assert bound_of(working([(1, 1)] * 3).situation([0, 1]), 3, 1.0, together=True) == 0


@pytest.mark.parametrize("given", ["a", [["a"]], [["c", "d"]], ["ab"], 3, [[1.5, "a"]]])
def test_groups_are_lists_of_columns_with_a_key(given):
    with pytest.raises(ColumnError if given != 3 else Exception, match="together"):
        read_together(given, KEYS)
