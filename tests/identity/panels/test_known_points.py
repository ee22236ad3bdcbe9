"""Known points against plain enumeration, the worked examples, and what the result says."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from sdckit import household_structure, key_frequencies, known_points
from sdckit.errors import DataError
from sdckit.identity.panels import event_index

WHO = {"person": "who", "time": "t"}


def rows(**waves):
    """A panel with one key, `a`: a text for each person, a letter for each wave, "-" for no row, "?" for missing."""
    listed = [(who, t, None if x == "?" else x) for who, text in waves.items() for t, x in enumerate(text) if x != "-"]
    return pl.DataFrame(listed, schema={"who": pl.String, "t": pl.Int64, "a": pl.String}, orient="row")


def enumerated(frame, released, keys, points, *, wild, timed=True, also=()):
    """Of each person with so many points: candidates of every subset, and whether the person is one of them."""

    def told(data):
        people = {}
        for row in data.iter_rows(named=True):
            known = tuple(row[key] for key in (*keys, *also))
            people.setdefault(row["who"], {})[row["t"]] = known
        return people

    def matches(x, y):
        return all(a == b or (wild and (a is None or b is None)) for a, b in zip(x, y, strict=True))

    mine, theirs = told(frame), told(released)
    out = {}
    for who, own in mine.items():
        sets = [
            {o for o, other in theirs.items() if all(t in other and matches(own[t], other[t]) for t in subset)}
            for subset in combinations(sorted(own), points)
        ]
        if sets:
            out[who] = sets
    return out


def held(result, points, sets):
    """The figures and the records are those of the enumerated candidates."""
    known = result.of_points(points)
    flat = [candidates for of_person in sets.values() for candidates in of_person]
    assert known.n_subsets == len(flat)
    assert known.n_persons == len(sets)
    if not flat:
        assert np.isnan(known.alone)
        return
    assert known.n_alone == sum(len(candidates) == 1 for candidates in flat)

    def mean(figure):
        shares = {who: np.mean([figure(who, c) for c in of_person]) for who, of_person in sets.items()}
        records = result.records.filter(pl.col("who").is_in(list(shares)))
        return shares, records

    figures = {
        "alone": lambda _, c: len(c) == 1,
        "expected": lambda _, c: 1 / len(c) if c else 0.0,
        "below_k": lambda _, c: 0 < len(c) < result.k,
    }
    if not np.isnan(known.success):
        figures["alone_right"] = lambda who, c: c == {who}
        figures["success"] = lambda who, c: 1 / len(c) if who in c else 0.0
        figures["lost"] = lambda who, c: who not in c
    for name, figure in figures.items():
        shares, records = mean(figure)
        assert getattr(known, name) == pytest.approx(np.mean(list(shares.values())), abs=1e-12), name
        own = dict(zip(records["who"].to_list(), records[f"{name}_{points}"].to_list(), strict=True))
        assert own == pytest.approx(shares, abs=1e-12), name


def events(frame, points, *, wild=False, days=None, timed=True):
    """As `enumerated`, of any rows: known sets of rows, each candidate with a matching row for each."""
    people = {}
    for row in frame.iter_rows(named=True):
        people.setdefault(row["who"], []).append((row["t"] if timed else 0, row["a"]))
    if timed:
        people = {who: sorted(set(own), key=str) for who, own in people.items()}

    def matches(x, y):
        (t, a), (u, b) = x, y
        return abs(t - u) <= (days or 0) and (a == b or (wild and (a is None or b is None)))

    def fits(known, other):
        if timed:
            return all(any(matches(x, y) for y in other) for x in known)
        return any(
            all(matches(x, y) for x, y in zip(known, order, strict=True)) for order in permutations(other, len(known))
        )

    out = {}
    for who, own in people.items():
        if sets := [{o for o, other in people.items() if fits(known, other)} for known in combinations(own, points)]:
            out[who] = sets
    return out


letters = st.sampled_from("abb?-")
panels = st.lists(st.lists(letters, min_size=3, max_size=4).map("".join), min_size=1, max_size=7).map(
    lambda texts: {f"p{i}": text for i, text in enumerate(texts)}
)


def two_keys(frame, rng):
    """A second key beside the first, with missing values."""
    return frame.with_columns(b=pl.Series(rng.choice(["x", "y", None], len(frame)).tolist(), dtype=pl.String))


@settings(max_examples=100)
@given(panels, st.integers(0, 9), st.booleans())
def test_panels_are_as_enumerated(waves, seed, wild):
    frame = two_keys(rows(**waves), np.random.default_rng(seed))
    if frame["a"].is_null().all() or frame["b"].is_null().all():
        return
    rule = "wildcard" if wild else "category"
    result = known_points(frame, **WHO, keys=["a", "b"], missing=rule, points=(1, 2, 3))
    for points in (1, 2, 3):
        held(result, points, enumerated(frame, frame, ["a", "b"], points, wild=wild))


@given(panels, st.integers(0, 9), st.booleans())
def test_releases_are_as_enumerated(waves, seed, wild):
    rng = np.random.default_rng(seed)
    frame = two_keys(rows(**waves), rng)
    released = two_keys(frame.drop("b"), rng).with_columns(
        a=pl.Series(rng.permutation(frame["a"].to_list()).tolist(), dtype=pl.String)
    )
    kept = released.filter(pl.Series((rng.random(len(frame)) < 0.8).tolist(), dtype=pl.Boolean))
    if not len(kept) or any(frame[key].is_null().all() for key in "ab"):
        return
    rule = "wildcard" if wild else "category"
    result = known_points(frame, kept, **WHO, keys=["a", "b"], missing=rule, points=(1, 2))
    for points in (1, 2):
        held(result, points, enumerated(frame, kept, ["a", "b"], points, wild=wild))


def test_the_worked_examples():
    panel = rows(A="ab", B="ac", C="a-")
    result = known_points(panel, **WHO, keys=["a"], points=2)
    assert (result.n_alone, result.n_subsets, result.n_persons) == (2, 2, 3)


def test_one_row_each_are_the_sample_uniques():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"who": range(200), "a": rng.integers(0, 9, 200), "b": rng.integers(0, 9, 200)})
    result = known_points(frame, person="who", keys=["a", "b"], points=1)
    assert result.n_alone == key_frequencies(frame, keys=["a", "b"]).sample_uniques


@given(panels, st.integers(0, 30), st.sampled_from("ab"))
def test_a_suppressed_value_makes_no_other_alone(waves, at, key):
    frame = two_keys(rows(**waves), np.random.default_rng(at))
    if not len(frame):
        return
    at %= len(frame)
    hidden = frame.with_columns(pl.when(pl.int_range(len(frame)) != at).then(pl.col(key)).alias(key))
    if any(hidden[name].is_null().all() for name in "ab"):
        return
    before, after = (known_points(data, **WHO, keys=["a", "b"], points=(1, 2)).records for data in (frame, hidden))
    others = pl.col("who") != frame["who"][at]
    for name in ("alone_1", "alone_2"):
        left, right = (records.filter(others)[name].fill_nan(0).to_numpy() for records in (before, after))
        assert (right <= left + 1e-12).all()


def test_more_points_of_a_person_single_out_no_less():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"who": np.repeat(range(60), 5), "t": list(range(5)) * 60, "a": rng.integers(0, 4, 300)})
    records = known_points(frame, **WHO, keys=["a"], points=(1, 2, 3, 4, 5)).records
    shares = records.select(f"alone_{p}" for p in range(1, 6)).to_numpy()
    assert (np.diff(shares, axis=1) >= -1e-12).all()


visits = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.sampled_from(["x", "y", None])), min_size=1, max_size=14
).filter(lambda listed: any(a for *_, a in listed))


@settings(max_examples=100)
@given(visits, st.booleans(), st.sampled_from([None, 1, 2]), st.booleans())
def test_events_are_as_enumerated(listed, wild, days, timed):
    frame = pl.DataFrame(listed, schema={"who": pl.Int64, "t": pl.Int64, "a": pl.String}, orient="row")
    given_ = {"time": "t", "tolerance": None if days is None else {"t": days}} if timed else {}
    rule = "wildcard" if wild else "category"
    result = known_points(frame, person="who", keys=["a"], missing=rule, points=(1, 2, 3), **given_)
    for points in (1, 2, 3):
        held(result, points, events(frame, points, wild=wild, days=days, timed=timed))
    assert len(event_index._search.signatures) <= 1  # compiled once, also for a single person


def test_a_multiset_needs_a_row_for_each():
    frame = pl.DataFrame({"who": list("AABBCC"), "a": list("xyxzyz")})
    result = known_points(frame, person="who", keys=["a"])
    one, two, three = result.curve
    assert (one.alone, one.expected, two.alone, three.n_persons) == (0, 0.5, 1, 0)
    twice = pl.DataFrame({"who": list("AABB"), "a": list("xxxy")})
    assert known_points(twice, person="who", keys=["a"], points=2).records["alone_2"].to_list() == [1, 1]


def test_members_are_known_as_households_are():
    rng = np.random.default_rng(2)
    people = pl.DataFrame(
        {"home": np.repeat(range(80), 3), "sex": rng.choice(["f", "m"], 240), "age": rng.integers(0, 4, 240)}
    )
    structure = household_structure(people, household="home", keys=["sex", "age"])
    members = known_points(people, person="home", keys=["sex", "age"], points=3)
    assert members.n_alone == structure.unique_compositions > 0


def test_children_are_the_same_rows_with_what_the_parents_tell():
    rng = np.random.default_rng(4)
    parents = pl.DataFrame({"who": range(50), "sex": rng.choice(["f", "m"], 50)})
    rows_ = pl.DataFrame(
        {"who": rng.integers(0, 50, 200), "day": rng.integers(0, 20, 200), "a": rng.integers(0, 3, 200)}
    )
    call = {"person": "who", "time": "day", "keys": ["a"], "also_known": ["sex"]}
    joined = rows_.join(parents, on="who")
    expected = known_points(joined, **call)
    result = known_points(parents, children=rows_, **call)
    assert repr(result.curve) == repr(expected.curve)  # no NaN is equal to another
    assert result.n_persons == 50
    pair = known_points(parents, parents, children=[rows_, rows_], **call)
    assert repr(pair.original) == repr(tuple(expected.curve))
    assert [known.alone for known in pair.curve] == [known.alone for known in expected.curve]
    with pytest.raises(DataError, match="of nobody in the other file"):
        known_points(parents[:40], children=rows_, **call)


def test_no_number_of_known_points_is_refused():
    with pytest.raises(DataError, match="give one at least"):
        known_points(pl.DataFrame({"who": [1, 1], "a": [1, 2]}), person="who", keys=["a"], points=())


def test_drawn_subsets_are_near_all_of_them_and_the_same_again():
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {"who": rng.integers(0, 300, 6000), "day": rng.integers(0, 90, 6000), "a": rng.integers(0, 9, 6000)}
    )
    call = {"person": "who", "time": "day", "keys": ["a"], "points": 2}
    every = known_points(frame, **call, most_subsets=10_000)
    drawn = known_points(frame, **call, most_subsets=20, most_persons=150, seed=1)
    known, whole = drawn.curve[0], every.curve[0]
    assert (whole.standard_error, known.n_persons, known.n_subsets) == (0, 150, 3000)
    assert 0 < known.standard_error < 0.02
    assert abs(known.alone - whole.alone) < 5 * known.standard_error
    again = known_points(
        frame.sample(fraction=1, shuffle=True, seed=3), **call, most_subsets=20, most_persons=150, seed=1
    )
    assert repr(again.curve) == repr(drawn.curve)  # no NaN is equal to another


def test_more_waves_than_subsets_asked_for():
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"who": np.repeat(range(200), 12), "t": list(range(12)) * 200, "a": rng.integers(0, 4, 2400)})
    every, drawn = (known_points(frame, **WHO, keys=["a"], points=3, most_subsets=most, seed=2) for most in (500, 60))
    assert every.curve[0].standard_error == 0
    assert drawn.curve[0].standard_error > 0
    assert abs(every.alone - drawn.alone) < 5 * drawn.curve[0].standard_error
