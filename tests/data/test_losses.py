"""The losses in words: each of them is one that a search or a map takes."""

from __future__ import annotations

from sdckit.data.losses import COARSENING, DRAWN, INFORMATION, LOSSES, MODEL, drawn
from sdckit.utility.losses.generalization_loss import GeneralizationLoss
from sdckit.workflow.recipes.recipe_figures import FIGURES


def test_every_loss_of_coarser_keys_is_a_figure_of_the_measure() -> None:
    assert set(COARSENING) == set(GeneralizationLoss.figures)


def test_a_map_has_every_loss_but_those_that_recipes_lack() -> None:
    assert {drawn(loss) for loss in LOSSES} == set(DRAWN)
    assert set(LOSSES) - set(DRAWN) == {INFORMATION, MODEL}
    assert set(DRAWN) - set(COARSENING) <= set(FIGURES)
