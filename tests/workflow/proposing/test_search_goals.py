"""Searching by what is lost by coarsening: on small lattices no combination of levels loses less."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.losses import BY_COLUMN, COARSENING
from sdckit.data.seeds import Mixed
from sdckit.workflow.proposing import search
from sdckit.workflow.proposing.trials import Trials, open_lattice
from sdckit.workflow.recipes.recipe_figures import CoarseningLoss

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
# By column the groups of its values at each level, the last being one for all.
SMALL = {
    "town": ["aabbcc", "aaaabb", "******"],
    "job": ["aabb", "****"],
    "sex": ["**"],
    "unit": ["aabbccdd", "aaaaaabb", "********"],
}
N = 120


def files(folder: Path, columns: list[str], seed: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Skewed data, and a hierarchy for each column, written where a scenario finds it."""
    rng = np.random.default_rng(seed)
    data, levels = {}, {}
    for name in columns:
        values = [f"{name}{at}" for at in range(len(SMALL[name][0]))]
        data[name] = rng.choice(values, N, p=rng.dirichlet(np.full(len(values), 2.0)))
        levels[name] = {
            value: [f"{name}-{depth}-{groups[at]}" for depth, groups in enumerate(SMALL[name])]
            for at, value in enumerate(values)
        }
        lines = (";".join([value, *above]) for value, above in levels[name].items())
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return pl.DataFrame(data), levels


def at(data: pl.DataFrame, levels: dict[str, Any], node: tuple[int, ...]) -> pl.DataFrame:
    """The file with each column at a level."""
    columns = {
        name: [[value, *levels[name][value]][level] for value in data[name]]
        for (name, level) in zip(data.columns, node, strict=True)
    }
    return pl.DataFrame(columns)


def figure_of(data: pl.DataFrame, release: pl.DataFrame, levels: dict[str, Any], figure: str) -> float:
    found = sdc.generalization_loss(data, release, hierarchies=levels, aligned=True)
    value = float(getattr(found, figure))
    return 1 - value if figure == "precision" else value


def least(data: pl.DataFrame, levels: dict[str, Any], k: int, figure: str) -> float:
    """The least loss of all combinations of levels that are k-anonymous without suppression, but for no key at all."""
    heights = [len(SMALL[name]) for name in data.columns]
    losses = [
        figure_of(data, release, levels, figure)
        for node in product(*(range(height + 1) for height in heights))
        if list(node) != heights and (release := at(data, levels, node)).group_by(data.columns).len()["len"].min() >= k
    ]
    return min(losses)


@pytest.mark.parametrize("figure", COARSENING)
@pytest.mark.parametrize(
    ("columns", "k", "seed"), [(["town", "job", "sex"], 4, 1), (["town", "job", "unit"], 2, 2), (list(SMALL), 3, 3)]
)
def test_no_combination_of_levels_loses_less(
    figure: str, columns: list[str], k: int, seed: int, tmp_path: Path
) -> None:
    data, levels = files(tmp_path, columns, seed)
    scenario = sdc.Scenario(
        keys=columns, hierarchies={name: str(tmp_path / f"{name}.csv") for name in columns}, thresholds={"k": k}
    )
    found = sdc.propose(data, scenario=scenario, loss=figure, share=0.0, alternatives=0, internal=True)
    assert found.passed
    assert found.measured == pytest.approx(least(data, levels, k, figure), abs=1e-12)
    assert found.optimal
    assert found.gap == 0


@pytest.mark.parametrize("few", [True, False], ids=["searched", "ranked"])
@pytest.mark.parametrize("figure", ["loss", "discernibility"])
def test_with_suppression_the_loss_is_that_of_the_release(
    figure: str, few: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not few:
        monkeypatch.setattr(search, "MOST", 0)
    monkeypatch.setattr(Mixed, "of_step", lambda *_: 1)  # a trial draws as a first step, the recipe as its own
    data, _ = files(tmp_path, ["town"], 5)
    data = data.with_columns(age=pl.Series(np.random.default_rng(5).integers(20, 70, N)))
    scenario = sdc.Scenario(keys=["town", "age"], hierarchies={"town": str(tmp_path / "town.csv")}, thresholds={"k": 3})
    found = sdc.propose(data, scenario=scenario, loss=figure, alternatives=1, internal=True)
    done = found.recipe.apply(data, scenario=scenario, watch=False, seed=1)  # its last step moves the records
    before = data[done.log.rows(data).tolist()]
    assert found.measured == pytest.approx(CoarseningLoss(figure, scenario)(before, done.data))
    assert found.optimal <= (figure == "loss")
    assert 0 <= found.gap <= found.loss


def test_least_is_what_the_recodings_of_a_node_lose(tmp_path: Path) -> None:
    data, levels = files(tmp_path, ["town", "job"], 7)
    scenario = sdc.Scenario(
        keys=["town", "job"], hierarchies={name: str(tmp_path / f"{name}.csv") for name in levels}, thresholds={"k": 2}
    )
    lattice = open_lattice(data, scenario, keep=(), prefer={}, weights={}, internal=True)
    one = Trials(data, scenario, lattice, 0.0, None)
    for figure in COARSENING:
        goal = search.goal_of(CoarseningLoss(figure, scenario), lattice, data, one.recoded)
        assert goal is not None
        assert goal.certain is (figure in BY_COLUMN and figure != "height")
        for node in product(*map(range, lattice.shape)):
            assert goal.least[node] == pytest.approx(figure_of(data, at(data, levels, node), levels, figure), abs=1e-12)
