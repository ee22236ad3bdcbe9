"""People drawn by their id: the same in whatever order and on whatever engine, and what is said of the draw."""

from __future__ import annotations

from typing import Any

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
        ({"id": "gap"}, "missing in 1 rows"),
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
