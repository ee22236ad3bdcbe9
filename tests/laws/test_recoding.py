"""E1, E2: what must hold whatever the file: the definition record by record, and nothing else touched."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit import drop_identifiers, new_ids, recode, round_to, top_bottom_code
from sdckit.errors import DataError

NUMBERS = st.lists(st.one_of(st.integers(-30, 30), st.none()), min_size=1, max_size=20)
LETTERS = st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=20)
KEY = bytes(range(16))


def frame(values, dtype):
    rows = len(values)
    return pl.DataFrame({"before": range(rows), "x": pl.Series(values, dtype=dtype), "after": ["z"] * rows})


def rest_untouched(data, protected):
    """The other columns, their types and the order are as they were; the count of changes is right."""
    safe, change = protected
    assert safe.drop("x").equals(data.drop("x"))
    assert safe.columns == data.columns
    assert change.n == data.height
    return safe["x"].to_list()


@given(NUMBERS, st.lists(st.integers(-31, 31), min_size=2, max_size=6, unique=True), st.booleans())
def test_bands(values, cuts, right):
    data, edges = frame(values, pl.Int64), sorted(cuts)
    closed = "right" if right else "left"
    found = recode(data, column="x", bands=edges, closed=closed, outside="missing")
    new = rest_untouched(data, found)
    labels = found.data.schema["x"].categories.to_list()
    outside, places = 0, []
    for old in values:
        place = None
        for i, (low, high) in enumerate(pairwise(edges)):
            if old is None:
                continue
            inside = low < old <= high if right else low <= old < high
            if inside or old == low == edges[0] or old == high == edges[-1]:
                place = i
        places.append(place)
        outside += old is not None and place is None
    used = sorted({place for place in places if place is not None})  # a band of nobody is no category
    label_of = dict(zip(used, labels, strict=True))
    assert new == [label_of.get(place) for place in places]
    if outside:
        assert sum(found.change.secret["outside"].values()) == outside
        with pytest.raises(DataError, match=rf"{outside} records? ha(s|ve) a value in no band"):
            recode(data, column="x", bands=edges, closed=closed)
    for place, label in label_of.items():
        low, high = edges[place : place + 2]
        first, last = label.split(" to ") if " to " in label else ("", "")
        if first:  # the ends that a label names are in its band
            assert low <= int(first) <= int(last) <= high


@given(NUMBERS, st.integers(2, 6), st.sampled_from(["equal_width", "equal_frequency"]))
def test_bands_cut_from_the_data_hold_every_value_and_keep_the_order(values, n, method):
    data = frame(values, pl.Int64)
    if len({value for value in values if value is not None}) < 2:
        with pytest.raises(DataError, match="bands: "):
            recode(data, column="x", bands=n, how=method)
        return
    found = recode(data, column="x", bands=n, how=method)
    new = rest_untouched(data, found)
    labels = found.data.schema["x"].categories.to_list()
    assert [label is None for label in new] == [value is None for value in values]
    known = sorted((value, labels.index(label)) for value, label in zip(values, new, strict=True) if label)
    assert [place for _, place in known] == sorted(place for _, place in known)
    assert len(labels) <= n


@given(LETTERS, st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["u", "v", "a"]), min_size=1))
def test_groups(values, new_of):
    data = frame(values, pl.String)
    groups = {new: [old for old, to in new_of.items() if to == new] for new in new_of.values()}
    found = recode(data, column="x", groups=groups, outside="keep")
    new = rest_untouched(data, found)
    assert new == [new_of.get(value, value) for value in values]
    assert found.data.schema == data.schema
    assert found.change.n_changed == sum(a != b for a, b in zip(values, new, strict=True))
    hierarchy = recode(data, column="x", hierarchy=new_of, outside="keep")
    assert hierarchy.data.equals(found.data)


@given(NUMBERS, st.integers(-30, 30), st.integers(0, 30))
def test_top_and_bottom_codes(values, bottom, more):
    data, top = frame(values, pl.Int64), bottom + more
    found = top_bottom_code(data, column="x", top=top, bottom=bottom)
    new = rest_untouched(data, found)
    assert new == [None if value is None else min(max(value, bottom), top) for value in values]
    assert found.change.n_changed == sum(a != b for a, b in zip(values, new, strict=True))
    assert top_bottom_code(found.data, column="x", top=top, bottom=bottom).data.equals(found.data)


@given(NUMBERS, st.integers(-30, 30))
def test_the_mean_of_those_beyond_keeps_the_total(values, top):
    data = frame(values, pl.Float64)
    if 0 < sum(value is not None and value > top for value in values) < 3:
        with pytest.raises(DataError, match="would give them away"):
            top_bottom_code(data, column="x", top=top, to="mean")
        return
    found = top_bottom_code(data, column="x", top=top, to="mean").data["x"].to_list()
    assert sum(x for x in found if x is not None) == pytest.approx(sum(x for x in values if x is not None))


@given(NUMBERS, st.integers(1, 12), st.sampled_from(["nearest", "down", "random"]), st.integers(0, 99))
def test_rounding(values, base, method, seed):
    data = frame(values, pl.Int64)
    found = round_to(data, column="x", base=base, how=method, seed=seed)
    new = rest_untouched(data, found)
    assert found.data.schema == data.schema
    for old, rounded in zip(values, new, strict=True):
        if old is None:
            assert rounded is None
            continue
        assert rounded % base == 0
        if method == "nearest":
            assert rounded == round(Fraction(old, base)) * base
        elif method == "down":
            assert rounded == math.floor(Fraction(old, base)) * base
        else:
            assert rounded in {math.floor(Fraction(old, base)) * base, math.ceil(Fraction(old, base)) * base}
    assert found.change.n_changed == sum(a != b for a, b in zip(values, new, strict=True))
    assert round_to(data, column="x", base=base, how=method, seed=seed).data.equals(found.data)


@given(NUMBERS, st.randoms())
def test_new_identifiers(values, random):
    data = frame([*values, 1], pl.Int64)
    found = new_ids(data, column="x", key=KEY)
    new = rest_untouched(data, found)
    pairs = {(old, one) for old, one in zip([*values, 1], new, strict=True)}
    assert len(pairs) == len({old for old, _ in pairs}) == len({one for _, one in pairs})
    assert (None, None) in pairs or None not in values
    rows = list(range(data.height))
    random.shuffle(rows)
    assert new_ids(data[rows], column="x", key=KEY).data["x"].to_list() == [new[row] for row in rows]
    floats = data.with_columns(pl.col("x").cast(pl.Float64))
    assert new_ids(floats, column="x", key=KEY).data.equals(found.data)
    other = new_ids(data, column="x", key=KEY[::-1]).data["x"].to_list()
    assert not {one for one in other if one} & {one for one in new if one}


@given(NUMBERS)
def test_dropped_identifiers(values):
    data = frame(values, pl.Int64)
    safe, change = drop_identifiers(data, columns="x")
    assert safe.equals(data.drop("x"))
    assert change.changed == {"x": sum(value is not None for value in values)}
