"""Ladders: every rung follows from the one before, does what its step does, and names nothing rare."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.columns import code_column
from sdckit.data.replace import open_eager
from sdckit.identity.contributions.coarsening import Declared, levels_of
from sdckit.numerics.grouping import refines
from sdckit.workflow.proposing.ladders import Ladder, ladder_of

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
N = 2000


def survey() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    ages = np.clip(rng.normal(45, 20, N).round(), 0, 99).astype(int)
    return pl.DataFrame(
        {
            "age": ages,
            "income": np.exp(rng.normal(7.5, 1.0, N)).round(1),
            "job": rng.choice(["11", "12", "13", "21", "22", "31", "32", "33"], N),
            "born": rng.choice(["AT", "DE", "IT", "FR", "CH"], N, p=[0.6, 0.3, 0.05, 0.045, 0.005]),
            "grade": rng.choice([1, 2, 3, 4, 5, 6, 7], N),
            "sex": rng.choice(["f", "m"], N),
            "day": np.datetime64("1995-11-01") + rng.integers(0, 4000, N),
        }
    ).with_columns(age=pl.when(pl.int_range(N) % 50 == 0).then(None).otherwise(pl.col("age")))


def ladder(key: str, declared: Declared | None = None, **more: object) -> Ladder:
    cells = sdc.as_cells(survey(), keys=[key], missing="category")
    return ladder_of(levels_of(cells, key, declared or Declared()), key, **more)  # type: ignore[arg-type]


ALL = {
    "age": Declared(),
    "income": Declared(),
    "job": Declared(),
    "born": Declared(),
    "grade": Declared(ordered=("grade",)),
    "sex": Declared(),
    "day": Declared(),
}


@pytest.mark.parametrize("key", ALL)
def test_every_rung_follows_from_the_one_before(key: str) -> None:
    found = ladder(key, ALL[key], internal=True)
    kept = [one.kept for one in found.rungs]
    assert kept == sorted(kept, reverse=True)
    assert (kept[0], kept[-1]) == (1.0, 0.0)
    assert [one.words for one in found.rungs[:: len(found.rungs) - 1]] == ["as it is", "left out"]
    for fine, coarse in zip(found.rungs, found.rungs[1:], strict=False):
        assert refines(fine.group, coarse.group)
        assert coarse.group.max() < fine.group.max()
    assert len(found.rungs) > 2 or key == "sex"


@pytest.mark.parametrize("key", [key for key in ALL if key != "sex"])
def test_a_step_does_to_the_file_what_the_rung_says(key: str) -> None:
    data = survey()
    found = ladder(key, ALL[key], internal=True)
    before = code_column(open_eager(data, {})[key]).codes()
    for number, rung in enumerate(found.rungs):
        if rung.step is None:
            continue
        given = {name: value for name, value in rung.step.items() if name != "method"}
        made = getattr(sdc, rung.step["method"])(data, **given).data
        after = code_column(open_eager(made, {})[key]).codes()
        pairs = {(int(a), int(b)) for a, b in zip(found.groups_of(number)[before], after, strict=True)}
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_dates_become_ever_longer_periods() -> None:
    assert [rung.words for rung in ladder("day").rungs[1:-1]] == ["by month", "by quarter", "by year", "by decade"]


def test_a_hierarchy_makes_the_ladder(tmp_path: Path) -> None:
    lines = [f"{job};{job[0]};all" for job in survey()["job"].unique().sort()]
    (tmp_path / "jobs.csv").write_text("\n".join(lines), encoding="utf-8")
    hierarchy = sdc.read_hierarchy(tmp_path / "jobs.csv")
    found = ladder("job", Declared(hierarchies={"job": hierarchy}, files={"job": "jobs.csv"}))
    assert [one.words for one in found.rungs] == ["as it is", "at level 1 of its hierarchy", "left out"]
    assert found.rungs[1].step == {"method": "recode", "column": "job", "hierarchy": "jobs.csv", "level": 1}


def test_codes_are_cut_and_skewed_numbers_have_uneven_bands() -> None:
    assert [one.words for one in ladder("job").rungs] == [
        "as it is",
        "by the first 1 characters of its codes",
        "left out",
    ]
    (groups,) = [one.step["groups"] for one in ladder("job").rungs if one.step]
    assert all(codes == sorted(codes) for codes in groups.values())
    assert all(name == f"{codes[0]} to {codes[-1]}" for name, codes in groups.items())
    bands = next(one.step["bands"] for one in ladder("income").rungs if one.step and "bands" in one.step)
    widths = np.diff(bands[1:-1])
    assert widths.max() > 4 * widths.min()
    records = np.histogram(survey()["income"], [0, *bands[1:-1], np.inf])[0]
    assert records.min() >= 50


def test_ordered_codes_that_are_numbers_are_cut_between_their_values() -> None:
    found = [one for one in ladder("grade", Declared(ordered=("grade",))).rungs if one.step]
    assert [one.words for one in found] == ["in groups of 2 neighbours", "in groups of 4 neighbours"]
    assert [one.step["bands"][1:-1] for one in found if one.step] == [[3, 5, 7], [5]]


def test_a_value_that_few_have_is_named_only_in_the_room() -> None:
    assert [one.step for one in ladder("born").rungs if one.step] == []
    inside = [one.step for one in ladder("born", internal=True).rungs if one.step]
    assert any("CH" in str(step) for step in inside)


def test_what_stays() -> None:
    assert [one.words for one in ladder("age", stays=True).rungs] == ["as it is"]
    assert [one.words for one in ladder("age").rungs if one.left_out] == ["left out"]
