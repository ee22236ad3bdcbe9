"""Values possible in several releases, against going through all pairs of records; from sketches the same."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from attacks.differencing.several import people, possible, together, with_gaps
from sdckit.attacks.differencing.earlier_releases import Earlier
from sdckit.attacks.differencing.opened_release import open_release
from sdckit.attacks.differencing.sketching import sketch_release
from sdckit.attacks.differencing.together import (
    Seen,
    certain_together,
    own_candidates,
    seen_in_file,
    seen_in_sketch,
)
from sdckit.data.ledger.digests import Digester

DIGESTER = Digester(b"k" * 32)
HERE, THERE = ["part", "sex", "age"], ["region", "band"]


@pytest.mark.parametrize("gaps", [(), ("band",), ("job",), ("age", "region", "job")])
def test_files_and_sketches_find_what_pairs_of_records_say(gaps: tuple[str, ...]) -> None:
    data = people(250)
    for number, column in enumerate(gaps):
        data = with_gaps(data, column, 0.05, seed=number)
    moved = data.sample(fraction=1.0, shuffle=True, seed=3)
    new = open_release(data, [*HERE, "job"], id="id", name="new", role="keys")
    old = open_release(moved, [*THERE, "job"], id="id", name="old", role="keys")
    own = own_candidates(new, HERE, "job")
    expected = together(possible(data, HERE, "job"), possible(data, THERE, "job"))
    rows = np.argsort(moved["id"].to_numpy())[np.argsort(np.argsort(data["id"].to_numpy()))]
    assert (moved["id"].to_numpy()[rows] == data["id"].to_numpy()).all()
    by_file, odd = certain_together(own, [seen_in_file(new, old, rows, THERE, "job")])
    assert by_file.tolist() == expected
    assert not odd.any()
    sketch = sketch_release(old, [THERE], ["job"], DIGESTER, id="id")
    seen = list(seen_in_sketch(new, Earlier("old", "", True, sketch, DIGESTER), "id", own, "job"))
    assert len(seen) == 1
    assert certain_together(own, seen)[0].tolist() == expected
    if not gaps:
        assert any(expected)


def test_people_who_are_not_in_the_earlier_release_are_told_nothing_of() -> None:
    data = people(100)
    old = open_release(data.head(60), [*THERE, "job"], id="id", name="old", role="keys")
    new = open_release(data, [*HERE, "job"], id="id", name="new", role="keys")
    own = own_candidates(new, HERE, "job")
    sketch = sketch_release(old, [THERE], ["job"], DIGESTER, id="id")
    (seen,) = seen_in_sketch(new, Earlier("old", "", True, sketch, DIGESTER), "id", own, "job")
    found, _ = certain_together(own, [seen])
    assert not found[60:].any()
    rows = np.where(np.arange(100) < 60, np.arange(100), -1)
    same = seen_in_file(new, old, rows, THERE, "job")
    assert certain_together(own, [same])[0].tolist() == found.tolist()


def test_values_that_contradict_each_other_are_told() -> None:
    own = Seen(np.array([[1], [3]], np.uint64), np.array([True, False]))
    other = Seen(np.array([[2], [2]], np.uint64), np.array([True, False]))
    found, odd = certain_together(own, [other])
    assert found.tolist() == [False, True]
    assert odd.tolist() == [True, False]


def test_a_value_that_only_the_earlier_release_has_is_one_of_its_values() -> None:
    new = open_release(
        pl.DataFrame({"a": [1, 1], "s": ["x", "y"]}), ["a", "s"], id=None, name="new", role="keys"
    )
    old = open_release(
        pl.DataFrame({"b": [1, 1], "s": ["x", "z"]}), ["b", "s"], id=None, name="old", role="keys"
    )
    seen = seen_in_file(new, old, np.array([0, 1]), ["b"], "s")
    assert not seen.alone.any()
    assert seen.sets.tolist() == [[1], [1]]
