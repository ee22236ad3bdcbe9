"""Distinction and separation by hand and by brute force, and what is refused."""

from __future__ import annotations

import math
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, strategies as st

from draw import files, quiet
from sdckit import individual_risk, key_separation
from sdckit.errors import ColumnError, DataError

FRAME = pl.DataFrame(
    {"sex": ["f", "f", "m", "m", None], "age": [30, 40, 30, 30, 30], "town": ["x", "x", "x", "x", "x"]}
)
KEYS = ["sex", "age", "town"]


def test_by_hand() -> None:
    """Of ten pairs, the two women and the two men have equal sex; six pairs have equal age; all are of one town."""
    with quiet():  # a key that is constant
        result = key_separation(FRAME, keys=KEYS)
    by_set = {row.variables: (row.n_cells, row.distinction, row.separation) for row in result.table}
    assert list(by_set) == [
        ("sex",),
        ("age",),
        ("town",),
        ("sex", "age"),
        ("sex", "town"),
        ("age", "town"),
        tuple(KEYS),
    ]
    assert by_set["sex",] == (3, 0.6, pytest.approx(0.8))
    assert by_set["age",] == (2, 0.4, pytest.approx(0.4))
    assert by_set["town",] == (1, 0.2, 0.0)
    assert by_set["sex", "age"] == by_set[tuple(KEYS)] == (4, 0.8, pytest.approx(0.9))
    assert (result.n, result.n_cells, result.distinction, result.separation) == (5, 4, 0.8, pytest.approx(0.9))
    assert result.table_figures["age x town"]["n_cells"] == 2
    assert result.records["separated"].to_list() == pytest.approx([1, 1, 0.75, 0.75, 1])
    assert result.records["cell_share"].to_list() == [1, 1, 0.5, 0.5, 1]


@given(files(), st.integers(1, 4))
def test_by_definition(file, max_dim: int) -> None:
    with quiet():
        result = key_separation(file.frame(), keys=file.keys, max_dim=max_dim)
    n, places = len(file.rows), range(len(file.keys))
    sizes = range(1, min(max_dim, len(file.keys) - 1) + 1)
    sets = [*(chosen for d in sizes for chosen in combinations(places, d)), tuple(places)]
    assert [row.variables for row in result.table] == [tuple(file.keys[j] for j in chosen) for chosen in sets]
    for row, chosen in zip(result.table, sets, strict=True):
        cut = [tuple(record[j] for j in chosen) for record in file.rows]
        assert row.n_cells == len(set(cut))
        assert row.distinction == len(set(cut)) / n
        pairs = list(combinations(cut, 2))
        apart = sum(a != b for a, b in pairs) / len(pairs) if pairs else math.nan
        assert row.separation == pytest.approx(apart, rel=1e-12, nan_ok=True)


def test_means_over_the_records_are_the_figures() -> None:
    keys = KEYS[:2]
    result = key_separation(FRAME, keys=keys, by="age", interval="bootstrap", seed=1)
    assert result.records["separated"].mean() == pytest.approx(result.separation)
    assert result.records["cell_share"].mean() == pytest.approx(result.distinction)
    assert dict(result.by_group.select("age", "separation").rows()) == pytest.approx({30: 0.875, 40: 1.0})
    assert set(result.intervals) == {"separation", "distinction"}
    assert individual_risk(FRAME, keys=keys, sampling_fraction=1.0, missing="category").global_risk == pytest.approx(
        0.8
    )


def test_words_follow_from_rounded_counts_alone() -> None:
    """A level of one record or two, and one of five or six, give the same figure."""
    for fewer, more in ((1, 2), (5, 6)):
        found = []
        for rare in (fewer, more):
            frame = pl.DataFrame({"a": ["x"] * 60 + ["y"] * (140 - rare) + ["z"] * rare})
            with quiet():
                row = key_separation(frame, keys=["a"]).table[-1]
            found.append((row.rounded_separation, row.separation))
        assert found[0][1] != found[1][1]
        assert found[0][0] == found[1][0]
    equal = [pl.DataFrame({"a": ["x"] * a + ["y"] * b}) for a, b in ((98, 102), (102, 98), (100, 100))]
    assert len({key_separation(frame, keys=["a"]).table[-1].rounded_separation for frame in equal}) == 1


def test_one_record_has_no_pair() -> None:
    with quiet():
        result = key_separation(FRAME[:1], keys=KEYS)
    assert math.isnan(result.separation)
    assert result.distinction == 1


def test_what_is_refused() -> None:
    with pytest.raises(ColumnError, match="work"):
        key_separation(FRAME, keys=["work"])
    with pytest.raises(DataError, match="max_dim"):
        key_separation(FRAME, keys=KEYS[:2], max_dim=0)
    with pytest.raises(DataError, match="its records are not"):
        _ = key_separation(FRAME.lazy(), keys=KEYS[:2]).records
