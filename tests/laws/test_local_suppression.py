"""Laws of local suppression on small files of any shape."""

from __future__ import annotations

from itertools import combinations

import polars as pl
from hypothesis import example, given, strategies as st

from protect.suppression_files import fewest, frame_of, frequencies, rows_of
from sdckit import local_suppression

ALPHAS = (0.0, 0.5, 1.0)


@st.composite
def files(draw, most=20, n_keys=4, scales=(1, 1 << 30)):
    n, p = draw(st.integers(3, most)), draw(st.integers(1, n_keys))
    value = st.integers(0, draw(st.integers(1, 5)))
    cell = st.one_of(value, value, value, st.none()) if draw(st.booleans()) else value
    scale = draw(st.sampled_from(scales))
    rows = draw(st.lists(st.tuples(*[cell] * p), min_size=n, max_size=n))
    rows[0] = tuple(0 if one is None else one for one in rows[0])  # no key without a value
    return [tuple(None if one is None else one * scale for one in row) for row in rows]


def part(rows, at):
    return [tuple(row[j] for j in at) for row in rows]


@given(files(), st.integers(2, 5), st.sampled_from(ALPHAS))
@example([(0, 0), (0, None), (1, None), (None, 0)], 4, 1.0)  # the second must lose all keys, and counts for nobody then
def test_k_holds_and_only_records_at_risk_lose_values(rows, k, alpha):
    k = min(k, len(rows))
    frame = frame_of(rows)
    safe, change = local_suppression(frame, keys=frame.columns, k=k, alpha=alpha, exact=False)
    left = rows_of(safe, frame.columns)
    assert min(frequencies(left, alpha)) >= k - 1e-9
    assert safe.schema == frame.schema
    lost, nobody = 0, (None,) * len(rows[0])
    emptied = any(new == nobody != old for old, new in zip(rows, left, strict=True))
    for old, new, f in zip(rows, left, frequencies(rows, alpha), strict=True):
        assert all(b is None or a == b for a, b in zip(old, new, strict=True))
        lost += sum(a is not None and b is None for a, b in zip(old, new, strict=True))
        assert alpha < 1 or f < k or old == new or emptied
    assert lost == change.n_changed
    assert change.parameters["lower_bound"] <= lost


@given(files(most=5, n_keys=3, scales=(1,)), st.integers(2, 3))
def test_no_result_is_below_the_fewest_and_no_bound_above(rows, k):
    frame = frame_of(rows)
    change = local_suppression(frame, keys=frame.columns, k=k, exact=False).change
    best = fewest(rows, k)
    assert change.parameters["lower_bound"] <= change.n_changed
    if best is not None:
        assert change.parameters["lower_bound"] <= best <= change.n_changed


@given(files(n_keys=3), st.integers(2, 4), st.integers(1, 3), st.data())
def test_every_set_of_keys_reaches_its_k_in_every_stratum(rows, k, size, data):
    size, p = min(size, len(rows[0])), len(rows[0])
    half = len(rows) // 2
    k = max(2, min(k, half))
    strata = data.draw(st.permutations([0] * half + [1] * (len(rows) - half))) if half >= k else [0] * len(rows)
    frame = frame_of(rows)
    keys = frame.columns
    importance = data.draw(st.one_of(st.none(), st.permutations(keys)))
    safe = local_suppression(
        frame.with_columns(s=pl.Series(strata)), keys=keys, combinations={size: k}, strata="s",
        importance=importance,
    ).data  # fmt: skip
    for one in (0, 1):
        inside = rows_of(safe.filter(pl.col("s") == one), keys)
        for at in combinations(range(p), size):
            assert not inside or min(frequencies(part(inside, at))) >= k


@given(files(), st.integers(2, 4))
def test_again_there_is_nothing_to_do(rows, k):
    k = min(k, len(rows))
    frame = frame_of(rows)
    once = local_suppression(frame, keys=frame.columns, k=k, exact=False)
    keys = [name for name in frame.columns if once.data[name].null_count() < len(rows)]
    if keys == frame.columns:
        assert local_suppression(once.data, keys=keys, k=k).change.n_changed == 0
    assert local_suppression(frame, keys=frame.columns, k=k, exact=False).data.equals(once.data)
