"""The log-linear model of the population, its terms searched for where that takes seconds."""

from __future__ import annotations

from typing import Any

from sdckit.identity.population.log_linear import MAX_GRID, grid_of
from sdckit.identity.population.population_risk import PopulationRisk, population_risk
from sdckit.identity.population.population_size import category_cells

QUICK_MODEL = 60_000_000  # possible cells times pairs of keys squared: at most some five seconds on two cores


def searched_risk(cells: Any) -> PopulationRisk:
    """Model the population by a forward search, or by main effects where searching would take long.

    The cells must know their sampling fraction or weights; the notes say how the model was chosen.
    """
    here = category_cells(cells)
    n_keys, possible = len(here.keys), grid_of(here).n_possible
    if possible * (n_keys * (n_keys - 1) // 2) ** 2 <= QUICK_MODEL:
        return population_risk(here, select=True)
    result = population_risk(here)
    way_out = (
        "population_risk(select=True) does it" if possible <= MAX_GRID else "recode keys to have it searched"
    )
    result.notes["path"] = (
        f"these are main effects: to choose among pairs of {n_keys} keys on {possible:,} possible cells would "
        f"take long; {way_out}"
    )
    return result
