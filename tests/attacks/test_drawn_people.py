"""People drawn by their id: the same in whatever order and on whatever engine, and what is said of the draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import quiet
from engines.conftest import plan  # noqa: F401 (a fixture)
from every_measure import changed, figures, people
from sdckit.errors import DataError

ORIGINAL = people(1).rename({"row": "pid"})
DRAWN: dict[str, Any] = {"id": "pid", "targets": 40, "seed": 3}
ATTACKS: dict[str, dict[str, Any]] = {
    "linkability": {"known": (["sex", "income"], ["region", "hours"])},
    "inference": {"known": ["sex", "region"], "target": "ill"},
    "membership": {"variables": ["sex", "region", "income"], "score": "distance"},
}


# Measures of the nearest records: of their figures each is of those drawn, as the whole file's records say.
NEAREST: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "record_linkage": ({"variables": ["sex", "region", "income"]}, {"rate": "correct", "mean_distance": "distance"}),
    "distance_to_closest_record": (
        {"variables": ["sex", "region", "income"]}, {"hitting_rate": "hit", "identifiability": "identifiable"}
    ),
    "probabilistic_linkage": (
        {"variables": ["sex", "region", "income", "hours"], "blocking": [["sex"], ["region"]]}, {"rate": "correct"}
    ),
}  # fmt: skip


def nearest(name: str, original: Any, released: Any, **given: Any) -> Any:
    return quiet(getattr(sdc, name), original, released, **{"id": "pid", "seed": 3, **NEAREST[name][0], **given})


def numbers(result: Any) -> dict[str, float]:
    return {name: float(getattr(result, name)) for name in result.figures}


@pytest.mark.parametrize("name", NEAREST)
def test_nearest_records_of_people_drawn(name: str, plan: Any) -> None:  # noqa: F811
    original, released = ORIGINAL, changed().rename({"row": "pid"})
    more = {"control": people(2)} if name.startswith("distance") else {}
    expected = nearest(name, original, released, targets=40, **more)
    files = shuffled(original, 1), shuffled(released, 2)
    for result in (nearest(name, *files, targets=40, **more), nearest(name, *map(plan, files), targets=40, **more)):
        assert numbers(result) == pytest.approx(numbers(expected), rel=1e-12, nan_ok=True)
    assert expected.notes["targets"] == "of 40 people drawn by their id"
    mine = pl.DataFrame(expected.records)
    whole = pl.DataFrame(nearest(name, original, released, **more).records).join(mine.select("pid"), on="pid")
    assert len(mine) == len(whole) == 40
    if name != "probabilistic_linkage":  # whose weights are learnt of those drawn alone
        for figure, column in NEAREST[name][1].items():
            assert getattr(expected, figure) == pytest.approx(whole[column].mean())
            low, high = expected.intervals[figure]
            assert low < getattr(expected, figure) < high


@pytest.mark.parametrize("name", NEAREST)
def test_all_the_nearest_are_no_sample(name: str) -> None:
    released = changed().rename({"row": "pid"})
    result, whole = (nearest(name, ORIGINAL, released, targets=targets) for targets in (90, None))
    assert "targets" not in result.notes
    assert not getattr(result, "intervals", {})
    assert numbers(result) == pytest.approx(numbers(whole), nan_ok=True)


def test_subgroups_of_the_nearest() -> None:
    """Each has its own people drawn; of distances none is told where too few are."""
    n = 2_600
    rng = np.random.default_rng(4)
    original = pl.DataFrame({"pid": range(n), "x": rng.normal(size=n), "g": ["a"] * 2_000 + ["b"] * 600})
    released = original.with_columns(x=pl.col("x") + 0.001 * rng.normal(size=n))
    how = {"variables": ["x"], "by": "g", "targets": 1_000}
    linked = nearest("record_linkage", original, released, **how)
    assert linked.n == 1_000
    whole = pl.DataFrame(linked.by_group).sort("g")
    assert whole["n"].to_list() == [1_000, 600]
    near = pl.DataFrame(nearest("distance_to_closest_record", original, released, **how).by_group).sort("g")
    assert near["hitting_rate"].is_nan().all()  # some 770 and 230 are drawn


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("record_linkage", {"id": None}, "rows|give id="),
        ("record_linkage", {"interval": "bootstrap"}, "leave one out"),
        ("record_linkage", {"method": "assignment"}, "leave one out"),
        ("record_linkage", {"by": "sex"}, "1,000 or more"),
        ("distance_to_closest_record", {"id": None}, "give id="),
        ("distance_to_closest_record", {"by": "sex"}, "1,000 or more"),
        ("probabilistic_linkage", {"id": None}, "give id="),
        ("probabilistic_linkage", {"targets": 0}, "targets"),
    ],
)
def test_nearest_refused(name: str, change: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        nearest(name, ORIGINAL, changed().rename({"row": "pid"}), **{"targets": 40, **change})


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


@pytest.mark.parametrize("name", ATTACKS)
def test_no_order_and_no_engine_changes_the_figures(name: str, plan: Any) -> None:  # noqa: F811
    attack, given = getattr(sdc, name), {**DRAWN, **ATTACKS[name]}
    expected = quiet(attack, ORIGINAL, changed(), control=people(2), **given)
    files = shuffled(ORIGINAL, 1), shuffled(changed(), 2)
    others = shuffled(people(2), 3)
    found = [quiet(attack, *files, control=others, **given), quiet(attack, *map(plan, files), control=others, **given)]
    for result in found:
        assert figures(result) == figures(expected)
    assert expected.n_attacks == 40
    assert expected.notes["targets"] == "of 40 people drawn by their id"


@pytest.mark.parametrize("name", ATTACKS)
def test_all_are_no_sample(name: str) -> None:
    given = {**DRAWN, **ATTACKS[name], "targets": 90}
    result = quiet(getattr(sdc, name), ORIGINAL, changed(), control=people(2), **given)
    assert result.n_attacks == 90
    assert "targets" not in result.notes


def test_the_seed_draws_others() -> None:
    given = {"id": "pid", "targets": 40, **ATTACKS["inference"]}
    drawn = {
        frozenset(quiet(sdc.inference, ORIGINAL, changed(), **given, seed=seed).records.filter("attacked")["pid"])
        for seed in range(3)
    }
    assert len(drawn) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": None}, "give id="),
        ({"by": "sex"}, "1,000 or more"),
        ({"targets": 0}, "targets"),
        ({"id": "home"}, "repeat one"),
        ({"id": "gap"}, "missing in 1 row,"),
    ],
)
def test_refused(change: dict[str, Any], words: str) -> None:
    original = ORIGINAL.with_columns(gap=pl.when(pl.col("pid") > 0).then("pid"))
    with pytest.raises(DataError, match=words):
        quiet(sdc.inference, original, changed(), **{**DRAWN, **ATTACKS["inference"], **change})


def test_the_ratio_draws_its_own_people() -> None:
    with pytest.raises(DataError, match="score='distance'"):
        sdc.membership(ORIGINAL, changed(), control=people(2), **DRAWN)


def test_subgroups() -> None:
    """With more targets than people every group is attacked whole."""
    given = {**DRAWN, **ATTACKS["inference"], "targets": 1000}
    result = quiet(sdc.inference, ORIGINAL, changed(), by="sex", **given)
    assert pl.DataFrame(result.by_group)["n_attacks"].sum() == 90
