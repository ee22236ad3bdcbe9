"""``sdckit population-risk``: who is unique in the population, too, by several models."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from sdckit.cli.options import Fraction, Weight
from sdckit.cli.source import Source, reads_keys
from sdckit.cli.terminal import print_measure


@reads_keys
def population_risk(
    source: Source,
    *,
    weight: Weight = None,
    sampling_fraction: Fraction = None,
    interactions: Annotated[
        int | None,
        Option(metavar="M", help="Highest order of the model's terms; 1: main effects. Default: a search."),
    ] = None,
    select: Annotated[
        bool, Option("--select", help="Search pairs of keys until the model fits, however long it takes.")
    ] = False,
) -> None:
    """Estimate who is unique in the population: the log-linear model beside those of group sizes.

    Exact figures for your own session. Needs --weight or --sampling-fraction, or a scenario with one. The
    model takes main effects and the pairs of keys that a search adds where that takes seconds.
    """
    chosen = source.declared(design=True, weight=weight, sampling_fraction=sampling_fraction)
    with source.steps() as steps:
        frame = source.read(chosen, steps)
        from sdckit.cells.as_cells import as_cells
        from sdckit.identity.population.population_risk import population_risk as measure, searched_risk
        from sdckit.identity.population.population_uniques import population_uniques

        cells = as_cells(frame, scenario=chosen, missing="category")
        steps.step("modelling the population")
        if interactions is None and not select:
            modelled = searched_risk(cells)
        else:
            modelled = measure(cells, interactions=1 if interactions is None else interactions, select=select)
        sized = population_uniques(cells)
    print_measure(source.file.name, modelled, sized)
