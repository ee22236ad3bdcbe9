"""Steps for large numbers: taken where the limit is exceeded, and such that it holds afterwards."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from draw import quiet
from sdckit.workflow.recipes.number_steps import exact_columns, number_steps, size_classes
from sdckit.workflow.recipes.recipe import tried

RNG = np.random.default_rng(3)
N = 900
FIRMS = pl.DataFrame(
    {
        "region": RNG.integers(1, 4, N),
        "branch": RNG.choice(["food", "metal"], N),
        "turnover": np.round(RNG.lognormal(12, 1.7, N)),
        "pupils": RNG.integers(20, 30, N),
    }
)


def scenario(**more: Any) -> sdc.Scenario:
    entries: dict[str, Any] = {"thresholds": {"k": 5, "exact_numbers": 0.0}, **more}
    return sdc.Scenario(**{"keys": ["region", "branch"], "magnitudes": ["turnover", "pupils"], **entries})


def steps(file: pl.DataFrame, made: sdc.Scenario) -> list[tuple[dict[str, Any] | None, list[str]]]:
    def run(release: Any, given: Any) -> Any:
        return tried(release, made, given).data

    with quiet():
        return [(step, list(lines)) for step, lines in number_steps(file, file, made, run)]


def test_only_columns_beyond_the_limit_are_named() -> None:
    assert exact_columns(FIRMS, FIRMS, scenario()) == ["turnover"]
    assert exact_columns(FIRMS, FIRMS.drop("turnover"), scenario()) == []
    assert exact_columns(FIRMS, FIRMS, scenario(thresholds={"k": 5})) == []
    assert exact_columns(FIRMS, FIRMS, scenario(thresholds={"exact_numbers": 0.5})) == []


def test_means_of_groups_where_they_do() -> None:
    ((step, lines),) = steps(FIRMS, scenario())
    assert step is not None
    assert (step["method"], step["columns"], step["strata"]) == ("microaggregate", ["turnover"], ["region", "branch"])
    assert lines[0].startswith("turnover: numbers that dominate their group went out as they are.")
    done = tried(FIRMS, scenario(), [step]).data
    assert exact_columns(FIRMS, done, scenario()) == []


def test_size_classes_where_groups_are_too_small_for_means() -> None:
    few = FIRMS.with_columns(region=pl.int_range(N) // 4)
    made = scenario(magnitudes=["turnover"])
    ((step, _),) = steps(few, made)
    assert step is not None
    assert (step["method"], step["column"]) == ("recode", "turnover")
    assert exact_columns(few, tried(few, made, [step]).data, made) == []


def test_a_key_has_no_step() -> None:
    made = scenario(keys=["region", "turnover"], magnitudes=["turnover"])
    ((step, lines),) = steps(FIRMS, made)
    assert step is None
    assert lines == [
        "No step for turnover: numbers that dominate their group go out as they are; leave it out, or make it coarser."
    ]


def test_edges_are_round_and_few_stand_in_the_last_class() -> None:
    values = FIRMS["turnover"].to_numpy()
    step = size_classes("turnover", values)
    assert step is not None
    edges = step["bands"][1:-1]
    assert all(f"{edge:g}".strip("0.e+")[0] in "125" for edge in edges)
    assert (values >= edges[-1]).sum() >= 5
    assert size_classes("x", np.array([1.0, 2, 3, 4, 5])) is None  # whole numbers too small for classes
    assert size_classes("x", np.array([-3.0, -1, 0, 0, 0])) is None
    assert size_classes("x", np.array([5.0, 6])) is None
    shares = size_classes("x", np.array([0.11, 0.2, 0.25, 0.3, 0.5, 0.9, 1.2]))
    assert shares is not None
    assert shares["bands"][-2] == 0.2


def test_no_class_of_many_numbers_is_empty() -> None:
    sizes = np.random.default_rng(1).normal(26, 4, 2000)
    for sign in (1, -1):
        step = size_classes("bmi", sign * sizes)
        assert step is not None
        in_class = np.bincount(np.searchsorted(step["bands"][1:-1], sign * sizes, side="right"))
        assert (len(in_class), in_class.min() >= 5) == (len(step["bands"]) - 1, True)


def test_recipe_init_knows_that_rows_belong_together_where_the_one_key_became_bands() -> None:
    rng = np.random.default_rng(1)
    few = pl.DataFrame({"years": np.round(np.abs(rng.normal(0, 50, 600)), 1), "pay": rng.integers(0, 1000, 600)})
    made = sdc.Scenario(keys=["years"], magnitudes=["pay"], household="none", thresholds={"k": 3, "exact_numbers": 0.0})
    with quiet():
        start = sdc.starter_recipe(few, scenario=made)
    assert [step.method for step in start.recipe.steps if step.arguments.get("column") == "years"] == ["recode"]
    assert start.exceeded == ()


def test_losses_are_put_in_classes_as_gains_are() -> None:
    profits = np.array([-50.0, -50, -50, -50, -50, -20, -15, 0, 30, 60, 110, 110, 120, 250, 900])
    step = size_classes("profit", profits)
    assert step is not None
    assert step["bands"] == [-np.inf, -20, -10, 10, 20, 50, 100, np.inf]
    for edge, beyond in ((-20, profits < -20), (100, profits >= 100)):
        assert beyond.sum() >= 5, edge


def test_recipe_init_and_propose_take_them() -> None:
    made = scenario(thresholds={}, release="public-use", sampling_fraction=0.02, sensitive=[], household="none")
    with quiet():
        start = sdc.starter_recipe(FIRMS, scenario=made)
        found = sdc.propose(FIRMS, scenario=made, alternatives=0)
    assert "microaggregate" in [step.method for step in start.recipe.steps]
    assert "turnover: numbers that dominate their group went out as they are." in " ".join(start.text.split())
    assert start.exceeded == ()
    assert (found.passed, found.impossible) == (True, ())
    (classes,) = [step for step in found.recipe.steps if step.arguments.get("column") == "turnover"]
    assert classes.method == "recode"
    assert "size classes with round edges" in " ".join(found.text.replace("#", "").split())


def test_propose_keeps_what_is_to_be_kept() -> None:
    made = scenario(thresholds={"k": 5, "exact_numbers": 0.0}, sampling_fraction=0.02)
    with quiet():
        found = sdc.propose(FIRMS, scenario=made, keep=["turnover"], alternatives=0)
    assert (found.passed, found.exceeded) == (False, ("exact_numbers",))


def test_wages_in_logarithms_are_not_all_in_two_classes() -> None:
    wages = np.random.default_rng(3).normal(1.65, 0.4, 2000)
    step = size_classes("lwage", wages)
    assert step is not None
    edges = [edge for edge in step["bands"] if np.isfinite(edge)]
    sizes = np.bincount(np.searchsorted(edges, wages, side="right"))
    assert sizes.max() < 0.4 * len(wages)
    assert all(high / low > 1.1 / 0.9 for low, high in pairwise(edges))  # no number is told to within 10 %
