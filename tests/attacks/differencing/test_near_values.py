"""Numbers that lie near each other lead from one file to another of the same people, and not to other people."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sdckit.attacks.differencing import near_values
from sdckit.attacks.differencing.near_values import link_by_near_values
from sdckit.attacks.differencing.several_columns import LinkedTogether
from sdckit.attacks.equal_records import on_a_scale
from sdckit.numerics.array_types import Floats, Ints

Wave = dict[str, Floats]
NUMBERS = ("age", "income", "hours", "spent")


def people(rng: np.random.Generator, n: int) -> Wave:
    """A sample of one population, whose columns depend on each other."""
    school, sex = rng.integers(0, 3, n), rng.integers(0, 2, n)
    income = np.round(np.exp(9.8 + 0.25 * school + 0.3 * sex + 0.5 * rng.normal(size=n)), -1)
    return {
        "age": rng.integers(18, 80, n) * 1.0, "sex": sex * 1.0, "region": rng.integers(0, 4, n) * 1.0,
        "school": school * 1.0, "income": income, "month": rng.integers(0, 12, n) * 1.0,
        "hours": np.clip(np.round(38 + 8 * rng.normal(size=n)), 0, 80),
        "spent": np.round(income * np.exp(0.3 * rng.normal(size=n) - 0.4), -1),
    }  # fmt: skip


def next_wave(
    rng: np.random.Generator, wave: Wave, moved: float, kept: float = 1.0
) -> tuple[Wave, NDArray[np.integer]]:
    """The same people, or some of them, a year later in another order; and who they are."""
    n = len(wave["age"])
    who = rng.permutation(n)[: int(kept * n)]
    later, m = {name: values[who] for name, values in wave.items()}, len(who)
    later["age"] = later["age"] + 1
    later["income"] = later["income"] * 1.03 * np.exp(moved * rng.normal(size=m))
    later["spent"] = later["spent"] * np.exp(2 * moved * rng.normal(size=m))
    later["hours"] = later["hours"] + rng.integers(-2, 3, m)
    later["month"] = rng.integers(0, 12, m) * 1.0
    later["school"] = np.where(rng.random(m) < 0.05, rng.integers(0, 3, m), later["school"])
    return later, who


def linked(here: Wave, there: Wave) -> tuple[LinkedTogether | None, list[str], list[str], bool]:
    """The links, the columns of equal values and of near ones, and whether this is sure."""

    def codes(wave: Wave, name: str) -> Ints:
        return wave[name].astype(np.int64) + 1

    equal = {name: (codes(here, name), codes(there, name)) for name in here if name not in NUMBERS}
    found, sure = link_by_near_values(equal, {name: (here[name], there[name]) for name in NUMBERS})
    names, columns = [*equal, *NUMBERS], () if found is None else found.columns
    by_kind = ([names[at] for at in columns if (at >= len(equal)) is near] for near in (False, True))
    return found, *by_kind, sure


@pytest.mark.parametrize("moved", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("kept", [1.0, 0.4])
def test_people_whose_numbers_moved_are_linked_and_the_share_right_is_known(moved: float, kept: float) -> None:
    least = {0.02: 0.9, 0.1: 0.75, 0.3: 0.3}[moved]
    for seed in range(2):
        rng = np.random.default_rng([seed, int(100 * moved)])
        wave = people(rng, 1200)
        later, who = next_wave(rng, wave, moved, kept)
        found, equal, near, sure = linked(wave, later)
        assert found is not None
        assert sure
        right = who[found.there] == found.here
        assert right.sum() > least * len(who)
        assert abs(right.mean() - found.right) < 0.1
        assert "month" not in equal
        assert near


def test_pairs_are_those_that_all_distances_give() -> None:
    """Each the other's nearest of both files, and none as near: by the whole matrix of distances."""
    rng = np.random.default_rng(3)
    wave = people(rng, 250)
    later, _ = next_wave(rng, wave, 0.1)
    found, equal, near, _ = linked(wave, later)
    assert found is not None
    both = {name: np.concatenate([wave[name], later[name]]) for name in wave}
    places = {name: np.concatenate([on_a_scale(file[name], file[name]) for file in (wave, later)]) for name in NUMBERS}
    points = np.column_stack([places[name] for name in near])
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    for name in equal:
        distance[both[name][:, None] != both[name][None]] = np.inf
    np.fill_diagonal(distance, np.inf)
    least = np.sort(distance, axis=1)
    nearest = np.where(least[:, 0] < least[:, 1], distance.argmin(axis=1), -1)
    expected = {
        (row, other - 250) for row, other in enumerate(nearest.tolist())
        if row < 250 <= other and nearest[other] == row
    }  # fmt: skip
    assert {*zip(found.here.tolist(), found.there.tolist(), strict=True)} == expected


@pytest.mark.parametrize("n", [200, 800])
def test_other_people_are_never_linked(n: int) -> None:
    """Of the same population, of a richer and older one, of another size, and with noise."""
    for seed in range(9):
        rng = np.random.default_rng([n, seed])
        here, there = people(rng, n), people(rng, n * (1 + seed % 2))
        if seed % 3 == 1:
            there["income"], there["age"] = there["income"] * 1.2, there["age"] + 3
        if seed % 3 == 2:
            there["income"] = there["income"] + there["income"].std() * rng.normal(scale=0.2, size=len(there["age"]))
        assert linked(here, there)[0] is None


@pytest.mark.parametrize("ordered", [False, True])
def test_numbers_given_anew_within_regions_link_nobody(ordered: bool) -> None:
    """They lead one to one, but people so linked are alike in nothing else, or in age alone, by which they stand."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        files = [people(rng, 1000) for _ in range(2)]
        for file in files:
            order = np.lexsort((file["age"] if ordered else rng.random(1000), file["region"]))
            number = np.empty(1000)
            for region in range(4):
                own = order[file["region"][order] == region]
                number[own] = np.arange(len(own))
            file["hours"] = number
        assert linked(*files)[0] is None


def test_a_number_that_few_have_and_a_single_number_say_nothing_by_themselves() -> None:
    rng = np.random.default_rng(5)
    here, there = rng.normal(size=(2, 400))
    here[rng.random(400) < 0.9] = np.nan
    assert link_by_near_values({}, {"x": (here, there)})[0] is None
    assert link_by_near_values({}, {"x": (rng.normal(size=400), there)})[0] is None


def test_of_many_rows_columns_are_tried_in_the_middle_of_a_number_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weight made anew is no such number. Where nobody is found there, that is not sure."""
    monkeypatch.setattr(near_values, "MOST_TRIED", 2500)
    rng = np.random.default_rng(6)
    wave = people(rng, 5000)
    later, who = next_wave(rng, wave, 0.02)
    wave["hours"], later["hours"] = rng.normal(size=5000), rng.normal(size=5000)
    found, _, near, sure = linked(wave, later)
    assert found is not None
    assert sure
    assert "hours" not in near
    right = who[found.there] == found.here
    assert right.sum() > 3000
    assert abs(right.mean() - found.right) < 0.05
    found, *_, sure = linked(wave, people(rng, 5000))
    assert (found, sure) == (None, False)
