"""Uniques, CAP and attribute disclosure: agreement with the definitions record by record, and their order."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from sdckit import attribute_disclosure, attribute_disclosure_table, cap, identity_disclosure, replicated_uniques

KEYS = ("k0", "k1", "k2")
FEW = settings(max_examples=25)  # several measures of the same files, each tested by itself above
SHARES = ("disclosive_in_original", "keys_in_released", "disclosed", "correctly_disclosed", "disclosed_and_disclosive")


@dataclass(frozen=True)
class Files:
    """An original and its releases; records are (keys, target, number), None where missing."""

    original: list[tuple]
    releases: list[list[tuple]]

    def frames(self):
        return frame(self.original), [frame(rows) for rows in self.releases]


def frame(rows):
    columns = {name: [row[0][j] for row in rows] for j, name in enumerate(KEYS)}
    return pl.DataFrame(
        {**columns, "t": [row[1] for row in rows], "x": [row[2] for row in rows]},
        schema={**dict.fromkeys(KEYS, pl.Int64), "t": pl.String, "x": pl.Float64},
    )


KEY = st.one_of(st.integers(0, 2), st.integers(0, 2), st.none())
RECORD = st.tuples(
    st.tuples(KEY, KEY, KEY),
    st.one_of(st.sampled_from("abc"), st.none()),
    st.one_of(st.integers(-8, 8).map(lambda x: x / 2), st.integers(-8, 8).map(float), st.none()),
)


def rows(max_rows):
    # a number needs a value somewhere, and so do a key and a target
    first = RECORD.map(lambda row: ((0, 0, 0), "a", 0.0 if row[2] is None else row[2]))
    return st.tuples(first, st.lists(RECORD, max_size=max_rows - 1)).map(lambda parts: [parts[0], *parts[1]])


@st.composite
def files(draw, max_releases=2):
    m = draw(st.integers(1, max_releases))
    return Files(draw(rows(12)), [draw(rows(12)) for _ in range(m)])


def mean(values):
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def close(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True)


# --- uniques ------------------------------------------------------------------------------------------


@given(files())
def test_uniques(drawn):
    original, releases = drawn.frames()
    counts = Counter(row[0] for row in drawn.original)
    ident = identity_disclosure(original, releases, keys=KEYS)
    uniques = replicated_uniques(original, releases, keys=KEYS)
    alone = [row[0] for row in drawn.original if counts[row[0]] == 1]
    for j, release in enumerate(drawn.releases):
        there = Counter(row[0] for row in release)
        found, number = ident.per_release[j], uniques.per_release[j]
        n, n_s = len(drawn.original), len(release)
        assert found["unique_in_original"] == len(alone) / n
        assert found["unique_in_released"] == sum(there[row[0]] == 1 for row in release) / n_s
        assert found["unique_in_original_in_released"] == sum(there[key] > 0 for key in alone) / n
        assert found["replicated_uniques"] == sum(there[key] == 1 for key in alone) / n
        assert number["replicated"] == sum(there[key] == 1 for key in alone)
        assert number["released_uniques_in_original"] == sum(
            there[row[0]] == 1 and counts[row[0]] > 0 for row in release
        )
        dropped = [i for i, row in enumerate(release) if there[row[0]] == 1 and counts[row[0]] == 1]
        assert uniques.released_rows(release=j + 1).tolist() == dropped
        assert found["replicated_uniques"] <= found["unique_in_original_in_released"] <= found["unique_in_original"]
    records = ident.records
    assert records["unique_in_original"].to_list() == [counts[row[0]] == 1 for row in drawn.original]
    assert records["replicated_unique"].mean() == close(ident.replicated_uniques)
    assert records["unique_in_original_in_released"].mean() == close(ident.unique_in_original_in_released)
    assert uniques.records["replicated"].to_list() == records["replicated_unique"].to_list()


# --- attribution --------------------------------------------------------------------------------------


def nearest(record, release, radius):
    """The released records that differ in the fewest keys, none where that is more than the radius."""
    distance = [sum(a != b for a, b in zip(record[0], other[0], strict=True)) for other in release]
    least = min(distance)
    return [other for other, d in zip(release, distance, strict=True) if d == least] if least <= radius else []


def chance(record, others, right):
    return sum(right(record, other) for other in others) / len(others) if others else 0.0


def same_target(record, other):
    return record[1] == other[1]


def within(width, relative):
    def right(record, other):
        x, y = record[2], other[2]
        if x is None or y is None:
            return x is y
        return abs(y - x) <= (width * abs(x) if relative else width) + 1e-9

    return right


def check_cap(result, drawn, right, radius):
    n = len(drawn.original)
    itself = [chance(one, nearest(one, drawn.original, 0), right) for one in drawn.original]
    baseline = sum(chance(one, drawn.original, right) for one in drawn.original) / n
    caps, matched = [], []
    for j, release in enumerate(drawn.releases):
        found = [nearest(one, release, radius) for one in drawn.original]
        caps.append([chance(one, near, right) for one, near in zip(drawn.original, found, strict=True)])
        matched.append([bool(near) for near in found])
        one = result.per_release[j]
        average = sum(caps[-1]) / n
        some = [value for value, is_matched in zip(caps[-1], matched[-1], strict=True) if is_matched]
        assert one["average"] == close(average)
        assert one["average_matched"] == close(sum(some) / len(some) if some else math.nan)
        assert one["matched"] == close(len(some) / n)
        assert one["baseline"] == close(baseline)
        assert one["differential"] == close(average - baseline)
        assert one["original_average"] == close(sum(itself) / n)
    records = result.records
    assert records["cap_original"].to_list() == close(itself)
    assert records["cap"].to_list() == close([mean(column) for column in zip(*caps, strict=True)])
    assert records["matched"].to_list() == close([mean(column) for column in zip(*matched, strict=True)])
    assert result.average == close(records["cap"].mean())


@given(files(), st.integers(0, 3))
def test_cap(drawn, radius):
    result = cap(*drawn.frames(), keys=KEYS, target="t", radius=radius)
    check_cap(result, drawn, same_target, radius)


@given(files(), st.integers(0, 3), st.sampled_from([0.0, 0.25, 1.0]), st.booleans())
def test_cap_of_a_number(drawn, radius, width, relative):
    result = cap(*drawn.frames(), keys=KEYS, target="x", width=width, relative=relative, radius=radius)
    check_cap(result, drawn, within(width, relative), radius)
    assert math.isnan(result.tcap)


@given(files(), st.integers(0, 1), st.sampled_from([0.0, 0.5]))
def test_cap_of_several(drawn, radius, width):
    together = cap(*drawn.frames(), keys=KEYS, target=["x", "t"], width={"x": width}, radius=radius)
    number = within(width, True)
    check_cap(together, drawn, lambda a, b: same_target(a, b) and number(a, b), radius)
    equal = cap(*drawn.frames(), keys=KEYS, target=["x", "t"])
    check_cap(equal, drawn, lambda a, b: a[1:] == b[1:], 0)


@given(files(), st.sampled_from([0.3, 0.5, 0.6, 1.0]))
def test_tcap(drawn, tau):
    result = cap(*drawn.frames(), keys=KEYS, target="t", tau=tau)
    for one, release in zip(result.per_release, drawn.releases, strict=True):
        n_targeted, right = 0, 0.0
        for record in drawn.original:
            levels = Counter(other[1] for other in nearest(record, release, 0))
            most = max(levels.values(), default=0)
            if most and most / levels.total() >= tau - 1e-12:
                n_targeted += 1
                guesses = [level for level, count in levels.items() if count == most]
                right += (record[1] in guesses) / len(guesses)
        assert one["n_targeted"] == n_targeted
        assert one["tcap"] == close(right / n_targeted if n_targeted else math.nan)


@FEW
@given(files())
def test_a_larger_radius_finds_more_and_all_keys_find_everybody(drawn):
    shares = [cap(*drawn.frames(), keys=KEYS, target="t", radius=radius).matched for radius in range(4)]
    assert shares == sorted(shares)
    assert shares[-1] == 1


@FEW
@given(files(max_releases=1))
def test_the_original_as_its_own_release(drawn):
    original, _ = drawn.frames()
    result = cap(original, original, keys=KEYS, target="t", radius=2)
    assert result.average == result.average_matched == result.original_average >= result.baseline - 1e-12
    assert result.notes["released"] == "the release has the original's keys and target, row by row"
    whole = attribute_disclosure(original, original, keys=KEYS, target="t")
    assert whole.disclosed == whole.correctly_disclosed == whole.disclosed_and_disclosive
    assert whole.disclosed == whole.disclosive_in_original == whole.disclosive_in_released


# --- disclosure ---------------------------------------------------------------------------------------


def counted(record, left_out, of_cell):
    """Whether no exclusion takes a record out."""
    return not (
        record[1] in left_out["levels"]
        or (left_out["missing_target"] and record[1] is None)
        or any(record[0][j] is None for j in left_out["missing_keys"])
        or any(record[0][j] == key and record[1] == level for j, key, level in left_out["pairs"])
        or (left_out["max_cell"] is not None and of_cell[record[:2]] > left_out["max_cell"])
    )


def single(rows):
    """For each key its only target level, where there is only one."""
    levels = {}
    for key, level, _ in rows:
        levels.setdefault(key, set()).add(level)
    return {key: next(iter(found)) for key, found in levels.items() if len(found) == 1}


LEFT_OUT = st.fixed_dictionaries(
    {
        "levels": st.sampled_from([[], ["a"]]),
        "missing_target": st.booleans(),
        "missing_keys": st.sampled_from([[], [1], [0, 2]]),
        "pairs": st.sampled_from([[], [(0, 0, "a"), (2, None, "a")]]),
        "max_cell": st.sampled_from([None, None, 1, 2]),
    }
)


@given(files(), LEFT_OUT)
def test_disclosure(drawn, left_out):
    result = attribute_disclosure(
        *drawn.frames(), keys=KEYS, target="t", exclude_levels=left_out["levels"],
        exclude_missing_target=left_out["missing_target"],
        exclude_missing_keys=[KEYS[j] for j in left_out["missing_keys"]],
        exclude_pairs=[(KEYS[j], key, level) for j, key, level in left_out["pairs"]],
        max_cell=left_out["max_cell"],
    )  # fmt: skip
    n = len(drawn.original)
    cells = Counter(row[:2] for row in drawn.original)
    left = [row for row in drawn.original if counted(row, left_out, cells)]
    assert (result.n_counted, sum(result.excluded.values())) == (len(left), n - len(left))
    own = single(drawn.original)
    flags = []
    for one, release in zip(result.per_release, drawn.releases, strict=True):
        there, keys = single(release), {row[0] for row in release}
        of_cell = Counter(row[:2] for row in release)
        left_there = [row for row in release if counted(row, left_out, of_cell)]
        right = [key in there and there[key] == level for key, level, _ in left]
        expected = {
            "disclosive_in_original": [key in own for key, _, _ in left],
            "keys_in_released": [key in keys for key, _, _ in left],
            "disclosed": [key in there for key, _, _ in left],
            "correctly_disclosed": right,
            "disclosed_and_disclosive": [
                is_right and key in own for is_right, (key, _, _) in zip(right, left, strict=True)
            ],
        }
        flags.append(expected)
        for name, hits in expected.items():
            assert one[name] == close(sum(hits) / n), name
        assert one["disclosive_in_released"] == close(sum(key in there for key, _, _ in left_there) / len(release))
        shared = [row for row in left if any(row[0] == other[0] for other in left_there)]
        assert one["tcap_of_keys_in_released"] == close(sum(right) / len(shared) if shared else math.nan)
        assert one["average"] == close(
            sum(chance(row, nearest(row, left_there, 0), same_target) for row in left) / n if left_there else 0.0
        )
        order = ("disclosed_and_disclosive", "correctly_disclosed", "disclosed", "keys_in_released")
        values = [one[name] for name in order]
        assert values == sorted(values)
        assert one["disclosed_and_disclosive"] <= one["disclosive_in_original"]
    for name in SHARES:
        assert result.records[name].mean() == close(getattr(result, name))


@FEW
@given(files())
def test_without_exclusions_it_has_the_figures_of_cap(drawn):
    frames = drawn.frames()
    whole = attribute_disclosure(*frames, keys=KEYS, target="t")
    guessed = cap(*frames, keys=KEYS, target="t")
    for figure in ("average", "original_average", "baseline"):
        assert getattr(whole, figure) == close(getattr(guessed, figure))
    for one, other in zip(whole.per_release, guessed.per_release, strict=True):
        assert one["tcap_of_disclosed"] == close(other["tcap"])
        assert one["disclosed"] * whole.n == close(other["n_targeted"])


@FEW
@given(files())
def test_many_targets_are_each_measured_alone(drawn):
    frames = drawn.frames()
    table = attribute_disclosure_table(*frames, keys=KEYS[:2], numeric=["x"], bins=3)
    assert set(table.targets) == {"k2", "t", "x"}
    shares = [table.correctly_disclosed[name] for name in table.targets]
    assert shares == sorted(shares, reverse=True)
    for name in table.targets:
        given_bins = {"numeric": ["x"], "bins": 3} if name == "x" else {}
        alone = attribute_disclosure(*frames, keys=KEYS[:2], target=name, **given_bins)
        assert alone.to_dict() == table.results[name].to_dict()
