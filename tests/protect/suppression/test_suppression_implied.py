"""Which suppressed values follow: the kernel against putting back every value, one by one."""

from __future__ import annotations

from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import brute
from protect.suppression_files import draw_rows, frame_of, frequencies as decoys_frequencies, rows_of, working
from sdckit import local_suppression
from sdckit.protect.suppression import suppression_implied
from sdckit.protect.suppression.suppression_implied import (
    MANY,
    NONE,
    hide_implied,
    implied,
    left_among_pairs,
    left_in_tables,
)


def frequencies(rows, keys, alpha, strata):
    """What each record counts, within its stratum."""
    found = [0.0] * len(rows)
    for stratum in set(strata):
        own = [i for i, other in enumerate(strata) if other == stratum]
        some = [tuple(rows[i][j] for j in keys) for i in own]
        for i, f in zip(own, brute.frequencies(some, [1.0] * len(own), [True] * len(keys), alpha)[0], strict=True):
            found[i] = f
    return found


def left(safe, r, j, requests, alpha, strata):
    """Levels of a key that could not have been given back to a record: it, or one that loses by it, is below k."""
    found = set()
    asked = [(keys, k, frequencies(safe, keys, alpha, strata)) for keys, k in requests if j in keys]
    for v in {row[j] for row in safe} - {None}:
        back = [*safe[:r], (*safe[r][:j], v, *safe[r][j + 1 :]), *safe[r + 1 :]]
        for keys, k, before in asked:
            now = frequencies(back, keys, alpha, strata)
            hurt = [i for i, (a, b) in enumerate(zip(before, now, strict=True)) if i == r or b < a - 1e-9]
            if any(now[i] < k - 1e-9 for i in hurt):
                found.add(v)
    return found


def by_hand(rows, safe, requests, alpha=1.0, strata=None):
    """The definition, read aloud: which values follow."""
    strata = [0] * len(rows) if strata is None else strata
    p = len(rows[0])
    right, left_of = {}, {}
    for r, (row, other) in enumerate(zip(rows, safe, strict=True)):
        for j in range(p):
            if row[j] is None or other[j] is not None:
                continue
            seen = {one[j] for one in safe} - {None}
            vanished = {one[j] for one in rows} - {None} - seen
            alike = other, strata[r], j  # released alike, the same is left to them
            if alike not in left_of:
                left_of[alike] = left(safe, r, j, requests, alpha, strata)
            found = left_of[alike]
            right[r, j] = found == {row[j]} or (not found and vanished == {row[j]})
    certain = set()
    for r, j in right:
        like = [i for i in range(len(safe)) if (safe[i], strata[i]) == (safe[r], strata[r]) and (i, j) in right]
        if all(right[i, j] for i in like):
            certain.add((r, j))
    return certain, len(right)


def by_kernel(rows, safe, requests, alpha=1.0, strata=None):
    """What both ways find, by tables and by pairs."""
    found = []
    for nanoseconds in (0, 10**12):
        with mock.patch.multiple(suppression_implied, PAIR=nanoseconds, LONGEST=10**18):
            found.append(_by_one_kernel(rows, safe, requests, alpha, strata))
    assert found[0] == found[1]
    return found[0]


def _by_one_kernel(rows, safe, requests, alpha, strata):
    file = working(rows, alpha, strata)
    for r, (row, other) in enumerate(zip(rows, safe, strict=True)):
        for j in range(len(row)):
            file.gone[j, r] = row[j] is not None and other[j] is None
    found = implied(file, requests, range(len(rows[0])))
    return {(int(r), int(j)) for j, r in zip(*np.nonzero(found), strict=True)}


@given(
    st.integers(2, 4).flatmap(
        lambda p: st.lists(st.tuples(*[st.integers(0, 2)] * p), min_size=5, max_size=14)
    ),
    st.integers(2, 3), st.sampled_from([1.0, 1.0, 0.5, 0.0]),
)  # fmt: skip
def test_what_follows_from_a_release_is_what_putting_back_finds(rows, k, alpha):
    frame = frame_of(rows)
    safe = rows_of(local_suppression(frame, keys=frame.columns, k=k, alpha=alpha).data, frame.columns)
    requests = ((tuple(range(len(rows[0]))), k),)
    assert by_kernel(rows, safe, requests, alpha) == by_hand(rows, safe, requests, alpha)[0]


@settings(max_examples=100)
@given(st.data(), st.sampled_from([1.0, 0.5, 0.0]))
def test_the_same_whoever_took_the_values_out(data, alpha):
    """Any values missing, some from the start, any k, strata, and several sets of keys."""
    p = data.draw(st.integers(1, 3))
    cell = st.sampled_from([0, 1, 2, None])
    rows = data.draw(st.lists(st.tuples(*[cell] * p), min_size=4, max_size=10).filter(
        lambda rows: all(any(row[j] is not None for row in rows) for j in range(p))))  # fmt: skip
    drop = data.draw(st.lists(st.tuples(*[st.booleans()] * p), min_size=len(rows), max_size=len(rows)))
    safe = [
        tuple(None if out else value for value, out in zip(*one, strict=True)) for one in zip(rows, drop, strict=True)
    ]
    strata = data.draw(st.one_of(st.none(), st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows))))
    requests = [(tuple(range(p)), data.draw(st.integers(1, 4)))]
    if p > 1:
        requests.append(((0, p - 1), data.draw(st.integers(1, 4))))
    assert by_kernel(rows, safe, requests, alpha, strata) == by_hand(rows, safe, requests, alpha, strata)[0]


def test_keys_that_fit_into_no_word_are_counted_by_tables():
    rng = np.random.default_rng(3)
    rows = [tuple(row) for row in np.where(rng.random((60, 40)) < 0.03, rng.integers(1, 9, (60, 40)), 0).tolist()]
    frame = frame_of(rows)
    safe = rows_of(local_suppression(frame, keys=frame.columns, k=2, exact=False).data, frame.columns)
    requests = ((tuple(range(40)), 2),)
    with mock.patch.object(suppression_implied, "packed_words", return_value=None):
        without = _by_one_kernel(rows, safe, requests, 1.0, None)
    assert without == by_kernel(rows, safe, requests) == by_hand(rows, safe, requests)[0]


def test_nothing_taken_out_and_nothing_to_count():
    file = working([(0, 1), (0, 1)])
    found = implied(file, (((0, 1), 2),), [0, 1])
    assert found is not None
    assert not found.any()


def test_a_cell_of_one_has_no_twin_that_would_lose_by_the_value():
    """At alpha below one: the record itself does not lose what it counts in its own cell."""
    rows = [(0, 0, 0), (None, 1, 0), (0, 1, 0), (None, 0, 0)]
    safe = [(0, None, 0), (None, 1, 0), (None, None, 0), (None, 0, None)]
    requests = (((0, 1, 2), 1),)
    assert by_kernel(rows, safe, requests, 0.0) == by_hand(rows, safe, requests, 0.0)[0] == set()


# The kernels by hand: one level left, none, several, and the one that nobody has.


K = 3 - 1e-9


def in_tables(levels, weights, tight, base, everything=False, seen=3):
    """One query and one table."""
    return left_in_tables(
        np.zeros((1, 1), np.int64), np.array([[0, 0], [2, len(levels)]]), np.array([0, len(levels)]),
        np.array(levels, np.int64), np.array(weights, float), np.array(tight, bool), np.array([float(base)]),
        np.array([everything]), seen, K,
    )[0]  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "weights", "tight", "base", "everything", "expected"),
    [
        ([0, 1, 2], [5, 1, 5], [0, 0, 0], 1, False, 1),  # the only one below k
        ([0, 1, 2], [5, 5, 5], [0, 0, 0], 1, False, NONE),
        ([0, 1, 2], [1, 1, 5], [0, 0, 0], 1, False, MANY),
        ([0, 2], [5, 5], [0, 0], 1, False, 1),  # nobody has it
        ([0], [5], [0], 1, False, MANY),  # two that nobody has
        ([0, 2], [5, 5], [0, 0], 3, False, NONE),  # enough whatever it is
        ([0, 1, 2], [5, 5, 5], [1, 0, 0], 3, False, MANY),  # any but the first would hurt it
        ([0, 1, 2], [5, 5, 5], [1, 1, 0], 3, False, MANY),
        ([0, 1, 2], [5, 5, 5], [0, 0, 0], 3, True, MANY),
        ([0, 2], [5, 5], [1, 0], 3, False, MANY),  # the one that nobody has would hurt it as well
        ([0, 1], [5, 5], [1, 1], 3, False, MANY),
        ([0, 2], [5, 5], [0, 0], K, False, NONE),  # k reached is enough, by nobody's level
        ([0, 1, 2], [0, 5, 5], [0, 0, 0], K, False, NONE),  # nor by one that somebody has
    ],
)
def test_one_query(levels, weights, tight, base, everything, expected):
    assert in_tables(levels, weights, tight, base, everything) == expected


def test_a_record_that_cannot_lose_a_match_leaves_the_other_of_two():
    assert in_tables([0, 1], [5, 5], [1, 0], 3, seen=2) == 1
    assert in_tables([0], [5], [1], 3, seen=2) == 1  # although nobody has it
    assert in_tables([0], [5], [0], 1, True, seen=1) == 0


def test_pairs():
    """Two keys of two bits each and a stratum: the first key of the last cell is missing."""
    words = np.array([0b0_01_00, 0b0_01_01, 0b0_01_10, 0b0_00_00, 0b0_01_00], np.uint64)
    there = np.array([0b1_11_11] * 4 + [0b1_11_00], np.uint64)
    marks = np.array([0b11, 0b1111, 0b1111], np.uint64)
    level = np.array([0, 1, 2, 0, -1])
    for size, expected in (([4, 1, 4, 9, 1], 1), ([4, 4, 4, 9, 1], NONE), ([1, 1, 4, 9, 1], MANY)):
        found = left_among_pairs(
            np.array([4]), words, there, np.array(size, float), np.zeros(5, bool), level, np.zeros(1, bool), marks,
            np.array([1.0, K]), 3,
        )  # fmt: skip
        assert found.tolist() == [expected]


# Values that follow are hidden by company that cannot be told apart.


# Three of one kind, one of another: who lost the first key must be the odd one.
ROWS = [(0, 0)] * 6 + [(1, 0)] + [(1, 1)] * 3 + [(0, 1)] * 3


def test_one_more_record_that_looks_the_same_and_is_another():
    frame = frame_of(ROWS)
    safe, change = local_suppression(frame, keys=["k0", "k1"], k=3, exact=False)
    assert change.n_changed == change.parameters["n_implied"] == 1
    hidden, more = local_suppression(frame, keys=["k0", "k1"], k=3, exact=False, hide_implied=True, seed=1)
    assert (more.n_changed, more.parameters["n_implied"]) == (2, 0)
    lost = [(row, other) for row, other in zip(ROWS, rows_of(hidden, ["k0", "k1"]), strict=True) if row != other]
    assert len({other for _, other in lost}) == 1
    assert len({row for row, _ in lost}) == 2
    first = rows_of(safe, ["k0", "k1"])
    assert all(b is None or a == b for x, y in zip(rows_of(hidden, ["k0", "k1"]), first, strict=True)
               for a, b in zip(x, y, strict=True) if a is not None)  # fmt: skip


def test_the_company_is_drawn():
    frame = frame_of(ROWS)
    chosen, seeds = set(), set()
    for seed in [*range(30), None, None]:
        safe, change = local_suppression(frame, keys=["k0", "k1"], k=3, exact=False, hide_implied=True, seed=seed)
        chosen.add(tuple(i for i, row in enumerate(rows_of(safe, ["k0", "k1"])) if None in row))
        seeds.add(change.secret["seed"])
    assert len(seeds) == 32
    assert {len(one) for one in chosen} == {2}
    assert len(chosen) == 6  # any of the records that it could be
    one, two = (
        local_suppression(frame, keys=["k0", "k1"], k=3, hide_implied=True, seed=change.secret["seed"]).data
        for _ in range(2)
    )
    assert one.equals(two)


@settings(max_examples=150)
@given(
    st.integers(2, 4).flatmap(lambda p: st.lists(st.tuples(*[st.integers(0, 2)] * p), min_size=8, max_size=20)),
    st.integers(2, 4), st.sampled_from([1.0, 0.5, 0.0]), st.integers(0, 99),
)  # fmt: skip
def test_k_holds_and_what_still_follows_is_told(rows, k, alpha, seed):
    frame = frame_of(rows)
    keys = frame.columns
    plain = local_suppression(frame, keys=keys, k=k, alpha=alpha, exact=False)
    safe, change = local_suppression(frame, keys=keys, k=k, alpha=alpha, exact=False, hide_implied=True, seed=seed)
    released = rows_of(safe, keys)
    assert min(decoys_frequencies(released, alpha)) >= k - 1e-9
    assert change.n_changed >= plain.change.n_changed
    told = ((tuple(range(len(keys))), k),)
    certain, lost = by_hand(rows, released, told, alpha)
    assert (change.parameters["n_implied"], change.n_changed) == (len(certain), lost)
    if plain.change.parameters["n_implied"] == 0:
        assert safe.equals(plain.data)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_follows_in_files_of_some_size(seed):
    rows = draw_rows(seed, 400, (3, 4, 6, 5))
    frame = frame_of(rows)
    change = local_suppression(frame, keys=frame.columns, k=4, exact=False).change
    hidden = local_suppression(frame, keys=frame.columns, k=4, exact=False, hide_implied=True, seed=seed).change
    assert hidden.parameters["n_implied"] == 0
    assert change.n_changed <= hidden.n_changed <= change.n_changed + 4 * change.parameters["n_implied"]


def test_records_of_one_household_keep_what_goes_together():
    rng = np.random.default_rng(2)
    home = np.repeat(np.arange(100), 3)
    people = pl.DataFrame(
        {"home": home, "region": rng.choice(5, 100)[home], "age": rng.integers(0, 6, 300), "job": rng.choice(4, 300)}
    )
    keys = ["region", "age", "job"]
    safe, change = local_suppression(people, keys=keys, k=3, household="home", hide_implied=True, seed=1)
    assert change.parameters["n_implied"] == 0
    assert "go together" in change.notes["n_implied"]
    lost = safe.group_by("home").agg(pl.col("region").is_null().mean())
    assert set(lost["region"]) <= {0.0, 1.0}


@pytest.mark.parametrize("hide", [False, True])
def test_numbers_may_be_far_apart(hide):
    """Codes of whole numbers are their distances from the least; a table of them would not fit into memory."""
    near = pl.DataFrame({"a": [0, 0, 0, 1, 1, 1, 2, 2], "b": [0, 0, 1, 0, 1, 1, 1, 2]})
    far = near.select(pl.all() * 1_600_000_000)
    done = [local_suppression(data, keys=["a", "b"], k=2, hide_implied=hide, seed=1) for data in (near, far)]
    assert (done[0].data * 1_600_000_000).equals(done[1].data)
    assert done[0].change.parameters["n_implied"] == done[1].change.parameters["n_implied"]
    assert done[1].data.null_count().sum_horizontal().item() > 0


def test_what_cannot_be_hidden_is_told():
    rows = [(0,), (0,), (0,), (1,)]
    file = working(rows)
    file.gone[0, 3] = True
    requests = (((0,), 2),)
    assert implied(file, requests, [0]).sum() == 1  # ty: ignore
    found = hide_implied(file, requests, [], np.random.default_rng(1), lambda: None)
    assert found is not None
    assert found.sum() == 0  # keys that go together are not looked at
    found = hide_implied(file, requests, [0], np.random.default_rng(1), lambda: None)
    assert found is not None
    assert (found.sum(), file.gone.sum()) == (0, 2)
