"""Compile the kernels ahead of use by running the usual work on small generated files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data import methods, pl
from sdckit.errors import SdcWarning

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


N, SEED = 240, 1
MANY = 3000
LARGE = 20_000  # more than NumPy does for a small file
STEPS = tuple({"method": kind.name, **kind.warm} for kind in methods.METHODS.values() if kind.warm)


def warm_up(step: Callable[[str], None]) -> None:
    """Assess, protect, compare, attack and synthesise a small file; nothing of it is kept but compiled kernels."""
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.demo import demo_scenario, load_demo
    from sdckit.numerics.compiling import compiling_all
    from sdckit.protect.synthesis.synthesis_trees import grow
    from sdckit.protect.synthesis.synthesize import synthesize
    from sdckit.report.formats.write import plain_document
    from sdckit.workflow.assess import assess
    from sdckit.workflow.recipes.recipe import Recipe

    data, others = _people(0), _people(1)
    roles: dict[str, Any] = {"sensitive": ["ill"], "numeric": ["pay"], "thresholds": {"k": 3, "risk": 0.2}}
    sample = Scenario(keys=["sex", "age", "region"], weight="w", household="home", **roles)
    whole = Scenario(keys=["sex", "age", "region"], missing="category", **roles)
    with warnings.catch_warnings(action="ignore", category=SdcWarning), compiling_all():
        step("assessing")
        for scenario in (sample, whole, whole.changed(sampling_fraction=0.1)):
            assess(data, scenario=scenario, measures="all")
        assess(load_demo(), scenario=demo_scenario())  # large enough for the ways that large files take
        step("writing a report")
        plain_document(assess(data, scenario=sample))
        step("protecting")
        applied = Recipe(STEPS).apply(data, scenario=sample, secret=bytes(32))
        step("assessing a release")
        applied.assess(seed=SEED)
        step("synthesising")
        made = synthesize(data.drop("home", "w"), seed=SEED).data
        grow(np.zeros((2, 1), np.float32), np.zeros(2), min_leaf=1, seed=SEED)  # the trees of many records
        step("attacking")
        assess(data, made, scenario=whole, control=others, n_attacks=20, seed=SEED)
        _search_many()
        _large_files(sample)


def _search_many() -> None:
    """Compile the nearest-neighbour searches for files with many distinct rows."""
    from sdckit.numerics.coding import gower
    from sdckit.numerics.search.neighbours import prepare

    rng = np.random.default_rng(SEED)
    codes = [(rng.integers(0, 9, MANY), rng.integers(0, 9, MANY)) for _ in range(5)]
    for numbers in ([], [(rng.random(MANY), rng.random(MANY))]):
        base, query = gower(numbers, codes)
        index = prepare(base)
        index.distances(query)
        index.totals(query, 1, np.ones((MANY, 1)))
        index.lists(query.take(np.arange(9)), 1)


def _large_files(scenario: Scenario) -> None:
    """Compile the kernels that only large files need."""
    from sdckit.identity.contributions.key_contributions import key_contributions
    from sdckit.numerics.coding import gower
    from sdckit.numerics.search.count_boxes import Dimension, count_in_boxes
    from sdckit.numerics.search.neighbours import prepare
    from sdckit.numerics.wildcard_matches.wildcards import match_packed
    from sdckit.workflow.assess import assess
    from sdckit.workflow.recipes.recipe import Recipe

    many = _people(2, LARGE)
    assess(many, scenario=scenario)
    Recipe(STEPS).apply(many, scenario=scenario, secret=bytes(32))
    gaps = many.with_columns(age=pl.when(pl.int_range(LARGE) % 7 > 0).then("age"))
    for missing in ("wildcard", "category"):
        key_contributions(gaps, keys=["sex", "age", "region", "home"], weight="w", missing=missing).to_dict()
    x, none = np.random.default_rng(SEED).random(LARGE), np.zeros(LARGE, np.int32)
    for n_dimensions in (1, 2, 3):
        count_in_boxes([Dimension(x, x, x, x - 0.1, x + 0.1)] * n_dimensions, none, none, 1)
    base, query = gower([(x[:1200], x), (x[:1200], x[::-1])], [])
    index = prepare(query)
    index.distances(base)
    index.lists(base, 1)
    pattern = np.arange(LARGE, dtype=np.uint64) % np.uint64(3)
    ones, clear_of = np.ones(LARGE), {0: 2**64 - 1, 1: 2**64 - 16, 2: 2**64 - 241}
    match_packed(np.arange(LARGE, dtype=np.uint64) << np.uint64(8), ones, ones, pattern, clear_of, 1.0)


def _people(seed: int, n: int = N) -> pl.DataFrame:
    """Generate random records with missing values, integers, floats, strings, weights and households."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "home": np.arange(n) // 2,
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 80, n),
            "region": rng.choice(["n", "s", "e"], n),
            "job": rng.choice(["a", "b", "c"], n),
            "ill": rng.choice(["no", "yes"], n),
            "pay": rng.normal(3000.0, 500.0, n).round(1),
            "hours": rng.normal(35.0, 8.0, n),
            "w": rng.uniform(5.0, 9.0, n).round(2),
        }
    )
    return frame.with_columns(region=pl.when(pl.int_range(n) % 40 == 0).then(None).otherwise("region"))
