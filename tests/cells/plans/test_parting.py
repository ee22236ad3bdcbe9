"""How cells are split: by keys that must agree first, all parts within the limit, no record in two."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from plans import collected, on_engines, opened
from sdckit.cells.plans import count_cells as counting, parting
from sdckit.cells.plans.count_cells import group_keys
from sdckit.cells.plans.parting import choose_parting
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.errors import DataError

RNG = np.random.default_rng(5)
N = 400
FRAME = pl.DataFrame(
    {
        "a": RNG.integers(0, 20, N),
        "b": [None if i % 40 == 0 else str(i % 9) for i in range(N)],
        "c": [None if i % 20 == 0 else i % 4 for i in range(N)],
    }
)


def parted(plan, keys, monkeypatch, most, missing="wildcard"):
    monkeypatch.setattr(counting, "MOST_CELLS", most)
    frame = opened(plan, FRAME)
    grouped = group_keys(frame, resolve_roles(keys=keys, missing=missing))
    gone = tuple(FRAME[key].null_count() for key in keys)
    found = choose_parting(grouped, FRAME.select(keys).n_unique(), gone)
    rows = [collected(one)["row"].to_list() for one in found.plans(frame)]
    loose = found.loose_plan(frame)
    return found, rows, [] if loose is None else collected(loose)["row"].to_list()


@on_engines
def test_keys_that_must_agree_split_first(plan, monkeypatch):
    found, rows, loose = parted(plan, ["a", "b", "c"], monkeypatch, 120)
    assert ([key.name for key in found.keys], found.may_lack, found.loose, loose) == (["a"], (), False, [])
    assert sorted(row for part in rows for row in part) == list(range(N))
    for part in rows:
        assert FRAME[part].n_unique() <= 60
    assert len({frozenset(FRAME[part]["a"]) for part in rows}) == len(rows)


@on_engines
def test_a_key_with_wildcards_leaves_some_loose(plan, monkeypatch):
    found, rows, loose = parted(plan, ["b", "c"], monkeypatch, 36)
    assert ([key.name for key in found.keys], len(found.may_lack)) == (
        ["b"],
        1,
    )  # fewer are missing than of c
    assert loose == list(range(0, N, 40))
    assert sorted([row for part in rows for row in part] + loose) == list(range(N))
    n_loose = FRAME[loose].select("b", "c").n_unique()
    for part in rows:
        assert FRAME[part].select("b", "c").n_unique() + n_loose <= 18


@on_engines
def test_a_missing_category_splits_like_any_value(plan, monkeypatch):
    found, rows, loose = parted(plan, ["b", "c"], monkeypatch, 24, missing="category")
    assert ([key.name for key in found.keys], found.loose, loose) == (["b", "c"], False, [])
    assert sorted(row for part in rows for row in part) == list(range(N))


@on_engines
def test_one_value_that_is_too_large(plan, monkeypatch):
    with pytest.raises(DataError, match="nor do they fall into parts that fit"):
        parted(plan, ["b", "c"], monkeypatch, 4)


def test_parts_are_of_much_the_same_size():
    sizes = np.array([[bucket, 1] for bucket in range(3, 13)])
    assert list(parting._packed(sizes, 6)) == [(0, 8), (8, parting.N_BUCKETS)]
    assert list(parting._packed(sizes, 10)) == [(0, parting.N_BUCKETS)]
    assert list(parting._packed(np.array([[1, 4], [5, 4], [9, 1]]), 5)) == [(0, 5), (5, parting.N_BUCKETS)]
