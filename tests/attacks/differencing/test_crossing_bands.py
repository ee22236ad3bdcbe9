"""Bands with other limits: told from changed values by the people, or by their labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from sdckit.attacks.differencing.crossing_bands import Crossing, crossing_of
from sdckit.data.ledger.digests import Levels


def levels_of(texts: Sequence[object]) -> Levels:
    names = sorted({str(text) for text in texts})
    return Levels("x", np.array([names.index(str(text)) + 1 for text in texts], np.int32), tuple(names))


def crossing(first: Sequence[object], second: Sequence[object], wrong: float = 0.0) -> Crossing | None:
    """Of people in the same order in both."""
    here, there = levels_of(first), levels_of(second)
    (pairs, people) = np.unique(np.stack([here.codes, there.codes]), axis=1, return_counts=True)
    both = [(here.texts.index(text) + 1, there.texts.index(text) + 1) for text in here.texts if text in there.texts]
    alike = np.array(both, np.int64).reshape(-1, 2).T
    used = pairs.astype(np.int64)
    return crossing_of(here, there, (used[0], used[1]), people, (alike[0], alike[1]), wrong)


def values(n: int = 3000, seed: int = 1) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, 100, n)


def ranges(numbers: NDArray[np.int64], width: int, shift: int = 0) -> list[str]:
    start = (numbers + shift) // width * width - shift
    return [f"{low}-{low + width - 1}" for low in start.tolist()]


@pytest.mark.parametrize("width", [2, 5, 10])
def test_every_shift_of_a_grid_is_seen(width: int) -> None:
    x = values()
    for shift in range(1, width):
        for found in (
            crossing((x // width).tolist(), ((x + shift) // width).tolist()),
            crossing(ranges(x, width), ranges(x, width, shift)),
        ):
            assert found is not None, shift
            assert found.sure
            assert len(found.here) == len(np.unique(np.stack([x // width, (x + shift) // width]), axis=1).T)


def test_the_counts_of_both_releases_tell_how_many_are_in_each_overlap() -> None:
    """What makes a forest of it: one solution only of the counts, which values that changed do not have."""
    x = values(200)
    found = crossing((x // 10).tolist(), ((x + 3) // 10).tolist())
    assert found is not None
    sides = [np.equal.outer(np.unique(own), own) for own in (found.here, found.there)]
    assert np.linalg.matrix_rank(np.vstack(sides).astype(float)) == len(found.here)


def test_one_grouping_within_the_other_does_not_cross() -> None:
    x = values()
    assert crossing((x // 10).tolist(), (x // 20).tolist()) is None
    assert crossing(ranges(x, 10), ranges(x, 20)) is None
    assert crossing(ranges(x, 10), ranges(x, 10)) is None


def test_labels_tell_of_few_people_and_only_where_all_keep_to_them() -> None:
    found = crossing(["20-29", "20-29", "30-39"], ["25-34", "15-24", "25-34"])
    assert found is not None
    assert found.sure
    assert crossing(["20-29", "20-29", "30-39"], ["25-34", "35-44", "25-34"]) is None
    assert crossing(["20-29", "25-34"], ["25-34", "20-29"]) is None  # these overlap in one release
    assert crossing(["under 30", "30+", "30+"], ["under 35", "under 35", "35+"]) is not None
    grown = ranges(values(), 10), ranges(values() + (values(seed=2) < 10), 10)
    assert crossing(*grown) is None  # equal labels say that values changed


def test_of_codes_the_people_tell_where_it_is_no_accident() -> None:
    x = values(30)
    assert crossing((x // 10).tolist(), ((x + 1) // 10).tolist()) is None
    few = crossing((values() // 40).tolist(), ((values() + 20) // 40).tolist())
    assert few is not None
    assert not few.sure  # of three bands it may be growth
    two = crossing((values() // 50).tolist(), (values() // 60).tolist())
    assert two is None  # of two nobody can tell
    gap = np.concatenate([values(), [999]])
    assert crossing((gap // 10).tolist(), ((gap + 5) // 10).tolist()) is not None


def test_people_who_are_joined_wrongly_hide_it_no_further_than_they_are() -> None:
    x = values()
    other = np.where(np.arange(3000) < 90, np.random.default_rng(3).permutation(x), x)
    codes = (x // 10).tolist(), ((other + 5) // 10).tolist()
    assert crossing(*codes) is None
    found = crossing(*codes, wrong=0.05)
    assert found is not None
    assert not found.sure
