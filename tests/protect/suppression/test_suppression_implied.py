"""Which suppressed values follow: the kernel against putting back every value, one by one."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given, settings, strategies as st

import brute
from protect.suppression_files import frame_of, rows_of, working
from sdckit import local_suppression
from sdckit.protect.suppression import suppression_implied
from sdckit.protect.suppression.suppression_implied import implied


def frequencies(rows, keys, alpha, strata):
    """What each record counts, within its stratum."""
    found = [0.0] * len(rows)
    for stratum in set(strata):
        own = [i for i, other in enumerate(strata) if other == stratum]
        some = [tuple(rows[i][j] for j in keys) for i in own]
        for i, f in zip(
            own, brute.frequencies(some, [1.0] * len(own), [True] * len(keys), alpha)[0], strict=True
        ):
            found[i] = f
    return found


def left(safe, r, j, requests, alpha, strata):
    """Levels of a key that could not have been given back to a record: it, or one that loses by it, is below k."""
    found = set()
    for v in {row[j] for row in safe} - {None}:
        back = [
            tuple(v if (i, m) == (r, j) else value for m, value in enumerate(row))
            for i, row in enumerate(safe)
        ]
        for keys, k in requests:
            before, now = (frequencies(rows, keys, alpha, strata) for rows in (safe, back))
            hurt = [i for i, (a, b) in enumerate(zip(before, now, strict=True)) if i == r or b < a - 1e-9]
            if j in keys and any(now[i] < k - 1e-9 for i in hurt):
                found.add(v)
    return found


def by_hand(rows, safe, requests, alpha=1.0, strata=None):
    """The definition, read aloud: which values follow."""
    strata = [0] * len(rows) if strata is None else strata
    p = len(rows[0])
    right = {}
    for r, (row, other) in enumerate(zip(rows, safe, strict=True)):
        for j in range(p):
            if row[j] is None or other[j] is not None:
                continue
            seen = {one[j] for one in safe} - {None}
            vanished = {one[j] for one in rows} - {None} - seen
            found = left(safe, r, j, requests, alpha, strata)
            right[r, j] = found == {row[j]} or (not found and vanished == {row[j]})
    certain = set()
    for r, j in right:
        like = [
            i for i in range(len(safe)) if (safe[i], strata[i]) == (safe[r], strata[r]) and (i, j) in right
        ]
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
        tuple(None if out else value for value, out in zip(*one, strict=True))
        for one in zip(rows, drop, strict=True)
    ]
    strata = data.draw(
        st.one_of(st.none(), st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)))
    )
    requests = [(tuple(range(p)), data.draw(st.integers(1, 4)))]
    if p > 1:
        requests.append(((0, p - 1), data.draw(st.integers(1, 4))))
    assert by_kernel(rows, safe, requests, alpha, strata) == by_hand(rows, safe, requests, alpha, strata)[0]


def test_keys_that_fit_into_no_word_are_counted_by_tables():
    rng = np.random.default_rng(3)
    rows = [
        tuple(row) for row in np.where(rng.random((60, 40)) < 0.03, rng.integers(1, 9, (60, 40)), 0).tolist()
    ]
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
