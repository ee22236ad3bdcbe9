"""B1: agreement with the definition record by record, and what must hold whatever the files."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit import matching_risk

NUMBERS = st.sampled_from([-20.0, -11.0, -10.0, -9.0, -1.0, 0.0, 0.5, 1.0, 9.0, 10.0, 11.0, 12.0, 20.0])


@st.composite
def pairs(draw, *, missing=True, max_numeric=4):
    """An original and its releases, with categories and numbers that often agree."""
    n, m = draw(st.integers(1, 16)), draw(st.integers(1, 2))
    n_categories = draw(st.integers(0, 2))
    n_numeric = draw(st.integers(0 if n_categories else 1, max_numeric))
    category = st.one_of(st.integers(0, 1), st.none()) if missing else st.integers(0, 1)
    number = st.one_of(NUMBERS, NUMBERS, st.none()) if missing else NUMBERS
    shape = {f"c{j}": category for j in range(n_categories)} | {f"x{j}": number for j in range(n_numeric)}
    files = []
    for _ in range(m + 1):
        columns = {name: draw(st.lists(value, min_size=n, max_size=n)) for name, value in shape.items()}
        for name, values in columns.items():  # a number needs a value somewhere
            if name[0] == "x" and all(value is None for value in values):
                columns[name] = [1.0, *values[1:]]
        files.append(columns)
    return files


def frame(columns):
    return pl.DataFrame(columns, schema={name: pl.Int64 if name[0] == "c" else pl.Float64 for name in columns})


def agree(x, y, rule, width, relative, tol, bounds, around):
    """Whether an original and a released value match."""
    if x is None or y is None:
        return rule == "wildcard" or (x is None and y is None)
    if width is None:
        return x == y
    centre, other = (x, y) if around == "original" else (y, x)
    if bounds == "closed":
        half = width * abs(centre) if relative else width
        return centre - half - tol <= other <= centre + half + tol
    half = width * centre if relative else width
    return centre - half + tol < other < centre + half - tol


@st.composite
def options(draw, names):
    numbers = [name for name in names if name[0] == "x"]
    made = [name for name in numbers if draw(st.booleans())]
    width = {name: draw(st.sampled_from([0.0, 0.1, 0.5, 1.0, 1.5])) for name in made}
    return {
        "known": [name for name in names if name not in made],
        "synthetic": made,
        "numeric": numbers,
        "width": width,
        "relative": {name: draw(st.booleans()) for name in made},
        "tol": draw(st.sampled_from([0.0, 1e-9])),
        "bounds": draw(st.sampled_from(["closed", "open"])),
        "around": draw(st.sampled_from(["original", "released"])),
        "missing": {name: draw(st.sampled_from(["category", "wildcard"])) for name in names},
    }


def definition(files, chosen):
    """Matches and whether the right one is among them, for each release and target."""
    names, (original, *releases) = list(files[0]), files
    rules = [
        (
            chosen["missing"][name], chosen["width"].get(name), chosen["relative"].get(name), chosen["tol"],
            chosen["bounds"], chosen["around"],
        )
        for name in names
    ]  # fmt: skip
    rows = [list(zip(*(one[name] for name in names), strict=True)) for one in (original, *releases)]
    found = []
    for release in rows[1:]:
        hits = [
            [all(agree(x, y, *rule) for x, y, rule in zip(a, b, rules, strict=True)) for b in release] for a in rows[0]
        ]
        found.append([(sum(hit), hit[i]) for i, hit in enumerate(hits)])
    return found


@given(st.data())
def test_agrees_with_the_definition(data):
    files = data.draw(pairs())
    chosen = data.draw(options(list(files[0])))
    result = matching_risk(frame(files[0]), [frame(one) for one in files[1:]], **chosen)
    expected = definition(files, chosen)
    records = result.records_by_release
    flat = [pair for release in expected for pair in release]
    assert list(zip(records["match_count"], records["true_match"], strict=True)) == flat
    n = result.n
    sums = [sum(true / count for count, true in release if count) for release in expected]
    assert result.expected_match_risk == pytest.approx(np.mean(sums), abs=1e-12)
    assert result.mean_match_risk == pytest.approx(np.mean(sums) / n, abs=1e-12)
    unique = [[true for count, true in release if count == 1] for release in expected]
    assert result.unique_matches == np.mean([len(one) for one in unique])
    assert result.true_match_rate == pytest.approx(np.mean([sum(one) / n for one in unique]))
    false = [1 - sum(one) / len(one) for one in unique if one]
    assert result.false_match_rate == pytest.approx(np.mean(false) if false else math.nan, nan_ok=True, abs=1e-12)
    assert ("false_match_rate" in result.notes) == (len(false) < len(unique))


@given(st.data())
def test_some_targets_are_found_as_among_all(data):
    files = data.draw(pairs())
    n = len(next(iter(files[0].values())))
    rows = data.draw(st.lists(st.integers(1, n), min_size=1, max_size=n, unique=True))
    chosen = data.draw(options(list(files[0])))
    both = [frame(files[0]), [frame(one) for one in files[1:]]]
    everybody, some = matching_risk(*both, **chosen), matching_risk(*both, rows=rows, **chosen)
    assert some.records.equals(everybody.records[[row - 1 for row in rows]])


@given(pairs(missing=False), st.booleans(), st.sampled_from(["original", "released"]))
def test_no_width_and_closed_bounds_is_equality(files, relative, around):
    numbers = [name for name in files[0] if name[0] == "x"]
    others = [name for name in files[0] if name[0] == "c"]
    both = [frame(files[0]), [frame(one) for one in files[1:]]]
    options = {"known": others, "synthetic": numbers}
    exact = matching_risk(*both, **options, numeric=[])
    interval = matching_risk(*both, **options, numeric=numbers, width=0, relative=relative, around=around)
    assert exact.records.equals(interval.records)


@given(st.data())
def test_a_wider_interval_never_matches_less(data):
    files = data.draw(pairs(missing=False))
    chosen = data.draw(options(list(files[0])))
    if chosen["bounds"] == "open":  # the open interval of a negative number is empty, whatever its width
        files = [{name: list(map(abs, values)) for name, values in one.items()} for one in files]
    both = [frame(files[0]), [frame(one) for one in files[1:]]]
    wider = {**chosen, "width": {name: width + 0.25 for name, width in chosen["width"].items()}}
    narrow, wide = (matching_risk(*both, **one).records["match_count"] for one in (chosen, wider))
    assert (narrow <= wide).all()


@given(pairs())
def test_a_file_matched_with_itself(files):
    names = list(files[0])
    n = len(files[0][names[0]])
    original = frame(files[0]).with_columns(key=pl.Series(range(n)))
    result = matching_risk(original, original, known=["key", *names])
    assert (result.expected_match_risk, result.true_match_rate, result.false_match_rate) == (n, 1.0, 0.0)
    assert "original's values" in result.notes["released"]


@given(pairs(missing=False), st.data())
def test_by_chance_is_the_mean_over_all_ways_to_deal_out_the_rows(files, data):
    """Released rows alike in what is known, dealt out to the people alike in it: all orders, one by one."""
    original, released = (frame({name: one[:4] for name, one in file.items()}) for file in files[:2])
    names = original.columns
    made = [name for name in names if name[0] == "x"]
    known = [name for name in names if name not in made]
    released = released.with_columns(original[name] for name in known)
    chosen = {
        "known": known, "synthetic": made, "numeric": made,
        "width": dict.fromkeys(made, data.draw(st.sampled_from([0.0, 0.5, 1.5]))),
    }  # fmt: skip
    result = matching_risk(original, released, **chosen)
    alike = original.select(known).rows() or [()] * original.height
    orders = [
        order
        for order in permutations(range(original.height))
        if all(alike[i] == alike[j] for i, j in enumerate(order))
    ]
    dealt = [matching_risk(original, released[list(order)], **chosen).expected_match_risk for order in orders]
    assert result.expected_by_chance == pytest.approx(np.mean(dealt))
    assert result.baseline == pytest.approx(result.expected_by_chance / original.height)
